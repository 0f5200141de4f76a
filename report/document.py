"""The document of a finished run.

Its shape, how it is put together, and what is said around its body.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, NotRequired

from typing_extensions import TypedDict

from graph.records import (
    Background,
    DoubtedSentence,
    Finding,
    RemovedSentence,
    Report,
    RunStatus,
    Source,
    SupportGrade,
    entries_of_turn,
    of_steps,
)
from graph.state import State
from report.checks.caveats import is_absence_remark
from report.checks.overlap import compute_share
from report.checks.source_preparation import load_source
from report.labels import (
    CHINESE_LABELS,
    ENGLISH_LABELS,
    append_detail,
    describe_doubted_sentence,
    get_label,
    is_chinese_tag,
    split_reason,
    summarize_removals,
)
from report.markdown.markdown_blocks import split_statements
from report.markdown.markers import MARKER, QUOTE
from text.regex import regex
from text.words import search_words


class Gap(TypedDict):
    """A step, a search or a provider of web search that did not come out well."""

    title: str
    status: str
    reason: str
    """A code, with more after a colon where there is more to say; or words."""


class ReportDocument(TypedDict):
    """A report with all that stands around it; plain data, so it can be stored and sent."""

    title: str
    question: str
    """What was asked, in the words of the person; nothing where the title says the same."""
    researched: NotRequired[str]
    """The same in a form that stands alone, where a follow-up was put into one."""
    status: str
    notices: list[str]
    body: str
    """Checked markdown, with the marks `[S3]` and `<q s="S3">…</q>`."""
    gaps: list[Gap]
    searched: list[str]
    sources: list[Source]
    """The whole registry of the thread; only what the body cites is shown."""
    texts: dict[str, str]
    """The text of each page that is cited, by the id of its source; a page shows parts of them."""
    removed: list[RemovedSentence]
    doubted: list[DoubtedSentence]
    command: NotRequired[str]
    """What lists the sentences that were removed; nothing for a reader without a terminal."""
    unreviewed: int
    """How many findings nobody could judge; their quotations are checked all the same."""
    language: str
    created: str
    """The day, as an ISO date."""


_GRADES: dict[str, SupportGrade] = {
    "": "supported",
    "calculation": "contradicted",
    "contradicted": "contradicted",
    "date": "contradicted",
    "name": "contradicted",
    "negation": "contradicted",
    "other_number": "contradicted",
    "disputed": "weak",
    "hanging": "weak",
    "other_source": "weak",
    "review": "weak",
    "strength": "weak",
}


def grade_reason(reason: str) -> SupportGrade:
    """Return the grade of a sentence that is doubted for a reason; without one it is supported.

    It is contradicted if its sources say something else, weak if they say less or it refers to a
    removed sentence, and otherwise not found.
    """
    return _GRADES.get(reason, "not_found")


MAX_TITLE_CHARS = 100
"""How many characters a title has at most; a plan's may be a little longer than it should be."""

_REPORTED_SHARE = 1 / 2  # of the words of a review that two sentences of a report have
_END = regex(r"\s|[，。；：、？！]")
_CLAUSE = regex(r"[;；]\s*")
_HEADINGS = regex(r"^#.*$", re.MULTILINE)
_ASKS_WHETHER = regex(
    r"\b(?:mention|say|said|state|contain|cover|discuss|document)(?:s|ed)?\b|提到|提及|包含|说明|說明",
    re.IGNORECASE,
)
NO_PAGE_TEXTS: Mapping[str, str] = MappingProxyType({})


def build_document(
    state: State,
    report: Report,
    status: RunStatus,
    created: str,
    texts: Mapping[str, str] = NO_PAGE_TEXTS,
) -> ReportDocument:
    """Return the document of the turn that `state` is in.

    Args:
        state: The state of the graph.
        report: The checked report.
        status: How the run came out.
        created: The day, as an ISO date.
        texts: The texts of the pages that are cited, by the ids of their sources.
    """
    sources: dict[str, Source] = state.get("sources", {})
    asked = report.get("asked") or state["question"]
    follows = state["turn"] > 1 and not _same(state["question"], asked)
    return ReportDocument(
        title=report["title"],
        question="" if _same(asked, report["title"]) else asked,
        researched=state["question"] if follows else "",
        status=status,
        notices=report["notices"],
        body=report["body"],
        gaps=_with_reasons(
            status, [*list_gaps(state, report["body"]), *_list_unused_steps(state, report["cited"])]
        ),
        searched=list_searched_queries(state),
        sources=[_listed_source(source, report["language"]) for source in sources.values()],
        texts=dict(texts),
        removed=report["removed"],
        doubted=[to_graded_doubt(one) for one in report.get("doubted", [])],
        unreviewed=_count_unreviewed(state),
        language=report["language"],
        created=created,
    )


def _with_reasons(status: RunStatus, gaps: Sequence[Gap]) -> list[Gap]:
    """Return what is missing; what a failed run did not find, its sources may say all the same."""
    silent = "no_evidence" if status == "failed" else None
    return [{**gap, "reason": "" if gap["reason"] == silent else gap["reason"]} for gap in gaps]


