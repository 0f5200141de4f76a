"""Render pages of the console from templates; every value is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache, partial
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.auth.request_identity import find_user
from app.problems import strip_command_hint
from app.web.console_gate import CONSOLE, VISIT, ConsoleVisit, make_form_token
from app.web.console_words import LANGUAGES, choose_language, find_words, list_word_names, say
from app.web.static_files import name_static_file
from config.errors import Problem
from report.markdown.markdown_reader import make_markdown_reader
from text.pattern_files import read_packaged_text

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

_MAX_MARKDOWN_CHARS = 5_000

PAGE_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cache-Control": "private, no-store",
    # Without a referrer a browser sends no origin with forms.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""What every page is sent with."""


def render_console_page(
    request: Request, template: str, values: Mapping[str, Any] | None = None, status: int = 200
) -> Response:
    """Return a page of the console, or with `_` before its name a part of one."""
    language = choose_language(request)
    shown = {**_describe_visit(request), "language": language, **(values or {})}
    if f"told.{shown.get('told')}" not in list_word_names():
        # What an address says is not said as words of the console.
        shown["told"] = ""
    if isinstance(problem := shown.get("problem"), Problem):
        shown["problem"] = strip_command_hint(problem)
    shown["t"] = partial(say, language)
    shown["word"] = partial(find_words, language)
    text = _environment().get_template(f"{template}.html").render(shown)
    return HTMLResponse(text, status, PAGE_HEADERS)


def render_problem_page(request: Request, problem: Problem) -> Response:
    """Return the page of a problem, with its code and hint."""
    return render_console_page(request, "problem", {"problem": problem}, problem.error.http_status)


def go_to(path: str) -> Response:
    """Redirect a browser to a page of the console after a form was processed."""
    return RedirectResponse(path, 303, {"Cache-Control": "no-store"})


def get_visit(request: Request) -> ConsoleVisit:
    """Return the visit that `AccessMiddleware` stored with a request."""
    visit: ConsoleVisit = request.scope[VISIT]
    return visit


def _describe_visit(request: Request) -> dict[str, Any]:
    try:
        user = find_user(request)
    except Problem:
        user = None
    visit = get_visit(request)
    return {
        "user": user,
        "has_session": bool(visit.session),
        "form_token": make_form_token(visit, user.name) if user else "",
        "here": request.url.path,
    }


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(lambda name: read_packaged_text("app.web", f"templates/{name}")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"console": CONSOLE, "languages": LANGUAGES, "static": name_static_file}
    made.filters |= {
        "moment": _format_moment,
        "iso": _format_iso,
        "dollars": _format_dollars,
        "sentence": _begin_sentence,
        "markdown": _render_markdown,
        "segment": partial(quote, safe=""),
        "weblink": _keep_web_address,
    }
    return made


def _render_markdown(text: str) -> Markup | str:
    """Return an answer as HTML without links; a long one, which would take its time, as it is."""
    if len(text) > _MAX_MARKDOWN_CHARS:
        return text
    # The reader escapes HTML.
    return Markup(make_markdown_reader().render(text))  # noqa: S704


def _begin_sentence(words: str) -> str:
    """Return the words of a problem with a capital letter."""
    return words[:1].upper() + words[1:]


def _format_moment(seconds: float) -> str:
    """Return a time with the zone of the server; the script shows it in that of the reader."""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M %Z}" if seconds else ""


def _format_iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def _format_dollars(amount: float) -> str:
    if 0 < amount < 0.005:
        return "< $0.01"
    return f"${amount:,.2f}"


def _keep_web_address(address: str) -> str:
    """Return an address if a link may lead to it; "" unless it is a web address."""
    return address if urlsplit(address).scheme in ("http", "https") else ""
