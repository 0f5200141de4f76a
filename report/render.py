"""Render a report (stop-gap)."""

from __future__ import annotations

import re
from typing import Any

from typing_extensions import TypedDict


class Gap(TypedDict):
    """A step that did not come out well."""

    title: str
    status: str
    reason: str


class Document(TypedDict):
    """What a finished run has to show."""

    title: str
    question: str
    status: str
    notices: list[str]
    body: str
    gaps: list[Gap]
    searched: list[str]
    sources: list[Any]
    removed: list[Any]
    language: str
    created: str


def to_markdown(document: Document) -> str:
    """Return the report as markdown."""
    order: list[str] = []

    def number(name: str) -> str:
        if name not in order:
            order.append(name)
        return f"[{order.index(name) + 1}]"

    body = re.sub(
        r'<q s="(S\d+)">(.*?)</q>',
        lambda m: f"“{m[2]}” {number(m[1])}",
        document["body"],
        flags=re.DOTALL,
    )
    body = re.sub(r"\[(S\d+)\]", lambda m: number(m[1]), body)
    known = {one["id"]: one for one in document["sources"]}
    lines = [f"# {document['title']}", *(f"> {one}" for one in document["notices"]), body]
    if document["gaps"]:
        lines += ["## What is missing", *(f"- {g['title']}: {g['reason']}" for g in document["gaps"])]
    if document["status"] == "insufficient_evidence":
        lines += ["## What was searched", *(f"- {one}" for one in document["searched"])]
    lines += ["## Sources"]
    lines += [f"[{i}] {known[n]['title']} — {known[n]['location']}" for i, n in enumerate(order, 1)]
    return "\n\n".join(lines)


def to_html(document: Document) -> str:
    """Return the report as a page."""
    return f"<pre>{to_markdown(document)}</pre>"
