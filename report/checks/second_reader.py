"""Select the claims of a text for a second reader, and apply the verdicts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import accumulate, chain, takewhile
from typing import Literal, NamedTuple

from graph.records import DoubtedSentence, Passage, RemovedSentence
from report.checks.claims import (
    classify_statement,
    is_assertion,
    is_assertive_lead,
    is_explanatory_heading,
)
from report.checks.number_sources import complete_citation
from report.checks.sections import SectionKind, find_opening_answer, list_section_kinds
from report.checks.supporting_places import (
    list_supporting_places,
    merge_places,
    widen_place,
)
from report.checks.synonyms import has_word_or_synonym
from report.checks.verification import list_titles, verify_citations
from report.markdown.cited_parts import list_cited_parts
from report.markdown.code import (
    list_code_lines,
    to_inline_code,
)
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    get_block_context,
    list_cited_in_blocks,
    list_prose_blocks,
    list_statements,
    parse_blocks,
    split_statements,
    statement_key,
)
from report.markdown.markers import MARKER, QUOTE, list_cited_ids
from text.normalization import find_quote
from text.script import detect_language
from text.sentences import Span
from text.tokens import bytes_fit, count_tokens
from text.words import search_words

VerdictGrade = Literal["supported", "own", "not_said", "contradicted"]
"""A reader's verdict: the sources say it; it is the writer's own remark and claims nothing of
them; they do not say it; they say otherwise."""

_MARGIN_CHARS = (800, 500, 300, 150)  # on each side of the evidence: the widest that fits
_MAX_EVIDENCE_CHARS = 48_000  # of all pages; beyond it, the smallest margin
_FRAME_TOKENS = 80  # roughly, around a claim or a passage in a request
NUMBERS = frozenset(["number", "other_number", "calculation"])
"""Reasons for doubts that a reader alone does not remove: a source has to have the number."""

DISPUTED = "disputed"
"""The reason for a doubt about a number that the checks miss but the reader accepts."""

_MIN_SOURCE_SHARE = 0.25  # of the words of a claim, in the language of the source
_MAX_CORRECTION_CHARS = 300


class ClaimVerdict(NamedTuple):
    """A reader's verdict on one claim."""

    grade: VerdictGrade
    source: str = ""
    """The id of the source that says it or says otherwise; may be empty."""
    says: str = ""
    """What that source says instead, in its own words."""
    part: str = ""
    """The wrong words of the claim, if the rest is right."""


class ReviewClaim(NamedTuple):
    """A statement as it is shown to a second reader."""

    number: int
    text: str
    reason: str
    """Why it was removed or is doubted; usually empty."""
    sources: tuple[str, ...]
    """The ids of the sources cited by it, or else by its paragraph."""
    head: str = ""
    """The head of its table, if it is a row."""

    code: bool = False
    """Whether it is a line of code, in backticks."""
    inferred: bool = False
    """Whether it stands in an assessment, and is shown as its writer's inference."""


class _Statement(NamedTuple):
    text: str
    sources: tuple[str, ...] = ()
    head: str = ""
    code: bool = False
    heading: bool = False
    section: SectionKind = ""


@dataclass(frozen=True)
class Ruling:
    """The outcome of a second reading; statements are keyed by `statement_key`."""

    upheld: Mapping[str, str] = field(default_factory=dict)
    """Statements kept without doubt, each with a source to cite instead, or ""."""
    faulted: Mapping[str, ClaimVerdict] = field(default_factory=dict)
    """Doubted statements, each with its verdict."""
    completed: Mapping[str, str] = field(default_factory=dict)
    """Statements kept without doubt, each with a source to cite beside its own, or ""."""

    def to_doubt(self, statement: str, reason: str = "") -> DoubtedSentence | None:
        """Return the doubt about a statement, for the reader's reason or else the given one."""
        key = statement_key(statement)
        fault = self.faulted.get(key)
        if key in self.upheld or key in self.completed or not (fault or reason):
            return None
        why = (DISPUTED if fault.grade == "supported" else fault.grade) if fault else reason
        doubted = DoubtedSentence(text=statement.strip(), reason=why)
        if fault and fault.part:
            doubted["part"] = fault.part
        if fault and fault.says:
            doubted |= {"says": fault.says, "source": fault.source}
        return doubted


