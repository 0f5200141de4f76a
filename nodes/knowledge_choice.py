"""Which knowledge bases a plan names: those that a person chose, a model, or their descriptions."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from graph.records import Plan
from graph.state import State
from library.knowledge_records import KnowledgeBase
from models.chat_models import built_in
from prompts.data_blocks import render_block
from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from runs.call_site import call_site
from tools.evidence import searches_web
from tools.knowledge.catalog import list_bases
from tools.knowledge.kinds import NO_BASES
from tools.knowledge.selection import MOST_BASES, choose_by_description

MOST_OFFERED = 20
"""How many bases a model is told of."""

log = logging.getLogger(__name__)


async def list_offered_bases(state: State, runtime: Runtime[Context]) -> list[KnowledgeBase]:
    """Return the bases that a plan may name: all, those that the run chooses, or none."""
    chosen = runtime.context.knowledge
    if NO_BASES in chosen:
        return []
    try:
        known = await list_bases(call_site(state, runtime).owner)
    except Problem as problem:
        log.warning("no knowledge base is searched: %s", problem)
        return []
    return [base for base in known if not chosen or base.name in chosen]


def is_models_choice(runtime: Runtime[Context], offered: Sequence[KnowledgeBase]) -> bool:
    """Tell whether the planner's model decides which of some bases are searched."""
    return bool(offered) and not (runtime.context.knowledge or built_in("planner", runtime.context))


def render_choice_prompt(language: str) -> str:
    """Return what the planner is told of its choice of bases."""
    return render_prompt("plan_knowledge", language=language)


def render_bases_block(offered: Sequence[KnowledgeBase]) -> str:
    """Mark the bases for a model, each with what it is about."""
    lines = (f"- {base.name}: {cut_injections(base.about)}" for base in offered[:MOST_OFFERED])
    return render_block("knowledge", "\n".join(lines))


async def name_bases(
    state: State, runtime: Runtime[Context], plan: Plan, offered: Sequence[KnowledgeBase]
) -> Plan:
    """Return a plan that names the bases which are searched for it, unless there are none.

    Args:
        state: The state of the graph, for the question and its queries.
        runtime: The runtime of the node.
        plan: A plan, with the names that a model has chosen, if one was asked.
        offered: The bases that it may name.
    """
    names = [base.name for base in offered]
    if not names:
        return plan
    if runtime.context.knowledge:
        return plan | {"knowledge": names}
    if "knowledge" in plan and is_models_choice(runtime, offered):
        said = {name.casefold() for name in plan["knowledge"]}
        return plan | {"knowledge": [name for name in names if name.casefold() in said]}
    questions = [state["question"], *state["queries"]]
    fitting = await choose_by_description(questions, offered)
    if not fitting and not (runtime.context.files or searches_web(runtime.context)):
        fitting = names[:MOST_BASES]
    return plan | {"knowledge": fitting}
