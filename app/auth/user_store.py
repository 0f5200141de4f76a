"""Store the users of a server, and the hashes of their tokens."""

from __future__ import annotations

import hashlib
import secrets
import time
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, or_, select, update

from app.auth.tables import server_users, user_tokens
from app.auth.user import check_user_name
from config.errors import ErrorCode, Problem
from config.settings import settings
from storage.engine import read_rows, run_read, run_write, write_with_next_group

TOKEN_PREFIX = "dsr_"  # noqa: S105 - the prefix of every token, which no user name may have
USE_SECONDS = 3_600
"""The resolution of the time of a token's last use."""

MAX_LABEL_CHARS = 100


class StoredToken(NamedTuple):
    """A token as it is stored, without its text."""

    id: str
    """The beginning of the token."""
    label: str
    created: float
    expires: float | None
    used: float | None


class StoredUser(NamedTuple):
    """A user and their tokens."""

    name: str
    identity: str
    """The user part of the owner of what they store: `name`, or the installation's person."""
    is_operator: bool
    created: float
    tokens: tuple[StoredToken, ...] = ()


class TokenOwner(NamedTuple):
    """The owner of a token, and when it expires, in seconds since 1970."""

    token: str
    identity: str
    is_operator: bool
    expires: float | None
    used: float | None


async def add_user(
    name: str, *, is_operator: bool = False, owns_local: bool = False, restore: bool = False
) -> StoredUser:
    """Add a user who has no token yet.

    Args:
        name: Their name.
        is_operator: Whether they run the server.
        owns_local: Whether they get what this installation's person has stored.
        restore: Whether to bring back a removed user, with everything that they stored.

    Raises:
        Problem: `user_name_invalid`, `user_exists` or `user_not_found`.
    """
    check_user_name(name)
    local = settings().user
    if name.casefold().startswith(TOKEN_PREFIX):
        raise Problem(ErrorCode.USER_NAME_INVALID, f"names do not begin with {TOKEN_PREFIX}")
    if name.casefold() == local.casefold() and not owns_local:
        what = f"what this installation has stored belongs to {local!r}"
        hint = "add --owns-local to hand it to this user, or choose another name"
        raise Problem(ErrorCode.USER_NAME_INVALID, what, hint=hint)
    user = StoredUser(name, local if owns_local else name, is_operator, time.time())
    await run_write(lambda connection: _add(connection, user, restore=restore))
    return user


def _add(connection: Connection, user: StoredUser, *, restore: bool) -> None:
    key = user.name.casefold()
    same = (server_users.c.key == key) | (server_users.c.identity == user.identity)
    known = connection.execute(select(server_users).where(same)).first()
    if restore:
        if known is None or known.removed is None or known.key != key:
            what = f"there is no removed user {user.name!r}"
            raise Problem(ErrorCode.USER_NOT_FOUND, what)
        back = {"removed": None, "operator": int(user.is_operator)}
        connection.execute(update(server_users).filter_by(key=key).values(back))
        return
    if known is not None:
        raise _taken(user, known.name, removed=known.removed is not None)
    row = (user.name, key, user.identity, int(user.is_operator), user.created, None)
    names = ("name", "key", "identity", "operator", "created", "removed")
    connection.execute(insert(server_users).values(dict(zip(names, row, strict=True))))


def _taken(user: StoredUser, by: str, *, removed: bool) -> Problem:
    if by.casefold() != user.name.casefold():
        return Problem(ErrorCode.USER_EXISTS, f"what is stored here belongs to {by!r} already")
    if removed:
        hint = "add --restore to bring them back with what they stored, or choose another name"
        return Problem(ErrorCode.USER_EXISTS, f"{by!r} was removed", hint=hint)
    return Problem(ErrorCode.USER_EXISTS, f"there is a user {by!r}")


async def list_users() -> list[StoredUser]:
    """Return the users with their tokens, by name."""

    def read(connection: Connection) -> list[StoredUser]:
        there = select(server_users).where(server_users.c.removed.is_(None))
        users = connection.execute(there.order_by(server_users.c.key)).all()
        rows = connection.execute(select(user_tokens).order_by(user_tokens.c.created)).all()
        tokens = [
            (row.user, StoredToken(row.id, row.label, row.created, row.expires, row.used))
            for row in rows
        ]
        return [
            StoredUser(
                row.name,
                row.identity,
                bool(row.operator),
                row.created,
                tuple(one for user, one in tokens if user == row.name),
            )
            for row in users
        ]

    return await run_read(read)


