"""dossier memory list, show, search, add, edit: what is remembered, as people see it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from rich.table import Column
from rich.text import Text

from app.cli.output import one_line, print_json
from app.cli.table import show, table
from config.settings import settings
from memory.facts.store import NewFact
from memory.kept import looking
from memory.kept.shelf import Item
from memory.learning.keeping import tell
from runs.place import owned
from storage.engine import close

Answer = TypeVar("Answer")

SHORT = 12
"""So many characters of an id are listed; they are enough to name it."""


def listing(*, memory: str, every: bool, limit: int, project: str, as_json: bool) -> int:
    """List what each memory keeps; return the exit status."""
    owner = owned(settings().user, project)
    return _list(
        finished(looking.listed(owner, limit, memory, every=every)), limit, as_json=as_json
    )


def searching(*, query: str, memory: str, limit: int, project: str, as_json: bool) -> int:
    """List what fits some words; return the exit status."""
    owner = owned(settings().user, project)
    return _list(finished(looking.search(owner, query, limit, memory)), limit, as_json=as_json)


def showing(*, id: str, project: str, as_json: bool) -> int:
    """Show what an id means; return the exit status.

    Raises:
        Problem: What `memory.kept.looking.found` tells of.
    """
    items = finished(looking.found(owned(settings().user, project), id))
    if as_json:
        whole = [plain(item) | {"more": dict(item.more)} for item in items]
        print_json(whole[0] if len(whole) == 1 else whole)
        return 0
    for item in items:
        _show(item)
    return 0


def adding(*, text: str, category: str, project: str, as_json: bool) -> int:
    """Add a fact, which ends what it contradicts; return the exit status.

    Raises:
        Problem: What `memory.facts.store.add` tells of.
    """
    owner = owned(settings().user, project)
    fact = finished(tell(owner, NewFact(text, category), "added by the person"))
    if as_json:
        print_json({"id": fact.id, "memory": "facts", "text": fact.content})
    else:
        print(f"{fact.id}  {fact.content}")
    return 0


def editing(*, id: str, text: str, project: str, as_json: bool) -> int:
    """Let a fact say something else; return the exit status.

    Raises:
        Problem: What `memory.kept.looking.edit` tells of.
    """
    item = finished(looking.edit(owned(settings().user, project), id, text))
    if as_json:
        print_json(plain(item))
    else:
        print(f"{item.id}  {item.text}")
    return 0


def finished(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Do something with the database, and close it."""

    async def closing() -> Answer:
        try:
            return await work
        finally:
            await close()

    return asyncio.run(closing())


def plain(item: Item) -> dict[str, Any]:
    """Return a thing as `--json` prints it."""
    told = item._asdict()
    return {name: told[name] for name in told if name != "more"}


def day(at: float) -> str:
    """Return a day as it is listed; nothing for a time that nobody knows."""
    return f"{datetime.fromtimestamp(at, UTC).astimezone():%Y-%m-%d}" if at else ""


def cut(text: str) -> Text:
    """Return a text for a column that is cut off where the line ends."""
    return Text(one_line(text), no_wrap=True, overflow="ellipsis")


def _list(found: Mapping[str, list[Item]], limit: int, *, as_json: bool) -> int:
    if as_json:
        print_json([plain(item) for items in found.values() for item in items])
        return 0
    rows = table("id", "memory", "kind", Column("what it says"))
    for items in found.values():
        for item in items:
            state = f"({item.state}) " if item.state else ""
            said = item.text if item.memory in ("facts", "profile") else item.title or item.text
            # The path of a file is its name.
            id = item.id if len(item.id) <= SHORT or "/" in item.id else item.id[:SHORT]
            rows.add_row(cut(id[-24:]), item.memory, item.kind, cut(state + said))
    full = [name for name, items in found.items() if len(items) == limit]
    more = f"There may be more of {', '.join(full)}: --limit N shows them." if full else ""
    some = any(found.values())
    show(rows if some else "Nothing yet: dossier memory add TEXT adds a fact.", *_lines(more))
    return 0


def _lines(text: str) -> Iterator[Text]:
    if text:
        yield Text(text)


def _show(item: Item) -> None:
    head = Text(one_line(item.title) or item.memory, "bold")
    told: dict[str, Any] = {"id": item.id, "memory": item.memory, "kind": item.kind}
    told |= {"state": item.state, "since": day(item.at), "provenance": item.provenance}
    told |= {"run": item.run}
    left = {*told, "live", "created", "profile", "learned", "valid_from"}
    told |= {name: value for name, value in item.more.items() if name not in left}
    lines = [f"{name:13} {one_line(str(value))}" for name, value in told.items()]
    full = [line for line in lines if not line.endswith((" ", " None", " 0"))]
    show(head, Text("\n".join(full)), "")
    print(item.text)
