"""Find the headings of plain text: numbered or underlined lines of their own at the left margin.

A number alone makes no heading. The numbers of a text must go up in the order of its sections, and
something must stand below each; where a table of contents lists the sections, it must list them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import median, mode
from typing import NamedTuple

from text.boilerplate import is_contents_title
from text.numerals import find_numeral_runs
from text.pattern_files import PatternFile
from text.sentences import measure_columns

_PATTERNS = PatternFile("tools.files", "plain_headings.toml")

Number = tuple[int, ...]
"""The number of a section: (3, 1) for 3.1; letters come after all numbers."""

LETTERS = 1_000
"""What is added to the code of a letter in a number."""

LINES, CHARACTERS = 3, 160
"""The most lines and characters of a heading."""

LEAST = 3
"""The fewest numbered headings of a text."""

JUMPS = 0.25
"""The largest share of numbered headings whose number is not the next one."""

BODY = 400
"""How many characters stand below a heading, in the median, where no number has two parts."""

LISTED = 0.8
"""If a table of contents lists this share of the candidates, it lists all headings."""

COMPARED = 12
"""How many characters of a title are looked for in a table of contents; entries are wrapped."""


class PlainHeading(NamedTuple):
    """A heading of a plain text; its lines count from 0."""

    start: int
    """Its first line, which may be a rule above the title."""
    end: int
    """The line behind its last one."""
    level: int
    """1 for the highest."""
    title: str


class _Candidate(NamedTuple):
    start: int
    end: int
    number: Number
    title: str
    """The whole line, with its number."""
    words: str
    """The line without its number."""
    is_named: bool
    """Whether a word says what it is: "Chapter 3"."""
    is_bare: bool
    """Whether its number is one without a dot: "3 Results"."""


def find_plain_headings(
    lines: Sequence[str], join: Callable[[list[str]], list[str]]
) -> list[PlainHeading]:
    """Return the headings of a text in order.

    Args:
        lines: The lines of the text.
        join: Joins the wrapped lines of a paragraph.
    """
    numbered = _choose(_find_numbered(lines, join), lines)
    underlined = _find_underlined(lines)
    if not numbered:
        return underlined
    # Among numbered headings nobody knows the level of another one; above them it is a title.
    titles = [one._replace(level=1) for one in underlined if one.end <= numbered[0].start]
    known = [PlainHeading(one.start, one.end, len(one.number), one.title) for one in numbered]
    return [*titles, *known]


def mark_headings(lines: Sequence[str], headings: Sequence[PlainHeading]) -> list[str]:
    """Return the lines of a text, as many as before, with its headings marked as in Markdown.

    A heading is in its first line alone; its other lines, those of a rule too, become empty.
    """
    marked = list(lines)
    for one in headings:
        rest = [""] * (one.end - one.start - 1)
        marked[one.start : one.end] = [f"{'#' * min(one.level, 6)} {one.title}", *rest]
    return marked


def find_contents_lines(
    lines: Sequence[str], headings: Sequence[PlainHeading]
) -> tuple[int, int] | None:
    """Return where the table of contents begins, with its title, and ends; `None` without one.

    Args:
        lines: The lines of the text.
        headings: The headings of the text.
    """
    start = next((at for at, line in enumerate(lines) if is_contents_title(line)), None)
    if start is None:
        return None
    below = (one.start for one in headings if one.start > start)
    last = next(below, len(lines))
    entries = [at for at in range(start + 1, last) if _is_entry(lines[at])]
    if len(entries) < LEAST:
        return None
    blank = (at for at in range(entries[-1], last) if not lines[at].strip())
    return start, next(blank, last)


def _is_entry(line: str) -> bool:
    return bool(_PATTERNS.entry.match(line) or (line.strip() and _PATTERNS.leader.search(line)))


def _find_numbered(
    lines: Sequence[str], join: Callable[[list[str]], list[str]]
) -> list[_Candidate]:
    """Return the lines that look like numbered headings and have something below them."""
    found: list[_Candidate] = []
    above: _Candidate | None = None
    for start, end in _blocks(lines):
        candidate = _read_numbered(lines[start:end], start, join)
        is_under = candidate and above and candidate.number[: len(above.number)] == above.number
        if above and (not candidate or is_under):
            found.append(above)
        above = candidate
    return found


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where each run of lines that are not blank begins and ends."""
    start = None
    for at, line in enumerate([*lines, ""]):
        if line.strip():
            start = at if start is None else start
        elif start is not None:
            yield start, at
            start = None


