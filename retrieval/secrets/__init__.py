"""Find what must never be kept: passwords told in words, keys, tokens, numbers of cards."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from retrieval.regex import regex
from retrieval.secrets.forms import Secret, formed
from retrieval.secrets.harmless import SHORT
from retrieval.secrets.tongues import told_elsewhere
from retrieval.secrets.worded import told

__all__ = ["Masked", "held", "masked", "masked_within", "removed", "secret"]

MARK = regex(r"\[(?:password|number|key|card number) removed\]")
"""What stands in the place of a secret, by its kind."""

_RANDOM = regex(r"(?<![\w/.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{24,}")

_BYTES = 1_000
"""So many letters of Base64 on end are bytes."""

_ENCODED = regex(rf"(?:data:[\w/.+;=-]{{0,200}},)?[A-Za-z0-9+/_-]{{{_BYTES},}}={{0,2}}\s*")
"""Bytes in Base64, such as a picture: what looks like a key in them is chance."""

_UNSEEN = (
    "[\u00ad\u034f\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_INVISIBLE = regex(_UNSEEN)
"""What nobody sees and a detector must not stumble over: joiners, marks, soft hyphens."""

_HALF_WIDTH = {
    full: full - 0xFEE0
    for first, last in ("０９", "Ａｚ", "：：", "＝＝")
    for full in range(ord(first), ord(last) + 1)
} | dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
"""Letters, digits and signs of full width, as Chinese and Japanese keyboards type them; spaces."""


class Masked(NamedTuple):
    """A text without its secrets, and the kinds of what was taken out, each once."""

    text: str
    kinds: tuple[str, ...]


@lru_cache(maxsize=64)
def found(text: str) -> tuple[Secret, ...]:
    """Return the secrets of a text in their order; none within another.

    A conversation is looked through again whenever something of it is saved.
    """
    if len(text) >= _BYTES and _ENCODED.fullmatch(text):
        return ()
    seen = text if text.isascii() else _INVISIBLE.sub("", text)
    plain = seen if text.isascii() else seen.translate(_HALF_WIDTH)
    every = [*formed(plain), *told(plain), *told_elsewhere(plain)]
    kept: list[Secret] = []
    for one in sorted(every, key=lambda one: (one.start, -one.end)):
        if one.start < one.end and (not kept or one.start >= kept[-1].end):
            kept.append(one)
    return tuple(kept if len(seen) == len(text) else _placed(kept, text))


def _placed(secrets: list[Secret], text: str) -> list[Secret]:
    """Return where secrets stand in a text, found in it without what nobody sees."""
    at = [i for i, letter in enumerate(text) if not _INVISIBLE.match(letter)]
    return [Secret(one.kind, at[one.start], at[one.end - 1] + 1) for one in secrets]


def masked(text: str) -> Masked:
    """Return a text with a mark in the place of each secret, wherever its value stands again."""
    secrets = found(text)
    if not secrets:
        return Masked(text, ())
    parts, at = [], 0
    for one in secrets:
        parts += [text[at : one.start], f"[{one.kind} removed]"]
        at = one.end
    left = "".join([*parts, text[at:]])
    for one in secrets:
        value = _INVISIBLE.sub("", text[one.start : one.end])
        if len(value) > SHORT:
            left = _again(value).sub(f"[{one.kind} removed]", left)
    return Masked(left, tuple(dict.fromkeys(one.kind for one in secrets)))


def _again(value: str) -> re.Pattern[str]:
    """Return what finds a value where it stands once more, whatever unseen lies between."""
    letters = f"{_UNSEEN}*".join(map(re.escape, value))
    return regex(rf"(?<![^\W\u3040-\ud7ff]){letters}(?![^\W\u3040-\ud7ff])")


def masked_within(value: Any) -> Any:
    """Return plain data of any depth with every text in it masked; the same object if none is."""
    if isinstance(value, str):
        return masked(value).text
    if isinstance(value, dict):
        new: Any = {name: masked_within(one) for name, one in value.items()}
        return value if all(new[name] is one for name, one in value.items()) else new
    if isinstance(value, list | tuple):
        made = [masked_within(one) for one in value]
        if all(one is old for one, old in zip(made, value, strict=True)):
            return value
        return made if isinstance(value, list) else tuple(made)
    return value


def secret(text: str) -> bool:
    """Tell whether a text holds a secret, the mark of one, or letters without any sense."""
    return bool(MARK.search(text) or _RANDOM.search(text) or found(text))


def held(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets in a text, those too that were taken out of it."""
    return masked(text).kinds or removed(text)


def removed(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets that were taken out of a text, each once."""
    return tuple(dict.fromkeys(mark[1:].rpartition(" ")[0] for mark in MARK.findall(text)))
