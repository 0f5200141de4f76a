"""Find and mask secrets, which must never be stored: passwords, keys, tokens, card numbers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from text.regex import regex, replace_spans
from text.secret_finding import SHORTEST_SECRET, Secret, find_secrets

SECRET_MARK = regex(r"\[(?:password|number|key|card number) removed\]")
"""The mark that replaces a secret, by its kind."""

_RANDOM = regex(r"(?<![\w/.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{24,}")

_BYTES = 1_000
"""This many characters of Base64 in a row are bytes."""

_ENCODED = regex(rf"(?:data:[\w/.+;=-]{{0,200}},)?[A-Za-z0-9+/_-]{{{_BYTES},}}={{0,2}}\s*")
"""Bytes in Base64, such as a picture, in which a key may occur by chance."""

_UNSEEN = (
    "[\u00ad\u034f\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_INVISIBLE = regex(_UNSEEN)
"""Invisible characters that would hide a secret: joiners, marks, soft hyphens."""

_HALF_WIDTH = {
    full: full - 0xFEE0
    for first, last in ("０９", "Ａｚ", "：：", "＝＝")
    for full in range(ord(first), ord(last) + 1)
} | dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
"""Letters, digits and signs of full width, as Chinese and Japanese keyboards type them; spaces."""


class _MaskedText(NamedTuple):
    """A text without its secrets, and the kinds of those that were removed, each once."""

    text: str
    kinds: tuple[str, ...]


@lru_cache(maxsize=64)
def _find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets of a text in their order, without overlaps.

    The results are cached, since a conversation is searched again whenever part of it is saved.
    """
    if len(text) >= _BYTES and _ENCODED.fullmatch(text):
        return ()
    visible = text if text.isascii() else _INVISIBLE.sub("", text)
    plain = visible if text.isascii() else visible.translate(_HALF_WIDTH)
    secrets: list[Secret] = []
    for one in sorted(find_secrets(plain), key=lambda one: (one.start, -one.end)):
        if one.start < one.end and (not secrets or one.start >= secrets[-1].end):
            secrets.append(one)
    return tuple(secrets if len(visible) == len(text) else _relocate(secrets, text))


def _relocate(secrets: list[Secret], text: str) -> list[Secret]:
    """Return the places in a text of secrets that were found without invisible characters."""
    places = [place for place, letter in enumerate(text) if not _INVISIBLE.match(letter)]
    return [Secret(one.kind, places[one.start], places[one.end - 1] + 1) for one in secrets]


def mask_secrets(text: str) -> _MaskedText:
    """Return a text with a mark in place of each secret and of each repetition of its value."""
    secrets = _find_secrets(text)
    if not secrets:
        return _MaskedText(text, ())
    masked = replace_spans(text, ((one.start, one.end, f"[{one.kind} removed]") for one in secrets))
    for one in secrets:
        value = _INVISIBLE.sub("", text[one.start : one.end])
        if len(value) > SHORTEST_SECRET:
            masked = _repetition_pattern(value).sub(f"[{one.kind} removed]", masked)
    return _MaskedText(masked, tuple(dict.fromkeys(one.kind for one in secrets)))


def _repetition_pattern(value: str) -> re.Pattern[str]:
    """Return a pattern for a value with any invisible characters inside."""
    letters = f"{_UNSEEN}*".join(map(re.escape, value))
    return regex(rf"(?<![^\W\u3040-\ud7ff]){letters}(?![^\W\u3040-\ud7ff])")


def mask_secrets_within(value: Any) -> Any:
    """Return plain data of any depth with every text in it masked; the same object if none is."""
    if isinstance(value, str):
        return mask_secrets(value).text
    if isinstance(value, dict):
        fields: Any = {name: mask_secrets_within(one) for name, one in value.items()}
        return value if all(fields[name] is one for name, one in value.items()) else fields
    if isinstance(value, list | tuple):
        items = [mask_secrets_within(one) for one in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    return value


def has_secret(text: str) -> bool:
    """Tell whether a text contains a secret, the mark of one, or a random token."""
    return bool(SECRET_MARK.search(text) or _RANDOM.search(text) or _find_secrets(text))


def list_secret_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets in a text, including removed ones."""
    return mask_secrets(text).kinds or list_removed_kinds(text)


def list_removed_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets that were removed from a text, each once."""
    return tuple(dict.fromkeys(mark[1:].rpartition(" ")[0] for mark in SECRET_MARK.findall(text)))
