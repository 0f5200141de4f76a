"""Count the tokens of a text: exactly where the vocabulary is on this disk, else by an estimate."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from text.regex import regex
from text.script import CJK, HAN
from text.words import Memo, is_common

if TYPE_CHECKING:
    import tiktoken


PART = 20_000
"""How many characters are read at a time."""

_KNOWN_CHARS = 8_000
"""Estimates of longer texts are not kept."""

_BEFORE = r"(?:(?![\r\n])[\W_])?"
_WORD_END = "(?:'(?:s|t|re|ve|m|ll|d))?"
_PIECE = regex(
    rf"{_BEFORE}[A-Z]*[^\W\d_A-Z]+{_WORD_END}|{_BEFORE}[A-Z]+{_WORD_END}"
    r"|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_ASCII_PIECE = regex(
    r"[^\r\n0-9A-Za-z]?(?:[A-Z]*[a-z]+|[A-Z]+)(?:'(?:s|t|re|ve|m|ll|d))?"
    r"|[0-9]{1,3}| ?[^0-9A-Za-z\s]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""A faster pattern for ASCII text, which most texts are."""

_JOINING = "._-(/\t"
"""The characters that the vocabulary joins with many words."""

_LETTER = regex(r"[^\W\d_]")
_PLAIN = regex("[A-Za-z]")
_ACCENTED = regex("[\u00c0-\u024f\u1e00-\u1eff]")
_HAN = regex(f"[{HAN}]")
_RUN = regex(f"[ \n，。、；：！？“”（）《》]?([{HAN}]+)")
_CJK = regex(f"[{CJK}]")
_SIGN = regex("[\u200d\u2100-\u2bff\ufe0f]")
_EMOJI = regex("[\U00010000-\U0010ffff]")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, rather too many than too few.

    Of 200 characters or more of English, Chinese or source code it is at most 15 % under what
    there are; of noise, such as a hash in letters, it may be half.
    """
    return _estimate_known(text) if len(text) <= _KNOWN_CHARS else _estimate(text)


def _estimate(text: str) -> int:
    return int(sum(map(_estimated, _parts(text)))) + 1


# Each step of a run weighs pieces of the same pages.
_estimate_known = lru_cache(maxsize=512)(_estimate)


def _parts(text: str) -> Iterator[str]:
    """Yield the parts of a text, cut before spaces.

    No other thread runs while a pattern is looked for, so it must not be in much at a time.
    """
    start = 0
    while len(text) - start > PART:
        end = text.rfind(" ", start + 1, start + PART)
        end = end if end > start else start + PART
        yield text[start:end]
        start = end
    yield text[start:]


def _estimated(text: str) -> float:
    pieces = (_ASCII_PIECE if text.isascii() else _PIECE).findall(text)
    return sum(map(_known.__getitem__, pieces))


def _tokens(piece: str) -> float:
    """Return how many tokens a piece has on average."""
    if piece.isascii() and (piece[1:].isalpha() or piece.isalpha()):
        return _word(piece)
    if piece.isspace():
        return 1.0 + len(piece) // 32
    if piece.isdecimal():
        return 1.0 if piece.isascii() else 2.0
    if not _LETTER.search(piece):
        return _symbols(piece)
    return _word(piece) if piece.isascii() else _letters(piece)


_known = Memo(_tokens)


def _symbols(piece: str) -> float:
    """Return the tokens of symbols: the vocabulary has long runs of one, but few mixed runs."""
    if piece.isascii():
        turns = sum(one != other for one, other in pairwise(piece))
        return 1.0 + 0.4 * max(len(piece) - 2, 0) + 0.25 * max(turns - 4, 0)
    signs, emoji = len(_SIGN.findall(piece)), len(_EMOJI.findall(piece))
    return max(1.0, 2.5 * emoji + 1.5 * signs + 0.7 * (len(piece) - signs - emoji))


def _word(piece: str) -> float:
    """Return the tokens of a word: the vocabulary has common words after a space, not a dot."""
    first = piece[0]
    whole = piece if first.isalpha() else piece[1:]
    behind = 0.0 if first == " " or first.isalpha() else 0.5 if first in _JOINING else 1.0
    each = 0.02 if is_common(whole) else 0.1 if whole.islower() else 0.2
    each += 0.0 if first == " " else 0.03
    if not whole[1:].islower():
        each = 0.3 if whole.isupper() else 0.5
    return 1.0 + behind + each * (len(whole) - 1) + 0.2 * max(len(whole) - 12, 0)


def _letters(piece: str) -> float:
    if run := _RUN.fullmatch(piece):
        return max(1.0, sum(map(_han, run[1])) + 0.4 * (len(piece) - len(run[1])))
    han, accented = _HAN.findall(piece), len(_ACCENTED.findall(piece))
    wide, plain = len(_CJK.findall(piece)) - len(han), len(_PLAIN.findall(piece))
    other = len(piece) - len(han) - wide - accented - plain
    tokens = sum(map(_han, han)) + 0.9 * wide + 1.3 * accented + 0.35 * plain + 0.4 * other
    return max(1.0, tokens)


@lru_cache(maxsize=16_384)
def _han(character: str) -> float:
    """Return the tokens of a character by how common old character sets considered it.

    The first level of GB 2312 (from B0A1 to D7F9) are the 3,755 most common simplified characters,
    that of Big5 (up to C67E) the 5,401 most common traditional ones.
    """
    simplified = character.encode("gb2312", "ignore")
    if simplified:
        return 1.0 if simplified < b"\xd8" else 2.4
    traditional = character.encode("big5", "ignore")
    return 1.5 if b"" < traditional < b"\xc9" else 2.6


ENCODING = "o200k_base"
ADDRESS = f"https://openaipublic.blob.core.windows.net/encodings/{ENCODING}.tiktoken"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""The hash of the vocabulary; a file with another hash is neither used nor changed."""

