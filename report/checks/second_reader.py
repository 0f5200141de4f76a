"""List the claims of a text for a second reader, and keep the verdicts."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Literal, NamedTuple

from graph.records import DoubtedSentence, Passage, RemovedSentence
from report.checks.claims import (
    classify_statement,
    is_assertion,
    is_assertive_lead,
    is_explanatory_heading,
)
from report.checks.synonyms import has_word_or_synonym
from report.checks.verification import verify_citations
from report.evidence_spans import CitationUse, find_evidence
from report.markdown.code import (
    extract_code_names,
    find_similar_code_name,
    list_code_lines,
    to_inline_code,
)
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    get_block_context,
    list_prose_blocks,
    list_statements,
    parse_blocks,
    split_statements,
    statement_key,
)
from report.markdown.markers import MARKER, QUOTE, list_cited_ids
from text.normalization import find_quote
from text.regex import regex
from text.script import detect_language
from text.sentences import Span
from text.tokens import bytes_fit, count_tokens
from text.words import search_words

VerdictGrade = Literal["supported", "own", "not_said", "contradicted"]
"""What a reader says of a statement: its sources say it; it claims nothing of them, being the
writer's own remark; they do not say it; they say otherwise."""

_MARGIN_CHARS = (800, 500, 300, 150)  # on each side of the evidence: as many as fit
_MAX_EVIDENCE_CHARS = 32_000  # of all pages; for more, the smallest margin
_FRAME_TOKENS = 80  # around a claim or a piece of a page in a request, about
NUMBERS = frozenset(["number", "other_number", "calculation"])
"""Reasons to doubt that a reader may weaken, and not lift."""

DISPUTED = "disputed"
"""The reason to doubt a number that the checks do not find and the reader accepts."""

_MIN_SOURCE_SHARE = 0.25  # of the words of a claim, in the language of the source
_MAX_CORRECTION_CHARS = 300
_WINDOW_CHARS = 500  # of a page that has no words of the statement
_ANCHOR = regex(r"-{0,2}[A-Za-z_][A-Za-z0-9_.-]{2,}|-[A-Za-z0-9]\b|\d[\d.,]*\d|\d")
_CODE = regex(r"`([^`\n]+)`")


class ClaimVerdict(NamedTuple):
    """What a reader says of one claim."""

    grade: VerdictGrade
    source: str = ""
    """The id of the source that says it, or that says otherwise; or nothing."""
    says: str = ""
    """What that source says instead, in its own words."""
    part: str = ""
    """The words of the claim that are wrong, where the rest is right."""


class ReviewClaim(NamedTuple):
    """A statement of a text, as a second reader is shown it."""

    number: int
    text: str
    reason: str
    """Why it was taken out or is doubted; empty for most."""
    sources: tuple[str, ...]
    """The ids of the sources that it cites, or that its paragraph cites."""
    head: str = ""
    """The head of its table, if it is a row of one."""

    code: bool = False
    """Whether it is a line of code, which stands between backticks."""


class _Said(NamedTuple):
    text: str
    sources: tuple[str, ...] = ()
    head: str = ""
    code: bool = False
    heading: bool = False


@dataclass(frozen=True)
class Ruling:
    """What a second reader says; a statement is known by its letters and numbers."""

    upheld: Mapping[str, str] = field(default_factory=dict)
    """Statements that stay and are not doubted, each with the source that it shall cite, or ""."""
    faulted: Mapping[str, ClaimVerdict] = field(default_factory=dict)
    """Statements to be doubted, each with what the reader says of it."""

    def to_doubt(self, statement: str, reason: str = "") -> DoubtedSentence | None:
        """Return the doubt in a statement: for the reader's reason, or the one that is given."""
        name = statement_key(statement)
        fault = self.faulted.get(name)
        if name in self.upheld or not (fault or reason):
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
) -> list[ReviewClaim]:
    """Return what a second reader shall compare with the sources, in the order of the text.

    Quotations are compared to the letter already, and most headings claim nothing. A line of code
    stands between backticks. A statement cites what it cites in the text that the checks left: they
    may have given it a source, and the reader shall see that one.

    Args:
        text: Markdown as a model wrote it.
        removed: What the checks took out of it.
        doubted: What they doubt in it.
        texts: The full text of each source by its id.
        left: What the checks left of it.
    """
    contested = {statement_key(one["text"]): one["reason"] for one in doubted}
    lost = [one for one in removed if one["reason"] == "no_source"]
    contested |= {statement_key(one["text"]): one["reason"] for one in lost}
    cited = {
        statement_key(one): one for part in parse_blocks(left) for one in list_statements(part)
    }
    written = _said(parse_blocks(verify_citations(text, texts).body), contested)
    said = (_as_cited(one, cited.get(statement_key(one.text), "")) for one in written)
    return [
        ReviewClaim(
            number, one.text.strip(), _reason(one, contested), one.sources, one.head, one.code
        )
        for number, one in enumerate(said, start=1)
    ]


