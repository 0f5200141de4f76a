"""Routes of the console: forms are checked first, and problems are shown as pages."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import httpx
from fastapi import APIRouter, Depends
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from langgraph_sdk.errors import APIError
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.auth.request_identity import find_user
from app.problems import BROKEN, LOG
from app.web.console_gate import CONSOLE, is_form_token
from app.web.page_rendering import get_visit, render_problem_page
from config.errors import ErrorCode, Problem, describe_validation_error
from text.normalization import drop_unstorable

FORM_TOKEN = "form_token"  # noqa: S105 - the name of a field
MAX_FORM_BYTES = 60_000_000
MAX_FORM_FILES = 50
MAX_FORM_FIELDS = 2_000

log = logging.getLogger(__name__)

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ConsoleRoute(APIRoute):
    """A route whose problems are shown as pages."""

    def get_route_handler(self) -> _Handler:
        """Return the handler of a request."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except Problem as problem:
                return render_problem_page(request, problem)
            except (RequestValidationError, ValidationError) as error:
                where, what = describe_validation_error(error.errors()[0])
                wrong = Problem(ErrorCode.REQUEST_REFUSED, what, where=where)
                return render_problem_page(request, wrong)
            except (APIError, httpx.TransportError) as error:
                return render_problem_page(request, read_server_problem(error))
            except HTTPException as error:
                refused = Problem(ErrorCode.REQUEST_REFUSED, str(error.detail))
                return render_problem_page(request, refused)
            except Exception:
                log.exception(BROKEN)
                defect = Problem(ErrorCode.INTERNAL, BROKEN, hint=LOG)
                return render_problem_page(request, defect)

        return answer


def make_console_router() -> APIRouter:
    """Return a router of pages."""
    return APIRouter(
        prefix=CONSOLE,
        route_class=ConsoleRoute,
        include_in_schema=False,
        max_body_size=MAX_FORM_BYTES,
    )


def read_server_problem(error: Exception) -> Problem:
    """Return the problem that LangGraph's server has told of."""
    response = getattr(error, "response", None)
    try:
        told = json.loads(response.content) if response is not None else {}
        code = ErrorCode.parse(told["code"])
        return Problem(code, told["detail"], where=told["where"], hint=told["hint"])
    except (ValueError, KeyError, TypeError, httpx.ResponseNotRead):
        status = getattr(response, "status_code", 0)
        code = ErrorCode.REQUEST_REFUSED if 400 <= status < 500 else ErrorCode.INTERNAL
        what = str(error)[:300] or "the server did not answer"
        return Problem(code, what, hint="open the page again, or see the log of the server")


class SentForm:
    """The fields of a form that a person has sent."""

    def __init__(self, fields: FormData) -> None:
        self.fields = fields

    def text(self, name: str) -> str:
        """Return the text of a field; "" if it is missing."""
        value = self.fields.get(name, "")
        return drop_unstorable(value) if isinstance(value, str) else ""

    def words(self, name: str) -> str:
        """Return the text of a field, stripped, with line feeds as line ends."""
        return self.text(name).replace("\r\n", "\n").strip()

    def texts(self, name: str) -> list[str]:
        """Return all values of a field."""
        found = self.fields.getlist(name)
        return [drop_unstorable(one) for one in found if isinstance(one, str) and one]

    def files(self, name: str) -> list[UploadFile]:
        """Return the files of a field."""
        found = self.fields.getlist(name)
        return [one for one in found if isinstance(one, UploadFile) and one.filename]


async def _read_form(request: Request) -> SentForm:
    """Return the form of a request, if it is one of the console's own.

    Raises:
        Problem: `request_refused`, or `token_missing` of a request without a login.
    """
    fields = await request.form(max_files=MAX_FORM_FILES, max_fields=MAX_FORM_FIELDS)
    token, user = fields.get(FORM_TOKEN, ""), find_user(request)
    if not (isinstance(token, str) and is_form_token(token, get_visit(request), user.name)):
        what = "this form is not from a page of your session"
        hint = "open the page again, and send the form once more"
        raise Problem(ErrorCode.REQUEST_REFUSED, what, hint=hint)
    return SentForm(fields)


CheckedForm = Annotated[SentForm, Depends(_read_form)]
"""The form of a request, checked to come from a page of the console."""
