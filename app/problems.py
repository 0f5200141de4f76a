"""Tell clients of a server about problems: in words that suit them, with the HTTP status."""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Callable, Coroutine
from traceback import walk_tb
from typing import Any, cast

from fastapi.exceptions import RequestValidationError
from jsonschema_rs import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.server_kind import MODULES
from config.errors import ErrorCode, Problem, describe_validation_error
from runs.thread_integrity import checkpoint_file_problem

PROBLEM_MEDIA_TYPE = "application/problem+json"

MIN_REFUSAL_STATUS, MALFORMED, FAILED, BODILESS = 400, 422, 500, (204, 304)
"""The lowest status of refusals, that of a wrong form, the lowest of failures, and the wordless."""

BROKEN = "the server failed over this request"
"""What a client is told of a defect, whose own words may hold what others have said."""

LOG = "see the log of the server"
"""What a person can do about a defect."""

RETRY_SECONDS = {ErrorCode.EXPORT_BUSY: 10}
"""After how many seconds a client should repeat a request that met a problem."""

COMMAND = re.compile(r"`dossier\b|\bdossier [a-z]|--[a-z]")
"""What a hint for the terminal has in it."""


Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]
"""Answers a request over which an error was raised."""

_log = logging.getLogger(__name__)


def strip_command_hint(problem: Problem) -> Problem:
    """Return a problem without a hint that names a command, which a client cannot give."""
    stripped = Problem(problem.error, problem.what, where=problem.where, hint=problem.hint)
    stripped.hint = "" if COMMAND.search(problem.hint) else problem.hint
    return stripped


async def answer_problem(request: Request, error: Exception) -> JSONResponse:
    """Answer a request that failed because of a problem, or of the file of checkpoints."""
    del request
    problem = (
        checkpoint_file_problem(error)
        if isinstance(error, sqlite3.Error)
        else cast("Problem", error)
    )
    stripped, status = strip_command_hint(problem), problem.error.http_status
    seconds = RETRY_SECONDS.get(problem.error)
    headers = {"Retry-After": str(seconds)} if seconds else None
    return JSONResponse(stripped.as_dict(), status, headers, PROBLEM_MEDIA_TYPE)


async def answer_refusal(request: Request, error: Exception) -> Response:
    """Answer a request that the server itself refuses, which may be because of a problem."""
    if problem := _find_problem(error):
        return await answer_problem(request, problem)
    failed = error if isinstance(error, HTTPException) else HTTPException(MALFORMED, str(error))
    number, headers = failed.status_code, failed.headers
    if number in BODILESS:
        return Response(status_code=number, headers=headers)
    if number < MIN_REFUSAL_STATUS:
        return JSONResponse({"detail": failed.detail}, number, headers)
    code = ErrorCode.INTERNAL if number >= FAILED else ErrorCode.REQUEST_REFUSED
    hint = LOG if number >= FAILED else ""
    failure = Problem(code, str(failed.detail), where=request.url.path, hint=hint)
    return JSONResponse(failure.as_dict(), number, headers, PROBLEM_MEDIA_TYPE)


def _find_problem(error: BaseException | None) -> Problem | None:
    """Return the problem that an error stands for; servers raise their own errors from it."""
    while error is not None and not isinstance(error, Problem):
        error = error.__cause__
    return error


async def answer_wrong_form(request: Request, error: Exception) -> Response:
    """Answer a request whose parameters or body have not the form that its route declares."""
    listed = cast("RequestValidationError", error).errors()
    where, what = describe_validation_error(listed[0])
    return await answer_problem(request, Problem(ErrorCode.REQUEST_REFUSED, what, where=where))


async def answer_failure(request: Request, error: Exception) -> Response:
    """Answer a request over which the server failed; of a wrong form only if the server says so."""
    if isinstance(error, ValueError) and _by_server(error):
        return await answer_refusal(request, error)
    _log.error(BROKEN, exc_info=error)
    defect = Problem(ErrorCode.INTERNAL, BROKEN, where=request.url.path, hint=LOG)
    return JSONResponse(defect.as_dict(), defect.error.http_status, media_type=PROBLEM_MEDIA_TYPE)


def _by_server(error: Exception) -> bool:
    """Say whether the server raised an error itself, or had an id read that is none."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    raised = [name for name in names if name != "uuid"]
    return bool(raised) and raised[-1].startswith(MODULES)


EXCEPTION_HANDLERS: dict[int | type[Exception], Handler] = {
    Problem: answer_problem,
    sqlite3.Error: answer_problem,
    HTTPException: answer_refusal,
    RequestValidationError: answer_wrong_form,
    ValidationError: answer_refusal,
    ValueError: answer_failure,
    Exception: answer_failure,
}
"""The errors that are answered in words of our own; the server adds these to its own handlers."""
