"""The graph of the memory researcher, and its nodes: plan, search, integrate, check."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable
from functools import cache
from itertools import pairwise
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

from calls.embedding_meter import meter_embeddings
from calls.gateway import DEFAULT_REPAIRS, ask
from calls.replies import SearchTexts
from calls.run_budget import end_session
from calls.run_spans import trace_node
from config.errors import Problem
from graph.context import Context
from graph.state import CallSiteState, InputState
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
"""How many searches of each kind a request may have."""

PLAN_REPAIRS = 1
"""How often an invalid plan is asked for again before the request itself is searched for."""


def _repairs(state: RecallState, usual: int) -> int:
    """Return how often an answer may be repaired; a recall of a single round has no time for it."""
    return 0 if state.get("most") == 1 else usual


@extractive_answer(plan_lookup)
class Lookup(BaseModel):
    """What to look for in memory, and in which ways."""

    needs: SearchTexts = []
    keywords: SearchTexts = []
    meanings: SearchTexts = []
    pages: list[str] = []


async def plan(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Plan the searches of a round, for all requests concurrently.

    Reads `messages`, `question`, `requests`, `asked`, `scope`; writes `searches` and `asked`,
    and for a new question all other keys.
    """
    current = _start_round(state, runtime.context)
    requests = current["requests"]
    searches = await asyncio.gather(
        *(_plan_search(current, runtime, request) for request in requests)
    )
    asked = [*current["asked"], *requests]
    return RecallState(**{**current, "searches": searches, "asked": asked})


def _start_round(state: RecallState, context: Context) -> RecallState:
    """Return the state of the next round, or that of the first round of a new question."""
    # A client may start the graph with no message at all.
    asked = [str(message.text) for message in state.get("messages", [])]
    question = check_question(asked[-1] if asked else "")
    if state.get("requests") and question == state.get("question"):
        return RecallState(**{**state, "messages": []})
    inside = "run" in state
    # Inside another graph, a call belongs to the outer run, whose wishes hold for it.
    of_call = {
        name: value for name, value in state.items() if name in CallSiteState.__annotations__
    }
    fresh = RecallState(
        question=question,
        language=detect_language(question),
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
    return cast("RecallState", of_call) | fresh if inside else fresh


async def _plan_search(
    state: RecallState, runtime: Runtime[Context], request: str
) -> PlannedSearch:
    owner, part = resolve_owner(runtime), parse_scope(state["scope"])
    outline = await outline_pages(owner, request, part)
    data = join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("request", request),
        render_cited_block("notes", state["notes"]),
        render_block("outline", outline.text),
    )
    system = render_prompt("recall_plan", language=state["language"])
    default = Lookup(keywords=[request], meanings=[request])
    lookup = await ask(
        state,
        runtime,
        "recall",
        system,
        [HumanMessage(data)],
        Lookup,
        default=default,
        repairs=_repairs(state, PLAN_REPAIRS),
    )
    if not (lookup.keywords or lookup.meanings or lookup.pages):
        lookup = default
    return PlannedSearch(
        request=request,
        keywords=lookup.keywords[:MAX_SEARCHES],
        meanings=lookup.meanings[:MAX_SEARCHES],
        pages=await resolve_outline_ids(owner, outline, lookup.pages[:MAX_SEARCHES], request),
    )


MAX_PERSON_NOTES = 10
"""How many notes about the person are searched for."""


