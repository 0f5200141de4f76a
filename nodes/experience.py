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

from config.errors import Problem
from graph.context import Context
from graph.records import Finding, of_steps
from graph.state import State
from memory.experience.insights import Insight
from memory.experience.lessons import Lessons, case, learn
from memory.experience.memory import lines
from memory.experience.outcome import Signs
from memory.experience.recalling import Rate, prepare
from memory.experience.runs import Experience, close
from memory.experience.tidying import due, retire, tidy
from memory.experience.utterances import Utterance
from models.load import built_in
from nodes.agent import ask
from prompts.loader import render
from prompts.marks import block, blocks, wrap
from prompts.methods import listed
from report.document import gaps, limit_reached
from report.keeping import stands
from report.wording import doubt, why_removed
from retrieval.text import sentences
from runs.place import Here, here
from runs.trace import trace

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


async def look_back(state: Mapping[str, Any], runtime: Runtime[Context], question: str) -> None:
    """Find the earlier runs that this one can learn from; a failure costs only the lesson."""
    place = here(state, runtime)
    keyless = built_in(ROLE, runtime.context)
    try:
        rate = None if keyless else _rater(state, runtime)
        await prepare(place.owner, place.run, question, rate=rate)
    except Problem as problem:
        log.warning("nothing was learnt for %r: %s", question, problem)


def _rater(state: Mapping[str, Any], runtime: Runtime[Context]) -> Rate:
    async def rate(question: str, past: Sequence[Experience]) -> Mapping[str, float]:
        shown = [
            block("run", one.question, number=number, ended=one.status)
            for number, one in enumerate(past, start=1)
        ]
        data = blocks(block("question", question), wrap("runs", shown))
        said = [HumanMessage(data)]
        nothing = Ratings(ratings=[])
        language = state.get("language", "en")
        system = render("rate_runs", language=language, best=BEST)
        rated = await ask(state, runtime, ROLE, system, said, Ratings, otherwise=nothing, repairs=0)
        return {
            past[one.run - 1].run: min(max(one.relevance, 0), BEST) / BEST
            for one in rated.ratings
            if 1 <= one.run <= len(past)
        }

    return rate


async def look_on(state: State, place: Here) -> None:
    """Write down how a run ended."""
    await close(place.owner, place.run, state["question"], signs(state), reason=_reason(state))


def signs(state: State) -> Signs:
    """Return what tells how a run ended, as far as the run itself can tell."""
    found: list[Finding] = list(of_steps(state.get("findings"), state["turn"]).values())
    report = state["report"]
    cited = bool(report["cited"])
    whole = float(cited and state["status"] == "succeeded")
    kept = sum(1 for _ in sentences(report["body"])) if cited else 0
    reviewed = [one for one in found if one["review"] in ("passed", "failed")]
    return Signs(
        coverage=_share([one["status"] == "ok" or stands(one) for one in found], whole),
        citations=kept / (kept + len(report["removed"])) if kept else 0.0,
        reflection=_share([one["review"] == "passed" for one in reviewed], float(cited)),
        budget=0.0 if limit_reached(state) else 1.0,
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
    limit = limit_reached(state)
    report = state["report"]
    warned = [f"{name}: {len(report[name])}" for name in _CHECKED if report[name]]
    return "; ".join([*failed, *([limit] if limit else []), *warned])[:1_000]


async def learn_from(state: State, runtime: Runtime[Context]) -> None:
    """Learn what the run teaches; every few runs, put what was learnt in order.

    A model compares it with similar runs; without one, later runs are shown its key steps alone.
    """
    place = here(state, runtime)
    ask_which = None
    if not built_in(ROLE, runtime.context):
        await _compared(state, runtime, place)
        ask_which = partial(_which, state, runtime)
    await retire(place.owner, place.run)
    if await due(place.owner):
        await tidy(place.owner, ask_which)


async def _compared(state: State, runtime: Runtime[Context], place: Here) -> None:
    """Ask a model what made the difference between this run and similar ones."""
    seen = await case(place.owner, place.run)
    if seen is None:
        return
    tongue = state["language"]
    system = render("lessons", language=tongue, methods=listed(tongue))
    shown = blocks(
        _shown("new", seen.new, seen.steps, _outcome(state)),
        *(_shown("other", one, steps) for one, steps in seen.others),
        _numbered(seen.known),
    )
    said = [HumanMessage(shown)]
    nothing = Lessons(lessons=[])
    answer = await ask(state, runtime, ROLE, system, said, Lessons, otherwise=nothing, repairs=0)
    if unknown := await learn(place.owner, seen, answer.lessons, state["language"]):
        await trace(place, "learn", ROLE, "refused", unknown=len(unknown))


async def _which(
    state: State, runtime: Runtime[Context], known: Sequence[Insight]
) -> Sequence[Sequence[int]]:
    """Ask a model which insights say the same."""
    system = render("tidy", language=state["language"])
    said = [HumanMessage(_numbered(known))]
    nothing = Same(groups=[])
    answer = await ask(state, runtime, ROLE, system, said, Same, otherwise=nothing, repairs=0)
    return answer.groups


def _numbered(known: Sequence[Insight]) -> str:
    return wrap("known", [block("insight", k.content, number=n) for n, k in enumerate(known, 1)])


def _shown(tag: str, one: Experience, steps: Sequence[Utterance], ended: str = "") -> str:
    warned = one.status == "resolved" and one.reason and one.signs.person is None
    status = "resolved, with warnings" if warned else one.status
    head = {"question": one.question, "ended": status, "why": one.reason}
    # A run of which no step is kept tells something too, and an empty block would be left out.
    return block(tag, "\n".join(filter(None, [lines(steps), ended])) or "-", **head)


def _outcome(state: State) -> str:
    """Return the result of each step of a run, how often the checks intervened, and its gaps."""
    found: list[Finding] = list(of_steps(state.get("findings"), state["turn"]).values())
    report, tongue = state["report"], state["language"]
    steps = [
        f"step {one['step']}, {one['title']}: {one['status']}"
        + "".join(f", {more}" for more in (one["reason"], one["review"]) if more)
        for one in found
    ]
    removed = (why_removed(one["reason"], tongue) for one in report["removed"])
    doubts = (doubt(one["reason"], tongue) for one in report["doubted"])
    # A sentence may contain the words of any page, and an insight becomes guidance.
    counts = Counter([*removed, *doubts])
    checked = [f"- {why}: {count}" for why, count in counts.items()]
    missing = [f"missing: {gap['title']}: {gap['reason']}" for gap in gaps(state)]
    return "\n".join([*steps, *checked, *missing])
