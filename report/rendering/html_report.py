"""Render a document as one self-contained page of HTML."""

from __future__ import annotations

from collections.abc import Sequence

from report.body_sections import ReportSection, list_report_sections
from report.computed_results import render_figures_html, render_programs_html
from report.document import (
    DoubtLine,
    ReportDocument,
    describe_empty_answer,
    describe_researched_form,
    format_missing_part,
    list_footnotes,
    list_missing_parts,
    list_notices,
)
from report.labels import format_source_count, get_label, is_chinese_tag
from report.markdown.sanitizer import unescape_markdown
from report.method import list_part_items
from report.pictures.report_tables import list_report_tables
from report.pictures.source_map import build_source_map
from report.rendering.citation_badges import CitationBadges
from report.rendering.evidence_cards import EvidenceCards
from report.rendering.figure_places import (
    fill_figure_places,
    list_unplaced_figures,
    mark_figure_places,
)
from report.rendering.html_body import BodyWriter
from report.rendering.html_page import fill_page
from report.rendering.html_parts import (
    escape_line,
    render_disclosure,
    render_paragraph,
    render_section,
)
from report.rendering.number_columns import align_number_columns
from report.rendering.numbering import (
    DOUBT_MARK,
    FIRST_DOUBT_MARK,
    NumberedText,
    number_document,
)
from report.rendering.page_contents import build_contents
from report.rendering.picture_figures import (
    fill_additions,
    mark_additions,
    render_additions,
    render_source_map,
)
from report.rendering.source_list import SourceList
from report.rendering.source_notes import SourceNotes
from report.rendering.version_changes import list_changes


def render_html(document: ReportDocument) -> str:
    """Return a document as a page; the same document gives the same bytes.

    The page fetches nothing, and can be read without its script. Its only external links are
    addresses of sources.
    """
    language = "zh" if is_chinese_tag(document["language"]) else "en"
    document = mark_figure_places(document)
    shown, doubted = number_document(document)
    badges = CitationBadges(document, shown, language)
    notes = SourceNotes(document, shown, language)
    cards = EvidenceCards(document, shown, badges, notes, language)
    tables = list_report_tables(shown.body)
    added = render_additions(shown, tables, language, lambda use: f"#{cards.get_target(use)}")
    writer = BodyWriter(document, shown, cards, doubted)
    marked = mark_additions(align_number_columns(shown, tables), added)
    body = fill_additions(_render_body(document, marked, writer, language), added, "<p>{}</p>")
    rest = [
        _render_doubts(shown, writer, doubted, language),
        _render_contradictions(shown, writer, language),
        _render_changes(document, language),
        SourceList(document, shown, badges, notes, language).render(),
        render_programs_html(document.get("computations", []), language),
        _render_legend(badges, language),
        _render_method(document, shown, language),
        *(render_paragraph(line, "removed") for line in list_footnotes(document)),
    ]
    contents, body, below = build_contents(body, "\n".join(filter(None, rest)), language)
    return fill_page(
        document["title"],
        language,
        cards.render_style(),
        meta=_render_meta(document, shown, notes, language),
        question=render_paragraph(document["question"], "question")
        + render_paragraph(describe_researched_form(document), "researched"),
        notices="\n".join(render_paragraph(one, "notice") for one in list_notices(document)),
        contents=contents,
        body=body,
        rest=below,
        cards=cards.render(),
    )


def _render_body(
    document: ReportDocument, shown: NumberedText, writer: BodyWriter, language: str
) -> str:
    """Return the text: what it concludes in sections of their own, and last what is not known."""
    sections = list_report_sections(shown.body)
    unknown = sections.pop() if sections and sections[-1].kind == "unknown" else None
    parts = [_render_section_body(one, writer, language) for one in sections]
    if not shown.body and document["status"] == "insufficient_evidence":
        parts.append(render_paragraph(describe_empty_answer(document)))
    missing = list_missing_parts(document)
    gaps = [
        f"<li>{format_missing_part(one, language, '<strong>{}</strong>', escape_line)}</li>"
        for one in missing
    ]
    if unknown:
        text = _render_section_body(unknown, writer, language)
        items = "\n".join(gaps)
        parts.append(f"<section>{text}\n{f'<ul>{items}</ul>' if gaps else ''}</section>")
    else:
        gaps += [f"<li>{escape_line(one)}</li>" for one in document.get("unknown", [])]
        parts.append(render_section("not_known", gaps, language, "ul"))
    figures = [*render_figures_html(document.get("computations", []), language)]
    placed = fill_figure_places("\n".join(filter(None, parts)), figures, "<p>{}</p>")
    unplaced = list_unplaced_figures(shown.body, figures)
    return placed + render_section("figures", unplaced, language, "div")


