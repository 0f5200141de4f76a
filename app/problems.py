"""Tell clients of a server about problems: in words that suit them, with the HTTP status."""

from __future__ import annotations

import re
import sqlite3
from typing import cast

from jsonschema_rs import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from config.errors import KINDS, Problem
from runs.soundness import failing

MEDIA_TYPE = "application/problem+json"

STATUS = {
    "usage": 422,
    "refused": 422,
    "not_found": 404,
    "conflict": 409,
    "partial": 409,
    "unavailable": 503,
    "failed": 500,
}
"""The HTTP status of each kind of problem."""

REFUSED, MALFORMED, BODILESS = 400, 422, (204, 304)
"""The lowest status of a refusal, that of a request of a wrong form, and those without words."""

LASTING = {"storage_corrupt": 409, "schema_newer": 409}
"""The status of problems that are unavailable until a person does something about them."""

COMMAND = re.compile(r"`dossier\b|\bdossier [a-z]|--[a-z]")
"""What a hint for the terminal has in it."""


def for_clients(problem: Problem) -> Problem:
    """Return a problem without a hint that names a command, which a client cannot give."""
    told = Problem(problem.code, problem.what, where=problem.where, hint=problem.hint)
    told.hint = "" if COMMAND.search(problem.hint) else problem.hint
    return told


def status(problem: Problem) -> int:
    """Return the HTTP status of a problem."""
    return LASTING.get(problem.code) or STATUS[KINDS.get(problem.code, "usage")]


async def answer(request: Request, error: Exception) -> JSONResponse:
    """Answer a request that failed because of a problem, or of the file of checkpoints."""
    del request
    problem = failing(error) if isinstance(error, sqlite3.Error) else cast("Problem", error)
    told = for_clients(problem)
    return JSONResponse(told.as_dict(), status(told), media_type=MEDIA_TYPE)


async def refused(request: Request, error: Exception) -> Response:
    """Answer a request that the server itself refuses, which may be because of a problem."""
    if isinstance(error.__cause__, Problem):
        return await answer(request, error.__cause__)
    failed = error if isinstance(error, HTTPException) else HTTPException(MALFORMED, str(error))
    number, headers = failed.status_code, failed.headers
    if number in BODILESS:
        return Response(status_code=number, headers=headers)
    if number < REFUSED:
        return JSONResponse({"detail": failed.detail}, number, headers)
    told = Problem("request_refused", str(failed.detail), where=request.url.path)
    return JSONResponse(told.as_dict(), number, headers, MEDIA_TYPE)


HANDLERS = {
    Problem: answer,
    sqlite3.Error: answer,
    HTTPException: refused,
    ValidationError: refused,
    ValueError: refused,
}
"""The errors that are answered in words of our own; the server adds these to its own handlers."""
