"""The login of a server whose users have JWTs of an OpenID Connect issuer."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx
import jwt
from jwt import PyJWK, PyJWKSet

from app.auth.login import Login, read_token
from app.auth.user import User, check_user_name
from config.errors import ErrorCode, Problem
from config.settings import settings

_PUBLIC_KEY_ALGORITHMS = frozenset(
    ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
)
"""The asymmetric algorithms: the key that verifies a signature cannot create one."""

_FRESH_SECONDS = 3_600.0
"""How long keys of the issuer are used before they are fetched again."""

_RETRY_SECONDS = 10.0
"""The shortest time between two fetches, whatever key ids tokens name."""

_MAX_STALE_SECONDS = 86_400.0
"""How long old keys are used while the issuer does not answer."""

_MAX_KEYS_BYTES = 1_000_000

_LOCAL_USER = "local"
"""The user of an installation without users."""


class JwtLogin(Login):
    """Accepts tokens that the issuer has signed, for this audience and not expired."""

    def __init__(self) -> None:
        """Read the settings.

        Raises:
            Problem: `config_value`.
        """
        named = settings()
        for name in ("jwt_issuer", "jwt_audience", "jwt_keys_url"):
            if not getattr(named, name):
                raise _unfit(name, "it is needed where DOSSIER_AUTH is jwt")
        shared = set(named.jwt_algorithms) - _PUBLIC_KEY_ALGORITHMS
        if shared:
            known = ", ".join(sorted(_PUBLIC_KEY_ALGORITHMS))
            raise _unfit("jwt_algorithms", f"{min(shared)} is none of {known}")
        if not _is_safe(named.jwt_keys_url):
            raise _unfit("jwt_keys_url", "it is not an address that begins with https://")
        self.named, self.keys = named, IssuerKeys(named.jwt_keys_url)

    async def identify(self, headers: Mapping[str, str]) -> User:
        """Return the user of the token in the headers.

        Raises:
            Problem: `token_missing`, `token_wrong`, `token_expired` or `login_unavailable`.
        """
        token = read_token(headers)
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in self.named.jwt_algorithms:
                raise Problem(ErrorCode.TOKEN_WRONG, "the token is signed by another algorithm")
            key = await self.keys.find(header.get("kid"))
            claims = self._decode(token, key)
        except jwt.ExpiredSignatureError as error:
            raise Problem(ErrorCode.TOKEN_EXPIRED, "this token has expired") from error
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            what = f"the token is not accepted: {_first_line(error)}"
            raise Problem(ErrorCode.TOKEN_WRONG, what) from error
        return User(self._name(claims), self._is_operator(claims))

    def _decode(self, token: str, key: PyJWK) -> dict[str, Any]:
        named = self.named
        return jwt.decode(
            token,
            key.key,
            algorithms=list(named.jwt_algorithms),
            audience=list(named.jwt_audience),
            issuer=named.jwt_issuer,
            leeway=named.jwt_leeway_seconds,
            options={"require": ["exp", "iss", "aud"]},
        )

    def _name(self, claims: Mapping[str, Any]) -> str:
        """Return the name of the user, which must not be that of an installation without users.

        Raises:
            Problem: `token_wrong`.
        """
        claim = self.named.jwt_name_claim
        name = _look_up(claims, claim)
        try:
            if isinstance(name, str) and name.casefold() != _LOCAL_USER:
                return check_user_name(name)
        except Problem as problem:
            what = f"the claim {claim!r} of the token names no user: {problem.what}"
            raise Problem(ErrorCode.TOKEN_WRONG, what) from problem
        raise Problem(ErrorCode.TOKEN_WRONG, f"the claim {claim!r} of the token names no user")

    def _is_operator(self, claims: Mapping[str, Any]) -> bool:
        roles, wanted = _look_up(claims, self.named.jwt_role_claim), self.named.jwt_operator_role
        given = roles.split() if isinstance(roles, str) else roles
        return bool(wanted) and isinstance(given, list) and wanted in given


class IssuerKeys:
    """The public keys of an issuer; they are fetched when they are old or one is missing."""

    def __init__(self, url: str) -> None:
        """Fetch the keys from this address, at the first token."""
        self.url = url
        self.keys: dict[str, PyJWK] = {}
        self.fetched = self.tried = float("-inf")
        self.failure = ""
        self.lock = asyncio.Lock()

    async def find(self, id: object) -> PyJWK:
        """Return the key with an id; for a token that names none, the only key.

        Raises:
            Problem: `token_wrong` if there is no such key, or `login_unavailable`.
        """
        now = time.monotonic()
        if now - self.fetched > _FRESH_SECONDS or self._known(id) is None:
            await self._refresh(now)
        if (key := self._known(id)) is not None:
            return key
        raise Problem(ErrorCode.TOKEN_WRONG, "the token is signed with an unknown key")

    def _known(self, id: object) -> PyJWK | None:
        if id is None:
            return next(iter(self.keys.values())) if len(self.keys) == 1 else None
        return self.keys.get(id) if isinstance(id, str) else None

    async def _refresh(self, asked: float) -> None:
        """Fetch the keys unless that was just done; if it fails, the old ones stay in use.

        Raises:
            Problem: `login_unavailable` if there are none, or they are too old.
        """
        async with self.lock:
            if asked - self.tried >= _RETRY_SECONDS:
                self.tried = time.monotonic()
                self.failure = await self._try_fetch()
        if self.failure and asked - self.fetched > _MAX_STALE_SECONDS:
            what = f"the keys of the issuer cannot be had: {self.failure}"
            raise Problem(ErrorCode.LOGIN_UNAVAILABLE, what)

    async def _try_fetch(self) -> str:
        """Fetch the keys; return why that failed, or an empty string."""
        try:
            self.keys = await self._fetch()
        except (httpx.HTTPError, jwt.PyJWTError, ValueError) as error:
            return _first_line(error)
        self.fetched = time.monotonic()
        return ""

    async def _fetch(self) -> dict[str, PyJWK]:
        # Creating the client reads certificates, which the development server forbids in the loop.
        make = partial(httpx.AsyncClient, timeout=settings().connect_seconds)
        async with await asyncio.to_thread(make) as client:
            answer = await client.get(self.url, headers={"accept": "application/json"})
        answer.raise_for_status()
        if len(answer.content) > _MAX_KEYS_BYTES:
            msg = "the answer is too long"
            raise ValueError(msg)
        listed = PyJWKSet.from_dict(answer.json()).keys
        signing = [one for one in listed if one.public_key_use in (None, "sig")]
        return {one.key_id or "": one for one in signing if one.key_type != "oct"}


def _look_up(claims: Mapping[str, Any], path: str) -> Any:
    """Return a claim by its name, or by a path of names with dots."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _is_safe(address: str) -> bool:
    """Say whether responses from an address cannot be changed on the way: HTTPS, or loopback."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme == "https":
        return bool(host)
    try:
        return parts.scheme == "http" and ipaddress.ip_address(host).is_loopback
    except ValueError:
        return parts.scheme == "http" and host == "localhost"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _unfit(name: str, what: str) -> Problem:
    where = f"DOSSIER_{name.upper()}"
    return Problem(ErrorCode.CONFIG_VALUE, what, where=where, hint="see docs/users.md")