def select_fitting_claims(
    shown: Sequence[ReviewClaim], texts: Mapping[str, str], tokens: int
) -> list[ReviewClaim]:
    """Return the claims that fit into so many tokens with the pieces of the pages they rest on.

    Those come first that the checks hold something against. They are in the order of the text.
    """
    ranked = sorted(shown, key=lambda claim: not claim.reason)
    places = [_resting(claim, texts) for claim in ranked]
    pieces = _pieces(chain.from_iterable(places), texts)
    heads = [f"{claim.head}\n{claim.text}" for claim in ranked]
    frames = _FRAME_TOKENS * (len(heads) + len(pieces))
    if bytes_fit([*heads, *(one["text"] for one in pieces)], tokens - frames):
        return sorted(ranked)
    said = [*accumulate(_FRAME_TOKENS + count_tokens(head) for head in heads)]

    def needed(upto: int) -> int:
        pieces = _pieces(chain.from_iterable(places[:upto]), texts)
        return said[upto - 1] + sum(_FRAME_TOKENS + count_tokens(one["text"]) for one in pieces)

    return sorted(ranked[: bisect_right(range(1, len(ranked) + 1), tokens, key=needed)])


def derive_ruling(shown: Sequence[ReviewClaim], verdicts: Mapping[int, ClaimVerdict]) -> Ruling:
    """Return what follows from the verdicts on some claims, by their numbers.

    A doubt is only lifted where the reader says so; where the reader shares it, the reader's reason
    takes its place. A number that no source has stays doubted, as one that the reader accepts. A
    claim that cites the wrong source is given the right one.

    Args:
        shown: The claims that the reader was shown.
        verdicts: Each verdict, with the source that the claim shall cite, or that says otherwise.
    """
    upheld: dict[str, str] = {}
    faulted: dict[str, ClaimVerdict] = {}
    for claim in shown:
        judged = verdicts.get(claim.number)
        if not judged:
            continue
        verdict, source = judged.grade, judged.source
        right = verdict == "supported" and source not in list_cited_ids(claim.text)
        if verdict == "supported" and claim.reason in NUMBERS:
            faulted[statement_key(claim.text)] = judged
        elif verdict in ("supported", "own") and (claim.reason or (right and source)):
            upheld[statement_key(claim.text)] = source if right else ""
        if verdict in ("not_said", "contradicted"):
            faulted[statement_key(claim.text)] = judged
    return Ruling(upheld, faulted)


