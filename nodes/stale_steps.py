"""Find which steps of an earlier run are researched again, and for which new sources."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from graph.context import Context
from graph.records import Finding, NewWebPage, Step, of_steps
from graph.state import State
from report.findings import is_usable_finding
from runs.call_site import CallSite
from runs.earlier_runs import list_answered_runs, list_thread_answers
from runs.incomplete import CAPPED_PREFIX
from runs.lifecycle import RunRecord, find_run
from tools.new_web_pages import EarlierReading, NewWebPages, find_new_web_pages
from tools.source_changes import find_new_matches

QUESTION_STEP = "question"
"""What stands for a step in a run that had none."""

READ_RUNS = 100
"""How many other runs that answered the question are looked at for what they read."""


class StaleSteps(NamedTuple):
    """What is researched again."""

    steps: list[str]
    """The ids of the steps, with those that build on them."""
    new_pages: NewWebPages
    """What the web has for the queries of the earlier run that no run has read."""

    def list_found(self) -> list[NewWebPage]:
        """Return the new pages, each once."""
        found = (page for pages in self.new_pages.found.values() for page in pages)
        return list({page["location"]: page for page in found}.values())


async def find_stale_steps(
    place: CallSite, context: Context, earlier: State, stale: Sequence[str]
) -> StaleSteps:
    """Return the steps whose sources have changed, that failed, or that something new matches.

    For a run without steps, its question stands for one.

    Args:
        place: The point of the run.
        context: The files and web searches of the run.
        earlier: The state of the earlier run.
        stale: The ids of its sources that have changed.
    """
    record = await find_run(place.owner, earlier["run"])
    steps = list_all_steps(earlier)
    asked = [query for step in steps for query in _list_queries(step)] or [earlier["question"]]
    on_web = [
        query for step in steps if _searches_web(step, context) for query in _list_queries(step)
    ]
    if not steps:
        on_web = earlier.get("queries") or asked
    known = await _list_known(place, record, earlier)
    matched, new_pages = await asyncio.gather(
        find_new_matches(place.owner, context, asked, record.created),
        find_new_web_pages(place, context, on_web, known),
    )
    new = {query for query, is_new in zip(asked, matched, strict=True) if is_new}
    new |= {query for query, pages in new_pages.found.items() if pages}
    if not steps:
        return StaleSteps([QUESTION_STEP] if new else [], new_pages)
    return StaleSteps(_list_redone(earlier, steps, stale, new), new_pages)


def list_all_steps(earlier: State) -> list[Step]:
    """Return all steps of a run, in the order in which they were planned."""
    return [*earlier["plan"]["steps"], *earlier.get("follow_ups", [])]


def _list_queries(step: Step) -> list[str]:
    return step["queries"] or [step["title"]]


def _searches_web(step: Step, context: Context) -> bool:
    """Say whether a step searches the web: all do where there are no files."""
    return step["kind"] == "research" and (step["need_web_search"] or not context.files)


async def _list_known(place: CallSite, record: RunRecord, earlier: State) -> EarlierReading:
    """Return what the earlier run and others that answered the question have read of the web."""
    threads = list({record.thread, place.thread})
    same, others = await asyncio.gather(
        list_thread_answers(place.owner, threads),
        list_answered_runs(place.owner, record.question, place.run, READ_RUNS),
    )
    runs = dict.fromkeys([record.id, *same, *(one.id for one in others)])
    sources = earlier.get("sources", {}).values()
    return EarlierReading(list(runs), [one["page"] for one in sources if one["kind"] == "web"])


def _list_redone(
    earlier: State, steps: Sequence[Step], stale: Sequence[str], new: set[str]
) -> list[str]:
    """Return the ids of the steps that are researched again.

    Args:
        earlier: The state of the earlier run.
        steps: Its steps; each stands behind those that it needs.
        stale: The ids of its sources that have changed.
        new: The queries that something new matches.
    """
    found: dict[str, Finding] = of_steps(earlier.get("findings"), earlier["turn"])
    redone: list[str] = []
    for step in steps:
        finding = found.get(step["id"])
        sound = finding is not None and _is_sound(finding)
        cited = finding["sources"] if finding else []
        asks_new = not new.isdisjoint(_list_queries(step))
        rests_on_old = set(stale).isdisjoint(cited) and set(redone).isdisjoint(step["needs"])
        if asks_new or not (sound and rests_on_old):
            redone.append(step["id"])
    return redone


def _is_sound(finding: Finding) -> bool:
    """Say whether a finding can be kept: it is usable, and nothing kept it from being better."""
    capped = finding["reason"].startswith(CAPPED_PREFIX)
    return is_usable_finding(finding) and not capped and not finding.get("error")
