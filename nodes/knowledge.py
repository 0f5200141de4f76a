"""Search the knowledge bases that the plan names, before its steps."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.gateway import ask
from calls.replies import SearchTexts, VisibleText
from calls.streaming import show_progress
from config.errors import Problem
from graph.context import Context
from graph.records import key_by_turn
from graph.state import State
from library.knowledge_records import KnowledgeBase
from models.chat_models import built_in
from prompts.data_blocks import join_prompt_blocks, render_block
from prompts.loader import render_prompt
from runs.call_site import call_site
from text.script import detect_language
from text.term_pairs import restate_terms
from tools.evidence import gather_from_bases
from tools.knowledge.base_search import search_bases
from tools.knowledge.catalog import list_bases
from tools.knowledge.kinds import read_options
from tools.knowledge.knowledge_source import BaseUnanswered

MOST_QUERIES = 9
"""How many queries of the run are put to each base."""

log = logging.getLogger(__name__)


class KnowledgeQueries(BaseModel):
    """More wordings for bases that ask for them."""

    answer: VisibleText = ""
    translations: SearchTexts = []


async def knowledge(state: State, runtime: Runtime[Context]) -> State:
    """Search the knowledge bases of the plan for the question and its queries, and no others.

    A base that cannot be searched is named in the report, and stops nothing.

    Reads `plan`, `question`, `queries`; writes `knowledge`, `sources`, `unsearched`.
    """
    names = state["plan"].get("knowledge", [])
    if not names:
        return State(knowledge=[])
    place = call_site(state, runtime)
    show_progress(state, "knowledge", bases=", ".join(names))
    runtime.stream_writer({"event": "knowledge", "bases": names})
    bases, problems = await _find_bases(place.owner, names)
    queries = list(dict.fromkeys([state["question"], *state["queries"]]))[:MOST_QUERIES]
    more = await _more_queries(state, runtime, bases, queries)
    queries_of = {base.name: [*queries, *more.list_queries(base)] for base in bases}
    hits = await search_bases(place, runtime.context, bases, queries_of)
    hits = hits._replace(problems=[*problems, *hits.problems])
    found = await gather_from_bases(place, runtime.context, hits, queries, about=state["question"])
    unsearched = key_by_turn(state["turn"], found.unsearched)
    return State(knowledge=found.passages, sources=found.sources, unsearched=unsearched)


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
