"""Write any text so that markdown shows it as it is."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from retrieval.regex import regex
from retrieval.text import normalise

_SPECIAL = regex(
    r"[`*\[\]<>|~]|\\(?=[!-/:-@\[-`{-~])|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|^[#+=-]|#$|(?<=^\d)[.)](?=\s)"
)
_OPENING = regex(r"<(?=[A-Za-z/!?])|\](?=[(\[])")
_DEFINITION = regex(r"^([ \t]*\[[^\]\n]+\]):", re.MULTILINE)
_UNSAFE = regex(r"[\s<>\"`\\*\[\]{}|^]")
_NUMBER = regex(r"\[(\^?\d{1,3})\]")
_ESCAPED = regex(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = regex(r"(?<![\w*\\])(\*{1,3})(?=[^\s*])([^*\n]+?)(?<=[^\s*\\])\1(?![\w*])")


def unescaped(text: str) -> str:
    """Return a text without the backslashes that `escaped` puts before marks."""
    return _ESCAPED.sub(r"\1", text)


def unmarked(text: str) -> str:
    """Return words of a page without its own marks of emphasis."""
    return _EMPHASIS.sub(r"\2", text)


def one_line(text: str) -> str:
    """Return `text` in one line, without control characters."""
    return " ".join(normalise(text).split())


def escaped(text: str) -> str:
    """Return markdown that shows `text`, in one line and without any markup."""
    return _SPECIAL.sub(lambda special: f"\\{special[0]}", one_line(text))


def disarmed(markdown: str) -> str:
    """Return markdown in which nothing reads like HTML, a link or a reference."""
    plain = _NUMBER.sub(r"\\[\1\\]", _OPENING.sub(r"\\\g<0>", markdown))
    return _DEFINITION.sub(r"\1\\:", plain)


def web_address(location: str) -> str:
    """Return `location` as an address that may be followed, or nothing if it is none."""
    address = one_line(location)
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    return _UNSAFE.sub(lambda unsafe: quote(unsafe[0]), address)
