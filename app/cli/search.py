"""dossier search: the pages that answer a question best, and why."""

from __future__ import annotations

import asyncio
from typing import Any

from rich.table import Column, Table
from rich.text import Text

from app.cli.output import GONE, one_line, print_json
from app.cli.snippet import marked, snippet
from app.cli.table import show
from config.settings import settings
from memory.about import Told
from memory.about import found as notes_found
from memory.pages.finding import Found, search, spelling
from memory.pages.within import ALL, Scope, within
from retrieval.spelling import respelt, spelt_out
from runs.lifecycle import check_question
from runs.place import owned
from storage.engine import close

NOTES = ("facts", "profile")
"""What may be searched beside pages, by the names of the memories."""

KINDS = {"facts": "fact", "profile": "profile"}
"""What a note is called."""

SOURCES = ("file", "web")
"""The kinds of pages that are searched where none is named."""


def main(*, query: str, within: str, limit: int, explain: bool, project: str, as_json: bool) -> int:
    """Print the pages that were found, best first; return the exit status, 1 if there are none."""
    query = check_question(query)
    done = asyncio.run(_searched(owned(settings().user, project), query, within, limit))
    notes, found, changed = done
    query = respelt(query, changed)
    if as_json:
        told = {
            "notes": [_note(one) for one in notes],
            "pages": [_plain(one, query) for one in found],
        }
        print_json({"query": query, "spelling": changed, **told})
        return 0 if found or notes else 1
    if changed:
        show(f"Searched for: {spelt_out(changed)}", "")
    if notes:
        show(_told(notes, query))
    if found or not notes:
        show(_hits(found, query, explain) if found else "Nothing found.")
    return 0 if found or notes else 1


async def _searched(
    owner: str, query: str, name: str, limit: int
) -> tuple[list[Told], list[Found], dict[str, str]]:
    """Return what the person told, the pages, and which words were put in another spelling.

    `facts` and `profile` name notes only. What the person told is searched as it was asked first.
    """
    try:
        asked = name in ("", ALL, *NOTES)
        told = await notes_found(owner, query, limit) if asked else []
        if name in NOTES:
            return [one for one in told if one.memory == name], [], {}
        part = await _part(owner, name)
        changed = {} if told else await spelling(owner, query, *part)
        query = respelt(query, changed)
        told = await notes_found(owner, query, limit) if changed and asked else told
        return told, await search(owner, query, limit, *part), changed
    finally:
        await close()


async def _part(owner: str, name: str) -> Scope:
    """Return what is searched: by default sources, for a report must not outrank what it cites."""
    return await within(owner, name) if name else Scope(SOURCES)


def _told(notes: list[Told], query: str) -> Table:
    rows = Table.grid(Column(), padding=(0, 1))
    for one in notes:
        rows.add_row(marked(one_line(one.quote or one.text), query))
        rows.add_row(Text(f"{KINDS[one.memory]} {one.id}", "dim"))
    return rows


def _note(note: Told) -> dict[str, Any]:
    told = {"kind": KINDS[note.memory], "id": note.id, "text": note.text, "quote": note.quote}
    return {**told, "said": note.at}


def _hits(found: list[Found], query: str, explain: bool) -> Table:
    rows = Table.grid(Column(justify="right", no_wrap=True), Column(), padding=(0, 1))
    for place, one in enumerate(found, start=1):
        page = one.page
        title = one_line(page.title) or "(no title)"
        rows.add_row(f"{place}.", Text.assemble((title, "bold"), f"  {page.score:.3f}"))
        rows.add_row("", Text(one_line(page.location) or GONE, "cyan", overflow="fold"))
        rows.add_row("", marked(snippet(page.text, query), query))
        if explain:
            rows.add_row("", Text(_sum(one), "magenta"))
        rows.add_row("", Text(f"{page.kind} {page.id}", "dim"))
    return rows


def _sum(found: Found) -> str:
    """Return what adds up to a score, without what adds nothing, and what vectors are worth."""
    parts = [f"{name} {value:+.3f}" for name, value in found.parts.items() if value]
    return "  ".join([*parts, f"(vectors trusted {found.trust:.2f})"])


def _plain(found: Found, query: str) -> dict[str, Any]:
    page = found.page
    return {
        "page": page.id,
        "kind": page.kind,
        "title": page.title,
        "location": page.location,
        "score": page.score,
        "snippet": snippet(page.text, query),
        "parts": dict(found.parts),
        "trust": found.trust,
    }