def shorten_title(text: str) -> str:
    """Return a text as a title: in one line, cut behind a whole word where it is too long."""
    title = " ".join(text.split())
    if len(title) <= MAX_TITLE_CHARS:
        return title
    cut = title[:MAX_TITLE_CHARS]
    ends = [end.start() for end in _END.finditer(cut) if end.start() > MAX_TITLE_CHARS // 2]
    return cut[: ends[-1] if ends else MAX_TITLE_CHARS - 1].rstrip(" ,;:，；：、") + "…"


def removed_command(run: str) -> str:
    """Return the command that lists what the checks of a run removed."""
    return f"dossier runs show {run} --removed"


def _same(question: str, title: str) -> bool:
    """Say whether a question says no more than a title; marks and capitals are no words."""
    return re.sub(r"\W+", "", question).casefold() == re.sub(r"\W+", "", title).casefold()


def _listed_source(source: Source, language: str) -> Source:
    """Return a source as it is listed; a file that is gone has no location to be found at."""
    return source if source["location"] else source | {"location": get_label("gone", language)}


def to_graded_doubt(one: DoubtedSentence | str) -> DoubtedSentence:
    """Return a doubt with its grade; an older thread has a sentence with a doubtful number."""
    doubted = DoubtedSentence(text=one, reason="number") if isinstance(one, str) else one
    return {**doubted, "grade": grade_reason(doubted["reason"])}


def list_gaps(state: State, body: str = "") -> list[Gap]:
    """Return what did not come out well in this turn: steps, searches, providers of web search.

    A step of which a review rejected single sentences lacks nothing without them, nor does one
    where the report has what the review asked for.

    Args:
        state: The state of the graph.
        body: The report, where it is written.
    """
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    missing = [
        Gap(title=one["title"], status=one["status"], reason=one["reason"] or one["review"])
        for one in findings.values()
        if (one["status"] != "ok" or one["review"] == "failed") and not _mended(one, body)
    ]
    looked: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    # Where there are steps, they searched again for whatever the first search missed.
    missing += [
        Gap(
            title=one["query"] or get_label("unsent", state["language"]),
            status=one["status"],
            reason=one["reason"],
        )
        for one in looked.values()
        if (not findings and one["reason"] not in ("", "no_evidence", "search_unavailable"))
        or one["reason"].startswith("not_computed")
    ]
    unsearched: dict[str, str] = entries_of_turn(state.get("unsearched"), state["turn"])
    return missing + [
        Gap(title=name, status="failed", reason=f"search_unavailable: {why}")
        for name, why in unsearched.items()
    ]


def _mended(finding: Finding, body: str) -> bool:
    """Tell whether nothing is missing that a review asked for."""
    if finding["reason"] != "objected":
        return finding["reason"] == "set_right"
    wanted = set(search_words(finding.get("objection", "")))
    return bool(wanted) and compute_share(wanted, load_source(body).positions) > _REPORTED_SHARE


def _list_unused_steps(state: State, cited: Sequence[str]) -> list[Gap]:
    """Return the steps of this turn that came out well, and of which a report cites no source."""
    findings = of_steps(state.get("findings"), state["turn"])
    return [
        Gap(title=one["title"], status="ok", reason="not_used")
        for one in findings.values()
        if cited and one["status"] == "ok" and not set(one["sources"]) & set(cited)
    ]


def find_reached_limit(state: State) -> str:
    """Return the limit that kept something from being done, as `max_calls = 10`; or nothing."""
    reasons = (gap["reason"].partition(": ") for gap in list_gaps(state))
    return next((limit for code, _, limit in reasons if code == "budget_spent"), "")


def _count_unreviewed(state: State) -> int:
    """Return how many findings of this turn nobody could judge."""
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    return sum(one["review"] == "unverified" and bool(one["text"]) for one in findings.values())


def list_searched_queries(state: State) -> list[str]:
    """Return every query of this turn as it was sent, in order, once."""
    looked: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    queries = [entry["query"] for name, entry in looked.items() if name.isdecimal()]
    queries += [query for finding in findings.values() for query in finding["queries"]]
    return list(dict.fromkeys(filter(None, queries)))


def has_gaps(state: State, body: str) -> bool:
    """Say whether something stands under what is missing; where that was the question, it is not.

    Args:
        state: The state of the graph.
        body: The report.
    """
    asked = bool(_ASKS_WHETHER.search(state["question"]))
    return any(not asked or gap["reason"] != "no_evidence" for gap in list_gaps(state, body))


def is_left_open(question: str, body: str) -> bool:
    """Say whether the answer that a report begins with leaves a part of the question open.

    Where the question is whether something is said at all, that it is not is the answer.
    """
    if _ASKS_WHETHER.search(question):
        return False
    parts = (part for part in _HEADINGS.split(body) if part.strip())
    said = [part for one in split_statements(next(parts, "")) for part in _CLAUSE.split(one)]
    return any(
        is_absence_remark(one) for one in said if not (MARKER.search(one) or QUOTE.search(one))
    )


def extract_answer(body: str) -> str:
    """Return what stands above the first section of a report; its citations are ids of sources.

    A quotation is in quotation marks, with its source behind it.
    """
    above: list[str] = []
    for line in body.strip().splitlines():
        if line.startswith("## ") and "".join(above).strip():
            break
        above += [] if line.startswith("#") else [line]
    return QUOTE.sub(_with_source, "\n".join(above)).strip()


def _with_source(quote: re.Match[str]) -> str:
    source, words = quote[1], html.unescape(quote[2])
    follows = quote.string[quote.end() :].lstrip().startswith(f"[{source}]")
    return f"“{words}”" if follows or not source else f"“{words}” [{source}]"


_MAX_DOUBT_LINES = 12


def list_notices(document: ReportDocument) -> list[str]:
    """Return what a reader must know first; a run that did not end well says so."""
    language, status = document["language"], document["status"]
    told = (CHINESE_LABELS if is_chinese_tag(language) else ENGLISH_LABELS).get(
        f"told_{status}", ""
    )
    name = get_label(status, language).lower()
    said = any(notice.strip().lower().startswith(name) for notice in document["notices"])
    first = [told] if told and not said else []
    doubted = [get_label("told_doubted", language)] if document["doubted"] else []
    return [*first, *document["notices"], *doubted]


class MissingPart(NamedTuple):
    """Why something is missing, and of what."""

    titles: list[tuple[str, str]]
    """Each title, with what more there is to say of it alone."""
    reason: str


def describe_empty_answer(document: ReportDocument) -> str:
    """Return the sentence in place of an answer; where claims were removed, pages may answer."""
    claimed = document["removed"] or any(gap["reason"] == "failed" for gap in document["gaps"])
    return get_label("unconfirmed" if claimed else "nothing", document["language"])


def list_missing_parts(document: ReportDocument) -> list[MissingPart]:
    """Return each reason why something is missing, once, with the titles that it stands for."""
    language = document["language"]
    groups: dict[str, dict[str, str]] = {}
    for gap in document["gaps"]:
        why, more = split_reason(gap["reason"], gap["status"], language)
        # A colon follows, or another title.
        title = gap["title"].rstrip("?？ ") or gap["title"]
        groups.setdefault(why, {})[title] = more
    return [_missing_part(why, titles, language) for why, titles in groups.items()]


def _missing_part(why: str, titles: Mapping[str, str], language: str) -> MissingPart:
    """Return what is missing for one reason; what is said of all titles belongs to the reason."""
    every, *others = dict.fromkeys(titles.values())
    if others:
        return MissingPart(list(titles.items()), why)
    return MissingPart([(title, "") for title in titles], append_detail(why, every, language))


class DoubtLine(NamedTuple):
    """A line of the list of what is doubted."""

    text: str
    proof: str
    """What a source says instead, as a marked quotation behind the text; or nothing."""


def list_doubt_lines(document: ReportDocument) -> list[DoubtLine]:
    """Return what is doubted, and why, sentence by sentence; of very many only how many more."""
    language, more = document["language"], len(document["doubted"]) - _MAX_DOUBT_LINES
    lines = [_with_proof(one, language) for one in document["doubted"][:_MAX_DOUBT_LINES]]
    rest = DoubtLine(get_label("more_doubted", language).format(more), "")
    return [*lines, rest] if more > 0 else lines


def list_grade_labels(document: ReportDocument) -> list[str]:
    """Return the grade in words of each sentence that is doubted, as it stands behind the sign."""
    language = document["language"]
    return [get_label(grade_reason(one["reason"]), language).lower() for one in document["doubted"]]


def _with_proof(one: DoubtedSentence, language: str) -> DoubtLine:
    says = html.escape(one.get("says", ""), quote=False)
    told = get_label(grade_reason(one["reason"]), language) + get_label("colon", language)
    text = told + describe_doubted_sentence(one, language)
    if not says:
        return DoubtLine(text, "")
    space = "" if is_chinese_tag(language) else " "
    return DoubtLine(
        text + get_label("instead", language), f'{space}<q s="{one.get("source", "")}">{says}</q>'
    )


def describe_researched_form(document: ReportDocument) -> str:
    """Return in which form a question was researched, if not as it was asked."""
    form = document.get("researched", "")
    return get_label("researched", document["language"]).format(form) if form else ""


def list_footnotes(document: ReportDocument) -> list[str]:
    """Return what stands at the very end: what was taken out, or not judged."""
    language, count = document["language"], document["unreviewed"]
    lines = [summarize_removals(document["removed"], language)] if document["removed"] else []
    if lines and document.get("command"):
        lines.append(get_label("listed", language).format(document["command"]))
    return [*lines, get_label("unreviewed", language).format(count)] if count else lines
