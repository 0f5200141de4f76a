"""Send the steps that can start now, wave after wave, then ask whether it is enough."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from config.errors import Problem
from graph.context import Context
from graph.plan import to_research
from graph.plan_text import written
from graph.records import Finding, Step, key, of_steps, of_turn
from graph.state import State
from models.load import built_in
from nodes.agent import ask
from nodes.streaming import tell
from nodes.typed import Searches, Shown
from prompts.loader import render
from prompts.marks import block, blocks, findings_block, sources_block
from report.earlier import accepted, earlier_block
from report.material import findings, passages
from report.undone import UNUSABLE, capped, undone
from runs.budget import budget
from runs.faults import bear
from runs.place import here

FOLLOW_UPS = 2
"""How many steps one round may add."""


class Missing(BaseModel):
    """Something the findings leave open."""

    title: Shown
    queries: Searches = []


class Enough(BaseModel):
    """Whether the findings answer the question."""

    enough: bool
    missing: list[Missing] = []


async def team(state: State, runtime: Runtime[Context]) -> State:
    """Let the steps that can start be sent; when none is left, see whether more are needed.

    No model is asked where rounds are used up, or where every finding passed and no review left
    anything open for the question. The built-in model costs nothing, and is asked.

    Steps that failed, or that a limit prevented, in an earlier session of the run are sent again.

    Reads `question`, `plan`, `decision`, `findings`, `rounds`; writes `rounds`, `follow_ups`,
    `again`, and takes out of `findings` what is done again.

    Raises:
        Problem: What kept steps from being done, where every other call would meet it too, or
            where no step was done. The run can then be resumed from here.
    """
    place = here(state, runtime)
    session = (await budget(place, runtime.context)).session
    failed = undone(state)
    again = {
        key(state["turn"], one["step"]): None
        for one in [*failed, *capped(state)]
        if one.get("session", session) != session
    }
    if again:
        # The ledger has recorded an answer that could not be used, and would give it again.
        unusable = any(one["error"]["code"] == UNUSABLE for one in failed)
        return State(findings=cast("Any", again), again=state.get("again", 0) + unusable)
    errors = [Problem.of(one["error"]) for one in failed if not one["text"]]
    for problem in errors:
        bear(problem)
    if ready(state):
        return State()
    if errors and not (findings(state) or passages(state)):
        raise errors[0]
    more = await _follow_ups(state, runtime, of_turn(state.get("findings"), state["turn"]))
    if not more:
        return State()
    return State(rounds=state["rounds"] + 1, follow_ups=[*state["follow_ups"], *more])


def ready(state: State) -> list[Step]:
    """Return the steps that have no finding yet, and all whose needs have one."""
    done = of_turn(state.get("findings"), state["turn"])
    steps = state["plan"]["steps"] + state["follow_ups"]
    waiting = [step for step in steps if step["id"] not in done]
    return [step for step in waiting if set(step["needs"]) <= done.keys()]


async def _follow_ups(
    state: State, runtime: Runtime[Context], done: dict[str, Finding]
) -> list[Step]:
    """Return the steps that close what is missing; none when it is enough or nobody can tell.

    A plan that a person has written holds what they left out, too: nothing is added to it.
    """
    if state["rounds"] >= runtime.context.max_rounds or state.get("decision") == "edit":
        return []
    steps = of_steps(state.get("findings"), state["turn"])
    if all(map(_settled, steps.values())) and not built_in("judge", runtime.context):
        return []
    tell(state, "judging")
    before = accepted(state, state["question"])
    data = blocks(
        block("question", state["question"]),
        block("plan", written(state["plan"])),
        sources_block([*done.values(), *before], state.get("sources", {})),
        findings_block(done.values()),
        earlier_block(before),
        block("open", "\n".join(one for each in done.values() for one in each.get("open", []))),
    )
    system = render("judge", language=state["language"])
    said, unsure = [HumanMessage(data)], Enough(enough=True)
    verdict = await ask(state, runtime, "judge", system, said, Enough, otherwise=unsure)
    if verdict.enough:
        return []
    taken = {step["id"] for step in state["plan"]["steps"] + state["follow_ups"]}
    return [
        to_research(_free_id(taken), missing.title, missing.queries or [missing.title])
        for missing in [one for one in verdict.missing if one.title.strip()][:FOLLOW_UPS]
    ]


def _settled(finding: Finding) -> bool:
    """Tell whether a finding has passed its review, which left nothing open for the question."""
    passed = finding["status"] == "ok" and finding["review"] == "passed"
    return passed and not finding.get("open")


def _free_id(taken: set[str]) -> str:
    """Take the next free id of the form `s5`."""
    number = len(taken) + 1
    while f"s{number}" in taken:
        number += 1
    taken.add(f"s{number}")
    return f"s{number}"
