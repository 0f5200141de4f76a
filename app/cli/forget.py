"""dossier memory forget, pages forget, pages remove.

Take things out of memory for good after asking, or only out of searches.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import confirm, one_line
from config.errors import ErrorCode, ErrorKind, Problem
from graph.state import State
from library.scope import (
    OriginPages,
    find_copies,
    find_origin_pages,
    missing_pages_problem,
    read_page_record,
)
from library.undo import remove_pages
from nodes.deliver import draw_report
from privacy.erasure_target import ErasureTarget
from privacy.saved_states import ReportState, find_pruned_run
from privacy.service import (
    ErasurePlan,
    execute_erasure,
    list_unfinished_erasures,
    plan_erasure,
    resolve_erasure_target,
)
from report.document import build_document
from report.export import (
    FIGURE_FILES,
    render_report_files,
)
from report.report_places import (
    has_report_files,
    is_report_there,
    list_report_addresses,
    put_report,
)
from runs.lifecycle import REPORT_FILES, RunRecord, find_run, list_report_dirs
from text.pluralization import pluralize


async def redraw_reports(owner: str, states: Sequence[ReportState]) -> int:
    """Write what is left of some reports wherever they lie; return how many folders there were.

    A folder in which by now another report lies, or none, is left alone.

    Args:
        owner: Whose reports.
        states: The states in which their runs left them.

    Raises:
        Problem: `output_not_writable`.
    """
    count = 0
    for one in states:
        contents, folders = await _render_remaining(owner, one)
        for folder in folders:
            await put_report(contents, folder, force=True)
            await asyncio.to_thread(_sweep, folder)
            count += 1
    return count


async def list_outdated_reports(
    owner: str, states: Sequence[ReportState]
) -> list[tuple[ReportState, list[str]]]:
    """Return those reports that change or whose files are not what is left, with their files."""
    outdated = []
    for one in states:
        contents, folders = await _render_remaining(owner, one)
        if await asyncio.to_thread(_is_outdated, one, contents, folders):
            outdated.append((one, await asyncio.to_thread(_list_files, folders)))
    return outdated


def _is_outdated(one: ReportState, contents: dict[str, bytes], folders: Sequence[str]) -> bool:
    return one.is_changed or not all(is_report_there(contents, folder) for folder in folders)


def _list_files(folders: Sequence[str]) -> list[str]:
    return [file for folder in folders for file in list_report_addresses(folder)]


async def _render_remaining(owner: str, report: ReportState) -> tuple[dict[str, bytes], list[str]]:
    """Return what is left of the files of a report, and the folders in which they lie."""
    state = cast("State", report.after)
    try:
        run: RunRecord | None = await find_run(owner, report.run)
    except Problem:
        run = await find_pruned_run(owner, report.run)
    if run is None:
        document = build_document(state, state["report"], state["status"], "")
        return await asyncio.to_thread(render_report_files, document), []
    ended = datetime.fromtimestamp(run.updated, UTC).date().isoformat()
    day = state["report"].get("created", ended)
    document = await draw_report(owner, report.run, state, day)
    filed = await list_report_dirs(run)
    left = await asyncio.to_thread(lambda: [one for one in filed if has_report_files(one)])
    return await asyncio.to_thread(render_report_files, document), left


def _sweep(folder: str) -> None:
    """Remove what a killed process has left half written."""
    for name in (*REPORT_FILES.values(), FIGURE_FILES):
        for part in Path(folder).glob(f".{name}.*.part"):
            part.unlink(missing_ok=True)


MAX_PAGES_AT_ONCE = 30_000
"""So many pages are forgotten at once; SQLite as it usually comes takes 32,766 values."""


class ErasurePreview(NamedTuple):
    """What forgetting touches, and what it leaves, by path."""

    plan: ErasurePlan
    reports: list[str]
    """The files of reports that are rewritten."""
    copies: dict[str, str]
    """Pages that say the same and stay, each with where it is from."""

    @property
    def rewritten_files(self) -> list[str]:
        """Every file that is rewritten, beside the databases."""
        return [*self.reports, *self.plan.rewritten]

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain data."""
        plan = self.plan
        ids = list(plan.target.ids)
        counts = {"pages": plan.pages, "facts": plan.facts, "profile": plan.target.profile}
        files = {"rewritten": self.rewritten_files, "deleted": list(plan.deleted)}
        return {
            "forgotten": len(ids),
            "ids": ids,
            **counts,
            "reports": [one.run for one in plan.reports],
            "threads": plan.threads,
            **files,
            "copies_kept": [{"page": id, "in": where} for id, where in self.copies.items()],
            "left_in": list(plan.files),
            "unread": [problem.as_dict() for problem in plan.unreadable],
        }


