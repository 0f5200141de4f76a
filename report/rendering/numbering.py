"""Replace the citation marks of a report with numbers and places."""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from typing import NamedTuple

from graph.records import Source
from report.body_sections import list_marked_inferences, move_unknown_section
from report.checks.claims import has_back_reference
from report.citations import (
    describe_place,
    disambiguate_titles,
    get_document_key,
    is_wide_place,
    narrow_place,
    to_whole_document,
)
from report.document import (
    NO_PAGE_TEXTS,
    DoubtLine,
    ReportDocument,
    list_contradiction_lines,
    list_doubt_lines,
    list_remarks,
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
from report.markdown.markers import MARKER, QUOTE, map_matches, normalize_marks
from report.markdown.sanitizer import escape_markdown, neutralize_markdown, strip_emphasis
from text.normalization import normalize_text
from text.regex import regex

_NUMBER = "\ue000{}\ue001"  # between private-use characters, which no report has
_PLACE_SEPARATOR = "\ue004"
_QUOTED = "\ue002“{}”\ue003"
FIRST_USE_MARK = 0xF0000
"""The first of the characters that follow a number, one for each use of a document."""

FIRST_DOUBT_MARK = 0x100000
"""The first of the characters that end a doubted sentence, one for each doubt."""

DOUBT_MARK = regex("[\U00100000-\U00103fff]")

INFERENCE_START, INFERENCE_END = "\ue005", "\ue006"
"""The characters around a sentence that the writer concludes."""

FIRST_REMARK_MARK = 0x104000
"""The first of the characters that end a sentence with a remark on the standing of its sources."""

REMARK_MARK = regex("[\U00104000-\U00107fff]")

_MAX_MARKS = 0x4000  # of a kind

PRIVATE_MARK = regex("[\ue000-\ue006\U000f0000-\U000ffffd\U00100000-\U00107fff]")

_USE_MARK = regex("[\U000f0000-\U000ffffd]")
_GROUP = rf"(?:{MARKER.pattern}\s*)*{MARKER.pattern}"
_MARK = regex(rf"{QUOTE.pattern}|(?P<group>[ \t]*{_GROUP})|(?P<code>`[^`\n]+`)", re.DOTALL)
_END = regex("(?<=[^.!?。！？；…])[.!?。！？；…]+[\"'”’」』*_)）]*$")
_BOLD_LABEL = regex(r"\s*\*\*[^*\n]{1,60}(?:[.。:：]\*\*|\*\*[:：])\s*(?=\S)")
_PLACED = regex("\ue000([^\ue001]*)\ue001")
_WORD = regex("[A-Za-z0-9]")
_GROUP_AT = regex(rf"\s*{_GROUP}")


class NumberedText(NamedTuple):
    """A text with numbers, and the documents they refer to, from number 1."""

    body: str
    documents: list[Source]
    uses: list[CitationUse]
    """The uses for all numbers in the text, in order, then for those in the notes."""
    notes: list[str]
    """Remarks shown below the text, with numbers of the same series."""
    contradictions: Sequence[str] = ()
    """What sources say against each other, likewise."""


class _Citation(NamedTuple):
    """A source: the number of its document, the place in it, and its id."""

    number: int
    place: str
    """The place in words; empty for a whole document or its beginning."""
    name: str


def number_citations(
    body: str,
    sources: Sequence[Source],
    language: str = "en",
    doubted: Sequence[str] = (),
    texts: Mapping[str, str] = NO_PAGE_TEXTS,
    notes: Sequence[str] = (),
    remarked: Sequence[str] = (),
    inferred: Sequence[str] = (),
) -> NumberedText:
    """Return `body` as Markdown with a number, and a place if known, for each citation mark.

    Each document gets one number, by first use. A quotation followed by a marker of its own source
    gets one number, not two. Marks of unknown sources are dropped. A place is not repeated for the
    next citation of its document in a paragraph, list or table, nor the name of a section until
    the next heading: a number alone refers to the place named last with it. Each sentence in
    `doubted` or `remarked` gets a mark before its full stop; lines of code after their block.
    With the `texts` of the pages, by the ids of their sources, places are those of the cited words.
    The citations of `notes` are numbered after those of the text. Each sentence in `inferred` is
    put between the marks of an inference.
    """
    numbers = _CitationNumbers(sources, texts, language)
    marks = _assign_marks(doubted, remarked)
    concluded = {extract_letters(text) for text in inferred} - {""}
    blocks = parse_blocks(PRIVATE_MARK.sub("", normalize_text(body)))
    last: dict[str, str] = {}
    head: list[str] = []
    start = get_label("beginning", language)
    for at, block in enumerate(blocks):
        continues = at and block.kind == blocks[at - 1].kind and block.kind in ("item", "row")
        last = last if continues else _keep_sections(last, block)
        head = (head or get_block_context(blocks, at).head) if block.kind == "row" else []
        if block.kind == "fence":
            blocks[at] = block._replace(text=block.text + _mark_code(blocks, at, marks))
        elif block.kind != "blank":
            text = normalize_marks(block.text)
            text = _mark_statements(block._replace(text=text), marks, concluded)
            text = numbers.replace_marks(text, head)
            text = _PLACED.sub(partial(_format_once, last, start), text)
            blocks[at] = block._replace(text=text)
    numbered = [numbers.replace_marks(PRIVATE_MARK.sub("", note)) for note in notes]
    notes = [_PLACED.sub(partial(_format_once, {}, start), note) for note in numbered]
    documents = disambiguate_titles([*numbers.documents.values()])
    return NumberedText(join_blocks(blocks), documents, numbers.uses, notes)


def number_document(document: ReportDocument) -> tuple[NumberedText, list[DoubtLine]]:
    """Return the numbered body of a document, and its doubts with their proofs as notes."""
    doubts, contradictions = list_doubt_lines(document), list_contradiction_lines(document)
    body = move_unknown_section(document["body"])
    text = number_citations(
        body,
        document["sources"],
        document["language"],
        [doubted["text"] for doubted in document["doubted"]],
        document["texts"],
        [*(doubt.proof for doubt in doubts), *contradictions],
        list(list_remarks(document)),
        list_marked_inferences(body, document.get("inferred", [])),
    )
    proofs, others = text.notes[: len(doubts)], text.notes[len(doubts) :]
    return text._replace(notes=proofs, contradictions=others), doubts


def count_body_uses(body: str) -> int:
    """Return how many numbers a text has; the uses for its notes stand behind theirs."""
    return len(_USE_MARK.findall(body))


def has_repeated_places(body: str) -> bool:
    """Tell whether a number of a text refers to a place that was named before with it."""
    placed = {mark[1].partition(", ")[0] for mark in _PLACED.finditer(body) if ", " in mark[1]}
    return any(mark[1] in placed for mark in _PLACED.finditer(body))


class _CitationNumbers:
    """The numbers of the documents that a report cites so far, and their uses."""

    def __init__(self, sources: Sequence[Source], texts: Mapping[str, str], language: str) -> None:
        self.sources = {source["id"]: source for source in sources}
        self.texts, self.language = texts, language
        self.documents: dict[str, Source] = {}
        self.uses: list[CitationUse] = []

    def look_up(self, name: str, statement: str, context: str) -> _Citation | None:
        """Return the citation of a source in a statement, or None if there is no such source."""
        source = self.sources.get(name)
        if source is None:
            return None
        key = get_document_key(source)
        self.documents.setdefault(key, to_whole_document(source))
        number, text = list(self.documents).index(key) + 1, self.texts.get(name, "")
        if is_wide_place(source):
            use = _build_use(number, [name], statement, context)
            source = narrow_place(source, text, find_certain_evidence(text, use))
        place = PRIVATE_MARK.sub("", describe_place(source, self.language))
        return _Citation(number, escape_markdown(place), name)

    def replace_marks(self, text: str, head: Sequence[str] = ()) -> str:
        """Return a text with its citation marks replaced and other Markdown neutralized."""
        return map_matches(
            _MARK, text, lambda mark: self.replace_mark(mark, head), neutralize_markdown
        )

    def replace_mark(self, mark: re.Match[str], head: Sequence[str]) -> str:
        """Return the replacement of a mark, which neither joins a word nor begins a link."""
        if mark["code"]:
            return mark[0]
        before = mark.string[max(0, mark.start() - 1) : mark.start()]
        after = mark.string[mark.end() : mark.end() + 1]
        context = _find_context(mark, head)
        if not mark["group"]:
            quoted = _QUOTED.format(escape_markdown(strip_emphasis(html.unescape(mark[2]))))
            number = self.number_quotation(mark, context)
            return quoted + number + (" " if _WORD.match(after) else "")
        statement = _find_statement(mark)
        found = (self.look_up(name, statement, context) for name in MARKER.findall(mark["group"]))
        numbers = self.format_numbers(list(filter(None, found)), statement, context, mark)
        if not numbers:
            return ""
        space = " " if mark["group"][0] in " \t" or _WORD.match(before) else ""
        definition = after == ":" and before in ("", "\n")
        return space + numbers + (" " if after == "(" else "\\" if definition else "")

    def number_quotation(self, quote: re.Match[str], context: str) -> str:
        """Return the number of a quotation, or "" if a marker after it shows the number.

        A marker belongs to the last quotation of its source in the statement.
        """
        rest = _find_rest(quote)
        citation = self.look_up(quote[1] or "", quote[0], context)
        quoted_again = any(other[1] == quote[1] for other in QUOTE.finditer(rest))
        if not citation or (quote[1] in MARKER.findall(rest) and not quoted_again):
            return ""
        return f" {self.format_numbers([citation], quote[0], context, quote)}"

    def format_numbers(
        self, citations: Sequence[_Citation], statement: str, context: str, mark: re.Match[str]
    ) -> str:
        """Return the numbers in brackets, each document once with all its cited places."""
        documents: dict[int, list[_Citation]] = {}
        for citation in citations:
            documents.setdefault(citation.number, []).append(citation)
        numbers = ""
        for number, cited in documents.items():
            places = dict.fromkeys(citation.place for citation in cited)
            numbers += _NUMBER.format(_PLACE_SEPARATOR.join([str(number), *places]))
            numbers += chr(FIRST_USE_MARK + len(self.uses))
            names = [citation.name for citation in cited]
            use = _build_use(number, names, statement, context)
            self.uses.append(use._replace(sentence=_find_sentence(mark)))
        return numbers


def _keep_sections(last: Mapping[str, str], block: MarkdownBlock) -> dict[str, str]:
    """Return the places that a new block need not repeat: sections."""
    sections = {number: places for number, places in last.items() if {"“", "§"} & set(places)}
    return {} if block.kind == "heading" else sections


def _format_once(last: dict[str, str], start: str, mark: re.Match[str]) -> str:
    """Return a number, with its places unless they repeat those last named with it.

    The beginning of a document is named only if other places of it are.
    """
    number, *names = mark[1].split(_PLACE_SEPARATOR)
    if any(names) or last.get(number):
        names = [name or start for name in names]
    places = "".join(f", {name}" for name in names if name)
    repeated = last.get(number) == places
    last[number] = places
    return _NUMBER.format(number if repeated else number + places)


def _assign_marks(doubted: Sequence[str], remarked: Sequence[str]) -> dict[str, str]:
    """Return the marks of sentences by their letters; of equal ones the first counts."""
    marks = {
        extract_letters(text): chr(FIRST_DOUBT_MARK + at)
        for at, text in reversed([*enumerate(doubted[:_MAX_MARKS])])
    }
    first = {
        extract_letters(text): at for at, text in reversed([*enumerate(remarked[:_MAX_MARKS])])
    }
    return marks | {
        letters: marks.get(letters, "") + chr(FIRST_REMARK_MARK + at)
        for letters, at in first.items()
    }


def _mark_statements(
    block: MarkdownBlock, marks: Mapping[str, str], concluded: Collection[str]
) -> str:
    """Return the text of a block with the marks of its sentences or its row at their ends.

    Sentences and rows that the writer concludes stand between the marks of an inference.
    """
    row, marked = block.kind == "row", ""
    for statement in list_statements(block):
        letters = extract_letters(statement)
        text = _mark_statement(statement, marks.get(letters, ""), row=row)
        marked += _mark_inference(text, row=row) if letters in concluded else text
    return marked


def _mark_code(blocks: Sequence[MarkdownBlock], at: int, found: Mapping[str, str]) -> str:
    """Return the marks of doubted lines of code, as a paragraph after their block."""
    code = blocks[at].text
    lines = (found.get(extract_letters(line), "") for line in list_code_lines(code))
    marks = "".join(dict.fromkeys(lines))
    indent = code[: len(code) - len(code.lstrip(" \t"))]
    ends = at + 1 == len(blocks) or blocks[at + 1].kind == "blank"
    return f"\n\n{indent}{marks}{'' if ends else chr(10)}" if marks else ""


def _mark_statement(statement: str, marks: str, *, row: bool) -> str:
    if not marks:
        return statement
    bare = statement.rstrip()
    end = None if row else _END.search(bare)
    bare = bare.removesuffix("|").rstrip() if row else bare[: end.start()] if end else bare
    return f"{bare}{marks}{statement[len(bare) :]}"


def _mark_inference(statement: str, *, row: bool) -> str:
    """Return a statement between the marks of an inference; of a row its first cell.

    A bold label before it stays outside.
    """
    label = None if row else _BOLD_LABEL.match(statement)
    if label:
        rest = _mark_inference(statement[label.end() :], row=False)
        return f"{label[0].rstrip()} {rest}"
    bare = statement.strip()
    if row:
        first = bare.removeprefix("|").partition("|")[0].strip()
        return statement.replace(first, f"{INFERENCE_START}{first}{INFERENCE_END}", 1)
    end = _END.search(bare)
    inside = bare[: end.start()] if end else bare
    rest = statement[statement.index(bare) + len(inside) :]
    lead = statement[: statement.index(bare)]
    return f"{lead}{INFERENCE_START}{inside}{INFERENCE_END}{rest}"


def extract_letters(text: str) -> str:
    """Return the letters and digits of a sentence, without the ids of its sources."""
    bare = html.unescape(MARKER.sub("", QUOTE.sub(r"\2", text)))
    return "".join(filter(str.isalnum, bare))


def _find_rest(mark: re.Match[str]) -> str:
    """Return the rest of a statement or cell after a mark, with the markers that follow it."""
    ends = _ends(mark.string)
    end = ends[bisect_left(ends, mark.end())]
    rest = mark.string[mark.end() : end]
    group = _GROUP_AT.match(mark.string, end)
    return rest.partition("|")[0] + (group[0] if group else "")


@lru_cache(maxsize=8)
def _ends(text: str) -> list[int]:
    """Return the ends of the statements of a block."""
    return list(accumulate(map(len, split_statements(text))))


def _find_statement(mark: re.Match[str]) -> str:
    """Return the statement, or the cell of a table, that a group of markers belongs to."""
    ends = _ends(mark.string)
    at = bisect_right(ends, mark.start())
    start = ends[at - 1] if at else 0
    cell = mark.string[start : mark.start()].rpartition("|")[2]
    return cell if any(map(str.isalnum, cell)) else mark.string[start : ends[at]]


def _find_sentence(mark: re.Match[str]) -> str:
    """Return the sentence, or the row of a table, in which a mark stands."""
    if mark.string.lstrip().startswith("|"):
        return PRIVATE_MARK.sub("", mark.string.strip())
    ends = _ends(mark.string)
    at = bisect_right(ends, mark.start())
    start = ends[at - 1] if at else 0
    return PRIVATE_MARK.sub("", mark.string[start : ends[at]].strip())


def _find_context(mark: re.Match[str], head: Sequence[str]) -> str:
    """Return the text that names the subject of a mark's statement.

    For a cell, it is the row and the head of its column. For a statement, it begins with the
    nearest one that names a subject other than by a pronoun.
    """
    if mark.string.lstrip().startswith("|"):
        column = mark.string[: mark.start()].count("|") - 1
        return f"{mark.string} {''.join(head[column : column + 1])}"
    ends = _ends(mark.string)
    at = bisect_right(ends, mark.start())
    return mark.string[_subject_starts(mark.string)[at] : ends[at]]


@lru_cache(maxsize=8)
def _subject_starts(text: str) -> list[int]:
    """Return for each statement of a block the start of the one that names its subject."""
    starts: list[int] = []
    for start, end in pairwise([0, *_ends(text)]):
        statement = text[start:end]
        dependent = has_back_reference(statement) or not extract_name_terms(statement)
        starts.append(starts[-1] if starts and dependent else start)
    return starts


def _build_use(number: int, names: Sequence[str], statement: str, context: str) -> CitationUse:
    """Return the use of a document for the words quoted from it, or for the statement."""
    quoted = [quote[2] for quote in QUOTE.finditer(statement) if quote[1] in names]
    words = html.unescape(quoted[-1]) if quoted else statement
    return CitationUse(number, tuple(dict.fromkeys(names)), words, bool(quoted), context)
