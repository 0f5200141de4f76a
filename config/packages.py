"""Look whether the packages are installed that the program needs."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distributions, requires
from pathlib import Path
from shlex import quote

from config.errors import ErrorCode, Problem

PYPROJECT_FILE = Path(__file__).parents[1] / "pyproject.toml"
"""What names them where the program runs from a checkout; what is installed may be older."""

_NAME = re.compile(r"[\w.-]+")


def list_requirements() -> list[str]:
    """Return what is needed without extras, as `httpx>=0.28,<1`."""
    if PYPROJECT_FILE.is_file():
        named = tomllib.loads(PYPROJECT_FILE.read_text(encoding="utf-8"))["project"]["dependencies"]
        return [str(one) for one in named]
    return [one for one in requires("dossier") or [] if "extra ==" not in one]


def list_missing_requirements() -> list[str]:
    """Return what is needed and not installed."""
    return [one for one in list_requirements() if not _is_installed(one)]


def check_requirements() -> None:
    """Make sure that every package is there.

    Raises:
        Problem: `package_missing`, with the command that installs what is not.
    """
    if missing := list_missing_requirements():
        wanted = " ".join(map(quote, missing))
        what = f"not installed: {', '.join(map(_name, missing))}"
        hint = f"pip install {wanted}, or in a checkout: make install"
        raise Problem(ErrorCode.PACKAGE_MISSING, what, hint=hint)


def _name(requirement: str) -> str:
    found = _NAME.match(requirement)
    return found[0] if found else requirement


def _is_installed(requirement: str) -> bool:
    return any(distributions(name=_name(requirement)))
