"""Read what is written in another form than plain words: escapes, codes, look-alike letters."""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from retrieval.regex import regex

_HIDDEN = regex(
    "[\u00ad\u034f\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_ESCAPE = regex(r"\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})|U\+([0-9a-fA-F]{4,6})")
_DATA = (regex(r"[A-Za-z0-9+/_-]{6,}={0,6}"), regex(r"[A-Za-z0-9_]{6,}"))
_HEX = regex(r"(?:0x)?((?:[0-9a-fA-F]{2}){4,})")
_LIKE = str.maketrans(
    "абвгдеёзіјкмнорстухһԁԛѕαβεικνορτυχ",
    "abbrdee3ijkmhopctyxhdqsabeiknoptux",
)
"""Letters of other alphabets that look like Latin ones."""
_DIGIT = str.maketrans("013457@$", "oleastas")
_ROUNDS = 5
"""So often in each other escapes are read."""


def respelt(text: str) -> str:
    """Return a text with its escapes read and without what nobody sees."""
    for _ in range(_ROUNDS):
        read = _ESCAPE.sub(_letter, html.unescape(unquote(text)))
        if read == text:
            break
        text = read
    return unicodedata.normalize("NFKC", _HIDDEN.sub("", text))


def plain(text: str) -> str:
    """Return a text as words are compared: small letters of one alphabet, without accents."""
    folded = unicodedata.normalize("NFKC", _HIDDEN.sub("", text)).casefold()
    if folded.isascii():
        return folded
    bare = unicodedata.normalize("NFKD", folded)
    marks = "".join(letter for letter in bare if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", marks).translate(_LIKE)


def unleet(word: str) -> str:
    """Return a word with letters in the place of the digits that look like them."""
    return word.translate(_DIGIT)


def decoded(text: str) -> Iterator[str]:
    """Yield the texts that a piece of data may stand for: Base64, Base32, hexadecimal, codes."""
    for data in {match[0] for form in _DATA for match in form.finditer(text)}:
        yield from _readable(_unpacked(data))
    for match in _HEX.finditer(text):
        yield from _readable([bytes.fromhex(match[1])])
    numbers = text.split()
    if len(numbers) >= 4 and all(one.isdecimal() for one in numbers):
        base = 2 if set(text) <= set("01 ") else 10
        codes = [int(one, base) for one in numbers if len(one) <= 8]
        if codes and all(32 <= code < 0x20000 for code in codes):
            yield "".join(map(chr, codes))


def _unpacked(data: str) -> Iterator[bytes]:
    bare = data.rstrip("=").replace("-", "+").replace("_", "/")
    for decode, size in ((base64.b64decode, 4), (base64.b32decode, 8)):
        padded = bare + "=" * (-len(bare) % size)
        try:
            yield decode(padded if size == 4 else padded.upper())
        except (binascii.Error, ValueError):
            continue


def _readable(data: Iterable[bytes]) -> Iterator[str]:
    for one in data:
        try:
            text = one.decode()
        except UnicodeDecodeError:
            continue
        if len(text) >= 2 and text.isprintable():
            yield text
            yield text[::-1]


def _letter(match: re.Match[str]) -> str:
    return chr(int(next(filter(None, match.groups())), 16) % 0x110000)
