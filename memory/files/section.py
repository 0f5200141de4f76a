"""The part of a memory file that agents write; all the rest is the person's."""

from __future__ import annotations

import re
from typing import NamedTuple

from config.errors import Problem
from retrieval.regex import regex

BEGIN = "<!-- dossier: learned -->"
END = "<!-- /dossier -->"

MARK = regex(rf"^({re.escape(BEGIN)}|{re.escape(END)})[ \t]*\r?$", re.MULTILINE)


class Divided(NamedTuple):
    """A file in three: what stands before the agents' lines, these, and what follows."""

    before: str
    inside: str
    """The lines between the marks, each with its end as `\\n`; empty where there are no marks."""
    after: str


def divided(text: str, where: str) -> Divided:
    """Return a file's text with the agents' lines apart.

    Raises:
        Problem: `memory_section_broken` when the marks do not stand there once each, in order.
    """
    marks = list(MARK.finditer(text))
    if not marks:
        return Divided(text, "", "")
    if [mark[1] for mark in marks] != [BEGIN, END]:
        what = "the marks of the agents' section do not stand there once each"
        hint = f"let {BEGIN} and {END} stand once, each on a line of its own"
        raise Problem("memory_section_broken", what, where=where, hint=hint)
    start, end = marks[0].end() + 1, marks[1].start()
    return Divided(text[:start], text[start:end].replace("\r\n", "\n"), text[end:])


def replaced(text: str, inside: str, where: str) -> str:
    """Return a file's text with other lines in the agents' section, made at its end if need be.

    Whatever stands outside of it stays as it is, to the byte.

    Raises:
        Problem: `memory_section_broken`.
    """
    before, old, after = divided(text, where)
    if inside == old:
        return text
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = inside.rstrip("\n").replace("\n", line_end) + line_end if inside.strip() else ""
    if after:
        return before + lines + after
    gap = "" if not before else line_end if before.endswith("\n") else 2 * line_end
    return f"{before}{gap}{BEGIN}{line_end}{lines}{END}{line_end}"
