"""Store the results of the run in memory."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from calls.run_progress import show_progress
from graph.context import Context
from graph.pauses import list_asked
from graph.records import Finding, of_steps
from graph.state import State, is_delivered
from library.page_retrieval import TURN_PAGES
from library.page_rows import NewPage
from library.store import least_trusted_provenance, store_pages
from memory.experience.utterances import PERSON_SPEAKER
from memory.reports import REPORTS
from nodes.past_runs import record_run_outcome
from report.findings import drop_doubted, is_usable_finding, parse_quoted_sentences
from report.labels import get_label
from report.rendering.markdown_report import render_plain_text
from runs.call_site import CallSite, call_site
from text.normalization import find_quote
from text.sentences import is_heading, split_sentences

ANSWERED = ("succeeded", "partial")
"""The statuses of runs whose reports are remembered."""


async def memorize(state: State, runtime: Runtime[Context]) -> State:
    """Store the report, further findings and the person's answers, and record how the run ended.

    A run without an answer leaves no page of its own, nor does one that shows an earlier report
    again. What the person answered to plan and steps is a page of what was said, as a message is.

    Reads `report`, `findings`, `sources`, `status`; writes nothing.
    """
    if not is_delivered(state):
        return State()
    place = call_site(state, runtime)
    show_progress(state, "answered", status=state["status"])
    if state["report"].get("reused"):
        return State()
    if runtime.context.learn:
        await _keep_answers(state, place)
    if state["report"]["cited"] and state["status"] in ANSWERED:
        await _keep(state, place)
    await record_run_outcome(state, place)
    return State()


async def _keep(state: State, place: CallSite) -> None:
    """Store the pages, without a model call for abstracts, since reports are short.

    The page of a report is its body without notices and lists, as notes may quote it.
    """
    report = state["report"]
    doubted = [one["text"] for one in report.get("doubted", [])]
    text = render_plain_text(drop_doubted(report["body"], doubted))
    new = [
        NewPage(title=report["title"], place="", text=text, links=_pages(state, report["cited"]))
    ]
    # What was remembered is not remembered once more.
    found = list(of_steps(state.get("findings"), state["turn"]).values())
    for finding in found:
        said = render_plain_text(
            drop_doubted(finding["text"], parse_quoted_sentences(finding.get("doubted", "")))
        )
        if _worth_keeping(finding) and await asyncio.to_thread(_says_more, said, text):
            title = f"{report['title']} — {finding['title']}"
            links = _pages(state, finding["sources"])
            new.append(
                NewPage(title=title, place=f"step={finding['step']}", text=said, links=links)
            )
    provenance = await least_trusted_provenance(
        place.owner, [link for page in new for link in page["links"]]
    )
    await REPORTS.record(place.owner, new, run=place.run, provenance=provenance)


async def _keep_answers(state: State, place: CallSite) -> None:
    """Store what the person was asked and answered, a page for each question."""
    day, origin = state["report"].get("created", ""), f"{place.run}?answers"
    title = get_label("answer_page", state["language"]).format(day)
    new = [
        NewPage(
            title=title,
            place=f"answer={number}",
            text=f"{question}\n{answer}",
            session=origin,
            speaker=PERSON_SPEAKER,
            said=day,
        )
        for number, (question, answer) in enumerate(list_asked(state), start=1)
    ]
    if new:
        await store_pages(place.owner, TURN_PAGES, origin, new, group=place.thread, run=place.run)


def _pages(state: State, cited: list[str]) -> list[str]:
    return [state["sources"][one]["page"] for one in cited if one in state["sources"]]


def _worth_keeping(finding: Finding) -> bool:
    unread = finding["status"] == "ok" and finding["review"] != "failed"
    return is_usable_finding(finding) or (bool(finding["text"]) and unread)


def _says_more(said: str, text: str) -> bool:
    """Tell whether a finding has a sentence that the report lacks."""
    whole = (one.text for one in split_sentences(said) if not is_heading(one.text))
    return any(find_quote(one, text) is None for one in whole)
