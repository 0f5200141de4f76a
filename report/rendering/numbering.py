"""Turn the marks of a report into the numbers a reader sees."""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import NamedTuple

from graph.records import Source
from report.checks.claims import has_back_reference
from report.citations import (
    describe_place,
    disambiguate_titles,
    get_document_key,
    is_wide_place,
    narrow_place,
    to_whole_document,
)
from report.evidence_spans import CitationUse, extract_name_terms, find_certain_evidence
from report.labels import get_label
from report.markdown.code import list_code_lines
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    get_block_context,
    join_blocks,
    list_statements,
    parse_blocks,
    split_statements,
)
from report.markdown.markers import MARKER, QUOTE, normalize_marks
from report.markdown.sanitizer import escape_markdown, neutralize_markdown, strip_emphasis
from text.normalization import normalize_text
from text.regex import regex

_NUMBER = "\ue000{}\ue001"  # between characters that no report has
_PLACE_SEPARATOR = "\ue004"
_QUOTED = "\ue002“{}”\ue003"
FIRST_USE_MARK = 0xF0000
"""The first of the characters that stand behind a number, one for each use of a document."""

FIRST_DOUBT_MARK = 0xE100
"""The first of the characters that stand behind a sentence, one for each that is doubted."""

DOUBT_MARK = regex("[\ue100-\ue1ff]")

PRIVATE_MARK = regex("[\ue000-\ue004\ue100-\ue1ff\U000f0000-\U000ffffd]")

_GROUP = rf"(?:{MARKER.pattern}\s*)*{MARKER.pattern}"
_MARK = regex(rf"{QUOTE.pattern}|(?P<group>[ \t]*{_GROUP})|(?P<code>`[^`\n]+`)", re.DOTALL)
_END = regex("(?<=[^.!?。！？；…])[.!?。！？；…]+[\"'”’」』*_)）]*$")
_PLACED = regex("\ue000([^\ue001]*)\ue001")
_WORD = regex("[A-Za-z0-9]")
_GROUP_AT = regex(rf"\s*{_GROUP}")


_Look = Callable[[str, str, str], "_Cited | None"]
"""Looks up a source by its id, for what is said with it and what stands beside that."""


class NumberedText(NamedTuple):
    """A text with numbers, and the documents they stand for, from number 1."""

    body: str
    documents: list[Source]
    uses: list[CitationUse]
    """Every number in the text, in order, and then those of the notes."""
    notes: list[str]
    """What is said of the text below it, with numbers like those in it."""


NO_SOURCE_TEXTS: Mapping[str, str] = MappingProxyType({})


class _Cited(NamedTuple):
    """A source: the number of its document, the place in it, and its id."""

    number: int
    place: str
    """The place in words; nothing for a whole document, and for where one begins."""
    name: str


def number_citations(
    body: str,
    sources: Sequence[Source],
    language: str = "en",
    doubted: Sequence[str] = (),
    texts: Mapping[str, str] = NO_SOURCE_TEXTS,
    notes: Sequence[str] = (),
) -> NumberedText:
    """Return `body` as markdown with a number for each mark, and the place where there is one.

    Numbers go by first use, one for each document. A quotation that is followed by a marker of its
    own source is not marked twice. Marks of unknown sources are dropped. The place of a citation
    is not told again by the next one of its document in a paragraph, list or table, and the name
    of a section not below its heading: a number alone is the place that was told last. A mark
    stands in each sentence that is `doubted`, before its full stop, and behind a block of code for
    each line of it that is. With the `texts` of the pages, by the ids of their sources, the place
    is that of the words that are cited. What the `notes` cite is numbered behind the text.
    """
    used: dict[str, Source] = {}
    uses: list[CitationUse] = []
    doubts = {_letters(text): at for at, text in reversed([*enumerate(doubted)])}
    cited = _registry(sources, used, texts, language)
    parts = parse_blocks(PRIVATE_MARK.sub("", normalize_text(body)))
    last: dict[str, str] = {}
    start = get_label("beginning", language)
    for at, part in enumerate(parts):
        goes_on = at and part.kind == parts[at - 1].kind and part.kind in ("item", "row")
        last = last if goes_on else _sections(last, part)
        if part.kind != "blank":
            once = partial(_once, last, start)
            parts[at] = part._replace(text=_text(parts, at, doubts, cited, uses, once))
    said = [_with_numbers(PRIVATE_MARK.sub("", one), (), cited, uses) for one in notes]
    told = [_PLACED.sub(partial(_once, {}, start), one) for one in said]
    return NumberedText(join_blocks(parts), disambiguate_titles(list(used.values())), uses, told)


