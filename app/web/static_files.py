"""Style and scripts of the console, each under an address that changes with its content."""

from __future__ import annotations

import hashlib
from functools import cache

from fastapi import APIRouter
from starlette.responses import Response

from app.api.open_route import OpenRoute
from app.web.console_gate import STATIC
from config.errors import ErrorCode, Problem
from text.pattern_files import read_packaged_text

router = APIRouter(route_class=OpenRoute, include_in_schema=False)

_KINDS = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
}

_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def name_static_file(name: str) -> str:
    """Return the address of a file."""
    digest = hashlib.sha256(_read(name)).hexdigest()[:12]
    return f"{STATIC}{name}?{digest}"


@router.get(STATIC + "{name}")
async def get_static_file(name: str) -> Response:
    """Return a file, which a browser may keep for ever."""
    if name not in _KINDS:
        what, hint = "there is no such file", "load the page again"
        raise Problem(ErrorCode.REQUEST_REFUSED, what, where=name[:80], hint=hint)
    return Response(_read(name), headers=_HEADERS, media_type=_KINDS[name])


@cache
def _read(name: str) -> bytes:
    text = read_packaged_text("app.web", f"static/{name}")
    if name == "console.css":
        # The colours and typefaces of a report.
        text = read_packaged_text("report", "rendering/page.css").partition("* {")[0] + text
    return text.encode()