AT_ONCE = 100_000
"""How many characters are counted at once: tiktoken's stack overflows at a million spaces."""

SHORT = 2_000
"""Many counts of texts up to this length are cached, and few of longer ones."""

_LETTERS = r"\p{Lm}\p{Lo}\p{M}"
_AFTER = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}{_LETTERS}]*[\p{{Ll}}{_LETTERS}]+{_AFTER}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}{_LETTERS}]+[\p{{Ll}}{_LETTERS}]*{_AFTER}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


def count_tokens(text: str) -> int:
    """Return the tokens of a text: exact where the vocabulary is on this disk, else estimated.

    Every 100,000 characters it may be one too many.
    """
    if len(text) > AT_ONCE:
        return sum(_count(text[at : at + AT_ONCE]) for at in range(0, len(text), AT_ONCE))
    return _short(text) if len(text) <= SHORT else _long(text)


def bytes_fit(texts: Iterable[str], most: int) -> bool:
    """Tell whether texts have at most `most` bytes together, and so no more tokens.

    Texts that fit need not be counted: the vocabulary takes 70 MB, and half a second to load.
    """
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) <= most


def is_count_exact() -> bool:
    """Tell whether `count_tokens` is exact here."""
    return _encoding() is not None


def vocabulary_file() -> Path:
    """Return the file of the vocabulary, where tiktoken looks for it."""
    # tiktoken names it by the hash of the address it came from.
    name = hashlib.sha1(ADDRESS.encode(), usedforsecurity=False).hexdigest()
    usual = Path(tempfile.gettempdir()) / "data-gym-cache"
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR") or usual
    return Path(folder) / name


async def load_vocabulary() -> None:
    """Load the vocabulary, if it is on this disk, without holding up the event loop."""
    # Worker processes count tokens without an event loop, and its import takes long.
    import asyncio  # noqa: PLC0415

    if not _load_encoding.cache_info().currsize:
        await asyncio.to_thread(_encoding)


def _count(text: str) -> int:
    encoding = _encoding()
    # Text such as <|endoftext|> is only text here.
    return estimate_tokens(text) if encoding is None else len(encoding.encode_ordinary(text))


_short = lru_cache(maxsize=16_384)(_count)
_long = lru_cache(maxsize=64)(_count)


_loading = threading.Lock()


def _encoding() -> tiktoken.Encoding | None:
    """Return the encoding, which threads that ask at the same time load once."""
    with _loading:
        return _load_encoding()


@cache
def _load_encoding() -> tiktoken.Encoding | None:
    """Load the encoding; tiktoken itself would delete a wrong file and download another."""
    data = _read(vocabulary_file())
    if hashlib.sha256(data).hexdigest() != SHA256:
        return None
    lines = (line.split() for line in data.splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    encoding: tiktoken.Encoding = import_module("tiktoken").Encoding(
        ENCODING, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 199_999}
    )
    # The encoding has its own copy, and this one takes 25 MB.
    ranks.clear()
    return encoding


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes() if file.is_file() else b""
    except OSError:
        return b""