async def search(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Search memory for the passages that match the searches of this round.

    Reads `question`, `scope`, `requests`, `searches`, `passages`; writes `passages`,
    `sources`, `fresh`, `reports`.
    """
    planned = state["searches"]
    queries = [query for entry in planned for query in (*entry["keywords"], *entry["meanings"])]
    page_ids = [page for entry in planned for page in entry["pages"]]
    about = "\n".join(dict.fromkeys([state["question"], *state["requests"]]))
    part = parse_scope(state["scope"])
    place, run = call_site(state, runtime), state.get("run", "")
    notes = await _personal_notes(state, place)
    pages = await recall_evidence(
        place, runtime.context, queries, page_ids, about=about, part=part, run=run
    )
    seen = {(hit["source"], hit["text"]) for hit in state["passages"]}
    hits = [*notes.passages, *pages.passages]
    new = [hit for hit in hits if (hit["source"], hit["text"]) not in seen]
    return RecallState(
        passages=[*state["passages"], *new],
        sources={**state["sources"], **notes.sources, **pages.sources},
        fresh=any(hit["source"] not in state["sources"] for hit in new),
        reports=await _earlier_reports(state, place),
    )


async def _personal_notes(state: RecallState, place: CallSite) -> DirectAnswer:
    """Return the notes about the person that match the question; an outer run has its own."""
    if "run" in state or state["scope"]:
        return DirectAnswer([], {})
    notes = await search_personal_notes(place.owner, state["question"], MAX_PERSON_NOTES)
    return await record_direct_answer(place, notes_as_results(notes, state["language"]))


async def _earlier_reports(state: RecallState, place: CallSite) -> list[EarlierReport]:
    """Return the earlier reports on the question; an outer run has its own."""
    if "run" in state or (state["scope"] and REPORT_PAGE_KIND not in state["scope"]):
        return []
    notes = await find_related_reports(place.owner, state["question"], titled=True)
    return [EarlierReport(page=note.id, title=note.title, abstract=note.text) for note in notes]


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
    """Write notes on the question from the passages, and keep those that the passages support.

    Reads `question`, `notes`, `passages`, `sources`; writes `notes`, `extracts`, `pages`, `fresh`.
    If no notes can be written, the earlier ones remain, and the next round tries again.
    """
    if not state["fresh"]:
        return RecallState()
    request = join_prompt_blocks(
        render_block("question", state["question"]),
        render_cited_block("notes", state["notes"]),
        render_pages_block(state["passages"], state["sources"]),
    )
    system = render_prompt("recall_integrate", language=state["language"])
    messages, sources = [HumanMessage(request)], state["sources"]
    place, question = call_site(state, runtime), state["question"]
    repairs = _repairs(state, DEFAULT_REPAIRS)
    try:
        written = await ask(state, runtime, "recall", system, messages, Notes, repairs=repairs)
        facts = _render_facts(written.facts, sources)
        checked = await verify_text(place, runtime.context, "recall", facts, sources, question)
    except Problem as problem:
        raise_if_fatal(problem)
        return RecallState()
    notes = _mark_doubts(checked)
    return RecallState(
        fresh=bool(notes.strip()),
        notes=notes,
        extracts=[hit for hit in state["passages"] if hit["source"] in checked.cited],
        pages=[sources[name]["page"] for name in checked.cited],
    )


def _mark_doubts(checked: CheckedText) -> str:
    """Return the notes, with a mark after each that its pages may not support."""
    doubted = {doubt["text"].strip() for doubt in checked.doubted}
    lines = checked.body.split("\n")
    return "\n".join(
        f"{line} {NOTE_DOUBT_MARK}" if line.removeprefix("- ").strip() in doubted else line
        for line in lines
    )


def _render_facts(facts: Iterable[NotedFact], known_ids: Container[str]) -> str:
    """Render the facts as a list, each with the known ids of its pages before its full stop."""
    lines = []
    for fact in facts:
        markers = "".join(f"[{page}]" for page in dict.fromkeys(fact.pages) if page in known_ids)
        text = " ".join(fact.text.split())
        if markers and text:
            end = text[-1] if text[-1] in ENDS else ""
            lines.append(f"- {text.removesuffix(end)} {markers}{end}")
    return "\n".join(lines)


ROUNDS = 3
"""How often memory is searched for one question by default."""

FOLLOW_UPS = 5
"""How many requests the next round may have."""


@extractive_answer(check_notes)
class Complete(BaseModel):
    """Whether the notes answer the question completely."""

    complete: bool
    requests: SearchTexts = []


async def check(
    state: RecallState, runtime: Runtime[Context]
) -> Command[Literal["plan", "__end__"]]:
    """Finish when the notes suffice, nothing new was found, or no round is left.

    Reads `question`, `notes`, `fresh`, `asked`, `recall_round`, `most`, `reports`; writes
    `requests`, `recall_round`, `messages`.
    """
    if state["fresh"] and round_of(state) + 1 < state.get("most", ROUNDS):
        requests = await _follow_ups(state, runtime)
        if requests:
            update = RecallState(requests=requests, recall_round=round_of(state) + 1)
            return Command(goto="plan", update=update)
    if "run" not in state:
        end_session(call_site(state, runtime))
    reply = AIMessage(render_recall(state))
    return Command(goto="__end__", update=RecallState(requests=[], messages=[reply]))


async def _follow_ups(state: RecallState, runtime: Runtime[Context]) -> list[str]:
    """Return new requests; none if the notes suffice or cannot be judged."""
    data = join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("queries", "\n".join(state["asked"])),
        render_cited_block("notes", state["notes"]),
    )
    system = render_prompt("recall_check", language=state["language"])
    messages, default = [HumanMessage(data)], Complete(complete=True)
    verdict = await ask(state, runtime, "recall", system, messages, Complete, default=default)
    requests = [text for text in dict.fromkeys(verdict.requests) if text.strip()]
    new = [text for text in requests if text not in state["asked"]]
    return [] if verdict.complete else new[:FOLLOW_UPS]


@cache
def make_recall_graph(*, inside: bool = False) -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the graph that answers a question from memory alone.

    Args:
        inside: Whether another graph calls it; it then works for the run in its input and has no
            checkpointer.
    """
    schema = RecallState if inside else InputState
    graph = StateGraph(RecallState, context_schema=Context, input_schema=schema)
    for node in (plan, search, integrate, check):
        metered = meter_embeddings(node)
        # Within another run, the span of the node that calls this graph is enough.
        graph.add_node(node.__name__, metered if inside else trace_node(metered, "recall"))
    for start, end in pairwise([START, "plan", "search", "integrate", "check"]):
        graph.add_edge(start, end)
    return graph.compile(checkpointer=False if inside else None, name="recall")