def forget_named_pages(
    *,
    ids: list[str] | None,
    origin: str,
    yes: bool,
    dry_run: bool,
    copies: bool,
    invocation: Invocation,
) -> int:
    """Erase pages for good, and whatever says them again; remove only stops searching them.

    Raises:
        Problem: `usage`, `page_not_found`, or what `privacy.service` tells of.
    """
    owner = invocation.owner
    found = run_and_close(resolve_pages(owner, ids or [], origin, forgotten=True))
    target = ErasureTarget(owner, pages=tuple(found.ids), origin=origin)
    return _forget(target, found.shared, invocation, yes=yes, dry_run=dry_run, copies=copies)


def forget_items(
    *, ids: list[str], yes: bool, dry_run: bool, copies: bool, invocation: Invocation
) -> int:
    """Remove things for good, and what was quoted of them: no byte of it is left.

    Raises:
        Problem: What `privacy.service` tells of.
    """
    target = run_and_close(resolve_erasure_target(invocation.owner, ids))
    return _forget(target, {}, invocation, yes=yes, dry_run=dry_run, copies=copies)


def _forget(
    target: ErasureTarget,
    shared: dict[str, str],
    invocation: Invocation,
    *,
    yes: bool,
    dry_run: bool,
    copies: bool,
) -> int:
    """Show what would be erased, ask, and erase it; return the exit status.

    Args:
        target: What a person named.
        shared: Pages that say the same elsewhere, each with where it is from.
        invocation: For whom.
        yes: Whether nobody is asked.
        dry_run: Whether only to show what would be touched.
        copies: Whether to forget the pages elsewhere, too.
    """
    preview = run_and_close(preview_erasure(target, shared, copies=copies))
    data, counts = preview.as_dict(), _counts(preview.plan)
    remaining = _render_remaining_copies(preview)
    touched = [*_render_touched(preview), *remaining]
    if dry_run:
        invocation.print_result({**data, "forgotten": 0}, "\n".join([*touched, counts]))
        return 0
    question = f"Forget {counts}? It cannot be undone."
    if not (yes or confirm(question, ErrorCode.FORGET_UNCONFIRMED, touched)):
        invocation.print_result({"forgotten": 0, "ids": []}, "Nothing is forgotten.")
        return 0
    beyond = run_and_close(execute_erasure(preview.plan, partial(redraw_reports, target.owner)))
    lines = [f"{counts} forgotten.", *remaining, *[f"Beyond reach: {beyond}."] * bool(beyond)]
    invocation.print_result({**data, "beyond": beyond}, "\n".join(lines))
    return ErrorKind.PARTIAL.exit_status if preview.plan.unreadable else 0


async def preview_erasure(
    target: ErasureTarget, shared: dict[str, str], *, copies: bool
) -> ErasurePreview:
    """Return what erasing a target would touch, without changing anything.

    Args:
        target: What a person named.
        shared: Pages that say the same elsewhere, each with where it is from.
        copies: Whether to forget the pages elsewhere, too.

    Raises:
        Problem: `usage` for too many pages, or what `privacy.service` tells of.
    """
    same = {**await find_copies(target.owner, target.pages), **shared}
    if copies:
        target, same = target._replace(pages=(*target.pages, *same)), {}
    if len(target.pages) > MAX_PAGES_AT_ONCE:
        what = (
            f"{len(target.pages):,} pages are too many at once; the most is {MAX_PAGES_AT_ONCE:,}"
        )
        raise Problem(ErrorCode.USAGE, what, hint="name the folders below one by one")
    plan = await plan_erasure(target)
    outdated = await list_outdated_reports(target.owner, plan.reports)
    files = [file for _, files in outdated for file in files]
    plan = plan._replace(reports=tuple(report for report, _ in outdated))
    return ErasurePreview(plan, files, same)


