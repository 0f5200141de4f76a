"""dossier memory forget, pages forget, pages remove.

Take things out of memory for good after asking, or only out of searches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import confirm, one_line, print_json
from app.cli.pages import missing_pages_problem
from config.errors import ErrorCode, ErrorKind, Problem
from graph.state import State
from library.scope import OriginPages, find_copies, find_origin_pages, read_page_record
from library.undo import RemovedPages, remove_pages
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
from report.document import ReportDocument, build_document
from report.export import is_report_in_folder, render_report_files, write_report_files
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
        shown, places = await _render_remaining(owner, one)
        contents = render_report_files(shown)
        for folder in places:
            await write_report_files(contents, folder, force=True)
            _sweep(folder)
            count += 1
    return count


async def list_outdated_reports(owner: str, states: Sequence[ReportState]) -> list[ReportState]:
    """Return those reports that change, and those whose files still say what they said before."""
    left = []
    for one in states:
        shown, places = await _render_remaining(owner, one)
        contents = render_report_files(shown)
        if one.is_changed or not all(is_report_in_folder(contents, folder) for folder in places):
            left.append(one)
    return left


async def _list_report_files(owner: str, states: Sequence[ReportState]) -> list[str]:
    """Return the files of some reports, as they lie on the disk."""
    places = [folder for one in states for folder in (await _render_remaining(owner, one))[1]]
    files = (folder / name for folder in places for name in REPORT_FILES.values())
    return [str(file) for file in files if file.exists()]


async def _render_remaining(owner: str, report: ReportState) -> tuple[ReportDocument, list[Path]]:
    """Return what is left of a report, and the folders in which its files lie."""
    state = cast("State", report.after)
    try:
        run: RunRecord | None = await find_run(owner, report.run)
    except Problem:
        run = await find_pruned_run(owner, report.run)
    if run is None:
        return build_document(state, state["report"], state["status"], ""), []
    ended = datetime.fromtimestamp(run.updated, UTC).date().isoformat()
    day = state["report"].get("created", ended)
    shown = await draw_report(owner, report.run, state, day)
    places = [Path(folder) for folder in await list_report_dirs(run)]
    names = REPORT_FILES.values()
    return shown, [one for one in places if any((one / name).exists() for name in names)]


def _sweep(folder: Path) -> None:
    """Remove what a killed process has left half written."""
    for name in REPORT_FILES.values():
        for part in folder.glob(f".{name}.*.part"):
            part.unlink(missing_ok=True)


MAX_PAGES_AT_ONCE = 30_000
"""So many pages are forgotten at once; SQLite as it usually comes takes 32,766 values."""


class _ErasurePreview(NamedTuple):
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


class ErasureOptions(NamedTuple):
    """How a person wants it done."""

    sure: bool = False
    look: bool = False
    """Whether only to show what would be touched."""
    copies: bool = False
    """Whether to forget copies elsewhere, too."""
    as_json: bool = False


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
    return _forget(
        ErasureTarget(owner, pages=tuple(found.ids), origin=origin),
        ErasureOptions(sure=yes, look=dry_run, copies=copies, as_json=invocation.as_json),
        found.shared,
    )


def forget_items(
    *,
    ids: list[str],
    yes: bool,
    dry_run: bool,
    copies: bool,
    invocation: Invocation,
) -> int:
    """Remove things for good, and what was quoted of them: no byte of it is left.

    Raises:
        Problem: What `privacy.service` tells of.
    """
    return _forget(
        run_and_close(resolve_erasure_target(invocation.owner, ids)),
        ErasureOptions(sure=yes, look=dry_run, copies=copies, as_json=invocation.as_json),
        {},
    )


def _forget(what: ErasureTarget, wish: ErasureOptions, kept: dict[str, str]) -> int:
    shown = run_and_close(_plan_erasure(what, kept, copies=wish.copies))
    plan = shown.plan
    if wish.look:
        return _print_preview(shown, as_json=wish.as_json)
    if not (wish.sure or _confirm_erasure(shown)):
        return _print_nothing_forgotten(as_json=wish.as_json)
    beyond = run_and_close(execute_erasure(plan, partial(redraw_reports, what.owner)))
    if wish.as_json:
        print_json({**_preview_as_dict(shown), "beyond": beyond})
    else:
        print(f"{_counts(plan)} forgotten.")
        for line in [
            *_render_remaining_copies(shown),
            *([f"Beyond reach: {beyond}."] if beyond else []),
        ]:
            print(line)
    return ErrorKind.PARTIAL.exit_status if plan.unreadable else 0


def _print_preview(shown: _ErasurePreview, *, as_json: bool) -> int:
    """Show what would be touched; nothing is."""
    if as_json:
        print_json({**_preview_as_dict(shown), "forgotten": 0})
    else:
        print(
            "\n".join(
                [*_render_touched(shown), *_render_remaining_copies(shown), _counts(shown.plan)]
            )
        )
    return 0


def _print_nothing_forgotten(*, as_json: bool) -> int:
    if as_json:
        print_json({"forgotten": 0, "ids": []})
    else:
        print("Nothing is forgotten.")
    return 0


async def _plan_erasure(
    what: ErasureTarget, kept: dict[str, str], *, copies: bool
) -> _ErasurePreview:
    also = {**await find_copies(what.owner, what.pages), **kept}
    if copies:
        what, also = what._replace(pages=(*what.pages, *also)), {}
    if len(what.pages) > MAX_PAGES_AT_ONCE:
        message = (
            f"{len(what.pages):,} pages are too many at once; the most is {MAX_PAGES_AT_ONCE:,}"
        )
        raise Problem(ErrorCode.USAGE, message, hint="name the folders below one by one")
    plan = await plan_erasure(what)
    plan = plan._replace(reports=tuple(await list_outdated_reports(what.owner, plan.reports)))
    return _ErasurePreview(plan, await _list_report_files(what.owner, plan.reports), also)


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
        raise Problem(ErrorCode.USAGE, what, hint="dossier pages remove ID..., or --origin X")
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


def _confirm_erasure(shown: _ErasurePreview) -> bool:
    asked = f"Forget {_counts(shown.plan)}? It cannot be undone."
    return confirm(
        asked,
        ErrorCode.FORGET_UNCONFIRMED,
        [*_render_touched(shown), *_render_remaining_copies(shown)],
    )


def _preview_as_dict(shown: _ErasurePreview) -> dict[str, object]:
    plan = shown.plan
    counts = {"pages": plan.pages, "facts": plan.facts, "profile": plan.target.profile}
    return {
        "forgotten": len(plan.target.ids),
        "ids": list(plan.target.ids),
        **counts,
        "reports": [one.run for one in plan.reports],
        "threads": plan.threads,
        "rewritten": shown.rewritten_files,
        "deleted": list(plan.deleted),
        "copies_kept": [{"page": id, "in": where} for id, where in shown.copies.items()],
        "left_in": list(plan.files),
        "unread": [problem.as_dict() for problem in plan.unreadable],
    }


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


def _render_touched(shown: _ErasurePreview) -> list[str]:
    """Name every file that is rewritten or deleted, and every conversation."""
    files = [f"rewritten: {path}" for path in shown.rewritten_files]
    files += [f"deleted: {path}" for path in shown.plan.deleted]
    return [one_line(line) for line in (*files, *(f"thread: {one}" for one in shown.plan.threads))]


def _render_remaining_copies(shown: _ErasurePreview) -> list[str]:
    """Say which lines a person wrote themselves say it too, and what nobody can look into."""
    plan = shown.plan
    own = [f"Your own lines in {path} say it too; they stay: edit them." for path in plan.files]
    unread = [f"{one.where} stays as it is: {one.what}." for one in plan.unreadable]
    copies = []
    for where, count in Counter(shown.copies.values()).items():
        says = pluralize(count, "page says the same and stays", "pages say the same and stay")
        copies.append(f"{says} in {where}; --copies forgets them too.")
    return [one_line(line) for line in (*copies, *own, *unread)]


def remove_named_pages(*, ids: list[str] | None, origin: str, invocation: Invocation) -> int:
    """Stop searching pages; nothing else changes, and memory undo brings them back.

    Raises:
        Problem: `usage` or `page_not_found`.
    """
    done = run_and_close(_remove(invocation.owner, ids or [], origin))
    if invocation.as_json:
        print_json(done._asdict())
    elif not done.event:
        print("Nothing there is searched.")
    else:
        counts = {"page": done.pages, "file": done.files}
        parts = ", ".join(pluralize(count, name) for name, count in counts.items() if count)
        print(f"{parts} not searched any more; dossier memory undo {done.event} brings them back.")
    return 0


async def _remove(owner: str, ids: list[str], origin: str) -> RemovedPages:
    found = await resolve_pages(owner, ids, origin)
    return await remove_pages(owner, found.ids, origin, "removed by the person")