def _read_numbered(
    block: Sequence[str], start: int, join: Callable[[list[str]], list[str]]
) -> _Candidate | None:
    """Return what a paragraph is if it has the form of a numbered heading."""
    if len(block) > LINES or any(line[0].isspace() for line in block):
        return None
    if not (_PATTERNS.named.match(block[0]) or _PATTERNS.numbered.match(block[0])):
        return None
    joined = join(list(block)) if len(block) > 1 else list(block)
    line = joined[0].strip()
    if len(joined) > 1 or len(line) > CHARACTERS or _PATTERNS.table.search(line):
        return None
    if _PATTERNS.leader.search(line) or _PATTERNS.sentence.search(line):
        return None
    return _parse(line, start, start + len(block))


def _parse(line: str, start: int, end: int) -> _Candidate | None:
    named = _PATTERNS.named.fullmatch(line)
    found = named or _PATTERNS.numbered.fullmatch(line)
    if not found:
        return None
    number, title = _read_number(found), found["title"] or ""
    single = not named and len(number) == 1
    if not named and not any(map(str.isalpha, title)):
        return None
    if single and _PATTERNS.lower.match(title):
        return None
    is_bare = single and not found["dot"]
    return _Candidate(start, end, number, line, title, bool(named), is_bare)


def _read_number(found: re.Match[str]) -> Number:
    parts = found.groupdict()
    written = parts.get("chapter") or ""
    if written and not written.isdecimal():
        readings = next((run.readings for run in find_numeral_runs(written)), ())
        return (int(readings[0]) if readings and readings[0].isdecimal() else 0,)
    key = written or parts.get("appendix") or parts.get("annex") or found["key"]
    return tuple(int(one) if one.isdecimal() else LETTERS + ord(one) for one in key.split("."))


def _choose(candidates: Sequence[_Candidate], lines: Sequence[str]) -> list[_Candidate]:
    """Return the candidates that are headings; none unless their numbers make a whole."""
    chain = _find_ascending(_keep_known(candidates, lines))
    chain = [one for one in chain if not _is_stray_letter(one, chain)]
    if len(chain) < LEAST or chain[0].number[0] > 1:
        return []
    jumps = sum(not _follows(one.number, after.number) for one, after in pairwise(chain))
    if jumps > JUMPS * len(chain):
        return []
    if all(len(one.number) == 1 and not one.is_named for one in chain):
        return chain if not jumps and _median_body(chain, lines) >= BODY else []
    return chain


def _keep_known(candidates: Sequence[_Candidate], lines: Sequence[str]) -> list[_Candidate]:
    """Return the candidates that the contents list; all if the contents list few of them.

    A number without a dot counts only if it is listed or has numbers below it.
    """
    entries = filter(None, map(_PATTERNS.entry.fullmatch, lines))
    counts = Counter(_entry_key(_read_number(one), one["title"]) for one in entries)
    parents = {one.number[:-1] for one in candidates}
    listed, others = [], []
    for one in candidates:
        times = counts[_entry_key(one.number, one.words)]
        if times > (not one.is_named):
            listed.append(one)
        elif not one.is_bare or one.number in parents:
            others.append(one)
    if len(listed) >= LEAST and len(listed) >= LISTED * len(candidates):
        lowest = max(len(one.number) for one in listed)
        return sorted([*listed, *(one for one in others if len(one.number) > lowest)])
    return sorted([*listed, *others])


def _entry_key(number: Number, title: str) -> tuple[Number, str]:
    return number, "".join(_PATTERNS.leader.sub("", title).split())[:COMPARED]


