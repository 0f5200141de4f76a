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
_RANGES = {"HAN": HAN, "CJK": CJK}


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
    another pattern of the file; `{HAN}` and `{CJK}` are the ranges of `text.script`.
    """

    def __init__(self, package: str, name: str) -> None:
        self._place = package, name

    def __getattr__(self, name: str) -> re.Pattern[str]:
        """Return a pattern, and keep it."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = re.compile(self.get_text(name))
        setattr(self, name, found)
        return found

    def any_found(self, text: str, *names: str) -> bool:
        """Tell whether a text has a match of one of some patterns."""
        return any(getattr(self, name).search(text) for name in names)

    def get_text(self, name: str) -> str:
        """Return a pattern as text, with its parts."""
        text = _RANGES.get(name) or self._texts[name].replace("\n", "")
        return _PART.sub(lambda part: self.get_text(part[1]), text)

    @cached_property
    def _texts(self) -> dict[str, str]:
        return read_packaged_toml(*self._place)
