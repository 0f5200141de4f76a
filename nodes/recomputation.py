"""Run the programs again whose results a report cites, and doubt what does not come out again.

Compared are the words that a program printed and the figures and tables that it wrote, each as it
is seen: a picture that differs only in its metadata is the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from langgraph.runtime import Runtime

from calls.run_budget import get_budget
from calls.run_progress import show_progress
from config.errors import Problem
from graph.context import Context
from graph.records import Recomputed, RecomputedOutcome, Source
from graph.state import State
from report.checks.attribution import CheckedText
from report.computed_results import (
    add_doubts,
    list_citing_statements,
    list_outdated_statements,
)
from runs.call_site import call_site
from tools.computations import (
    MAX_OUTPUT,
    CodeResult,
    ComputationRecord,
    digest_output,
    find_recorded_inputs,
    has_succeeded,
    load_computations,
    load_computed_files,
    run_code,
)
from tools.program_files import list_different_files
from tools.source_checks import load_source_texts

MOST = 12
"""So many programs are run again for one report."""

AGAIN = "report"
"""What a program is run again for, as the ledger has it."""


class _Outcome(NamedTuple):
    """What came of running a program again, and what it printed."""

    recomputed: Recomputed
    output: str = ""


async def recompute_cited(
    state: State, runtime: Runtime[Context], checked: CheckedText, sources: Mapping[str, Source]
) -> tuple[CheckedText, list[Recomputed]]:
    """Run the programs of a report again, once each, and doubt what they do not print again.

    Args:
        state: The state of the node.
        runtime: The runtime of the node.
        checked: The report as the checks leave it.
        sources: The sources that it may cite, by id.

    Returns:
        The report with the doubts, and what came of each program.
    """
    place = call_site(state, runtime)
    cited = {name: sources[name] for name in checked.cited if name in sources}
    records = await load_computations(place.owner, cited)
    if not records:
        return checked, []
    show_progress(state, "recomputing")
    texts = await load_source_texts(place.owner, cited)
    doubts: dict[str, str] = {}
    outcomes: list[Recomputed] = []
    for at, (name, record) in enumerate(records.items()):
        outcome = _ended(name, "unavailable")
        if at < MOST:
            outcome = await _recompute_in_time(state, runtime, name, record)
        outcomes.append(outcome.recomputed)
        doubts |= _list_doubts(checked.body, name, record, outcome, texts)
    if not doubts:
        return checked, outcomes
    return checked._replace(doubted=add_doubts(checked.body, checked.doubted, doubts)), outcomes


def _ended(name: str, outcome: RecomputedOutcome) -> _Outcome:
    return _Outcome(Recomputed(source=name, outcome=outcome))


async def _recompute_in_time(
    state: State, runtime: Runtime[Context], name: str, record: ComputationRecord
) -> _Outcome:
    """Run one program again within the minutes that the run has left."""
    budget = await get_budget(call_site(state, runtime), runtime.context)
    try:
        async with asyncio.timeout(budget.seconds_left("reporter")):
            return await _recompute(state, runtime, name, record)
    except TimeoutError:
        return _ended(name, "no_time")


async def _recompute(
    state: State, runtime: Runtime[Context], name: str, record: ComputationRecord
) -> _Outcome:
    """Run one program again over the same inputs."""
    place, sources = call_site(state, runtime), state.get("sources", {})
    bases = state["plan"].get("knowledge", [])
    inputs = await find_recorded_inputs(place, runtime.context, sources, bases, record)
    if inputs is None:
        return _ended(name, "inputs_changed")
    try:
        result = await run_code(place, "reporter", record["code"], inputs, again=AGAIN)
    except Problem:
        return _ended(name, "unavailable")
    if not has_succeeded(result):
        return _ended(name, "failed")
    return await _compare(place.owner, name, record, result)


async def _compare(
    owner: str, name: str, record: ComputationRecord, result: CodeResult
) -> _Outcome:
    """Compare what a program printed and wrote with what it did the first time."""
    contents = await load_computed_files(owner, record["files"])
    # A file whose page was erased can be compared with nothing.
    kept = [one for one in record["files"] if one["sha256"] in contents]
    gone = {one["name"] for one in record["files"]} - {one["name"] for one in kept}
    before = {one["name"]: contents[one["sha256"]] for one in kept}
    after = {file: data for file, data in result["files"].items() if file not in gone}
    changed = await asyncio.to_thread(list_different_files, before, after)
    is_same = digest_output(result["stdout"]) == record["sha256"]
    outcome: RecomputedOutcome = "differs" if not is_same else "files_differ" if changed else "same"
    recomputed = Recomputed(source=name, outcome=outcome)
    if changed:
        recomputed["files"] = changed
    return _Outcome(recomputed, result["stdout"][:MAX_OUTPUT])


def _list_doubts(
    body: str, name: str, record: ComputationRecord, outcome: _Outcome, texts: Mapping[str, str]
) -> dict[str, str]:
    """Return the reasons of doubts in a report by its statements."""
    match outcome.recomputed["outcome"]:
        case "same" | "files_differ":
            return {}
        case "differs":
            before = record["output"]
            outdated = list_outdated_statements(body, name, before, outcome.output, texts)
            return dict.fromkeys(outdated, "recomputed")
        case _:
            return dict.fromkeys(list_citing_statements(body, name), "not_recomputed")
