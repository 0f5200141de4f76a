"""dossier kb: name knowledge bases, read them in, and search them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from rich.table import Column

from app.cli.choices import split_pairs
from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.ingest_command import make_ingest_bar
from app.cli.output import one_line, print_notice, print_problem
from app.cli.snippets import cut_snippet
from app.cli.table import describe_fields, make_table, truncate_cell
from config.errors import ErrorCode, ErrorKind, Problem
from library.knowledge_records import KnowledgeBase
from library.uploads import is_upload_id
from library.vector_upkeep import update_vectors
from text.pluralization import pluralize
from tools.knowledge.catalog import find_bases, list_bases, operator_file
from tools.knowledge.creation import add_new_base
from tools.knowledge.kinds import KINDS, make_base, open_base
from tools.knowledge.knowledge_source import RefreshResult
from tools.knowledge.removal import Removal, remove_base

NAMED = 20
"""How many documents are named that were left out."""

OPTION_EXAMPLE = "--option index=handbook"
"""How an option of a base is given."""


def add_base(
    *,
    name: str,
    location: str,
    about: str,
    kind: str,
    options: list[str] | None,
    invocation: Invocation,
) -> int:
    """Name a knowledge base, and read its documents in."""
    is_name = "://" in location or is_upload_id(location)
    where = location if is_name else os.path.realpath(os.path.expanduser(location))
    given = dict(split_pairs(options or [], ErrorCode.KNOWLEDGE_INVALID, OPTION_EXAMPLE))
    owner = invocation.owner
    base = make_base(name, about, where, given, kind=kind, owner=owner)

    read = run_and_close(add_new_base(base, _refresh))
    lines = [f"{name}: {_describe_refresh(base, read)}", *_left_out_lines(read)]
    invocation.print_result({**base_as_dict(base), **refresh_as_dict(read)}, "\n".join(lines))
    return _exit_status([read])


async def print_base_list(*, invocation: Invocation) -> None:
    """List the knowledge bases: the person's own, and the operator's."""
    bases = await list_bases(invocation.owner)
    rows = make_table("name", "kind", "whose", Column("about"), Column("where"))
    for base in bases:
        whose = "operator's" if base.is_shared else "yours"
        cells = truncate_cell(one_line(base.about)), truncate_cell(one_line(base.location))
        rows.add_row(base.name, base.kind, whose, *cells)
    none = 'No knowledge bases yet: dossier kb add NAME PATH --about "what it answers"'
    invocation.print_result([base_as_dict(base) for base in bases], rows if bases else none)


async def print_base(*, name: str, invocation: Invocation) -> None:
    """Show a knowledge base, and how it stands."""
    (base,) = await find_bases(invocation.owner, [name])
    shown = base_as_dict(base)
    try:
        shown["status"] = await open_base(base).check()
    except Problem as problem:
        shown["status"] = str(problem)
    fields = {**shown, "options": json.dumps(shown["options"], ensure_ascii=False)}
    invocation.print_result(shown, describe_fields(fields, ("", "{}", "False")))


def refresh_bases(*, names: list[str] | None, invocation: Invocation) -> int:
    """Read what is new or has changed in knowledge bases; all of them without a name."""

    async def refresh() -> list[tuple[KnowledgeBase, RefreshResult | Problem]]:
        """Refresh one after the other; one that fails does not stop the others."""
        owner = invocation.owner
        bases = await find_bases(owner, names) if names else await list_bases(owner)
        done: list[tuple[KnowledgeBase, RefreshResult | Problem]] = []
        for base in bases:
            try:
                done.append((base, await _refresh(base)))
            except Problem as problem:
                done.append((base, problem))
        return done

    done = run_and_close(refresh())
    data, lines = [], []
    for base, read in done:
        if isinstance(read, Problem):
            print_problem(read, as_json=invocation.as_json)
            data.append({"name": base.name, "error": read.as_dict()})
        else:
            data.append({"name": base.name, **refresh_as_dict(read)})
            lines += [f"{base.name}: {_describe_refresh(base, read)}", *_left_out_lines(read)]
    invocation.print_result(data, "\n".join(lines) or "Nothing was refreshed.")
    return _exit_status([read for _, read in done])


async def remove_named_base(*, name: str, invocation: Invocation) -> None:
    """Take a knowledge base away, with everything that was read in of it."""
    (base,) = await find_bases(invocation.owner, [name])
    if base.is_shared:
        where = str(operator_file())
        raise Problem(ErrorCode.KNOWLEDGE_SHARED, f"{name!r} is the operator's", where=where)
    gone = await remove_base(invocation.owner, base)
    counts = pluralize(gone.documents, "document"), pluralize(gone.passages, "passage")
    lines = [f"{name} is removed. Erased: {counts[0]} read in, and {counts[1]} shown to runs."]
    if gone.cited:
        lines.append(_describe_kept(name, gone))
    if base.kind in ("folder", "bucket"):
        lines.append(f"{base.location} itself is left as it is.")
    invocation.print_result({"name": name, **gone._asdict()}, "\n".join(lines))


def _describe_kept(name: str, gone: Removal) -> str:
    """Return what stays of a base, in which conversations, and how it is seen and erased."""
    one = len(gone.cited) == 1
    passages = f"{pluralize(len(gone.cited), 'passage')} {'stays' if one else 'stay'}"
    threads = ", ".join([*gone.threads[:NAMED], *["…"][: len(gone.threads) - NAMED]])
    their = f"{'a source' if one else 'sources'} of {pluralize(len(gone.threads), 'conversation')}"
    seen = f"dossier pages list --kind knowledge --in {name}"
    return (
        f"{passages}, as {their} ({one_line(threads)}). To see: {seen}. "
        "To erase: dossier pages forget ID"
    )


async def search_base(*, name: str, query: str, limit: int, invocation: Invocation) -> None:
    """Search one knowledge base, and nothing else."""
    (base,) = await find_bases(invocation.owner, [name])
    found = await open_base(base).search(query, limit)
    data = [
        {"title": one.title, "location": one.location, "place": one.place, "text": one.text}
        for one in found
    ]
    lines = [
        f"{at}. {one_line(one.title) or '(no title)'}\n   {one_line(one.location)}\n"
        f"   {cut_snippet(one.text, query)}"
        for at, one in enumerate(found, start=1)
    ]
    invocation.print_result(data, "\n".join(lines) or f"{name} has nothing on that.")


async def _refresh(base: KnowledgeBase) -> RefreshResult:
    """Read a base anew with a bar, and make the vectors that are due."""
    bar = make_ingest_bar()
    with bar:
        task = bar.add_task(one_line(base.name), total=None)
        read = await open_base(base).refresh(lambda _: bar.advance(task))
        if read.read:
            due = bar.add_task("Making vectors", total=None)
            problem = (await update_vectors(lambda pages: bar.advance(due, pages))).problem
            if problem:
                print_notice(f"without vectors: {one_line(str(problem))}")
    return read


def _describe_refresh(base: KnowledgeBase, read: RefreshResult) -> str:
    if KINDS[base.kind].is_service:
        return "it answers"
    left = f", {len(read.skipped)} left out" if read.skipped else ""
    return f"{pluralize(read.files, 'file')}: {read.read} read, {read.known} known already{left}"


def _left_out_lines(read: RefreshResult) -> list[str]:
    named = [
        f"  left out {one_line(one.path)}: {one.reason} [{one.code}]"
        for one in read.skipped[:NAMED]
    ]
    more = len(read.skipped) - len(named)
    return [*named, f"  … and {more} more; --json names them all"] if more else named


def _exit_status(read: Sequence[RefreshResult | Problem]) -> int:
    """Return the exit status of a refresh: that of its problem where it was all that was done."""
    match read:
        case [Problem() as problem]:
            return problem.exit_status
    whole = all(isinstance(one, RefreshResult) and not one.skipped for one in read)
    return 0 if whole else ErrorKind.PARTIAL.exit_status


def base_as_dict(base: KnowledgeBase) -> dict[str, Any]:
    """Return a knowledge base as `--json` prints it."""
    shown = {name: getattr(base, name) for name in ("name", "about", "kind", "location")}
    return {**shown, "options": dict(base.options), "operator": base.is_shared}


def refresh_as_dict(read: RefreshResult) -> dict[str, Any]:
    """Return what a refresh did as `--json` prints it."""
    counts = {"files": read.files, "read": read.read, "known": read.known}
    return {**counts, "skipped": [one._asdict() for one in read.skipped]}
