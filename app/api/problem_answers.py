"""The problems that a route may return, as the OpenAPI document lists them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from pydantic import BaseModel, Field

from app.problems import PROBLEM_MEDIA_TYPE
from config.errors import ErrorCode


class ProblemAnswer(BaseModel):
    """An error with its code, which is the same on the command line."""

    code: str
    detail: str = Field(description="What is wrong.")
    where: str = Field(description="Where it is wrong, such as the name of a parameter.")
    hint: str = Field(description="What to do about it.")


def tell_problems(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of a route for these error codes, grouped by status.

    Every route also refuses malformed requests, so `request_refused` is always added.
    """
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in (*codes, ErrorCode.REQUEST_REFUSED.value):
        by_status[ErrorCode.parse(code).http_status].append(f"`{code}`")
    schema = {"$ref": f"#/components/schemas/{ProblemAnswer.__name__}"}
    return {
        status: {
            "description": ", ".join(told),
            "content": {PROBLEM_MEDIA_TYPE: {"schema": schema}},
        }
        for status, told in sorted(by_status.items())
    }
