"""A request that meets a problem is answered with its words and a status that fits."""

from __future__ import annotations

import sqlite3
from types import FunctionType
from uuid import UUID

import pytest
from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from app.problems import EXCEPTION_HANDLERS
from config.errors import ErrorCode, Problem
from tests.cases import each_case

UUID_OF = (lambda id: UUID(id)).__code__


def asked(error: Exception) -> tuple[int, str, dict[str, str]]:
    """Return the status, the media type and the words of an answer to a request that fails."""

    async def failing(request: Request) -> Response:
        raise error

    app = Starlette(routes=[Route("/", failing)], exception_handlers=EXCEPTION_HANDLERS)
    answer = TestClient(app, raise_server_exceptions=False).get("/")
    return answer.status_code, answer.headers["content-type"], answer.json()


@each_case(
    [
        ("storage_corrupt", 409),
        ("thread_incompatible", 409),
        ("storage_busy", 409),
        ("storage_full", 503),
        ("run_not_found", 404),
        ("state_refused", 422),
        ("out_of_range", 422),
        ("insight_not_found", 404),
        ("text_timeout", 500),
        ("token_missing", 401),
        ("token_unusable", 503),
        ("storage_unavailable", 503),
        ("host_refused", 403),
    ]
)
def test_a_problem_is_answered_with_its_words(code: str, expected: int):
    number, kind, told = asked(
        Problem(ErrorCode.parse(code), "it is so", where="there", hint="do something")
    )

    assert (number, kind) == (expected, "application/problem+json")
    assert told == {"code": code, "detail": "it is so", "where": "there", "hint": "do something"}


def test_a_hint_that_names_a_command_is_left_out():
    _, _, told = asked(
        Problem(ErrorCode.STORAGE_UNAVAILABLE, "it fails", hint="see `dossier doctor`")
    )

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
    assert number == ErrorCode.parse(code).http_status


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (HTTPException(404, "Thread not found"), 404),
        (HTTPException(409, "it is busy"), 409),
        (HTTPException(429, "slower, please"), 429),
    ],
)
def test_what_the_server_refuses_has_a_code_and_a_hint(error: Exception, expected: int):
    number, kind, told = asked(error)

    assert (number, kind) == (expected, "application/problem+json")
    assert told["code"] == "request_refused"
    assert told["detail"]
    assert told["hint"]


def read_by_server(id: str) -> Exception:
    """Return what LangGraph's server raises when it reads an id that is none."""
    read = FunctionType(UUID_OF, {"__name__": "langgraph_api.api.threads", "UUID": UUID})
    with pytest.raises(ValueError, match="UUID") as raised:
        read(id)
    return raised.value


def test_an_id_that_the_server_cannot_read_is_a_request_of_a_wrong_form():
    number, kind, told = asked(read_by_server("x"))

    assert (number, kind) == (422, "application/problem+json")
    assert told["code"] == "request_refused"


def of_ours() -> list[Exception]:
    """Return errors that a defect of the program raises."""
    made: list[Exception] = [KeyError("Ann's secret plan"), RuntimeError("Ann's secret plan")]
    for wrong in (lambda: int("Ann's secret plan"), lambda: UUID("Ann's secret plan")):
        with pytest.raises(ValueError, match=r"secret|UUID") as raised:
            wrong()
        made.append(raised.value)
    with pytest.raises(ValidationError) as told:
        TypeAdapter(int).validate_python("Ann's secret plan")
    return [*made, told.value]


@pytest.mark.parametrize("error", of_ours(), ids=lambda error: type(error).__name__)
def test_a_defect_is_logged_and_answered_without_its_words(
    error: Exception, caplog: pytest.LogCaptureFixture
):
    number, kind, told = asked(error)

    assert (number, kind, told["code"]) == (500, "application/problem+json", "internal")
    assert "Ann" not in str(told)
    assert told["hint"]
    assert any(one.exc_info and one.exc_info[1] is error for one in caplog.records)


@pytest.mark.parametrize("number", [500, 502, 503])
def test_a_failure_that_the_server_tells_keeps_its_status_and_is_no_refusal(number: int):
    status, kind, told = asked(HTTPException(number, "it is down", {"retry-after": "7"}))

    assert (status, kind) == (number, "application/problem+json")
    assert (told["code"], told["detail"]) == ("internal", "it is down")


def test_a_refusal_that_a_problem_is_behind_is_told_as_that_problem():
    error = HTTPException(422, "error[state_refused]: ...")
    error.__cause__ = Problem(
        ErrorCode.STATE_REFUSED, "a client may not write 'turn'", hint="leave it"
    )

    assert asked(error)[2]["code"] == "state_refused"


def test_what_the_server_could_do_in_part_is_told_in_its_words():
    assert asked(HTTPException(201, "it was created"))[::2] == (201, {"detail": "it was created"})


def test_every_code_has_a_status_of_http():
    assert {one.http_status // 100 for one in ErrorCode} == {4, 5}


def test_the_problem_behind_several_errors_of_a_server_is_what_a_client_is_told():
    refused, failed = HTTPException(422, "refused"), HTTPException(500, "it failed")
    failed.__cause__ = refused
    refused.__cause__ = Problem(ErrorCode.STATE_REFUSED, "a client may not write this")

    status, _, told = asked(failed)

    assert (status, told["code"]) == (422, "state_refused")
