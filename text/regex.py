"""Regular expressions that are compiled when they are first used: most commands use few of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Regex:
    """A pattern that is compiled when one of its attributes is first read."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and cache it."""
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern with the methods of `re.compile`; the functions of `re` reject it."""
    return cast("re.Pattern[str]", _Regex(text, flags))
