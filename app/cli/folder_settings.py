"""Apply settings of a trusted folder's `.env`, report those ignored, and import a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from app.cli.output import confirm, one_line, print_notice
from config import environment
from config.errors import ErrorCode, Problem
from config.key_masking import is_key_variable, mask_value
from config.resources import replace_resources
from config.settings import settings
from storage.permissions import WRITABLE_HINT
from text.pluralization import pluralize

SHOWN = 3
"""How many names are listed at most."""

HIDDEN = 12
"""Of a key with more characters the last four are shown."""

ASKED = "Copy these settings into {own}? Your prompts and keys are sent to the addresses in them."


def apply_folder_env() -> None:
    """Apply the settings that the `.env` of a trusted folder may set; report those ignored.

    Raises:
        Problem: `config_value`.
    """
    said = environment.read_folder_env()
    if said.keys() & environment.HARMLESS_VARIABLES and _is_trusted():
        allowed = {name: said.pop(name) for name in said.keys() & environment.HARMLESS_VARIABLES}
        os.environ.update({name: one for name, one in allowed.items() if name not in os.environ})
        _check(allowed)
    if said:
        print_notice(describe_ignored_settings(said))


def _check(allowed: dict[str, str]) -> None:
    """Read the settings again.

    Raises:
        Problem: `config_value`, which names the folder's file where the value is from there.
    """
    replace_resources().close()
    try:
        settings()
    except Problem as problem:
        if problem.where not in allowed:
            raise
        where = f"{problem.where} in {Path(environment.ENV_FILE_NAME).absolute()}"
        raise Problem(problem.error, problem.what, where=where, hint=problem.hint) from problem


def describe_ignored_settings(names: Iterable[str]) -> str:
    """Return the message on settings in a folder's `.env` that are ignored."""
    every = sorted(names, key=lambda name: (name in environment.HARMLESS_VARIABLES, name))
    more = f" and {pluralize(len(every) - SHOWN, 'other')}" if len(every) > SHOWN else ""
    listed = ", ".join(every[:SHOWN])
    way = "dossier settings import"
    if every == [environment.HOME_VARIABLE]:
        way = f"export {environment.HOME_VARIABLE} in your shell"
    elif environment.HARMLESS_VARIABLES.issuperset(every):
        way = "dossier trust ."
    return f".env of this folder is not read ({listed}{more}); if it is yours: {way}"


def _is_trusted() -> bool:
    # Few folders have such a file, and the question loads the database.
    from app.cli.event_loop import run_and_close  # noqa: PLC0415
    from memory.agents_md.project_trust import project_name, trusted_folder  # noqa: PLC0415
    from runs.call_site import join_owner  # noqa: PLC0415

    try:
        owner = join_owner(settings().user, project_name(os.getcwd()))
        return bool(run_and_close(trusted_folder(owner)))
    except Problem:
        return False


def import_settings(*, file: Path, yes: bool) -> None:
    """Copy the settings of a .env into the home, after showing them.

    Raises:
        Problem: `config_not_found`, `config_syntax`, `import_unconfirmed` or `home_read_only`.
    """
    new, kept = _split_new_settings(_settings_of(file))
    own = environment.home_env_file()
    for name in kept:
        print_notice(f"{name} is already set in {own} and stays as it is")
    if not new:
        print(f"{one_line(str(file))} has no settings that {own} lacks")
        return
    lines = [f"  {name} = {_mask_value(name, value)}" for name, value in new.items()]
    if not yes and not confirm(ASKED.format(own=own), ErrorCode.IMPORT_UNCONFIRMED, lines):
        print("Nothing was copied.")
        return
    try:
        environment.append_home_env(new)
    except OSError as error:
        what = f"the file cannot be written: {error.strerror}"
        raise Problem(ErrorCode.HOME_READ_ONLY, what, where=str(own), hint=WRITABLE_HINT) from error
    print(f"{own} has {pluralize(len(new), 'new setting')}; {one_line(str(file))} is unchanged")


def _settings_of(file: Path) -> dict[str, str]:
    """Return the settings in a file that Dossier uses; relative paths start at its folder."""
    where = one_line(str(file))
    try:
        written = environment.read_env_file(file)
    except OSError as error:
        what, hint = f"the file cannot be read: {error.strerror}", "name a file that you may read"
        raise Problem(ErrorCode.CONFIG_NOT_FOUND, what, where=where, hint=hint) from error
    except ValueError as error:
        what, hint = "the file is not plain text in UTF-8", environment.ENV_FILE_HINT
        raise Problem(ErrorCode.CONFIG_SYNTAX, what, where=where, hint=hint) from error
    if not written and not os.path.isfile(file):
        hint = "name the file: dossier settings import path/to/.env"
        raise Problem(ErrorCode.CONFIG_NOT_FOUND, "there is no such file", where=where, hint=hint)
    return {
        name: environment.resolve_env_value(name, value, file.parent)
        for name, value in written.items()
        if environment.is_known_variable(name)
    }


def _split_new_settings(said: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the new settings, and the names that the home's file sets to another value."""
    home = environment.home_folder()
    if environment.expand_path(str(said.pop(environment.HOME_VARIABLE, home))) != home:
        print_notice(f"{environment.HOME_VARIABLE} is not copied: set it in the environment")
    own = environment.read_env_file(environment.home_env_file())
    new = {name: value for name, value in said.items() if name not in own}
    return new, [name for name, value in said.items() if own.get(name, value) != value]


def _mask_value(name: str, value: str) -> str:
    """Return a value as it is shown: of a key, only the end."""
    if is_key_variable(name):
        return f"…{value[-4:]}" if len(value) > HIDDEN else "…"
    # A name alone may be a key.
    return one_line(re.sub(r"(?<=//)[^/@\s]*@", "…@", mask_value(name, value)))
