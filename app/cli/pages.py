"""dossier pages: list, show and count what was read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from rich.table import Column
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line, print_json
from app.cli.table import (
    describe_fields,
    local_time,
    make_table,
    print_renderables,
    truncate_cell,
)
from config.errors import ErrorCode, Problem
from library.knowledge_records import KNOWLEDGE_KIND
from library.page_retrieval import format_location
from library.page_rows import RETIRED
from library.scope import (
    ListedPage,
    Scope,
    count_retired_pages,
    list_base_pages,
    list_namespaces,
    list_stored_pages,
    missing_pages_problem,
    read_file_paths,
    read_page_record,
    resolve_scope,
)
from text.pluralization import pluralize


async def print_page_list(*, kind: str, within: str, limit: int, invocation: Invocation) -> None:
    """List the newest pages.

    Raises:
        Problem: `namespace_not_found`.
    """
    owner = invocation.owner
    if kind == KNOWLEDGE_KIND:
        pages = await list_base_pages(owner, within, limit)
    else:
        pages = await list_stored_pages(owner, await _read_scope(owner, kind, within), limit)
    paths = await read_file_paths(owner, [page.origin for page in pages if page.kind == "file"])
    data = []
    rows = make_table("page", "kind", "kept", Column("title"), Column("from"))
    for page in pages:
        where = _location(page.kind, page.origin, page.place, paths)
        data.append(_page_as_dict(page, where))
        # The folders of a file fill a line; `pages show` has them.
        short = where.removeprefix(os.path.dirname(where) + "/") if page.kind == "file" else where
        cells = truncate_cell(page.title), truncate_cell(short)
        rows.add_row(page.id, page.kind, f"{local_time(page.created):%Y-%m-%d}", *cells)
    invocation.print_result(
        data, rows if pages else "No pages yet: dossier ingest PATH reads some."
    )


async def _read_scope(owner: str, kind: str, within: str) -> Scope:
    """Return the part of the store that a kind and a namespace stand for together."""
    scope = await resolve_scope(owner, within)
    if not kind:
        return scope
    kinds = (await resolve_scope(owner, kind)).kinds
    if kinds is None:
        hint = "file, web, report, chat or knowledge"
        raise Problem(ErrorCode.NAMESPACE_NOT_FOUND, f"{kind!r} is no kind of page", hint=hint)
    return scope._replace(kinds=kinds)


async def print_page(*, page: str, invocation: Invocation) -> None:
    """Show a page: where it is from, and what it says.

    Raises:
        Problem: `page_not_found`.
    """
    row = await read_page_record(invocation.owner, page)
    if row is None:
        raise missing_pages_problem([page])
    origins = [row["origin"]] if row["kind"] == "file" else []
    paths = await read_file_paths(invocation.owner, origins)
    fields = _whole_page_as_dict(row, _location(row["kind"], row["origin"], row["place"], paths))
    if invocation.as_json:
        print_json(fields)
        return
    hidden = {"title", "abstract", "text", "position", "links"}
    if row["kind"] == "file":
        hidden |= {"session"}  # That is the hash of what is in it.
    shown = {name: value for name, value in fields.items() if name not in hidden}
    shown["created"] = f"{local_time(row['created']):%Y-%m-%d %H:%M}"
    head = Text(one_line(row["title"]) or "(no title)", "bold")
    print_renderables(head, describe_fields(shown, ("", "None", "False")), "")
    print(row["text"])


async def print_page_counts(*, invocation: Invocation) -> None:
    """Count the pages by kind, conversation and folder."""
    shelves = await list_namespaces(invocation.owner)
    gone = await count_retired_pages(invocation.owner)
    total = sum(shelf.pages for shelf in shelves if not shelf.group)
    numbers = (Column(name, no_wrap=True, justify="right") for name in ("pages", "words"))
    rows = make_table("kind", Column("conversation or folder", overflow="fold"), *numbers)
    for shelf in shelves:
        counts = f"{shelf.pages:,}", f"{shelf.words:,}"
        rows.add_row(shelf.kind, Text(one_line(shelf.group)), *counts)
    older = pluralize(gone, "older one is", "older ones are")
    summary = pluralize(total, "page") + (f"; {older} kept for citations" if gone else "")
    spaces = [shelf._asdict() for shelf in shelves]
    data = {"pages": total, "superseded": gone, "namespaces": spaces}
    invocation.print_result(data, *[rows] * bool(shelves), summary)


def _location(kind: str, origin: str, place: str, paths: Mapping[str, str]) -> str:
    return format_location(paths.get(origin, "" if kind == "file" else origin), place)


def _page_as_dict(page: ListedPage, where: str) -> dict[str, Any]:
    head = {"page": page.id, "kind": page.kind, "title": page.title, "location": where}
    return {**head, "abstract": page.abstract, "created": page.created, "expires": page.expires}


def _whole_page_as_dict(row: Mapping[str, Any], where: str) -> dict[str, Any]:
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
