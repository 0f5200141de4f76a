"""Find the date that a page states of itself in its text, where its markup declares none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from text.dates import find_dates
from text.pattern_files import PatternFile
from tools.files.parsed_document import TextBlock

_PATTERNS = PatternFile("tools.files", "stated_date.toml")

_ENDS = 10  # blocks at either end of a page, where it states its date
_LINE = 90
_TITLE_PAGE = "//*[contains(concat(' ', @class, ' '), ' titlepage ')]"
_DATED = "//p[@class='pubdate' or @class='date' or @class='releaseinfo']"


def find_stated_date(root: Any, blocks: Sequence[TextBlock]) -> str:
    """Return the date of a page by its title page, or by a line of its head or foot; else "".

    A title page is that of DocBook (`titlepage` with `pubdate`), a line one such as "Last updated:
    3 May 2021". What names no year, or several dates, is not read.

    Args:
        root: The tree of the page.
        blocks: All blocks of the page, with those of its margins.

    Returns:
        An ISO date or its beginning, such as `2021-01`.
    """
    return next(filter(None, map(_to_date, _list_statements(root, blocks))), "")


def _list_statements(root: Any, blocks: Sequence[TextBlock]) -> Iterator[str]:
    # Dates of books in a bibliography have the same class, and stand in no title page.
    first = (root.xpath(_TITLE_PAGE) or [None])[0]
    for node in first.xpath(f".{_DATED}") if first is not None else []:
        yield " ".join("".join(node.itertext()).split())
    ends = [*blocks[:_ENDS], *blocks[_ENDS:][-_ENDS:]]
    for block in ends:
        line = " ".join(block.text.split())
        if len(line) <= _LINE and (found := _PATTERNS.stated.match(line)):
            yield found["date"]


def _to_date(text: str) -> str:
    """Return the only date of a text as an ISO date or its beginning, if it has year and month."""
    dates = set(find_dates(text))
    if len(dates) != 1:
        return ""
    (one,) = dates
    if not (one.year and 1 <= one.month <= 12 and one.day <= 31):
        return ""
    return f"{one.year:04}-{one.month:02}" + (f"-{one.day:02}" if one.day else "")
