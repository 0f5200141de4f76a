"""Find the structure of manuals and configuration files: entries for terms, and sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from text.pattern_files import PatternFile
from text.regex import regex
from text.sentences import Span, is_entry, parse_section, parse_setting
from text.topics import Topic, strip_request_phrases
from text.words import search_words

_PATTERNS = PatternFile("text", "manuals.toml")

LONGEST = 70
"""The longest term, in characters."""

MOST = 8
"""The longest term, in words."""

OPTION_PATTERN = regex(r"(?<![\w-])--?[A-Za-z][\w-]*")
"""The form of an option."""

BARE = 2
"""A description of at most this many words is only another name of the term."""


class ManualEntry(NamedTuple):
    """A term and its description in a text."""

    term: str
    start: int
    """Where its line starts."""
    body_start: int
    """Where the description starts."""
    end: int


def find_manual_entries(text: str) -> list[ManualEntry]:
    """Return the entries of a text in their order; one may stand within another."""
    below = list(_headed_entries(text))
    if "  " in text:
        below += _indented_entries(text, list(_lines(text)))
    return sorted(below, key=lambda one: one.start)


def find_entry_at(found: Sequence[ManualEntry], start: int) -> ManualEntry | None:
    """Return the innermost entry that a place of the text belongs to."""
    return next((one for one in reversed(found) if one.start <= start < one.end), None)


def find_asked_purpose(question: str) -> str:
    """Return the thing whose effect or purpose a question asks for, if it does."""
    found = _PATTERNS.asked.search(strip_request_phrases(question.split("\n")[0]))
    return (found["does"] or found["of"] or found["is"]) + (found["within"] or "") if found else ""


def find_asked_verb(question: str) -> str:
    """Return the verb that a question asks with: "specify" of "What does X specify?"."""
    found = _PATTERNS.asked.search(strip_request_phrases(question.split("\n")[0]))
    return (found["verb"] or "").lower() if found else ""


def begins_entry(term: str, quote: str, text: str) -> bool:
    """Tell whether a quote begins the description of a term, apart from its values."""
    between = _PATTERNS.get_text("between")
    start = f"{re.escape(term)}{between}{re.escape(quote)}"
    is_description = quote[:1].isalpha() and not _PATTERNS.no_description.match(quote)
    return bool(term and is_description and re.search(start, text))


def is_only_name(term: str, text: str) -> bool:
    """Tell whether a description is only another name of the term: "Flood ping."."""
    others = set(search_words(drop_kind_nouns(text))) - set(search_words(term))
    return len(text.split()) <= BARE or not others


def is_entry_of(term: str, asked: str, title: str) -> bool:
    """Tell whether the entry of a term says what "-d option of screen" or "DropIn" does.

    The words beside the name in the question must be in the title.
    """
    if not asked or not term:
        return False
    called, *of = _PATTERNS.of.split(asked, maxsplit=1)
    options = OPTION_PATTERN.findall(called)
    rest = drop_kind_nouns(OPTION_PATTERN.sub(" ", called)).split()
    name = options or rest
    if len(name) != 1 or not _is_head(name[0], term):
        return False
    others = search_words(" ".join([*of, *(rest if options else [])]))
    return set(others) <= {*search_words(title), *search_words(term)}


def drop_kind_nouns(text: str) -> str:
    """Return a text without words for the kind of a thing, as in "the -q option"."""
    return _PATTERNS.kind_noun.sub(" ", text)


def find_options(question: str) -> set[str]:
    """Return the options that a question names: "-d", "--force"."""
    return set(OPTION_PATTERN.findall(question))


def _is_head(name: str, term: str) -> bool:
    """Tell whether a term, or one of several with commas between them, begins with a name."""
    heads = {re.split(r"[\s=\[<(|]", part.strip(), maxsplit=1)[0] for part in term.split(",")}
    bare = name.strip("\"'“”‘’`=")
    return bare in heads or (len(bare) > 2 and bare.lower() in map(str.lower, heads))


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where each line that is not empty starts, its indent in columns, and its words."""
    start = 0
    for line in text.split("\n"):
        bare = line.strip()
        if bare:
            lead = line[: len(line) - len(line.lstrip())].expandtabs()
            yield start, len(lead), bare
        start += len(line) + 1


def _indented_entries(text: str, lines: Sequence[tuple[int, int, str]]) -> Iterator[ManualEntry]:
    for at, (start, indent, line) in enumerate(lines):
        beside = _PATTERNS.beside.match(line) or _PATTERNS.option_beside.match(line)
        if beside and indent and _is_term(beside["term"]):
            body = text.index(line, start) + beside.end()
            yield ManualEntry(beside["term"], start, body, _end(text, lines, at))
        elif not beside and _is_below(text, lines, at):
            below, _, description = lines[at + 1]
            yield ManualEntry(line, start, text.index(description, below), _end(text, lines, at))


def _headed_entries(text: str) -> Iterator[ManualEntry]:
    """Yield the entries with a name as a heading, up to the next heading or name."""
    found = list(_PATTERNS.headed.finditer(text))
    for at, one in enumerate(found):
        term = (one["mark"] or one["line"] or one["alone"]).replace("`", "").strip("* ;")
        after = found[at + 1].start() if at + 1 < len(found) else len(text)
        closed = _PATTERNS.next.search(text, one.end())
        end = min(after, closed.start() if closed else after)
        first = len(text) - len(text[one.end() :].lstrip())
        yield ManualEntry(term, one.start(), first, max(end, first))


def _is_below(text: str, lines: Sequence[tuple[int, int, str]], at: int) -> bool:
    """Tell whether a line is a term with a further indented line directly below it."""
    start, indent, line = lines[at]
    if at + 1 == len(lines) or not _is_term(line) or (not indent and _PATTERNS.heading.match(line)):
        return False
    below, deep, _ = lines[at + 1]
    return deep > indent and "\n\n" not in text[start:below]


def _is_term(text: str) -> bool:
    return len(text) <= LONGEST and len(text.split()) <= MOST and not _PATTERNS.no_term.search(text)


def _end(text: str, lines: Sequence[tuple[int, int, str]], at: int) -> int:
    """Return the end of the lines below a line that are indented further."""
    indent = lines[at][1]
    return next((start for start, deep, _ in lines[at + 1 :] if deep <= indent), len(text))


DEEPEST = 3
"""The most sections that are named for a line, the innermost ones."""

_TABLE = regex(r"\s*\[")
_UNSHOWN = regex(r"[^\w .:/-]+")


def list_section_paths(text: str, spans: Sequence[Span]) -> list[str]:
    """Return the sections around each span of `text`, such as "queue › retries"; "" for prose.

    What is indented below the line that opens a section belongs to it; a table such as `[server]`
    holds all until the next one.
    """
    found: list[str] = []
    opened: list[tuple[int, str]] = []
    for span in spans:
        depth = span.start - text.rfind("\n", 0, span.start) - 1
        table = bool(_TABLE.match(span.text))
        opened = [
            one for one in opened if one[0] < depth and not (table and parse_section(span.text))
        ]
        found.append(
            " › ".join(name for _, name in opened[-DEEPEST:]) if is_entry(span.text) else ""
        )
        name = _UNSHOWN.sub("", parse_section(span.text)).strip()
        if name:
            opened.append((-1 if table else depth, name))
    return found


def setting_coverage(about: Topic, line: str, path: str) -> float:
    """Return how much of the key of a setting and of its section a topic names, in 0..1."""
    made = parse_setting(line)
    key = search_words(f"{path} {made.key}") if made else []
    return sum(word in about.terms for word in key) / len(key) if key else 0.0
