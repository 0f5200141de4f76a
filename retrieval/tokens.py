"""Count tokens, without ever asking a network for the vocabulary."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.estimate import estimate as estimate

if TYPE_CHECKING:
    import tiktoken

ENCODING = "o200k_base"
ADDRESS = f"https://openaipublic.blob.core.windows.net/encodings/{ENCODING}.tiktoken"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the vocabulary; a file that has another one is none, and is left alone."""

AT_ONCE = 100_000
"""So many characters are counted at once: tiktoken's stack overflows at a million spaces."""

SHORT = 2_000
"""Of texts up to so many characters many counts are remembered, of longer ones few."""

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


def count(text: str) -> int:
    """Return the tokens of a text: exact where the vocabulary is on this disk, else estimated.

    Every 100,000 characters it may be one too many.
    """
    if len(text) > AT_ONCE:
        return sum(_count(text[at : at + AT_ONCE]) for at in range(0, len(text), AT_ONCE))
    return _short(text) if len(text) <= SHORT else _long(text)


def exact() -> bool:
    """Say whether `count` is exact here."""
    return _encoding() is not None


def vocabulary() -> Path:
    """Return the file of the vocabulary, where tiktoken looks for it."""
    # tiktoken names it by the hash of the address it came from.
    name = hashlib.sha1(ADDRESS.encode(), usedforsecurity=False).hexdigest()
    usual = Path(tempfile.gettempdir()) / "data-gym-cache"
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR") or usual
    return Path(folder) / name


async def warm() -> None:
    """Load the vocabulary, if it is on this disk, without holding up the event loop."""
    # Worker processes count tokens without an event loop, and its import takes long.
    import asyncio  # noqa: PLC0415

    if not _encoding.cache_info().currsize:
        await asyncio.to_thread(_encoding)


@lru_cache(maxsize=16_384)
def _short(text: str) -> int:
    return _count(text)


@lru_cache(maxsize=64)
def _long(text: str) -> int:
    return _count(text)


def _count(text: str) -> int:
    encoding = _encoding()
    # Text such as <|endoftext|> is only text here.
    return estimate(text) if encoding is None else len(encoding.encode_ordinary(text))


@cache
def _encoding() -> tiktoken.Encoding | None:
    """Return the encoding; tiktoken itself would delete a file that is wrong, and download it."""
    data = _read(vocabulary())
    if hashlib.sha256(data).hexdigest() != SHA256:
        return None
    lines = (line.split() for line in data.splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    made: tiktoken.Encoding = import_module("tiktoken").Encoding(
        ENCODING, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 199_999}
    )
    return made


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes() if file.is_file() else b""
    except OSError:
        return b""
