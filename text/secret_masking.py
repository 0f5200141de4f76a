"""Find and mask secrets, which must never be stored: passwords, keys, tokens, card numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from text.pattern_files import PatternFile
from text.regex import regex, replace_spans
from text.secret_forms import (
    SHORTEST_SECRET,
    Secret,
    find_formed_secrets,
    has_letters_and_digits,
    is_harmless,
    is_mixed_token,
)
from text.secret_phrases import find_number_at_start, find_secrets_after, find_worded_secrets

_PATTERNS = PatternFile("text", "secret_masking.toml")

_QUOTED = regex(r"""["'“„«‹「]\s?([^"'”“»›」\n]{3,100}?)\s?["'”“»›」]""")
_WORD = regex(r"[^\s,;!?。，；！？、]{1,200}")
_REST = regex(r"\s*(?:$|[.,;:!?\n)])")
_TRAILING = ".,;:!?)'\"`]}>»"


def _find_foreign_secrets(text: str) -> Iterator[Secret]:
    """Yield secrets introduced by words of other languages, in any order; they may overlap."""
    if not _PATTERNS.named.search(text):
        return
    yield from find_secrets_after(text, [(_PATTERNS.stated, _behind)], _kind)
    for match in _PATTERNS.used.finditer(text):
        if has_letters_and_digits(match["value"], 5) and not is_harmless(match["value"]):
            yield Secret(_kind(match["noun"]), *match.span("value"))
    for match in _PATTERNS.eastern.finditer(text):
        value, start = match["value"].rstrip(_TRAILING), match.start("value")
        likely = is_mixed_token(value) or match["after"] is not None
        if likely and len(value) > SHORTEST_SECRET and not is_harmless(value):
            yield Secret(_kind(match["noun"]), start, start + len(value))


def _behind(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a secret after its name, if there is one."""
    linked = bool(match["link"].strip())
    if _kind(match["noun"]) == "number":
        return find_number_at_start(after) if match["own"] or linked else None
    if linked and (quoted := _QUOTED.match(after)):
        return None if is_harmless(quoted[1]) else quoted.span(1)
    token = _WORD.match(after)
    word = token[0].rstrip(_TRAILING) if token else ""
    if is_harmless(word) or len(word) <= SHORTEST_SECRET:
        return None
    if has_letters_and_digits(word, 5) or (is_mixed_token(word) and linked):
        return 0, len(word)
    certain = match["own"] or (
        _PATTERNS.says.search(match["link"]) and match["noun"].lower() != "clave"
    )
    plain = word.lower() in _PATTERNS.get_words("plain") or _PATTERNS.participle.match(word)
    ends = _REST.match(after[len(word) :])
    return (0, len(word)) if certain and ends and linked and not plain else None


def _kind(noun: str) -> str:
    return "number" if _PATTERNS.number_noun.fullmatch(noun) else "password"


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
    finders = (find_formed_secrets, find_worded_secrets, _find_foreign_secrets)
    candidates = [secret for find in finders for secret in find(plain)]
    secrets: list[Secret] = []
    for one in sorted(candidates, key=lambda one: (one.start, -one.end)):
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
