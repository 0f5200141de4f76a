"""Check what a model wrote against the stored text of the sources that it cites."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Literal

from typing_extensions import TypedDict

from calls.run_budget import run_within_budget
from calls.run_progress import tell_progress
from config.errors import Problem
from graph.context import Context
from graph.records import Source, SourceContradiction, StandingRemark
from graph.state import State
from library import store as pages
from library.recall import REPORT_PAGES
from report.checks.attribution import CheckedText, enforce_citations
from report.checks.known_addresses import keep_known_addresses, list_trusted_texts
from report.checks.second_reader import NO_RULING, Ruling
from report.checks.source_preparation import prepare_sources
from report.contradictions import about_statements, find_contradictions, names_both
from report.markdown.markers import MARKER, QUOTE
from report.source_standing import list_standing_remarks
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
    told: Sequence[str] = (),
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
        told: What the person answered to questions of the run.

    Raises:
        Problem: `budget_spent` when the minutes of the run are used up, or else `text_timeout`.
    """
    names = name_sources(sources)
    pages = await load_source_texts(here.owner, sources)
    text = keep_known_addresses(text, list_trusted_texts(sources, pages))
    computed = [name for name, one in sources.items() if one["kind"] == "computed"]
    today, answers = datetime.now(UTC).date(), "\n".join(told)
    given = (question, names, ruling, answers, today, computed)
    work = partial(enforce_citations, text, pages, *given)
    size = len(text) + sum(map(len, pages.values()))
    return await run_within_budget(here, context, role, work, least=least, characters=size)


def name_sources(sources: Mapping[str, Source]) -> dict[str, str]:
    """Return the title, the place and the date of each source by its id, in lines."""
    return {
        name: "\n".join(filter(None, [one["title"], one["location"], one.get("published", "")]))
        for name, one in sources.items()
    }


async def record_text_checks(
    here: CallSite, role: str, checked: CheckedText, *, again: bool = False
) -> None:
    """Write down what the checks took out of a text, and what they doubt in it.

    What is noted `again`, of the same draft, takes the place of what was noted before.
    """
    _tell_checks(here, checked)
    if again or checked.removed or checked.doubted:
        more = {"removed": checked.removed, "doubted": checked.doubted}
        await trace(here, "check", role, "ok", **more)


def _tell_checks(here: CallSite, checked: CheckedText) -> None:
    """Tell how many citations stand, and what was removed."""
    # A quotation names its source itself, and may have a marker behind it.
    standing = max(len(MARKER.findall(checked.body)), len(QUOTE.findall(checked.body)))
    tell_progress(here, "checked", count=standing, doubted=len(checked.doubted))
    if checked.removed:
        sentences = [one["text"] for one in checked.removed]
        tell_progress(here, "removed", count=len(sentences), sentences=sentences)


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
    """Return the stored text of each source that the report of a turn shows, by its id."""
    sources, report = state.get("sources", {}), state["report"]
    against = [one[side] for one in report.get("contradictions", []) for side in _SIDES]
    shown = [name for name in dict.fromkeys([*report["cited"], *against]) if name in sources]
    return await load_source_texts(owner, {name: sources[name] for name in shown})


_SIDES: tuple[Literal["one", "other"], ...] = ("one", "other")


async def find_source_contradictions(
    here: CallSite, context: Context, role: str, text: str, sources: Mapping[str, Source]
) -> list[SourceContradiction]:
    """Return where sources contradict each other in what a text makes use of.

    Args:
        here: The point of the run.
        context: The choices of the run, for the minutes that are left to it.
        role: Who asks.
        text: The findings, the passages or the report that the sources are used for.
        sources: The sources by id; a source without a stored text contradicts nobody.

    Returns:
        The contradictions; none where the minutes of the run are used up.
    """
    texts = await load_source_texts(here.owner, sources)

    def find() -> list[SourceContradiction]:
        return find_contradictions(texts, sources, about_statements(text))

    size = len(text) + sum(map(len, texts.values()))
    with suppress(Problem):
        return await run_within_budget(here, context, role, find, characters=size)
    return []


class SourceJudgement(TypedDict):
    """What readers of a report are told of its sources."""

    standing: list[StandingRemark]
    contradictions: list[SourceContradiction]


class SourceJudge:
    """Judges the sources of a report, once for each wording of it.

    A wording that a second reader leaves as it is has been judged while it read.
    """

    def __init__(self, here: CallSite, context: Context, sources: Mapping[str, Source]) -> None:
        self.sources = sources
        """Everything that the report may cite, by id."""
        self._here, self._context = here, context
        self._judged: dict[str, SourceJudgement] = {}

    async def judge(self, checked: CheckedText) -> SourceJudgement:
        """Return the sentences that only weak sources say, and what sources say against a text.

        A contradiction is left out where the text cites both sources in one sentence.
        """
        if checked.body not in self._judged:
            self._judged[checked.body] = await self._compare(checked.body, checked.cited)
        return self._judged[checked.body]

    async def _compare(self, body: str, cited: Sequence[str]) -> SourceJudgement:
        here, context = self._here, self._context
        used = {name: self.sources[name] for name in cited if name in self.sources}
        texts = await load_source_texts(here.owner, used)
        found = await find_source_contradictions(here, context, "reporter", body, self.sources)
        standing: list[StandingRemark] = []
        size = len(body) + sum(map(len, texts.values()))
        with suppress(Problem):
            standing = await run_within_budget(
                here, context, "reporter", list_standing_remarks, body, used, texts, characters=size
            )
        untold = [one for one in found if not names_both(body, one)]
        return SourceJudgement(standing=standing, contradictions=untold)


@asynccontextmanager
async def preparing_checks(
    here: CallSite, context: Context, role: str, sources: Mapping[str, Source]
) -> AsyncIterator[None]:
    """Make what a text will be compared with while a model still writes it.

    Nothing waits for that: what is not made when the text is there is made with the checks.
    """
    written = threading.Event()

    async def prepared() -> None:
        """Derive what the checks need; a problem is left for the checks to meet."""
        with suppress(Problem):
            pages = await load_source_texts(here.owner, sources)
            texts = list(pages.values())
            await run_within_budget(
                here,
                context,
                role,
                prepare_sources,
                texts,
                written.is_set,
                characters=sum(map(len, texts)),
            )

    work = asyncio.create_task(prepared())
    try:
        yield
    finally:
        written.set()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
