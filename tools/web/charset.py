"""Turn the bytes of a page into characters, whatever the server says they are."""

from __future__ import annotations

import codecs

from retrieval.regex import regex
from tools.files.decode import decode

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
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


def decoded(data: bytes, charset: str, *, markup: bool) -> str:
    """Return bytes as text: byte order mark, UTF-8, the server's word, the page's word, a guess.

    UTF-8 comes before what the server says because servers name Latin-1 out of habit, and because
    hardly anything else can be read as UTF-8 by chance.
    """
    if data.startswith(_MARKS) or (_fits(data) and not data.isascii()):
        return decode(data, markup=markup)
    codec = _codec(charset) or ("iso2022_jp" if b"\x1b$B" in data[:4096] else "")
    text = data.decode(codec, errors="replace") if codec else ""
    if codec and text.count("\ufffd") * 100 <= len(text):
        return text
    return decode(data, markup=markup)


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
