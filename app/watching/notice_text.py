"""A notice for people: one line, plain text, or HTML for a mail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlsplit

from config.errors import Problem
from prompts.loader import render_prompt
from report.labels import describe_reason, format_diff_count, get_label
from report.rendering.html_parts import escape_line, to_language_tag
from report.report_diff import compare_words

Notice = Mapping[str, Any]
"""A notice as `compose_news` makes it; one that an older version has stored has fewer fields."""

KINDS = ("added", "changed", "removed")
"""The changes of sentences that are told."""

_SOURCES = ("sources_gained", "sources_lost", "found")

# Mail readers drop style sheets, so each element has its own.
_STYLES = {
    "ins": "background:#d7f2dc;color:#0b4f1a;text-decoration:none",
    "del": "background:#fbdcdc;color:#7d1310",
    "body": "font:16px/1.5 sans-serif;max-width:42em;margin:1em auto;padding:0 1em",
    "note": "color:#555;font-size:14px",
}


def render_subject(notice: Notice) -> str:
    """Return the notice in one line."""
    return _say(notice, notice["status"], title=notice["title"])


def render_notice(notice: Notice) -> str:
    """Return the notice as plain text."""
    parts = [render_subject(notice), *_list_summary(notice)]
    for section in _list_sections(notice):
        lines = (line for each in section["lines"] for line in _list_text_lines(notice, each))
        parts += ["", *([section["title"]] if section["title"] else []), *lines]
    for heading, items in _list_source_groups(notice):
        parts += ["", heading, *(f"- {_name_source(one)}" for one in items)]
    parts += ["", *_list_facts(notice)]
    return "\n".join(parts) + "\n"


def render_notice_html(notice: Notice) -> str:
    """Return the notice as a page in which `ins` and `del` mark what is new and what is gone.

    It has neither scripts nor pictures, and links only to addresses of the web.
    """
    parts = [f"<h2>{escape_line(render_subject(notice))}</h2>"]
    parts += [f"<p>{escape_line(line)}</p>" for line in _list_summary(notice)]
    for section in _list_sections(notice):
        if section["title"]:
            parts.append(f"<h3>{escape_line(section['title'])}</h3>")
        parts += [f"<p>{_render_change(one)}</p>" for one in section["lines"]]
    for heading, items in _list_source_groups(notice):
        listed = "".join(f"<li>{_render_source(one)}</li>" for one in items)
        parts.append(f"<h3>{escape_line(heading)}</h3><ul>{listed}</ul>")
    facts = "<br>".join(map(escape_line, _list_facts(notice)))
    parts.append(f'<hr><p style="{_STYLES["note"]}">{facts}</p>')
    language = to_language_tag(notice["language"])
    body = "\n".join(parts)
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"></head>'
        f'<body style="{_STYLES["body"]}">\n{body}\n</body></html>'
    )


def _say(notice: Notice, name: str, **values: object) -> str:
    return render_prompt(f"watch_{name}", language=notice["language"], **values).strip()


def _list_summary(notice: Notice) -> Iterator[str]:
    """Yield how much differs, whether the report is whole, and what could not be searched."""
    language = notice["language"]
    if notice["status"] == "failed":
        yield str(Problem.from_dict(notice["error"]))
    if notice["status"] == "news" and (counts := notice.get("counts")):
        named = [format_diff_count(name, counts[name], language) for name in KINDS if counts[name]]
        if named:
            yield get_label("comma", language).join(named)
        shown = sum(len(section["lines"]) for section in notice["sections"])
        left = counts["added"] + counts["changed"] + counts["removed"] - shown
        if left > 0:
            yield _say(notice, "left_out", count=left)
    if notice.get("run_status", "succeeded") not in ("succeeded", ""):
        status = get_label(notice["run_status"], language)
        yield _say(notice, "incomplete", status=status)
    if code := notice.get("unsearched"):
        why = describe_reason(code, "failed", language)
        yield render_prompt("notice_not_searched", language=language, why=why).strip()


def _list_sections(notice: Notice) -> Sequence[Mapping[str, Any]]:
    """Return what differs by sections; in one, where an older version has stored the notice."""
    if "sections" in notice:
        stored: Sequence[Mapping[str, Any]] = notice["sections"]
        return stored
    lines = [
        *({"change": "added", "before": "", "after": one} for one in notice.get("added", [])),
        *({"change": "changed", **one} for one in notice.get("changed", [])),
        *({"change": "removed", "before": one, "after": ""} for one in notice.get("removed", [])),
    ]
    return [{"title": "", "lines": lines}] if lines else []


def _list_text_lines(notice: Notice, line: Mapping[str, str]) -> Iterator[str]:
    if line["change"] == "changed":
        yield f"- {_say(notice, 'changed')}: {line['before']}"
        yield f"  → {line['after']}"
    else:
        yield f"- {_say(notice, line['change'])}: {line['after'] or line['before']}"


def _render_change(line: Mapping[str, str]) -> str:
    if line["change"] != "changed":
        tag = "ins" if line["change"] == "added" else "del"
        return _mark(tag, line["after"] or line["before"])
    tags = {"added": "ins", "removed": "del"}
    runs = compare_words(line["before"], line["after"])
    return "".join(
        _mark(tags[run.change], run.text) if run.change in tags else escape(run.text)
        for run in runs
    )


def _mark(tag: str, text: str) -> str:
    return f'<{tag} style="{_STYLES[tag]}">{escape(text)}</{tag}>'


def _list_source_groups(notice: Notice) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Yield the lists of sources with their headings, without empty ones."""
    for name in _SOURCES:
        # A new page that is cited stands among the new sources.
        if items := [one for one in notice.get(name, []) if not one.get("cited")]:
            yield _say(notice, name), items


def _name_source(source: Mapping[str, Any]) -> str:
    return f"{source['title']} ({source['location']})"


def _render_source(source: Mapping[str, Any]) -> str:
    title, place = escape_line(source["title"]), escape_line(source["location"])
    if urlsplit(source["location"]).scheme in ("http", "https"):
        return f'<a href="{place}" rel="noreferrer">{title or place}</a>'
    return f'{title} <span style="{_STYLES["note"]}">{place}</span>'


def _list_facts(notice: Notice) -> list[str]:
    """Return the lines that say which watch, question, run and report it is about."""
    named = {"watch": notice["watch"], "question": notice["question"]}
    if notice["status"] == "failed":
        return _say(notice, "failed_facts", **named).split("\n")
    told = {name: notice[name] for name in ("run", "report", "tokens")}
    cost = f"{notice['cost']:.2f}"
    return _say(notice, "facts", **named, **told, cost=cost).split("\n")