def validate_verdict(
    judged: ClaimVerdict, claim: ReviewClaim, texts: Mapping[str, str]
) -> ClaimVerdict | None:
    """Return what a reader says of a claim, without words that are in no page or in no claim.

    That a source says it counts only of one that has words of the claim.

    Args:
        judged: What the reader says; the source may be one that there is not.
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


def _has_words(said: str, text: str) -> bool:
    """Tell whether a source in the language of a claim has words of it, in whatever form."""
    wanted = set(search_words(MARKER.sub("", said)))
    found = sum(has_word_or_synonym(word, text) for word in wanted)
    return detect_language(said) != detect_language(text) or found >= _MIN_SOURCE_SHARE * len(
        wanted
    )


def list_claim_passages(shown: Sequence[ReviewClaim], texts: Mapping[str, str]) -> list[Passage]:
    """Return the pieces of the pages that the claims rest on, with what stands around them."""
    return _pieces(chain.from_iterable(_resting(claim, texts) for claim in shown), texts)


def _resting(claim: ReviewClaim, texts: Mapping[str, str]) -> list[tuple[str, Span]]:
    """Return the places in the pages that a claim rests on."""
    named = (name for name in claim.sources if name in texts)
    return [(name, span) for name in named for span in _places(texts[name], claim)]


def _pieces(resting: Iterable[tuple[str, Span]], texts: Mapping[str, str]) -> list[Passage]:
    """Return some places of pages with what is around them, as much as there is room for."""
    places = set(resting)
    for beside in _MARGIN_CHARS:
        wide = _apart(sorted((name, _widened(texts[name], at, beside)) for name, at in places))
        if sum(span.end - span.start for _, span in wide) <= _MAX_EVIDENCE_CHARS:
            break
    return [
        Passage(source=name, text=texts[name][span.start : span.end], start=span.start)
        for name, span in wide
    ]


def _as_cited(said: _Said, left: str) -> _Said:
    """Return a statement with the sources that it cites in the text that the checks left."""
    named = tuple(dict.fromkeys(list_cited_ids(left)))
    changed = named and named != tuple(dict.fromkeys(list_cited_ids(said.text)))
    return said._replace(text=left, sources=named) if changed else said


def _reason(said: _Said, contested: Mapping[str, str]) -> str:
    """Return why a statement needs a verdict; one that is given a source needs it, too."""
    prose = not said.code and not said.heading
    needs = (
        prose
        and not list_cited_ids(said.text)
        and classify_statement(said.text) in ("claim", "unsure")
    )
    return contested.get(statement_key(said.text), "no_source" if needs else "")


def _said(parts: list[MarkdownBlock], contested: Collection[str]) -> Iterator[_Said]:
    """Yield the statements that need a second reader, in the order of the text."""
    told = {at for at, _ in list_prose_blocks(parts)}
    for at, part in enumerate(parts):
        if at in told:
            yield from _prose(parts, at, contested)
        elif part.kind == "fence":
            named = _cited_above(parts, at)
            yield from (
                _Said(to_inline_code(one), named, code=True) for one in list_code_lines(part.text)
            )
        elif part.kind == "heading" and (
            is_assertion(part.text) or is_explanatory_heading(part.text)
        ):
            yield _Said(f"{part.lead}{part.text}", _cited_below(parts, at), heading=True)


def _prose(parts: list[MarkdownBlock], at: int, contested: Collection[str]) -> Iterator[_Said]:
    """Yield the statements of a block that claim something, or lead on to code."""
    part, above = parts[at], get_block_context(parts, at).head
    head = f"|{'|'.join(above)}|" if above else ""
    said = list_statements(part)
    leads = said[-1] if _leads_to_code(parts, at) else None
    for one in said:
        bare = MARKER.sub("", QUOTE.sub("", one))
        idle = not statement_key(bare) or (
            not list_cited_ids(one) and classify_statement(one) == "none"
        )
        claimed = idle and is_assertive_lead(bare)
        if statement_key(one) in contested or one is leads or claimed or not idle:
            below = _cited_below(parts, at) if claimed else ()
            yield _Said(
                one,
                tuple(dict.fromkeys(list_cited_ids(one) or list_cited_ids(part.text))) or below,
                head,
            )


def _leads_to_code(parts: Sequence[MarkdownBlock], at: int) -> bool:
    following = (one.kind for one in parts[at + 1 :] if one.kind != "blank")
    return parts[at].kind in ("text", "item") and next(following, "") == "fence"


def _cited_above(parts: Sequence[MarkdownBlock], at: int) -> tuple[str, ...]:
    """Return the sources of what leads on to some code, or else the next ones above it."""
    for part in reversed(parts[:at]):
        named = list_cited_ids(part.text) if part.kind != "fence" else []
        if named:
            last = (
                list_cited_ids(split_statements(part.text)[-1])
                if part.kind in ("text", "item")
                else []
            )
            return tuple(dict.fromkeys(last or named))
    return ()


def _cited_below(parts: Sequence[MarkdownBlock], at: int) -> tuple[str, ...]:
    """Return the sources of the section below a heading, or of what is left of it below a line."""
    rank, named = parts[at].lead.count("#"), list[str]()
    for part in parts[at + 1 :]:
        if part.kind == "heading" and (not rank or part.lead.count("#") <= rank):
            break
        named += list_cited_ids(part.text) if part.kind != "fence" else []
    return tuple(dict.fromkeys(named))


def _places(text: str, claim: ReviewClaim) -> Iterator[Span]:
    """Yield where a page says what is nearest to a claim, and where it has the code in it."""
    said = MARKER.sub("", claim.text)
    if claim.code:
        yield from _named(text, said)
        return
    near = find_evidence(text, CitationUse(0, (), claim.text, quoted=False))
    found = Span(near.start, near.end, "") if near else _anchored(text, said)
    yield found
    code = [one.strip() for one in _CODE.findall(said)]
    if any(one not in text[found.start : found.end] and one in text for one in code):
        yield _anchored(text, " ".join(code))


def _named(text: str, code: str) -> Iterator[Span]:
    """Yield where a page explains what a line of code sets or calls, or what is named like it."""
    places = (find_similar_code_name(one.name, text) for one in extract_code_names(code.strip("`")))
    yield from (Span(at, at + 1, "") for at in places if at is not None)


def _anchored(text: str, said: str) -> Span:
    """Return the part of a page with most of the names and numbers of what is said."""
    wanted = {one[0].lower() for one in _ANCHOR.finditer(said)}
    where = [
        (one.start() // _WINDOW_CHARS, one[0].lower())
        for one in _ANCHOR.finditer(text)
        if one[0].lower() in wanted
    ]
    counted = Counter(window for window, _ in set(where))
    best = max(counted, key=lambda window: (counted[window], -window), default=0)
    return Span(best * _WINDOW_CHARS, min((best + 1) * _WINDOW_CHARS, len(text)), "")


def _widened(text: str, span: Span, beside: int) -> Span:
    """Return a part of a page with what is around it, cut between words."""
    start, end = max(0, span.start - beside), min(len(text), span.end + beside)
    start = text.rfind(" ", max(0, start - 40), start) + 1 or start
    following = text.find(" ", end, end + 40)
    return Span(start, following if following >= 0 else end, "")


def _apart(wide: Sequence[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Return parts of pages, those of one page joined that overlap."""
    found: list[tuple[str, Span]] = []
    for name, span in wide:
        if found and found[-1][0] == name and span.start <= found[-1][1].end:
            before = found[-1][1]
            found[-1] = (name, Span(before.start, max(before.end, span.end), ""))
        else:
            found.append((name, span))
    return found
