"""Tell small talk from something to research."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from graph.context import Context
from graph.records import Summary
from graph.state import State
from memory.about import about
from memory.learning.gate import LONGEST, refusal
from memory.learning.questions import only_secrets
from memory.learning.rules import only_tells, stated
from nodes.agent import ask
from nodes.beside import together
from nodes.conversation import conversation, holds_secret, summary_of
from nodes.learn import learn_due
from nodes.rewrite import rewritten
from nodes.typed import Shown
from prompts.loader import render
from runs.lifecycle import mark
from runs.place import here
from tools.ingest import KINDS
from tools.overview import asks_overview
from tools.uploads import Upload, newest_uploads, not_read


class Triage(BaseModel):
    """What to do with what a person said."""

    research: bool = Field(description="true unless it is only small talk")
    reply: Shown = Field(default="", description="the answer to small talk, else empty")


async def coordinator(state: State, runtime: Runtime[Context]) -> State:
    """Answer small talk at once and send everything else on to research.

    The rewriter is asked at the same time, for most questions are researched; for small talk, what
    it has written is not used. What an earlier run left to be learnt holds nothing up beside that.

    Reads `messages`, `answers`, `summary`; writes `summary`, and `question` and `queries`, or
    `messages` and `status` when it answers.
    """
    (triage, summary, queries), _ = await together(
        _sorted_out(state, runtime), learn_due(state, runtime)
    )
    if triage.research or not triage.reply:
        return State(**queries, summary=summary)
    place = here(state, runtime)
    await mark(place.owner, place.run, "succeeded")
    return State(messages=[AIMessage(triage.reply)], status="succeeded", summary=summary)


async def _sorted_out(state: State, runtime: Runtime[Context]) -> tuple[Triage, Summary, State]:
    """Return what to do, the summary of what is not shown of the thread any more, and queries."""
    files = newest_uploads(state["messages"])
    left = await _not_read(state, runtime, files)
    if left and len(left) == len(files) and not _words(state):
        reply = _told("upload_not_read", state, left, kinds=KINDS)
        return Triage(research=False, reply=reply), summary_of(state), State()
    triage, summary, queries = await _asked(state, runtime)
    if triage.reply and left:
        more = _told("notice_not_read", state, left)
        triage = triage.model_copy(update={"reply": f"{triage.reply} {more}"})
    return triage, summary, queries


async def _not_read(state: State, runtime: Runtime[Context], files: Sequence[Upload]) -> list[str]:
    place = here(state, runtime)
    return await not_read(place.owner, place.thread, files, state["language"]) if files else []


def _words(state: State) -> str:
    """Return the person's own words, without what the program asks for them of their files."""
    said = [str(one.text) for one in state["messages"] if one.type == "human"]
    return said[-1].strip() if said else ""


def _told(name: str, state: State, left: Sequence[str], **more: str) -> str:
    between = "；" if state["language"] == "zh" else "; "
    return render(name, language=state["language"], files=between.join(left), **more).strip()


async def _asked(state: State, runtime: Runtime[Context]) -> tuple[Triage, Summary, State]:
    """Ask whether it is small talk and for queries, both at once; some questions say it alone."""
    if only_tells(state["question"]) or only_secrets(state["question"]):
        return Triage(research=False, reply=_noted(state, runtime)), summary_of(state), State()
    if about(state["question"]) or asks_overview(state["question"]):
        return Triage(research=True), summary_of(state), await rewritten(state, runtime)
    said, summary = await conversation(state, runtime)
    state = State(**{**state, "summary": summary})
    triage, queries = await together(_triage(state, runtime, said), rewritten(state, runtime))
    return triage, summary, queries


async def _triage(state: State, runtime: Runtime[Context], said: Sequence[AnyMessage]) -> Triage:
    system = render("coordinator", language=state["language"])
    # Research is never wrong where nobody can tell.
    unsure = Triage(research=True)
    triage = await ask(state, runtime, "coordinator", system, said, Triage, otherwise=unsure)
    if triage.reply and holds_secret(state):
        told = render("refused_secret", language=state["language"]).strip()
        triage = triage.model_copy(update={"reply": f"{triage.reply} {told}"})
    return triage


def _noted(state: State, runtime: Runtime[Context]) -> str:
    """Return what is said of what the person only told: that it is kept, or why it is not."""
    refused = [refusal(one.content, one.quote) for one in stated(state["question"])]
    refused += ["secret"] * holds_secret(state)
    names = [f"refused_{why}" for why in dict.fromkeys(refused) if why]
    # The terminal's commands mean nothing to the client of a server.
    noted = ["noted", *(["noted_where"] if runtime.server_info is None else [])]
    kept = noted if "" in refused else []
    said = [render(name, language=state["language"], most=LONGEST) for name in [*kept, *names]]
    return " ".join(text.strip() for text in said)
