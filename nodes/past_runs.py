"""Learn from how earlier runs went, and leave to later ones how this one went."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from calls.gateway import ask
from config.errors import Problem
from graph.context import Context
from graph.records import Finding, of_steps
from graph.state import State
from memory.experience.consolidation import (
    Lessons,
    apply_lessons,
    claim_consolidation,
    consolidate_insights,
    load_run_comparison,
    retire_insights,
)
from memory.experience.credit_assignment import OutcomeSignals
from memory.experience.insights import Insight
from memory.experience.memory import EXPERIENCE
from memory.experience.related_runs import RunRater, store_related_runs
from memory.experience.run_history import PastRun, RunEnding
from memory.experience.utterances import Utterance, describe_utterances
from models.chat_models import built_in
from prompts.data_blocks import join_prompt_blocks, render_block, wrap_blocks
from prompts.loader import render_prompt
from prompts.methods import render_method_list
from report.document import find_reached_limit, list_gaps
from report.findings import is_usable_finding
from report.labels import describe_doubt, describe_removal
from runs.call_site import CallSite, call_site
from runs.trace import trace
from text.sentences import split_sentences

ROLE = "memorizer"

ANSWERED = {"succeeded": 1.0, "partial": 0.5}
"""How far a run has answered, by its status; any other has not."""

BEST = 10
"""The best rating a model may give."""

_CHECKED: tuple[Literal["removed", "doubted"], ...] = ("removed", "doubted")

log = logging.getLogger(__name__)


class Rating(BaseModel):
    """How much an earlier run has to do with the question."""

    run: int
    relevance: int


class Ratings(BaseModel):
    """The ratings of the earlier runs that were shown."""

    ratings: list[Rating]


class Same(BaseModel):
    """Which insights say the same."""

    groups: list[list[int]] = Field(description="numbers of insights that say the same")


async def recall_past_runs(
    state: Mapping[str, Any], runtime: Runtime[Context], question: str
) -> None:
    """Find the earlier runs that this one can learn from; a failure costs only the lesson."""
    place = call_site(state, runtime)
    keyless = built_in(ROLE, runtime.context)
    try:
        rate = None if keyless else _rater(state, runtime)
        await store_related_runs(place.owner, place.run, question, rate=rate)
    except Problem as problem:
        log.warning("nothing was learnt for %r: %s", question, problem)


def _rater(state: Mapping[str, Any], runtime: Runtime[Context]) -> RunRater:
    async def rate(question: str, past: Sequence[PastRun]) -> Mapping[str, float]:
        shown = [
            render_block("run", one.question, number=number, ended=one.status)
            for number, one in enumerate(past, start=1)
        ]
        data = join_prompt_blocks(render_block("question", question), wrap_blocks("runs", shown))
        said = [HumanMessage(data)]
        nothing = Ratings(ratings=[])
        language = state.get("language", "en")
        system = render_prompt("rate_runs", language=language, best=BEST)
        rated = await ask(state, runtime, ROLE, system, said, Ratings, default=nothing, repairs=0)
        return {
            past[one.run - 1].run: min(max(one.relevance, 0), BEST) / BEST
            for one in rated.ratings
            if 1 <= one.run <= len(past)
        }

    return rate


async def record_run_outcome(state: State, place: CallSite) -> None:
    """Write down how a run ended."""
    ending = RunEnding(state["question"], _outcome_signs(state), _reason(state))
    await EXPERIENCE.record(place.owner, ending, run=place.run)


def _outcome_signs(state: State) -> OutcomeSignals:
    """Return what tells how a run ended, as far as the run itself can tell."""
    found: list[Finding] = list(of_steps(state.get("findings"), state["turn"]).values())
    report = state["report"]
    cited = bool(report["cited"])
    whole = float(cited and state["status"] == "succeeded")
    kept = sum(1 for _ in split_sentences(report["body"])) if cited else 0
    reviewed = [one for one in found if one["review"] in ("passed", "failed")]
    return OutcomeSignals(
        coverage=_share([one["status"] == "ok" or is_usable_finding(one) for one in found], whole),
        citations=kept / (kept + len(report["removed"])) if kept else 0.0,
        reflection=_share([one["review"] == "passed" for one in reviewed], float(cited)),
        budget=0.0 if find_reached_limit(state) else 1.0,
        answered=ANSWERED.get(state["status"], 0.0),
    )


def _share(true: Sequence[bool], otherwise: float) -> float:
    return sum(true) / len(true) if true else otherwise


def _reason(state: State) -> str:
    found: list[Finding] = list(of_steps(state.get("findings"), state["turn"]).values())
    failed = (
        f"{one['title']}: {one.get('objection') or one['reason']}"
        for one in found
        if one["status"] != "ok"
    )
    limit = find_reached_limit(state)
    report = state["report"]
    warned = [f"{name}: {len(report[name])}" for name in _CHECKED if report[name]]
    return "; ".join([*failed, *([limit] if limit else []), *warned])[:1_000]


async def learn_from_run(state: State, runtime: Runtime[Context]) -> None:
    """Learn what the run teaches; every few runs, put what was learnt in order.

    A model compares it with similar runs; without one, later runs are shown its key steps alone.
    """
    place = call_site(state, runtime)
    ask_which = None
    if not built_in(ROLE, runtime.context):
        await _compared(state, runtime, place)
        ask_which = partial(_which, state, runtime)
    await retire_insights(place.owner, place.run)
    if await claim_consolidation(place.owner):
        await consolidate_insights(place.owner, ask_which)


async def _compared(state: State, runtime: Runtime[Context], place: CallSite) -> None:
    """Ask a model what made the difference between this run and similar ones."""
    seen = await load_run_comparison(place.owner, place.run)
    if seen is None:
        return
    tongue = state["language"]
    system = render_prompt("lessons", language=tongue, methods=render_method_list(tongue))
    shown = join_prompt_blocks(
        _shown("new", seen.new, seen.steps, _outcome(state)),
        *(_shown("other", one, steps) for one, steps in seen.others),
        _numbered(seen.insights),
    )
    said = [HumanMessage(shown)]
    nothing = Lessons(lessons=[])
    answer = await ask(state, runtime, ROLE, system, said, Lessons, default=nothing, repairs=0)
    if unknown := await apply_lessons(place.owner, seen, answer.lessons, state["language"]):
        await trace(place, "learn", ROLE, "refused", unknown=len(unknown))


async def _which(
    state: State, runtime: Runtime[Context], known: Sequence[Insight]
) -> Sequence[Sequence[int]]:
    """Ask a model which insights say the same."""
    system = render_prompt("tidy", language=state["language"])
    said = [HumanMessage(_numbered(known))]
    nothing = Same(groups=[])
    answer = await ask(state, runtime, ROLE, system, said, Same, default=nothing, repairs=0)
    return answer.groups


def _numbered(known: Sequence[Insight]) -> str:
    return wrap_blocks(
        "known", [render_block("insight", k.content, number=n) for n, k in enumerate(known, 1)]
    )


def _shown(tag: str, one: PastRun, steps: Sequence[Utterance], ended: str = "") -> str:
    warned = one.status == "resolved" and one.reason and one.signs.person is None
    status = "resolved, with warnings" if warned else one.status
    head = {"question": one.question, "ended": status, "why": one.reason}
    # A run of which no step is kept tells something too, and an empty block would be left out.
    return render_block(
        tag, "\n".join(filter(None, [describe_utterances(steps), ended])) or "-", **head
    )


def _outcome(state: State) -> str:
    """Return the result of each step of a run, how often the checks intervened, and its gaps."""
    found: list[Finding] = list(of_steps(state.get("findings"), state["turn"]).values())
    report, tongue = state["report"], state["language"]
    steps = [
        f"step {one['step']}, {one['title']}: {one['status']}"
        + "".join(f", {more}" for more in (one["reason"], one["review"]) if more)
        for one in found
    ]
    removed = (describe_removal(one["reason"], tongue) for one in report["removed"])
    doubts = (describe_doubt(one["reason"], tongue) for one in report["doubted"])
    # A sentence may contain the words of any page, and an insight becomes guidance.
    counts = Counter([*removed, *doubts])
    checked = [f"- {why}: {count}" for why, count in counts.items()]
    missing = [f"missing: {gap['title']}: {gap['reason']}" for gap in list_gaps(state)]
    return "\n".join([*steps, *checked, *missing])
