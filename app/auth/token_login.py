"""The login of a server whose users have tokens (`dossier users`)."""

from __future__ import annotations

import time
from collections.abc import Mapping

from app.auth.login import Login, read_token
from app.auth.user import User
from app.auth.user_store import (
    TOKEN_PREFIX,
    TokenOwner,
    find_token_owner,
    hash_token,
    is_active,
    note_use,
)
from config.errors import ErrorCode, Problem
from config.resources import RecentCache

CACHE_SECONDS = 3.0
"""How long a looked-up token is cached, and so how long a revoked one may still work."""

_CACHED = 4_096


class TokenLogin(Login):
    """Finds the user of a token by its hash, so that timing reveals nothing about tokens."""

    def __init__(self) -> None:
        self.known: RecentCache[str, tuple[float, TokenOwner | None]] = RecentCache(_CACHED)

    async def identify(self, headers: Mapping[str, str]) -> User:
        """Return the user of the token in the headers.

        Raises:
            Problem: `token_missing`, `token_wrong` or `token_expired`.
        """
        token = read_token(headers)
        # Without this check anybody could cause any number of look-ups.
        owner = await self._find(hash_token(token)) if token.startswith(TOKEN_PREFIX) else None
        if owner is None:
            raise Problem(ErrorCode.TOKEN_WRONG, "nobody has this token")
        if owner.expires is not None and owner.expires <= time.time():
            raise Problem(ErrorCode.TOKEN_EXPIRED, "this token has expired")
        return User(owner.identity, owner.is_operator)

    async def is_active(self, name: str) -> bool:
        """Say whether a user was added, and not removed since."""
        return await is_active(name)

    async def _find(self, hashed: str) -> TokenOwner | None:
        until, owner = self.known.get(hashed, (0.0, None))
        if until <= time.monotonic():
            owner = await find_token_owner(hashed)
            self.known[hashed] = time.monotonic() + CACHE_SECONDS, owner
            if owner:
                note_use(owner)
        return owner
