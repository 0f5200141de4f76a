"""The nodes of the memory researcher.

Plan what to look for, search, integrate what was found, check whether it is enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Literal

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field

from calls.gateway import DEFAULT_REPAIRS, ask
from calls.replies import SearchTexts
from calls.run_budget import end_session
from config.errors import Problem
from graph.context import Context
from library.page_outline import outline_pages, resolve_outline_ids
from library.scope import parse_scope
from memory.page_memory import REPORT_PAGE_KIND
from memory.reports import find_related_reports
from memory.self_questions import search_personal_notes
from models.extractive.memory_tasks import check_notes, plan_lookup, take_notes
from models.extractive.schema_answers import extractive_answer
from models.faults import raise_if_fatal
from nodes.direct import notes_as_results
from nodes.recall.recall_state import (
    NOTE_DOUBT_MARK,
    EarlierReport,
    PlannedSearch,
    RecallState,
    render_recall,
    round_of,
)
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_cited_block,
    render_pages_block,
)
from prompts.loader import render_prompt
from report.checks.attribution import CheckedText
from runs.call_site import CallSite, call_site, resolve_owner
from runs.lifecycle import check_question
from text.script import detect_language
from tools.computed_pages import DirectAnswer, record_direct_answer
from tools.evidence import recall_evidence
from tools.source_checks import verify_text

MAX_SEARCHES = 5
"""How many searches of one kind a request may have."""

PLAN_REPAIRS = 1
"""How often a plan that cannot be read is asked for again before the request itself is searched."""


@extractive_answer(plan_lookup)
class Lookup(BaseModel):
    """What to look for in memory, and in which ways."""

    needs: SearchTexts = Field(default=[], description="what must be known, one thing each")
    keywords: SearchTexts = Field(default=[], description="searches by the words that pages hold")
    meanings: SearchTexts = Field(default=[], description="searches by meaning, whole sentences")
    pages: list[str] = Field(default=[], description="ids of pages shown that are to be read")


async def plan(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Write the searches of a round, for every request at once.

    Reads `messages`, `question`, `requests`, `asked`, `parse_scope`; writes `searches` and `asked`,
    and for a new question everything else.
    """
    opened = _opened(state, runtime.context)
    requests = opened["requests"]
    searches = await asyncio.gather(*(_plan_search(opened, runtime, one) for one in requests))
    asked = [*opened["asked"], *requests]
    return RecallState(**{**opened, "searches": list(searches), "asked": asked})


def _opened(state: RecallState, context: Context) -> RecallState:
    """Return the state of a round: the next one, or the first of a new question."""
    question = check_question(str(state["messages"][-1].text))
    if state.get("requests") and question == state.get("question"):
        return RecallState(**{**state, "messages": []})
    inside = "run" in state
    return RecallState(
        question=question,
        language=detect_language(question),
        # Inside another graph the turn is that of the run it works for.
        turn=state["turn"] if inside else state.get("turn", 0) + 1,
        scope=state["scope"] if inside else list(context.memory),
        recall_round=0,
        requests=[question],
        asked=[],
        passages=[],
        sources={},
        notes="",
        extracts=[],
        pages=[],
        reports=[],
    )


async def _plan_search(
    state: RecallState, runtime: Runtime[Context], request: str
) -> PlannedSearch:
    whose, part = resolve_owner(runtime), parse_scope(state["scope"])
    shown = await outline_pages(whose, request, part.kinds, part.groups)
    data = join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("request", request),
        render_cited_block("notes", state["notes"]),
        render_block("outline", shown.text),
    )
    system = render_prompt("recall_plan", language=state["language"])
    as_asked = Lookup(keywords=[request], meanings=[request])
    lookup = await ask(
        state,
        runtime,
        "recall",
        system,
        [HumanMessage(data)],
        Lookup,
        default=as_asked,
        repairs=PLAN_REPAIRS,
    )
    if not (lookup.keywords or lookup.meanings or lookup.pages):
        lookup = as_asked
    return PlannedSearch(
        request=request,
        keywords=lookup.keywords[:MAX_SEARCHES],
        meanings=lookup.meanings[:MAX_SEARCHES],
        pages=await resolve_outline_ids(whose, shown, lookup.pages[:MAX_SEARCHES], request),
    )


MAX_PERSON_NOTES = 10
"""How many notes of what the person told are looked at."""


