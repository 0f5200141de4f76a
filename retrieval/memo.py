"""Remember what a function returns of short texts that come again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


class Memo(dict[str, Value]):
    """Looks up what a function returns: a hit is an item of a dict, and calls nothing.

    When it is full, what it holds becomes the older half: what is asked for again is taken from
    there, so common texts stay and rare ones go.
    """

    def __init__(self, work: Callable[[str], Value], most: int = 65_536, longest: int = 40) -> None:
        """Remember the values of up to twice `most` texts of up to `longest` characters each."""
        super().__init__()
        self._work, self._most, self._longest = work, most, longest
        self._older: dict[str, Value] = {}

    def __missing__(self, text: str) -> Value:
        if len(text) > self._longest:
            return self._work(text)
        older = self._older
        value = older[text] if text in older else self._work(text)
        if len(self) >= self._most:
            self._older = self.copy()
            self.clear()
        self[text] = value
        return value
