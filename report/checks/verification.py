"""Check the citations and quotations that a model wrote against the stored text of its sources."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from graph.records import RemovedSentence, ReportQuote
from report.checks.caveats import is_absence_remark, is_own_inference
from report.checks.claims import (
    has_model_instructions,
    is_requester_wish,
    is_user_preference,
    strip_transition,
)
from report.checks.quotation_search import QUOTE_NEGATION, QuotablePages, QuotationPiece
from report.checks.sections import list_section_kinds
from report.citations import SECTION_SEPARATOR
from report.markdown.code import list_inline_code, mask_code, unmask_code
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    drop_removed_blocks,
    join_blocks,
    list_cited_in_blocks,
    list_statements,
    map_code,
    parse_blocks,
    split_statements,
    statement_key,
)
from report.markdown.markers import (
    MARKER,
    QUOTE,
    QUOTED_WORDS,
    blank_quotations,
    is_quotation_length,
    list_cited_ids,
    map_outside_quotations,
    mark_bare_ids,
    normalize_marks,
    normalize_round_markers,
)
from report.markdown.sanitizer import (
    ADDRESS_PATTERN,
    cut_link_referral,
    get_end_mark,
    is_link_referral,
    neutralize_domains,
    strip_code_addresses,
    strip_framing,
)
from text.pattern_files import PatternFile
from text.regex import regex, replace_spans
from text.script import HAN

_PATTERNS = PatternFile("report.checks", "verification.toml")

_OPENING_MARKS = "\"'“”„«»「」『』‘’‹›＂ \n\t…⋯.-–—"
_CLOSING_MARKS = _OPENING_MARKS + ",;:!?。，；：！？、"
_MAX_REPLACED_CHARS = 150  # of a source, replaced by words in brackets
_MIN_PIECE_WORDS = 2
_MIN_NAME_SIGNS = 3  # Chinese characters and digits


class QuotationSpan(NamedTuple):
    """Words that a statement attributes to a source: `statement[start:end]`."""

    start: int
    end: int
    source: str
    """The source that the quotation names; empty if only the statement names one."""
    words: str
    marked: bool
    """Whether it is in `<q>` rather than in quotation marks."""
    written: str = ""
    """The words before unescaping, for sources that contain `&lt;` themselves."""


def list_titles(names: Mapping[str, str]) -> frozenset[str]:
    """Return the titles of sources as words in quotation marks are compared with them.

    Args:
        names: The title of each source by its id, and below it its place and its date.
    """
    whole = (name.partition("\n")[0] for name in names.values())
    parts = (part for title in whole for part in (title, *title.split(SECTION_SEPARATOR)))
    return frozenset(plain_title(_PATTERNS.part_number.sub("", part)) for part in parts)


def plain_title(title: str) -> str:
    """Return the words of a title as titles are compared."""
    return " ".join(re.findall(r"\w+", title.casefold()))


def find_quotations(statement: str, titles: Collection[str] = frozenset()) -> list[QuotationSpan]:
    """Return the quotations of a statement, in order.

    Words in quotation marks count if they are long enough and the statement has a citation, but
    not within code, where quotation marks belong to the code, nor where they are a title of a
    source.
    """
    marked = [
        QuotationSpan(*quote.span(), quote[1] or "", html.unescape(quote[2]), True, quote[2])
        for quote in QUOTE.finditer(statement)
    ]
    if not list_cited_ids(statement):
        return marked
    codes = list_inline_code(statement)
    spoken = [
        QuotationSpan(*quote.span(), "", quote[quote.lastgroup or 0], False)
        for quote in QUOTED_WORDS.finditer(blank_quotations(statement))
        if not any(code.start < quote.start() and quote.end() < code.end for code in codes)
    ]
    plain = [
        one
        for one in spoken
        if is_quotation_length(one.words)
        and "\0" not in one.words
        and plain_title(one.words) not in titles
    ]
    return sorted([*marked, *plain])


def _list_readings(quotation: QuotationSpan) -> list[str]:
    """Return the readings of a quotation, from the most literal to the loosest.

    Markers, emphasis and the punctuation at the ends may be the writer's. In a marked quotation,
    whose words are replaced by those of the source, so may the case of the first letter.
    """
    exact = quotation.words.strip()
    unmarked = MARKER.sub("", html.unescape(exact))
    plain = _PATTERNS.emphasis.sub("", unmarked).strip()
    bare = plain.lstrip(_OPENING_MARKS).rstrip(_CLOSING_MARKS)
    readings = [exact, unmarked.strip(), plain, bare]
    if quotation.marked:
        readings.append(quotation.written.strip())
        readings += [reading[:1].swapcase() + reading[1:] for reading in (plain, bare)]
    return [*dict.fromkeys(filter(None, readings))]


def _split_quotation(quotation: QuotationSpan) -> list[QuotationPiece]:
    """Return the pieces of a quotation, cut where its writer omitted or inserted words.

    None are returned if a piece is too short to be recognized in a source, or if an insertion
    negates something.
    """
    text = _PATTERNS.letter.sub(r"\1", MARKER.sub("", html.unescape(quotation.words)))
    pieces: list[QuotationPiece] = []
    joint, reach, at = "", None, 0
    for cut in [*_PATTERNS.omission.finditer(text), None]:
        words = text[at : cut.start() if cut else len(text)].strip(_CLOSING_MARKS)
        if any(map(str.isalnum, words)):
            pieces.append(QuotationPiece(words, joint, reach if pieces else None))
            joint = ""
        if cut:
            joint, reach, at = joint + cut[0], _max_replaced(cut), cut.end()
    starts = [at for at, piece in enumerate(pieces) if piece.reach is None]
    runs = [pieces[start:end] for start, end in pairwise([*starts, len(pieces)])]
    inserted = "".join(cut[0] for cut in _PATTERNS.omission.finditer(text) if _max_replaced(cut))
    short = [run for run in runs if not _is_long(run)]
    # A piece such as "In addition" only links a sentence to the one before it.
    allowed = [run for run in runs[:1] if not strip_transition(f"{run[0].words}, ").strip(" ,")]
    if QUOTE_NEGATION.search(inserted) or short not in ([], allowed):
        return []
    return [*pieces, QuotationPiece("", joint.rstrip())] if joint.strip() and pieces else pieces


def _max_replaced(cut: re.Match[str]) -> int | None:
    """Return how many characters of a source a cut may replace; None for any number."""
    if cut["dots"] or cut["bare"]:
        return None
    return 0 if cut["remark"] else _MAX_REPLACED_CHARS


def _is_long(run: Sequence[QuotationPiece]) -> bool:
    words = " ".join(piece.words for piece in run)
    signs = re.findall(f"[{HAN}\\d]", words)
    return len(words.split()) >= _MIN_PIECE_WORDS or (
        len(signs) >= _MIN_NAME_SIGNS and not all(map(str.isdigit, signs))
    )


_MARKER = regex(f" ?{MARKER.pattern}")
_FOLLOWING = regex(rf"[.,;:!?。，；：！？]?\s*((?:{MARKER.pattern})+)")
_STOP = regex(r"([.!?。！？])[\s\"'”’」』»]*$")
_STOPS = tuple(".,;:!?。，；：！？")

_Edits = dict[tuple[int, int], str]  # replacements by start and end in a statement


class _JudgedStatement(NamedTuple):
    """The checked text of a statement, its quotations, and the reason if it was removed."""

    text: str
    quotes: list[ReportQuote]
    reason: str = ""


class _VerbatimQuotation(NamedTuple):
    """A quotation, the source that has it, and the words of that source."""

    quotation: QuotationSpan
    source: str
    words: str
    parts: tuple[str, ...] = ()
    """Its pieces in the words of the source, if words were omitted or inserted."""
    joints: tuple[str, ...] = ()
    """The writer's marks before each piece and after the last one."""


