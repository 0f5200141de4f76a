"""Remember what a function returns of short texts that come again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


class Memo(dict[str, Value]):
    """Looks up what a function returns: a hit is an item of a dict, and calls nothing."""

    def __init__(self, work: Callable[[str], Value], most: int = 65_536, longest: int = 40) -> None:
        """Remember the values of up to `most` texts of up to `longest` characters each."""
        super().__init__()
        self._work, self._most, self._longest = work, most, longest

    def __missing__(self, text: str) -> Value:
        value = self._work(text)
        if len(text) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[text] = value
        return value
