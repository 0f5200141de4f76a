"""Remove the keys in the environment from messages."""

from __future__ import annotations

import json
import os
import re
from binascii import b2a_base64
from collections.abc import Iterator
from urllib.parse import quote

REMOVED = "[key removed]"

SHORTEST, WORD = 5, 8
"""The fewest characters of a key, and of one with letters only, which may be a common word."""

CUT = 12
"""The first characters of a key, by which it is recognised even if the rest was cut off."""

_NAMED = r"(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD)"
"""The names of variables that hold a key."""

_LOGIN = r"(?<=://)([^/\s:@]*):[^/\s]+@"
"""A name and a password in an address."""

_ARGUMENT = (
    r"(?i)(?<=[?&;])((?:\w*[-_])?(?:ssl)?(?:password|passwd|pwd|secret|token|(?:api)?key))="
    r"[^&;\s)\"']+"
)
"""A password or a key among the parameters of an address."""


def without_keys(text: str) -> str:
    """Return a text without the keys in the environment, in any form in which a server echoes them.

    Keys that were cut off are removed too, and so are passwords in addresses.
    """
    for form in _forms():
        text = _without(text, form)
    return without_logins(text)


def without_logins(text: str) -> str:
    """Return a text without the passwords in its addresses."""
    if "://" not in text:
        return text
    return re.sub(_ARGUMENT, r"\1=***", re.sub(_LOGIN, r"\1:***@", text))


def is_key(name: str) -> bool:
    """Say whether a variable holds a key, by its name."""
    return re.fullmatch(_NAMED, name.upper()) is not None


def scrub(error: BaseException | None) -> None:
    """Remove the keys from an error and from its causes: a log may show them all."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        said = [without_keys(one) if isinstance(one, str) else one for one in error.args]
        if said != list(error.args):
            error.args = tuple(said)
        if isinstance(error, OSError) and isinstance(error.strerror, str):
            error.strerror = without_keys(error.strerror)
        error = error.__cause__ or error.__context__


def _forms() -> Iterator[str]:
    """Yield the keys as they are, and as written in JSON, in an address and in Base64."""
    for name, value in os.environ.items():
        key = value.strip()
        long = len(key) >= (WORD if key.isalpha() else SHORTEST)
        if long and is_key(name):
            encoded = b2a_base64(key.encode(errors="replace"), newline=False).decode()
            every = (key, json.dumps(key)[1:-1], quote(key, safe=""), encoded)
            yield from dict.fromkeys(every)


def _without(text: str, key: str) -> str:
    kept, start, opening = [], 0, key[: min(CUT, len(key))]
    while (at := text.find(opening, start)) >= 0:
        kept += [text[start:at], REMOVED]
        end = at + len(key)
        start = end if text[at:end] == key else at + _alike(text[at:end], key)
    return "".join([*kept, text[start:]]) if kept else text


def _alike(text: str, key: str) -> int:
    """Return the length of the common beginning of two texts."""
    pairs = enumerate(zip(text, key, strict=False))
    return next((at for at, (one, other) in pairs if one != other), len(text))
