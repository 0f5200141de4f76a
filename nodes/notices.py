"""Write the notices of a report on what happened in its run: failures, prices, words, files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from calls.attempts import (
    EMBEDDER,
    UNSENT_PREFIX,
    Attempt,
    FailedRole,
    list_attempts,
    list_failed_roles,
)
from config.errors import Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.state import State
from library.spelling import describe_corrections
from models.chat_models import list_unpriced_models
from prompts.loader import render_prompt
from report.labels import describe_reason, describe_role, get_label
from runs.call_site import call_site, resolve_owner, resume_command
from runs.incomplete import list_failed_findings
from tools.evidence import suggest_spellings
from tools.folder_ingestion import NEVER_INGESTED, SkippedFile, list_unread_files
from tools.message_uploads import list_newest_uploads, list_unread_uploads
from tools.unread_reasons import describe_unread_file

NAMED = 8
"""How many files that could not be read are named."""


async def failure_notices(
    state: State, runtime: Runtime[Context], problem: Problem | None, *, nothing_found: bool
) -> list[str]:
    """Say in which parts a model failed, which one answered instead, and how to repeat them.

    Args:
        state: The state of the run.
        runtime: The run.
        problem: Why the model did not write the report, if it did not.
        nothing_found: Whether a failure may be why nothing was found.
    """
    place, language = call_site(state, runtime), state["language"]
    found = [
        one for one in await list_failed_roles(place.run) if describe_role(one.role, (), language)
    ]
    lost = list_failed_findings(state) or problem or nothing_found
    whys = [
        *(one["error"]["code"] for one in list_failed_findings(state)),
        *(one.status for one in found),
    ]
    whys = [problem.code, *whys] if problem else whys
    if not whys:
        return []
    why = dict.fromkeys(describe_reason(one, "failed", language) for one in whys)
    status = get_label("failed" if nothing_found else "partial", language).capitalize()
    told = {"why": get_label("comma", language).join(why), "status": status}
    said = [render_prompt("notice_undone" if lost else "notice_failing", language=language, **told)]
    for other in dict.fromkeys(one.substitute for one in found):
        parts = _parts([one for one in found if one.substitute == other], language)
        name = get_label("extractive", language) if is_extractive(other) else other
        words = {"other": name, "parts": get_label("comma", language).join(parts)}
        said.append(
            render_prompt(
                f"notice_{'stood_in' if other else 'left_out'}", language=language, **words
            )
        )
    if lost:
        name = "notice_go_on" if runtime.server_info is None else "notice_run_again"
        said.append(render_prompt(name, language=language, command=resume_command(place)))
    return [("" if language == "zh" else " ").join(one.strip() for one in said)]


def _parts(found: Sequence[FailedRole], language: str) -> list[str]:
    """Return what roles do, each once, with the steps in which they failed."""
    roles = dict.fromkeys(one.role for one in found)
    return [
        describe_role(role, [o.step for o in found if o.role == role], language) for role in roles
    ]


async def missing_price_notices(state: State, runtime: Runtime[Context]) -> list[str]:
    """Say for which models the cap on money could not be enforced."""
    asked = [
        one.model for one in await list_attempts(call_site(state, runtime).run) if one.tokens_in
    ]
    names = ", ".join(list_unpriced_models(asked))
    told = {"models": names, "limit": f"max_cost = {runtime.context.max_cost}"}
    return [render_prompt("notice_no_price", language=state["language"], **told).strip()] * bool(
        names
    )


async def keyword_only_notices(state: State, runtime: Runtime[Context]) -> list[str]:
    """Say by which limits questions had no vector, so that pages were found by words alone."""
    made = await list_attempts(call_site(state, runtime).run)
    limits = [one.status.removeprefix(UNSENT_PREFIX) for one in made if _unembedded(one)]
    told = {"limit": ", ".join(dict.fromkeys(limits))}
    return [render_prompt("notice_words_alone", language=state["language"], **told).strip()] * bool(
        limits
    )


def _unembedded(one: Attempt) -> bool:
    """Say whether a question had no vector because of a limit."""
    return one.role == EMBEDDER and one.status.startswith(UNSENT_PREFIX)


async def respelling_notices(state: State, runtime: Runtime[Context]) -> list[str]:
    """Say which words of the question were searched for in another spelling."""
    said = [str(one.text) for one in state["messages"] if isinstance(one, HumanMessage)]
    changed = (
        await suggest_spellings(resolve_owner(runtime), runtime.context, said[-1]) if said else {}
    )
    put = {word: found for word, found in changed.items() if found in state["question"]}
    words = describe_corrections(put)
    return [
        render_prompt("notice_spelling", language=state["language"], words=words).strip()
    ] * bool(put)


async def unread_file_notices(state: State, runtime: Runtime[Context]) -> list[str]:
    """Say which files, sent along or in the folders asked about, could not be read."""
    place, language = call_site(state, runtime), state["language"]
    files = list_newest_uploads(state["messages"])
    sent = await list_unread_uploads(place.owner, place.thread, files, language)
    left = await list_unread_files(place.owner, runtime.context.files)
    named = sent + [_named(one, language) for one in left[:NAMED]]
    if len(left) > NAMED:
        named.append(
            render_prompt("more_files", language=language, count=len(left) - NAMED).strip()
        )
    between = "；" if language == "zh" else "; "
    told = between.join(named)
    return [render_prompt("notice_not_read", language=language, files=told).strip()] if told else []


def _named(file: SkippedFile, language: str) -> str:
    """Name a file that was not read, with the reason; one that nobody knows as it was given."""
    name = file.path if file.reason == NEVER_INGESTED else PurePath(file.path).name
    return describe_unread_file(name, file.reason, language)
