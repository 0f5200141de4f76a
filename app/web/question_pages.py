"""Ask a question in the console, and ask on in a conversation."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from app.api.parameters import Name, Owner
from app.web.console_gate import CONSOLE
from app.web.console_route import CheckedForm, make_console_router
from app.web.console_threads import begin_run, begin_thread
from app.web.page_rendering import go_to, render_console_page
from app.web.question_forms import list_choice_bounds, read_question_form, read_run_choices
from config.errors import Problem
from runs.lifecycle import find_newest_run, list_recent_runs
from tools.files.formats import READABLE_SUFFIXES
from tools.knowledge.catalog import list_bases

router = make_console_router()

_RECENT = 5
_FIELDS = ("question", "depth", "length", "web", "report_language", "review", "max_cost")


@router.get("")
async def show_question_page(request: Request, owner: Owner, question: str = "") -> Response:
    """Show where one asks."""
    return await _render_question(request, owner, {"question": question})


@router.post("/ask")
async def ask_in_console(request: Request, owner: Owner, form: CheckedForm) -> Response:
    """Begin a run on a new thread."""
    try:
        content, choices = await read_question_form(form), read_run_choices(form)
        thread = await begin_thread(request)
        await begin_run(request, thread, choices, content=content)
    except Problem as problem:
        sent = {name: form.text(name) for name in _FIELDS}
        return await _render_question(request, owner, sent, problem)
    return go_to(f"{CONSOLE}/questions/{thread}")


@router.post("/questions/{thread}/ask")
async def ask_on(thread: Name, request: Request, owner: Owner, form: CheckedForm) -> Response:
    """Ask on in a conversation, with the choices of its last question."""
    content = await read_question_form(form)
    last = await find_newest_run(owner, thread)
    await begin_run(request, thread, read_follow_choices(last and last.context), content=content)
    return go_to(f"{CONSOLE}/questions/{thread}")


def read_follow_choices(context: dict[str, Any] | None) -> dict[str, Any]:
    """Return the choices of an earlier question that hold for the next one."""
    kept = ("depth", "length", "language", "web", "knowledge", "max_cost", "auto_accept", "project")
    return {name: context[name] for name in kept if name in context} if context else {}


async def _render_question(
    request: Request, owner: str, sent: dict[str, str], problem: Problem | None = None
) -> Response:
    values = {
        "sent": {**dict.fromkeys(_FIELDS, ""), **sent},
        "problem": problem,
        "bases": await list_bases(owner),
        "bounds": list_choice_bounds(),
        "recent": await list_recent_runs(owner, _RECENT),
        "suffixes": ",".join(sorted(READABLE_SUFFIXES)),
    }
    return render_console_page(
        request, "ask", values, problem.error.http_status if problem else 200
    )
