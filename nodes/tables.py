"""Answer what a question asks of tables: by rules, and by a model where they do not read it all."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import QueryState
from memory.pages.uploads import with_uploads
from models.load import built_in
from nodes.agent import ask
from prompts.loader import render
from prompts.marks import block, blocks, wrap
from runs.place import here
from tools.direct import Direct, Made, direct
from tools.tables.answers import ROLE, Answers, Pair, answered, near, queried, tables_of
from tools.tables.query import TableQueries, schema


async def of_tables(state: QueryState, runtime: Runtime[Context]) -> Direct | None:
    """Return what is computed over tables for a question; nothing where no table is asked."""
    place, question, language = here(state, runtime), state["query"], state.get("language", "en")
    files = await with_uploads(place.owner, place.thread, runtime.context.files)
    looked = await tables_of(place.owner, files, question)
    found = await answered(place, runtime.context, looked, question, language)
    if found is None or not found.whole:
        found = await _asked(state, runtime, near(looked.pairs, question)) or found
    if found is None:
        return None
    made = [
        Made("file", one.file.sha256, one.file.path, one.title, one.place, one.text)
        for one in found.computed
    ]
    left = tuple((one.asked, one.why) for one in found.uncomputed)
    return (await direct(place, made))._replace(whole=found.whole, uncomputed=left)


async def _asked(
    state: QueryState, runtime: Runtime[Context], pairs: Sequence[Pair]
) -> Answers | None:
    """Return what a model's queries give; nothing where none reads it, or no table is near."""
    if not pairs or built_in(ROLE, runtime.context):
        return None
    language = state.get("language", "en")
    shown = [block("table", schema(table), name=table.name) for _, table in pairs]
    said = HumanMessage(blocks(block("question", state["query"]), wrap("tables", shown)))
    system = render("tables", language=language)
    none = TableQueries()
    read = await ask(state, runtime, ROLE, system, [said], TableQueries, otherwise=none)
    if not read.queries:
        return None
    return await queried(here(state, runtime), runtime.context, pairs, read, language)