NO_RULING = Ruling()


def list_claims(
    text: str,
    removed: Sequence[RemovedSentence],
    doubted: Sequence[DoubtedSentence],
    texts: Mapping[str, str],
    left: str = "",
    names: Mapping[str, str] | None = None,
) -> list[ReviewClaim]:
    """Return the claims that a second reader compares with the sources, in the order of the text.

    Quotations, which are verified verbatim, and most headings are left out. Lines of code are in
    backticks. Citations are those of the text after the checks, which may have added a source.

    Args:
        text: Markdown as a model wrote it.
        removed: The sentences that the checks removed from it.
        doubted: The sentences that they doubt in it.
        texts: The full text of each source by its id.
        left: The text after the checks.
        names: The title and the place of each source by its id.
    """
    contested = {statement_key(one["text"]): one["reason"] for one in doubted}
    lost = [one for one in removed if one["reason"] == "no_source"]
    contested |= {statement_key(one["text"]): one["reason"] for one in lost}
    cited = {
        statement_key(one): one for part in parse_blocks(left) for one in list_statements(part)
    }
    verified = verify_citations(text, texts, list_titles(names or {}))
    written = _list_statements(parse_blocks(verified.body), contested)
    return [_to_claim(number, one, cited, contested) for number, one in enumerate(written, start=1)]


def select_fitting_claims(
    shown: Sequence[ReviewClaim], texts: Mapping[str, str], tokens: int
) -> list[ReviewClaim]:
    """Return the claims that fit into `tokens` with their passages, in the order of the text.

    Claims that the checks removed or doubt take precedence.
    """
    ranked = sorted(shown, key=lambda claim: not claim.reason)
    places = [_find_places(claim, texts) for claim in ranked]
    pieces = _pieces(chain.from_iterable(places), texts)
    heads = [f"{claim.head}\n{claim.text}" for claim in ranked]
    frames = _FRAME_TOKENS * (len(heads) + len(pieces))
    if bytes_fit([*heads, *(one["text"] for one in pieces)], tokens - frames):
        return sorted(ranked)
    sizes = [*accumulate(_FRAME_TOKENS + count_tokens(head) for head in heads)]

    def needed(upto: int) -> int:
        """Return how many tokens the first so many claims take with their passages."""
        pieces = _pieces(chain.from_iterable(places[:upto]), texts)
        return sizes[upto - 1] + sum(_FRAME_TOKENS + count_tokens(one["text"]) for one in pieces)

    return sorted(ranked[: bisect_right(range(1, len(ranked) + 1), tokens, key=needed)])


def derive_ruling(
    shown: Sequence[ReviewClaim],
    verdicts: Mapping[int, ClaimVerdict],
    texts: Mapping[str, str] | None = None,
) -> Ruling:
    """Return the ruling that follows from the verdicts on some claims, by their numbers.

    A doubt is removed only if the reader rejects it; if the reader shares it, the reader's reason
    replaces it. A number that its sources lack stays doubted as `DISPUTED` if the reader accepts
    it, unless another source says it of the same, which is then cited, too. A claim that cites the
    wrong source gets the right one. That an inference is `not_said` is no fault, unless a part of
    it is named.

    Args:
        shown: The claims shown to the reader.
        verdicts: Each verdict, with the source to cite or the one that says otherwise.
        texts: The full text of each source by its id.
    """
    completed: dict[str, str] = {}
    upheld: dict[str, str] = {}
    faulted: dict[str, ClaimVerdict] = {}
    for claim in shown:
        judged = verdicts.get(claim.number)
        if not judged:
            continue
        verdict, source = judged.grade, judged.source
        if claim.inferred and verdict == "not_said" and not judged.part:
            continue  # An inference goes beyond its sources, and is shown as one.
        right = verdict == "supported" and source not in list_cited_ids(claim.text)
        if verdict == "supported" and claim.reason in NUMBERS:
            name = complete_citation(claim.reason, claim.text, claim.sources, texts or {})
            if name is None:
                faulted[statement_key(claim.text)] = judged
            else:
                completed[statement_key(claim.text)] = name
        elif verdict in ("supported", "own") and (claim.reason or (right and source)):
            upheld[statement_key(claim.text)] = source if right else ""
        if verdict in ("not_said", "contradicted"):
            faulted[statement_key(claim.text)] = judged
    return Ruling(upheld, faulted, completed)


