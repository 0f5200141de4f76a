"""Tell code from prose: inline code, the lines of a fence, and the names that they set or call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from text.regex import regex

_RUN = regex(r"(?<!\\)`+")
_IDENTIFIER = regex(r"(?<![\w./-])(?:--[a-z][\w-]*\w|[A-Za-z]\w*_\w+)(?![\w-])")
_PATTERN = regex(r"[*{}<>…]|\.\.\.")
_PLACEHOLDER_MARKS = ("\ue010", "\ue011")
_PLACEHOLDER = regex(f"{_PLACEHOLDER_MARKS[0]}(\\d+){_PLACEHOLDER_MARKS[1]}")


class InlineCode(NamedTuple):
    """A piece of inline code, and what is between its backticks."""

    start: int
    end: int
    string: str
    inside: str


def _iter_inline_code(text: str) -> Iterator[InlineCode]:
    """Yield the pieces of inline code: each ends with the next run of as many backticks."""
    runs = list(_RUN.finditer(text))
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


def map_inline_code(text: str, change: Callable[[InlineCode], str]) -> str:
    """Return `text` with each piece of inline code changed."""
    parts: list[str] = []
    done = 0
    for code in _iter_inline_code(text):
        parts += [text[done : code.start], change(code)]
        done = code.end
    return "".join([*parts, text[done:]])


def mask_code(text: str) -> tuple[str, list[str]]:
    """Return `text` with a placeholder for each piece of inline code, and the pieces."""
    kept: list[str] = []

    def keep(code: InlineCode) -> str:
        kept.append(code.string)
        return f"{_PLACEHOLDER_MARKS[0]}{len(kept) - 1}{_PLACEHOLDER_MARKS[1]}"

    bare = re.sub("[\ue010\ue011]", "", text)
    return map_inline_code(bare, keep), kept


def unmask_code(text: str, kept: list[str]) -> str:
    """Put pieces of inline code back where `mask_code` took them from."""
    return _PLACEHOLDER.sub(lambda sign: kept[int(sign[1])], text)


def find_unknown_identifier(text: str, known: Iterable[str]) -> str:
    """Return the first name in inline code that no text has, or nothing.

    A name is an option, or a word with an underscore; it is exact, save for small and capital
    letters. A pattern for several names is none.
    """
    found = [code.inside for code in _iter_inline_code(text) if not _PATTERN.search(code.inside)]
    names = [name.lower() for one in found for name in _IDENTIFIER.findall(one)]
    texts = [one.lower() for one in known] if names else []
    return next((name for name in names if not any(name in one for one in texts)), "")


_IDLE = regex(r"#!|\W*$|\[{1,2}[^\[\]]*\]{1,2}$")
_FORMS = {
    "setting": regex(r"(?:export\s+|set\s+)?([A-Za-z_][\w.-]*)\s*=(?!=)"),
    "directive": regex(r"([A-Za-z][\w-]*)\s+\S"),
}
_WORD = regex(r"[\w-]+")
_OPTION = regex(r"(?<![\w-])--[A-Za-z][\w-]*\w")
_CALL = regex(r"(?<![\w.$])([A-Za-z_]\w*(?:\.\w+)*)\(")
_QUOTED = regex(r"\"[^\"]*\"|'[^']*'")
_BEHIND = regex(r"\s(?:#|//|<!--|--)\s.*$")
_COMMENT = regex(r"(?:#|//|;|/\*|<!--|--\s|%)")
_COMPOUND = regex(r"[a-z][A-Z]|_")
_SHELL = regex(r"[ \t]*[`~]{3,}[ \t]*(?:ba|z|k|da|fi|c|tc)?sh(?:ell)?\b|[^\n]*(?:console|terminal)")
_PROMPT = regex(r"[$>%]\s+")
_OF_SHELLS = {"PATH", "HOME", "USER", "SHELL", "LANG", "PWD", "TMPDIR", "TZ", "EDITOR"}

_MIN_COMMON_LETTERS = 4  # of similar names
_MAX_NAME_CHARS = 300
_MAX_SIMILAR_CHARS = 80  # a longer name has no similar ones
_MIN_KNOWN_DIRECTIVES = 2  # beside a plain word that is looked up


class CodeName(NamedTuple):
    """A name in a line of code, and the form that makes it one."""

    name: str
    form: str


def list_code_lines(fence: str) -> list[str]:
    """Return the lines of a fence of code that say something; the name of a section does not."""
    inside = (one.strip() for one in fence.split("\n")[1:-1])
    return [one for one in inside if not _IDLE.match(one)]


def to_inline_code(line: str) -> str:
    """Return a line of code as inline code."""
    return f"`{line}`"


def extract_code_names(line: str) -> list[CodeName]:
    """Return the options, settings and functions that a line of code names.

    What the result of a function is given to is named by the writer.
    """
    if _COMMENT.match(line):
        return []
    bare = _QUOTED.sub("''", _BEHIND.sub("", _PROMPT.sub("", line, count=1)))
    found = [CodeName(one[0], "option") for one in _OPTION.finditer(bare)]
    calls = [CodeName(one[1], "call") for one in _CALL.finditer(bare)]
    forms = ((form, pattern.match(bare)) for form, pattern in _FORMS.items() if not calls)
    begins = next((CodeName(match[1], form) for form, match in forms if match), None)
    every = [begins, *found] if begins else [*found, *calls]
    return [one for one in every if len(one.name) <= _MAX_NAME_CHARS]


def list_unknown_code_lines(fence: str, known: Sequence[str]) -> list[str]:
    """Return the lines of a fence with a name that no text has, where most beside it are known.

    What the code itself uses twice is a name that its writer gave. In commands for a shell the
    word that a line begins with is a program, and in plain words it is looked up only beside some
    that are known.
    """
    inside = list_code_lines(fence)
    shell = bool(_SHELL.match(fence)) or any(map(_PROMPT.match, inside))
    times = Counter(one.rstrip("-") for one in _WORD.findall(fence))
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
    """Tell whether a text has a name, whatever its capitals."""
    return any(find_code_name(name, text) is not None for text in texts)


def find_code_name(name: str, text: str) -> int | None:
    """Return where a text explains a name, or else has it first, or None.

    It is explained where it begins a line. What a manual writes `--[no-]name` is two names.
    """
    if len(name) > _MAX_NAME_CHARS:
        return None
    bare = re.escape(re.sub(r"^--no-", "--", name))
    spelt = bare.replace(r"\-\-", r"(?:\-\-|‐‐|−−)(?:\[no-?\]|no-)?", 1)
    whole = re.compile(rf"(?<![\w-]){spelt}(?!\w|-\w)", re.IGNORECASE)
    found = [one.start() for one in whole.finditer(text)]
    return next(_begin(text, found), found[0] if found else None)


def _begin(text: str, places: Iterable[int]) -> Iterator[int]:
    """Yield the places that begin a line; only the first in each line can."""
    seen = 0
    for at in places:
        line = text.rfind("\n", seen, at) + 1
        if (line or not seen) and not text[line:at].strip(" \t*-`|"):
            yield at
        seen = at


def find_similar_code_name(name: str, text: str) -> int | None:
    """Return where a text explains a name, or else the one that begins most like it, or None."""
    found = find_code_name(name, text)
    shortest = max(_MIN_COMMON_LETTERS, len(name) // 2)
    alike = found is None and len(name) <= _MAX_SIMILAR_CHARS
    for length in range(len(name) - 1, shortest - 1, -1) if alike else ():
        other = re.search(rf"(?<![\w-]){re.escape(name[:length])}[\w-]+", text, re.IGNORECASE)
        if other:
            return find_code_name(other[0], text)
    return found


def _looked_up(
    found: Iterable[CodeName], fence: str, times: Mapping[str, int], *, shell: bool
) -> Iterator[CodeName]:
    """Yield the names that a page could have, and not those that the code itself gives."""
    for one in found:
        spelt = rf"(?<![\w-]){re.escape(one.name)}(?!\w|-\w)"
        word = _WORD.fullmatch(one.name)
        many = times[one.name] if word else len(re.findall(spelt, fence))
        own = many > 1 or one.name in _OF_SHELLS or (shell and one.form != "call")
        if one.form == "option" or not own:
            yield one


def _is_exact(one: CodeName, there: Iterable[CodeName]) -> bool:
    """Tell whether a name is one that pages would have: not just any word that begins a line."""
    if one.form != "directive" or _COMPOUND.search(one.name):
        return True
    alike = [other for other in there if other.form == "directive"]
    return len(alike) >= _MIN_KNOWN_DIRECTIVES
