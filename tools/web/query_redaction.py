"""Remove private words from search queries just before they are sent.

Private words leave this machine only if the person permits it; no model decides this.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from calls.ledger import recorded_hits
from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.context import Context
from library.tables import pages, sources
from memory.agents_md.memory import list_memory_files
from memory.experience.insights import list_insights
from memory.experience.related_runs import load_related_runs
from memory.experience.utterances import describe_utterances, list_person_messages, list_utterances
from memory.facts.queries import list_facts
from memory.profile.store import load_profile
from runs.call_site import CallSite
from runs.tables import calls, runs
from storage.engine import read_rows
from text.private_words import RedactionMaterial, TextVocabulary, cached_vocabulary
from text.redaction import RedactedQuery, redact_private_words

HINT = "mention the words in the question, or permit them with --set private_queries=true"

WEB = "web"
REPORT = "report"


async def redact_outgoing_query(here: CallSite, context: Context, query: str) -> RedactedQuery:
    """Remove private words and secrets from a query.

    A word of the memory or of the person's files is private unless the person has used it in this
    thread or a web page read in it contains it. Secrets are always removed.

    Raises:
        Problem: `query_withheld` if nothing is left to search for.
    """
    allowed = context.private_queries or settings().private_queries
    material = await _material(here, context)
    if allowed:
        material = material.permitted()
    redacted = await asyncio.to_thread(redact_private_words, query, material)
    if redacted.dropped and not redacted.searchable:
        what = "it contains words of your files or memory that you have not said, or a secret"
        raise Problem(ErrorCode.QUERY_WITHHELD, what, where="the query", hint=HINT)
    return redacted


async def _material(here: CallSite, context: Context) -> RedactionMaterial:
    said, read, notes = await asyncio.gather(
        list_person_messages(here.owner, [here.thread]), _read(here), _remembered(here)
    )
    public, files = read
    return RedactionMaterial(
        own=_vocabularies([*said, context.style]),
        public=_vocabularies([*public, *await _hits(here)]),
        memory=_vocabularies(notes),
        files=_vocabularies(files),
    )


def _vocabularies(texts: Iterable[str]) -> list[TextVocabulary]:
    return [cached_vocabulary(text) for text in dict.fromkeys(texts) if text.strip()]


async def _read(here: CallSite) -> tuple[list[str], list[str]]:
    """Return the texts of this thread's web pages, and those of all other pages it has read."""
    shown = select(sources.c.page).where(sources.c.thread == here.thread)
    mine = pages.c.id.in_(shown) | ((pages.c.run == here.run) & (pages.c.kind == WEB))
    columns = (pages.c.kind, pages.c.title, pages.c.place, pages.c.text)
    rows = (await read_rows(select(*columns).where(pages.c.owner == here.owner, mine))).all()
    web: list[str] = []
    other: list[str] = []
    for row in rows:
        (web if row.kind == WEB else other).append(f"{row.title}\n{row.place}\n{row.text}")
    return web, other


async def _hits(here: CallSite) -> list[str]:
    """Return the titles and snippets found by this run's web searches."""
    own = select(runs.c.id).where(runs.c.owner == here.owner, runs.c.id == here.run)
    searches = select(calls.c.result).where(calls.c.run.in_(own), calls.c.kind == "search")
    return [
        f"{hit['title']}\n{hit['snippet']}"
        for result in (await read_rows(searches)).scalars()
        for hit in recorded_hits(json.loads(result))
    ]


async def _remembered(here: CallSite) -> list[str]:
    """Return every text of the memory that a call of a run may see."""
    files, known, person, lessons, past, reports = await asyncio.gather(
        list_memory_files(here.owner),
        list_facts(here.owner),
        load_profile(here.owner),
        list_insights(here.owner),
        _past(here),
        _reports(here.owner),
    )
    texts = [file.text for file in files if file.problem is None]
    texts += [fact.content for fact in known]
    texts += _texts(person.profile)
    texts += [text for one in lessons for text in (one.content, *one.projections.values())]
    return [*texts, *past, *reports]


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for element in value.values() for text in _texts(element))
    elif isinstance(value, Sequence):
        yield from (text for element in value for text in _texts(element))


async def _past(here: CallSite) -> list[str]:
    """Return the questions and key steps of the earlier runs shown to this run."""
    texts = []
    for related in await load_related_runs(here.owner, here.run):
        steps = await list_utterances(here.owner, related.past.run, main=True)
        texts.append(f"{related.past.question}\n{describe_utterances(steps)}")
    return texts


async def _reports(owner: str) -> list[str]:
    """Return the titles and abstracts of all reports."""
    reports = select(pages.c.title, pages.c.abstract).where(
        pages.c.owner == owner, pages.c.kind == REPORT
    )
    rows = await read_rows(reports)
    return [f"{row.title}\n{row.abstract}" for row in rows]