def validate_verdict(
    judged: ClaimVerdict, claim: ReviewClaim, texts: Mapping[str, str]
) -> ClaimVerdict | None:
    """Return a verdict without words that are not on any page or not in the claim.

    None is returned if the verdict names a new source that shares no words with the claim.

    Args:
        judged: The verdict of the reader; its source may not exist.
        claim: The claim.
        texts: The full text of each source by its id.
    """
    first = judged.source if judged.source in texts else ""
    new = judged.grade == "supported" and judged.source not in ("", *claim.sources)
    if new and not (first and _has_words(claim.text, texts[first])):
        return None
    names = dict.fromkeys(filter(None, [first, *claim.sources, *texts]))
    says = " ".join(judged.says.split()).strip('"“”')
    said_by = next((name for name in names if name in texts and find_quote(says, texts[name])), "")
    whole, part = statement_key(claim.text), statement_key(judged.part)
    return ClaimVerdict(
        judged.grade,
        said_by or first,
        says if said_by and len(says) <= _MAX_CORRECTION_CHARS else "",
        judged.part.strip() if part != whole and part in whole else "",
    )


def _has_words(statement: str, text: str) -> bool:
    """Tell whether a source shares words with a claim; true if the languages differ."""
    wanted = set(search_words(MARKER.sub("", statement)))
    found = sum(has_word_or_synonym(word, text) for word in wanted)
    enough = found >= _MIN_SOURCE_SHARE * len(wanted)
    return enough or detect_language(statement) != detect_language(text)


def list_claim_passages(shown: Sequence[ReviewClaim], texts: Mapping[str, str]) -> list[Passage]:
    """Return the passages of the pages that support the claims, with their surroundings."""
    return _pieces(chain.from_iterable(_find_places(claim, texts) for claim in shown), texts)


def find_draft_passages(
    draft: str,
    removed: Sequence[RemovedSentence],
    doubted: Sequence[DoubtedSentence],
    texts: Mapping[str, str],
) -> list[Passage]:
    """Return the passages that a draft rests on, those of verified quotations included.

    Args:
        draft: Markdown as a model wrote it.
        removed: The sentences that the checks removed from it.
        doubted: The sentences that they doubt in it.
        texts: The full text of each source by its id.
    """
    claims = list_claims(draft, removed, doubted, texts)
    places = [place for claim in claims for place in _find_places(claim, texts)]
    for quote in QUOTE.finditer(draft):
        text = texts.get(quote[1] or "", "")
        at = text.find(unescape(quote[2]))
        if at >= 0:
            places.append((quote[1], Span(at, at + len(quote[2]), text[at : at + len(quote[2])])))
    return _pieces(places, texts)


def _find_places(claim: ReviewClaim, texts: Mapping[str, str]) -> list[tuple[str, Span]]:
    """Return the places in the pages that support a claim."""
    return [
        (name, span)
        for name in claim.sources
        if name in texts
        for said in _list_parts(claim, name)
        for span in list_supporting_places(texts[name], said, claim.text, claim.code)
    ]


def _list_parts(claim: ReviewClaim, name: str) -> list[str]:
    """Return the parts of a claim for which a source is cited; else all of it."""
    parts = [part.text for part in list_cited_parts(claim.text) if name in part.sources]
    return parts or [claim.text]


def _pieces(resting: Iterable[tuple[str, Span]], texts: Mapping[str, str]) -> list[Passage]:
    """Return places of pages as passages, with the widest margin that fits."""
    places = set(resting)
    for beside in _MARGIN_CHARS:
        wide = merge_places(
            sorted((name, widen_place(texts[name], at, beside)) for name, at in places)
        )
        if sum(span.end - span.start for _, span in wide) <= _MAX_EVIDENCE_CHARS:
            break
    return [_to_passage(name, texts[name], span) for name, span in wide]


