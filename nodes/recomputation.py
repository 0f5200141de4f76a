"""Run the programs again whose results a report cites, and doubt what does not come out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from langgraph.runtime import Runtime

from calls.run_budget import get_budget
from calls.streaming import show_progress
from config.errors import Problem
from graph.context import Context
from graph.records import Recomputed, Source
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
    ComputationRecord,
    digest_output,
    find_recorded_inputs,
    has_succeeded,
    load_computations,
    run_code,
)
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
        left = at < MOST and (await get_budget(place, runtime.context)).seconds_left("reporter") > 0
        outcome = await _recompute(state, runtime, name, record) if left else _unavailable(name)
        outcomes.append(outcome.recomputed)
        doubts |= _list_doubts(checked.body, name, record, outcome, texts)
    if not doubts:
        return checked, outcomes
    return checked._replace(doubted=add_doubts(checked.body, checked.doubted, doubts)), outcomes


def _unavailable(name: str) -> _Outcome:
    return _Outcome(Recomputed(source=name, outcome="unavailable"))


async def _recompute(
    state: State, runtime: Runtime[Context], name: str, record: ComputationRecord
) -> _Outcome:
    """Run one program again over the same inputs."""
    place, sources = call_site(state, runtime), state.get("sources", {})
    bases = state["plan"].get("knowledge", [])
    inputs = await find_recorded_inputs(place, runtime.context, sources, bases, record)
    if inputs is None:
        return _Outcome(Recomputed(source=name, outcome="inputs_changed"))
    try:
        result = await run_code(place, "reporter", record["code"], inputs, again=AGAIN)
    except Problem:
        return _unavailable(name)
    if not has_succeeded(result):
        return _Outcome(Recomputed(source=name, outcome="failed"))
    if digest_output(result["stdout"]) == record["sha256"]:
        return _Outcome(Recomputed(source=name, outcome="same"), result["stdout"])
    output = result["stdout"][:MAX_OUTPUT]
    return _Outcome(Recomputed(source=name, outcome="differs"), output)


def _list_doubts(
    body: str, name: str, record: ComputationRecord, outcome: _Outcome, texts: Mapping[str, str]
) -> dict[str, str]:
    """Return the reasons of doubts in a report by its statements."""
    match outcome.recomputed["outcome"]:
        case "same":
            return {}
        case "differs":
            before = record["output"]
            outdated = list_outdated_statements(body, name, before, outcome.output, texts)
            return dict.fromkeys(outdated, "recomputed")
        case _:
            return dict.fromkeys(list_citing_statements(body, name), "not_recomputed")
