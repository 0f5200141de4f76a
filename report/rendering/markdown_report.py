"""Render a document as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from graph.records import Source
from report.document import (
    ReportDocument,
    describe_empty_answer,
    describe_researched_form,
    format_missing_part,
    list_footnotes,
    list_grade_labels,
    list_missing_parts,
    list_notices,
    list_remark_labels,
)
from report.labels import get_label
from report.markdown.sanitizer import escape_markdown, to_safe_url, unescape_markdown
from report.rendering.numbering import (
    DOUBT_MARK,
    FIRST_DOUBT_MARK,
    FIRST_REMARK_MARK,
    PRIVATE_MARK,
    REMARK_MARK,
    has_repeated_places,
    number_citations,
    number_document,
)
from text.regex import regex
from text.script import CJK

_CJK = regex(f"[{CJK}]")
_BRACKETS = str.maketrans({"\ue000": "[", "\ue001": "]"})


def render_markdown(document: ReportDocument) -> str:
    """Return a document as Markdown; the same document gives the same bytes.

    The order is: title, notices, question, the text with numbers for its sources, doubts, gaps,
    the queries if there is no answer, and the list of sources.
    """
    return "\n\n".join(part for part in _parts(document) if part) + "\n"


@lru_cache(maxsize=512)
def render_plain_text(body: str) -> str:
    """Return a text with quotation marks and without the ids of its sources.

    A row of a table becomes its cells, joined by dots. Results are cached because the checks ask
    for the same sentences repeatedly.
    """
    text = re.sub(r"(?<!\\)(?:\*\*|__)", "", _replace_marks(number_citations(body, []).body))
    if not text.lstrip().startswith("|"):
        return unescape_markdown(text)
    cells = (cell.strip() for cell in re.split(r"(?<!\\)\|", text))
    return " · ".join(unescape_markdown(cell) for cell in cells if cell)


def _replace_marks(text: str, grades: Sequence[str] = ()) -> str:
    """Return a numbered text with brackets and warnings in place of private marks."""

    def warn(mark: re.Match[str]) -> str:
        at = min(ord(mark[0]) - FIRST_DOUBT_MARK, len(grades) - 1)
        return _format_warning(mark, grades[at] if grades else "")

    return PRIVATE_MARK.sub("", DOUBT_MARK.sub(warn, text.translate(_BRACKETS)))


def _replace_remarks(text: str, remarks: Sequence[str]) -> str:
    """Return a numbered text with remarks on the standing of sources in place of their marks."""

    def remark(mark: re.Match[str]) -> str:
        told = remarks[ord(mark[0]) - FIRST_REMARK_MARK]
        return f"（{told}）" if _CJK.match(told) else f" *({told})*"

    return REMARK_MARK.sub(remark, text)


def _format_warning(mark: re.Match[str], grade: str) -> str:
    """Return the sign of a doubt with its grade, spaced from English words around it."""
    if _CJK.match(grade):
        return f"（⚠ {grade}）"
    before, after = mark.string[: mark.start()][-1:], mark.string[mark.end() :][:1]
    close = not before.strip() or _CJK.match(before) or before in "。！？；…”）」"
    sign = f"(⚠ {grade})" if grade else "⚠"
    return f"{'' if close else ' '}{sign}{' ' if after.isalnum() or after in ('[', '|') else ''}"


def _parts(document: ReportDocument) -> Iterator[str]:
    language = document["language"]
    (text, used, _, proofs, against), doubted = number_document(document)
    yield f"# {escape_markdown(document['title'])}"
    yield "\n>\n".join(f"> {escape_markdown(notice)}" for notice in list_notices(document))
    yield f"*{escape_markdown(document['question'])}*" if document["question"].strip() else ""
    yield escape_markdown(describe_researched_form(document))
    unanswered = document["status"] == "insufficient_evidence"
    told = _replace_remarks(text, list_remark_labels(document))
    yield _replace_marks(told, list_grade_labels(document)) or (
        describe_empty_answer(document) if unanswered else ""
    )
    lines = zip(doubted, proofs, strict=True)
    doubts = (f"⚠ {escape_markdown(line.text)}{_replace_marks(proof)}" for line, proof in lines)
    yield from _list("doubts", doubts, language)
    yield from _list("disagree", map(_replace_marks, against), language)
    missing = list_missing_parts(document)
    gaps = (format_missing_part(one, language, "**{}**", escape_markdown) for one in missing)
    yield from _list("missing", gaps, language)
    queries = document["searched"] if unanswered else []
    yield from _list("searched", map(escape_markdown, queries), language)
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


def _source(source: Source) -> str:
    location = to_safe_url(source["location"]) or escape_markdown(source["location"])
    return " — ".join(part for part in (escape_markdown(source["title"]), location) if part)