def _judge_statement(
    statement: str, pages: QuotablePages, titles: Collection[str], *, own: bool = False
) -> _JudgedStatement:
    """Return a statement with verified quotations and markers.

    A quotation found in another source is attributed to it. A statement is removed if no source
    has its quotation, or if all its citations are unknown; one that is its writer's `own`, or says
    so, only loses these citations.
    """
    proven: list[_VerbatimQuotation] = []
    for quotation in find_quotations(statement, titles):
        found = _find_verbatim(quotation, [quotation.source, *list_cited_ids(statement)], pages)
        if found is None:
            named = [*filter(None, [quotation.source, *list_cited_ids(statement)])]
            unshown = named and not any(name in pages.texts for name in named)
            return _JudgedStatement("", [], "quote_not_shown" if unshown else "quote_not_found")
        proven.append(found)
    marked = bool(MARKER.search(blank_quotations(statement)))
    text = map_outside_quotations(
        _correct_quotations(statement, proven), lambda part: _drop_markers(part, (), pages)
    )
    own_words = QUOTED_WORDS.sub("", MARKER.sub("", blank_quotations(statement)).replace("\0", ""))
    if proven and not any(map(str.isalnum, own_words)):
        text = map_outside_quotations(text, lambda part: _drop_markers(part, proven, pages))
    if marked and not list_cited_ids(text) and not (own or _is_own(text)):
        return _JudgedStatement("", [], "unknown_source")
    quotes = [
        ReportQuote(source=one.source, text=words)
        for one in proven
        for words in one.parts or [one.words]
    ]
    return _JudgedStatement(text, quotes)


def _is_own(statement: str) -> bool:
    """Tell whether a statement says what was not found, or that it is its writer's inference."""
    return is_absence_remark(statement) or is_own_inference(statement)


