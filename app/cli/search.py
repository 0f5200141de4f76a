"""dossier search: the pages that answer a question best, and why."""

from __future__ import annotations

import asyncio
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from app.cli.output import one_line, print_json
from app.cli.snippet import marked, snippet
from app.cli.table import show
from config.settings import settings
from memory.finding import Found, search
from memory.within import within
from nodes.profile import check_question
from runs.place import owned
from storage.engine import close


def main(*, query: str, within: str, limit: int, explain: bool, project: str, as_json: bool) -> int:
    """Print the pages that were found, best first; return the exit status."""
    query = check_question(query)
    found = asyncio.run(_searched(owned(settings().user, project), query, within, limit))
    if as_json:
        print_json({"query": query, "pages": [_plain(one, query) for one in found]})
        return 0
    shown = [
        part for place, one in enumerate(found, 1) for part in _hit(place, one, query, explain)
    ]
    show(*shown if found else ["Nothing found."])
    return 0


async def _searched(owner: str, query: str, name: str, limit: int) -> list[Found]:
    try:
        return await search(owner, query, limit, *await within(owner, name))
    finally:
        await close()


def _hit(place: int, found: Found, query: str, explain: bool) -> list[RenderableType]:
    page = found.page
    lines: list[RenderableType] = [
        Text.assemble(
            f"{place:2}. ", (one_line(page.title) or "(no title)", "bold"), f"  {page.score:.3f}"
        ),
        _below(Text(one_line(page.location), "cyan")),
        _below(marked(snippet(page.text, query), query)),
    ]
    if explain:
        parts = "  ".join(f"{name} {value:+.3f}" for name, value in found.parts.items() if value)
        lines.append(_below(Text(parts, "dim")))
    lines.append(_below(Text(f"{page.kind} {page.id}", "dim")))
    return lines


def _below(text: Text) -> RenderableType:
    return Padding(text, (0, 0, 0, 4))


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
    }
