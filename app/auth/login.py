"""The ways to log in: how the user of a request is found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from importlib import import_module

from app.auth.user import User
from config.errors import ErrorCode, Problem
from config.resources import Resource
from config.settings import settings
from runs.call_site import split_owner

_BUILT_IN = {
    "person": "app.auth.person_login:PersonLogin",
    "users": "app.auth.token_login:TokenLogin",
    "jwt": "app.auth.jwt_login:JwtLogin",
}
"""The class of each way to log in that comes with Dossier."""

_MAX_TOKEN_BYTES = 16_384

HOW_TO_SEND = (
    "send it as x-api-key (`api_key=` of langgraph_sdk, the key that a chat page asks for), or as "
    "Authorization: Bearer"
)


class Login(ABC):
    """A way to log in. Subclasses are created without arguments, once per process."""

    @abstractmethod
    async def identify(self, headers: Mapping[str, str]) -> User:
        """Return the user of a request with these headers, whose names are in lower case.

        Raises:
            Problem: `token_missing`, `token_wrong` or `token_expired`; `login_unavailable` if that
                cannot be decided now.
        """

    async def is_active(self, name: str) -> bool:
        """Say whether a user may still use the server; a cron asks before it runs."""
        del name
        return True


def get_login() -> Login:
    """Return how the users of this server log in.

    Raises:
        Problem: `config_value` where `DOSSIER_AUTH` names no class.
    """
    return _login.get()


def _make_login() -> Login:
    named = settings().auth
    module, _, name = _BUILT_IN.get(named, named).partition(":")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        what = f"there is no class {name!r} in the module {module!r}"
        hint = "name a class that can be imported, as module:Class"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where="DOSSIER_AUTH", hint=hint) from error
    if not (isinstance(kind, type) and issubclass(kind, Login)):
        what, hint = f"{named} is not a login class", "name a subclass of app.auth.login.Login"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where="DOSSIER_AUTH", hint=hint)
    return kind()


_login = Resource(_make_login)


async def is_still_user(owner: str) -> bool:
    """Say whether an owner's user may still use the server; where nobody logs in, anybody may."""
    user = split_owner(owner)[0]
    named = settings()
    return not named.has_users or user == named.user or await get_login().is_active(user)


async def check_active(name: str) -> None:
    """Make sure that a user may still use the server: a cron outlives the token that created it.

    Raises:
        Problem: `token_wrong`.
    """
    if not await get_login().is_active(name):
        raise Problem(ErrorCode.TOKEN_WRONG, "this user was removed from the server")


def read_token(headers: Mapping[str, str]) -> str:
    """Return the one token that a request was sent with.

    Raises:
        Problem: `token_missing` without one; `token_wrong` for several, or a malformed one.
    """
    found = set(_list_tokens(headers.items()))
    if not found:
        raise Problem(ErrorCode.TOKEN_MISSING, "this request needs a token", hint=HOW_TO_SEND)
    token = found.pop()
    if found:
        what = "this request has several tokens, which may be of different users"
        raise Problem(ErrorCode.TOKEN_WRONG, what, hint="send one token")
    if not (token.isascii() and token.isprintable() and len(token) <= _MAX_TOKEN_BYTES):
        raise Problem(ErrorCode.TOKEN_WRONG, "this is not a token")
    return token


def _list_tokens(headers: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Yield each token in the headers of a request."""
    for name, value in headers:
        kind, _, rest = value.strip().partition(" ")
        if name == "x-api-key" and value.strip():
            yield value.strip()
        elif name == "authorization" and kind.lower() == "bearer" and rest.strip():
            yield rest.strip()
