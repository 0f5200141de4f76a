"""Check the citations and quotations that a model wrote against the stored text of its sources."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from graph.records import RemovedSentence, ReportQuote
from report.checks.claims import (
    has_model_instructions,
    is_requester_wish,
    is_user_preference,
    strip_transition,
)
from report.checks.quotation_search import QUOTE_NEGATION, QuotablePages, QuotationPiece
from report.markdown.code import mask_code, unmask_code
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    drop_removed_blocks,
    join_blocks,
    parse_blocks,
    split_statements,
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
    strip_framing,
)
from text.regex import regex
from text.script import CJK, HAN

_EMPHASIS = regex(r"\*+|(?<!\w)_+|_+(?!\w)|`")
_OPENING = "\"'“”„«»「」『』‘’‹›＂ \n\t…⋯.-–—"
_CLOSING = _OPENING + ",;:!?。，；：！？、"
_LETTER = regex(rf"\[([^\W_{CJK}])\](?=[^\W\d_{CJK}])")
"""A letter that was made a capital or a small one, as in `[T]he`."""

_DOTS = r"(?:\.{2,}|…+|⋯+|。{2,})"
_REMARK = (
    r"sic!?|(?:emphasis|italics)\s+(?:is\s+)?(?:added|mine|ours|supplied|in\s+(?:the\s+)?original)"
    r"|原文如此|(?:着重|强调|強調|重点|重點)(?:号|號)?(?:为|為|系|由)?(?:引者|笔者|筆者|作者)?所?加"
)
_LEFT_OUT = regex(
    rf"\s*(?:[\[(（［〔【]\s*(?:(?P<dots>{_DOTS}|[前中后後下]?略)|(?P<remark>{_REMARK}))\s*[\])）］〕】]"
    rf"|(?P<bare>{_DOTS})|(?:\b[a-z]+\[[a-z'’]{{1,4}}\]|[\[［〔【](?!S\d|\?)[^\[\]［］〔〕【】\n]{{1,40}}[\]］〕】]))\s*",
    re.IGNORECASE,
)
"""What stands for words that are left out of a quotation, or that its writer put into it."""

_MAX_REPLACED_CHARS = 150  # of a source, by words in brackets
_MIN_PIECE_WORDS = 2
_MIN_NAME_SIGNS = 3  # Chinese characters and digits


class QuotationSpan(NamedTuple):
    """Words that a statement says stand in a source: `statement[start:end]`."""

    start: int
    end: int
    source: str
    """The source it names itself, or nothing where the statement names it."""
    words: str
    marked: bool
    """Whether it is marked `<q>`, and not only set in quotation marks."""
    written: str = ""
    """The words as they are written, where a source may itself have `&lt;` in it."""


def find_quotations(statement: str) -> list[QuotationSpan]:
    """Return the quotations of a statement, in order.

    Words in quotation marks count where the statement cites something and they are long enough.
    """
    marked = [
        QuotationSpan(*quote.span(), quote[1] or "", html.unescape(quote[2]), True, quote[2])
        for quote in QUOTE.finditer(statement)
    ]
    if not list_cited_ids(statement):
        return marked
    spoken = [
        QuotationSpan(*quote.span(), "", quote[quote.lastgroup or 0], False)
        for quote in QUOTED_WORDS.finditer(blank_quotations(statement))
    ]
    plain = [one for one in spoken if is_quotation_length(one.words) and "\0" not in one.words]
    return sorted([*marked, *plain])


def _list_readings(quotation: QuotationSpan) -> list[str]:
    """Return the ways in which a quotation may be read, from the letter to the looser.

    Marks, emphasis and the punctuation at its ends may be the writer's. Where the words will be
    replaced by those of the source, so may a capital letter at the beginning.
    """
    exact = quotation.words.strip()
    spoken = MARKER.sub("", html.unescape(exact))
    plain = _EMPHASIS.sub("", spoken).strip()
    bare = plain.lstrip(_OPENING).rstrip(_CLOSING)
    ways = [exact, spoken.strip(), plain, bare]
    if quotation.marked:
        ways.append(quotation.written.strip())
        ways += [way[:1].swapcase() + way[1:] for way in (plain, bare)]
    return [way for way in dict.fromkeys(ways) if way]


def _split_quotation(quotation: QuotationSpan) -> list[QuotationPiece]:
    """Return the parts of a quotation, cut where its writer left words out or put some in.

    There are none where a part is too short to be known in its source, or where what was put in
    denies something.
    """
    said = _LETTER.sub(r"\1", MARKER.sub("", html.unescape(quotation.words)))
    found: list[QuotationPiece] = []
    joint, reach, at = "", None, 0
    for cut in [*_LEFT_OUT.finditer(said), None]:
        words = said[at : cut.start() if cut else len(said)].strip(_CLOSING)
        if any(map(str.isalnum, words)):
            found.append(QuotationPiece(words, joint, reach if found else None))
            joint = ""
        if cut:
            joint, reach, at = joint + cut[0], _reach(cut), cut.end()
    runs = [at for at, one in enumerate(found) if one.reach is None]
    groups = [found[start:end] for start, end in pairwise([*runs, len(found)])]
    put_in = "".join(one[0] for one in _LEFT_OUT.finditer(said) if _reach(one))
    short = [group for group in groups if not _is_long(group)]
    if QUOTE_NEGATION.search(put_in) or short not in (
        [],
        [group for group in groups[:1] if _joins(group)],
    ):
        return []
    return [*found, QuotationPiece("", joint.rstrip())] if joint.strip() and found else found


def _reach(cut: re.Match[str]) -> int | None:
    """Return how many characters of a source what stands there may take the place of."""
    if cut["dots"] or cut["bare"]:
        return None
    return 0 if cut["remark"] else _MAX_REPLACED_CHARS


def _is_long(run: Sequence[QuotationPiece]) -> bool:
    said = " ".join(piece.words for piece in run)
    return len(said.split()) >= _MIN_PIECE_WORDS or _is_named(said)


def _joins(run: Sequence[QuotationPiece]) -> bool:
    """Tell whether a part only joins a sentence to the one before it, as "In addition" does."""
    return not strip_transition(f"{run[0].words}, ").strip(" ,")


def _is_named(said: str) -> bool:
    signs = re.findall(f"[{HAN}\\d]", said)
    return len(signs) >= _MIN_NAME_SIGNS and any(not one.isdigit() for one in signs)


_MARKER = regex(f" ?{MARKER.pattern}")
_FOLLOWING = regex(rf"[.,;:!?。，；：！？]?\s*((?:{MARKER.pattern})+)")
_STOP = regex(r"([.!?。！？])[\s\"'”’」』»]*$")
_STOPS = tuple(".,;:!?。，；：！？")

_Edits = dict[tuple[int, int], str]  # new words for places of a statement


class _JudgedStatement(NamedTuple):
    """What is left of a statement, the quotations in it, and why nothing is left."""

    text: str
    quotes: list[ReportQuote]
    reason: str = ""


class _VerbatimQuotation(NamedTuple):
    """A quotation, the source that has it, and the words as they stand there."""

    quotation: QuotationSpan
    source: str
    words: str
    parts: tuple[str, ...] = ()
    """Its pieces as they stand there, where words are left out of it or were put into it."""
    joints: tuple[str, ...] = ()
    """What its writer set before each of them, and behind the last one."""


def _judge_statement(statement: str, pages: QuotablePages) -> _JudgedStatement:
    """Return a statement with its quotations proven and its markers resolved.

    A quotation that another source has is given to that source. A statement with a quotation
    that no source has, or with no citation but unknown ones, is taken out.
    """
    proven: list[_VerbatimQuotation] = []
    for quotation in find_quotations(statement):
        found = _found(quotation, [quotation.source, *list_cited_ids(statement)], pages)
        if found is None:
            return _JudgedStatement("", [], "quote_not_found")
        proven.append(found)
    marked = bool(MARKER.search(blank_quotations(statement)))
    text = map_outside_quotations(_repaired(statement, proven), lambda part: _resolved(part, pages))
    if proven and not any(map(str.isalnum, _own_words(statement))):
        text = map_outside_quotations(text, lambda part: _of_quotes(part, proven, pages))
    if marked and not list_cited_ids(text):
        return _JudgedStatement("", [], "unknown_source")
    quotes = [
        ReportQuote(source=one.source, text=words)
        for one in proven
        for words in one.parts or [one.words]
    ]
    return _JudgedStatement(text, quotes)


def _found(
    quotation: QuotationSpan, named: Sequence[str], pages: QuotablePages
) -> _VerbatimQuotation | None:
    """Return a quotation with the source that has it, whole or in the pieces it was cut into."""
    whole = pages.find(_list_readings(quotation), named)
    if whole:
        # An address is not shown, not even as a part of a quotation.
        return _VerbatimQuotation(
            quotation, whole[0], max(ADDRESS_PATTERN.split(whole[1]), key=len).strip()
        )
    cut = _split_quotation(quotation)
    found = pages.find_pieces(cut, named) if cut else None
    if found is None or any(map(ADDRESS_PATTERN.search, found[1])):
        return None
    source, parts = found
    joints = tuple(piece.joint for piece in cut)
    return _VerbatimQuotation(quotation, source, parts[0], tuple(parts), joints)


def _own_words(statement: str) -> str:
    """Return what a statement says beside its quotations."""
    outside_marked = MARKER.sub("", blank_quotations(statement)).replace("\0", "")
    return QUOTED_WORDS.sub("", outside_marked)


def _of_quotes(text: str, proven: Sequence[_VerbatimQuotation], pages: QuotablePages) -> str:
    """Return a text without the markers of sources that have none of the quotations."""

    def kept(marker: re.Match[str]) -> str:
        has = (pages.find([one.words], [marker[1]]) for one in proven)
        return marker[0] if any(found and found[0] == marker[1] for found in has) else ""

    return _MARKER.sub(kept, text)


def _repaired(statement: str, proven: Sequence[_VerbatimQuotation]) -> str:
    """Return the statement with each quotation as its source has it, given to its source."""
    markers = list(MARKER.finditer(blank_quotations(statement)))
    edits: _Edits = {}
    for one in proven:
        if one.quotation.marked:
            edits |= _rewritten(statement, one, markers)
        elif one.source not in list_cited_ids(statement):
            edits |= _with_marker(one, markers, {other.source for other in proven}, edits)
    for (start, end), new in sorted(edits.items(), reverse=True):
        statement = statement[:start] + new + statement[end:]
    return statement


def _rewritten(statement: str, one: _VerbatimQuotation, markers: Sequence[re.Match[str]]) -> _Edits:
    """Return the changes that make a marked quotation, and the markers after it, right."""
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
    rewritten = {(quotation.start, quotation.end): marked}
    return rewritten | {marker.span(): f"[{one.source}]" for marker in wrong}


def _with_marker(
    one: _VerbatimQuotation, markers: Sequence[re.Match[str]], needed: set[str], edits: _Edits
) -> _Edits:
    """Return the change that gives words in quotation marks to the source that has them.

    The nearest marker takes the new source, unless another quotation needs the one it has.
    """
    after = [marker for marker in markers if marker.start() >= one.quotation.start]
    nearest = after[0] if after else markers[-1] if markers else None
    if nearest and nearest[1] not in needed and nearest.span() not in edits:
        return {nearest.span(): f"[{one.source}]"}
    return {(one.quotation.end, one.quotation.end): f"[{one.source}]"}


def _resolved(text: str, pages: QuotablePages) -> str:
    return _MARKER.sub(lambda marker: marker[0] if marker[1] in pages.texts else "", text)


_MAX_PASSES = 6  # until nothing changes


class VerifiedText(NamedTuple):
    """A text in which every marker names a source and every quotation stands in its source."""

    body: str
    cited: list[str]
    """The ids of the sources in the order of their first use."""
    quotes: list[ReportQuote]
    removed: list[RemovedSentence]


def verify_citations(body: str, texts: Mapping[str, str]) -> VerifiedText:
    """Return `body` without what its sources do not say.

    Addresses, links, images, HTML and thoughts are stripped, markers and quotations brought to
    one spelling, quotations found in another source given to it. A sentence that cites only
    unknown sources, or quotes what no source has, is removed. To check twice changes nothing.

    Args:
        body: Markdown as a model wrote it.
        texts: The full text of each source by its id.
    """
    pages = QuotablePages(texts)
    removed: list[RemovedSentence] = []
    for _ in range(_MAX_PASSES):
        checked = _verify_once(body, pages)
        removed += checked.removed
        if checked.body == body:
            break
        body = checked.body
    return checked._replace(removed=removed)


def _verify_once(body: str, pages: QuotablePages) -> VerifiedText:
    quotes: list[ReportQuote] = []
    removed: list[RemovedSentence] = []
    parts = parse_blocks(normalize_round_markers(strip_framing(body), pages.texts))
    for at, part in enumerate(parts):
        if part.kind not in ("blank", "rule", "fence"):
            text = _verified_block(part, pages, quotes, removed)
            parts[at] = part._replace(text=text, kind=part.kind if text else "gone")
    kept = drop_removed_blocks(parts)
    cited = [name for part in kept if part.kind != "fence" for name in list_cited_ids(part.text)]
    return VerifiedText(join_blocks(kept), list(dict.fromkeys(cited)), quotes, removed)


def _verified_block(
    part: MarkdownBlock,
    pages: QuotablePages,
    quotes: list[ReportQuote],
    removed: list[RemovedSentence],
) -> str:
    """Return what is left of the words of a block; note its quotations and what was removed.

    A row of a table is one statement.
    """
    before = len(removed)
    told = part.text if part.kind == "row" else _without_referrals(part.text, removed)
    text = normalize_marks(mark_bare_ids(normalize_marks(told), pages.texts))
    kept: list[str] = []
    for statement in [text] if part.kind == "row" else split_statements(text):
        judged = _judge_address(statement, pages) or _judge_statement(statement, pages)
        kept.append(_without_domains(judged.text))
        quotes += judged.quotes
        if judged.reason:
            removed.append(RemovedSentence(text=statement.strip(), reason=judged.reason))
    left = "".join(kept).strip()
    if len(removed) > before and not any(map(str.isalnum, MARKER.sub("", left))):
        return ""
    return left


def _without_referrals(text: str, removed: list[RemovedSentence]) -> str:
    """Return a block without what sends its reader to a web address; note what was left out."""
    kept: list[str] = []
    for statement in split_statements(text):
        rest = cut_link_referral(blank_quotations(statement))
        if rest is None:
            kept.append(statement)
            continue
        said = statement[: len(rest)] if any(map(str.isalnum, rest)) else ""
        left = MARKER.findall(statement[len(said) :])
        removed.append(
            RemovedSentence(text=statement[len(said) :].strip(" ,，;；\n"), reason="address")
        )
        marks = "".join(f"[{name}]" for name in left) if said and not list_cited_ids(said) else ""
        kept.append(
            f"{said.rstrip()}{marks and ' '}{marks}{get_end_mark(statement)}" if said else ""
        )
    return "".join(kept)


def _judge_address(statement: str, pages: QuotablePages) -> _JudgedStatement | None:
    """Take out what would have a page speak to its reader, or for its reader; None of the rest."""
    said = blank_quotations(statement)
    if is_link_referral(said):
        return _JudgedStatement("", [], "address")
    return (
        _JudgedStatement("", [], "wish")
        if is_requester_wish(said) or _planted(said, pages)
        else None
    )


def _planted(said: str, pages: QuotablePages) -> bool:
    """Tell whether a statement tells a user's wish of a page that gives orders to models."""
    if not is_user_preference(said):
        return False
    named = [name for name in list_cited_ids(said) if name in pages.texts]
    return any(has_model_instructions(pages.texts[name]) for name in named or pages.texts)


def _without_domains(statement: str) -> str:
    """Return a statement without bare domains in its prose."""
    bare, kept = mask_code(statement)
    return unmask_code(map_outside_quotations(bare, neutralize_domains), kept)
