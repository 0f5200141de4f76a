"""Check search queries just before they are sent.

Private words leave this machine only if the person permits it, and code removes them, not a model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from calls.ledger import recorded_hits
from config.errors import ErrorCode, Problem
from config.resources import RecentCache, Resource, SharedTasks
from config.settings import settings
from graph.context import Context
from library.document_listing import DocumentScope
from library.document_outline import outline_documents
from library.store import COMPUTED
from library.tables import pages, sources
from library.uploaded_files import with_uploads
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

RUNS = 1_000
"""Of how many runs this process knows what their models were shown beside pages."""

HINT = "mention the words in the question, or permit them with --set share=queries"

WEB = "web"
REPORT = "report"
TOOL = "tool"

_reading = SharedTasks[tuple[str, str, str, str, str], RedactionMaterial]()
"""The materials that are being read."""


_shown: Resource[RecentCache[tuple[str, str], dict[str, None]]] = Resource(
    lambda: RecentCache(RUNS)
)
"""What the models of runs were shown beside pages, by owner and run."""


def note_shown(here: CallSite, text: str) -> None:
    """Note that a model is shown words of files that are no passage: names, titles and headings."""
    _shown.get().setdefault((here.owner, here.run), {})[text] = None


async def redact_outgoing_query(
    here: CallSite,
    context: Context,
    query: str,
    *,
    recipient: str = "",
    known: Sequence[str] = (),
) -> RedactedQuery:
    """Return a query without what may not leave.

    A word of the memory or of the person's files, their names and their headings may not leave if
    the person has not said it in this thread and no web page read in it contains it; a secret may
    never leave.

    Args:
        here: The point of the run.
        context: The choices of the run.
        query: What is to be sent.
        recipient: What the origins of pages begin with that are from whom it is sent to, for a
            server of tools; what it said in this thread may be said to it again.
        known: Texts that whoever is asked has sent, so that their words may go back.

    Raises:
        Problem: `query_withheld` if nothing is left to search for.
    """
    shared = "files" if recipient else "queries"
    allowed = shared in context.share or (not recipient and settings().private_queries)
    whole = await _material(here, context, recipient)
    material = whole.permitted() if allowed else whole
    if known:
        material = replace(material, public=[*material.public, *_vocabularies(known)])
    left = await asyncio.to_thread(redact_private_words, query, material)
    if left.dropped and not left.searchable:
        what = "it contains words of your files or memory that you have not said, or a secret"
        raise Problem(ErrorCode.QUERY_WITHHELD, what, where="the query", hint=HINT)
    return left


async def _material(here: CallSite, context: Context, recipient: str) -> RedactionMaterial:
    """Return what may and may not leave, read once for queries of the same moment."""
    key = (here.owner, here.thread, here.run, context.style, recipient)
    return await _reading.run(key, lambda: _read_material(here, context, recipient))


async def _read_material(here: CallSite, context: Context, recipient: str) -> RedactionMaterial:
    said, read, notes, listed = await asyncio.gather(
        list_person_messages(here.owner, [here.thread]),
        _read(here, recipient),
        _remembered(here),
        _listed(here, context),
    )
    public, files = read
    return RedactionMaterial(
        own=_vocabularies([*said, context.style]),
        public=_vocabularies([*public, *await _hits(here)]),
        memory=_vocabularies(notes),
        files=_vocabularies([*files, *listed]),
    )


def _vocabularies(texts: Iterable[str]) -> list[TextVocabulary]:
    return [cached_vocabulary(text) for text in dict.fromkeys(texts) if text.strip()]


async def _read(here: CallSite, recipient: str) -> tuple[list[str], list[str]]:
    """Return the texts of this thread's public pages, and those of all other pages it has read.

    Web pages are public, and what a recipient has said itself is so to it. What a program has
    printed is not: it may print anything that its model was shown, whatever it was given to read.
    """
    shown = select(sources.c.page).where(sources.c.thread == here.thread)
    mine = pages.c.id.in_(shown) | ((pages.c.run == here.run) & (pages.c.kind == WEB))
    names = ("kind", "origin", "title", "place", "text", "provenance", "session")
    columns = [pages.c[name] for name in names]
    rows = (await read_rows(select(*columns).where(pages.c.owner == here.owner, mine))).all()
    public: list[str] = []
    private: list[str] = []
    for row in rows:
        told = row.kind == TOOL and not row.session
        own = recipient and told and row.origin.startswith(recipient)
        from_web = row.kind == WEB and row.provenance != COMPUTED
        texts = public if from_web or own else private
        texts.append(f"{row.title}\n{row.place}\n{row.text}")
    return public, private


async def _listed(here: CallSite, context: Context) -> list[str]:
    """Return what the models were shown of files beside pages.

    A process that goes on with a run was not there when the outline was shown, and makes it anew.
    """
    noted = [*_shown.get().get((here.owner, here.run), {})]
    roots = await with_uploads(here.owner, here.thread, context.files)
    if noted or not roots:
        return noted
    its = (runs.c.owner == here.owner, runs.c.id == here.run)
    question = (await read_rows(select(runs.c.question).where(*its))).scalar() or ""
    scope = DocumentScope(list(dict.fromkeys(roots)), here.thread)
    outline = await outline_documents(here.owner, scope, question)
    note_shown(here, outline.text)
    return [outline.text]


async def _hits(here: CallSite) -> list[str]:
    """Return the titles and snippets that searches of this run have found on the web."""
    own = select(runs.c.id).where(runs.c.owner == here.owner, runs.c.id == here.run)
    its = (calls.c.run.in_(own), calls.c.kind == "search")
    every = (await read_rows(select(calls.c.result).where(*its))).scalars()
    return [
        f"{hit['title']}\n{hit['snippet']}"
        for one in every
        for hit in recorded_hits(json.loads(one))
    ]


async def _remembered(here: CallSite) -> list[str]:
    """Return every text of the memory that a call of a run may see."""
    files, known, person, learnt, past, reports = await asyncio.gather(
        list_memory_files(here.owner),
        list_facts(here.owner),
        load_profile(here.owner),
        list_insights(here.owner),
        _past(here),
        _reports(here.owner),
    )
    texts = [one.text for one in files if one.problem is None]
    texts += [fact.content for fact in known]
    texts += _texts(person.profile)
    texts += [text for one in learnt for text in (one.content, *one.projections.values())]
    return [*texts, *past, *reports]


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for one in value.values() for text in _texts(one))
    elif isinstance(value, Sequence):
        yield from (text for one in value for text in _texts(one))


async def _past(here: CallSite) -> list[str]:
    """Return the questions and the key steps of the earlier runs that this one was shown."""
    earlier = [one.past for one in await load_related_runs(here.owner, here.run)]
    steps = [await list_utterances(here.owner, one.run, main=True) for one in earlier]
    return [
        f"{one.question}\n{describe_utterances(some)}"
        for one, some in zip(earlier, steps, strict=True)
    ]


async def _reports(owner: str) -> list[str]:
    """Return the titles and abstracts of all reports."""
    its = (pages.c.owner == owner, pages.c.kind == REPORT)
    rows = await read_rows(select(pages.c.title, pages.c.abstract).where(*its))
    return [f"{row.title}\n{row.abstract}" for row in rows]
