"""Mark data for a model, so that it can tell data from instructions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

_QUOTED = re.compile(r'&lt;q s="(S\d+)"&gt;(.*?)&lt;/q&gt;', re.DOTALL)
_TWICE = re.compile("&amp;(?=(?:lt|gt|amp);)")

Data = Mapping[str, object]
"""A passage, a source or a finding as plain data."""


def block(tag: str, data: object, **attributes: object) -> str:
    """Mark data for a model, escaped so that it cannot end its block; nothing for no data.

    Text stands as it is, anything else as JSON.
    """
    if data in (None, "", [], {}):
        return ""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return wrap(tag, [escape(text, quote=False)], **attributes)


def cited(tag: str, text: str, **attributes: object) -> str:
    """Mark a text that was checked; its quotations stand in it as they are to be copied."""
    if not text:
        return ""
    return wrap(tag, [_QUOTED.sub(_quoted, escape(text, quote=False))], **attributes)


def wrap(tag: str, parts: Iterable[str], **attributes: Any) -> str:
    """Put blocks that are already marked into a block around them; nothing for none."""
    inside = "\n".join(part for part in parts if part)
    if not inside:
        return ""
    named = "".join(f' {name}="{escape(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{named}>\n{inside}\n</{tag}>"


def blocks(*parts: str) -> str:
    """Join the blocks of a prompt, leaving empty ones out."""
    return "\n\n".join(part for part in parts if part)


def step_blocks(
    question: str,
    step: Data,
    findings: str,
    passages: Iterable[Data],
    sources: Mapping[str, Data],
) -> str:
    """Mark what everybody is shown who works on a step; `findings` is marked already."""
    return blocks(
        block("question", question),
        block("step", step["description"] or step["title"], title=step["title"]),
        findings,
        pages_block(passages, sources),
    )


def pages_block(passages: Iterable[Data], sources: Mapping[str, Data]) -> str:
    """Mark passages, each with the id, the title and the place of its source."""
    marked = []
    for passage in passages:
        source = sources[str(passage["source"])]
        # A file may have a # in its name, but no place has one.
        _, mark, place = str(source["location"]).rpartition("#")
        named = {"id": source["id"], "title": source["title"], "place": place if mark else ""}
        if source.get("kind") == "computed":
            named["kind"] = "computed"
        marked.append(block("page", passage["text"], **named))
    return wrap("pages", marked)


def findings_block(findings: Iterable[Data], tag: str = "findings") -> str:
    """Mark findings, each with the id and the title of its step and how it came out."""
    marked = []
    for finding in findings:
        named = {"id": finding["step"], "title": finding["title"], "status": finding["status"]}
        marked.append(cited("finding", str(finding["text"] or finding["reason"]), **named))
    return wrap(tag, marked)


def _quoted(quote: re.Match[str]) -> str:
    """Return a quotation with its words escaped once, as a checked text has them."""
    return f'<q s="{quote[1]}">{_TWICE.sub("&", quote[2])}</q>'
