"""Render a document as one self-contained page of HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from itertools import chain
from string import Template
from typing import NamedTuple

import nh3
from markdown_it import MarkdownIt

from graph.records import Source
from report.citations import (
    FALLBACK_EXCERPT_CHARS,
    ExcerptPart,
    build_excerpt,
    describe_place,
    group_spans,
    narrow_place,
)
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
from report.evidence_spans import CitationUse, EvidenceSpan, find_evidence
from report.independence import count_independent
from report.labels import get_label
from report.markdown.sanitizer import to_safe_url, to_single_line, unescape_markdown
from report.rendering.numbering import (
    DOUBT_MARK,
    FIRST_DOUBT_MARK,
    FIRST_REMARK_MARK,
    FIRST_USE_MARK,
    PRIVATE_MARK,
    REMARK_MARK,
    NumberedText,
    has_repeated_places,
    number_document,
)
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
_NUMBER = regex("\ue000([^\ue001]+)\ue001([\U000f0000-\U000ffffd])")


class _Passage(NamedTuple):
    """An excerpt of a page, the number of its document, and the uses of each cited part."""

    number: int
    place: str
    pieces: list[ExcerptPart]
    uses: list[list[int]]
    parts: list[EvidenceSpan]


def render_html(document: ReportDocument) -> str:
    """Return a document as a page; the same document gives the same bytes.

    The page has no scripts and fetches nothing. Its only external links are addresses of sources.
    """
    language = "zh" if document["language"].lower().startswith("zh") else "en"
    shown, doubted = number_document(document)
    passages = _passages(document, shown.uses, language)
    unanswered = document["status"] == "insufficient_evidence"
    none = _paragraph(describe_empty_answer(document)) if unanswered and not shown.body else ""
    missing = list_missing_parts(document)
    gaps = (format_missing_part(one, language, "<strong>{}</strong>", _escaped) for one in missing)
    searched = map(_escaped, document["searched"] if unanswered else [])
    return _template().substitute(
        language="zh-CN" if language == "zh" else "en",
        title=_escaped(document["title"]),
        meta=_meta(document, shown, language),
        question=_paragraph(document["question"], "question")
        + _paragraph(describe_researched_form(document), "researched"),
        notices="\n".join(_paragraph(notice, "notice") for notice in list_notices(document)),
        body=_body(shown, passages, doubted, document) or none,
        doubts=_doubts(shown, passages, doubted, language)
        + _contradictions(shown, passages, language),
        missing=_section("missing", [f"<li>{gap}</li>" for gap in gaps], language, "ul"),
        searched=_section("searched", [f"<li>{one}</li>" for one in searched], language, "ul"),
        sources=_sources(shown, passages, language),
        passages=_appendix(shown.documents, passages, language),
        removed="\n".join(_paragraph(line, "removed") for line in list_footnotes(document)),
    )


@cache
def _template() -> Template:
    return Template(read_packaged_text("report.rendering", "page.html"))


def _passages(
    document: ReportDocument, uses: Sequence[CitationUse], language: str
) -> list[_Passage]:
    """Return the passages that support the uses, page by page in the order of their documents.

    A document in which no supporting part is found is shown by the beginning of its cited pages.
    """
    sources = {source["id"]: source for source in document["sources"]}
    texts = {name: text for name, text in document["texts"].items() if text.strip()}
    found: dict[tuple[int, str], dict[int, EvidenceSpan]] = {}
    missed: dict[tuple[int, str], dict[int, EvidenceSpan]] = {}
    fallback = EvidenceSpan(0, FALLBACK_EXCERPT_CHARS, certain=False)
    for at, use in enumerate(uses):
        for name in filter(texts.__contains__, use.sources):
            span = find_evidence(texts[name], use)
            spans = (found if span else missed).setdefault((use.number, name), {})
            spans[at] = span or fallback
    numbers = {number for number, _ in found}
    found |= {key: spans for key, spans in missed.items() if key[0] not in numbers}
    return [
        _Passage(
            number,
            describe_place(_narrow(sources[name], texts[name], group), language),
            build_excerpt(texts[name], group),
            [[at for at, span in spans.items() if span == part] for part in group],
            group,
        )
        for (number, name), spans in sorted(found.items(), key=lambda item: item[0][0])
        for group in group_spans(list(spans.values()))
    ]


def _narrow(source: Source, text: str, group: Sequence[EvidenceSpan]) -> Source:
    """Return a source with its place narrowed to some parts of its page."""
    return narrow_place(source, text, EvidenceSpan(group[0].start, max(part.end for part in group)))


def _body(
    shown: NumberedText,
    passages: Sequence[_Passage],
    doubted: Sequence[DoubtLine],
    document: ReportDocument,
) -> str:
    """Return the text as HTML; numbers become links after sanitizing."""
    grades, remarks = list_grade_labels(document), list_remark_labels(document)
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = markdown.disable(_DISABLED_RULES).parse(shown.body)
    for token in tokens:
        token.tag = "h2" if token.tag == "h1" else token.tag
    plain = markdown.renderer.render(tokens, markdown.options, {})
    clean = nh3.clean(
        plain, tags=_TAGS, attributes=_ATTRIBUTES, filter_style_properties={"text-align"}
    )

    def warn(found: re.Match[str]) -> str:
        at = ord(found[0]) - FIRST_DOUBT_MARK
        place = f'id="w{at + 1}" href="#d{min(at + 1, len(doubted))}"'
        line, grade = min(at, len(doubted) - 1), escape(grades[min(at, len(grades) - 1)])
        why = escape(to_single_line(doubted[line].text + _strip_marks(shown.notes[line])))
        space = " " if found.string[found.end() :][:1].isalnum() else ""
        return f'<a class="doubt" {place} title="{why}">⚠ {grade}</a>{space}'

    def remark(found: re.Match[str]) -> str:
        told = escape(remarks[ord(found[0]) - FIRST_REMARK_MARK])
        return f' <span class="standing">({told})</span>'

    marked = DOUBT_MARK.sub(warn, _link_numbers(clean, shown, passages))
    return REMARK_MARK.sub(remark, marked)


def _link_numbers(clean: str, shown: NumberedText, passages: Sequence[_Passage]) -> str:
    """Return sanitized HTML with numbers as links and quotations in spans."""
    targets = {
        use: f"p{at}-{number}" if part.certain else f"p{at}"
        for at, passage in reversed([*enumerate(passages, start=1)])
        for number, (part, uses) in enumerate(zip(passage.parts, passage.uses, strict=True), 1)
        for use in uses
    }

    def link(found: re.Match[str]) -> str:
        at = ord(found[2]) - FIRST_USE_MARK
        number = shown.uses[at].number
        source = shown.documents[number - 1]
        about = escape(to_single_line(f"{source['title']} — {source['location']}").strip(" —"))
        target = targets.get(at, f"s{number}")
        name = _RANGE.sub(_UNBROKEN_DASH, found[1])
        return f'<a class="ref" id="c{at + 1}" href="#{target}" title="{about}">[{name}]</a>'

    marked = _NUMBER.sub(link, clean.replace(" \ue000", "\u00a0\ue000"))
    return marked.replace("\ue002", '<span class="quote">').replace("\ue003", "</span>")


def _strip_marks(note: str) -> str:
    """Return a note without numbers and Markdown."""
    return PRIVATE_MARK.sub("", unescape_markdown(_NUMBER.sub("", note))).rstrip()


def _doubts(
    shown: NumberedText, passages: Sequence[_Passage], doubted: Sequence[DoubtLine], language: str
) -> str:
    """Return the doubts and their reasons, each with a link to its sentence if that is marked."""
    marked = {ord(mark) - FIRST_DOUBT_MARK for mark in DOUBT_MARK.findall(shown.body)}
    lines = []
    for at, (one, note) in enumerate(zip(doubted, shown.notes, strict=True)):
        space = " " if note.startswith(" ") else ""
        proof = space + _link_numbers(_escaped(unescape_markdown(note)), shown, passages)
        back = _jumps("w", [at + 1], "↑", get_label("back", language)) if at in marked else ""
        lines.append(f'<li id="d{at + 1}">{_escaped(one.text)}{proof} {back}</li>')
    return _section("doubts", lines, language)


def _contradictions(shown: NumberedText, passages: Sequence[_Passage], language: str) -> str:
    """Return what sources say against each other, with links to both passages."""
    texts = (_escaped(unescape_markdown(one)) for one in shown.contradictions)
    lines = [f"<li>{_link_numbers(one, shown, passages)}</li>" for one in texts]
    return _section("disagree", lines, language, "ul")


def _meta(document: ReportDocument, shown: NumberedText, language: str) -> str:
    status, count = document["status"], len(shown.documents)
    sources = get_label("count_one" if count == 1 else "count", language).format(count)
    names = {name for use in shown.uses for name in use.sources}
    cited = [source for source in document["sources"] if source["id"] in names]
    independent = count_independent(cited, document["texts"])
    if independent < count:
        told = get_label("independent", language).format(independent)
        sources += get_label("comma", language) + told
    doubted = len(document["doubted"])
    # A report with doubts gets no green badge.
    look = "partial" if doubted and status == "succeeded" else status
    badge = f'<span class="badge {_escaped(look)}">{_escaped(get_label(status, language))}</span>'
    if doubted:
        to_check = get_label("to_check", language).format(doubted)
        badge += f' <a class="badge partial" href="#d1">⚠ {to_check}</a>'
    created = f"<time>{_escaped(document['created'])}</time>"
    return f"{badge} {created} <span>{sources}</span>" if count else f"{badge} {created}"


def _sources(shown: NumberedText, passages: Sequence[_Passage], language: str) -> str:
    """Return the list of sources, each with links to its passages or back to the text."""
    lines = []
    for number, source in enumerate(shown.documents, start=1):
        cited = [at for at, one in enumerate(passages, start=1) if one.number == number]
        uses = [at for at, use in enumerate(shown.uses) if use.number == number]
        links = _jumps("p", cited, "¶", get_label("cited", language)) or _backs(uses, language)
        line = f'<span class="number">[{number}]</span> <span>{_source(source)} {links}</span>'
        lines.append(f'<li id="s{number}">{line}</li>')
    note = get_label("same_place", language) if has_repeated_places(shown.body) else ""
    return _section("sources", lines, language) + _paragraph(note, "removed")


def _appendix(used: Sequence[Source], passages: Sequence[_Passage], language: str) -> str:
    """Return the cited passages in their context, with links back to the text."""
    lines = []
    for at, one in enumerate(passages, start=1):
        title = _escaped(used[one.number - 1]["title"] or used[one.number - 1]["location"])
        where = f", {_escaped(one.place)}" if one.place else ""
        if not any(part.certain for part in one.parts):
            where += f" · {get_label('near', language)}"
        head = f'<a href="#s{one.number}">[{one.number}]</a> {title}{where}'
        words = "".join(_piece(piece, f"p{at}") for piece in one.pieces)
        backs = _backs(sorted(chain(*one.uses)), language)
        lines.append(
            f'<li id="p{at}"><p class="from">{head} {backs}</p>\n'
            f"<blockquote>{words}</blockquote></li>"
        )
    return _section("cited", lines, language)


def _section(name: str, lines: Sequence[str], language: str, tag: str = "ol") -> str:
    """Return a section with a list; only those with numbered items have a style of their own."""
    if not lines:
        return ""
    heading, items = f"<h2>{get_label(name, language)}</h2>", "\n".join(lines)
    style = f' class="{name}"' if tag == "ol" else ""
    return f"<section{style}>{heading}\n<{tag}>\n{items}\n</{tag}></section>"


def _backs(uses: Sequence[int], language: str) -> str:
    return _jumps("c", [use + 1 for use in uses], "↑", get_label("back", language))


def _jumps(kind: str, targets: Sequence[int], sign: str, title: str) -> str:
    """Return a link to each target, with a sign and a count from 1."""
    return " ".join(
        f'<a class="back" href="#{kind}{target}" title="{title}">{sign}{count}</a>'
        for count, target in enumerate(targets, start=1)
    )


def _piece(piece: ExcerptPart, passage: str) -> str:
    """Return a part of a passage, keeping the space at its ends."""
    text = piece.text
    ends = (" " if text[:1].isspace() else "", " " if text[-1:].isspace() else "")
    lines = "<br>\n".join(map(_escaped, text.split("\n")))
    shown = f"{ends[0]}{lines}{ends[1]}" if text.strip() else " "
    return f'<mark id="{passage}-{piece.cited}">{shown}</mark>' if piece.cited else shown


def _source(source: Source) -> str:
    """Return title and location of a source; a web address is a link, a file is not."""
    title, place = _escaped(source["title"]), _escaped(source["location"])
    shown = f' <span class="place">{place}</span>' if title else ""
    address = to_safe_url(source["location"])
    if address:
        link = f'href="{escape(address)}" rel="noopener noreferrer nofollow"'
        return f'<a class="title" {link}>{title or place}</a>{shown}'
    return f'<span class="title">{title or place}</span>{shown}'


def _paragraph(text: str, kind: str = "") -> str:
    shown = _escaped(text)
    opening = f'<p class="{kind}">' if kind else "<p>"
    return f"{opening}{shown}</p>" if shown else ""


def _escaped(text: str) -> str:
    return escape(to_single_line(text))