def _to_passage(name: str, text: str, span: Span) -> Passage:
    passage = Passage(source=name, text=text[span.start : span.end], start=span.start)
    if text[span.end :].strip():
        passage["more"] = True
    return passage


def _to_claim(
    number: int, statement: _Statement, checked: Mapping[str, str], contested: Mapping[str, str]
) -> ReviewClaim:
    """Return a statement as a claim, with the sources that it cites after the checks.

    The claim has a reason if it is contested, or has no source and needs one.
    """
    text, sources, head, code, heading, section = statement
    key = statement_key(text)
    names = tuple(dict.fromkeys(list_cited_ids(checked.get(key, ""))))
    if names and names != tuple(dict.fromkeys(list_cited_ids(text))):
        text, sources = checked[key], names
    prose = not (code or heading or section or list_cited_ids(text))
    needs = prose and classify_statement(text) in ("claim", "unsure")
    reason = contested.get(key, "no_source" if needs else "")
    inferred = section == "assessment"
    return ReviewClaim(number, text.strip(), reason, sources, head, code, inferred)


def _list_statements(
    parts: list[MarkdownBlock], contested: Collection[str]
) -> Iterator[_Statement]:
    """Yield the statements that need a second reader, in the order of the text."""
    prose, kinds = {at for at, _ in list_prose_blocks(parts)}, list_section_kinds(parts)
    own: dict[str, SectionKind] = {find_opening_answer(parts): "assessment"}
    for at, part in enumerate(parts):
        if at in prose:
            said = _prose(parts, at, contested)
            yield from (one._replace(section=own.get(one.text, kinds[at])) for one in said)
        elif part.kind == "fence":
            named = _cited_above(parts, at)
            lines = map(to_inline_code, list_code_lines(part.text))
            yield from (_Statement(line, named, code=True) for line in lines)
        elif part.kind == "heading" and (
            is_assertion(part.text) or is_explanatory_heading(part.text)
        ):
            yield _Statement(f"{part.lead}{part.text}", _cited_below(parts, at), heading=True)


def _prose(parts: list[MarkdownBlock], at: int, contested: Collection[str]) -> Iterator[_Statement]:
    """Yield the statements of a block that claim something or introduce code."""
    part, above = parts[at], get_block_context(parts, at).head
    head = f"|{'|'.join(above)}|" if above else ""
    said = list_statements(part)
    leads = said[-1] if _leads_to_code(parts, at) else None
    for one in said:
        bare = MARKER.sub("", QUOTE.sub("", one))
        cited = list_cited_ids(one)
        idle = not statement_key(bare) or (not cited and classify_statement(one) == "none")
        claimed = idle and is_assertive_lead(bare)
        if statement_key(one) in contested or one is leads or claimed or not idle:
            below = _cited_below(parts, at) if claimed else ()
            named = tuple(dict.fromkeys(cited or list_cited_ids(part.text)))
            yield _Statement(one, named or below, head)


def _leads_to_code(parts: Sequence[MarkdownBlock], at: int) -> bool:
    following = (one.kind for one in parts[at + 1 :] if one.kind != "blank")
    return parts[at].kind in ("text", "item") and next(following, "") == "fence"


def _cited_above(parts: Sequence[MarkdownBlock], at: int) -> tuple[str, ...]:
    """Return the sources of the introduction to a block of code, or else the nearest above it."""
    for part in reversed(parts[:at]):
        named = list_cited_ids(part.text) if part.kind != "fence" else []
        if named:
            last = split_statements(part.text)[-1] if part.kind in ("text", "item") else ""
            return tuple(dict.fromkeys(list_cited_ids(last) or named))
    return ()


def _cited_below(parts: Sequence[MarkdownBlock], at: int) -> tuple[str, ...]:
    """Return the sources of the section below a heading, or of its rest below a line."""
    rank = parts[at].lead.count("#")
    below = takewhile(
        lambda part: part.kind != "heading" or 0 < rank < part.lead.count("#"), parts[at + 1 :]
    )
    return tuple(list_cited_in_blocks(below))
