"""Check a watch: ask its question again, compare the reports, and record what is new."""

from __future__ import annotations

import asyncio
import io
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from app.auth.caller_limits import check_caller_choices, fit_defaults
from app.auth.login import check_active
from app.cli.progress import RunProgress
from app.cli.question_run import load_model_names
from app.unattended_run import UnattendedRun
from app.watching.news import News, compose_news, tell_failure
from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.context import Context, build_context
from library.uploads import is_upload_id
from runs.call_site import split_owner
from runs.cost_quotas import check_cost_quota
from runs.lifecycle import RunRecord, find_newest_run, find_run
from runs.lock import acquire
from runs.watches import MAX_TRIES, Watch, WatchCheck, find_watch, list_checks, record_check
from text.pluralization import pluralize
from tools.folder_ingestion import ingest_folder
from tools.upload_reading import find_upload_roots

Tell = Callable[[str], object]
"""Tells a person one line."""

log = logging.getLogger(__name__)

UNFINISHED = ("running", "paused", "failed")
"""The statuses of a last run that a check resumes instead of asking anew."""


async def run_check(watch: Watch, tell: Tell, *, due_by: float | None = None) -> WatchCheck | None:
    """Check a watch now, and record the result.

    Args:
        watch: The watch.
        tell: Receives lines of progress.
        due_by: Check it only if it is due by then; `None` checks it in any case.

    Returns:
        The result; `None` if it is no longer due, because another process has checked it.

    Raises:
        Problem: `run_in_progress` if another process is checking it.
    """
    lock = await asyncio.to_thread(acquire, watch.thread)
    try:
        current = await find_watch(watch.owner, watch.id)
        if due_by is not None and (current.status != "active" or current.due > due_by):
            return None
        return await _check(current, tell)
    finally:
        await asyncio.to_thread(lock.release)


async def _check(watch: Watch, tell: Tell) -> WatchCheck:
    started = time.time()
    run = UnattendedRun(watch.owner, watch.thread, _quiet_progress())
    try:
        news = await _find_news(watch, run, tell)
        code = ""
    except Problem as problem:
        news, code = tell_failure(watch, run.run, problem), problem.code
    except Exception:
        # An unexpected error in one watch must not keep others from being checked.
        log.exception("watch %s", watch.id)
        failure = Problem(ErrorCode.INTERNAL, "the check failed", hint="see the log")
        news, code = tell_failure(watch, run.run, failure), failure.code
    told = watch.notify if _is_told(watch, news) else []
    check = WatchCheck(
        id=secrets.token_hex(16),
        watch=watch.id,
        run=run.run,
        status=news.status,
        code=code,
        notice=news.notice,
        unsent=list(told),
        send_tries=0,
        started=started,
        ended=time.time(),
    )
    await record_check(watch, check)
    return check


def _is_told(watch: Watch, news: News) -> bool:
    """Say whether receivers are notified; of a failure, only after the last try."""
    if news.status == "failed":
        return watch.tries + 1 >= MAX_TRIES
    return news.status != "unchanged" or watch.always


async def _find_news(watch: Watch, run: UnattendedRun, tell: Tell) -> News:
    context = await _prepare(watch, tell)
    last = await find_newest_run(watch.owner, watch.thread)
    if last and last.status in UNFINISHED:
        tell(f"{watch.name}: going on with {last.id}")
        await run.go_on(last.id, context)
    else:
        tell(f"{watch.name}: asking {watch.question}")
        await run.carry_out(watch.question, context)
    made = await find_run(watch.owner, run.run)
    return await compose_news(watch, made, await _find_last_report(watch, made.id))


async def _prepare(watch: Watch, tell: Tell) -> Context:
    """Read the folders of a watch again, load its models, and return the choices of the run."""
    user, project = split_owner(watch.owner)
    chosen = build_context({"again": "refresh", **watch.context, "auto_accept": True})
    chosen = replace(chosen, user=user, project=project, learn=False)
    if settings().has_users and user != settings().user:
        await check_active(user)
        check_caller_choices(chosen, user)
        await check_cost_quota(user)
        chosen = fit_defaults(chosen)
    files: list[str] = []
    for path in chosen.files:
        if is_upload_id(path):
            files += await _find_uploads(watch.owner, path)
            continue
        # What is gone is a failure: its old pages would have nothing new for ever.
        read = await ingest_folder(watch.owner, Path(path), lambda _: None)
        tell(f"{watch.name}: {pluralize(read.read, 'new or changed file')} in {path}")
        files.append(path)
    await load_model_names(chosen)
    return replace(chosen, files=files)


async def _find_uploads(owner: str, id: str) -> list[str]:
    """Return what is searched for an upload or a folder of them.

    Raises:
        Problem: `docs_not_found` for an empty folder; without files, everything would be searched.
    """
    if roots := await find_upload_roots(owner, [id]):
        return roots
    what, hint = "there is no file in this folder", "upload one, or remove the watch"
    raise Problem(ErrorCode.DOCS_NOT_FOUND, what, where=id, hint=hint)


async def _find_last_report(watch: Watch, run: str) -> RunRecord | None:
    """Return the newest earlier run of a watch that has a report."""
    for check in await list_checks(watch):
        if check.status != "failed" and check.run != run:
            try:
                return await find_run(watch.owner, check.run)
            except Problem as problem:
                if problem.error is not ErrorCode.RUN_NOT_FOUND:
                    raise
    return None


def _quiet_progress() -> RunProgress:
    return RunProgress(Console(file=io.StringIO()))