def _find_verbatim(
    quotation: QuotationSpan, named: Sequence[str], pages: QuotablePages
) -> _VerbatimQuotation | None:
    """Return a quotation with the source that has it, whole or in pieces."""
    whole = pages.find(_list_readings(quotation), named)
    if whole:
        # Web addresses are never shown, not even in a quotation.
        words = max(ADDRESS_PATTERN.split(whole[1]), key=len).strip()
        return _VerbatimQuotation(quotation, whole[0], words)
    pieces = _split_quotation(quotation)
    found = pages.find_pieces(pieces, named) if pieces else None
    if found is None or any(map(ADDRESS_PATTERN.search, found[1])):
        return None
    source, parts = found
    joints = tuple(piece.joint for piece in pieces)
    return _VerbatimQuotation(quotation, source, parts[0], tuple(parts), joints)


def _drop_markers(text: str, proven: Sequence[_VerbatimQuotation], pages: QuotablePages) -> str:
    """Return a text without markers of unknown sources, or of those without its quotations."""

    def keep(marker: re.Match[str]) -> str:
        """Return a marker if its source has a quotation, or is known where nothing is quoted."""
        matches = (pages.find([one.words], [marker[1]]) for one in proven)
        known = any(found and found[0] == marker[1] for found in matches)
        return marker[0] if (known if proven else marker[1] in pages.texts) else ""

    return _MARKER.sub(keep, text)


def _correct_quotations(statement: str, proven: Sequence[_VerbatimQuotation]) -> str:
    """Return a statement with each quotation in the words of its source, and attributed to it."""
    markers = list(MARKER.finditer(blank_quotations(statement)))
    edits: _Edits = {}
    for one in proven:
        if one.quotation.marked:
            edits |= _rewrite_marked(statement, one, markers)
        elif one.source not in list_cited_ids(statement):
            edits |= _attribute_words(one, markers, {other.source for other in proven}, edits)
    return replace_spans(statement, ((*span, new) for span, new in sorted(edits.items())))


def _rewrite_marked(
    statement: str, one: _VerbatimQuotation, markers: Sequence[re.Match[str]]
) -> _Edits:
    """Return the edits that correct a marked quotation and the markers after it."""
    quotation = one.quotation
    following = _FOLLOWING.match(statement, quotation.end)
    end = following.end() if following and quotation.source != one.source else quotation.end
    wrong = [
        marker
        for marker in markers
        if quotation.end <= marker.start() < end and marker[1] in (quotation.source, "?")
    ]
    joints = one.joints or ("",)
    marked = "".join(
        f'{joint}<q s="{one.source}">{html.escape(words, quote=False)}</q>'
        for joint, words in zip(joints, one.parts or [one.words], strict=False)
    )
    marked += "".join(joints[len(one.parts) :]) if one.parts else ""
    stop = _STOP.search(quotation.words)
    if stop and not one.words.endswith(stop[1]) and statement[quotation.end :][:1] not in _STOPS:
        marked += stop[1]
    edits = {(quotation.start, quotation.end): marked}
    return edits | {marker.span(): f"[{one.source}]" for marker in wrong}


def _attribute_words(
    one: _VerbatimQuotation, markers: Sequence[re.Match[str]], needed: set[str], edits: _Edits
) -> _Edits:
    """Return the edit that attributes words in quotation marks to the source that has them.

    The nearest marker is changed, unless another quotation needs it.
    """
    after = [marker for marker in markers if marker.start() >= one.quotation.start]
    nearest = after[0] if after else markers[-1] if markers else None
    if nearest and nearest[1] not in needed and nearest.span() not in edits:
        return {nearest.span(): f"[{one.source}]"}
    return {(one.quotation.end, one.quotation.end): f"[{one.source}]"}


_MAX_PASSES = 6  # until nothing changes


class VerifiedText(NamedTuple):
    """A text in which every marker names a source and every quotation stands in its source."""

    body: str
    cited: list[str]
    """The ids of the sources in the order of their first use."""
    quotes: list[ReportQuote]
    removed: list[RemovedSentence]


def verify_citations(
    body: str, texts: Mapping[str, str], titles: Collection[str] = frozenset()
) -> VerifiedText:
    """Return `body` with verified citations and quotations.

    Addresses, links, images, HTML and thoughts are stripped, the spelling of markers and quotations
    is normalized, and quotations found in another source are attributed to it. A sentence that
    cites only unknown sources, or quotes what no source has, is removed. The check is idempotent.

    Args:
        body: Markdown as a model wrote it.
        texts: The full text of each source by its id.
        titles: What `list_titles` returns for the sources: no words that one of them says.
    """
    pages = QuotablePages(texts)
    removed: list[RemovedSentence] = []
    for _ in range(_MAX_PASSES):
        checked = _verify_once(body, pages, titles)
        removed += checked.removed
        if checked.body == body:
            break
        body = checked.body
    return checked._replace(removed=removed)


