"""Send a page that brings its own style and script, for a frame in a page of the console."""

from __future__ import annotations

from starlette.responses import Response

from app.web.page_rendering import PAGE_HEADERS
from report.rendering.html_page import find_page_policy


def answer_framed_page(page: str) -> Response:
    """Return a page under its own policy, which only the console shows in a frame.

    It has an origin of its own, so a script in it reads nothing of the console.
    """
    rules = f"{find_page_policy(page)}; frame-ancestors 'self'; sandbox allow-scripts allow-popups"
    rules += " allow-popups-to-escape-sandbox allow-downloads"
    headers = {**PAGE_HEADERS, "Content-Security-Policy": rules, "X-Frame-Options": "SAMEORIGIN"}
    return Response(page, headers=headers, media_type="text/html; charset=utf-8")
