"""Tell what went wrong with a call of a model's client, whoever's model it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
)

from config.errors import ErrorCode, Problem
from config.key_masking import mask_error
from text.regex import regex

FAULTS = (
    ModelError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    RuntimeError,
)
"""What a client raises: its own errors, the connection's, and those of a reply out of form."""

RETRYABLE = {
    ErrorCode.RATE_LIMITED,
    ErrorCode.MODEL_UNAVAILABLE,
    ErrorCode.MODEL_TIMEOUT,
    ErrorCode.ANSWER_CUT,
    ErrorCode.ANSWER_EMPTY,
}
"""Failures that may pass if one asks again."""

REPLACEABLE = RETRYABLE | {ErrorCode.MODEL_CONTEXT, ErrorCode.MODEL_QUOTA}
"""Failures that another model may not have."""

FATAL = {
    ErrorCode.CONFIG_VALUE,
    ErrorCode.MEMORY_FILE_TOO_LARGE,
    ErrorCode.MEMORY_FILE_UNREADABLE,
    ErrorCode.MODEL_AUTH,
    ErrorCode.MODEL_KEY_MISSING,
    ErrorCode.STORAGE_BUSY,
    ErrorCode.STORAGE_CORRUPT,
    ErrorCode.STORAGE_FULL,
    ErrorCode.STORAGE_UNAVAILABLE,
    ErrorCode.UNKNOWN_MODEL,
    ErrorCode.UNKNOWN_ROLE,
}
"""Failures that every other call of the run would meet too, so it ends at once."""

OVERFLOW = regex(r"context_length|exceed_context|context window|maximum context", re.IGNORECASE)

CLIENTS = {
    "openai": "OpenAIError",
    "anthropic": "AnthropicError",
    "groq": "GroqError",
    "httpx": "HTTPError",
    "httpx2": "HTTPError",
}
"""Packages of clients, and the class of their own errors; some of these are no ModelErrors."""

UNSENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ConnectionRefusedError", "gaierror"}
"""Errors of a connection that was never made."""

STATUSES = {
    ModelAuthenticationError: 401,
    ModelPermissionDeniedError: 403,
    ModelNotFoundError: 404,
    ModelRateLimitError: 429,
    ModelInvalidRequestError: 400,
}
"""The HTTP status behind an error that carries none."""


def client_errors() -> tuple[type[Exception], ...]:
    """Return everything that a failed call may raise, for an `except`."""
    # A package that is not imported cannot raise anything.
    own = (getattr(sys.modules.get(name), error, None) for name, error in CLIENTS.items())
    return (*FAULTS, *(error for error in own if error))


def raise_if_fatal(problem: Problem) -> None:
    """Bear a failure that only one call met; raise one that every other call would meet too."""
    if problem.code in FATAL:
        raise problem


def to_model_problem(error: BaseException) -> Problem:
    """Return the problem behind an error of a model's client; keys are removed from the error."""
    mask_error(error)
    said = " ".join(str(error).split())[:200]
    name = type(error).__name__
    words = f"{getattr(error, 'code', '')} {getattr(error, 'type', '')} {said}"
    if isinstance(error, ContextOverflowError) or OVERFLOW.search(words):
        return Problem(ErrorCode.MODEL_CONTEXT, "the request is too long for the model", hint=said)
    if name == "LengthFinishReasonError":
        return Problem(ErrorCode.ANSWER_TOO_LONG, "the answer was cut off at the model's limit")
    if name == "ContentFilterFinishReasonError":
        return Problem(ErrorCode.MODEL_REFUSED, "the model refused to answer")
    if "insufficient_quota" in words:
        return Problem(
            ErrorCode.MODEL_QUOTA, "the account with the model server has no credit left"
        )
    if "Timeout" in name:
        return Problem(ErrorCode.MODEL_TIMEOUT, "the model did not answer in time")
    known = _problem_of_status(_status(error), said)
    return known or Problem(
        ErrorCode.MODEL_UNAVAILABLE, f"the model server failed: {name}", hint=said
    )


def billed_tokens(error: BaseException) -> tuple[int, int] | None:
    """Return the tokens, read and written, billed for a failed call; `None` if unknown.

    A server that refuses a request, or was never reached, bills nothing unless it reports usage.
    """
    # A problem without a client's error comes from a model in this process.
    cause = error.__cause__ if isinstance(error, Problem) else error
    if cause is None:
        return 0, 0
    chain = list(_chain(cause))
    usage = next((one for each in chain if (one := _usage(each))), None)
    if usage:
        return usage
    refused = any(_status(each) >= 400 for each in chain)
    unsent = any(type(each).__name__ in UNSENT for each in chain)
    return (0, 0) if refused or unsent else None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _usage(error: BaseException) -> tuple[int, int] | None:
    """Return the usage reported in the body of an error."""
    body = getattr(error, "body", None)
    usage = body.get("usage") if isinstance(body, dict) else None
    if not isinstance(usage, dict):
        return None
    read, written = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
    return (read, written) if isinstance(read, int) and isinstance(written, int) else None


def _status(error: BaseException) -> int:
    """Return the HTTP status behind an error; 0 if there is none."""
    known = (status for kind, status in STATUSES.items() if isinstance(error, kind))
    status = getattr(error, "status_code", None) or next(known, 0)
    return status if isinstance(status, int) else 0


def _problem_of_status(status: int, said: str) -> Problem | None:
    if status in (401, 403):
        return Problem(ErrorCode.MODEL_AUTH, f"the model server refused the key ({status})")
    if status == 404:
        return Problem(ErrorCode.UNKNOWN_MODEL, "the model server has no such model", hint=said)
    if status == 429:
        return Problem(ErrorCode.RATE_LIMITED, "the model server asks to wait")
    if status == 413:
        return Problem(ErrorCode.MODEL_CONTEXT, "the request is too long for the model", hint=said)
    if 400 <= status < 500 and status not in (408, 409):
        what = f"the model server refused the request ({status})"
        return Problem(ErrorCode.MODEL_REJECTED, what, hint=said)
    return None


def requested_wait(error: BaseException | None) -> float:
    """Return the seconds that a server asked to wait, at most 60; 0 if it did not say."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    return min(parse_retry_after(headers.get("retry-after", "")) or 0.0, 60.0)


def parse_retry_after(header: str) -> float | None:
    """Return the seconds that a Retry-After header names, as a number or as a date (RFC 9110).

    `None` if it names neither; 0 for a date that has passed.
    """
    if header.replace(".", "", 1).isdecimal():
        return float(header)
    try:
        wait = parsedate_to_datetime(header) - datetime.now(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, wait.total_seconds())
