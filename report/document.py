"""The document of a finished run: its shape, its assembly, and the texts around its body."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, NotRequired, cast

from typing_extensions import TypedDict

from graph.records import (
    Background,
    DoubtedSentence,
    Finding,
    Gap,
    RemovedSentence,
    Report,
    RunStatus,
    Source,
    SourceContradiction,
    StandingRemark,
    TurnAnswer,
    VersionChanges,
    entries_of_turn,
    of_steps,
)
from graph.state import State
from report.checks.caveats import is_absence_remark
from report.checks.overlap import compute_share
from report.checks.source_preparation import load_source
from report.computed_results import ReportComputation
from report.labels import (
    append_detail,
    describe_doubted_sentence,
    find_label,
    get_label,
    grade_reason,
    is_chinese_tag,
    is_explained,
    name_unsearched,
    split_reason,
    summarize_removals,
)
from report.later_changes import LaterChange, describe_later_changes, list_later_remarks
from report.markdown.markdown_blocks import split_statements
from report.markdown.markers import MARKER, QUOTE
from report.method import ResearchMethod, describe_method
from report.step_sources import StepSources, list_step_sources
from text.regex import regex
from text.words import search_words


class ReportDocument(TypedDict):
    """A report with everything shown around it; plain data that can be stored and sent."""

    title: str
    question: str
    """The question in the words of the user; empty if the title says the same."""
    researched: NotRequired[str]
    """A follow-up question, rewritten to be understood alone."""
    status: str
    notices: list[str]
    body: str
    """Checked Markdown, with the marks `[S3]` and `<q s="S3">…</q>`."""
    gaps: list[Gap]
    unknown: NotRequired[list[str]]
    """What steps looked for and did not find, a sentence each, in plain text; shown unless the
    body has a section of its own on what is not known."""
    method: NotRequired[ResearchMethod]
    steps: NotRequired[list[StepSources]]
    inferred: NotRequired[list[str]]
    """The sentences of the body that the writer concludes; sources do not say them."""
    sources: list[Source]
    """All sources of the thread; only those that the body cites are shown."""
    texts: dict[str, str]
    """The text of each cited page, by the id of its source; HTML shows excerpts."""
    removed: list[RemovedSentence]
    doubted: list[DoubtedSentence]
    standing: NotRequired[list[StandingRemark]]
    contradictions: NotRequired[list[SourceContradiction]]
    command: NotRequired[str]
    """The command that lists the removed sentences; absent for a reader without a terminal."""
    unreviewed: int
    """How many findings could not be reviewed; their quotations are checked anyway."""
    language: str
    created: str
    """The day, as an ISO date."""
    computations: NotRequired[list[ReportComputation]]
    """The programs whose results it cites."""
    later: NotRequired[list[LaterChange]]
    """What became of it since it was delivered; only in one that is shown again later."""
    changes: NotRequired[VersionChanges]
    """What a version changes in the one before it."""


MAX_TITLE_CHARS = 100
"""Limit of a title in characters; a planned title may exceed what the prompt asks for."""

_REPORTED_SHARE = 1 / 2  # of the words of an objection, within two sentences of a report
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
    """Return the document of the current turn of `state`.

    Args:
        state: The state of the graph.
        report: The checked report.
        status: The outcome of the run.
        created: The day, as an ISO date.
        texts: The texts of the cited pages, by the ids of their sources.
    """
    sources: dict[str, Source] = state.get("sources", {})
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    unreviewed = [one for one in findings.values() if one["review"] == "unverified" and one["text"]]
    gone = get_label("gone", report["language"])
    asked = report.get("asked") or state["question"]
    return ReportDocument(
        title=report["title"],
        question="" if _says_same(asked, report["title"]) else asked,
        researched=_find_researched_form(state, asked, report["title"]),
        status=status,
        notices=report["notices"],
        body=report["body"],
        gaps=_list_all_gaps(state, report, status),
        unknown=list_unknown(state),
        method=describe_method(state, report, created),
        steps=list_step_sources(state),
        inferred=report.get("inferred", []),
        # A deleted file has no location, but a label that says so.
        sources=[one if one["location"] else one | {"location": gone} for one in sources.values()],
        texts=dict(texts),
        removed=report["removed"],
        doubted=[to_graded_doubt(one) for one in report.get("doubted", [])],
        standing=report.get("standing", []),
        contradictions=report.get("contradictions", []),
        unreviewed=len(unreviewed),
        language=report["language"],
        created=created,
    )


def _find_researched_form(state: State, *shown: str) -> str:
    """Return the question as it was researched, or "" if it is shown already or nothing was."""
    question, revision = state["question"], state.get("revision")
    only_written = revision is not None and revision["kind"] in ("shorten", "rewrite")
    if state["turn"] == 1 or only_written or any(_says_same(question, one) for one in shown):
        return ""
    return question


def list_unknown(state: State) -> list[str]:
    """Return what the steps looked for and did not find, each once, as far as it is shown."""
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    sentences = (one for finding in findings.values() for one in finding.get("not_found", []))
    plain = (" ".join(MARKER.sub("", QUOTE.sub(r"\2", one)).split()) for one in sentences)
    carried = _get_revised_answer(state).get("unknown", [])
    return list(dict.fromkeys([*carried, *filter(None, plain)]))[:_MAX_UNKNOWN]


def _get_revised_answer(state: State) -> TurnAnswer:
    """Return the version that this turn shortens, rewrites or extends; empty if it does not.

    A refreshed report has the findings of the version before as its own.
    """
    revision, answers = state.get("revision"), state.get("answers") or {}
    if not revision or revision["kind"] == "refresh":
        return cast("TurnAnswer", {})
    return answers.get(str(revision["turn"])) or cast("TurnAnswer", {})


def list_report_gaps(state: State, body: str) -> list[Gap]:
    """Return the gaps of this turn and those of the version before, unless a step closed them.

    Args:
        state: The state of the graph.
        body: The body of the report.
    """
    steps: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    again = {one["title"] for one in steps.values()}
    carried = _get_revised_answer(state).get("gaps", [])
    own = list_gaps(state, body)
    return [*(one for one in carried if one["title"] not in again), *own]


def _list_all_gaps(state: State, report: Report, status: RunStatus) -> list[Gap]:
    """Return the gaps and unused steps; a failed run cannot say that its sources lack something."""
    gaps = [*list_report_gaps(state, report["body"]), *_list_unused_steps(state, report["cited"])]
    hidden = "no_evidence" if status == "failed" else None
    return [{**gap, "reason": "" if gap["reason"] == hidden else gap["reason"]} for gap in gaps]


def shorten_title(text: str) -> str:
    """Return a text as a title: in one line, cut after a whole word if it is too long."""
    title = " ".join(text.split())
    if len(title) <= MAX_TITLE_CHARS:
        return title
    cut = title[:MAX_TITLE_CHARS]
    ends = [end.start() for end in _END.finditer(cut) if end.start() > MAX_TITLE_CHARS // 2]
    return cut[: ends[-1] if ends else MAX_TITLE_CHARS - 1].rstrip(" ,;:，；：、") + "…"


def removed_command(run: str) -> str:
    """Return the command that lists what the checks of a run removed."""
    return f"dossier runs show {run} --removed"


def _says_same(question: str, title: str) -> bool:
    """Tell whether a question equals a title but for punctuation and case."""
    return re.sub(r"\W+", "", question).casefold() == re.sub(r"\W+", "", title).casefold()


def to_graded_doubt(one: DoubtedSentence | str) -> DoubtedSentence:
    """Return a doubt with its grade; older threads store a doubtful number as a bare sentence."""
    doubted = DoubtedSentence(text=one, reason="number") if isinstance(one, str) else one
    return {**doubted, "grade": grade_reason(doubted["reason"])}


def list_gaps(state: State, body: str = "") -> list[Gap]:
    """Return the steps, searches and providers of web search that failed in this turn.

    A step is no gap if its review only rejected single sentences, or if the report has what the
    review asked for.

    Args:
        state: The state of the graph.
        body: The body of the report, once it is written.
    """
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    missing = [
        Gap(title=one["title"], status=one["status"], reason=one["reason"] or one["review"])
        for one in findings.values()
        if (one["status"] != "ok" or one["review"] == "failed") and not _is_resolved(one, body)
    ]
    searches: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    done = _list_computations(state, findings)
    # Steps search again for whatever the first search missed, and compute what rules could not.
    missing += [
        Gap(
            title=one["query"] or get_label("unsent", state.get("language", "en")),
            status=one["status"],
            reason=one["reason"],
        )
        for one in searches.values()
        if (not findings and one["reason"] not in ("", "no_evidence", "search_unavailable"))
        or (one["reason"].startswith("not_computed") and not _is_computed(one["query"], done))
    ]
    unsearched: dict[str, str] = entries_of_turn(state.get("unsearched"), state["turn"])
    return missing + [
        Gap(
            title=name_unsearched(name, state.get("language", "en")),
            status="failed",
            reason=f"search_unavailable: {why}",
        )
        for name, why in unsearched.items()
        if not is_explained(why)
    ]


def _list_computations(state: State, findings: Mapping[str, Finding]) -> list[str]:
    """Return what each step that computed was to do and has said, if it ended well."""
    plan = state.get("plan")
    steps = [one for one in plan["steps"] if one["kind"] == "compute"] if plan else []
    return [
        "\n".join((step["title"], step["description"], findings[step["id"]]["text"]))
        for step in steps
        if step["id"] in findings and findings[step["id"]]["status"] == "ok"
    ]


def _is_computed(asked: str, done: Sequence[str]) -> bool:
    """Tell whether a step computed what was asked of a table, by most of its words."""
    wanted = set(search_words(asked))
    least = _REPORTED_SHARE * len(wanted)
    return any(len(wanted.intersection(search_words(one))) > least for one in done)


def _is_resolved(finding: Finding, body: str) -> bool:
    """Tell whether a report has everything that a review asked for."""
    if finding["reason"] != "objected":
        return finding["reason"] == "set_right"
    wanted = set(search_words(finding.get("objection", "")))
    return bool(wanted) and compute_share(wanted, load_source(body).positions) > _REPORTED_SHARE


def _list_unused_steps(state: State, cited: Sequence[str]) -> list[Gap]:
    """Return the successful steps of this turn of which a report cites no source."""
    findings = of_steps(state.get("findings"), state["turn"])
    return [
        Gap(title=one["title"], status="ok", reason="not_used")
        for one in findings.values()
        if cited and one["status"] == "ok" and not set(one["sources"]) & set(cited)
    ]


def find_reached_limit(state: State) -> str:
    """Return the limit that stopped the research, as `max_calls = 10`; "" if none did."""
    reasons = (gap["reason"].partition(": ") for gap in list_gaps(state))
    return next((limit for code, _, limit in reasons if code == "budget_spent"), "")


def has_gaps(state: State, body: str) -> bool:
    """Tell whether a report lists gaps; absence is none if the question asks about it.

    Args:
        state: The state of the graph.
        body: The report.
    """
    answered = "no_evidence" if _ASKS_WHETHER.search(state["question"]) else None
    return any(gap["reason"] != answered for gap in list_report_gaps(state, body))


def is_left_open(question: str, body: str) -> bool:
    """Tell whether the first section of a report leaves a part of the question open.

    If the question is whether the sources say something, their silence is the answer.
    """
    if _ASKS_WHETHER.search(question):
        return False
    parts = (part for part in _HEADINGS.split(body) if part.strip())
    clauses = (part for one in split_statements(next(parts, "")) for part in _CLAUSE.split(one))
    return any(
        is_absence_remark(one) and not MARKER.search(one) and not QUOTE.search(one)
        for one in clauses
    )


def extract_answer(body: str) -> str:
    """Return the text above the first section of a report, with ids of sources as citations.

    A quotation is in quotation marks and followed by its source.
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
_MAX_UNKNOWN = 12


