"""Erase in database rows, uploaded files and the traces of runs."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, String, Table, Text, and_, delete, or_, select, update

from library.documents import delete_document_row, list_documents_below
from library.page_erasure import PageWording, erase_pages, rewrite_pages
from library.tables import pages
from library.uploaded_files import find_uploads_with_content
from memory.protocol import Erase
from memory.tables import meanings
from privacy.affected_threads import DERIVED_KINDS, AffectedThreads
from privacy.erasure import Erasure, redact_data, redact_json
from privacy.erasure_target import CHAT_PAGE_KIND, ErasurePatterns, ErasureTarget
from runs.trace import trace_file
from storage.events import lock_owner
from storage.file_store import file_store
from storage.permissions import open_private
from storage.tables import events, metadata

UNSEARCHED_TABLES = {
    *("facts", "pages", "members"),  # erased by their own functions
    *("schema", "leases", "namespaces", "documents", "former_documents"),  # names only
    *("projects", "vectors", "vector_sets"),  # names only
    *("uploads", "upload_folders"),  # names only
    *("sources", "heard", "report_shares"),  # ids only
    *("server_users", "user_tokens"),  # names only
    "console_sessions",  # encrypted tokens only
}
"""The tables that are not searched for sentences; all others are, also those added later."""

PERSONAL_TABLES = {"profiles"}
"""Tables with a person's own words: erasing a page does not affect them."""


def find_affected_pages(
    connection: Connection, what: ErasureTarget, known: ErasurePatterns, reach: AffectedThreads
) -> dict[int, PageWording]:
    """Return the new text of each page that repeats erased text, by page number."""
    names = ("number", "kind", "run", "session_id", "title", "abstract", "text", "author")
    mine = select(*(pages.c[name] for name in names)).filter_by(owner=what.owner)
    wanted = mine.where(pages.c.id.not_in(what.pages))
    if not known.everywhere:
        wanted = wanted.where(pages.c.kind.in_(DERIVED_KINDS))
    sessions = _sessions(connection, what, known)
    found: dict[int, PageWording] = {}
    for row in connection.execute(wanted):
        erasure = reach.get_erasure(row.run) if row.kind in DERIVED_KINDS else reach.everywhere
        if row.kind == "session":
            erasure |= sessions.get(row.session_id, Erasure())
        old = PageWording(row.title, row.abstract, row.text, row.author)
        new = PageWording(*map(erasure.redact, old)) if erasure else old
        if new != old:
            found[row.number] = new
    return found


def find_affected_uploads(
    connection: Connection, what: ErasureTarget, known: ErasurePatterns, reach: AffectedThreads
) -> list[str]:
    """Return the names of uploaded files with a page that is erased or repeats erased text."""
    numbers = find_affected_pages(connection, what, known, reach)
    hit = or_(pages.c.id.in_(what.pages), pages.c.number.in_(numbers))
    origins = select(pages.c.origin).distinct().where(pages.c.owner == what.owner, hit)
    return find_uploads_with_content(connection, what.owner, connection.execute(origins).scalars())


def erase_rows(
    connection: Connection,
    what: ErasureTarget,
    known: ErasurePatterns,
    reach: AffectedThreads,
    erasures: Sequence[Erase],
    why: str,
) -> None:
    """Erase a target, and its repetitions in all rows of the owner.

    Args:
        connection: A connection in a write transaction.
        what: The target.
        known: The patterns of the target.
        reach: The affected threads.
        erasures: The database erasure of each memory.
        why: The reason, for the log.
    """
    lock_owner(connection, what.owner)
    connection.execute(delete(meanings).filter_by(owner=what.owner))
    rewrite_pages(connection, find_affected_pages(connection, what, known, reach))
    for table in metadata.sorted_tables:
        if table.name not in UNSEARCHED_TABLES:
            _erase_in_table(connection, table, what, reach)
    for erase in erasures:
        erase(connection)
    for row in list_documents_below(connection, what.owner, what.origin) if what.origin else ():
        delete_document_row(connection, what.owner, row["root"], row["path"])
    if what.pages:
        mine = select(pages.c.number).filter_by(owner=what.owner).order_by(pages.c.number)
        erased = connection.execute(mine.where(pages.c.id.in_(what.pages)))
        if numbers := list(erased.scalars()):
            erase_pages(connection, what.owner, numbers, why=why)


