"""Put together what a finished run has to show."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from graph.records import Background, Doubted, Finding, Report, RunStatus, Source, of_steps, of_turn
from graph.state import State
from report.caveats import not_found
from report.grades import grade
from report.likeness import compared, share
from report.marks import MARKER, QUOTE
from report.render import Document, Gap
from report.statements import statements
from report.wording import word
from retrieval.regex import regex
from retrieval.words import words

LONGEST = 100
"""How many characters a title has at most; a plan's may be a little longer than it should be."""

HELD = 1 / 2
"""A report has what a review asked for if two sentences of it have more of the review's words."""

_END = regex(r"\s|[，。；：、？！]")
_CLAUSE = regex(r"[;；]\s*")
_HEADINGS = regex(r"^#.*$", re.MULTILINE)
_ASKS_WHETHER = regex(
    r"\b(?:mention|say|said|state|contain|cover|discuss|document)(?:s|ed)?\b|提到|提及|包含|说明|說明",
    re.IGNORECASE,
)
NOTHING: Mapping[str, str] = MappingProxyType({})


def document(
    state: State,
    report: Report,
    status: RunStatus,
    created: str,
    texts: Mapping[str, str] = NOTHING,
) -> Document:
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
    return Document(
        title=report["title"],
        question="" if _same(asked, report["title"]) else asked,
        researched=state["question"] if follows else "",
        status=status,
        notices=report["notices"],
        body=report["body"],
        gaps=_told(status, [*gaps(state, report["body"]), *unused(state, report["cited"])]),
        searched=searched(state),
        sources=[_shown(source, report["language"]) for source in sources.values()],
        texts=dict(texts),
        removed=report["removed"],
        doubted=[doubt(one) for one in report.get("doubted", [])],
        unreviewed=unreviewed(state),
        language=report["language"],
        created=created,
    )


def _told(status: RunStatus, gaps: Sequence[Gap]) -> list[Gap]:
    """Return what is missing; what a failed run did not find, its sources may say all the same."""
    silent = "no_evidence" if status == "failed" else None
    return [{**gap, "reason": "" if gap["reason"] == silent else gap["reason"]} for gap in gaps]


