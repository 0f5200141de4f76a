"""Choose the passages of pages that findings cite, each in its paragraph, within a budget."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from graph.records import Finding, Passage
from report.checks.numbers import list_calculations
from report.evidence_spans import CitationUse, EvidenceSpan, list_evidence
from report.markdown.cited_parts import list_cited_parts
from report.markdown.markdown_blocks import list_prose_blocks, list_statements, parse_blocks
from report.markdown.markers import QUOTE, list_cited_ids
from text.script import detect_language
from text.sentences import list_sentences
from text.text_blocks import find_headings_above, split_blocks
from text.tokens import estimate_tokens
from text.words import search_words

MAX_EVIDENCE_TOKENS = 32_000
"""Limit of the passages of one request, in tokens."""

_PARAGRAPH_CHARS = (1_600, 1_000, 600, 300, 0)  # of a paragraph around evidence: what fits
_FRAME_TOKENS = 40  # roughly, around a passage in a request

_FOREIGN = 4_000
"""A page in another language of at most this many characters is shown whole, if there is room."""

_CALCULATED = 6_000
"""A page that a calculation takes its numbers from is shown whole likewise, if it is no longer."""

_MIN_WORDS = 4  # beside a quotation, for which their own place is looked for

_Place = tuple[str, int, int]
"""The id of a source, and the ends of a part of its text."""


def list_cited_passages(
    findings: Sequence[Finding],
    texts: Mapping[str, str],
    max_tokens: int = MAX_EVIDENCE_TOKENS,
    *,
    whole: Collection[str] = (),
) -> list[Passage]:
    """Return what the citations of findings rest on, each in its paragraph as far as it fits.

    Passages are in the order in which they are first cited. If they do not fit even without their
    paragraphs, those of the last citations are left out.

    Args:
        findings: The findings.
        texts: The full text of each source by its id.
        max_tokens: Limit of all passages together, in tokens.
        whole: The ids of sources that are shown whole if there is room.
    """
    near, wide = (
        [*dict.fromkeys(_find_places(findings, texts, most, shown_whole))]
        for most, shown_whole in ((0, ()), (_FOREIGN, whole))
    )
    tries = [(wide, most) for most in _PARAGRAPH_CHARS[:3]]
    for places, most in [*tries, *((near, most) for most in _PARAGRAPH_CHARS)]:
        passages = _to_passages(places, texts, most)
        if sum(map(_count_tokens, passages)) <= max_tokens:
            return passages
    fitting: list[Passage] = []
    for passage in passages:
        max_tokens -= _count_tokens(passage)
        if max_tokens < 0:
            break
        fitting.append(passage)
    return fitting


def _count_tokens(passage: Passage) -> int:
    return _FRAME_TOKENS + estimate_tokens(passage["text"])


def _find_places(
    findings: Sequence[Finding], texts: Mapping[str, str], foreign: int, whole: Collection[str]
) -> Iterator[_Place]:
    """Yield the places of pages that the statements of findings rest on, in their order.

    Of a page in `whole` it is all of it, and of one of some size that a calculation cites, since
    its numbers may stand far from each other.

    Of a page of at most `foreign` characters in another language it is all of it, since names and
    numbers alone do not tell which of its sentences is meant.
    """
    for finding in findings:
        said = "\n\n".join([finding["text"], *finding.get("disagreements", [])])
        for _, block in list_prose_blocks(parse_blocks(said)):
            for statement in list_statements(block):
                for use in _list_uses(statement, list_cited_ids(block.text)):
                    name = use.sources[0]
                    text = texts.get(name, "")
                    if text and (name in whole or _is_calculated_from(use, text, foreign)):
                        yield (name, 0, len(text))
                        continue
                    found = list_evidence(text, use)
                    if text and len(text) <= foreign and _is_unsure_across(statement, text, found):
                        yield (name, 0, len(text))
                        continue
                    for span in found:
                        yield (name, *_widen_to_whole_lines(text, span))


def _is_calculated_from(use: CitationUse, text: str, foreign: int) -> bool:
    """Tell whether a use works a number out, and its page may be shown whole."""
    fits = foreign > 0 and len(text) <= _CALCULATED
    return fits and not use.quoted and bool(list_calculations(use.statement))


def _is_unsure_across(statement: str, text: str, found: Sequence[EvidenceSpan]) -> bool:
    """Tell whether a page is in another language than a statement, and its place uncertain."""
    certain = any(one.certain for one in found)
    return not certain and detect_language(QUOTE.sub("", statement)) != detect_language(text)


def _list_uses(statement: str, near: Sequence[str]) -> Iterator[CitationUse]:
    """Yield the quotations of a statement, and the rest of each part for its sources."""
    quoted = [(quote[1], quote[2]) for quote in QUOTE.finditer(statement) if quote[1]]
    for name, words in quoted:
        yield CitationUse(0, (name,), words, quoted=True, context=statement)
    for part in list_cited_parts(statement):
        said = QUOTE.sub("", part.text)
        for name in part.sources or (near if not quoted else ()):
            if len(search_words(said)) >= _MIN_WORDS or name not in dict(quoted):
                yield CitationUse(0, (name,), part.text, quoted=False, context=statement)


def _widen_to_whole_lines(text: str, span: EvidenceSpan) -> tuple[int, int]:
    """Return the ends of the evidence; a part of a row of a table is widened to the whole row."""
    start, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    row = text.startswith("|", start)
    return (start, len(text) if end < 0 else end) if row else (span.start, span.end)


def _to_passages(places: Sequence[_Place], texts: Mapping[str, str], most: int) -> list[Passage]:
    """Return places with the paragraphs around them, joined where they overlap or touch."""
    order = {name: at for at, name in reversed([*enumerate(name for name, _, _ in places)])}
    wide = [
        (name, *_widen_to_paragraph(texts[name], start, end, most)) for name, start, end in places
    ]
    joined: list[_Place] = []
    for name, start, end in sorted(set(wide), key=lambda place: (order[place[0]], *place[1:])):
        if joined and joined[-1][0] == name and start <= joined[-1][2] + 1:
            joined[-1] = (name, joined[-1][1], max(joined[-1][2], end))
        else:
            joined.append((name, start, end))
    return [_passage(texts[name], name, start, end) for name, start, end in joined]


def _widen_to_paragraph(text: str, start: int, end: int, most: int) -> tuple[int, int]:
    """Return the ends of the paragraph around a place; a long one is cut between sentences."""
    beside = (most - (end - start)) // 2
    if beside <= 0:
        return start, end
    touched = [block for block in split_blocks(text) if block[0] < end and start < block[1]]
    top = min([start, *(block[0] for block in touched)])
    while text.startswith("#", top) and "\n\n" in text[top:start]:
        top = text.index("\n\n", top) + 2  # What it stands under is told beside it.
    first = max(top, start - beside)
    last = min(max([end, *(block[1] for block in touched)]), end + beside)
    whole = [one for one in list_sentences(text) if first <= one.start and one.end <= last]
    first = min([start, *(one.start for one in whole)]) if first == start - beside else first
    last = max([end, *(one.end for one in whole)]) if last == end + beside else last
    return first, last


def _passage(text: str, name: str, start: int, end: int) -> Passage:
    """Return a part of a page as a passage, with the headings above it."""
    passage = Passage(source=name, text=text[start:end].strip(), start=start)
    if text[end:].strip():
        passage["more"] = True
    above = find_headings_above(text, start)
    return passage | {"under": " › ".join(above)} if above else passage
