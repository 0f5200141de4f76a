"""Write the notices of a report on its run: failures, prices, spelling, unread files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from calls.attempts import (
    EMBEDDER,
    UNSENT_PREFIX,
    FailedRole,
    list_attempts,
    list_failed_roles,
)
from config.errors import Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.pauses import list_consultations
from graph.plan_questions import list_assumptions
from graph.state import State
from library.spelling import describe_corrections
from models.chat_models import list_unpriced_models
from nodes.report_draft import CORRECTION_PART, PART_PREFIX
from prompts.loader import render_prompt
from report.labels import describe_reason, describe_role, get_label
from runs.call_site import call_site, resolve_owner, resume_command
from runs.incomplete import list_failed_findings
from tools.evidence import suggest_spellings
from tools.folder_ingestion import NEVER_INGESTED, SkippedFile, list_unread_files
from tools.message_uploads import list_newest_uploads, list_unread_uploads
from tools.unread_reasons import describe_unread_file

NAMED = 8
"""How many unread files a notice names."""


async def failure_notices(
    state: State, runtime: Runtime[Context], problem: Problem | None, *, nothing_found: bool
) -> list[str]:
    """Return a notice of the roles that failed, their substitutes, and how to repeat them.

    Args:
        state: The state of the run.
        runtime: The run.
        problem: Why the model did not write the report, or None.
        nothing_found: Whether a failure may explain that nothing was found.
    """
    place, language = call_site(state, runtime), state["language"]
    roles = map(_of_whole_report, await list_failed_roles(place.run))
    failed = [entry for entry in roles if entry and describe_role(entry.role, (), language)]
    findings = list_failed_findings(state)
    codes = [finding["error"]["code"] for finding in findings] + [entry.status for entry in failed]
    codes = [problem.code, *codes] if problem else codes
    if not codes:
        return []
    reasons = dict.fromkeys(describe_reason(code, "failed", language) for code in codes)
    comma = get_label("comma", language)
    status = get_label("failed" if nothing_found else "partial", language).capitalize()
    incomplete = findings or problem or nothing_found
    name = "notice_undone" if incomplete else "notice_failing"
    parts = [render_prompt(name, language=language, why=comma.join(reasons), status=status)]
    parts += _substitute_notices(failed, language)
    if incomplete:
        name = "notice_go_on" if runtime.server_info is None else "notice_run_again"
        parts.append(render_prompt(name, language=language, command=resume_command(place)))
    return [("" if language == "zh" else " ").join(part.strip() for part in parts)]


def _of_whole_report(entry: FailedRole) -> FailedRole | None:
    """Return a failed role without the part of the report that it concerns.

    A report that could not be corrected is as good as before, so nothing has failed.
    """
    part = entry.step.removeprefix(PART_PREFIX)
    if part == entry.step:
        return entry
    return None if part == CORRECTION_PART else entry._replace(step="")


def _substitute_notices(failed: Sequence[FailedRole], language: str) -> list[str]:
    """Return for each substitute which roles it replaced; roles without one were left out."""
    notices = []
    for substitute in dict.fromkeys(entry.substitute for entry in failed):
        replaced = [entry for entry in failed if entry.substitute == substitute]
        extractive = is_extractive(substitute)
        values = {
            "other": get_label("extractive", language) if extractive else substitute,
            "parts": get_label("comma", language).join(_describe_roles(replaced, language)),
        }
        name = "notice_stood_in" if substitute else "notice_left_out"
        notices.append(render_prompt(name, language=language, **values))
    return notices


def _describe_roles(failed: Sequence[FailedRole], language: str) -> list[str]:
    """Return the task of each role, once, with the steps in which it failed."""
    steps: dict[str, list[str]] = {}
    for entry in failed:
        steps.setdefault(entry.role, []).append(entry.step)
    return [describe_role(role, ids, language) for role, ids in steps.items()]


def _notice(name: str, state: State, **values: str) -> str:
    return render_prompt(name, language=state["language"], **values).strip()


def assumption_notices(state: State) -> list[str]:
    """Return a notice of what was assumed where nobody answered a question of plan or step."""
    asked = [one for one in list_consultations(state) if one["outcome"] == "assumed"]
    assumed = list_assumptions(state["plan"])
    assumed += [f"{one['question']} {one['answer']}" for one in asked]
    separator = "；" if state["language"] == "zh" else "; "
    told = separator.join(dict.fromkeys(assumed))
    return [_notice("notice_assumed", state, assumed=told)] if told else []


def unattended_notices(state: State) -> list[str]:
    """Return a notice of the tools that were refused since nobody could approve them."""
    asked = [one for one in list_consultations(state) if one["outcome"] == "refused"]
    calls = dict.fromkeys(one["question"] for one in asked)
    separator = "；" if state["language"] == "zh" else "; "
    return [_notice("notice_unattended", state, calls=separator.join(calls))] if calls else []


async def missing_price_notices(state: State, runtime: Runtime[Context]) -> list[str]:
    """Return a notice of the models for which the cost limit could not be enforced."""
    attempts = await list_attempts(call_site(state, runtime).run)
    models = list_unpriced_models([attempt.model for attempt in attempts if attempt.tokens_in])
    if not models:
        return []
    limit = f"max_cost = {runtime.context.limits.max_cost}"
    return [_notice("notice_no_price", state, models=", ".join(models), limit=limit)]


async def keyword_only_notices(state: State, runtime: Runtime[Context]) -> list[str]:
    """Return a notice of the limits that prevented embeddings, so that only keywords matched."""
    limits = dict.fromkeys(
        attempt.status.removeprefix(UNSENT_PREFIX)
        for attempt in await list_attempts(call_site(state, runtime).run)
        if attempt.role == EMBEDDER and attempt.status.startswith(UNSENT_PREFIX)
    )
    return [_notice("notice_words_alone", state, limit=", ".join(limits))] if limits else []


async def respelling_notices(state: State, runtime: Runtime[Context]) -> list[str]:
    """Return a notice of the words of the question that were searched for in another spelling."""
    texts = [
        str(message.text) for message in state["messages"] if isinstance(message, HumanMessage)
    ]
    if not texts:
        return []
    spellings = await suggest_spellings(resolve_owner(runtime), runtime.context, texts[-1])
    used = {word: new for word, new in spellings.items() if new in state["question"]}
    return [_notice("notice_spelling", state, words=describe_corrections(used))] if used else []


async def unread_file_notices(state: State, runtime: Runtime[Context]) -> list[str]:
    """Return a notice of the uploads and the files of chosen folders that could not be read."""
    place, language = call_site(state, runtime), state["language"]
    uploads = list_newest_uploads(state["messages"])
    names = await list_unread_uploads(place.owner, place.thread, uploads, language)
    files = await list_unread_files(place.owner, runtime.context.files)
    names = names + [_describe_file(file, language) for file in files[:NAMED]]
    if len(files) > NAMED:
        names.append(_notice("more_files", state, count=str(len(files) - NAMED)))
    separator = "；" if language == "zh" else "; "
    return [_notice("notice_not_read", state, files=separator.join(names))] if names else []


def _describe_file(file: SkippedFile, language: str) -> str:
    """Return the name of an unread file and the reason; a path never ingested is given whole."""
    name = file.path if file.reason == NEVER_INGESTED else PurePath(file.path).name
    return describe_unread_file(name, file.reason, language)