def list_notices(document: ReportDocument) -> list[str]:
    """Return the notices at the top of a report, with the run's outcome if it is not complete."""
    language, status = document["language"], document["status"]
    outcome = find_label(f"told_{status}", language)
    told = get_label(status, language).lower()
    repeated = any(one.strip().lower().startswith(told) for one in document["notices"])
    first = [outcome] if outcome and not repeated else []
    doubted = [get_label("told_doubted", language)] if document["doubted"] else []
    later = describe_later_changes(document.get("later", []), language)
    return [*later, *first, *document["notices"], *doubted]


class MissingPart(NamedTuple):
    """A reason why something is missing, and the titles it applies to."""

    titles: list[tuple[str, str]]
    """Each title, with the detail that applies to it alone."""
    reason: str


def describe_empty_answer(document: ReportDocument) -> str:
    """Return the sentence in place of an answer; after removed claims, sources may still answer."""
    claimed = document["removed"] or any(gap["reason"] == "failed" for gap in document["gaps"])
    return get_label("unconfirmed" if claimed else "nothing", document["language"])


def list_missing_parts(document: ReportDocument) -> list[MissingPart]:
    """Return each reason why something is missing, once, with the titles it applies to."""
    language = document["language"]
    groups: dict[str, dict[str, str]] = {}
    for gap in document["gaps"]:
        why, more = split_reason(gap["reason"], gap["status"], language)
        # A colon follows, or another title.
        title = gap["title"].rstrip("?？ ") or gap["title"]
        groups.setdefault(why, {})[title] = more
    return [_missing_part(why, titles, language) for why, titles in groups.items()]


