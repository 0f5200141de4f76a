"""Turn bytes into text, whatever is said of their encoding."""

from __future__ import annotations

import codecs
import re
from typing import NoReturn

from config.errors import ErrorCode
from text.regex import regex
from tools.files.formats import FileRefused

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_EASTERN = ["gb18030", "big5", "shift_jis", "euc_jp", "euc_kr"]
_LIKELY = [*_EASTERN, "cp1252", "cp1251"]
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""")
# Latin, Greek, Cyrillic, punctuation, kana and bopomofo, Han, Hangul, full-width forms.
_WRITTEN = regex(
    "[\t\n\r -\u024f\u0370-\u04ff\u2000-\u206f\u3000-\u312f\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]"
)
_MOST_LOST = 0.05
_MOST_STRAY = 0.002


def decode_bytes(data: bytes, *, markup: bool = False) -> str:
    """Return the text: byte order mark, then UTF-8, then what `markup` declares, then a guess.

    Raises:
        FileRefused: `file_not_text` if it is binary or more than one character in twenty is lost.
    """
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return _kept(data.decode(encoding, errors="replace"))
    if b"\x00" in data:
        return _with_nuls(data)
    declared = _DECLARED.search(data[:2048]) if markup else None
    for encoding in ["utf-8", *([declared[1].decode()] if declared else [])]:
        text = _try(data, encoding)
        if text is not None:
            return text
    return _guess(data)


def _try(data: bytes, encoding: str) -> str | None:
    """Decode without loss, or return None; GBK names the whole family, as in browsers."""
    known = "gb18030" if encoding.lower() in {"gb2312", "gbk"} else encoding
    try:
        return data.decode(known)
    except (UnicodeDecodeError, LookupError):
        return None


def _with_nuls(data: bytes) -> str:
    """Decode UTF-8 with a few stray NUL bytes, or UTF-16 without a byte order mark."""
    few = data.count(b"\x00") <= _MOST_STRAY * len(data)
    text = _try(data.replace(b"\x00", b""), "utf-8") if few else None
    if text is not None:
        return text
    texts = [data.decode(encoding, errors="replace") for encoding in ("utf-16-le", "utf-16-be")]
    best = max(texts, key=_written)
    return best if _written(best) > 1 - _MOST_LOST else _refuse()


def _written(text: str) -> float:
    """Return the share of characters that people write, from its first part."""
    sample = text[:4000]
    return len(_WRITTEN.findall(sample)) / max(1, len(sample))


def _guess(data: bytes) -> str:
    """Decode damaged UTF-8 as such, anything else as what its letters look like."""
    text = data.decode("utf-8", errors="replace")
    lost = text.count("\ufffd")
    foreign = sum(character > "\x7f" for character in text) - lost
    if lost * 20 < foreign:
        return text
    # Few files need it, and every worker process would wait for its import.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    best = from_bytes(data[:100_000], cp_isolation=_LIKELY).best()
    names = [best.encoding] if best else _EASTERN
    texts = [data.decode(name, errors="replace") for name in names]
    return _kept(min(texts, key=lambda text: text.count("\ufffd")))


def _kept(text: str) -> str:
    return text if text.count("\ufffd") <= _MOST_LOST * len(text) else _refuse()


def _refuse() -> NoReturn:
    raise FileRefused(ErrorCode.FILE_NOT_TEXT, "it is not text in any known encoding")


_BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# A codec of Python may also be a cipher or a compressor; these are the ones for writing.
_WRITING = regex(
    r"utf-8|utf-(?:16|32)-[bl]e|iso(?:8859|2022)|cp\d|koi8|gb|big5|euc|shift|mac|tis|hz|johab"
)
# What browsers read under these names (encoding.spec.whatwg.org).
_AS_BROWSERS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}


def decode_web_page(data: bytes, charset: str, *, markup: bool) -> str:
    """Return bytes as text: byte order mark, UTF-8, the server's word, the page's word, a guess.

    UTF-8 comes before what the server says because servers name Latin-1 out of habit, and because
    hardly anything else can be read as UTF-8 by chance.
    """
    if data.startswith(_BYTE_ORDER_MARKS) or (_fits(data) and not data.isascii()):
        return decode_bytes(data, markup=markup)
    codec = _codec(charset) or ("iso2022_jp" if b"\x1b$B" in data[:4096] else "")
    text = data.decode(codec, errors="replace") if codec else ""
    if codec and text.count("\ufffd") * 100 <= len(text):
        return text
    return decode_bytes(data, markup=markup)


def _fits(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _codec(charset: str) -> str:
    """Return the codec for a charset label, or nothing if the label says nothing."""
    try:
        name = codecs.lookup(charset.strip("\"' ").removeprefix("x-")).name
    except LookupError:
        return ""
    return _AS_BROWSERS.get(name, name) if _WRITING.match(name) or name == "ascii" else ""
