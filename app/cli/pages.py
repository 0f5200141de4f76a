"""dossier pages: list, show and count what was read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from rich.table import Column
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import one_line, print_json
from app.cli.table import make_table, print_renderables
from config.errors import ErrorCode, Problem
from library.page_retrieval import format_location
from library.page_rows import RETIRED
from library.scope import (
    ListedPage,
    NamespaceStats,
    count_retired_pages,
    list_namespaces,
    list_stored_pages,
    read_file_paths,
    read_page_record,
    resolve_scope,
)
from text.pluralization import pluralize


def print_page_list(
    *,
    kind: str,
    within: str,
    limit: int,
    invocation: Invocation,
) -> int:
    """List the newest pages."""
    rows = run_and_close(_listed(invocation.owner, kind, within, limit))
    if invocation.as_json:
        print_json([_plain(row, where) for row, where in rows])
        return 0
    shelf = make_table("page", "kind", "kept", Column("title"), Column("from"))
    for row, where in rows:
        kept = datetime.fromtimestamp(row.created, UTC).astimezone()
        # The folders of a file fill a line; `pages show` has them.
        short = where.removeprefix(os.path.dirname(where) + "/") if row.kind == "file" else where
        words = one_line(row.title), one_line(short)
        shelf.add_row(row.id, row.kind, f"{kept:%Y-%m-%d}", *map(_truncate, words))
    print_renderables(shelf if rows else "No pages yet: dossier ingest PATH reads some.")
    return 0


def print_page(*, page: str, invocation: Invocation) -> int:
    """Show a page: where it is from, and what it says.

    Raises:
        Problem: `page_not_found`.
    """
    row, where = run_and_close(_shown(invocation.owner, page))
    if invocation.as_json:
        print_json(_whole(row, where))
        return 0
    fields = _whole(row, where)
    fields["created"] = f"{datetime.fromtimestamp(row['created'], UTC).astimezone():%Y-%m-%d %H:%M}"
    left = {"page", "title", "abstract", "text", "position", "links"}
    if row["kind"] == "file":
        left |= {"session"}  # That is the hash of what is in it.
    lines = [f"{name:13} {one_line(str(fields[name]))}" for name in fields if name not in left]
    full = [line for line in lines if not line.endswith((" ", "None", "False"))]
    head = Text(one_line(row["title"]) or "(no title)", "bold")
    print_renderables(head, Text("\n".join([f"{'page':13} {row['id']}", *full])), "")
    print(row["text"])
    return 0


def print_page_counts(*, invocation: Invocation) -> int:
    """Count the pages by kind, conversation and folder."""
    shelves, gone = run_and_close(_counted(invocation.owner))
    total = sum(shelf.pages for shelf in shelves if not shelf.group)
    if invocation.as_json:
        spaces = [shelf._asdict() for shelf in shelves]
        print_json({"pages": total, "superseded": gone, "namespaces": spaces})
        return 0
    numbers = (Column(name, no_wrap=True, justify="right") for name in ("pages", "words"))
    rows = make_table("kind", Column("conversation or folder", overflow="fold"), *numbers)
    for shelf in shelves:
        rows.add_row(
            shelf.kind, Text(one_line(shelf.group)), f"{shelf.pages:,}", f"{shelf.words:,}"
        )
    kept = (
        f"; {pluralize(gone, 'older one is', 'older ones are')} kept for citations" if gone else ""
    )
    print_renderables(*([rows] if shelves else []), f"{pluralize(total, 'page')}{kept}")
    return 0


async def _listed(owner: str, kind: str, name: str, limit: int) -> list[tuple[ListedPage, str]]:
    kinds, groups = await resolve_scope(owner, name)
    if kind:
        kinds = (await resolve_scope(owner, kind)).kinds
        if kinds is None:
            hint = "file, web, report or chat"
            raise Problem(ErrorCode.NAMESPACE_NOT_FOUND, f"{kind!r} is no kind of page", hint=hint)
    rows = await list_stored_pages(owner, kinds, groups, limit)
    known = await read_file_paths(owner, [row.origin for row in rows if row.kind == "file"])
    return [(row, _location(row.kind, row.origin, row.place, known)) for row in rows]


async def _shown(owner: str, page: str) -> tuple[Mapping[str, Any], str]:
    row = await read_page_record(owner, page)
    if row is None:
        raise missing_pages_problem([page])
    known = await read_file_paths(owner, [row["origin"]]) if row["kind"] == "file" else {}
    return row, _location(row["kind"], row["origin"], row["place"], known)


def _location(kind: str, origin: str, place: str, known: Mapping[str, str]) -> str:
    return format_location(known.get(origin, "" if kind == "file" else origin), place)


async def _counted(owner: str) -> tuple[list[NamespaceStats], int]:
    return await list_namespaces(owner), await count_retired_pages(owner)


def missing_pages_problem(ids: list[str]) -> Problem:
    """Return the problem of pages that are not there."""
    more = f" (nor {pluralize(len(ids) - 1, 'other')})" if len(ids) > 1 else ""
    hint = "see `dossier pages list` or `dossier search`"
    return Problem(ErrorCode.PAGE_NOT_FOUND, f"there is no page {ids[0]!r}{more}", hint=hint)


def _truncate(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


def _plain(row: ListedPage, where: str) -> dict[str, Any]:
    return {
        "page": row.id,
        "kind": row.kind,
        "title": row.title,
        "location": where,
        "abstract": row.abstract,
        "created": row.created,
        "expires": row.expires,
    }


def _whole(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    kept = ("kind", "title", "abstract", "text", "session", "position", "speaker", "said")
    more = ("provenance", "run", "created", "expires", "superseded_by")
    return {
        "page": row["id"],
        "location": where,
        **{name: row[name] for name in kept},
        "links": json.loads(row["links"]),
        **{name: row[name] for name in more},
        "gone": row["indexed"] == RETIRED,
    }