async def issue_token(name: str, *, seconds: float | None = None, label: str = "") -> str:
    """Return a new token of a user; only its hash is stored.

    Args:
        name: The user.
        seconds: How long it is valid; `None` for ever.
        label: What it is for.

    Raises:
        Problem: `user_not_found`.
    """
    now, id = time.time(), TOKEN_PREFIX + secrets.token_hex(4)
    token = f"{id}_{secrets.token_urlsafe(32)}"
    about = {"id": id, "hash": hash_token(token), "label": label[:MAX_LABEL_CHARS]}
    times = {"created": now, "expires": None if seconds is None else now + seconds}

    def write(connection: Connection) -> None:
        row = {**about, **times, "user": _find(connection, name)}
        connection.execute(insert(user_tokens).values(row))

    await run_write(write)
    return token


async def revoke_tokens(named: str) -> list[str]:
    """Delete a token, by its id or its text, or all tokens of a user; return the ids.

    Raises:
        Problem: `token_not_found` or `user_not_found`.
    """

    def write(connection: Connection) -> list[str]:
        if named.startswith(TOKEN_PREFIX):
            these = or_(user_tokens.c.id == named, user_tokens.c.hash == hash_token(named))
        else:
            these = or_(user_tokens.c.user == _find(connection, named))
        ids = list(connection.execute(select(user_tokens.c.id).where(these)).scalars())
        connection.execute(delete(user_tokens).where(user_tokens.c.id.in_(ids)))
        return ids

    ids = await run_write(write)
    if not ids and named.startswith(TOKEN_PREFIX):
        raise Problem(ErrorCode.TOKEN_NOT_FOUND, "there is no such token")
    return ids


async def remove_user(name: str) -> int:
    """Remove a user and their tokens, and return the number of tokens; what they stored stays.

    Raises:
        Problem: `user_not_found`.
    """

    def write(connection: Connection) -> int:
        user = _find(connection, name)
        gone = connection.execute(delete(user_tokens).filter_by(user=user)).rowcount
        when = {"removed": time.time(), "operator": 0}
        connection.execute(update(server_users).filter_by(name=user).values(when))
        return gone

    return await run_write(write)


async def find_identity(name: str) -> str:
    """Return the user part of the owner of what a user of the server stores.

    Raises:
        Problem: `user_not_found`.
    """

    def read(connection: Connection) -> str:
        named = select(server_users.c.identity).filter_by(name=_find(connection, name))
        return str(connection.execute(named).scalar_one())

    return await run_read(read)


def _find(connection: Connection, name: str) -> str:
    """Return the name of a user, spelled as it was first given."""
    there = select(server_users.c.name).filter_by(key=name.casefold(), removed=None)
    found = connection.execute(there).scalar()
    if found is None:
        raise Problem(ErrorCode.USER_NOT_FOUND, f"there is no user {name!r}")
    return str(found)


async def find_token_owner(hashed: str) -> TokenOwner | None:
    """Return the owner of the token with this hash."""
    token, user = user_tokens.c, server_users.c
    columns = (token.id, user.identity, user.operator, token.expires, token.used)
    joined = user_tokens.join(server_users, token.user == user.name)
    its = select(*columns).select_from(joined).where(token.hash == hashed, user.removed.is_(None))
    row = (await read_rows(its)).first()
    return TokenOwner._make(row)._replace(is_operator=bool(row.operator)) if row else None


async def is_active(identity: str) -> bool:
    """Say whether the user of this identity may use the server."""
    its = select(server_users.c.name).filter_by(identity=identity, removed=None)
    return (await read_rows(its)).first() is not None


def note_use(owner: TokenOwner) -> None:
    """Record the hour in which a token was last used, without waiting for the write."""
    hour = time.time() // USE_SECONDS * USE_SECONDS
    if owner.used != hour:
        noted = update(user_tokens).filter_by(id=owner.token).values(used=hour)
        write_with_next_group(lambda connection: connection.execute(noted))


def hash_token(token: str) -> str:
    """Return the SHA-256 of a token; with 256 random bits it needs no slower hash."""
    return hashlib.sha256(token.encode()).hexdigest()
