"""A question in work: how far it is, what it asks the person, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from app.api.parameters import Name, Owner
from app.problems import COMMAND
from app.web.console_gate import CONSOLE
from app.web.console_route import CheckedForm, SentForm, make_console_router
from app.web.console_threads import (
    ThreadStanding,
    begin_run,
    is_server_thread,
    read_standing,
    stop_thread_runs,
)
from app.web.console_words import choose_language
from app.web.live_runs import LiveRun, follow_run
from app.web.page_rendering import PAGE_HEADERS, go_to, render_console_page
from app.web.pause_forms import list_asked_requests, read_pause_answers
from app.web.plan_forms import MAX_NEW_STEPS, read_plan_decision
from app.web.question_forms import describe_choices, list_choice_bounds, read_form_number
from app.web.question_pages import read_follow_choices
from calls.attempts import list_attempts, sum_attempts
from config.errors import ErrorCode, Problem
from graph.records import DELIVERED
from runs.lifecycle import RunRecord, find_newest_run, with_real_status
from runs.progress_events import NOTHING_SPENT, UNKNOWN_LEFT, describe_left
from tools.knowledge.catalog import list_bases

router = make_console_router()

RESUMABLE = ("paused", "failed", "cancelled", "partial")

_CHOICES = ("refresh", "reuse", "deepen", "new")


@router.get("/questions/{thread}")
async def show_work(thread: Name, request: Request, owner: Owner) -> Response:
    """Show how a question stands: at work, waiting for the person, or ended."""
    standing = await read_standing(request, thread)
    run = await find_newest_run(owner, thread)
    if not standing.status and run is None:
        what = "there is no such conversation"
        raise Problem(ErrorCode.RUN_NOT_FOUND, what, where=thread, hint="look into the history")
    if standing.status == "busy":
        live = follow_run(request, thread, standing.run)
        return _render_progress(request, "work", thread, live, run)
    if standing.request:
        return await _render_asked(request, owner, thread, standing.request, run)
    run = run and with_real_status(run)
    if run and run.folder and run.status in DELIVERED:
        return go_to(f"{CONSOLE}/reports/{run.id}")
    return await _render_ended(request, thread, standing, run)


@router.get("/questions/{thread}/progress")
async def show_progress_part(
    thread: Name,
    request: Request,
    owner: Owner,
    seen: int = -1,
    stage: Annotated[str, Query(max_length=300)] = "",
) -> Response:
    """Return the part of the page that tells how far a run is; nothing if nothing is new."""
    standing = await read_standing(request, thread)
    if standing.status != "busy":
        return Response(status_code=204, headers={"HX-Redirect": f"{CONSOLE}/questions/{thread}"})
    live = follow_run(request, thread, standing.run)
    if live.events == seen:
        return Response(status_code=204, headers=PAGE_HEADERS)
    run = await find_newest_run(owner, thread)
    return _render_progress(request, "_progress", thread, live, run, spoken=stage)


@router.post("/questions/{thread}/cancel")
async def stop_work(thread: Name, request: Request, form: CheckedForm) -> Response:
    """Stop the work on a question; it can be resumed."""
    del form
    await stop_thread_runs(request, thread)
    return go_to(f"{CONSOLE}/questions/{thread}")


@router.post("/questions/{thread}/resume")
async def resume_work(thread: Name, request: Request, owner: Owner, form: CheckedForm) -> Response:
    """Go on with a question that failed, was stopped or left something undone."""
    run = await find_newest_run(owner, thread)
    choices = dict(run.context) if run else {}
    if cost := form.words("max_cost"):
        choices["max_cost"] = read_form_number("max_cost", cost)
    await begin_run(request, thread, choices)
    return go_to(f"{CONSOLE}/questions/{thread}")


@router.post("/questions/{thread}/answer")
async def answer_work(thread: Name, request: Request, owner: Owner, form: CheckedForm) -> Response:
    """Send the person's decision to a run that waits for it.

    Raises:
        Problem: `not_waiting`, or `bad_feedback` for a form without a decision.
    """
    asked = (await read_standing(request, thread)).request
    if asked is None:
        hint = "open the page of the question again"
        raise Problem(ErrorCode.NOT_WAITING, "nothing waits for an answer here", hint=hint)
    answer = _read_answer(form, asked)
    run = await find_newest_run(owner, thread)
    choices = run.context if run else {}
    await begin_run(request, thread, choices, answer=answer)
    return go_to(f"{CONSOLE}/questions/{thread}")


def _read_answer(form: SentForm, asked: Mapping[str, Any]) -> Any:
    if "plan" in asked:
        return read_plan_decision(form, asked)
    if "requests" in asked:
        return read_pause_answers(form, asked)
    choice = form.text("choice")
    if choice not in _CHOICES:
        raise Problem(ErrorCode.BAD_FEEDBACK, "nothing was chosen", hint="choose one")
    name = asked["action_requests"][0]["name"]
    action = {"name": name, "args": {"choice": choice}}
    return {"decisions": [{"type": "edit", "edited_action": action}]}


def _render_progress(
    request: Request,
    template: str,
    thread: str,
    live: LiveRun,
    run: RunRecord | None,
    *,
    spoken: str | None = None,
) -> Response:
    latest = live.latest
    left = latest["left"] if latest else UNKNOWN_LEFT
    values = {
        "thread": thread,
        "run": run,
        "live": live,
        "lines": list(live.lines)[::-1],
        "spent": latest["spent"] if latest else NOTHING_SPENT,
        "seconds": round(latest["seconds"]) if latest else 0,
        "left": describe_left(left, choose_language(request)),
        "has_spoken": spoken == live.stage,
        "choices": describe_choices(run.context) if run else {},
    }
    return render_console_page(request, template, values)


async def _render_asked(
    request: Request, owner: str, thread: str, asked: Mapping[str, Any], run: RunRecord | None
) -> Response:
    values: dict[str, Any] = {"thread": thread, "run": run, "asked": asked}
    values |= {"note": str(asked.get("note") or "")}
    if "plan" in asked:
        allowed = asked["review_configs"][0]["allowed_decisions"]
        numbers = {one["id"]: at for at, one in enumerate(asked["plan"]["steps"], start=1)}
        values |= {"may_reject": "reject" in allowed, "numbers": numbers}
        values |= {"bases": await list_bases(owner), "new_steps": MAX_NEW_STEPS}
        return render_console_page(request, "review", values)
    if "requests" in asked:
        values["requests"] = list_asked_requests(asked)
        return render_console_page(request, "pause", values)
    values |= {"choices": _CHOICES, "about": str(asked["action_requests"][0]["description"])}
    return render_console_page(request, "answered", values)


async def _render_ended(
    request: Request, thread: str, standing: ThreadStanding, run: RunRecord | None
) -> Response:
    spent = sum_attempts(await list_attempts(run.id)) if run else None
    said = [one for one in standing.messages if one.get("type") == "ai"]
    values = {
        "thread": thread,
        "run": run,
        "spent": spent,
        "status": run.status if run else standing.status,
        "reply": _drop_title(_read_text(said[-1])) if said else "",
        "problem": find_code_hint(run.code) if run and run.code else None,
        "may_ask_on": bool(standing.status),
        "may_resume": bool(standing.status) and (run is None or run.status in RESUMABLE),
        "bounds": list_choice_bounds(),
        "is_server_thread": is_server_thread(thread),
        "choices": describe_choices(read_follow_choices(run.context)) if run else {},
    }
    return render_console_page(request, "ended", values)


def _drop_title(text: str) -> str:
    """Return an answer without its title, which stands above it on the page."""
    title, _, rest = text.partition("\n")
    return rest.strip() if title.startswith("# ") else text


def _read_text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(one.get("text", "")) for one in parts if isinstance(one, dict))


def find_code_hint(code: str) -> tuple[str, str]:
    """Return the code of an error and what a person can do about it."""
    hint = ErrorCode.parse(code).hint
    return code, "" if COMMAND.search(hint) else hint
