"""Regular expressions that are compiled when they are first used: most commands use few of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Regex:
    """What stands for a pattern until one of its methods is asked for."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it for the next time."""
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is used like one of `re.compile`, save by the functions of `re`."""
    return cast("re.Pattern[str]", _Regex(text, flags))