def format_missing_part(
    part: MissingPart, language: str, bold: str, escaped: Callable[[str], str]
) -> str:
    """Return the titles and the reason of a missing part in one line.

    Args:
        part: The part.
        language: The language of the report.
        bold: How a title is written in bold type, with `{}` for the title.
        escaped: Escapes a text for the format of the report.
    """
    titles = get_label("comma", language).join(
        append_detail(bold.format(escaped(title)), escaped(detail), language)
        for title, detail in part.titles
    )
    return f"{titles}{get_label('colon', language)}{escaped(part.reason)}"


def _missing_part(why: str, titles: Mapping[str, str], language: str) -> MissingPart:
    """Return the gaps of one reason; a detail that all titles share goes to the reason."""
    detail, *others = dict.fromkeys(titles.values())
    if others:
        return MissingPart(list(titles.items()), why)
    return MissingPart([(title, "") for title in titles], append_detail(why, detail, language))


class DoubtLine(NamedTuple):
    """A line of the list of doubts."""

    text: str
    proof: str
    """What a source says instead, as a marked quotation after the text; may be empty."""


def list_doubt_lines(document: ReportDocument) -> list[DoubtLine]:
    """Return the doubted sentences with reasons; beyond a limit only their count."""
    language, more = document["language"], len(document["doubted"]) - _MAX_DOUBT_LINES
    lines = [_with_proof(one, language) for one in document["doubted"][:_MAX_DOUBT_LINES]]
    rest = DoubtLine(get_label("more_doubted", language).format(more), "")
    return [*lines, rest] if more > 0 else lines


