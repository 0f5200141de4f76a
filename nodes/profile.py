"""Open a new turn: take the question, learn from it about the person, clear the last turn."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from calls.run_budget import end_session
from calls.run_progress import show_progress
from graph.context import Context
from graph.records import EMPTY_PLAN, EMPTY_REPORT
from graph.state import GRAPH_VERSION, State, clear_entries
from memory.learning.question_text import strip_told_secrets
from memory.learning.self_statements import strip_notes
from nodes.human_feedback import remove_plan_messages
from nodes.learn import queue_question
from nodes.same_question import find_earlier_run, offer_message, preset_choice, remove_offers
from prompts.loader import render_prompt
from runs.call_site import CallSite, call_site, fork_of_run
from runs.lifecycle import check_question, check_thread_owner, create_run, set_run_status
from runs.masking import mask_messages
from text.script import detect_language
from tools.knowledge.catalog import check_base_names
from tools.message_uploads import Upload, extract_uploads, ingest_uploads, list_newest_uploads
from tools.overview import asks_overview


async def profile(state: State, runtime: Runtime[Context]) -> State:
    """Begin the next turn of the thread; statements of the person about themselves are learnt.

    Uploaded files are stored and read. An earlier answer to the same question is looked for, before
    anything is paid. Reads `messages`, `turn`; writes `run`, `turn`, `language`, `question`,
    `earlier_run`, `status`, `messages` where they held secrets, files or a plan, and resets what
    belongs to one turn.

    Raises:
        Problem: `question_empty`, `question_too_long`, `thread_taken` or `knowledge_unknown`.
    """
    messages = state.get("messages", [])
    turn = state.get("turn", 0) + 1
    told = runtime.context.language or detect_language(_last_words(messages))
    show_progress({"turn": turn, "language": told}, "understanding")
    place = call_site({"turn": turn}, runtime)
    await check_thread_owner(place.owner, place.thread)
    await check_base_names(place.owner, runtime.context.knowledge)
    safe = mask_messages(await extract_uploads(place.thread, messages))
    files = list_newest_uploads(safe)
    question = check_question(_question(state, files, _last_words(safe), runtime.context))
    state = State(**{**state, "messages": safe})
    run = await create_run(place.owner, place.thread, turn, question, runtime.context)
    await ingest_uploads(place.owner, place.thread, files)
    if runtime.context.learn:
        await queue_question(state, place._replace(run=run))
    changed = [new for old, new in zip(messages, safe, strict=True) if new is not old]
    language = runtime.context.language or detect_language(question)
    place = place._replace(run=run)
    opened = _clear_turn(state) | State(
        # A turn that was abandoned at its plan has left that in the conversation.
        messages=[*changed, *remove_plan_messages(state), *remove_offers(state)],
        run=run,
        turn=turn,
        fork=fork_of_run(run),
        language=language,
        earlier_run=await find_earlier_run(place, question, language, runtime.context),
        question=strip_notes(strip_told_secrets(question)),
        status="running",
        graph_version=GRAPH_VERSION,
    )
    waits = opened["earlier_run"] and not preset_choice(runtime.context)
    return await _offer(place, opened) if waits else opened


def _clear_turn(state: State) -> State:
    """Return an update that empties what the last turn has left."""
    return State(
        revision=None,
        queries=[],
        background=clear_entries(state.get("background")),
        unsearched=clear_entries(state.get("unsearched")),
        pauses=clear_entries(state.get("pauses")),
        consulted=clear_entries(state.get("consulted")),
        plan=EMPTY_PLAN,
        feedback="",
        wishes=[],
        note="",
        decision="",
        revisions=0,
        rounds=0,
        follow_ups=[],
        knowledge=[],
        report=EMPTY_REPORT,
    )


async def _offer(place: CallSite, opened: State) -> State:
    """Return the update of a turn that waits for what to do with an earlier answer."""
    earlier = opened["earlier_run"]
    show_progress(opened, "earlier_waits", earlier=earlier["run"] if earlier else "")
    end_session(place)
    await set_run_status(place.owner, place.run, "waiting_review")
    messages = [*opened["messages"], offer_message(opened)]
    return State(**{**opened, "messages": messages, "status": "waiting_review"})


def _question(state: State, files: Sequence[Upload], words: str, context: Context) -> str:
    """Return the question; for files without words, or with "sum it up", one that names them."""
    if not files or (words.strip() and not asks_overview(f"{words} docs")):
        return words
    detected = detect_language(words) if words.strip() else state.get("language", "en")
    language = context.language or detected
    stored = [file for file in files if file.id] or files
    names = ("" if language == "zh" else ", ").join(f"“{file.name}”" for file in stored)
    return render_prompt("upload_question", language=language, files=names).strip()


def _last_words(messages: Sequence[AnyMessage]) -> str:
    texts = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
    return texts[-1] if texts else ""