async def search(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Find the passages that fit the searches of this round.

    Reads `question`, `parse_scope`, `requests`, `searches`, `passages`; writes `passages`,
    `sources`, `fresh`, `reports`.
    """
    planned = state["searches"]
    queries = [query for one in planned for query in (*one["keywords"], *one["meanings"])]
    named = [page for one in planned for page in one["pages"]]
    about = "\n".join(dict.fromkeys([state["question"], *state["requests"]]))
    part = parse_scope(state["scope"])
    place, own = call_site(state, runtime), state.get("run", "")
    told = await _notes_of_person(state, place)
    choices = runtime.context
    pages = await recall_evidence(place, choices, queries, named, about=about, part=part, run=own)
    known = {(one["source"], one["text"]) for one in state["passages"]}
    every = [*told.passages, *pages.passages]
    new = [one for one in every if (one["source"], one["text"]) not in known]
    return RecallState(
        passages=[*state["passages"], *new],
        sources={**state["sources"], **told.sources, **pages.sources},
        fresh=any(one["source"] not in state["sources"] for one in new),
        reports=await _earlier_reports(state, place),
    )


async def _notes_of_person(state: RecallState, place: CallSite) -> DirectAnswer:
    """Return what the person told that fits the question; a run is told that by its memories."""
    if "run" in state or state["scope"]:
        return DirectAnswer([], {})
    notes = await search_personal_notes(place.owner, state["question"], MAX_PERSON_NOTES)
    return await record_direct_answer(place, notes_as_results(notes, state["language"]))


async def _earlier_reports(state: RecallState, place: CallSite) -> list[EarlierReport]:
    """Return the earlier reports on the question; a run is told of them by its memories."""
    if "run" in state or (state["scope"] and REPORT_PAGE_KIND not in state["scope"]):
        return []
    notes = await find_related_reports(place.owner, state["question"], titled=True)
    return [EarlierReport(page=one.id, title=one.title, abstract=one.text) for one in notes]


ENDS = ".!?。！？"


class NotedFact(BaseModel):
    """One thing that the pages say, and the ids of the pages that say it."""

    text: str
    pages: list[str]


@extractive_answer(take_notes)
class Notes(BaseModel):
    """What is known about the question."""

    facts: list[NotedFact] = []


async def integrate(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Write down what the passages say about the question, keeping only what they bear out.

    Reads `question`, `notes`, `passages`, `sources`; writes `notes`, `extracts`, `pages`, `fresh`.
    When nothing can be written, what was known stays, and the passages wait for the next round.
    """
    if not state["fresh"]:
        return RecallState()
    request = join_prompt_blocks(
        render_block("question", state["question"]),
        render_cited_block("notes", state["notes"]),
        render_pages_block(state["passages"], state["sources"]),
    )
    system = render_prompt("recall_integrate", language=state["language"])
    try:
        said = [HumanMessage(request)]
        written = await ask(state, runtime, "recall", system, said, Notes, repairs=_repairs(state))
    except Problem as problem:
        raise_if_fatal(problem)
        return RecallState()
    sources = state["sources"]
    facts = _joined(written.facts, sources)
    place, asked = call_site(state, runtime), state["question"]
    try:
        checked = await verify_text(place, runtime.context, "recall", facts, sources, asked)
    except Problem as problem:
        raise_if_fatal(problem)
        return RecallState()
    notes = _marked(checked)
    return RecallState(
        fresh=bool(notes.strip()),
        notes=notes,
        extracts=[one for one in state["passages"] if one["source"] in checked.cited],
        pages=[sources[one]["page"] for one in checked.cited],
    )


def _marked(checked: CheckedText) -> str:
    """Return the notes, those marked that their pages do not seem to say."""
    doubted = {one["text"].strip() for one in checked.doubted}
    lines = checked.body.split("\n")
    return "\n".join(
        f"{line} {NOTE_DOUBT_MARK}" if line.removeprefix("- ").strip() in doubted else line
        for line in lines
    )


def _repairs(state: RecallState) -> int:
    """Return how often notes that cannot be read are asked for again: not where time is short."""
    return 0 if state.get("most") == 1 else DEFAULT_REPAIRS


def _joined(facts: Iterable[NotedFact], known: Iterable[str]) -> str:
    """Return the facts as a list, each with the ids of its pages that are known."""
    lines = []
    for fact in facts:
        ids = [one for one in dict.fromkeys(fact.pages) if one in known]
        text = " ".join(fact.text.split())
        end = text[-1] if text and text[-1] in ENDS else ""
        if ids and text:
            markers = "".join(f"[{one}]" for one in ids)
            lines.append(f"- {text.removesuffix(end)} {markers}{end}")
    return "\n".join(lines)


ROUNDS = 3
"""How often memory is searched for one question, where nothing else is said."""

FOLLOW_UPS = 5
"""How many requests a round may lead to."""


@extractive_answer(check_notes)
class Complete(BaseModel):
    """Whether the notes answer the question completely."""

    complete: bool
    requests: SearchTexts = Field(default=[], description="what is still to be found out")


async def check(
    state: RecallState, runtime: Runtime[Context]
) -> Command[Literal["plan", "__end__"]]:
    """Finish when the notes are enough, nothing was found, or it was tried often enough.

    Reads `question`, `notes`, `fresh`, `asked`, `recall_round`, `most`, `reports`; writes
    `requests`, `recall_round`, `messages`.
    """
    if state["fresh"] and round_of(state) + 1 < state.get("most", ROUNDS):
        requests = await _requests(state, runtime)
        if requests:
            again = RecallState(requests=requests, recall_round=round_of(state) + 1)
            return Command(goto="plan", update=again)
    if "run" not in state:
        end_session(call_site(state, runtime))
    reply = AIMessage(render_recall(state))
    return Command(goto="__end__", update=RecallState(requests=[], messages=[reply]))


async def _requests(state: RecallState, runtime: Runtime[Context]) -> list[str]:
    """Return what else is to be found out; nothing when it is enough or nobody can tell."""
    data = join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("queries", "\n".join(state["asked"])),
        render_cited_block("notes", state["notes"]),
    )
    system = render_prompt("recall_check", language=state["language"])
    said, done = [HumanMessage(data)], Complete(complete=True)
    judged = await ask(state, runtime, "recall", system, said, Complete, default=done)
    new = [one for one in dict.fromkeys(judged.requests) if one.strip()]
    left = [one for one in new if one not in state["asked"]]
    return [] if judged.complete else left[:FOLLOW_UPS]
