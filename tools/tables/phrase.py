"""A question beside a table: what it names, and the words that are not understood yet."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.script import CJK
from tools.tables.differences import Difference, difference
from tools.tables.making import Doubt
from tools.tables.mentions import Mention, mentions
from tools.tables.table import Column, Kind, Table

TAKEN = "\x00"
"""What stands for each letter of a word that has its part in the reading."""

NEAR = 40
"""A comparison is about a column at most so many letters away."""


class Phrase:
    """A question from which the words are taken out that have their part in the reading."""

    def __init__(self, question: str, table: Table) -> None:
        self.question, self.table = question, table
        self.left = list(question)
        self._take_file()
        self.found: list[Mention] = mentions(self.rest, table)
        self.touched = bool(self.found)
        self.exact = any(one.whole for one in self.found)
        self.named = sum(one.end - one.start for one in self.found)
        self.fit = min((min(one.fit, 1.0) for one in self.found if one.whole), default=1.0)
        self.used: list[Column] = []
        for one in self.found:
            self.take(one.start, one.end)
            self._take_gloss(one)
        self.difference = self._between()

    @property
    def rest(self) -> str:
        """What is left of the question; what was taken out is a row of NULs."""
        return "".join(self.left)

    @property
    def columns(self) -> list[Mention]:
        """The mentions of columns, without those of values."""
        return [one for one in self.found if not one.value]

    def take(self, start: int, end: int) -> None:
        """Take words out of the question."""
        self.left[start:end] = TAKEN * (end - start)

    def put_back(self, mention: Mention) -> None:
        """Leave the words of a mention as they were: it is none."""
        self.left[mention.start : mention.end] = self.question[mention.start : mention.end]
        self.drop(mention)

    def drop(self, mention: Mention) -> None:
        """Have a mention named nothing more: it has its part in the reading."""
        self.found = [one for one in self.found if one is not mention]
        self.used += mention.columns

    def one(self, mention: Mention, columns: Sequence[Column] = ()) -> Column:
        """Return the one column that a mention means.

        Raises:
            Doubt: Where it may mean several.
        """
        columns = columns or mention.columns
        if len(columns) == 1:
            return columns[0]
        raise Doubt(self.said(mention), [one.name for one in columns])

    def said(self, mention: Mention) -> str:
        """Return the words of a mention."""
        return self.question[mention.start : mention.end]

    def near(self, start: int, end: int, *kinds: Kind) -> tuple[Mention, Column] | None:
        """Return the nearest column of these kinds that is named near a place."""
        held = [(one, fit) for one in self.columns if (fit := _of(one, kinds))]
        held.sort(key=lambda one: _distance(one[0], start, end))
        if not held or _distance(held[0][0], start, end) > NEAR:
            return None
        return held[0][0], self.one(*held[0])

    def _take_file(self) -> None:
        file, sheet = self.table.file, self.table.sheet
        stem = re.escape(file.rpartition(".")[0])
        tails = r"(?:\s*(?:file|table|sheet|csv|tsv|xlsx|spreadsheet|表格?|文件))"
        patterns = [rf"[\w./-]*{re.escape(file)}", rf"(?<!\w){stem}{tails}"]
        patterns += [rf"(?:table|file|表格?|文件)\s*[\"'“《]?{stem}(?!\w)"]
        if sheet:
            name = re.escape(sheet)
            patterns += [
                rf"(?<!\w){name}\s*(?:sheet|tab|工作表)",
                rf"(?:sheet|tab|工作表)\s*[\"'“]?{name}",
            ]
        for pattern in patterns:
            for one in re.finditer(pattern, self.rest, re.IGNORECASE):
                self.take(*one.span())

    def _take_gloss(self, mention: Mention) -> None:
        """Take the Chinese word that a name in brackets explains: `发布（release）`."""
        gloss = re.search(f"[{CJK}]{{1,6}}\\s*[(（]\\s*$", self.rest[: mention.start])
        if gloss and re.match(r"\s*[)）]", self.rest[mention.end :]) and not mention.value:
            self.take(*gloss.span())

    def _between(self) -> Difference | None:
        """Put what lies between two columns in the place of both."""
        made = difference(self.question, self.found)
        if made:
            self.used += [made.column, *(one for m in made.named for one in m.columns)]
            self.take(made.start, made.end)
            for start, end in made.words:
                self.take(start, end)
            span = Mention(made.start, made.end, (made.column,))
            kept = [one for one in self.found if one not in made.named and _outside(one, made)]
            self.found = sorted([*kept, span], key=lambda one: one.start)
        return made


def _outside(one: Mention, made: Difference) -> bool:
    return all(one.end <= start or one.start >= end for start, end in made.words)


def _of(mention: Mention, kinds: Sequence[Kind]) -> list[Column]:
    return [one for one in mention.columns if one.kind in kinds]


def _distance(mention: Mention, start: int, end: int) -> int:
    return max(mention.start - end, start - mention.end, 0)
