"""Share out one budget of tokens among what all memories have to say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from memory.protocol import Note
from prompts.data_blocks import escape_tags, wrap_blocks
from prompts.loader import render_prompt
from text.tokens import count_tokens

MORE = "…"
"""What stands in a note in the place of lines that are not told."""

LEAST = 40
"""The fewest tokens that are worth beginning a note which must be cut."""


class NoteGroup(NamedTuple):
    """What one memory says, and which share of the budget is its own."""

    name: str
    share: float
    notes: Sequence[Note]


def fit_notes(parts: Sequence[NoteGroup], budget: int, tongue: str = "en") -> list[NoteGroup]:
    """Return what of each part is told, so that all of it keeps within a budget.

    Each part first fills its own share; what is left over goes to those that have more to say, in
    their order. What must be told is told first.

    Args:
        parts: In the order in which they are told.
        budget: How many tokens `render_notes` may have for them, its frame included.
        tongue: The language of what stands around them.
    """
    wanted = [_important_first(part) for part in parts if part.notes]
    room = budget - count_tokens(
        render_notes([NoteGroup(part.name, 0, [Note("", "")]) for part in wanted], tongue)
    )
    kept = [_fill(part, int(room * part.share)) for part in wanted]
    for at, part in enumerate(wanted):
        used = sum(_weight(one) for one in kept)
        kept[at] = _fill(part, _weight(kept[at]) + room - used)
    return _within([part for part in kept if part.notes], budget, tongue)


def render_notes(parts: Sequence[NoteGroup], tongue: str = "en") -> str:
    """Return the block that a model is shown; nothing for no notes."""
    inside = [
        wrap_blocks(part.name, [render_note(one, part.name) for one in part.notes])
        for part in parts
    ]
    return (
        f"{render_prompt('memory', language=tongue)}\n{wrap_blocks('memory', inside)}"
        if any(inside)
        else ""
    )


def render_note(note: Note, memory: str = "") -> str:
    """Return how a note is written: on one line if it has one; `memory` is the block around it."""
    if "\n" in note.text:
        return wrap_blocks("note", [escape_tags(note.text, memory)], title=note.title)
    head = f"{note.title}: " if note.title else ""
    return escape_tags(f"- {head}{note.text}", memory)


def _important_first(part: NoteGroup) -> NoteGroup:
    return part._replace(notes=sorted(part.notes, key=lambda note: not note.pinned))


def _fill(part: NoteGroup, room: int) -> NoteGroup:
    """Take notes while there is room, and of one that is too long what matters most."""
    kept: list[Note] = []
    for note in part.notes:
        size = _size(note)
        if size <= room:
            kept.append(note)
            room -= size
        elif "\n" in note.text and room >= LEAST:
            kept.append(_cut(note, room))
            break
    return part._replace(notes=kept)


def _cut(note: Note, room: int) -> Note:
    """Return as many lines of a note as fit: the most important ones, or else the first."""
    lines = note.text.split("\n")
    order = note.line_order or range(len(lines))
    least, most = 0, len(lines) - 1
    while least < most:
        middle = (least + most + 1) // 2
        fits = _size(_some(note, lines, order[:middle])) <= room
        least, most = (middle, most) if fits else (least, middle - 1)
    return _some(note, lines, order[:least])


def _some(note: Note, lines: Sequence[str], kept: Sequence[int]) -> Note:
    """Return a note of some of its lines, in their places, with a mark wherever others are not."""
    cut = (len(kept), len(lines))
    if not note.line_order:
        return note._replace(text="\n".join([*lines[: len(kept)], MORE]), shown_lines=cut)
    told: list[str] = []
    after = 0
    for at in sorted(kept):
        told += [*([MORE] if at > after else []), lines[at]]
        after = at + 1
    text = "\n".join([*told, *([MORE] if after < len(lines) else [])])
    return note._replace(text=text, shown_lines=cut)


def _within(parts: list[NoteGroup], budget: int, tongue: str) -> list[NoteGroup]:
    """Leave notes out from the end while their block is too long: tokens do not add up exactly."""
    while parts and count_tokens(render_notes(parts, tongue)) > budget:
        last = parts.pop()
        if len(last.notes) > 1:
            parts.append(last._replace(notes=last.notes[:-1]))
    return parts


def _weight(part: NoteGroup) -> int:
    return sum(_size(note) for note in part.notes)


def _size(note: Note) -> int:
    return _count(note.title, note.text) + 1


@lru_cache(maxsize=8192)
def _count(title: str, text: str) -> int:
    return count_tokens(render_note(Note(title, text)))