def _sessions(
    connection: Connection, what: ErasureTarget, known: ErasurePatterns
) -> dict[str, Erasure]:
    """Return what is erased in the pages that summarise a session, by session id."""
    turns = select(pages.c.id, pages.c.session_id).filter_by(owner=what.owner, kind=CHAT_PAGE_KIND)
    found: dict[str, Erasure] = defaultdict(Erasure)
    for id, session in connection.execute(turns.where(pages.c.id.in_(what.pages))):
        found[session] |= known.by_page[id]
    return found


def _erase_in_table(
    connection: Connection, table: Table, what: ErasureTarget, reach: AffectedThreads
) -> None:
    """Erase in the texts of a table's rows."""
    texts = [column for column in table.columns if _is_text(column)]
    keys = list(table.primary_key.columns)
    run = [table.c.run] if "run" in table.c and table.c.run not in keys else []
    wanted = select(*keys, *run, *texts)
    if "owner" in table.c:
        wanted = wanted.filter_by(owner=what.owner)
    for row in connection.execute(wanted).mappings().all():
        erasure = _erasure_of_row(table, row, reach)
        values = _changed_texts(row, texts, erasure) if erasure else {}
        if values:
            its = and_(*(column == row[column.name] for column in keys))
            connection.execute(update(table).where(its).values(values))


def _is_text(column: Column[Any]) -> bool:
    return isinstance(column.type, String | Text) and not (
        column.primary_key or column.name in ("owner", "run", "thread", "folder", "out")
    )


def _erasure_of_row(table: Table, row: Mapping[Any, Any], reach: AffectedThreads) -> Erasure:
    threads = reach.owner_threads
    if "owner" not in table.c and threads.get_thread(row["run"]) in threads.foreign:
        return Erasure()
    if table.name == "runs":
        return reach.get_erasure(row["id"])
    if table is events and str(row["name"]).startswith("insight."):
        return reach.fallback_erasure
    if table.name == "outbox":
        return reach.get_erasure(str(json.loads(row["data"]).get("run", "")))
    if "run" in table.c:
        is_foreign = table.name == "calls" and not _is_owned(row["run"], reach)
        return Erasure() if is_foreign else reach.get_erasure(row["run"])
    return reach.everywhere if table.name in PERSONAL_TABLES else reach.fallback_erasure


def _is_owned(run: str, reach: AffectedThreads) -> bool:
    """Return whether a run is the owner's; calls store their run, and no owner."""
    thread = reach.owner_threads.get_thread(run)
    return thread in reach.threads or thread in reach.owner_threads.owned


def _changed_texts(
    row: Mapping[Any, Any], texts: list[Column[Any]], erasure: Erasure
) -> dict[str, str]:
    old = {one.name: row[one.name] for one in texts if row[one.name]}
    new = {name: redact_json(text, erasure, name) for name, text in old.items()}
    return {name: text for name, text in new.items() if text != old[name]}


def delete_files(names: Iterable[str]) -> None:
    """Delete files of the file store; missing ones are ignored."""
    for name in names:
        file_store().remove(name)


def erase_in_traces(runs: Iterable[str], reach: AffectedThreads) -> None:
    """Erase in the traces of runs."""
    for file, text in _changed_traces(runs, reach):
        part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
        with open(part, "x", encoding="utf-8", newline="", opener=open_private) as opened:
            opened.write(text)
        os.replace(part, file)


def find_affected_traces(runs: Iterable[str], reach: AffectedThreads) -> list[str]:
    """Return the traces that `erase_in_traces` would rewrite."""
    return [str(file) for file, _ in _changed_traces(runs, reach)]


def _changed_traces(runs: Iterable[str], reach: AffectedThreads) -> Iterator[tuple[Path, str]]:
    """Yield the traces that an erasure changes, each with its new text."""
    for run in runs:
        file, erasure = trace_file(run), reach.get_erasure(run)
        if erasure and file.exists():
            old = file.read_text(encoding="utf-8", errors="backslashreplace")
            # `splitlines` would also split at U+2028, which may occur inside a line of JSON.
            lines = re.findall("[^\n]*\n|[^\n]+", old)
            new = "".join(_redact_line(line, erasure) for line in lines)
            if new != old:
                yield file, new


def _redact_line(line: str, erasure: Erasure) -> str:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        # A killed process may leave an incomplete line.
        return "" if line.strip() else line
    redacted = redact_data(data, erasure)
    return line if redacted is data else json.dumps(redacted, ensure_ascii=False) + "\n"
