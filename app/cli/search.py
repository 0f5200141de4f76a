"""dossier search.

The pages that answer a question best, with the part of each that does, and why.
"""

from __future__ import annotations

from typing import Any

from rich.table import Column, Table
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import MISSING_LOCATION, one_line, print_json
from app.cli.snippets import cut_snippet, highlight_terms
from app.cli.table import print_renderables
from library.page_retrieval import SearchResult, find_misspellings, search_pages
from library.scope import ALL_KINDS, Scope, resolve_scope
from library.spelling import apply_corrections, describe_corrections
from memory.self_questions import PersonalNote, search_personal_notes
from runs.lifecycle import check_question

NOTES = {"facts": "fact", "profile": "profile"}
"""What may be searched beside pages, by the names of the memories, and what one is called."""

SOURCES = ("file", "web")
"""The kinds of pages that are searched where none is named."""


async def search_command(
    *, query: str, within: str, limit: int, explain: bool, invocation: Invocation
) -> int:
    """Find the pages that answer a question best."""
    query = check_question(query)
    notes, pages, spelling = await _search(invocation.owner, query, within, limit)
    query = apply_corrections(query, spelling)
    if invocation.as_json:
        hits = {
            "notes": [_note_as_dict(one) for one in notes],
            "pages": [_result_as_dict(one, query) for one in pages],
        }
        print_json({"query": query, "spelling": spelling, **hits})
    else:
        if spelling:
            print_renderables(f"Searched for: {describe_corrections(spelling)}", "")
        if notes:
            print_renderables(_notes_table(notes, query))
        if pages or not notes:
            print_renderables(_pages_table(pages, query, explain) if pages else "Nothing found.")
    return 0 if pages or notes else 1


async def _search(
    owner: str, query: str, name: str, limit: int
) -> tuple[list[PersonalNote], list[SearchResult], dict[str, str]]:
    """Return what the person told, the pages, and which words were put in another spelling.

    `facts` and `profile` name notes only. What the person told is searched as it was asked first.
    By default pages are sources, for a report must not outrank what it cites.
    """
    asked = name in ("", ALL_KINDS, *NOTES)
    notes = await search_personal_notes(owner, query, limit) if asked else []
    if name in NOTES:
        return [one for one in notes if one.memory == name], [], {}
    scope = await resolve_scope(owner, name) if name else Scope(SOURCES)
    spelling = {} if notes else await find_misspellings(owner, query, *scope)
    query = apply_corrections(query, spelling)
    notes = await search_personal_notes(owner, query, limit) if spelling and asked else notes
    return notes, await search_pages(owner, query, limit, *scope), spelling


def _notes_table(notes: list[PersonalNote], query: str) -> Table:
    rows = Table.grid(Column(overflow="fold"), padding=(0, 1))
    for one in notes:
        rows.add_row(highlight_terms(one_line(one.quote or one.text), query))
        rows.add_row(Text(f"{NOTES[one.memory]} {one.id}", "dim"))
    return rows


def _note_as_dict(note: PersonalNote) -> dict[str, Any]:
    fields = {"kind": NOTES[note.memory], "id": note.id, "text": note.text, "quote": note.quote}
    return {**fields, "said": note.at}


def _pages_table(found: list[SearchResult], query: str, explain: bool) -> Table:
    rows = Table.grid(
        Column(justify="right", no_wrap=True), Column(overflow="fold"), padding=(0, 1)
    )
    for place, one in enumerate(found, start=1):
        page = one.page
        title = one_line(page.title) or "(no title)"
        rows.add_row(f"{place}.", Text.assemble((title, "bold"), f"  {page.score:.3f}"))
        rows.add_row("", Text(one_line(page.location) or MISSING_LOCATION, "cyan", overflow="fold"))
        rows.add_row("", highlight_terms(cut_snippet(page.text, query), query))
        if explain:
            rows.add_row("", Text(_render_score(one), "magenta"))
        rows.add_row("", Text(f"{page.kind} {page.id}", "dim"))
    return rows


def _render_score(found: SearchResult) -> str:
    """Return what adds up to a score, without what adds nothing, and what vectors are worth."""
    parts = [f"{name} {value:+.3f}" for name, value in found.parts.items() if value]
    return "  ".join([*parts, f"(vectors trusted {found.trust:.2f})"])


def _result_as_dict(found: SearchResult, query: str) -> dict[str, Any]:
    page, snippet = found.page, cut_snippet(found.page.text, query)
    head = {"page": page.id, "kind": page.kind, "title": page.title, "location": page.location}
    score = {"score": page.score, "snippet": snippet, "parts": dict(found.parts)}
    return {**head, **score, "trust": found.trust}
