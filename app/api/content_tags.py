"""Answers that a client keeps, and asks for again with the tag of what it has."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response


def answer_tagged(
    request: Request, tag: str, content: bytes, media_type: str, more: Mapping[str, str]
) -> Response:
    """Return content with its tag; 304 without it to a client that has it.

    Args:
        request: What was asked.
        tag: Tells this content from any other, such as its SHA-256.
        content: What is returned.
        media_type: What it is.
        more: Further headers.
    """
    headers = {
        "ETag": f'"{tag}"',
        "Cache-Control": "private, no-cache",
        "X-Content-Type-Options": "nosniff",
        **more,
    }
    if _is_known(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=media_type)


def _is_known(known: str, tag: str) -> bool:
    """Say whether a client has what a tag stands for, by its header `If-None-Match`."""
    return known.strip() == "*" or tag in {
        one.strip().removeprefix("W/") for one in known.split(",")
    }