def _find_ascending(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the longest row of candidates whose numbers go up; of equal ones the last."""
    tails: list[Number] = []
    last: list[int] = []
    before: list[int] = []
    for at, one in enumerate(candidates):
        place = bisect_left(tails, one.number)
        before.append(last[place - 1] if place else -1)
        tails[place : place + 1] = [one.number]
        last[place : place + 1] = [at]
    chain: list[_Candidate] = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(candidates[at])
        at = before[at]
    return chain[::-1]


def _follows(number: Number, after: Number) -> bool:
    """Tell whether a number is the next one: below another, beside it, or beside one above it."""
    if after[:-1] == number and after[-1] <= 1:
        return True
    above = after[:-1]
    if after == (LETTERS + ord("A"),):
        return True
    beside = number[len(above) : len(after)]
    return number[: len(above)] == above and beside == (after[-1] - 1,)


def _is_stray_letter(one: _Candidate, chain: Sequence[_Candidate]) -> bool:
    """Tell whether a letter is no appendix: an initial, or a letter without those before it."""
    letter = one.number[0] - LETTERS
    if letter < 0:
        return False
    first = {other.number[0] - LETTERS for other in chain}
    return not all(before in first for before in range(ord("A"), letter))


def _median_body(chain: Sequence[_Candidate], lines: Sequence[str]) -> float:
    ends = [*(one.start for one in chain[1:]), len(lines)]
    bodies = (lines[one.end : end] for one, end in zip(chain, ends, strict=True))
    return median(sum(len(line.strip()) for line in body) for body in bodies)


def _find_underlined(lines: Sequence[str]) -> list[PlainHeading]:
    """Return the titles above a rule of their width, those with one kind of rule on one level."""
    found: list[tuple[str, int, int, str]] = []
    for at in range(1, len(lines)):
        rule = _PATTERNS.rule.match(lines[at])
        if rule and (start := _title_start(lines, at)) is not None:
            style = rule[1] if start == at - 1 else 2 * rule[1]
            found.append((style, start, at + 1, lines[at - 1].strip()))
    levels = _levels_by_style([(style, title) for style, _, _, title in found])
    return [
        PlainHeading(start, end, levels[style], title)
        for style, start, end, title in found
        if style in levels
    ]


def _levels_by_style(titles: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the levels of kinds of rules: as the titles are numbered, or in the order of use."""
    numbered: dict[str, list[int]] = {}
    for style, title in titles:
        if candidate := _parse(title, 0, 0):
            numbered.setdefault(style, []).append(len(candidate.number))
    if sum(map(len, numbered.values())) >= LEAST:
        # The level of another kind of rule among numbered ones is not known.
        return {style: mode(levels) for style, levels in numbered.items()}
    styles = list(dict.fromkeys(style for style, _ in titles))
    ordered = ["=", "-"] if set(styles) == {"=", "-"} else styles
    return {style: min(level, 6) for level, style in enumerate(ordered, start=1)}


def _title_start(lines: Sequence[str], rule: int) -> int | None:
    """Return the first line of the heading that ends with a rule; `None` if there is none."""
    line, below = lines[rule - 1], lines[rule + 1] if rule + 1 < len(lines) else ""
    title = line.strip()
    over = lines[rule - 2].rstrip() == lines[rule].rstrip() if rule >= 2 else False
    start = rule - 2 if over else rule - 1
    is_apart = start == 0 or not lines[start - 1].strip()
    if not (title and is_apart and (over or not line[0].isspace())):
        return None
    if below.strip() and lines[rule][0] != "=":
        return None
    width, ruled = measure_columns(title), len(lines[rule].strip())
    if not (min(len(title), width) - 1 <= ruled <= width + (40 if over else 4)):
        return None
    is_title = any(map(str.isalpha, title)) and len(title) <= CHARACTERS and "  " not in title
    bad = _PATTERNS.sentence.search(title) or _PATTERNS.table.search(title)
    return start if is_title and not bad else None
