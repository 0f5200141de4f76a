"""Write the forms of Markdown that editors and converters give a report in one form."""

from __future__ import annotations

import re
from collections.abc import Collection

from report.verify.reference_list import find_fenced
from text.regex import regex

_FRONT_MATTER = regex(r"\A---[ \t]*\n(?:[^\n]*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_KEY_LINE = regex(r"(?m)^[\w-]+:(?:[ \t]|$)")
_CODE_LINE = regex(r"(?: {4}|\t)[ \t]*\S")
_LIST_LINE = regex(r"\s|[-*+•][ \t]|\d{1,3}[.)][ \t]|\[\^|\||[（(【\[]\d")
_UNDERLINE = regex(r"(?:=+|-{2,})[ \t]*")
_TITLE = regex(r"[ \t]{0,3}[^\s#>|*+`~<=-][^|\n]{0,200}")
_ESCAPED_MARKER = regex(
    r"(?i)\\\[(?=(?:\\\[)?\^?\s*(?:(?:source|ref|reference|citation|cite|doc)s?\W{0,3})?#?S?\d{1,3}(?!\d))"
    r"([^\[\]\n\\]{1,80})\\\]"
)


_ANCHOR = regex(
    r"(?i)<span(?:\s+(?:id|class|lang)=\"[\w -]{0,80}\"){0,3}\s*>|</span\s*>"
    r"|<a\s+(?:id|name)=\"[\w -]{0,80}\"\s*>\s*</a>|\[\]\{#[\w -]{0,80}\}"
)
_DIV = regex(r"[ \t]{0,3}:{3,}[ \t]*(?:\{[^{}\n]{0,200}\}|[\w-]{0,40})[ \t]*:*[ \t]*")
_DETAILS = regex(r"(?i)</?details(?:\s+open)?\s*>")
_SUMMARY = regex(r"(?i)^[ \t]*<summary>([^<>\n]{1,80})</summary>[ \t]*$")
_ATTRIBUTES = regex(r"(?m)^([ \t]{0,3}#{1,6}[ \t].*?)[ \t]*\{[#.][^{}\n]{0,200}\}[ \t]*$")


def write_plainly(text: str) -> str:
    """Return a report with the same lines, without front matter and with plain headings and marks.

    Underlined headings begin with `#`, and the brackets of citations have no backslashes.
    """
    lines = _blank_front_matter(text).split("\n")
    fenced = find_fenced(lines)
    _mark_indented_code(lines, fenced)
    for at, line in enumerate(lines):
        if at in fenced:
            continue
        if ":::" in line and _DIV.fullmatch(line):
            lines[at] = line = ""
        if "<" in line or "{" in line:
            line = _SUMMARY.sub(r"**\1**", _DETAILS.sub("", line))
            lines[at] = line = _ATTRIBUTES.sub(r"\1", _ANCHOR.sub("", line))
        if "\\[" in line:
            lines[at] = _ESCAPED_MARKER.sub(r"[\1]", line)
        above = lines[at - 1] if at and at - 1 not in fenced else ""
        alone = at < 2 or not lines[at - 2].strip()
        if above and alone and _UNDERLINE.fullmatch(line) and _TITLE.fullmatch(above):
            lines[at - 1] = f"{'#' if line[0] == '=' else '##'} {above.strip()}"
            lines[at] = ""
    return "\n".join(lines)


def _mark_indented_code(lines: list[str], fenced: Collection[int]) -> None:
    """Write each line of an indented block of code as inline code."""
    above, is_code = "", False
    for at, line in enumerate(lines):
        starts = at and not lines[at - 1].strip() and not _LIST_LINE.match(above)
        is_code = bool(_CODE_LINE.match(line)) and at not in fenced and bool(is_code or starts)
        above = line if line.strip() and not is_code else above
        if is_code and "`" not in line:
            lines[at] = f"`{line.strip()}`"


def _blank_front_matter(text: str) -> str:
    """Return a text with empty lines in the place of the fields that an editor keeps above it."""
    found = _FRONT_MATTER.match(text)
    if not found or not _KEY_LINE.search(found[0]):
        return text
    return re.sub(r"[^\n]+", "", found[0]) + text[found.end() :]
