"""Responses with an ETag, which a client revalidates instead of loading them again."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response


def answer_with_etag(
    request: Request, tag: str, content: bytes, media_type: str, more: Mapping[str, str]
) -> Response:
    """Return content with its ETag, or 304 without content if the client has it already.

    Args:
        request: The request.
        tag: A value that only this content has, such as its SHA-256.
        content: The body.
        media_type: The media type of the body.
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
    """Say whether the header `If-None-Match` of a request names a tag."""
    return known.strip() == "*" or tag in {
        one.strip().removeprefix("W/") for one in known.split(",")
    }
