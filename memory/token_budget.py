"""Share one budget of tokens among the notes of all memories, and render them as one block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from memory.protocol import Note
from prompts.data_blocks import escape_tags, wrap_blocks
from prompts.loader import render_prompt
from text.tokens import count_tokens, estimate_tokens, is_count_exact

ELLIPSIS = "…"
"""Replaces the lines of a note that are left out."""

MIN_CUT_TOKENS = 40
"""The fewest tokens that are worth beginning a note which must be cut."""


_ESTIMATE_MARGIN = 1.25
"""An estimate may be 15 % too low (`text.tokens.estimate_tokens`), and more in noise."""


class NoteGroup(NamedTuple):
    """The notes of one memory, and its own share of the budget."""

    name: str
    share: float
    notes: Sequence[Note]


class MemoryBlock(NamedTuple):
    """What a call is given of all memories."""

    groups: Sequence[NoteGroup] = ()
    text: str = ""
    tokens: int = 0
    estimated: bool = False
    """Whether the tokens were estimated, and not counted by the vocabulary."""


def fit_notes(groups: Sequence[NoteGroup], budget: int, language: str = "en") -> list[NoteGroup]:
    """Return the notes that fit into a budget, by the tokens of each.

    Each group first fills its own share; what is left over goes to those that have more notes, in
    their order. Pinned notes come first.

    Args:
        groups: In the order of the block.
        budget: The most tokens of the block, its frame included.
        language: The language of the frame.
    """
    wanted = [_pinned_first(group) for group in groups if group.notes]
    room = budget - _frame_tokens(tuple(group.name for group in wanted), language)
    fitted = [_fill(group, int(room * group.share)) for group in wanted]
    for at, group in enumerate(wanted):
        others = sum(_group_tokens(one) for one in fitted) - _group_tokens(fitted[at])
        fitted[at] = _fill(group, room - others)
    return [group for group in fitted if group.notes]


def _keep_groups(groups: Sequence[NoteGroup]) -> Sequence[NoteGroup]:
    return groups


def build_whole_block(
    groups: Sequence[NoteGroup],
    budget: int,
    language: str = "en",
    arrange: Callable[[Sequence[NoteGroup]], Sequence[NoteGroup]] = _keep_groups,
) -> MemoryBlock | None:
    """Render all notes if they fit beyond doubt; return `None` where tokens must be counted.

    The vocabulary takes 70 MB and half a second to load, and most blocks are far below the budget.
    """
    arranged = arrange([_pinned_first(group) for group in groups if group.notes])
    text = render_notes(arranged, language)
    tokens = estimate_tokens(text)
    fits = tokens * _ESTIMATE_MARGIN <= budget
    return MemoryBlock(arranged, text, tokens, estimated=True) if fits else None


def build_block(
    groups: Sequence[NoteGroup],
    budget: int,
    language: str = "en",
    arrange: Callable[[Sequence[NoteGroup]], Sequence[NoteGroup]] = _keep_groups,
) -> MemoryBlock:
    """Render the notes that fit into a budget.

    Tokens do not add up exactly, so the block is counted; while it is too long, which is rare,
    notes are left out from the end.

    Args:
        groups: In the order of the block.
        budget: The most tokens of the block.
        language: The language of its frame.
        arrange: Changes what fits before it is rendered; it only leaves out or reorders notes.
    """
    fitted = fit_notes(groups, budget, language)
    while fitted:
        arranged = arrange(fitted)
        text = render_notes(arranged, language)
        tokens = count_tokens(text)
        if tokens <= budget:
            return MemoryBlock(arranged, text, tokens, estimated=not is_count_exact())
        last = fitted.pop()
        if len(last.notes) > 1:
            fitted.append(last._replace(notes=last.notes[:-1]))
    return MemoryBlock()


def render_notes(groups: Sequence[NoteGroup], language: str = "en") -> str:
    """Return the block that a model is shown; nothing for no notes."""
    blocks = [
        wrap_blocks(group.name, [render_note(one, group.name) for one in group.notes])
        for group in groups
    ]
    block = wrap_blocks("memory", blocks)
    return f"{render_prompt('memory', language=language)}\n{block}" if block else ""


def render_note(note: Note, memory: str = "") -> str:
    """Return a note as a line, or as a block if it has several; `memory` is the block around it."""
    if "\n" in note.text:
        return wrap_blocks("note", [escape_tags(note.text, memory)], title=note.title)
    head = f"{note.title}: " if note.title else ""
    return escape_tags(f"- {head}{note.text}", memory)


@lru_cache(maxsize=256)
def _frame_tokens(names: tuple[str, ...], language: str) -> int:
    """Return the tokens of a block with an empty note for each memory."""
    return count_tokens(
        render_notes([NoteGroup(name, 0, [Note("", "")]) for name in names], language)
    )


def _pinned_first(group: NoteGroup) -> NoteGroup:
    return group._replace(notes=sorted(group.notes, key=lambda note: not note.pinned))


def _fill(group: NoteGroup, room: int) -> NoteGroup:
    """Take notes while there is room, and the most important lines of one that is too long."""
    fitting: list[Note] = []
    for note in group.notes:
        tokens = _note_tokens(note)
        if tokens <= room:
            fitting.append(note)
            room -= tokens
        elif "\n" in note.text and room >= MIN_CUT_TOKENS:
            fitting.append(_cut(note, room))
            break
    return group._replace(notes=fitting)


def _cut(note: Note, room: int) -> Note:
    """Return a note with as many lines as fit: the most important ones, or else the first."""
    lines = note.text.split("\n")
    order = note.line_order or range(len(lines))
    least, most = 0, len(lines) - 1
    while least < most:
        middle = (least + most + 1) // 2
        fits = _note_tokens(_with_lines(note, lines, order[:middle])) <= room
        least, most = (middle, most) if fits else (least, middle - 1)
    return _with_lines(note, lines, order[:least])


def _with_lines(note: Note, lines: Sequence[str], numbers: Sequence[int]) -> Note:
    """Return a note of some of its lines, in their places, with an ellipsis at each gap."""
    kept: list[str] = []
    following = 0
    for number in sorted(numbers):
        if number > following:
            kept.append(ELLIPSIS)
        kept.append(lines[number])
        following = number + 1
    if following < len(lines):
        kept.append(ELLIPSIS)
    return note._replace(text="\n".join(kept), shown_lines=(len(numbers), len(lines)))


def _group_tokens(group: NoteGroup) -> int:
    return sum(_note_tokens(note) for note in group.notes)


def _note_tokens(note: Note) -> int:
    return _count_note(note.title, note.text) + 1


@lru_cache(maxsize=8192)
def _count_note(title: str, text: str) -> int:
    return count_tokens(render_note(Note(title, text)))
