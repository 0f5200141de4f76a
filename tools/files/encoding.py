"""Decode bytes into text, whatever encoding they declare."""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import NoReturn

from config.errors import ErrorCode
from text.regex import regex
from tools.files.formats import FileRefused

_BYTE_ORDER_MARKS = {
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
_KOREAN = frozenset(["euc_kr", "cp949", "johab"])
_HANGUL = regex("[\uac00-\ud7a3]")
_HAN = regex("[\u4e00-\u9fff]")
_MAX_LOST = 0.05
_UNWRITTEN = frozenset(["Cn", "Co", "Cs"])
_MAX_NULS = 0.002


def decode_bytes(data: bytes, *, markup: bool = False) -> str:
    """Return the text: byte order mark, then UTF-8, then what `markup` declares, then a guess.

    Raises:
        FileRefused: `file_not_text` if it is binary or more than one character in twenty is lost.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return _check_letters(data.decode(encoding, errors="replace"))
    if b"\x00" in data:
        return _decode_nuls(data)
    declared = _DECLARED.search(data[:2048]) if markup else None
    for encoding in ["utf-8", *([declared[1].decode()] if declared else [])]:
        text = _decode(data, encoding)
        if text is not None:
            return text
    return _guess(data)


def find_encoding(data: bytes, text: str) -> str:
    """Return the encoding in which bytes are a text, or "" if it is none that Python names.

    Args:
        data: The bytes.
        text: What they were decoded into.
    """
    marks = (name for mark, name in _BYTE_ORDER_MARKS.items() if data.startswith(mark))
    names = (*marks, "utf-8", *_LIKELY)
    return next((name for name in names if data and _decode(data, name) == text), "")


def _decode(data: bytes, encoding: str) -> str | None:
    """Decode without loss, or return None; GBK stands for the whole family, as in browsers."""
    # The codecs `undefined` and `idna` raise the general error.
    try:
        return data.decode("gb18030" if encoding.lower() in {"gb2312", "gbk"} else encoding)
    except (UnicodeError, LookupError):
        return None


def _decode_nuls(data: bytes) -> str:
    """Decode UTF-8 with a few stray NUL bytes, or UTF-16 without a byte order mark."""
    if data.count(b"\x00") <= _MAX_NULS * len(data):
        text = _decode(data.replace(b"\x00", b""), "utf-8")
        if text is not None:
            return text
    texts = [data.decode(encoding, errors="replace") for encoding in ("utf-16-le", "utf-16-be")]
    best = max(texts, key=_written_share)
    return best if _written_share(best) > 1 - _MAX_LOST else _refuse()


def _written_share(text: str) -> float:
    """Return the share of characters of common scripts in the beginning of a text."""
    sample = text[:4000]
    return len(_WRITTEN.findall(sample)) / max(1, len(sample))


def _guess(data: bytes) -> str:
    """Decode damaged UTF-8 as UTF-8, and anything else by the statistics of its letters."""
    text = data.decode("utf-8", errors="replace")
    lost = text.count("\ufffd")
    foreign = sum(character > "\x7f" for character in text) - lost
    if lost * 20 < foreign:
        return text
    # Few files need it, and every worker process would wait for its import.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    best = from_bytes(data[:100_000], cp_isolation=_LIKELY).best()
    names = [best.encoding] if best else _EASTERN
    if best and best.encoding in _KOREAN and _is_rather_chinese(data, best.encoding):
        names = ["gb18030"]
    texts = [data.decode(name, errors="replace") for name in names]
    return _check_losses(min(texts, key=lambda text: text.count("\ufffd")))


def _is_rather_chinese(data: bytes, korean: str) -> bool:
    """Tell whether a few bytes that could be Korean are Chinese: their Korean would mix scripts."""
    try:
        data.decode("gb2312")
    except UnicodeDecodeError:
        return False
    text = data.decode(korean, errors="replace")
    return len(_HAN.findall(text)) * 9 > len(_HANGUL.findall(text))


def _check_letters(text: str) -> str:
    """Return a text unless one character in twenty is lost, or is none that anyone writes.

    Nearly all pairs of bytes are characters of UTF-16, whatever they were meant to be.
    """
    sample = text[:: len(text) // 20_000 + 1]
    strange = sum(unicodedata.category(one) in _UNWRITTEN for one in sample)
    return _check_losses(text) if strange <= _MAX_LOST * len(sample) else _refuse()


def _check_losses(text: str) -> str:
    return text if text.count("\ufffd") <= _MAX_LOST * len(text) else _refuse()


def _refuse() -> NoReturn:
    raise FileRefused(ErrorCode.FILE_NOT_TEXT, "it is not text in any known encoding")


# Some codecs of Python are ciphers or compressors; these are character encodings.
_CHARACTER_CODECS = regex(
    r"utf-8|utf-(?:16|32)-[bl]e|iso(?:8859|2022)|cp\d|koi8|gb|big5|euc|shift|mac|tis|hz|johab"
)
_HABIT = "cp1252"
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
    """Return the text: byte order mark, UTF-8, the server's charset, the page's charset, a guess.

    UTF-8 precedes what the server says because servers name Latin-1 out of habit, and because
    hardly anything else is valid UTF-8 by chance. So does what the page says beside Latin-1.
    """
    is_utf8 = not data.isascii() and _decode(data, "utf-8") is not None
    if is_utf8 or data.startswith(tuple(_BYTE_ORDER_MARKS)):
        return decode_bytes(data, markup=markup)
    codec = _find_codec(charset) or ("iso2022_jp" if b"\x1b$B" in data[:4096] else "")
    declared = _DECLARED.search(data[:2048]) if markup and codec == _HABIT else None
    codec = (_find_codec(declared[1].decode()) if declared else "") or codec
    text = data.decode(codec, errors="replace") if codec else ""
    if codec and text.count("\ufffd") * 100 <= len(text):
        return text
    return decode_bytes(data, markup=markup)


def _find_codec(charset: str) -> str:
    """Return the codec of a charset label, or an empty string for an unknown label."""
    try:
        name = codecs.lookup(charset.strip("\"' ").removeprefix("x-")).name
    except LookupError:
        return ""
    return _AS_BROWSERS.get(name, name) if _CHARACTER_CODECS.match(name) or name == "ascii" else ""
