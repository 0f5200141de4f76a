"""Find code in Markdown: inline code, lines of fenced code, and the names they set or call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from text.pattern_files import PatternFile
from text.regex import regex, replace_spans

_PATTERNS = PatternFile("report.markdown", "code.toml")

_PLACEHOLDER_MARKS = ("\ue010", "\ue011")
_PLACEHOLDER = regex(f"{_PLACEHOLDER_MARKS[0]}(\\d+){_PLACEHOLDER_MARKS[1]}")


class InlineCode(NamedTuple):
    """A piece of inline code, and the text between its backticks."""

    start: int
    end: int
    string: str
    inside: str


def _iter_inline_code(text: str) -> Iterator[InlineCode]:
    """Yield the pieces of inline code; each ends at the next run of equally many backticks."""
    runs = list(_PATTERNS.run.finditer(text))
    at = 0
    while at < len(runs):
        opening = runs[at]
        rest = range(at + 1, len(runs))
        closing = next((one for one in rest if len(runs[one][0]) == len(opening[0])), 0)
        if closing:
            end = runs[closing]
            inside = text[opening.end() : end.start()]
            yield InlineCode(opening.start(), end.end(), text[opening.start() : end.end()], inside)
        at = closing + 1 if closing else at + 1


def list_inline_code(text: str) -> list[InlineCode]:
    """Return the pieces of inline code in a text, in order."""
    return list(_iter_inline_code(text))


def map_inline_code(text: str, change: Callable[[InlineCode], str]) -> str:
    """Return `text` with each piece of inline code changed."""
    found = _iter_inline_code(text)
    return replace_spans(text, ((code.start, code.end, change(code)) for code in found))


def mask_code(text: str) -> tuple[str, list[str]]:
    """Return `text` with a placeholder for each piece of inline code, and the pieces."""
    kept: list[str] = []

    def keep(code: InlineCode) -> str:
        """Put code aside, and return the placeholder that marks its place."""
        kept.append(code.string)
        return f"{_PLACEHOLDER_MARKS[0]}{len(kept) - 1}{_PLACEHOLDER_MARKS[1]}"

    bare = re.sub("[\ue010\ue011]", "", text)
    return map_inline_code(bare, keep), kept


def unmask_code(text: str, kept: list[str]) -> str:
    """Return a text with its placeholders replaced by the pieces that `mask_code` returned."""
    return _PLACEHOLDER.sub(lambda sign: kept[int(sign[1])], text)


def find_unknown_identifier(text: str, known: Iterable[str]) -> str:
    """Return the first name in inline code that no text has, or "".

    A name is an option or a word with an underscore, compared regardless of case. A pattern for
    several names does not count.
    """
    inside = (code.inside for code in _iter_inline_code(text))
    found = (one for one in inside if not _PATTERNS.name_pattern.search(one))
    names = [name.lower() for one in found for name in _PATTERNS.identifier.findall(one)]
    texts = [one.lower() for one in known] if names else []
    return next((name for name in names if not any(name in one for one in texts)), "")


_OF_SHELLS = {"PATH", "HOME", "USER", "SHELL", "LANG", "PWD", "TMPDIR", "TZ", "EDITOR"}

_MIN_COMMON_LETTERS = 4  # of similar names
_MAX_NAME_CHARS = 300
_MAX_SIMILAR_CHARS = 80  # a longer name has no similar ones
_MIN_KNOWN_DIRECTIVES = 2  # for a plain word to be looked up


class CodeName(NamedTuple):
    """A name in a line of code, and the form in which it occurs."""

    name: str
    form: str


def list_code_lines(fence: str) -> list[str]:
    """Return the lines of a code fence except shebangs, section names and lines without words."""
    inside = (one.strip() for one in fence.split("\n")[1:-1])
    return [one for one in inside if not _PATTERNS.idle.match(one)]


def to_inline_code(line: str) -> str:
    """Return a line of code as inline code."""
    return f"`{line}`"


def extract_code_names(line: str) -> list[CodeName]:
    """Return the options, settings and functions that a line of code names.

    A variable to which the result of a call is assigned is not included.
    """
    if _PATTERNS.comment.match(line):
        return []
    bare = _PATTERNS.behind.sub("", _PATTERNS.prompt.sub("", line, count=1))
    bare = _PATTERNS.quoted.sub("''", bare)
    found = [CodeName(one[0], "option") for one in _PATTERNS.option.finditer(bare)]
    calls = [CodeName(one[1], "call") for one in _PATTERNS.call.finditer(bare)]
    forms = ("setting", "directive") if not calls else ()
    matches = ((form, _PATTERNS.get(form).match(bare)) for form in forms)
    begins = next((CodeName(match[1], form) for form, match in matches if match), None)
    every = [begins, *found] if begins else [*found, *calls]
    return [one for one in every if len(one.name) <= _MAX_NAME_CHARS]


def list_unknown_code_lines(fence: str, known: Sequence[str]) -> list[str]:
    """Return the lines of a code fence with an unknown name, if most of its names are known.

    A name is unknown if no text has it. A name that occurs twice in the code is one that its writer
    defined. The first word of a shell command is a program and is not looked up; a plain word is
    looked up only if other plain words of the code are known.
    """
    inside = list_code_lines(fence)
    shell = bool(_PATTERNS.shell.match(fence)) or any(map(_PATTERNS.prompt.match, inside))
    times = Counter(one.rstrip("-") for one in _PATTERNS.word.findall(fence))
    named = {
        one: list(_looked_up(extract_code_names(one), fence, times, shell=shell)) for one in inside
    }
    every = dict.fromkeys(name for found in named.values() for name in found)
    there = {name for name in every if _is_named(name.name, known)}
    exact = {one for one in every if _is_exact(one, there)}
    strange = exact - there
    if len(strange) > len(exact & there):
        return []
    return [one for one, found in named.items() if strange.intersection(found)]


def _is_named(name: str, texts: Iterable[str]) -> bool:
    """Tell whether a text has a name, regardless of case."""
    return any(find_code_name(name, text) is not None for text in texts)


def find_code_name(name: str, text: str) -> int | None:
    """Return where a text explains a name, or else mentions it first, or None.

    A name at the beginning of a line is explained there. `--[no-]name` in a manual matches both
    names.
    """
    if len(name) > _MAX_NAME_CHARS:
        return None
    bare = re.escape(re.sub(r"^--no-", "--", name))
    spelt = bare.replace(r"\-\-", r"(?:\-\-|‐‐|−−)(?:\[no-?\]|no-)?", 1)
    whole = re.compile(rf"(?<![\w-]){spelt}(?!\w|-\w)", re.IGNORECASE)
    found = [one.start() for one in whole.finditer(text)]
    return next(_begin(text, found), found[0] if found else None)


def _begin(text: str, places: Iterable[int]) -> Iterator[int]:
    """Yield the places at the beginning of a line, one for each line at most."""
    seen = 0
    for at in places:
        line = text.rfind("\n", seen, at) + 1
        if (line or not seen) and not text[line:at].strip(" \t*-`|"):
            yield at
        seen = at


def find_similar_code_name(name: str, text: str) -> int | None:
    """Return where a text explains a name, or else the name with the longest common prefix."""
    found = find_code_name(name, text)
    shortest = max(_MIN_COMMON_LETTERS, len(name) // 2)
    search = found is None and len(name) <= _MAX_SIMILAR_CHARS
    for length in range(len(name) - 1, shortest - 1, -1) if search else ():
        other = re.search(rf"(?<![\w-]){re.escape(name[:length])}[\w-]+", text, re.IGNORECASE)
        if other:
            return find_code_name(other[0], text)
    return found


def _looked_up(
    found: Iterable[CodeName], fence: str, times: Mapping[str, int], *, shell: bool
) -> Iterator[CodeName]:
    """Yield the names to look up on pages, without those that the code defines itself."""
    for one in found:
        spelt = rf"(?<![\w-]){re.escape(one.name)}(?!\w|-\w)"
        word = _PATTERNS.word.fullmatch(one.name)
        many = times[one.name] if word else len(re.findall(spelt, fence))
        own = many > 1 or one.name in _OF_SHELLS or (shell and one.form != "call")
        if one.form == "option" or not own:
            yield one


def _is_exact(one: CodeName, there: Iterable[CodeName]) -> bool:
    """Tell whether a name must be on a page; a plain word at the start of a line need not be."""
    if one.form != "directive" or _PATTERNS.compound.search(one.name):
        return True
    directives = [other for other in there if other.form == "directive"]
    return len(directives) >= _MIN_KNOWN_DIRECTIVES