def _registry(
    sources: Sequence[Source], used: dict[str, Source], texts: Mapping[str, str], language: str
) -> _Look:
    """Return what looks up a source, and counts its document among the used ones."""
    registry = {source["id"]: source for source in sources}

    def cited(name: str, said: str, beside: str) -> _Cited | None:
        source = registry.get(name)
        if source is None:
            return None
        key = get_document_key(source)
        used.setdefault(key, to_whole_document(source))
        number, text = list(used).index(key) + 1, texts.get(name, "")
        use = _use(number, [name], said, beside)
        exact = (
            narrow_place(source, text, find_certain_evidence(text, use))
            if is_wide_place(source)
            else source
        )
        return _Cited(
            number, escape_markdown(PRIVATE_MARK.sub("", describe_place(exact, language))), name
        )

    return cited


def _text(
    parts: Sequence[MarkdownBlock],
    at: int,
    doubts: Mapping[str, int],
    cited: _Look,
    uses: list[CitationUse],
    once: Callable[[re.Match[str]], str],
) -> str:
    """Return the text of a block with its numbers, each place told once, and its doubts."""
    part = parts[at]
    if part.kind == "fence":
        return part.text + _behind(parts, at, doubts)
    text = _with_doubts(part._replace(text=normalize_marks(part.text)), doubts)
    return _PLACED.sub(once, _with_numbers(text, get_block_context(parts, at).head, cited, uses))


def has_repeated_places(body: str) -> bool:
    """Tell whether a number of a text stands for a place that was told before with it."""
    told = {mark[1].partition(", ")[0] for mark in _PLACED.finditer(body) if ", " in mark[1]}
    return any(mark[1] in told for mark in _PLACED.finditer(body))


def _sections(last: Mapping[str, str], part: MarkdownBlock) -> dict[str, str]:
    """Return what need not be told again in another block: the long names of sections."""
    named = {number: places for number, places in last.items() if "“" in places}
    return {} if part.kind == "heading" else named


def _once(last: dict[str, str], start: str, mark: re.Match[str]) -> str:
    """Return a number without its places where they are those of the same number before it.

    Where others were told before, or are told beside it, the beginning of a document is named.
    """
    number, *places = mark[1].split(_PLACE_SEPARATOR)
    if any(places) or last.get(number):
        places = [one or start for one in places]
    told = "".join(f", {one}" for one in places if one)
    again = last.get(number) == told
    last[number] = told
    return _NUMBER.format(number if again else number + told)


def _with_doubts(part: MarkdownBlock, doubts: Mapping[str, int]) -> str:
    """Return the text of a block with a mark at the end of each doubted sentence, or row."""
    said = list_statements(part)
    return "".join(_doubted(one, doubts.get(_letters(one)), row=part.kind == "row") for one in said)


def _behind(parts: Sequence[MarkdownBlock], at: int, doubts: Mapping[str, int]) -> str:
    """Return the marks of the doubted lines of some code as a paragraph of its own behind it."""
    code = parts[at].text
    found = (doubts.get(_letters(one)) for one in list_code_lines(code))
    marks = "".join(chr(FIRST_DOUBT_MARK + one) for one in dict.fromkeys(found) if one is not None)
    indent = code[: len(code) - len(code.lstrip(" \t"))]
    ends = at + 1 == len(parts) or parts[at + 1].kind == "blank"
    return f"\n\n{indent}{marks}{'' if ends else chr(10)}" if marks else ""


def _doubted(statement: str, doubt: int | None, *, row: bool) -> str:
    if doubt is None:
        return statement
    bare = statement.rstrip().removesuffix("|").rstrip() if row else _unended(statement)
    return f"{bare}{chr(FIRST_DOUBT_MARK + doubt)}{statement[len(bare) :]}"


def _unended(statement: str) -> str:
    """Return a statement up to the mark that ends it; what stands behind that is the next one's."""
    bare = statement.rstrip()
    end = _END.search(bare)
    return bare[: end.start()] if end else bare


def _letters(text: str) -> str:
    """Return the letters and digits of a sentence, without the ids of its sources."""
    bare = html.unescape(MARKER.sub("", QUOTE.sub(r"\2", text)))
    return "".join(filter(str.isalnum, bare))


def _with_numbers(text: str, head: Sequence[str], cited: _Look, uses: list[CitationUse]) -> str:
    parts: list[str] = []
    done = 0
    for mark in _MARK.finditer(text):
        parts += [neutralize_markdown(text[done : mark.start()]), _written(mark, head, cited, uses)]
        done = mark.end()
    return "".join([*parts, neutralize_markdown(text[done:])])