def _render_section_body(section: ReportSection, writer: BodyWriter, language: str) -> str:
    """Return a section as HTML; an assessment says at its head that it is one."""
    if section.kind != "assessment":
        return writer.write("\n\n".join(filter(None, (section.heading, section.text))))
    note = render_paragraph(get_label("conclusions", language), "conclusions")
    return (
        f'<section class="assessment">{writer.write(section.heading)}{note}\n'
        f"{writer.write(section.text, 2)}</section>"
    )


def _render_doubts(
    shown: NumberedText, writer: BodyWriter, doubted: Sequence[DoubtLine], language: str
) -> str:
    """Return the doubts and their reasons, each with a link to its sentence if that is marked."""
    marked = {ord(mark) - FIRST_DOUBT_MARK for mark in DOUBT_MARK.findall(shown.body)}
    title = get_label("back", language)
    lines = []
    for at, (one, note) in enumerate(zip(doubted, shown.notes, strict=True)):
        space = " " if note.startswith(" ") else ""
        proof = space + writer.link_numbers(escape_line(unescape_markdown(note)))
        link = f'<a class="back" href="#w{at + 1}" title="{title}">↑</a>' if at in marked else ""
        lines.append(f'<li id="d{at + 1}">{escape_line(one.text)}{proof} {link}</li>')
    return render_section("doubts", lines, language)


def _render_contradictions(shown: NumberedText, writer: BodyWriter, language: str) -> str:
    """Return what sources say against each other, with links to both passages."""
    texts = (escape_line(unescape_markdown(one)) for one in shown.contradictions)
    lines = [f"<li>{writer.link_numbers(one)}</li>" for one in texts]
    return render_section("disagree", lines, language, "ul")


def _render_meta(
    document: ReportDocument, shown: NumberedText, notes: SourceNotes, language: str
) -> str:
    status, count = document["status"], len(shown.documents)
    sources = format_source_count(count, language)
    if notes.independent < count:
        told = get_label("independent", language).format(notes.independent)
        sources += get_label("comma", language) + told
    doubted = len(document["doubted"])
    # A report with doubts gets no green badge.
    look = "partial" if doubted and status == "succeeded" else status
    badge = (
        f'<span class="badge {escape_line(look)}">{escape_line(get_label(status, language))}</span>'
    )
    if doubted:
        to_check = get_label("to_check", language).format(doubted)
        badge += f' <a class="badge partial" href="#d1">⚠ {to_check}</a>'
    created = f"<time>{escape_line(document['created'])}</time>"
    return f"{badge} {created} <span>{sources}</span>" if count else f"{badge} {created}"


def _render_changes(document: ReportDocument, language: str) -> str:
    """Return the list of what differs from the version before; nothing without one."""
    lines = [f"<li>{one}</li>" for one in list_changes(document, escape_line)]
    return render_section("changes", lines, language, "ul")


def _render_legend(badges: CitationBadges, language: str) -> str:
    """Return what the badges mean that the report has, with their counts."""
    lines = "\n".join(badges.render_legend())
    heading = f"<h2>{get_label('legend', language)}</h2>"
    return f'<section class="badge-legend">{heading}\n<dl>{lines}</dl></section>' if lines else ""


def _render_method(document: ReportDocument, shown: NumberedText, language: str) -> str:
    """Return how the report was researched: a sentence, and lists that a reader opens."""
    method = document.get("method")
    if not method or not method["summary"]:
        return ""
    parts = [
        f"<dt>{escape_line(part['heading'])}</dt>"
        + "".join(f"<dd>{escape_line(item)}</dd>" for item in list_part_items(part))
        for part in method["parts"]
    ]
    lists = f"<dl>{''.join(parts)}</dl>"
    # Where nothing was found, what was searched is all there is to read.
    opened = document["status"] == "insufficient_evidence"
    details = render_disclosure(get_label("details", language), lists, "details", opened=opened)
    summary = render_paragraph(method["summary"])
    heading = f"<h2>{get_label('method', language)}</h2>"
    sources = render_source_map(build_source_map(document, shown, language), language)
    return f'<section class="method">{heading}\n{summary}\n{details}\n{sources}</section>'
