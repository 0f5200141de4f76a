"""dossier resume: go on with a run that waits, was paused or was killed."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Any, Literal, cast

from langgraph.types import StateSnapshot

from app.cli import review
from app.cli.answer_choice import check_decision_fits, make_choice
from app.cli.choices import double_cap, read_caps
from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import has_terminal
from app.cli.question_run import check_models, check_servers
from app.cli.runner import CliRunner, has_report
from app.cli.step_requests import asks_for_steps, make_response, waits_for_steps
from config.errors import ErrorCode, Problem
from graph.context import Context, build_context
from graph.plan_questions import answer_questions
from graph.session import SessionOutcome, ThreadSession, pending_nodes, stores_answer
from graph.state import State
from report.export import check_report_folder
from runs.incomplete import find_resume_node, find_unchanged_limit
from runs.lifecycle import (
    REPORT_FILES,
    RunRecord,
    find_run,
    list_file_digests,
    mark_interrupted,
    set_run_context,
    set_run_status,
)
from runs.lock import thread_lock

REVIEW_NODES = (("human_feedback",), ("same_question",))
"""The next nodes of a thread that was killed before its pause was saved."""

ASKING_NODE = ("human_input",)
"""Likewise where steps ask, which a run without a review may wait for, too."""

_RunStage = Literal["untaken", "working", "waiting", "finished"]
"""How far a run got before its last session ended."""


def resume(
    *,
    run: str,
    approve: bool,
    reject: str | None,
    plan: Path | None,
    answer: list[str] | None,
    again: str,
    out: Path | None,
    force: bool,
    invocation: Invocation,
    cap: list[str] | None,
    progress: str,
) -> int:
    """Go on with a run that waits, was paused or killed, failed in part, or reached a limit."""
    answers = review.parse_answers(answer or [])
    decision = make_choice(again) if again else _decision(approve, reject, plan, answers)
    if again and (approve or reject is not None or plan or answers):
        what = "more than one decision"
        raise Problem(ErrorCode.BAD_FEEDBACK, what, hint="give one of them")
    found, own = run_and_close(_found(invocation.owner, run))
    asked_for = out is not None
    if out:
        # Where a finished run has written its files already, nothing but they may be meant.
        check_report_folder(out.absolute(), force=force, own=() if found.folder else own)
    elif found.out:
        out = Path(found.out)
    raised = read_caps(cap or [], build_context(found.context).limits._asdict())
    as_json = invocation.as_json
    conductor = CliRunner(
        found.thread, wait=False, out=out, force=force, as_json=as_json, progress=progress
    )
    with thread_lock(found.thread):
        try:
            return conductor.run_to_end(
                lambda opened: _resume(opened, conductor, found, decision, raised, asked_for)
            )
        except Problem as problem:
            if problem.code == ErrorCode.STORAGE_CORRUPT:
                owner, thread = found.owner, found.thread
                run_and_close(mark_interrupted(owner, thread, "failed", code=problem.code))
            raise


def _decision(
    approve: bool, reject: str | None, plan: Path | None, answers: dict[str, str]
) -> review.ReviewDecision | None:
    given = [approve, reject is not None, plan is not None]
    if sum(given) > 1:
        what = "more than one decision"
        raise Problem(ErrorCode.BAD_FEEDBACK, what, hint="give one of the three")
    if answers and not any(given):
        return {"answers": answers}
    if approve:
        return review.with_answers(review.make_approval(), answers)
    if reject is not None:
        if reject.startswith("--"):
            what = f"{reject} stands where the words of the rejection should"
            raise Problem(ErrorCode.BAD_FEEDBACK, what, hint='--reject "what is to change"')
        rejection = review.make_rejection(reject, answered=bool(answers))
        return review.with_answers(rejection, answers)
    return review.with_answers(review.read_plan_edit(plan), answers) if plan else None


async def _found(owner: str, name: str) -> tuple[RunRecord, dict[str, str]]:
    """Return a run, and the digests of the files it has written."""
    run = await find_run(owner, name)
    return run, await list_file_digests(run.id, owner)


async def _resume(
    opened: ThreadSession,
    conductor: CliRunner,
    run: RunRecord,
    decision: review.ReviewDecision | None,
    raised: dict[str, Any],
    asked_for: bool,
) -> SessionOutcome:
    run = await find_run(run.owner, run.id)  # another process may have resumed it by now
    snapshot = await opened.current()
    standing, state = _find_stage(run, snapshot), cast("State", snapshot.values)
    choices = build_context({**run.context, **raised})
    _check(run, standing, state, choices, decided=decision is not None, asked_for=asked_for)
    _check_answers(state, decision)
    await check_servers(run.owner, choices)
    await check_models(choices, conductor.progress, money="max_cost" in raised)
    if raised:
        await set_run_context(run.owner, run.id, choices)
    if standing == "untaken":
        return await conductor.begin(opened, run.question, choices)
    conductor.run, conductor.context = run.id, choices
    if standing == "finished" and (
        not find_resume_node(state) or find_unchanged_limit(state, choices)
    ):
        await set_run_status(run.owner, run.id, state["status"])
        return SessionOutcome(state, None)
    if standing in ("working", "finished") and not stores_answer(snapshot):
        await set_run_status(run.owner, run.id, "running")
    request = snapshot.interrupts[0].value if snapshot.interrupts else None
    if request is None:
        state, request = await opened.resume(choices, conductor.progress.on_event)
    if request is None or standing == "working" or decision is None:
        return SessionOutcome(state, request)
    if asks_for_steps(request):
        return await conductor.answer(opened, make_response(state, decision))
    check_decision_fits(request, decision)
    return await conductor.answer(opened, decision)


def _check_answers(state: State, decision: review.ReviewDecision | None) -> None:
    """Make sure that answers are to what is asked; those on a plan stand beside a decision on it.

    Raises:
        Problem: `bad_feedback`.
    """
    if decision is None:
        return
    if waits_for_steps(state):
        make_response(state, decision)
        return
    if "type" not in decision:
        hint = "give --approve, --reject TEXT or --plan FILE with it"
        raise Problem(ErrorCode.BAD_FEEDBACK, "an answer without a decision", hint=hint)
    answer_questions(state["plan"], decision.get("answers", {}))


def _find_stage(run: RunRecord, snapshot: StateSnapshot) -> _RunStage:
    """Tell how far a run got; a kill may come before its first step is saved, or its pause.

    Raises:
        Problem: `not_waiting` when its thread has gone on, or `thread_not_found`.
    """
    turn, head = snapshot.values.get("turn", 0), snapshot.values.get("run", run.id)
    if turn > run.turn or (turn == run.turn and head != run.id):
        what = f"{run.id} is finished, and its thread has continued"
        hint = f"see dossier runs show {run.id} for its report, or ask a new question"
        raise Problem(ErrorCode.NOT_WAITING, what, where=run.thread, hint=hint)
    if turn < run.turn - 1:
        hint = "ask the question again"
        raise Problem(ErrorCode.THREAD_NOT_FOUND, f"nothing is saved of {run.id}", hint=hint)
    reviewed = snapshot.next in REVIEW_NODES and not run.context.get("auto_accept")
    shown = reviewed or snapshot.next == ASKING_NODE
    if snapshot.interrupts or shown:
        return "waiting"
    if pending_nodes(snapshot):
        return "working"
    return "finished" if turn == run.turn else "untaken"


def _check(
    run: RunRecord,
    standing: _RunStage,
    state: State,
    choices: Context,
    *,
    decided: bool,
    asked_for: bool,
) -> None:
    """Make sure that a run can be resumed with these options.

    The files of a finished run can be written if they are missing, or to a folder given by --out.

    Raises:
        Problem: `decision_missing`, or `not_waiting`, also if a limit that ended the run still is
            what it was.
    """
    if standing == "waiting" and not decided and not has_terminal():
        hint = (
            "give --approve, --reject TEXT or --plan FILE, or --again CHOICE for an earlier answer"
        )
        if waits_for_steps(state):
            hint = "give --answer ID=TEXT for each question, --approve or --reject TEXT"
        raise Problem(ErrorCode.DECISION_MISSING, f"{run.id} waits for your decision", hint=hint)
    there = bool(run.folder) and not asked_for
    reached = find_unchanged_limit(state, choices)
    if standing == "finished" and reached and there and not decided:
        name = reached.partition(" = ")[0]
        project = f" --project {quote(choices.project)}" if choices.project else ""
        more_of_it = double_cap(name, getattr(choices, name))
        hint = f"raise it: dossier resume {run.id}{project} --set {more_of_it}"
        raise Problem(ErrorCode.NOT_WAITING, f"{run.id} ended at its limit {reached}", hint=hint)
    if standing == "finished" and not decided and find_resume_node(state):
        return
    if standing == "finished" and (decided or there or not has_report(state)):
        report = f"its report is {run.folder}/{REPORT_FILES['md']}; " if run.folder else ""
        hint = f"{report}--out FOLDER writes it again, or ask a new question"
        if not has_report(state):
            hint = "ask a new question"
        raise Problem(ErrorCode.NOT_WAITING, f"{run.id} is already finished", hint=hint)
    if standing != "waiting" and decided:
        hint = "resume it without a decision"
        raise Problem(ErrorCode.NOT_WAITING, f"{run.id} does not wait for a review", hint=hint)
