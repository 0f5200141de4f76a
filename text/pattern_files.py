"""Read the patterns and words that live in a file beside the module that uses them."""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from pkgutil import get_data
from typing import Any

from text.regex import regex
from text.script import CJK, HAN

_PART = regex(r"\{([A-Za-z]\w*)\}")


def read_packaged_text(package: str, name: str) -> str:
    """Return a text file of a package.

    It is read as modules are, which a server permits while its event loop runs.
    """
    return (get_data(package, name) or b"").decode()


def read_packaged_toml(package: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file of a package."""
    return tomllib.loads(read_packaged_text(package, name))


class PatternFile:
    """The patterns of a TOML file as attributes, read and compiled when they are first used.

    A pattern may fill several lines, which are joined without a space. `{name}` in it stands for
    another pattern of the file or a part from Python; `{HAN}` and `{CJK}` are the ranges of
    `text.script`.

    Args:
        package: The package of the file.
        name: The name of the file.
        parts: Parts of patterns by their names.
    """

    def __init__(self, package: str, name: str, **parts: str) -> None:
        self._place = package, name
        self._parts = {"HAN": HAN, "CJK": CJK} | parts
        self._words: dict[str, frozenset[str]] = {}
        self._rows: dict[str, list[list[str]]] = {}

    def __getattr__(self, name: str) -> re.Pattern[str]:
        """Return a pattern, and keep it."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = re.compile(self.get_text(name))
        setattr(self, name, found)
        return found

    def get(self, name: str) -> re.Pattern[str]:
        """Return the pattern of a name that is made at run time."""
        found: re.Pattern[str] = getattr(self, name)
        return found

    def any_found(self, text: str, *names: str) -> bool:
        """Tell whether a text has a match of one of some patterns."""
        return any(self.get(name).search(text) for name in names)

    def get_text(self, name: str) -> str:
        """Return a pattern as text, with its parts."""
        text = self._parts.get(name) or self._texts[name].replace("\n", "")
        return _PART.sub(lambda part: self.get_text(part[1]), text)

    def get_words(self, name: str) -> frozenset[str]:
        """Return the words of a list, which spaces separate."""
        if name not in self._words:
            self._words[name] = frozenset(self._texts[name].split())
        return self._words[name]

    def get_rows(self, name: str) -> list[list[str]]:
        """Return the words of each line of a table."""
        if name not in self._rows:
            self._rows[name] = [line.split() for line in self._texts[name].splitlines()]
        return self._rows[name]

    @cached_property
    def _texts(self) -> dict[str, str]:
        return read_packaged_toml(*self._place)
