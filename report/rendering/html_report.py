"""Render a document as one self-contained page of HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from string import Template

import nh3
from markdown_it import MarkdownIt

from graph.records import Source
from report.body_sections import ReportSection, list_report_sections
from report.citations import describe_location, describe_origin
from report.computed_results import render_figures_html, render_programs_html
from report.document import (
    DoubtLine,
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
from report.evidence_paragraphs import EvidenceParagraph, count_passages, list_evidence_paragraphs
from report.independence import count_independent
from report.labels import format_count, format_source_count, get_label, is_chinese_tag
from report.markdown.sanitizer import to_safe_url, unescape_markdown
from report.method import list_part_items
from report.rendering.evidence_cards import EvidenceCards, list_back_targets
from report.rendering.figure_places import (
    fill_figure_places,
    list_unplaced_figures,
    mark_figure_places,
)
from report.rendering.html_parts import (
    escape_line,
    render_disclosure,
    render_excerpt,
    render_jumps,
    render_paragraph,
    render_section,
)
from report.rendering.numbering import (
    DOUBT_MARK,
    FIRST_DOUBT_MARK,
    FIRST_REMARK_MARK,
    FIRST_USE_MARK,
    INFERENCE_END,
    INFERENCE_START,
    PRIVATE_MARK,
    REMARK_MARK,
    NumberedText,
    has_repeated_places,
    number_document,
)
from report.rendering.version_changes import list_changes
from text.pattern_files import read_packaged_text
from text.regex import regex

_TAGS = {
    *("p", "br", "hr", "blockquote", "ul", "ol", "li", "em", "strong", "s", "pre", "code"),
    *("h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"th": {"style"}, "td": {"style"}, "ol": {"start"}}
_DISABLED_RULES = ["autolink", "code", "html_block", "html_inline", "image", "link", "reference"]
_UNBROKEN_DASH = "\u2060–\u2060"
_RANGE = regex(r"(?<=\d)–(?=\d)")
_INFERENCE = regex(f"{INFERENCE_START}([^{INFERENCE_END}]*){INFERENCE_END}")
_TAG = regex(r"<(/?)([a-z0-9]+)[^>]*>")
_NUMBER = regex("\ue000([^\ue001]+)\ue001([\U000f0000-\U000ffffd])")


def render_html(document: ReportDocument) -> str:
    """Return a document as a page; the same document gives the same bytes.

    The page has no scripts and fetches nothing. Its only external links are addresses of sources.
    """
    language = "zh" if is_chinese_tag(document["language"]) else "en"
    document = mark_figure_places(document)
    figures = [*render_figures_html(document.get("computations", []), language)]
    shown, doubted = number_document(document)
    cards = EvidenceCards(document, shown, language)
    return _template().substitute(
        language="zh-CN" if language == "zh" else "en",
        title=escape_line(document["title"]),
        meta=_meta(document, shown, language),
        question=render_paragraph(document["question"], "question")
        + render_paragraph(describe_researched_form(document), "researched"),
        notices="\n".join(render_paragraph(one, "notice") for one in list_notices(document)),
        pointed=cards.render_style() or ".card.none",
        body=fill_figure_places(
            _body(document, shown, cards, doubted, language), figures, "<p>{}</p>"
        )
        + render_section("figures", list_unplaced_figures(shown.body, figures), language, "div"),
        doubts=_doubts(shown, cards, doubted, language) + _contradictions(shown, cards, language),
        changes=_changes(document, language),
        sources=_sources(document, shown, language)
        + render_programs_html(document.get("computations", []), language),
        method=_method(document, language),
        removed="\n".join(render_paragraph(line, "removed") for line in list_footnotes(document)),
        cards=cards.render(),
    )


@cache
def _template() -> Template:
    return Template(read_packaged_text("report.rendering", "page.html"))


def _body(
    document: ReportDocument,
    shown: NumberedText,
    cards: EvidenceCards,
    doubted: Sequence[DoubtLine],
    language: str,
) -> str:
    """Return the text: what it concludes in sections of their own, and last what is not known."""
    sections = list_report_sections(shown.body)
    unknown = sections.pop() if sections and sections[-1].kind == "unknown" else None
    parts = [_render_section_body(one, document, shown, cards, doubted) for one in sections]
    if not shown.body and document["status"] == "insufficient_evidence":
        parts.append(render_paragraph(describe_empty_answer(document)))
    missing = list_missing_parts(document)
    gaps = [
        f"<li>{format_missing_part(one, language, '<strong>{}</strong>', escape_line)}</li>"
        for one in missing
    ]
    if unknown:
        text = _render_section_body(unknown, document, shown, cards, doubted)
        items = "\n".join(gaps)
        parts.append(f"<section>{text}\n{f'<ul>{items}</ul>' if gaps else ''}</section>")
    else:
        gaps += [f"<li>{escape_line(one)}</li>" for one in document.get("unknown", [])]
        parts.append(render_section("not_known", gaps, language, "ul"))
    return "\n".join(filter(None, parts))


def _render_section_body(
    section: ReportSection,
    document: ReportDocument,
    shown: NumberedText,
    cards: EvidenceCards,
    doubted: Sequence[DoubtLine],
) -> str:
    """Return a section as HTML; an assessment says at its head that it is one."""
    language = document["language"]

    def written(markdown: str) -> str:
        return _to_html(markdown, shown, cards, doubted, document)

    if section.kind != "assessment":
        return written("\n\n".join(filter(None, (section.heading, section.text))))
    note = render_paragraph(get_label("conclusions", language), "conclusions")
    return (
        f'<section class="assessment">{written(section.heading)}{note}\n'
        f"{written(section.text)}</section>"
    )


def _to_html(
    markdown: str,
    shown: NumberedText,
    cards: EvidenceCards,
    doubted: Sequence[DoubtLine],
    document: ReportDocument,
) -> str:
    """Return numbered Markdown as HTML; numbers become links after sanitizing."""
    grades, remarks = list_grade_labels(document), list_remark_labels(document)
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = reader.disable(_DISABLED_RULES).parse(markdown)
    for token in tokens:
        token.tag = "h2" if token.tag == "h1" else token.tag
    plain = reader.renderer.render(tokens, reader.options, {})
    clean = nh3.clean(
        plain, tags=_TAGS, attributes=_ATTRIBUTES, filter_style_properties={"text-align"}
    )

    def warn(found: re.Match[str]) -> str:
        """Return the sign of a doubt, a link to its entry below the report."""
        at = ord(found[0]) - FIRST_DOUBT_MARK
        place = f'id="w{at + 1}" href="#d{min(at + 1, len(doubted))}"'
        line, grade = min(at, len(doubted) - 1), escape(grades[min(at, len(grades) - 1)])
        why = escape_line(doubted[line].text + _strip_marks(shown.notes[line]))
        space = " " if found.string[found.end() :][:1].isalnum() else ""
        return f'<a class="doubt" {place} title="{why}">⚠ {grade}</a>{space}'

    def remark(found: re.Match[str]) -> str:
        told = escape(remarks[ord(found[0]) - FIRST_REMARK_MARK])
        return f' <span class="standing">({told})</span>'

    marked = REMARK_MARK.sub(remark, DOUBT_MARK.sub(warn, _link_numbers(clean, shown, cards)))
    return _mark_inferences(marked, document["language"])


def _mark_inferences(text: str, language: str) -> str:
    """Return HTML with a word before each inference, and a style for it where it is one element."""
    space = "" if is_chinese_tag(language) else " "
    tag = f'<span class="tag">{get_label("inference", language)}</span>{space}'

    def mark(found: re.Match[str]) -> str:
        if not _is_balanced(found[1]):
            return tag + found[1]
        return f'{tag}<span class="inferred">{found[1]}</span>'

    return PRIVATE_MARK.sub("", _INFERENCE.sub(mark, text))


def _is_balanced(text: str) -> bool:
    """Tell whether every element that begins in a piece of HTML ends in it, and none before."""
    depth = 0
    for tag in _TAG.finditer(text):
        depth += 0 if tag[2] in ("br", "hr") else -1 if tag[1] else 1
        if depth < 0:
            return False
    return not depth


def _link_numbers(clean: str, shown: NumberedText, cards: EvidenceCards) -> str:
    """Return sanitized HTML with numbers as links and quotations in spans."""

    def link(found: re.Match[str]) -> str:
        """Return the number of a source, a link to its card, with its words as tooltip."""
        at = ord(found[2]) - FIRST_USE_MARK
        source = shown.documents[shown.uses[at].number - 1]
        words = cards.get_words(at)
        about = f"{source['title']} — {source['location']}".strip(" —")
        about = escape_line(f"{about}: “{words}”" if words else about)
        name = _RANGE.sub(_UNBROKEN_DASH, found[1])
        target = cards.get_target(at)
        return f'<a class="ref" id="c{at + 1}" href="#{target}" title="{about}">[{name}]</a>'

    marked = _NUMBER.sub(link, clean.replace(" \ue000", "\u00a0\ue000"))
    return marked.replace("\ue002", '<span class="quote">').replace("\ue003", "</span>")


def _strip_marks(note: str) -> str:
    """Return a note without numbers and Markdown."""
    return PRIVATE_MARK.sub("", unescape_markdown(_NUMBER.sub("", note))).rstrip()


def _doubts(
    shown: NumberedText, cards: EvidenceCards, doubted: Sequence[DoubtLine], language: str
) -> str:
    """Return the doubts and their reasons, each with a link to its sentence if that is marked."""
    marked = {ord(mark) - FIRST_DOUBT_MARK for mark in DOUBT_MARK.findall(shown.body)}
    lines = []
    for at, (one, note) in enumerate(zip(doubted, shown.notes, strict=True)):
        space = " " if note.startswith(" ") else ""
        proof = space + _link_numbers(escape_line(unescape_markdown(note)), shown, cards)
        title = get_label("back", language)
        back = render_jumps("w", [at + 1], "↑", title) if at in marked else ""
        lines.append(f'<li id="d{at + 1}">{escape_line(one.text)}{proof} {back}</li>')
    return render_section("doubts", lines, language)


def _contradictions(shown: NumberedText, cards: EvidenceCards, language: str) -> str:
    """Return what sources say against each other, with links to both passages."""
    texts = (escape_line(unescape_markdown(one)) for one in shown.contradictions)
    lines = [f"<li>{_link_numbers(one, shown, cards)}</li>" for one in texts]
    return render_section("disagree", lines, language, "ul")


def _meta(document: ReportDocument, shown: NumberedText, language: str) -> str:
    status, count = document["status"], len(shown.documents)
    sources = format_source_count(count, language)
    names = {name for use in shown.uses for name in use.sources}
    cited = [source for source in document["sources"] if source["id"] in names]
    independent = count_independent(cited, document["texts"])
    if independent < count:
        told = get_label("independent", language).format(independent)
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


def _changes(document: ReportDocument, language: str) -> str:
    """Return the list of what differs from the version before; nothing without one."""
    lines = [f"<li>{one}</li>" for one in list_changes(document, escape_line)]
    return render_section("changes", lines, language, "ul")


def _sources(document: ReportDocument, shown: NumberedText, language: str) -> str:
    """Return the list of sources, each with its cited passages in their paragraphs."""
    passages = list_evidence_paragraphs(
        document["sources"], document["texts"], shown.uses, language
    )
    counts = count_passages(passages)
    lines = []
    for number, source in enumerate(shown.documents, start=1):
        own = [(at, one) for at, one in enumerate(passages, start=1) if one.number == number]
        entry = _source(source, language)
        if own:
            items = "\n".join(_passage(at, one, language) for at, one in own)
            label = format_count("passages", counts[number], language)
            entry += "\n" + render_disclosure(label, f"<ol>{items}</ol>", "cited")
        else:
            uses = [at + 1 for at, use in enumerate(shown.uses) if use.number == number]
            entry += f" {render_jumps('c', uses, '↑', get_label('back', language))}"
        line = f'<span class="number">[{number}]</span> <div>{entry}</div>'
        lines.append(f'<li id="s{number}">{line}</li>')
    note = get_label("same_place", language) if has_repeated_places(shown.body) else ""
    return render_section("sources", lines, language) + render_paragraph(note, "removed")


def _passage(at: int, passage: EvidenceParagraph, language: str) -> str:
    """Return a cited passage in its paragraph, with links back to the text."""
    near = "" if passage.is_certain else get_label("near", language)
    where = escape_line(" · ".join(filter(None, (passage.place, near))))
    title = get_label("back", language)
    backs = render_jumps("c", list_back_targets(passage.uses), "↑", title)
    words = render_excerpt(passage.excerpt, f"p{at}")
    return f'<li id="p{at}"><p class="from">{where} {backs}</p>\n{words}</li>'


def _source(source: Source, language: str) -> str:
    """Return title, origin and location of a source; a web address is a link, a file is not."""
    title, place = escape_line(source["title"]), escape_line(describe_location(source))
    origin = escape_line(describe_origin(source, language, located=True))
    shown = f' <span class="origin">{origin}</span>' if origin else ""
    shown += f' <span class="place">{place}</span>' if title and place else ""
    address = to_safe_url(source["location"])
    if address:
        link = f'href="{escape(address)}" rel="noopener noreferrer nofollow"'
        return f'<a class="title" {link}>{title or place}</a>{shown}'
    return f'<span class="title">{title or place}</span>{shown}'


def _method(document: ReportDocument, language: str) -> str:
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
    return f'<section class="method">{heading}\n{summary}\n{details}</section>'
