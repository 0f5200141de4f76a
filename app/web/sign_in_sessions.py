"""Sessions of the console: a cookie stands for the token with which somebody signed in.

The stored token is encrypted with a key derived from the cookie, and useless without it.
"""

from __future__ import annotations

import hashlib
import secrets
import time

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import delete, insert, select

from app.web.tables import console_sessions
from storage.engine import read_rows, run_write

SESSION_SECONDS = 14 * 86_400
"""How long a session lasts; the token may expire earlier."""

_NONCE_BYTES = 12
_MAX_SECRET_CHARS = 100


async def open_console_session(token: str) -> str:
    """Store a session of the owner of a token; return the secret for the cookie."""
    secret, now = secrets.token_urlsafe(32), time.time()
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = nonce + _cipher(secret).encrypt(nonce, token.encode(), None)
    row = {"id": _hash("id", secret).hex(), "sealed": sealed}
    times = {"created": now, "expires": now + SESSION_SECONDS}
    over = delete(console_sessions).where(console_sessions.c.expires <= now)

    await run_write(lambda connection: connection.execute(over))
    new = insert(console_sessions).values({**row, **times})
    await run_write(lambda connection: connection.execute(new))
    return secret


async def find_session_token(secret: str) -> str:
    """Return the token of a session; "" if there is no such session, or it has ended."""
    if not secret or len(secret) > _MAX_SECRET_CHARS:
        return ""
    its = select(console_sessions.c.sealed).where(
        console_sessions.c.id == _hash("id", secret).hex(),
        console_sessions.c.expires > time.time(),
    )
    row = (await read_rows(its)).first()
    if row is None:
        return ""
    nonce, sealed = row.sealed[:_NONCE_BYTES], row.sealed[_NONCE_BYTES:]
    try:
        return _cipher(secret).decrypt(nonce, sealed, None).decode()
    except InvalidTag:
        return ""


async def close_console_session(secret: str) -> None:
    """End a session."""
    its = delete(console_sessions).filter_by(id=_hash("id", secret).hex())
    await run_write(lambda connection: connection.execute(its))


def _cipher(secret: str) -> AESGCM:
    return AESGCM(_hash("seal", secret))


def _hash(purpose: str, secret: str) -> bytes:
    return hashlib.sha256(f"{purpose}:{secret}".encode()).digest()
