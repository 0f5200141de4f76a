"""Read the list of references of a report, in the forms in which systems write one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from report.markdown.sanitizer import unescape_markdown
from text.pattern_files import PatternFile
from text.regex import regex

WEB_ADDRESS = regex(
    r"[hH][tT][tT][pP][sS]?://(?:[^\s<>\"'`（）【】「」『』，。；、\[\]()|]|\([^\s()<>]*\))+"
)
"""A web address in a text; brackets in it are closed."""

LINK = regex(
    r"\[(?P<title>(?:[^\[\]\\\n]|\\.|\[[^\[\]\n]{0,500}\]){0,500})\]"
    r"\(\s*<?(?P<address>[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+[\"'“][^)\n]*)?\s*\)"
)
"""A link in Markdown."""

HEADING_LINE = regex(r"[ \t]{0,3}(?P<rank>#{1,6})[ \t]+\S")
FENCE_LINE = regex(r"[ \t]*(`{3,}|~{3,})")
"""The line that opens or closes a block of code."""

_PATTERNS = PatternFile("report.verify", "reference_list.toml")

_TRIMMED = " \t.,;:–—-|*_\"'“”«»<>()（）。，；：[]"
_MAX_GAP = 3  # empty lines between two entries of a list


class ListedReference(NamedTuple):
    """An entry of a list of references."""

    label: str
    """Its number or the name of its footnote; empty in a list without numbers."""
    title: str
    address: str
    """Its first address, or the place that it names last; empty if it has neither."""
    text: str
    line: int
    """The line of the report in which it begins, from 1."""
    end: int
    """The line behind its last one."""

    @property
    def key(self) -> str:
        """By what it is known among the entries of the report."""
        return self.label or f"{self.line} {self.title} {self.address}"


class ReferenceLists(NamedTuple):
    """The references of a report, and the text without their lines."""

    references: list[ListedReference]
    lines: list[str]
    """The lines of the report; those of its lists are empty."""
    notes: dict[str, str]
    """The number in the list to which a footnote leads, by the name of the footnote."""


def read_reference_lists(lines: Sequence[str]) -> ReferenceLists:
    """Return the entries of all lists of references, and of all footnotes."""
    fenced = find_fenced(lines)
    notes, lines = _take_notes(lines, fenced)
    found: list[ListedReference] = []
    headings: list[int] = []
    at = 0
    while at < len(lines):
        start = None if at in fenced else _read_heading(lines[at])
        entries = [] if start is None else _read_list(lines, at, start, fenced)
        if entries:
            headings.append(at)
            found += entries
            at = entries[-1].end - 1
            continue
        note = None if at in fenced else _read_note(lines, at)
        if note:
            found.append(note)
            at = note.end - 1
            continue
        at += 1
    taken = {*headings, *(one for entry in found for one in range(entry.line - 1, entry.end - 1))}
    left = ["" if at in taken else one for at, one in enumerate(lines)]
    numbers = {one.label for one in found}
    return ReferenceLists(
        found, left, {name: number for name, number in notes.items() if number in numbers}
    )


def _take_notes(
    lines: Sequence[str], fenced: Collection[int]
) -> tuple[dict[str, str], Sequence[str]]:
    """Return the footnotes that lead to a number of the list, and the lines without them.

    Where several lists could be meant, as in a report whose footnotes are its list, none is taken.
    """
    found = {
        at: note
        for at, line in enumerate(lines)
        if at not in fenced and (note := _PATTERNS.note_of_entry.match(line))
    }
    kept = ["" if at in found else line for at, line in enumerate(lines)]
    if not found or not any(_read_heading(line) is not None for line in kept):
        return {}, lines
    notes = {note["label"]: str(int(note["number"])) for note in found.values()}
    return notes, kept


def find_fenced(lines: Sequence[str]) -> set[int]:
    """Return the places of lines in blocks of code; one that is not closed has none."""
    fenced: set[int] = set()
    opened: tuple[int, str] | None = None
    for at, line in enumerate(lines):
        fence = FENCE_LINE.match(line)
        if fence and opened is None:
            opened = at, fence[1]
        elif fence and opened and fence[1].startswith(opened[1]):
            fenced.update(range(opened[0], at + 1))
            opened = None
    return fenced


def is_list_heading(line: str) -> bool:
    """Tell whether a line is the heading of a list of references."""
    return bool(_PATTERNS.list_heading.match(line))


def _read_heading(line: str) -> str | None:
    """Return what follows the heading of a list in its line, or None if it is no such heading."""
    if _PATTERNS.list_heading.match(line):
        return ""
    label = _PATTERNS.list_label.match(line)
    return label["rest"].strip() if label else None


def _read_list(lines: Sequence[str], at: int, rest: str, fenced: set[int]) -> list[ListedReference]:
    """Return the entries below a heading; none if what is there does not look like entries."""
    if rest and not _PATTERNS.entry.match(rest):
        return [*_split_line(rest, at)]
    found: list[ListedReference] = []
    gap, here = 0, at if rest else at + 1
    while here < len(lines) and here not in fenced and gap <= _MAX_GAP:
        line = rest if here == at else lines[here]
        if HEADING_LINE.match(line) or (found and _read_heading(line) is not None):
            break
        if not line.strip():
            gap, here = gap + 1, here + 1
            continue
        taken = [_take_entry(found, part, here, gap) for part in _split_entries(line, found)]
        if not any(taken) and not line.lstrip().startswith("|"):
            break
        gap, here = 0, here + 1
    return found if any(one.label or one.address for one in found) else []


def _take_entry(found: list[ListedReference], part: str, at: int, gap: int) -> bool:
    """Add a line, or a part of one, to the entries of a list; tell whether it belongs to them.

    Args:
        found: The entries above it.
        part: The line.
        at: The place of the line.
        gap: How many lines above it are empty.
    """
    new = _read_entry(part, at)
    numbered = any(one.label for one in found) or bool(new and new.label)
    goes_on = bool(found) and (gap == 0 or part[:1].isspace())
    wrapped = goes_on and not numbered and _is_wrapped(found[-1], part)
    starts = new and (new.label or not (numbered or wrapped) or not goes_on)
    if new and starts and _is_reference(new, numbered):
        found.append(new)
        return True
    if goes_on:
        found[-1] = _append(found[-1], part, at)
    return goes_on


def _is_wrapped(above: ListedReference, part: str) -> bool:
    """Tell whether a line of a list without numbers belongs to the entry above it."""
    bullet = _PATTERNS.bullet.match(part)
    only_address = WEB_ADDRESS.fullmatch(part.strip(_TRIMMED))
    return not bullet and (part[:1].isspace() or bool(only_address and not above.address))


def _split_entries(line: str, found: Sequence[ListedReference]) -> list[str]:
    """Return the entries of a line in which several were joined, as by a program that wraps text.

    The number of each is the next one: "[1] Mill [2] Ferry".
    """
    first = _PATTERNS.entry.match(line)
    label = _read_label(first) if first else found[-1].label if found else ""
    if not label.isdigit():
        return [line]
    parts, start, number = list[str](), 0, int(label)
    for mark in _PATTERNS.joined_entry.finditer(line):
        if int(unicodedata.normalize("NFKC", next(filter(None, mark.groups())))) == number + 1:
            parts.append(line[start : mark.start()])
            start, number = mark.start(), number + 1
    return [*parts, line[start:]]


def _split_line(rest: str, at: int) -> Iterator[ListedReference]:
    """Yield the references of a line such as "Sources: https://a.example, [2] https://b.example"."""
    ends = [one.end() for one in WEB_ADDRESS.finditer(rest)]
    links = [one.end() for one in LINK.finditer(rest)]
    start = 0
    for end in links or ends:
        entry = _read_entry(rest[start:end].strip(" ,;，；、|"), at)
        start = end
        if entry and entry.address:
            yield entry


def _is_reference(entry: ListedReference, numbered: bool) -> bool:
    return bool(entry.label) if numbered else bool(entry.address or entry.title)


def _read_note(lines: Sequence[str], at: int) -> ListedReference | None:
    """Return the footnote or the definition of a link that begins in a line."""
    note = _PATTERNS.footnote_entry.match(lines[at])
    note = note or _PATTERNS.link_definition.match(lines[at])
    if not note:
        return None
    entry = _build(note["label"], note["rest"], at)
    for here in range(at + 1, len(lines)):
        if not re.match(r"(?: {2,}|\t)\S", lines[here]):
            break
        entry = _append(entry, lines[here], here)
    return entry


def _read_entry(line: str, at: int) -> ListedReference | None:
    """Return the entry that a line of a list begins: a number, a bullet, a row or a plain one."""
    note = _PATTERNS.footnote_entry.match(line) or _PATTERNS.link_definition.match(line)
    if note:
        return _build(note["label"], note["rest"], at)
    row = _PATTERNS.row.match(line)
    if row:
        cells = (cell.strip() for cell in row["rest"].split("|"))
        return _build(str(int(row["label"])), " — ".join(cells), at)
    numbered = _PATTERNS.entry.match(line)
    if numbered:
        return _build(_read_label(numbered), numbered["rest"], at)
    bullet = _PATTERNS.bullet.match(line)
    rest = bullet["rest"] if bullet else line.strip()
    return _build("", rest, at) if rest and not rest.startswith(("|", ">")) else None


def _read_label(numbered: re.Match[str]) -> str:
    found = (numbered[name] for name in "abcdefghijk")
    return str(int(unicodedata.normalize("NFKC", next(filter(None, found)))))


def _append(entry: ListedReference, line: str, at: int) -> ListedReference:
    """Return an entry that goes on in a further line."""
    return _build(entry.label, f"{entry.text} {line.strip()}", entry.line - 1)._replace(end=at + 2)


def _build(label: str, rest: str, at: int) -> ListedReference:
    text = unescape_markdown(_PATTERNS.counted_passages.sub("", rest.strip()))
    address, title = find_address(rest), _find_title(text)
    if not address:
        parts = re.split(r"\s+[—–|]\s+|\s-\s", text)
        address = parts[-1].strip() if len(parts) > 1 else ""
    return ListedReference(label, title, address, text, at + 1, at + 2)


def find_address(text: str) -> str:
    """Return the first web address of a text, without punctuation behind it, or ""."""
    link = LINK.search(text)
    if link and link["address"]:
        return link["address"]
    found = WEB_ADDRESS.search(text)
    return trim_address(found[0]) if found else ""


def trim_address(address: str) -> str:
    """Return an address without the punctuation of the sentence that it ends."""
    bare = address.rstrip(".,;:!?*_'\"")
    return bare[:-1] if bare.endswith(")") and bare.count(")") > bare.count("(") else bare


def _find_title(text: str) -> str:
    """Return the words by which an entry names its source."""
    link = LINK.search(text)
    if link and not WEB_ADDRESS.fullmatch(link["title"]) and len(link["title"].strip()) > 3:
        return link["title"].strip(_TRIMMED)
    before = WEB_ADDRESS.split(text)[0].strip(_TRIMMED)
    quoted = re.search(r"[\"“«「『《]([^\"“”«»「」『』《》]{4,})[\"”»」』》]", before)
    return (
        quoted[1].strip(_TRIMMED) if quoted else re.split(r"\s+[—–|]\s+", before)[0].strip(_TRIMMED)
    )
