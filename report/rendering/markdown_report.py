"""Render a document as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from graph.records import Source
from report.document import (
    MissingPart,
    ReportDocument,
    describe_empty_answer,
    describe_researched_form,
    list_doubt_lines,
    list_footnotes,
    list_grade_labels,
    list_missing_parts,
    list_notices,
)
from report.labels import append_detail, get_label
from report.markdown.sanitizer import escape_markdown, to_safe_url, unescape_markdown
from report.rendering.numbering import (
    DOUBT_MARK,
    FIRST_DOUBT_MARK,
    PRIVATE_MARK,
    has_repeated_places,
    number_citations,
)
from text.regex import regex
from text.script import CJK

_CJK = regex(f"[{CJK}]")
_BRACKETS = str.maketrans({"\ue000": "[", "\ue001": "]"})


def render_markdown(document: ReportDocument) -> str:
    """Return a document as markdown; the same document gives the same bytes.

    Title, notices and question stand first, then the text with its sources as numbers, what is
    missing, what was searched where that is all there is to say, and the list of sources.
    """
    return "\n\n".join(part for part in _parts(document) if part) + "\n"


@lru_cache(maxsize=512)
def render_plain_text(body: str) -> str:
    """Return a text with its quotations as such, and without the ids of its sources.

    A row of a table is its cells one behind the other. The checks ask for the same sentences again
    and again.
    """
    shown = re.sub(r"(?<!\\)(?:\*\*|__)", "", _shown(number_citations(body, []).body))
    if not shown.lstrip().startswith("|"):
        return unescape_markdown(shown)
    cells = (cell.strip() for cell in re.split(r"(?<!\\)\|", shown))
    return " · ".join(unescape_markdown(cell) for cell in cells if cell)


def _shown(text: str, grades: Sequence[str] = ()) -> str:
    def warned(mark: re.Match[str]) -> str:
        return _warned(
            mark, grades[min(ord(mark[0]) - FIRST_DOUBT_MARK, len(grades) - 1)] if grades else ""
        )

    return PRIVATE_MARK.sub("", DOUBT_MARK.sub(warned, text.translate(_BRACKETS)))


def _warned(mark: re.Match[str], grade: str) -> str:
    """Return the sign of a doubt and its grade, apart from English words."""
    before, after = mark.string[: mark.start()][-1:], mark.string[mark.end() :][:1]
    if _CJK.match(grade):
        return f"（⚠ {grade}）"
    close = not before.strip() or _CJK.match(before) or before in "。！？；…”）」"
    sign = f"(⚠ {grade})" if grade else "⚠"
    return (
        f"{'' if close else ' '}{sign}{' ' if after.isalnum() or (after in '[|' and after) else ''}"
    )


def _parts(document: ReportDocument) -> Iterator[str]:
    language = document["language"]
    told = [one["text"] for one in document["doubted"]]
    doubted = list_doubt_lines(document)
    text, used, _, proofs = number_citations(
        document["body"],
        document["sources"],
        language,
        told,
        document["texts"],
        [one.proof for one in doubted],
    )
    yield f"# {escape_markdown(document['title'])}"
    yield "\n>\n".join(f"> {escape_markdown(notice)}" for notice in list_notices(document))
    yield f"*{escape_markdown(document['question'])}*" if document["question"].strip() else ""
    yield escape_markdown(describe_researched_form(document))
    unanswered = document["status"] == "insufficient_evidence"
    yield _shown(text, list_grade_labels(document)) or (
        describe_empty_answer(document) if unanswered else ""
    )
    lines = zip(doubted, proofs, strict=True)
    told_doubts = [f"⚠ {escape_markdown(one.text)}{_shown(proof)}" for one, proof in lines]
    yield from _list("doubts", told_doubts, language)
    gaps = [_gap(one, language) for one in list_missing_parts(document)]
    yield from _list("missing", gaps, language)
    yield from _list(
        "searched", map(escape_markdown, document["searched"] if unanswered else []), language
    )
    if used:
        yield f"## {get_label('sources', language)}"
    yield from (f"[{number}] {_source(source)}" for number, source in enumerate(used, start=1))
    yield get_label("same_place", language) if has_repeated_places(text) else ""
    yield from map(escape_markdown, list_footnotes(document))


def _list(heading: str, items: Iterable[str], language: str) -> Iterator[str]:
    lines = [f"- {item}" for item in items]
    if lines:
        yield f"## {get_label(heading, language)}"
        yield "\n".join(lines)


def _gap(gap: MissingPart, language: str) -> str:
    titles = (
        append_detail(f"**{escape_markdown(one)}**", escape_markdown(more), language)
        for one, more in gap.titles
    )
    named = get_label("comma", language).join(titles)
    return f"{named}{get_label('colon', language)}{escape_markdown(gap.reason)}"


def _source(source: Source) -> str:
    location = to_safe_url(source["location"]) or escape_markdown(source["location"])
    return " — ".join(part for part in (escape_markdown(source["title"]), location) if part)