def list_grade_labels(document: ReportDocument) -> list[str]:
    """Return the grade of each doubted sentence in words, as shown after the sign."""
    language = document["language"]
    return [get_label(grade_reason(one["reason"]), language).lower() for one in document["doubted"]]


def list_remarks(document: ReportDocument) -> dict[str, str]:
    """Return the remark at each sentence that has one, by the sentence.

    It says what the sources of the sentence are worth, and what became of it since.
    """
    language, standing = document["language"], document.get("standing", [])
    remarks = {one["text"]: get_label(f"only_{one['reason']}", language) for one in standing}
    for text, told in list_later_remarks(document.get("later", []), language).items():
        remarks[text] = get_label("comma", language).join(filter(None, [remarks.get(text), told]))
    return remarks


def list_contradiction_lines(document: ReportDocument) -> list[str]:
    """Return where sources contradict each other, each with both passages as quotations."""
    against = get_label("against", document["language"])
    return [
        f'<q s="{one["one"]}">{html.escape(one["one_says"], quote=False)}</q>{against}'
        f'<q s="{one["other"]}">{html.escape(one["other_says"], quote=False)}</q>'
        for one in document.get("contradictions", [])
    ]


def _with_proof(one: DoubtedSentence, language: str) -> DoubtLine:
    says = html.escape(one.get("says", ""), quote=False)
    grade = get_label(grade_reason(one["reason"]), language) + get_label("colon", language)
    text = grade + describe_doubted_sentence(one, language)
    if not says:
        return DoubtLine(text, "")
    space = "" if is_chinese_tag(language) else " "
    return DoubtLine(
        text + get_label("instead", language), f'{space}<q s="{one.get("source", "")}">{says}</q>'
    )


def describe_researched_form(document: ReportDocument) -> str:
    """Return a line with the question as it was researched, if it was rewritten."""
    form = document.get("researched", "")
    return get_label("researched", document["language"]).format(form) if form else ""


def list_footnotes(document: ReportDocument) -> list[str]:
    """Return the lines at the end of a report: removed sentences and unreviewed findings."""
    language, count = document["language"], document["unreviewed"]
    lines = [summarize_removals(document["removed"], language)] if document["removed"] else []
    if lines and document.get("command"):
        lines.append(get_label("listed", language).format(document["command"]))
    return [*lines, get_label("unreviewed", language).format(count)] if count else lines