def headline(text: str) -> str:
    """Return a text as a title: in one line, cut behind a whole word where it is too long."""
    title = " ".join(text.split())
    if len(title) <= LONGEST:
        return title
    cut = title[:LONGEST]
    ends = [end.start() for end in _END.finditer(cut) if end.start() > LONGEST // 2]
    return cut[: ends[-1] if ends else LONGEST - 1].rstrip(" ,;:，；：、") + "…"


def shows_removed(run: str) -> str:
    """Return the command that lists what the checks of a run removed."""
    return f"dossier runs show {run} --removed"


def _same(question: str, title: str) -> bool:
    """Say whether a question says no more than a title; marks and capitals are no words."""
    return re.sub(r"\W+", "", question).casefold() == re.sub(r"\W+", "", title).casefold()


def _shown(source: Source, language: str) -> Source:
    """Return a source as it is listed; a file that is gone has no location to be found at."""
    return source if source["location"] else source | {"location": word("gone", language)}


def doubt(one: Doubted | str) -> Doubted:
    """Return a doubt with its grade; an older thread has a sentence with a doubtful number."""
    doubted = Doubted(text=one, reason="number") if isinstance(one, str) else one
    return {**doubted, "grade": grade(doubted["reason"])}


def gaps(state: State, body: str = "") -> list[Gap]:
    """Return what did not come out well in this turn: steps, searches, providers of web search.

    A step of which a review rejected single sentences lacks nothing without them, nor does one
    where the report has what the review asked for.

    Args:
        state: The state of the graph.
        body: The report, where it is written.
    """
    findings: dict[str, Finding] = of_turn(state.get("findings"), state["turn"])
    missing = [
        Gap(title=one["title"], status=one["status"], reason=one["reason"] or one["review"])
        for one in findings.values()
        if (one["status"] != "ok" or one["review"] == "failed") and not _mended(one, body)
    ]
    looked: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    # Where there are steps, they searched again for whatever the first search missed.
    missing += [
        Gap(
            title=one["query"] or word("unsent", state["language"]),
            status=one["status"],
            reason=one["reason"],
        )
        for one in looked.values()
        if (not findings and one["reason"] not in ("", "no_evidence", "search_unavailable"))
        or one["reason"].startswith("not_computed")
    ]
    unsearched: dict[str, str] = of_turn(state.get("unsearched"), state["turn"])
    return missing + [
        Gap(title=name, status="failed", reason=f"search_unavailable: {why}")
        for name, why in unsearched.items()
    ]


def _mended(finding: Finding, body: str) -> bool:
    """Tell whether nothing is missing that a review asked for."""
    if finding["reason"] != "objected":
        return finding["reason"] == "set_right"
    wanted = set(words(finding.get("objection", "")))
    return bool(wanted) and share(wanted, compared(body).places) > HELD


def unused(state: State, cited: Sequence[str]) -> list[Gap]:
    """Return the steps of this turn that came out well, and of which a report cites no source."""
    findings = of_steps(state.get("findings"), state["turn"])
    return [
        Gap(title=one["title"], status="ok", reason="not_used")
        for one in findings.values()
        if cited and one["status"] == "ok" and not set(one["sources"]) & set(cited)
    ]


def limit_reached(state: State) -> str:
    """Return the limit that kept something from being done, as `max_calls = 10`; or nothing."""
    reasons = (gap["reason"].partition(": ") for gap in gaps(state))
    return next((limit for code, _, limit in reasons if code == "budget_spent"), "")


def unreviewed(state: State) -> int:
    """Return how many findings of this turn nobody could judge."""
    findings: dict[str, Finding] = of_turn(state.get("findings"), state["turn"])
    return sum(one["review"] == "unverified" and bool(one["text"]) for one in findings.values())


def searched(state: State) -> list[str]:
    """Return every query of this turn as it was sent, in order, once."""
    looked: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    findings: dict[str, Finding] = of_turn(state.get("findings"), state["turn"])
    queries = [entry["query"] for name, entry in looked.items() if name.isdecimal()]
    queries += [query for finding in findings.values() for query in finding["queries"]]
    return list(dict.fromkeys(filter(None, queries)))


def lacks(state: State, body: str) -> bool:
    """Say whether something stands under what is missing; where that was the question, it is not.

    Args:
        state: The state of the graph.
        body: The report.
    """
    asked = bool(_ASKS_WHETHER.search(state["question"]))
    return any(not asked or gap["reason"] != "no_evidence" for gap in gaps(state, body))


def leaves_open(question: str, body: str) -> bool:
    """Say whether the answer that a report begins with leaves a part of the question open.

    Where the question is whether something is said at all, that it is not is the answer.
    """
    if _ASKS_WHETHER.search(question):
        return False
    parts = (part for part in _HEADINGS.split(body) if part.strip())
    said = [part for one in statements(next(parts, "")) for part in _CLAUSE.split(one)]
    return any(not_found(one) for one in said if not (MARKER.search(one) or QUOTE.search(one)))


def answer_of(body: str) -> str:
    """Return what stands above the first section of a report; its citations are ids of sources.

    A quotation is in quotation marks, with its source behind it.
    """
    above: list[str] = []
    for line in body.strip().splitlines():
        if line.startswith("## ") and "".join(above).strip():
            break
        above += [] if line.startswith("#") else [line]
    return QUOTE.sub(_spoken, "\n".join(above)).strip()


def _spoken(quote: re.Match[str]) -> str:
    source, words = quote[1], html.unescape(quote[2])
    follows = quote.string[quote.end() :].lstrip().startswith(f"[{source}]")
    return f"“{words}”" if follows or not source else f"“{words}” [{source}]"
