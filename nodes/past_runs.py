"""Find lessons in earlier runs, and record the outcome of this one for later runs."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

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
"""How far a run has answered its question, by its status; 0 for any other status."""

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

    groups: list[list[int]]


async def recall_past_runs(
    state: Mapping[str, Any], runtime: Runtime[Context], question: str
) -> None:
    """Find earlier runs from which this one can learn; a failure only loses the lesson."""
    place = call_site(state, runtime)
    keyless = built_in(ROLE, runtime.context)
    try:
        rate = None if keyless else _rater(state, runtime)
        await store_related_runs(place.owner, place.run, question, rate=rate)
    except Problem as problem:
        log.warning("nothing was learnt for %r: %s", question, problem)


def _rater(state: Mapping[str, Any], runtime: Runtime[Context]) -> RunRater:
    async def rate(question: str, past: Sequence[PastRun]) -> Mapping[str, float]:
        """Return how much each past run helps, in 0..1; a run that is not rated is left out."""
        blocks = [
            render_block("run", run.question, number=number, ended=run.status)
            for number, run in enumerate(past, start=1)
        ]
        data = join_prompt_blocks(render_block("question", question), wrap_blocks("runs", blocks))
        messages, default = [HumanMessage(data)], Ratings(ratings=[])
        system = render_prompt("rate_runs", language=state.get("language", "en"), best=BEST)
        answer = await ask(
            state, runtime, ROLE, system, messages, Ratings, default=default, repairs=0
        )
        return {
            past[rating.run - 1].run: min(max(rating.relevance, 0), BEST) / BEST
            for rating in answer.ratings
            if 1 <= rating.run <= len(past)
        }

    return rate


async def record_run_outcome(state: State, place: CallSite) -> None:
    """Record how a run ended."""
    ending = RunEnding(state["question"], _outcome_signs(state), _reason(state))
    await EXPERIENCE.record(place.owner, ending, run=place.run)


def _outcome_signs(state: State) -> OutcomeSignals:
    """Return the signals of success that the run itself provides."""
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


def _share(flags: Sequence[bool], default: float) -> float:
    return sum(flags) / len(flags) if flags else default


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
    """Learn the lessons of the run; every few runs, consolidate the insights.

    A model compares it with similar runs; without one, later runs only see its key steps.
    """
    place = call_site(state, runtime)
    find_duplicates = None
    if not built_in(ROLE, runtime.context):
        await _compare_runs(state, runtime, place)
        find_duplicates = partial(_find_duplicates, state, runtime)
    await retire_insights(place.owner, place.run)
    if await claim_consolidation(place.owner):
        await consolidate_insights(place.owner, find_duplicates)


async def _compare_runs(state: State, runtime: Runtime[Context], place: CallSite) -> None:
    """Ask a model what made the difference between this run and similar ones."""
    comparison = await load_run_comparison(place.owner, place.run)
    if comparison is None:
        return
    language = state["language"]
    system = render_prompt("lessons", language=language, methods=render_method_list(language))
    data = join_prompt_blocks(
        _shown("new", comparison.new, comparison.steps, _outcome(state)),
        *(_shown("other", run, steps) for run, steps in comparison.others),
        _numbered(comparison.insights),
    )
    messages, default = [HumanMessage(data)], Lessons(lessons=[])
    answer = await ask(state, runtime, ROLE, system, messages, Lessons, default=default, repairs=0)
    if unknown := await apply_lessons(place.owner, comparison, answer.lessons, language):
        await trace(place, "learn", ROLE, "refused", unknown=len(unknown))


async def _find_duplicates(
    state: State, runtime: Runtime[Context], insights: Sequence[Insight]
) -> Sequence[Sequence[int]]:
    """Ask a model which insights say the same."""
    system = render_prompt("tidy", language=state["language"])
    messages, default = [HumanMessage(_numbered(insights))], Same(groups=[])
    answer = await ask(state, runtime, ROLE, system, messages, Same, default=default, repairs=0)
    return answer.groups


def _numbered(insights: Sequence[Insight]) -> str:
    blocks = [
        render_block("insight", insight.content, number=number)
        for number, insight in enumerate(insights, start=1)
    ]
    return wrap_blocks("known", blocks)


def _shown(tag: str, one: PastRun, steps: Sequence[Utterance], ended: str = "") -> str:
    warned = one.status == "resolved" and one.reason and one.signs.person is None
    status = "resolved, with warnings" if warned else one.status
    head = {"question": one.question, "ended": status, "why": one.reason}
    # Without the dash, the block of a run without stored steps would be omitted.
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
