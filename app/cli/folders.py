"""Settings in a folder's `.env`: what a trusted folder may set, a line on the rest, the import."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable
from pathlib import Path

from app.cli.output import confirmed, one_line, say
from config import environment
from config.counted import counted
from config.errors import Problem
from config.settings import settings
from storage.private import WRITABLE

SHOWN = 3
"""How many names are told at most."""

HIDDEN = 12
"""A key of more characters is told by its last four."""

ASKED = "Take this over into {own}? Your words and keys go to the addresses in it."

TRUSTED = "Its AGENTS.md is told to models with --project, and its .env may set limits of time."


def heed() -> None:
    """Take over what the file of a trusted folder may set, and say what it sets in vain."""
    said = environment.of_folder()
    if said.keys() & environment.HARMLESS and _is_trusted():
        allowed = {name: said.pop(name) for name in said.keys() & environment.HARMLESS}
        os.environ.update({name: one for name, one in allowed.items() if name not in os.environ})
        settings.cache_clear()
    if said:
        say(passed_over(said))


def passed_over(names: Iterable[str]) -> str:
    """Return what is told of names in a folder's file that are not heeded."""
    every = sorted(names, key=lambda name: (name in environment.HARMLESS, name))
    more = f" and {counted(len(every) - SHOWN, 'other')}" if len(every) > SHOWN else ""
    listed = ", ".join(every[:SHOWN])
    way = "dossier settings import"
    if every == [environment.HOME]:
        way = f"export {environment.HOME} in your shell"
    elif environment.HARMLESS.issuperset(every):
        way = "dossier trust ."
    return f".env of this folder is not read ({listed}{more}); if it is yours: {way}"


def _is_trusted() -> bool:
    # Few folders have such a file, and to ask for it loads the database.
    from memory.files.projects import project_of, trusted  # noqa: PLC0415
    from runs.place import owned  # noqa: PLC0415
    from storage.engine import close  # noqa: PLC0415

    async def known() -> bool:
        try:
            folder = os.getcwd()
            return bool(await trusted(owned(settings().user, project_of(folder))))
        finally:
            await close()

    try:
        return asyncio.run(known())
    except Problem:
        return False


def trust_folder(*, folder: Path) -> int:
    """Remember that the files of a folder may be read; return the exit status.

    Raises:
        Problem: `project_not_found`, or what the storage tells of.
    """
    from memory.files.projects import trust  # noqa: PLC0415
    from storage.engine import close  # noqa: PLC0415

    async def remember() -> None:
        try:
            await trust(settings().user, str(folder))
        finally:
            await close()

    if not folder.is_dir():
        raise Problem("project_not_found", "there is no such folder", where=str(folder))
    asyncio.run(remember())
    print(f"trusted: {one_line(str(folder.resolve()))}. " + TRUSTED)
    return 0


def import_settings(*, file: Path, sure: bool) -> int:
    """Add the settings of a file to the person's own, after showing them; return the exit status.

    Raises:
        Problem: `config_not_found`, `config_syntax`, `import_unconfirmed` or `home_read_only`.
    """
    new, kept = _told_apart(_settings_of(file))
    own = environment.own_file()
    for name in kept:
        say(f"{name} is in {own} already, and stays as it is there")
    if not new:
        print(f"{own} has nothing to take over from {one_line(str(file))}")
        return 0
    lines = [f"  {name} = {_shown(name, value)}" for name, value in new.items()]
    if not sure and not confirmed(ASKED.format(own=own), "import_unconfirmed", lines):
        print("Nothing was taken over.")
        return 0
    try:
        environment.add(new)
    except OSError as error:
        what = f"it cannot be written: {error.strerror}"
        raise Problem("home_read_only", what, where=str(own), hint=WRITABLE) from error
    print(f"{own} has {counted(len(new), 'new setting')}; {one_line(str(file))} is as it was")
    return 0


def _settings_of(file: Path) -> dict[str, str]:
    """Return what a file sets that Dossier uses; relative paths in it begin at its folder."""
    where = one_line(str(file))
    try:
        said = environment.read(file)
    except OSError as error:
        what = f"it cannot be read: {error.strerror}"
        raise Problem("config_not_found", what, where=where, hint="name a file") from error
    except ValueError as error:
        what = "the file is not plain text in UTF-8"
        raise Problem("config_syntax", what, where=where, hint=environment.HINT) from error
    if not said and not file.is_file():
        hint = "name the file: dossier settings import path/to/.env"
        raise Problem("config_not_found", "there is no such file", where=where, hint=hint)
    said = {name: environment.placed(name, value, file.parent) for name, value in said.items()}
    return {name: value for name, value in said.items() if environment.is_used(name)}


def _told_apart(said: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return what is new, and the names that the person's own file has otherwise."""
    if Path(said.pop(environment.HOME, environment.home())).expanduser() != environment.home():
        say(f"{environment.HOME} is not taken over: say it in the environment")
    own = environment.read(environment.own_file())
    new = {name: value for name, value in said.items() if name not in own}
    return new, [name for name, value in said.items() if own.get(name, value) != value]


def _shown(name: str, value: str) -> str:
    """Return a value as it is shown: of a key, the end alone."""
    if re.search("KEY|TOKEN|SECRET|PASSWORD", name):
        return f"…{value[-4:]}" if len(value) > HIDDEN else "…"
    # An address may hold a password.
    return one_line(re.sub(r"(?<=//)[^/@\s]*@", "…@", value))