async def resolve_pages(
    owner: str, ids: list[str], origin: str, *, forgotten: bool = False
) -> OriginPages:
    """Return the pages that a person names by ids or by their origin.

    Args:
        owner: Whose.
        ids: The pages.
        origin: Where all of them are from; one of the two.
        forgotten: Whether pages may be named that a killed command has half forgotten.

    Raises:
        Problem: `usage` or `page_not_found`.
    """
    if bool(ids) == bool(origin):
        what = "name pages, or one origin" if ids else "nothing is named"
        raise Problem(ErrorCode.USAGE, what, hint="name ids of pages, or --origin X")
    if origin:
        found = await find_origin_pages(owner, origin)
        if not (found.ids or found.shared):
            hint = "an address, a file, a folder, a run or a conversation"
            raise Problem(ErrorCode.PAGE_NOT_FOUND, f"no page is from {origin!r}", hint=hint)
        return found
    unknown = [one for one in ids if await read_page_record(owner, one) is None]
    half = await list_unfinished_erasures(owner) if forgotten else set()
    if unknown and not half.issuperset(unknown):
        raise missing_pages_problem(unknown)
    return OriginPages(list(dict.fromkeys(ids)), {})


def _counts(plan: ErasurePlan) -> str:
    """Say what is touched; what was named, and what says it again."""
    counts = {
        "page": plan.pages,
        "fact": plan.facts,
        "profile": int(plan.target.profile),
        "file section": len({*plan.target.files} - {one.where for one in plan.unreadable}),
        "insight": len(plan.target.insights),
        "report": len(plan.reports),
        "thread": len(plan.threads),
        "list of files": int(bool(plan.target.origin) and not plan.target.pages),
    }
    lines = [pluralize(count, name) for name, count in counts.items() if count]
    return ", ".join(lines) or "Nothing more"


def _render_touched(shown: ErasurePreview) -> list[str]:
    """Name every file that is rewritten or deleted, and every conversation."""
    files = [f"rewritten: {path}" for path in shown.rewritten_files]
    files += [f"deleted: {path}" for path in shown.plan.deleted]
    return [one_line(line) for line in (*files, *(f"thread: {one}" for one in shown.plan.threads))]


def _render_remaining_copies(shown: ErasurePreview) -> list[str]:
    """Say which lines a person wrote themselves say it too, and what nobody can look into."""
    plan = shown.plan
    own = [f"Your own lines in {path} say it too; they stay: edit them." for path in plan.files]
    unread = [f"{one.where} stays as it is: {one.what}." for one in plan.unreadable]
    copies = []
    for where, count in Counter(shown.copies.values()).items():
        says = pluralize(count, "page says the same and stays", "pages say the same and stay")
        copies.append(f"{says} in {where}; --copies forgets them too.")
    return [one_line(line) for line in (*copies, *own, *unread)]


async def remove_named_pages(*, ids: list[str] | None, origin: str, invocation: Invocation) -> None:
    """Stop searching pages; nothing else changes, and memory undo brings them back.

    Raises:
        Problem: `usage` or `page_not_found`.
    """
    found = await resolve_pages(invocation.owner, ids or [], origin)
    done = await remove_pages(invocation.owner, found.ids, origin, "removed by the person")
    counts = {"page": done.pages, "file": done.files}
    parts = ", ".join(pluralize(count, name) for name, count in counts.items() if count)
    removed = f"{parts} not searched any more; dossier memory undo {done.event} brings them back."
    invocation.print_result(done._asdict(), removed if done.event else "Nothing there is searched.")
