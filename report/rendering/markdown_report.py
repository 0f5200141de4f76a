"""Render a document as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial

from graph.records import Source
from report.body_sections import list_report_sections
from report.citations import describe_location, describe_origin
from report.computed_results import (
    render_figure_data,
    render_figures_markdown,
    render_programs_markdown,
)
from report.document import (
    ReportDocument,
    describe_empty_answer,
    describe_researched_form,
    format_missing_part,
    list_footnotes,
    list_grade_labels,
    list_missing_parts,
    list_notices,
    list_remarks,
)
from report.evidence_paragraphs import count_passages, list_evidence_paragraphs
from report.labels import append_detail, format_count, get_label, is_chinese_tag
from report.markdown.sanitizer import escape_markdown, to_safe_url, unescape_markdown
from report.method import list_part_items
from report.pictures.report_tables import list_report_tables
from report.rendering.figure_places import (
    fill_figure_places,
    list_unplaced_figures,
    mark_figure_places,
)
from report.rendering.number_columns import align_number_columns
from report.rendering.numbering import (
    DOUBT_MARK,
    FIRST_DOUBT_MARK,
    FIRST_REMARK_MARK,
    INFERENCE_START,
    PRIVATE_MARK,
    REMARK_MARK,
    NumberedText,
    has_repeated_places,
    number_citations,
    number_document,
)
from report.rendering.picture_figures import (
    fill_additions,
    mark_additions,
    render_images_markdown,
)
from report.rendering.version_changes import list_changes
from text.regex import regex
from text.script import CJK

_CJK = regex(f"[{CJK}]")
_OTHER_MARK = regex("[\ue002-\ue006\U00100000-\U00107fff]")  # but those of citations
_BRACKETS = str.maketrans({"\ue000": "[", "\ue001": "]"})


def render_markdown(document: ReportDocument, *, figures_in_files: bool = False) -> str:
    """Return a document as Markdown; the same document gives the same bytes.

    The order is: title, notices, question, the text with numbers for its sources, what is not
    known, doubts, what a version changes, the list of sources, and how it was researched.

    Args:
        document: What is rendered.
        figures_in_files: Whether its figures are files beside it, and not data within it.
    """
    figures = render_figure_data(document.get("computations", []), in_files=figures_in_files)
    return "\n\n".join(filter(None, [*_parts(document), figures])) + "\n"


def render_cited_markdown(document: ReportDocument, *, pictures: bool = False) -> str:
    """Return a document as Markdown in which each citation keeps its private marks.

    They are those of `NumberedText`: the number of the document with the place, and the use.

    Args:
        document: What is rendered.
        pictures: Whether the pictures that code draws of the text are in it, as images.
    """
    figures = render_figure_data(document.get("computations", []))
    parts = [*_parts(document, cited=True, pictures=pictures), figures]
    return "\n\n".join(filter(None, parts)) + "\n"


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


def _replace_marks(
    text: str, grades: Sequence[str] = (), language: str = "en", *, cited: bool = False
) -> str:
    """Return a numbered text with brackets, warnings and words in place of private marks.

    Those of citations are kept if it is to stay `cited`.
    """

    def warn(mark: re.Match[str]) -> str:
        """Return the sign of a doubt; behind the last grade, that one is repeated."""
        at = min(ord(mark[0]) - FIRST_DOUBT_MARK, len(grades) - 1)
        return _format_warning(mark, grades[at] if grades else "")

    space = "" if is_chinese_tag(language) else " "
    told = text.replace(INFERENCE_START, f"*{get_label('inference', language)}*{space}")
    if cited:
        return _OTHER_MARK.sub("", DOUBT_MARK.sub(warn, told))
    return PRIVATE_MARK.sub("", DOUBT_MARK.sub(warn, told.translate(_BRACKETS)))


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


def _parts(
    document: ReportDocument, *, cited: bool = False, pictures: bool = False
) -> Iterator[str]:
    language, replace = document["language"], partial(_replace_marks, cited=cited)
    document = mark_figure_places(document)
    shown, doubted = number_document(document)
    tables = list_report_tables(shown.body)
    images = render_images_markdown(shown, tables, language) if pictures else {}
    shown = mark_additions(align_number_columns(shown, tables), images)
    yield f"# {escape_markdown(document['title'])}"
    yield "\n>\n".join(f"> {escape_markdown(notice)}" for notice in list_notices(document))
    yield f"*{escape_markdown(document['question'])}*" if document["question"].strip() else ""
    yield escape_markdown(describe_researched_form(document))
    body = _replace_remarks(shown.body, list(list_remarks(document).values()))
    computations = document.get("computations", [])
    figures = [*render_figures_markdown(computations, language)]
    for part in _body_parts(document, body, replace):
        yield fill_additions(fill_figure_places(part, figures), images)
    yield from list_unplaced_figures(shown.body, figures)
    lines = zip(doubted, shown.notes, strict=True)
    marks = (f"⚠ {escape_markdown(line.text)}{replace(proof)}" for line, proof in lines)
    yield from _list("doubts", marks, language)
    yield from _list("disagree", map(replace, shown.contradictions), language)
    yield from _list("changes", list_changes(document, escape_markdown), language)
    yield from _source_parts(document, shown, cited=cited)
    yield from render_programs_markdown(computations, language)
    yield from _method_parts(document)
    yield from map(escape_markdown, list_footnotes(document))


def _body_parts(document: ReportDocument, body: str, replace: Callable[..., str]) -> Iterator[str]:
    """Yield the text, with what it concludes under a note, and what is not known as its end."""
    language, grades = document["language"], list_grade_labels(document)
    sections = list_report_sections(body)
    for one in sections:
        yield replace(one.heading, grades, language)
        yield f"*{get_label('conclusions', language)}*" if one.kind == "assessment" else ""
        yield replace(one.text, grades, language)
    if not body and document["status"] == "insufficient_evidence":
        yield describe_empty_answer(document)
    missing = list_missing_parts(document)
    gaps = [format_missing_part(one, language, "**{}**", escape_markdown) for one in missing]
    if not (sections and sections[-1].kind == "unknown"):
        gaps += map(escape_markdown, document.get("unknown", []))
        yield from _list("not_known", gaps, language)
    elif gaps:
        yield "\n".join(f"- {gap}" for gap in gaps)


def _source_parts(document: ReportDocument, shown: NumberedText, *, cited: bool) -> Iterator[str]:
    language = document["language"]
    if shown.documents:
        yield f"## {get_label('sources', language)}"
    passages = list_evidence_paragraphs(
        document["sources"], document["texts"], shown.uses, language
    )
    counts = count_passages(passages)
    for number, source in enumerate(shown.documents, start=1):
        count = counts.get(number, 0)
        used = append_detail("", format_count("passages", count, language), language)
        yield f"[{number}] {_source(source, language)}{used if count else ''}"
    is_left_out = not cited and has_repeated_places(shown.body)
    yield get_label("same_place", language) if is_left_out else ""


def _method_parts(document: ReportDocument) -> Iterator[str]:
    """Yield how the report was researched: a sentence, and a list below it."""
    method, language = document.get("method"), document["language"]
    if not method or not method["summary"]:
        return
    yield f"## {get_label('method', language)}"
    yield escape_markdown(method["summary"])
    colon, separator = get_label("colon", language), "；" if is_chinese_tag(language) else "; "
    yield "\n".join(
        f"- **{part['heading']}**{colon}"
        + separator.join(map(escape_markdown, list_part_items(part)))
        for part in method["parts"]
    )


def cut_method_details(report: str, language: str) -> str:
    """Return a rendered report with only the summary of how it was researched."""
    head, mark, tail = report.rpartition(f"\n## {get_label('method', language)}\n")
    if not mark:
        return report
    kept = [one for one in tail.split("\n\n") if not one.startswith("- ")]
    return head + mark + "\n\n".join(kept).rstrip("\n") + "\n"


def _list(heading: str, items: Iterable[str], language: str) -> Iterator[str]:
    lines = [f"- {item}" for item in items]
    if lines:
        yield f"## {get_label(heading, language)}"
        yield "\n".join(lines)


def _source(source: Source, language: str) -> str:
    location = to_safe_url(source["location"]) or escape_markdown(describe_location(source))
    parts = (
        escape_markdown(source["title"]),
        escape_markdown(describe_origin(source, language, located=True)),
        location,
    )
    return " — ".join(filter(None, parts))
