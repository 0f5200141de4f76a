"""Write the notices of a report on what happened in its run: failures, prices, words, files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from graph.state import State
from models.load import without_price
from prompts.loader import render
from report.undone import undone
from report.wording import part, reason, word
from retrieval.spelling import spelt_out
from runs.attempts import EMBEDDER, UNSENT, Attempt, Failing, attempts, failing
from runs.place import goes_on, here, owner
from tools.evidence import misspelt
from tools.files.reasons import with_reason
from tools.ingest import UNKNOWN, Skipped, left_out
from tools.uploads import newest_uploads, not_read

NAMED = 8
"""How many files that could not be read are named."""


async def failures(
    state: State, runtime: Runtime[Context], problem: Problem | None, *, nothing_found: bool
) -> list[str]:
    """Say in which parts a model failed, which one answered instead, and how to repeat them.

    Args:
        state: The state of the run.
        runtime: The run.
        problem: Why the model did not write the report, if it did not.
        nothing_found: Whether a failure may be why nothing was found.
    """
    place, language = here(state, runtime), state["language"]
    found = [one for one in await failing(place.run) if part(one.role, (), language)]
    lost = undone(state) or problem or nothing_found
    whys = [*(one["error"]["code"] for one in undone(state)), *(one.status for one in found)]
    whys = [problem.code, *whys] if problem else whys
    if not whys:
        return []
    why = dict.fromkeys(reason(one, "failed", language) for one in whys)
    status = word("failed" if nothing_found else "partial", language).capitalize()
    told = {"why": word("comma", language).join(why), "status": status}
    said = [render("notice_undone" if lost else "notice_failing", language=language, **told)]
    for other in dict.fromkeys(one.stood_in for one in found):
        parts = _parts([one for one in found if one.stood_in == other], language)
        name = word("extractive", language) if other.startswith("extractive:") else other
        words = {"other": name, "parts": word("comma", language).join(parts)}
        said.append(
            render(f"notice_{'stood_in' if other else 'left_out'}", language=language, **words)
        )
    if lost:
        name = "notice_go_on" if runtime.server_info is None else "notice_run_again"
        said.append(render(name, language=language, command=goes_on(place)))
    return [("" if language == "zh" else " ").join(one.strip() for one in said)]


def _parts(found: Sequence[Failing], language: str) -> list[str]:
    """Return what roles do, each once, with the steps in which they failed."""
    roles = dict.fromkeys(one.role for one in found)
    return [part(role, [o.step for o in found if o.role == role], language) for role in roles]


async def no_price(state: State, runtime: Runtime[Context]) -> list[str]:
    """Say for which models the cap on money could not be enforced."""
    asked = [one.model for one in await attempts(here(state, runtime).run) if one.tokens_in]
    names = ", ".join(without_price(asked))
    told = {"models": names, "limit": f"max_cost = {runtime.context.max_cost}"}
    return [render("notice_no_price", language=state["language"], **told).strip()] * bool(names)


async def words_alone(state: State, runtime: Runtime[Context]) -> list[str]:
    """Say by which limits questions had no vector, so that pages were found by words alone."""
    made = await attempts(here(state, runtime).run)
    limits = [one.status.removeprefix(UNSENT) for one in made if _unembedded(one)]
    told = {"limit": ", ".join(dict.fromkeys(limits))}
    return [render("notice_words_alone", language=state["language"], **told).strip()] * bool(limits)


def _unembedded(one: Attempt) -> bool:
    """Say whether a question had no vector because of a limit."""
    return one.role == EMBEDDER and one.status.startswith(UNSENT)


async def respelt(state: State, runtime: Runtime[Context]) -> list[str]:
    """Say which words of the question were searched for in another spelling."""
    said = [str(one.text) for one in state["messages"] if isinstance(one, HumanMessage)]
    changed = await misspelt(owner(runtime), runtime.context, said[-1]) if said else {}
    put = {word: found for word, found in changed.items() if found in state["question"]}
    words = spelt_out(put)
    return [render("notice_spelling", language=state["language"], words=words).strip()] * bool(put)


async def unread_files(state: State, runtime: Runtime[Context]) -> list[str]:
    """Say which files, sent along or in the folders asked about, could not be read."""
    place, language = here(state, runtime), state["language"]
    files = newest_uploads(state["messages"])
    sent = await not_read(place.owner, place.thread, files, language)
    left = await left_out(place.owner, runtime.context.files)
    named = sent + [_named(one, language) for one in left[:NAMED]]
    if len(left) > NAMED:
        named.append(render("more_files", language=language, count=len(left) - NAMED).strip())
    between = "；" if language == "zh" else "; "
    told = between.join(named)
    return [render("notice_not_read", language=language, files=told).strip()] if told else []


def _named(file: Skipped, language: str) -> str:
    """Name a file that was not read, with the reason; one that nobody knows as it was given."""
    name = file.path if file.reason == UNKNOWN else PurePath(file.path).name
    return with_reason(name, file.reason, language)
