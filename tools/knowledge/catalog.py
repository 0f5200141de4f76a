"""Which knowledge bases there are for somebody: their own, and the operator's."""

from __future__ import annotations

import asyncio
import os
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from config.errors import ErrorCode, Problem
from config.settings import settings
from config.user_files import read_user_file
from library.knowledge_records import KnowledgeBase, list_own_bases
from tools.knowledge.kinds import ABOUT_OPTION, NO_BASES, SAY_OPTION, make_base

OPERATOR_FILE = "knowledge.toml"
"""The name of the operator's file in the home folder."""


async def list_bases(owner: str) -> list[KnowledgeBase]:
    """Return the bases that an owner may search, by name; their own go before the operator's.

    Raises:
        Problem: `config_not_found`, `config_syntax` or `knowledge_invalid` for the operator's file.
    """
    shared = await asyncio.to_thread(read_operator_bases)
    found = {base.name: base for base in (*shared, *await list_own_bases(owner))}
    return [found[name] for name in sorted(found)]


async def find_bases(owner: str, names: Sequence[str]) -> list[KnowledgeBase]:
    """Return the bases of some names that an owner may search, in the order of the names.

    Raises:
        Problem: `knowledge_unknown`, with the name that comes closest.
    """
    if not names:
        return []
    known = {base.name: base for base in await list_bases(owner)}
    for name in names:
        if name not in known:
            raise unknown_base(name, list(known))
    return [known[name] for name in dict.fromkeys(names)]


async def check_base_names(owner: str, names: Sequence[str]) -> None:
    """Make sure that an owner may search the bases that a run chooses; `none` stands alone.

    Raises:
        Problem: `knowledge_unknown` or `bad_choice`.
    """
    if NO_BASES not in names:
        await find_bases(owner, names)
    elif len(names) > 1:
        what = f"{NO_BASES!r} stands alone"
        raise Problem(ErrorCode.BAD_CHOICE, what, where="knowledge", hint="leave out the others")


def unknown_base(name: str, known: Sequence[str]) -> Problem:
    """Return the problem that there is no base of a name."""
    close = get_close_matches(name, known, n=1)
    listed = ", ".join(known) or "there are none yet: dossier kb add NAME PATH"
    hint = f"did you mean {close[0]}?" if close else f"there are: {listed}" if known else listed
    what = f"there is no knowledge base {name!r}"
    return Problem(ErrorCode.KNOWLEDGE_UNKNOWN, what, where="knowledge", hint=hint)


def operator_file() -> Path:
    """Return where the operator names bases for everybody; the file may be missing."""
    return settings().knowledge or settings().home / OPERATOR_FILE


def read_operator_bases() -> tuple[KnowledgeBase, ...]:
    """Return the bases that the operator has named; none without a file.

    Raises:
        Problem: `config_not_found` if a setting names a missing file, `config_syntax` or
            `knowledge_invalid`.
    """
    file = operator_file()
    try:
        state = os.stat(file)
    except OSError as error:
        if settings().knowledge is None:
            return ()
        what, hint = "there is no such file", "name an existing file in DOSSIER_KNOWLEDGE"
        raise Problem(ErrorCode.CONFIG_NOT_FOUND, what, where=str(file), hint=hint) from error
    return _read_file(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read_file(file: Path, modified: int, size: int) -> tuple[KnowledgeBase, ...]:
    """Read a file again only when it has changed."""
    del modified, size
    hint = "see docs/knowledge-bases.md for the format"
    try:
        tables = tomllib.loads(read_user_file(file, "utf-8"))
    except OSError as error:
        what = f"it cannot be read: {error.strerror}"
        raise Problem(ErrorCode.CONFIG_NOT_FOUND, what, where=str(file)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(ErrorCode.CONFIG_SYNTAX, str(error), where=str(file), hint=hint) from error
    return tuple(_read_table(file, name, table) for name, table in tables.items())


def _read_table(file: Path, name: str, table: Any) -> KnowledgeBase:
    """Return the base that a table of the file describes."""
    if not isinstance(table, Mapping):
        what = "each base is a table with `location` and `about`"
        raise Problem(ErrorCode.KNOWLEDGE_INVALID, what, where=f"{file}: {name}")
    said = {one: table.get(one, "") for one in ("about", "location", "kind")}
    wrong = [one for one, value in said.items() if not isinstance(value, str)]
    if wrong:
        what = "it is not a text"
        raise Problem(ErrorCode.KNOWLEDGE_INVALID, what, where=f"{file}: {name}.{wrong[0]}")
    options = {one: value for one, value in table.items() if one not in said}
    try:
        return make_base(name, said["about"], said["location"], options, kind=said["kind"])
    except Problem as problem:
        where = f"{file}: {problem.where or name}"
        hint = problem.hint.replace(ABOUT_OPTION, 'write about = "what it answers"')
        hint = hint.replace(SAY_OPTION, "write ")
        raise Problem(problem.error, problem.what, where=where, hint=hint) from problem
