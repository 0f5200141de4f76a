"""Write down what the passages say about the question."""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from graph.context import Context
from memory import pages
from nodes.agent import work
from nodes.recall.state import RecallState
from prompts.loader import render
from prompts.marks import block, blocks, pages_block
from report.verify import check


async def integrate(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Make notes of the passages, keeping only what its sources bear out.

    Reads `question`, `passages`, `sources`; writes `notes`, `pages`.
    """
    if not state["passages"]:
        return RecallState(notes="", pages=[])
    request = blocks(
        block("question", state["question"]),
        block("step", state["question"], title=state["question"][:100]),
        pages_block(state["passages"], state["sources"]),
    )
    system = render("researcher", language=state["language"])
    written = await work(state, runtime, "recall", system, [HumanMessage(request)])
    sources = state["sources"]
    stored = await pages.texts([source["page"] for source in sources.values()])
    texts = {name: stored[source["page"]] for name, source in sources.items()}
    checked = check(written.text, texts)
    notes = checked.body if checked.cited else ""
    return RecallState(notes=notes, pages=[sources[one]["page"] for one in checked.cited])
