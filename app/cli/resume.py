"""dossier resume: go on with a run that waits, was paused or was killed."""

from __future__ import annotations

import sys
from pathlib import Path

from app.cli import review
from app.cli.ask import check_models, run_async
from app.cli.conduct import Conductor
from app.cli.progress import Progress
from config.errors import Problem
from config.settings import settings
from graph.context import Context, context
from graph.session import Session, session
from report.export import check_folder
from runs.lifecycle import Run, found, held
from runs.place import owned
from storage.engine import close


def main(
    name: str,
    approve: bool,
    reject: str | None,
    plan: Path | None,
    out: Path | None,
    force: bool,
    project: str,
    as_json: bool,
) -> int:
    """Run the command; return its exit status."""
    decision = _decision(approve, reject, plan)
    if out:
        check_folder(out.absolute(), force=force)
    return run_async(_resume(name, decision, out, force, project, as_json))


def _decision(approve: bool, reject: str | None, plan: Path | None) -> review.Decision | None:
    given = [approve, reject is not None, plan is not None]
    if sum(given) > 1:
        raise Problem("bad_feedback", "more than one decision", hint="give one of the three")
    if approve:
        return review.approve()
    if reject is not None:
        return review.reject(reject)
    return review.edit_from(plan) if plan else None


async def _resume(
    name: str,
    decision: review.Decision | None,
    out: Path | None,
    force: bool,
    project: str,
    as_json: bool,
) -> int:
    try:
        run = await found(owned(settings().user, project), name)
    finally:
        await close()
    with held(run.thread):
        async with session(run.thread) as opened:
            return await _go_on(opened, run, decision, out, force, as_json)


async def _go_on(
    opened: Session,
    run: Run,
    decision: review.Decision | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    choices: Context = context(run.context)
    snapshot = await opened.current()
    if snapshot.values.get("turn", run.turn) != run.turn:
        raise Problem("not_waiting", f"{run.id} is over; its thread has gone on", where=run.thread)
    conductor = Conductor(opened, run.thread, choices, as_json=as_json)
    progress = Progress(conductor.err)
    watch = progress.watch
    if snapshot.interrupts and decision is None:
        request = snapshot.interrupts[0].value
        if not sys.stdin.isatty():
            hint = "give --approve, --reject TEXT or --plan FILE"
            raise Problem("decision_missing", f"{run.id} waits for your decision", hint=hint)
        review.show_plan(conductor.err, request)
        decision = review.ask_decision(conductor.err, request)
    elif not snapshot.interrupts and decision is not None:
        raise Problem(
            "not_waiting", f"{run.id} does not wait for a review", hint=_hint(snapshot.next)
        )
    await check_models(choices, progress)
    first = opened.answer(decision, choices, watch) if decision else opened.go_on(choices, watch)
    return await conductor.drive(first, progress, wait=False, out=out, force=force)


def _hint(unfinished: tuple[str, ...]) -> str:
    return "resume it without a decision" if unfinished else "it is finished"
