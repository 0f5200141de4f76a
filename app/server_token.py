"""The token of the server: made once, stored in the data folder, sent by scripts and the SDK."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from config.errors import ErrorCode, Problem
from config.settings import settings
from storage.permissions import FILE, secure_home

NAME = "server-token"
"""Its file in the data folder."""

LEAST = 20
"""The fewest characters of a token, which a person may have written into the file."""


def load_server_token(*, renew: bool = False) -> str:
    """Return the token, and make one if there is none.

    Args:
        renew: Whether to replace an existing one.

    Raises:
        Problem: `storage_unavailable`, or `token_unusable` if the file contains no token.
    """
    file = settings().home / NAME
    try:
        secure_home()
        if renew:
            file.unlink(missing_ok=True)
        with suppress(FileExistsError):
            _create_token_file(file)
        kept = file.read_text(encoding="ascii", errors="replace").strip()
    except OSError as error:
        what = f"the token of the server cannot be stored: {error.strerror}"
        hint = "set DOSSIER_HOME to a folder that you may write to"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=str(file), hint=hint) from error
    if len(kept) < LEAST or not kept.isascii() or not kept.isprintable():
        what = "the file does not contain a token"
        hint = "make a new one with: dossier token --renew"
        raise Problem(ErrorCode.TOKEN_UNUSABLE, what, where=str(file), hint=hint)
    return kept


def _create_token_file(file: Path) -> None:
    """Write a new token to another file and link it here, so that no reader sees half of it."""
    fresh = file.with_name(f"{NAME}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE), "w") as out:
        out.write(f"{secrets.token_urlsafe(32)}\n")
    try:
        os.link(fresh, file)
    finally:
        fresh.unlink()
