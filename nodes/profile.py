"""Open a new turn: take the question, learn what it says of the person, clear the last turn."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from graph.context import Context
from graph.records import EMPTY_PLAN, EMPTY_REPORT
from graph.state import GRAPH_VERSION, State, without
from memory.learning.questions import without_secrets
from memory.learning.rules import asked
from nodes.learn import hear_question
from nodes.shown_plan import plans_away
from prompts.loader import render
from retrieval.text import language
from runs.lifecycle import check_owner, check_question, opened
from runs.masking import masked_talk
from runs.place import fork_of, here
from tools.overview import asks_overview
from tools.uploads import Upload, newest_uploads, read_in, taken_in


async def profile(state: State, runtime: Runtime[Context]) -> State:
    """Begin the next turn of the thread; what the person says of themselves is known from here on.

    Files that were sent along are kept and read. Reads `messages`, `turn`; writes `run`, `turn`,
    `language`, `question`, `status`, `messages` where they held secrets, files or a plan, and
    resets what belongs to one turn.

    Raises:
        Problem: `question_empty`, `question_too_long` or `thread_taken`.
    """
    said = state.get("messages", [])
    turn = state.get("turn", 0) + 1
    place = here({"turn": turn}, runtime)
    await check_owner(place.owner, place.thread)
    safe = masked_talk(await taken_in(place.thread, said))
    files = newest_uploads(safe)
    question = check_question(_asked(state, files, _last_said(safe), runtime.context))
    state = State(**{**state, "messages": safe})
    run = await opened(place.owner, place.thread, turn, question, runtime.context)
    await read_in(place.owner, place.thread, files)
    await hear_question(state, place._replace(run=run))
    changed = [new for old, new in zip(said, safe, strict=True) if new is not old]
    return State(
        # A turn that was left at its plan leaves it in the conversation.
        messages=[*changed, *plans_away(state)],
        run=run,
        turn=turn,
        fork=fork_of(run),
        language=runtime.context.language or language(question),
        question=asked(without_secrets(question)),
        queries=[],
        background=without(state.get("background")),
        unsearched=without(state.get("unsearched")),
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
        status="running",
        graph_version=GRAPH_VERSION,
    )


def _asked(state: State, files: Sequence[Upload], words: str, context: Context) -> str:
    """Return the question; that of a file without words, or with "sum it up", names the file."""
    if not files or (words.strip() and not asks_overview(f"{words} docs")):
        return words
    tongue = language(words) if words.strip() else state.get("language", "en")
    named = [one for one in files if one.id] or files
    names = "".join if (context.language or tongue) == "zh" else ", ".join
    told = names(f"“{one.name}”" for one in named)
    return render("upload_question", language=context.language or tongue, files=told).strip()


def _last_said(messages: Sequence[AnyMessage]) -> str:
    said = [one for one in messages if isinstance(one, HumanMessage)]
    return str(said[-1].text) if said else ""
