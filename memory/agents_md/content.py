"""The content of a memory file: the text a model sees, the agents' section, and relevant lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from config.errors import ErrorCode, Problem
from text.keyword_ranking import rank_texts
from text.regex import regex
from text.tokens import estimate_tokens

MAX_FILE_BYTES = 65_536
"""The most bytes of a memory file; every model call reads it."""

# Whatever begins first wins: a comment in a code block is an example, a fence in a comment is none.
MARKUP = regex(
    r"^[ ]{0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*$"
    r"(?:.*?^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|.*\Z)"
    r"|(?<!`)(?P<code>`+)(?!`)[^\n]*?(?<!`)(?P=code)(?!`)"
    r"|(?P<comment><!--)",
    re.DOTALL | re.MULTILINE,
)
"""Code blocks, code in a line, and beginnings of comments (CommonMark 0.31: 4.5, 6.1, 6.6)."""

# Control characters, which a terminal may obey, soft hyphens, zero-width and direction marks, byte
# order marks, and the tags and variation selectors of plane 14, in which sentences can be hidden.
INVISIBLE = regex(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
    "|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\U000e0000-\U000e0fff]"
    # Joiners belong to the writing of many languages, and to emoji, but not between ASCII.
    "|(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])|[\u200c\u200d]{2,}"
)


def decode_file(data: bytes, where: str) -> str:
    """Return the exact text of a file.

    Raises:
        Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
    """
    if len(data) > MAX_FILE_BYTES:
        raise file_too_large_problem(len(data), where)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        what, hint = "it is no text in UTF-8", "save it as UTF-8"
        raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, what, where=where, hint=hint) from error


def file_too_large_problem(size: int, where: str) -> Problem:
    """Return the problem of a file that is too large."""
    what = f"it has {size} bytes, the most is {MAX_FILE_BYTES}"
    return Problem(ErrorCode.MEMORY_FILE_TOO_LARGE, what, where=where, hint="keep what matters")


@lru_cache(maxsize=256)
def visible_text(text: str) -> str:
    """Return the text that a model is shown: no comments outside of code, nothing invisible."""
    return strip_invisible(_uncommented(text)).strip()


def _uncommented(text: str) -> str:
    kept: list[str] = []
    at = 0
    while found := MARKUP.search(text, at):
        kept.append(text[at : found.start()])
        at = found.start()
        if not found["comment"]:
            kept.append(found[0])
            at = found.end()
        # The two dashes of a beginning may be those of the end, in a comment without words.
        elif (end := text.find("-->", at + len("<!"))) >= 0:
            at = end + len("-->")
        else:
            break
    return "".join([*kept, text[at:]])


def strip_invisible(text: str) -> str:
    """Return a text without invisible characters."""
    return INVISIBLE.sub("", text)


LEARNED_BEGIN = "<!-- dossier: learned -->"
LEARNED_END = "<!-- /dossier -->"

MARK = regex(rf"^({re.escape(LEARNED_BEGIN)}|{re.escape(LEARNED_END)})[ \t]*\r?$", re.MULTILINE)


class FileSections(NamedTuple):
    """A file in three parts: the text before the agents' lines, these, and the text after them."""

    before: str
    learned: str
    """The lines between the marks, each with its end as `\\n`; empty where there are no marks."""
    after: str


def split_sections(text: str, where: str) -> FileSections:
    """Split a file's text into its sections.

    Raises:
        Problem: `memory_section_broken` unless both marks are there once, in order, or neither.
    """
    marks = list(MARK.finditer(text))
    if not marks:
        return FileSections(text, "", "")
    if [mark[1] for mark in marks] != [LEARNED_BEGIN, LEARNED_END]:
        what = "the marks of the agents' section do not stand there once each"
        hint = f"let {LEARNED_BEGIN} and {LEARNED_END} stand once, each on a line of its own"
        raise Problem(ErrorCode.MEMORY_SECTION_BROKEN, what, where=where, hint=hint)
    start, end = marks[0].end() + 1, marks[1].start()
    return FileSections(text[:start], text[start:end].replace("\r\n", "\n"), text[end:])


def replace_learned(text: str, inside: str, where: str) -> str:
    """Replace the agents' section of a text; a missing one is appended.

    Everything outside of it stays the same, to the byte.

    Raises:
        Problem: `memory_section_broken`.
    """
    before, old, after = split_sections(text, where)
    if inside == old:
        return text
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = inside.rstrip("\n").replace("\n", line_end) + line_end if inside.strip() else ""
    if after:
        return before + lines + after
    gap = "" if not before else line_end if before.endswith("\n") else 2 * line_end
    return f"{before}{gap}{LEARNED_BEGIN}{line_end}{lines}{LEARNED_END}{line_end}"


MAX_BEGINNING_TOKENS = 150
"""How many tokens of its beginning a cut file always keeps: they say what it is about."""

_FENCE = regex(r"[ ]{0,3}(?:`{3,}|~{3,})")
_ITEM = regex(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_HEADING = regex(r"[ ]{0,3}#{1,6}(?:[ \t]|$)")


@lru_cache(maxsize=64)
def order_by_relevance(text: str, about: str) -> tuple[int, ...]:
    """Return the numbers of the lines of a text, the most relevant to another text first.

    The beginning always comes first, then the rules that share words with `about`, each with its
    heading, then all others in their order.
    """
    lines = text.split("\n")
    rules = list(_rules(lines))
    ranked = rank_texts(about, ["\n".join(lines[at] for at in rule) for rule in rules])
    order = dict.fromkeys(range(_count_beginning(lines)))
    for at, _ in ranked:
        order |= dict.fromkeys(rules[at])
    return tuple(order | dict.fromkeys(range(len(lines))))


def _count_beginning(lines: list[str]) -> int:
    """Return how many lines the beginning has, at least one."""
    tokens = 0
    for at, line in enumerate(lines):
        tokens += estimate_tokens(line) + 1
        if tokens > MAX_BEGINNING_TOKENS:
            return max(at, 1)
    return len(lines)


def _rules(lines: list[str]) -> Iterator[list[int]]:
    """Yield the numbers of lines that belong together, after that of the heading above them.

    These are paragraphs, items of lists and blocks of code.
    """
    heading: list[int] = []
    start, fenced = 0, False
    for at, line in enumerate(lines):
        if not fenced and (not line.strip() or _ITEM.match(line) or _HEADING.match(line)):
            if start < at:
                yield [*heading, *range(start, at)]
            if _HEADING.match(line):
                heading = [at]
            start = at + 1 if heading == [at] or not line.strip() else at
        fenced = fenced != bool(_FENCE.match(line))
    if start < len(lines):
        yield [*heading, *range(start, len(lines))]
