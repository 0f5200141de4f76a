"""Begin a new version of the last report: what is asked to change in it, and what stays."""

from __future__ import annotations

from graph.records import Revision, TurnAnswer
from graph.state import State
from prompts.data_blocks import join_prompt_blocks, render_block, render_cited_block
from prompts.loader import render_prompt
from report.versions import get_previous_version, list_section_titles
from runs.call_site import run_id, thread_of_run
from text.question_parts import find_question_subject
from text.revision_requests import (
    RevisionRequest,
    find_section_number,
    parse_revision_request,
    resolve_section,
)
from text.script import detect_language
from text.topics import key_phrase, key_terms

WRITING_KINDS = ("shorten", "rewrite")
"""The kinds of revisions that need no research."""

NEW_RESEARCH_KINDS = ("deepen", "add")
"""The kinds of revisions for which steps are planned."""


MAX_REQUEST = 4_000
"""How many characters of a message that asks for a change are kept."""

ALONE = 2
"""With so many terms a topic stands alone; the noise is that of something."""

SUBJECT_WORDS = 4
"""So many words of a question tell what its report is about."""


def find_last_version(state: State) -> tuple[int, TurnAnswer] | None:
    """Return the newest report of this thread and its turn; None before the first one."""
    answers = {int(turn): answer for turn, answer in (state.get("answers") or {}).items()}
    turns = [turn for turn, one in answers.items() if 0 < turn < state["turn"] and one["text"]]
    return (max(turns), answers[max(turns)]) if turns else None


def find_revision_request(state: State) -> RevisionRequest | None:
    """Return what the last message asks to change in the last report, in plain words."""
    return parse_revision_request(_last_words(state)) if find_last_version(state) else None


def list_missing_sections(state: State, request: RevisionRequest) -> list[str]:
    """Return the titles of all sections if a request names one that the report does not have."""
    last = find_last_version(state)
    if last is None or not find_section_number(request.topic):
        return []
    titles = list_section_titles(last[1]["text"])
    return titles if resolve_section(request.topic, titles) is None else []


def begin_revision(state: State, request: RevisionRequest) -> State:
    """Return the update that makes the report of this turn a version of the last one.

    Reads `answers`, `run`, `messages`; returns `revision`, `question`, `language`. The version is
    written in the language of the last one, unless it is translated.
    """
    last = find_last_version(state)
    if last is None:
        return State()
    turn, answer = last
    topic = resolve_section(request.topic, list_section_titles(answer["text"])) or ""
    language = request.language or detect_language(answer["text"])
    revision = Revision(
        kind=request.kind,
        request=_last_words(state)[:MAX_REQUEST],
        topic=topic,
        turn=turn,
        run=answer.get("run") or run_id(thread_of_run(state["run"]), turn),
    )
    if request.language:
        revision["language"] = request.language
    question = answer["question"]
    if topic and request.kind in NEW_RESEARCH_KINDS:
        question = _ask_about(topic, question, language)
    return State(revision=revision, question=question, language=language)


def _ask_about(topic: str, question: str, language: str) -> str:
    """Return what is to be found out: the topic, with the subject of the report if it needs one."""
    if len(key_terms(topic)) >= ALONE:
        return topic
    subject = find_question_subject(question) or key_phrase(question, SUBJECT_WORDS)
    values = {"topic": topic, "question": subject}
    return render_prompt("revised_question", language=language, **values).strip()


def needs_only_writing(state: State) -> bool:
    """Tell whether the report is a version that changes only its form, so nothing is searched."""
    revision = state.get("revision")
    return revision is not None and revision["kind"] in WRITING_KINDS


def needs_new_steps(state: State) -> bool:
    """Tell whether the report is a version for which something new must be found out."""
    revision = state.get("revision")
    return revision is not None and revision["kind"] in NEW_RESEARCH_KINDS


def get_root_question(state: State) -> str:
    """Return the question that the report answers: a version answers that of the first one."""
    previous = get_previous_version(state)
    return previous["question"] if previous else state["question"]


def get_version_title(state: State) -> str:
    """Return the title of the version before, which a new one keeps; "" without one."""
    previous = get_previous_version(state)
    return previous.get("title", "") if previous else ""


def get_version_language(state: State) -> str:
    """Return the language that the report is translated to, or ""."""
    revision = state.get("revision")
    return revision.get("language", "") if revision else ""


def render_change_block(state: State) -> str:
    """Return the block with what the person asks to change; empty for a report that is new."""
    revision = state.get("revision")
    if not revision:
        return ""
    about = {"topic": revision["topic"]} if revision["topic"] else {}
    return render_block("change", revision["request"], **about)


def render_version_blocks(state: State) -> str:
    """Return how the report is to be changed and the report so far; empty for a new report."""
    previous, revision = get_previous_version(state), state.get("revision")
    if not previous or not revision:
        return ""
    return join_prompt_blocks(
        render_prompt("report_version", language=state["language"]),
        render_cited_block("version", previous["text"], kind=revision["kind"]),
        render_change_block(state),
        render_block("stale", "\n".join(revision.get("stale", []))),
    )


def _last_words(state: State) -> str:
    """Return the last words of the person."""
    texts = [str(message.text) for message in state["messages"] if message.type == "human"]
    return texts[-1].strip() if texts else ""
