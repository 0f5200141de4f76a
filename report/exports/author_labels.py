"""Name sources by author and year, as a report cites them in the style `author-year`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, product
from string import ascii_lowercase

from report.exports.bibliography import CitedWork, is_personal_name
from report.labels import get_label, is_chinese_tag
from text.regex import regex
from text.script import CJK

_MAX_TITLE = 40  # characters of a title that stands for an author
_CLOSING = regex(r"[()（）\[\]［］;；,，\s]+")  # what ends a label, or parts two of them
_HAS_CJK = regex(f"[{CJK}]")


def list_author_labels(works: Sequence[CitedWork], language: str) -> list[str]:
    """Return a label for each source, such as `Frisch & Lindauer 1955a`; no two are the same.

    A source without an author is named by its site or title, one without a date has `n.d.`.
    """
    undated = get_label("no_date", language)
    bare = [(_name(one, language), one.published[:4] or undated) for one in works]
    counts = Counter(bare)
    letters = {label: _list_letters() for label, found in counts.items() if found > 1}
    labels = []
    for name, year in bare:
        letter = next(letters[name, year]) if (name, year) in letters else ""
        dash = "-" if letter and not year[-1].isalnum() else ""
        labels.append(f"{name} {year}{dash}{letter}")
    return labels


def end_label(label: str) -> str:
    """Return a label as it begins an entry of the list, with one full stop at its end."""
    return label if label.endswith(".") else f"{label}."


def _list_letters() -> Iterator[str]:
    """Yield a, b, …, z, aa, ab and so on."""
    for length in count(1):
        yield from map("".join, product(ascii_lowercase, repeat=length))


def _name(work: CitedWork, language: str) -> str:
    """Return the authors of a work, else its site, else the beginning of its title."""
    authors = [name for name in map(_shorten_author, work.authors) if name]
    chinese = is_chinese_tag(language)
    if len(authors) > 2:
        return f"{authors[0]}等" if chinese else f"{authors[0]} et al."
    if authors:
        return ("和" if chinese else " & ").join(authors)
    title = _clean(work.title)
    short = title if len(title) <= _MAX_TITLE else f"{title[:_MAX_TITLE].rsplit(' ', 1)[0]}…"
    return _clean(work.site.removeprefix("www.")) or short or str(work.number)


def _shorten_author(name: str) -> str:
    """Return the family name of a person with its particles; any other name as it is."""
    family, comma, _ = name.partition(",")
    if comma or not is_personal_name(name) or _HAS_CJK.search(name):
        return _clean(family if comma else name)
    words = name.split()
    first = len(words) - 1
    while first > 1 and words[first - 1].islower():
        first -= 1
    return _clean(" ".join(words[first:]))


def _clean(text: str) -> str:
    return _CLOSING.sub(" ", text).strip()