def _verify_once(body: str, pages: QuotablePages, titles: Collection[str]) -> VerifiedText:
    quotes: list[ReportQuote] = []
    removed: list[RemovedSentence] = []
    known = list(pages.texts.values())
    body = map_code(strip_framing(body), lambda code: strip_code_addresses(code, known))
    parts = parse_blocks(normalize_round_markers(body, pages.texts))
    kinds = list_section_kinds(parts)
    for at, part in enumerate(parts):
        if part.kind not in ("blank", "rule", "fence"):
            text = _verify_block(part, pages, titles, quotes, removed, own=bool(kinds[at]))
            parts[at] = part._replace(text=text, kind=part.kind if text else "gone")
    kept = drop_removed_blocks(parts)
    return VerifiedText(join_blocks(kept), list_cited_in_blocks(kept), quotes, removed)


def _verify_block(
    part: MarkdownBlock,
    pages: QuotablePages,
    titles: Collection[str],
    quotes: list[ReportQuote],
    removed: list[RemovedSentence],
    *,
    own: bool = False,
) -> str:
    """Return the checked text of a block; record its quotations and removed statements.

    A row of a table is one statement.
    """
    before = len(removed)
    text = part.text if part.kind == "row" else _cut_referrals(part.text, removed)
    text = _normalize_block(text, pages.texts)
    kept: list[str] = []
    for statement in [text] if part.kind == "row" else split_statements(text):
        judged = _judge_address(statement, pages) or _judge_statement(
            statement, pages, titles, own=own
        )
        kept.append(_without_domains(judged.text))
        quotes += judged.quotes
        if judged.reason:
            removed.append(RemovedSentence(text=statement.strip(), reason=judged.reason))
    rest = "".join(kept).strip()
    empty = not any(map(str.isalnum, MARKER.sub("", rest)))
    return "" if empty and len(removed) > before else rest


def _normalize_block(text: str, texts: Mapping[str, str]) -> str:
    return normalize_marks(mark_bare_ids(normalize_marks(text), texts))


def replace_statements(body: str, texts: Mapping[str, str], others: Mapping[str, str]) -> str:
    """Return a text as it is checked, with others in place of some of its statements.

    Args:
        body: Markdown as a model wrote it.
        texts: The full text of each source by its id.
        others: What stands in the place of each statement, by its `statement_key`; may be "".
    """
    parts = parse_blocks(normalize_round_markers(strip_framing(body), texts))
    for at, part in enumerate(parts):
        if part.kind not in ("blank", "rule", "fence"):
            block = part._replace(text=_normalize_block(part.text, texts))
            statements = [
                others.get(statement_key(one), one.strip()) + one[len(one.rstrip()) :]
                for one in list_statements(block)
            ]
            text = "".join(statements).strip()
            parts[at] = block._replace(text=text, kind=part.kind if text else "gone")
    return join_blocks(drop_removed_blocks(parts))


def _cut_referrals(text: str, removed: list[RemovedSentence]) -> str:
    """Return a block without referrals to web addresses; record what was removed."""
    kept: list[str] = []
    for statement in split_statements(text):
        rest = cut_link_referral(blank_quotations(statement))
        if rest is None:
            kept.append(statement)
            continue
        claim = statement[: len(rest)] if any(map(str.isalnum, rest)) else ""
        referral = statement[len(claim) :]
        removed.append(RemovedSentence(text=referral.strip(" ,，;；\n"), reason="address"))
        if claim:
            names = [] if list_cited_ids(claim) else MARKER.findall(referral)
            marks = "".join(f"[{name}]" for name in names)
            kept.append(f"{claim.rstrip()}{marks and ' '}{marks}{get_end_mark(statement)}")
    return "".join(kept)


def _judge_address(statement: str, pages: QuotablePages) -> _JudgedStatement | None:
    """Remove a referral to an address, or a wish ascribed to the user; None for anything else."""
    text = blank_quotations(statement)
    if is_link_referral(text):
        return _JudgedStatement("", [], "address")
    if is_requester_wish(text) or _is_planted_preference(text, pages):
        return _JudgedStatement("", [], "wish")
    return None


def _is_planted_preference(statement: str, pages: QuotablePages) -> bool:
    """Tell whether a statement takes a user's preference from a page with orders to models."""
    if not is_user_preference(statement):
        return False
    named = [name for name in list_cited_ids(statement) if name in pages.texts]
    return any(has_model_instructions(pages.texts[name]) for name in named or pages.texts)


def _without_domains(statement: str) -> str:
    """Return a statement without bare domains in its prose."""
    masked, codes = mask_code(statement)
    return unmask_code(map_outside_quotations(masked, neutralize_domains), codes)
