"""A request that meets a problem is answered with its words and a status that fits."""

from __future__ import annotations

import sqlite3

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from app.problems import HANDLERS, STATUS, status
from config.errors import KINDS, Problem


def asked(error: Exception) -> tuple[int, str, dict[str, str]]:
    """Return the status, the media type and the words of an answer to a request that fails."""

    async def failing(request: Request) -> Response:
        raise error

    app = Starlette(routes=[Route("/", failing)], exception_handlers=HANDLERS)
    answer = TestClient(app, raise_server_exceptions=False).get("/")
    return answer.status_code, answer.headers["content-type"], answer.json()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("storage_corrupt", 409),
        ("thread_incompatible", 409),
        ("storage_busy", 409),
        ("storage_full", 503),
        ("run_not_found", 404),
        ("state_refused", 422),
        ("out_of_range", 422),
    ],
)
def test_a_problem_is_answered_with_its_words(code: str, expected: int):
    number, kind, told = asked(Problem(code, "it is so", where="there", hint="do something"))

    assert (number, kind) == (expected, "application/problem+json")
    assert told == {"code": code, "detail": "it is so", "where": "there", "hint": "do something"}


def test_a_hint_that_names_a_command_is_left_out():
    _, _, told = asked(Problem("storage_unavailable", "it fails", hint="see `dossier doctor`"))

    assert told["hint"] == ""


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("SQLITE_CORRUPT_VTAB", "storage_corrupt"),
        ("SQLITE_NOTADB", "storage_corrupt"),
        ("SQLITE_BUSY_SNAPSHOT", "storage_busy"),
        ("SQLITE_FULL", "storage_full"),
        ("SQLITE_IOERR_READ", "storage_unavailable"),
    ],
)
def test_a_file_of_checkpoints_that_fails_is_told_by_name(name: str, code: str):
    error = sqlite3.DatabaseError("it fails")
    error.sqlite_errorname = name

    number, _, told = asked(error)

    assert told["code"] == code
    assert number == status(Problem(code, ""))


def test_every_kind_of_problem_has_a_status():
    assert STATUS.keys() >= set(KINDS.values())
