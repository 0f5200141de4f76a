"""Check what a model wrote against the stored text of the sources that it cites."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from calls.run_budget import run_within_budget
from graph.context import Context
from graph.records import Source
from graph.state import State
from library import store as pages
from library.recall import REPORT_PAGES
from report.checks.attribution import CheckedText, enforce_citations
from report.checks.second_reader import NO_RULING, Ruling
from runs.call_site import CallSite
from runs.trace import trace


async def verify_text(
    here: CallSite,
    context: Context,
    role: str,
    text: str,
    sources: Mapping[str, Source],
    question: str = "",
    ruling: Ruling = NO_RULING,
    least: float = 0.0,
) -> CheckedText:
    """Return a text without what the stored pages of its sources do not bear out.

    A page that was forgotten bears out nothing. What the question names may be named. What a
    second reader has ruled stands.

    Args:
        here: The point of the run.
        context: The choices of the run, for the minutes that are left to it.
        role: Who wrote the text.
        text: Markdown as a model wrote it.
        sources: What it may cite, by id.
        question: What it answers.
        ruling: What a second reader has ruled.
        least: How many seconds the checks may take when the minutes of the run are used up.

    Raises:
        Problem: `budget_spent` when the minutes of the run are used up, or else `text_timeout`.
    """
    names = {name: f"{one['title']}\n{one['location']}" for name, one in sources.items()}
    pages = await load_source_texts(here.owner, sources)
    work = partial(enforce_citations, text, pages, question, names, ruling)
    size = len(text) + sum(map(len, pages.values()))
    return await run_within_budget(here, context, role, work, least=least, characters=size)


async def record_text_checks(
    here: CallSite, role: str, checked: CheckedText, *, again: bool = False
) -> None:
    """Write down what the checks took out of a text, and what they doubt in it.

    What is noted `again`, of the same draft, takes the place of what was noted before.
    """
    if again or checked.removed or checked.doubted:
        more = {"removed": checked.removed, "doubted": checked.doubted}
        await trace(here, "check", role, "ok", **more)


async def load_source_texts(owner: str, sources: Mapping[str, Source]) -> dict[str, str]:
    """Return the stored text of each source by its id, as far as it can prove anything.

    A page that was forgotten has none. What a run wrote itself proves nothing: a number that was
    doubted in one report must not be borne out by it in the next.
    """
    ids = [source["page"] for source in sources.values()]
    stored = await pages.read_page_texts(owner, ids, excluded_kinds=[REPORT_PAGES])
    named = {name: source["page"] for name, source in sources.items()}
    return {name: stored[page] for name, page in named.items() if page in stored}


async def load_cited_texts(owner: str, state: State) -> dict[str, str]:
    """Return the stored text of each source that the report of a turn cites, by its id."""
    sources = state.get("sources", {})
    return await load_source_texts(
        owner, {name: sources[name] for name in state["report"]["cited"]}
    )
