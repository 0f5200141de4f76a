"""Decode words that are not written plainly: escapes, codes, look-alike letters."""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from string import ascii_lowercase
from urllib.parse import unquote

from text.numerals import to_western_digits
from text.regex import regex
from text.script import simplify_chinese, strip_marks

_HIDDEN = regex(
    "[\u00ad\u034f\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u20e3\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_JOINER = regex("(?<=[^\\W\\x00-\\x7f])[\u200c\u200d](?=[^\\W\\x00-\\x7f])")
_DRAWN = regex(
    r"(?:(?:LATIN|MODIFIER) .*(?:SMALL CAPITAL|TURNED|REVERSED|SIDEWAYS|OPEN)"
    r"|NEGATIVE (?:CIRCLED|SQUARED) LATIN CAPITAL LETTER) ([A-Z])"
)
_BRAILLE = dict(zip(map(ord, "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵"), ascii_lowercase, strict=True))
_FLAGS = {0x1F1E6 + at: letter for at, letter in enumerate(ascii_lowercase)}
_ESCAPE = regex(r"\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})|U\+([0-9a-fA-F]{4,6})")
_DATA = (regex(r"[A-Za-z0-9+/_-]{6,}={0,6}"), regex(r"[A-Za-z0-9_]{6,}"))
_HEX = regex(r"(?:0x)?((?:[0-9a-fA-F]{2}){4,})")
_LIKE = str.maketrans(
    "абвгдеёзіјкмнорстухһԁԛѕαβεικνορτυχøłđı",
    "abbrdee3ijkmhopctyxhdqsabeiknoptuxoldi",
)
"""Letters of other alphabets that look like Latin ones."""
_DIGIT = str.maketrans("013457@$", "oleastas")
_LETTERS = str.maketrans("06", "ob")
_TURNED = dict(zip(map(ord, "ɟƃɾןʃ"), "fgjll", strict=True))
"""Letters that are used as upside-down ones, although their Unicode names do not say so."""
_UPSIDE = str.maketrans("bdpqnuwm", "qpdbunmw")
"""Letters that look like other letters upside down."""
_KANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_UMLAUTS = str.maketrans(
    {"å": "aa"} | {umlaut: f"{one}e" for umlaut, one in ("äa", "öo", "üu", "øo", "æa")}
)
_TWO = regex("(?<=[ao])e|(?<![aeq])(?<=u)e|(?<=a)a")
_MORSE = regex(r"(?<!\S)(?:[.·•_/|−–—-]+\s+){2,}[.·•_/|−–—-]+(?!\S)")
_SIGNS = regex(r"[^\w\s](?:\s?[^\w\s])+")
_CODE = regex(r"0x[0-9a-fA-F]{2}")
_VOWELS = str.maketrans("", "", "aeiou")
_ATBASH = str.maketrans(ascii_lowercase, ascii_lowercase[::-1])
_CALLED = (
    "ay bee cee dee ee eff gee aitch eye jay kay ell em en oh pee cue ar ess tee you vee doubleu ex"
    " why zee"
)
_NAMES = dict(zip(re.findall(r"\w+", _CALLED), ascii_lowercase, strict=True))
_NAMES |= {"zed": "z", "haitch": "h"}
"""The English names of letters."""
SHIFTED, LONG = 5, 8
"""The shortest words that are tried with shifted letters, and without one of their letters."""
STEM = 5
"""The fewest letters that two forms of a word share."""
SIGNS = 6
"""The fewest signs in a row that name nothing."""
_ROUNDS = 5
"""How many levels of nested escapes are decoded."""


def decode_escapes(text: str) -> str:
    """Return a text with its escapes decoded and without invisible characters."""
    for _ in range(_ROUNDS):
        read = _ESCAPE.sub(_letter, html.unescape(unquote(text)))
        if read == text:
            break
        text = read
    text = unicodedata.normalize("NFKC", _HIDDEN.sub("", text))
    if text.isascii():
        return text
    return "".join(map(_drawn, text.translate(_BRAILLE | _FLAGS | _TURNED)))


def drop_invisible(text: str) -> str:
    """Return a text without invisible characters, except joiners in scripts that need them."""
    joiners = {match.start() for match in _JOINER.finditer(text)}
    return _HIDDEN.sub(lambda match: match[0] if match.start() in joiners else "", text)


@cache
def _drawn(letter: str) -> str:
    """Return the Latin letter for a variant of it: a small capital, or a turned letter."""
    if letter.isascii():
        return letter
    found = _DRAWN.match(unicodedata.name(letter, ""))
    return found[1].lower() if found else to_western_digits(letter)


def comparison_form(text: str) -> str:
    """Return a text in the form for comparing words: lower case, one alphabet, no accents."""
    folded = unicodedata.normalize("NFKC", _HIDDEN.sub("", text)).casefold()
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", strip_marks(folded)).translate(_LIKE)


def unify_characters(text: str) -> str:
    """Return Chinese characters as simplified ones, and kana as hiragana without marks."""
    return simplify_chinese(comparison_form(text)).translate(_KANA)


def umlaut_variants(word: str) -> Iterator[str]:
    """Yield a word with its umlauts as two letters, and with bare vowels."""
    folded = unicodedata.normalize("NFC", word.casefold())
    yield comparison_form(folded.translate(_UMLAUTS))
    yield _TWO.sub("", comparison_form(folded))


def digits_to_letters(word: str) -> str:
    """Return a word with letters for similar digits; "" if it is not a word.

    A 3 remains, since `comparison_form` also makes it of a з.
    """
    read = word.translate(_LETTERS)
    letters = sum(map(str.isalpha, word))
    return read if letters > len(word) / 2 and read.replace("3", "").isalpha() else ""


def strip_endings(word: str) -> Iterator[str]:
    """Yield a word without an ending of up to two letters; a long Cyrillic one, of up to three."""
    if read := digits_to_letters(word):
        most = 3 if word.isascii() or len(word) <= LONG else 4
        yield from (read[: len(read) - n] for n in range(most) if len(read) - n >= STEM)


def undisguise_word(atom: str) -> Iterator[str]:
    """Yield the words that a word may disguise: reversed, shifted, or with inserted letters."""
    for letters in (_DIGIT, _DIGIT | {ord("1"): "i"}):
        yield from (atom.translate(letters), atom.translate(letters)[::-1])
    yield from (atom[::-1], atom.translate(_UPSIDE), atom.translate(_UPSIDE)[::-1])
    if len(atom) < SHIFTED or not (atom.isascii() and atom.isalpha()):
        return
    yield from (atom.translate(_ATBASH), atom.translate(_ATBASH)[::-1])
    yield from (atom[at::by] for by in (2, 3) for at in range(by))
    for by in range(1, 26):
        shifted = "".join(chr((ord(letter) - 97 + by) % 26 + 97) for letter in atom)
        yield shifted
        yield shifted[::-1]


def letter_variants(word: str) -> Iterator[str]:
    """Yield a word, its sorted letters, and each form of a long word without one letter."""
    yield word
    yield "=" + "".join(sorted(word))
    if len(word) >= LONG:
        yield from (word[:at] + word[at + 1 :] for at in range(len(word)))


def strip_vowels(word: str) -> str:
    """Return a word without its vowels."""
    return word.translate(_VOWELS)


def decode_data(text: str) -> Iterator[str]:
    """Yield the texts that data may encode: in Base64, Base32, hexadecimal, or as codes."""
    for data in {match[0] for form in _DATA for match in form.finditer(text)}:
        yield from _readable(_unpacked(data))
    for match in _HEX.finditer(text):
        yield from _readable([bytes.fromhex(match[1])])
    numbers = text.split()
    if numbers and all(_CODE.fullmatch(one) for one in numbers):
        yield from _readable([bytes(int(one, 16) for one in numbers)])
    if len(numbers) >= 4 and all(one.isdecimal() for one in numbers):
        base = 2 if set(text) <= set("01 ") else 10
        codes = [int(one, base) for one in numbers if len(one) <= 8]
        if codes and all(32 <= code < 0x20000 for code in codes):
            yield "".join(map(chr, codes))


def decode_base85(data: str) -> Iterator[str]:
    """Yield the texts that data may encode in either kind of Base85."""
    for decode in (base64.b85decode, base64.a85decode):
        with suppress(ValueError):
            yield from _readable([decode(data)])


def decode_spelled_letters(codes: Sequence[str]) -> Iterator[str]:
    """Yield the words that names of letters, their places in the alphabet or octal codes spell."""
    if all(len(one) == 1 or one in _NAMES for one in codes):
        yield "".join(_NAMES.get(one, one) for one in codes)
    if not all(one.isdecimal() and len(one) <= 3 for one in codes):
        return
    for first in (0, 1):
        places = [int(one) - first for one in codes]
        if all(0 <= one < len(ascii_lowercase) for one in places):
            yield "".join(ascii_lowercase[one] for one in places)
    if set("".join(codes)) <= set("01234567"):
        yield "".join(chr(int(one, 8)) for one in codes).casefold()


def decode_symbols(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of Morse code, and of different signs or pictures in a row."""
    yield from (one.span() for one in _MORSE.finditer(text))
    for one in _SIGNS.finditer(text):
        drawn = [sign for sign in one[0] if unicodedata.category(sign)[0] in "PS"]
        if len(drawn) >= SIGNS and len({*drawn}) > 1:
            yield one.span()


def _unpacked(data: str) -> Iterator[bytes]:
    bare = data.rstrip("=").replace("-", "+").replace("_", "/")
    with suppress(ValueError):
        yield base64.b64decode(bare + "=" * (-len(bare) % 4))
    with suppress(ValueError):
        yield base64.b32decode(bare.upper() + "=" * (-len(bare) % 8))


def _readable(data: Iterable[bytes]) -> Iterator[str]:
    for one in data:
        with suppress(UnicodeDecodeError):
            text = one.decode()
            if len(text) >= 2 and text.isprintable():
                yield from (text, text[::-1])


def _letter(match: re.Match[str]) -> str:
    return chr(int(next(filter(None, match.groups())), 16) % 0x110000)
