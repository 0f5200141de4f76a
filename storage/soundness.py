"""Find out whether the databases are whole when something went wrong that nobody foresaw."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy.exc import ArgumentError

from config.errors import Problem
from config.settings import settings
from storage.address import address


def damaged() -> Problem | None:
    """Return what is wrong with the first database that is damaged; nothing where all are whole."""
    for file in _files():
        said = _said(file)
        if said != "ok":
            hint = "restore it from a backup, or move it away"
            what = f"the database is damaged: {said}"
            return Problem("storage_corrupt", what, where=str(file), hint=hint)
    return None


def _files() -> list[Path]:
    try:
        url = address(settings().database)
    except (ArgumentError, Problem):
        return []
    own = [Path(url.database)] if url.get_backend_name() == "sqlite" and url.database else []
    return [file for file in (*own, settings().checkpoints) if file.is_file()]


def _said(file: Path) -> str:
    """Return what SQLite says of a file: `ok`, or the first thing that is wrong."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            return " ".join(str(opened.execute("PRAGMA quick_check(1)").fetchone()[0]).split())
    except sqlite3.OperationalError:
        return "ok"  # It is busy, or may not be read, which is not damage.
    except sqlite3.DatabaseError as error:
        return str(error)
