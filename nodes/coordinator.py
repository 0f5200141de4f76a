"""Tell small talk from something to research."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from calls.gateway import ask
from calls.replies import VisibleText
from graph.context import Context
from graph.records import Summary
from graph.state import State
from memory.learning.claim_checks import MAX_FACT_CHARS, find_refusal
from memory.learning.question_text import is_only_secrets
from memory.learning.self_statements import extract_statements, is_only_statements
from memory.self_questions import parse_self_question
from models.extractive.query_rewriting import triage_message
from models.extractive.schema_answers import extractive_answer
from nodes.concurrency import together
from nodes.conversation import has_masked_secret, load_conversation, stored_summary
from nodes.learn import learn_pending
from nodes.rewrite import rewritten
from prompts.loader import render_prompt
from runs.call_site import call_site
from runs.lifecycle import set_run_status
from tools.folder_ingestion import READABLE_TYPES
from tools.message_uploads import Upload, list_newest_uploads, list_unread_uploads
from tools.overview import asks_overview


@extractive_answer(triage_message)
class Triage(BaseModel):
    """What to do with what a person said."""

    research: bool = Field(description="true unless it is only small talk")
    reply: VisibleText = Field(default="", description="the answer to small talk, else empty")


async def coordinator(state: State, runtime: Runtime[Context]) -> State:
    """Answer small talk at once and send everything else on to research.

    The rewriter is asked at the same time, for most questions are researched; for small talk, what
    it has written is not used. What an earlier run left to be learnt holds nothing up beside that.

    Reads `messages`, `answers`, `summary`; writes `summary`, and `question` and `queries`, or
    `messages` and `status` when it answers.
    """
    (triage, summary, queries), _ = await together(
        _sorted_out(state, runtime), learn_pending(state, runtime)
    )
    if triage.research or not triage.reply:
        return State(**queries, summary=summary)
    place = call_site(state, runtime)
    await set_run_status(place.owner, place.run, "succeeded")
    return State(messages=[AIMessage(triage.reply)], status="succeeded", summary=summary)


async def _sorted_out(state: State, runtime: Runtime[Context]) -> tuple[Triage, Summary, State]:
    """Return what to do, the summary of what is not shown of the thread any more, and queries."""
    files = list_newest_uploads(state["messages"])
    left = await _not_read(state, runtime, files)
    if left and len(left) == len(files) and not _words(state):
        reply = _told("upload_not_read", state, left, kinds=READABLE_TYPES)
        return Triage(research=False, reply=reply), stored_summary(state), State()
    triage, summary, queries = await _asked(state, runtime)
    if triage.reply and left:
        more = _told("notice_not_read", state, left)
        triage = triage.model_copy(update={"reply": f"{triage.reply} {more}"})
    return triage, summary, queries


async def _not_read(state: State, runtime: Runtime[Context], files: Sequence[Upload]) -> list[str]:
    place = call_site(state, runtime)
    return (
        await list_unread_uploads(place.owner, place.thread, files, state["language"])
        if files
        else []
    )


def _words(state: State) -> str:
    """Return the person's own words, without what the program asks for them of their files."""
    said = [str(one.text) for one in state["messages"] if one.type == "human"]
    return said[-1].strip() if said else ""


def _told(name: str, state: State, left: Sequence[str], **more: str) -> str:
    between = "；" if state["language"] == "zh" else "; "
    return render_prompt(name, language=state["language"], files=between.join(left), **more).strip()


async def _asked(state: State, runtime: Runtime[Context]) -> tuple[Triage, Summary, State]:
    """Ask whether it is small talk and for queries, both at once; some questions say it alone."""
    if is_only_statements(state["question"]) or is_only_secrets(state["question"]):
        return Triage(research=False, reply=_noted(state, runtime)), stored_summary(state), State()
    if parse_self_question(state["question"]) or asks_overview(state["question"]):
        return Triage(research=True), stored_summary(state), await rewritten(state, runtime)
    said, summary = await load_conversation(state, runtime)
    state = State(**{**state, "summary": summary})
    triage, queries = await together(_triage(state, runtime, said), rewritten(state, runtime))
    return triage, summary, queries


async def _triage(state: State, runtime: Runtime[Context], said: Sequence[AnyMessage]) -> Triage:
    system = render_prompt("coordinator", language=state["language"])
    # Research is never wrong where nobody can tell.
    unsure = Triage(research=True)
    triage = await ask(state, runtime, "coordinator", system, said, Triage, default=unsure)
    if triage.reply and has_masked_secret(state):
        told = render_prompt("refused_secret", language=state["language"]).strip()
        triage = triage.model_copy(update={"reply": f"{triage.reply} {told}"})
    return triage


def _noted(state: State, runtime: Runtime[Context]) -> str:
    """Return what is said of what the person only told: that it is kept, or why it is not."""
    refused = [
        find_refusal(one.content, one.quote) for one in extract_statements(state["question"])
    ]
    refused += ["secret"] * has_masked_secret(state)
    names = [f"refused_{why}" for why in dict.fromkeys(refused) if why]
    # The terminal's commands mean nothing to the client of a server.
    noted = ["noted", *(["noted_where"] if runtime.server_info is None else [])]
    kept = noted if "" in refused else []
    said = [
        render_prompt(name, language=state["language"], most=MAX_FACT_CHARS)
        for name in [*kept, *names]
    ]
    return " ".join(text.strip() for text in said)
