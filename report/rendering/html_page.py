"""Make the page of a report: one file with its style, a small script, and a strict policy."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from functools import cache
from string import Template

from report.labels import get_label
from report.markdown.sanitizer import to_single_line
from report.rendering.html_parts import escape_line, to_language_tag
from text.pattern_files import read_packaged_text
from text.regex import regex

_NO_CARD = ".card.none"
_UNSAFE = regex(r"[^\w .,;:!?()-]")
_MAX_RUNNING_CHARS = 90
_POLICY = regex(r'http-equiv="Content-Security-Policy" content="([^"]+)"')


def fill_page(title: str, language: str, pointed: str, **parts: str) -> str:
    """Return a page with its parts in their places.

    Its policy allows the one style and the one script that stand in it, by their hashes, and
    images that stand in it as data; nothing else is run or fetched.

    Args:
        title: The title of the report.
        language: The language of the page, `en` or `zh`.
        pointed: The selectors of the cards that are shown; "" for none.
        parts: HTML by the names of its places in `page.html`.
    """
    style = "\n" + Template(_read("page.css")).substitute(
        pointed=pointed or _NO_CARD, running=_to_css_string(title)
    )
    script = "\n" + _read("page.js")
    return Template(_read("page.html")).substitute(
        language=to_language_tag(language),
        title=escape_line(title),
        skip=get_label("skip", language),
        style=style,
        script=script,
        style_hash=hash_element(style),
        script_hash=hash_element(script),
        **parts,
    )


def find_page_policy(page: str) -> str:
    """Return the content security policy that a page declares; one that loads nothing if none."""
    found = _POLICY.search(page)
    return found[1] if found else "default-src 'none'"


@cache
def _read(name: str) -> str:
    return read_packaged_text("report.rendering", name)


def hash_element(text: str) -> str:
    """Return the hash of an element's text as a policy names it (CSP 3, hash-source)."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _to_css_string(text: str) -> str:
    """Return a text as a string of CSS in which no character can end it or the style."""
    line = to_single_line(text)
    cut = line if len(line) <= _MAX_RUNNING_CHARS else f"{line[:_MAX_RUNNING_CHARS].rstrip()}…"
    return '"' + _UNSAFE.sub(_escape, cut) + '"'


def _escape(found: re.Match[str]) -> str:
    return f"\\{ord(found[0]):x} "
