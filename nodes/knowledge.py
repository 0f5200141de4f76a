"""Search the knowledge bases that the plan names, before its steps."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple, cast

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.gateway import ask
from calls.replies import SearchTexts, VisibleText
from calls.run_progress import show_progress
from config.errors import Problem
from graph.context import Context
from graph.records import (
    COMPUTED_ENTRY,
    UNCOMPUTED_ENTRY,
    Background,
    entries_of_turn,
    key_by_turn,
)
from graph.state import QueryState, State
from library.knowledge_records import KnowledgeBase
from models.chat_models import built_in
from models.faults import raise_if_fatal
from nodes.direct import answer_from_tables
from prompts.data_blocks import join_prompt_blocks, render_block
from prompts.loader import render_prompt
from runs.call_site import CallSite, call_site
from runs.trace import trace
from text.script import detect_language
from text.term_pairs import restate_terms
from tools.computed_pages import DirectAnswer
from tools.evidence import gather_from_bases
from tools.knowledge.base_search import search_bases
from tools.knowledge.catalog import list_bases
from tools.knowledge.kinds import read_options
from tools.knowledge.knowledge_source import BaseUnanswered
from tools.run_files import list_base_files

MOST_QUERIES = 9
"""How many queries of the run are put to each base."""

TABLES_ENTRY = "tables"
"""The name of what was computed over the tables of bases, among the entries of a turn."""

log = logging.getLogger(__name__)


class KnowledgeQueries(BaseModel):
    """More wordings for bases that ask for them."""

    answer: VisibleText = ""
    translations: SearchTexts = []


async def knowledge(state: State, runtime: Runtime[Context]) -> State:
    """Search the knowledge bases of the plan for the question and its queries, and no others.

    A base that cannot be searched is named in the report, and stops nothing. A question that the
    tables of the bases answer completely is not searched for, nor are the steps of a plan done that
    nobody has changed.

    Reads `plan`, `question`, `queries`, `background`, `decision`, `wishes`; writes `knowledge`,
    `background`, `sources`, `unsearched`.
    """
    names = state["plan"].get("knowledge", [])
    if not names:
        return State(knowledge=[])
    place = call_site(state, runtime)
    show_progress(state, "knowledge", bases=", ".join(names))
    computed = await _compute(state, runtime, place, names)
    if computed and computed.whole and not _is_changed_by_person(state):
        entry = {TABLES_ENTRY: _entry(state, computed)}
        return State(
            knowledge=[],
            background=key_by_turn(state["turn"], entry),
            sources=computed.sources,
        )
    bases, problems = await _find_bases(place.owner, names)
    queries = list(dict.fromkeys([state["question"], *state["queries"]]))[:MOST_QUERIES]
    more = await _more_queries(state, runtime, bases, queries)
    queries_of = {base.name: [*queries, *more.list_queries(base)] for base in bases}
    hits = await search_bases(place, runtime.context, bases, queries_of)
    hits = hits._replace(problems=[*problems, *hits.problems])
    found = await gather_from_bases(place, runtime.context, hits, queries, about=state["question"])
    unsearched = key_by_turn(state["turn"], found.unsearched)
    update = State(knowledge=found.passages, sources=found.sources, unsearched=unsearched)
    return _with_computed(state, update, computed) if computed else update


async def _compute(
    state: State, runtime: Runtime[Context], place: CallSite, names: Sequence[str]
) -> DirectAnswer | None:
    """Compute an answer over the tables of bases; None if the question asks about none of them.

    What prevents it leaves the question to the search.
    """
    asked = cast("QueryState", state | {"query": state["question"], "number": 1})
    try:
        files = await list_base_files(place.owner, names)
        answer = await answer_from_tables(asked, runtime, files) if files else None
        if answer:
            status = "not_computed" if answer.uncomputed else "ok"
            await trace(place, "compute", "knowledge", status, bases=[*names])
        return answer
    except Problem as problem:
        raise_if_fatal(problem)
        log.warning("nothing was computed over tables of %s: %s", ", ".join(names), problem)
        return None


def _is_changed_by_person(state: State) -> bool:
    """Tell whether a person has changed the plan, or said something about it."""
    return state.get("decision") == "edit" or bool(state.get("wishes"))


def _entry(state: State, computed: DirectAnswer) -> Background:
    return Background(query=state["question"], status="ok", reason="", passages=computed.passages)


def _with_computed(state: State, update: State, computed: DirectAnswer) -> State:
    """Add what was computed to an update, with an entry for each part that was not."""
    taken = entries_of_turn(state.get("background"), state["turn"])
    entries = {
        f"{UNCOMPUTED_ENTRY}-{TABLES_ENTRY}{number}": Background(
            query=part, status="failed", reason=f"not_computed: {reason}", passages=[]
        )
        for number, (part, reason) in enumerate(computed.uncomputed, start=1)
    }
    if computed.passages:
        # Where it is named so, the rest of the question is researched.
        name = TABLES_ENTRY if COMPUTED_ENTRY in taken else COMPUTED_ENTRY
        entries[name] = _entry(state, computed)
    sources = {**update["sources"], **computed.sources}
    return update | State(background=key_by_turn(state["turn"], entries), sources=sources)


async def _find_bases(
    owner: str, names: Sequence[str]
) -> tuple[list[KnowledgeBase], list[Problem]]:
    """Return the bases of a plan; one that was removed since then is a problem of the report."""
    try:
        known = {base.name: base for base in await list_bases(owner)}
    except Problem as problem:
        return [], [BaseUnanswered(name, problem) for name in names]
    missing = [
        BaseUnanswered(name, Problem.from_dict(_REMOVED)) for name in names if name not in known
    ]
    return [known[name] for name in dict.fromkeys(names) if name in known], [*missing]


_REMOVED = {"code": "knowledge_unknown", "detail": "it was removed", "where": "", "hint": ""}


class _MoreQueries(NamedTuple):
    """What else some bases are searched with."""

    answer: str = ""
    translations: tuple[str, ...] = ()

    def list_queries(self, base: KnowledgeBase) -> list[str]:
        """Return the further queries for one base, by its options."""
        options = read_options(base)
        fitting = [text for text in self.translations if detect_language(text) == options.translate]
        return [*fitting, *([self.answer] if options.hyde and self.answer else [])]


async def _more_queries(
    state: State,
    runtime: Runtime[Context],
    bases: Sequence[KnowledgeBase],
    queries: Sequence[str],
) -> _MoreQueries:
    """Return a likely answer and translations, if a base asks for them and none is there."""
    options = [read_options(base) for base in bases]
    spoken = {detect_language(query) for query in queries}
    wanted = {one.translate for one in options if one.translate} - spoken
    hyde = any(one.hyde for one in options)
    if not (wanted or hyde):
        return _MoreQueries()
    if built_in("rewriter", runtime.context):
        restated = restate_terms(state["question"]).text if wanted else ""
        return _MoreQueries("", tuple(filter(None, [restated])))
    language = state["language"]
    request = join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("queries", "\n".join(queries)),
        render_block("languages", " ".join(sorted(wanted))),
    )
    try:
        made = await ask(
            state,
            runtime,
            "rewriter",
            render_prompt("knowledge_queries", language=language),
            [HumanMessage(request)],
            KnowledgeQueries,
            default=KnowledgeQueries(),
        )
    except Problem as problem:
        log.warning("the bases are searched with the queries alone: %s", problem)
        return _MoreQueries()
    return _MoreQueries(made.answer if hyde else "", tuple(made.translations))
