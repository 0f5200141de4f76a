"""Mask the API keys and passwords of the environment in messages and errors."""

from __future__ import annotations

import json
import os
import re
from binascii import b2a_base64
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from config.resources import process_cached

REMOVED = "[key removed]"

SHORTEST, WORD = 5, 8
"""The fewest characters of a key, and of one of letters only, which may be a common word."""

CUT = 12
"""How many first characters identify a key, even if the rest was cut off."""

_NAMED = r"(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD|HEADERS)"
"""The names of variables that hold a key."""

_PLAIN = r"(?=.{1,20}\Z)[a-zA-Z]+(?:[-_ .][a-zA-Z]+)*"
"""A key that any text may contain, such as one made up for a server that needs none."""

_ADDRESSED = r".*_(?:URL|URI|DSN|BASE|ENDPOINT|HOST|SERVER|PROXY)"
"""The names of variables that hold an address."""

_WITH_LOGIN = (
    r"(?!sqlite)(?:[\w+.-]*:?/{1,2})?+(?!(?:localhost|[^/:@\s]*\.[^/:@\s]*):\d{1,5}[/?#])"
    r"([^/:@\s]*):(.+)@([^@/?#:\s]+).*"
)
"""An address with a login; the part behind a host and a port is not a login."""

_LOGIN = r"(?<=//)([^/\s:@]*):(?!\d{1,5}[/?#])[^\s?]+@"
"""A name and a password in an address; the password may contain `@`."""

_ARGUMENT = (
    r"(?i)(?<=[?&;])((?:\w*[-_])?(?:ssl)?(?:password|passwd|pass|pwd|secret|token|jwt|(?:api)?key"
    r"|sig|signature|auth|authorization|credentials?|code|session))=[^&;\s)\"']+"
)
"""A password or a key among the parameters of an address."""


def mask_keys(text: str, *, plain_words: bool = True) -> str:
    """Return a text without the keys in the environment, in any form that a server may echo.

    This includes keys that were cut off, and passwords in addresses.

    Args:
        text: The text.
        plain_words: Whether a key of words alone is removed, such as `lm-studio`.
    """
    keys, logins = _read_secrets()
    for login in logins:
        text = login.hidden_in(text)
    for key in keys:
        if plain_words or not re.fullmatch(_PLAIN, key):
            for form in _written_forms(key):
                text = _mask_key(text, form)
    return _mask_logins(text)


def _mask_logins(text: str) -> str:
    """Return a text without the passwords in its addresses."""
    if "//" not in text:
        return text
    return re.sub(_ARGUMENT, r"\1=***", re.sub(_LOGIN, r"\1:***@", text))


def mask_value(name: str, value: str) -> str:
    """Return the value of a variable, without the password if it is an address."""
    login = _login(value) if _is_address_variable(name) else None
    return _mask_logins(login.hidden_in(value) if login else value)


@lru_cache(maxsize=1024)
def is_key_variable(name: str) -> bool:
    """Say by its name whether a variable holds a key."""
    return re.fullmatch(_NAMED, name.upper()) is not None


def mask_error(error: BaseException | None) -> None:
    """Remove the keys from an error and its causes, all of which a log may show."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        args = tuple(mask_keys(arg) if isinstance(arg, str) else arg for arg in error.args)
        if args != error.args:
            error.args = args
        if isinstance(error, OSError) and isinstance(error.strerror, str):
            error.strerror = mask_keys(error.strerror)
        error = error.__cause__ or error.__context__


class _Login(NamedTuple):
    """The login and the host of an address in the environment."""

    name: str
    password: str
    host: str

    def hidden_in(self, text: str) -> str:
        """Return a text without the password, and without the parts of it that a parser left."""
        for password in (self.password, unquote(self.password)):
            rests = (password[at:] for at in range(len(password)))
            for rest in rests if f"@{self.host}" in text else ():
                text = text.replace(f"{rest}@{self.host}", f"***@{self.host}")
        return text


@lru_cache(maxsize=1024)
def _is_address_variable(name: str) -> bool:
    return re.fullmatch(_ADDRESSED, name.upper()) is not None


def _read_secrets() -> tuple[list[str], list[_Login]]:
    """Return the keys in the environment, and the logins in its addresses.

    Passwords of logins are keys too, also in addresses that cannot be read.
    """
    keys: list[str] = []
    logins: list[_Login] = []
    for name, value in os.environ.items():
        if is_key_variable(name):
            keys.append(value.strip())
        if _is_address_variable(name) and (login := _login(value)):
            logins.append(login)
    keys += [word for login in logins for word in (login.password, unquote(login.password))]
    return [key for key in dict.fromkeys(keys) if _is_long(key)], logins


def _is_long(key: str) -> bool:
    return len(key) >= (WORD if key.isalpha() else SHORTEST)


@process_cached
def _login(address: str) -> _Login | None:
    found = re.fullmatch(_WITH_LOGIN, address.strip(), re.DOTALL)
    return _Login(*found.groups()) if found else None


@process_cached
def _written_forms(key: str) -> tuple[str, ...]:
    """Return a key verbatim, and as written in JSON, in an address and in Base64."""
    encoded = b2a_base64(key.encode(errors="replace"), newline=False).decode()
    return tuple(dict.fromkeys((key, json.dumps(key)[1:-1], quote(key, safe=""), encoded)))


def _mask_key(text: str, key: str) -> str:
    parts, start, opening = [], 0, key[: min(CUT, len(key))]
    while (at := text.find(opening, start)) >= 0:
        parts += [text[start:at], REMOVED]
        end = at + len(key)
        start = end if text[at:end] == key else at + _common_prefix_length(text[at:end], key)
    return "".join([*parts, text[start:]]) if parts else text


def _common_prefix_length(text: str, key: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(text, key, strict=False))
    return next((at for at, (one, other) in pairs if one != other), len(text))