def _written(
    mark: re.Match[str], head: Sequence[str], cited: _Look, uses: list[CitationUse]
) -> str:
    """Return what is written for a mark; it does not stick to a word or begin a link."""
    before = mark.string[max(0, mark.start() - 1) : mark.start()]
    after = mark.string[mark.end() : mark.end() + 1]
    if mark["code"]:
        return mark[0]
    if not mark["group"]:
        quoted = _QUOTED.format(escape_markdown(strip_emphasis(html.unescape(mark[2]))))
        return (
            quoted
            + _own(mark, _beside(mark, head), cited, uses)
            + (" " if _WORD.match(after) else "")
        )
    said, beside = _statement(mark), _beside(mark, head)
    found = (cited(name, said, beside) for name in MARKER.findall(mark["group"]))
    shown = _shown(list(filter(None, found)), said, beside, uses)
    if not shown:
        return ""
    space = " " if mark["group"][0] in " \t" or _WORD.match(before) else ""
    definition = after == ":" and before in ("", "\n")
    return space + shown + (" " if after == "(" else "\\" if definition else "")


def _own(quote: re.Match[str], beside: str, cited: _Look, uses: list[CitationUse]) -> str:
    """Return the number of a quotation, or nothing where a marker behind it has it.

    A marker stands for the last quotation of its source in the statement, and leads to its words.
    """
    rest = _rest(quote)
    own = cited(quote[1] or "", quote[0], beside)
    again = any(other[1] == quote[1] for other in QUOTE.finditer(rest))
    told = quote[1] in MARKER.findall(rest) and not again
    return "" if not own or told else f" {_shown([own], quote[0], beside, uses)}"


def _rest(mark: re.Match[str]) -> str:
    """Return what stands behind a mark in its statement or cell, with the marks that end it."""
    ends = _ends(mark.string)
    end = ends[bisect_left(ends, mark.end())]
    rest = mark.string[mark.end() : end]
    behind = _GROUP_AT.match(mark.string, end)
    return rest.partition("|")[0] + (behind[0] if behind else "")


@lru_cache(maxsize=8)
def _ends(text: str) -> list[int]:
    """Return where the statements of a block end."""
    return list(accumulate(map(len, split_statements(text))))


def _statement(mark: re.Match[str]) -> str:
    """Return the statement, or the cell of a table, that a group of markers belongs to."""
    ends = _ends(mark.string)
    at = bisect_right(ends, mark.start())
    end = ends[at]
    one = mark.string[ends[at - 1] if at else 0 : end]
    cell = mark.string[end - len(one) : mark.start()].rpartition("|")[2]
    return cell if any(map(str.isalnum, cell)) else one


def _beside(mark: re.Match[str], head: Sequence[str]) -> str:
    """Return what says what the statement of a mark is about: its row, or those before it.

    Of a row it is the whole, with the head of its column.

    A statement that names nothing, or its subject with a pronoun alone, has that in one before it.
    """
    if mark.string.lstrip().startswith("|"):
        column = mark.string[: mark.start()].count("|") - 1
        return f"{mark.string} {''.join(head[column : column + 1])}"
    ends = _ends(mark.string)
    at = bisect_right(ends, mark.start())
    return mark.string[_begins(mark.string)[at] : ends[at]]


@lru_cache(maxsize=8)
def _begins(text: str) -> list[int]:
    """Return for each statement of a block where the one begins that names its subject."""
    found: list[int] = []
    for start, end in pairwise([0, *_ends(text)]):
        said = text[start:end]
        leans = bool(found) and (has_back_reference(said) or not extract_name_terms(said))
        found.append(found[-1] if leans else start)
    return found


def _shown(cited: Sequence[_Cited], statement: str, beside: str, uses: list[CitationUse]) -> str:
    """Return the numbers in brackets, each document once with all places that are cited of it."""
    documents: dict[int, list[_Cited]] = {}
    for one in cited:
        documents.setdefault(one.number, []).append(one)
    shown = ""
    for number, all_of_it in documents.items():
        places = dict.fromkeys(one.place for one in all_of_it)
        shown += _NUMBER.format(_PLACE_SEPARATOR.join([str(number), *places]))
        shown += chr(FIRST_USE_MARK + len(uses))
        uses.append(_use(number, [one.name for one in all_of_it], statement, beside))
    return shown


def _use(number: int, names: Sequence[str], statement: str, beside: str) -> CitationUse:
    """Return what a document is cited for: the words that are quoted of it, or the statement."""
    quoted = [quote[2] for quote in QUOTE.finditer(statement) if quote[1] in names]
    said = html.unescape(quoted[-1]) if quoted else statement
    return CitationUse(number, tuple(dict.fromkeys(names)), said, bool(quoted), beside)
