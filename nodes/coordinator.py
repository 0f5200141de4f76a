"""Decide between small talk and research."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

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
from nodes.concurrency import gather_both
from nodes.conversation import has_masked_secret, load_conversation, stored_summary
from nodes.learn import learn_pending
from nodes.revision import (
    begin_revision,
    find_last_version,
    find_revision_request,
    list_missing_sections,
    needs_only_writing,
)
from nodes.rewrite import rewritten
from prompts.loader import render_prompt
from runs.call_site import call_site
from runs.lifecycle import set_run_status
from text.revision_requests import RevisionKind, RevisionRequest
from tools.folder_ingestion import READABLE_TYPES
from tools.message_uploads import Upload, list_newest_uploads, list_unread_uploads
from tools.overview import asks_overview


@extractive_answer(triage_message)
class Triage(BaseModel):
    """What to do with what a person said."""

    research: bool
    reply: VisibleText = ""
    revision: RevisionKind | Literal[""] = ""
    topic: VisibleText = ""


async def coordinator(state: State, runtime: Runtime[Context]) -> State:
    """Answer small talk at once and send everything else on to research.

    The rewriter runs at the same time, since most questions are researched; its queries are unused
    for small talk. Pending lessons of earlier runs are learnt concurrently.

    Reads `messages`, `answers`, `summary`; writes `summary`, and `question` and `queries`, or
    `messages` and `status` when it answers.
    """
    (triage, summary, queries), _ = await gather_both(
        _decide(state, runtime), learn_pending(state, runtime)
    )
    if triage.research or not triage.reply:
        return State(**queries, summary=summary)
    place = call_site(state, runtime)
    await set_run_status(place.owner, place.run, "succeeded")
    return State(messages=[AIMessage(triage.reply)], status="succeeded", summary=summary)


async def _decide(state: State, runtime: Runtime[Context]) -> tuple[Triage, Summary, State]:
    """Return the triage, the summary of the older messages of the thread, and the queries."""
    files = list_newest_uploads(state["messages"])
    unread = await _unread_files(state, runtime, files)
    if unread and len(unread) == len(files) and not _last_words(state):
        reply = _render_files("upload_not_read", state, unread, kinds=READABLE_TYPES)
        return Triage(research=False, reply=reply), stored_summary(state), State()
    triage, summary, queries = await _ask(state, runtime)
    if triage.reply and unread:
        notice = _render_files("notice_not_read", state, unread)
        triage = triage.model_copy(update={"reply": f"{triage.reply} {notice}"})
    return triage, summary, queries


async def _unread_files(
    state: State, runtime: Runtime[Context], files: Sequence[Upload]
) -> list[str]:
    if not files:
        return []
    place = call_site(state, runtime)
    return await list_unread_uploads(place.owner, place.thread, files, state["language"])


def _last_words(state: State) -> str:
    """Return the last words of the person, without a question that the program adds for files."""
    texts = [str(message.text) for message in state["messages"] if message.type == "human"]
    return texts[-1].strip() if texts else ""


def _render_files(name: str, state: State, files: Sequence[str], **values: str) -> str:
    language = state["language"]
    listed = ("；" if language == "zh" else "; ").join(files)
    return render_prompt(name, language=language, files=listed, **values).strip()


async def _ask(state: State, runtime: Runtime[Context]) -> tuple[Triage, Summary, State]:
    """Triage and rewrite the question concurrently; some questions need no triage by a model."""
    if is_only_statements(state["question"]) or is_only_secrets(state["question"]):
        return (
            Triage(research=False, reply=_acknowledge(state, runtime)),
            stored_summary(state),
            State(),
        )
    if parse_self_question(state["question"]) or asks_overview(state["question"]):
        return Triage(research=True), stored_summary(state), await rewritten(state, runtime)
    if request := find_revision_request(state):
        triage, update = await _revise(state, runtime, request)
        return triage, stored_summary(state), update
    messages, summary = await load_conversation(state, runtime)
    state = State(**{**state, "summary": summary})
    triage, queries = await gather_both(
        _triage(state, runtime, messages), rewritten(state, runtime)
    )
    if triage.research and triage.revision and find_last_version(state):
        request = RevisionRequest(triage.revision, triage.topic)
        queries = State(**{**queries, **begin_revision(state, request)})
    return triage, summary, queries


async def _revise(
    state: State, runtime: Runtime[Context], request: RevisionRequest
) -> tuple[Triage, State]:
    """Return what begins a new version of the last report, with queries where it needs research."""
    if titles := list_missing_sections(state, request):
        listed = ("；" if state["language"] == "zh" else "; ").join(titles)
        language = state["language"]
        reply = render_prompt("no_such_section", language=language, titles=listed).strip()
        return Triage(research=False, reply=reply), State()
    update = begin_revision(state, request)
    if needs_only_writing(update):
        return Triage(research=True), update
    queries = await rewritten(State(**{**state, **update}), runtime)
    return Triage(research=True), State(**{**update, **queries})


async def _triage(
    state: State, runtime: Runtime[Context], messages: Sequence[AnyMessage]
) -> Triage:
    system = render_prompt("coordinator", language=state["language"])
    # If the model cannot decide, research is always acceptable.
    default = Triage(research=True)
    triage = await ask(state, runtime, "coordinator", system, messages, Triage, default=default)
    if triage.reply and has_masked_secret(state):
        notice = render_prompt("refused_secret", language=state["language"]).strip()
        triage = triage.model_copy(update={"reply": f"{triage.reply} {notice}"})
    return triage


def _acknowledge(state: State, runtime: Runtime[Context]) -> str:
    """Return the reply to statements of the person: that they are stored, or why not."""
    if not runtime.context.learn:
        return render_prompt("not_noted", language=state["language"])
    statements = extract_statements(state["question"])
    refusals = [find_refusal(statement.content, statement.quote) for statement in statements]
    refusals += ["secret"] * has_masked_secret(state)
    names = ["noted"] if "" in refusals else []
    # The terminal's commands mean nothing to the client of a server.
    names += ["noted_where"] if names and runtime.server_info is None else []
    names += [f"refused_{reason}" for reason in dict.fromkeys(refusals) if reason]
    texts = [render_prompt(name, language=state["language"], most=MAX_FACT_CHARS) for name in names]
    return " ".join(text.strip() for text in texts)
