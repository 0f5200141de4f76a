"""Render a document as a page of HTML that needs nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources
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
from report.evidence_spans import CitationUse, EvidenceSpan, find_evidence
from report.labels import append_detail, get_label
from report.markdown.sanitizer import to_safe_url, to_single_line, unescape_markdown
from report.rendering.numbering import (
    DOUBT_MARK,
    FIRST_DOUBT_MARK,
    FIRST_USE_MARK,
    PRIVATE_MARK,
    NumberedText,
    has_repeated_places,
    number_citations,
)
from text.regex import regex

_TAGS = {
    *("p", "br", "hr", "blockquote", "ul", "ol", "li", "em", "strong", "s", "pre", "code"),
    *("h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"th": {"style"}, "td": {"style"}, "ol": {"start"}}
_NOT_WRITTEN = ["autolink", "code", "html_block", "html_inline", "image", "link", "reference"]
_UNBROKEN_DASH = "\u2060–\u2060"
_RANGE = regex(r"(?<=\d)–(?=\d)")
_NUMBER = regex("\ue000([^\ue001]+)\ue001([\U000f0000-\U000ffffd])")


class _Passage(NamedTuple):
    """What is cited of a page, the number of its document, and the uses of each cited part."""

    number: int
    place: str
    pieces: list[ExcerptPart]
    uses: list[list[int]]
    parts: list[EvidenceSpan]


def render_html(document: ReportDocument) -> str:
    """Return a document as a page; the same document gives the same bytes.

    Nothing in it is active and nothing is fetched. Only addresses of sources are links.
    """
    language = "zh" if document["language"].lower().startswith("zh") else "en"
    told = [one["text"] for one in document["doubted"]]
    doubted = list_doubt_lines(document)
    proofs = [one.proof for one in doubted]
    shown = number_citations(
        document["body"], document["sources"], language, told, document["texts"], proofs
    )
    passages = _passages(document, shown.uses, language)
    unanswered = document["status"] == "insufficient_evidence"
    none = _paragraph(describe_empty_answer(document)) if unanswered and not shown.body else ""
    gaps = [_gap(one, language) for one in list_missing_parts(document)]
    searched = [_escaped(query) for query in document["searched"]] if unanswered else []
    return _template().substitute(
        language="zh-CN" if language == "zh" else "en",
        title=_escaped(document["title"]),
        meta=_meta(document, len(shown.documents), language),
        question=_paragraph(document["question"], "question")
        + _paragraph(describe_researched_form(document), "researched"),
        notices="\n".join(_paragraph(notice, "notice") for notice in list_notices(document)),
        body=_body(shown, passages, doubted, list_grade_labels(document)) or none,
        doubts=_doubts(shown, passages, doubted, language),
        missing=_list("missing", gaps, language),
        searched=_list("searched", searched, language),
        sources=_sources(shown, passages, language),
        passages=_appendix(shown.documents, passages, language),
        removed="\n".join(_paragraph(line, "removed") for line in list_footnotes(document)),
    )


@cache
def _template() -> Template:
    page = resources.files("report.rendering") / "page.html"
    return Template(page.read_text(encoding="utf-8"))


def _passages(
    document: ReportDocument, uses: Sequence[CitationUse], language: str
) -> list[_Passage]:
    """Return what the uses of sources rest on, page by page in the order of their documents.

    Of a document of which no use finds its part, the beginning of what is cited is shown.
    """
    sources = {source["id"]: source for source in document["sources"]}
    texts = {name: text for name, text in document["texts"].items() if text.strip()}
    found: dict[tuple[int, str], dict[int, EvidenceSpan]] = {}
    rest: dict[tuple[int, str], dict[int, EvidenceSpan]] = {}
    for at, use in enumerate(uses):
        for name in (one for one in use.sources if one in texts):
            part = find_evidence(texts[name], use)
            to, part = (
                (found, part)
                if part
                else (rest, EvidenceSpan(0, FALLBACK_EXCERPT_CHARS, certain=False))
            )
            to.setdefault((use.number, name), {})[at] = part
    told = {number for number, _ in found}
    found |= {key: parts for key, parts in rest.items() if key[0] not in told}
    return [
        _Passage(
            number,
            describe_place(_exact(sources[name], texts[name], group), language),
            build_excerpt(texts[name], group),
            [[at for at, part in parts.items() if part == one] for one in group],
            group,
        )
        for (number, name), parts in sorted(found.items(), key=lambda one: one[0][0])
        for group in group_spans(list(parts.values()))
    ]


def _exact(source: Source, text: str, group: Sequence[EvidenceSpan]) -> Source:
    """Return a source with the place of some parts of its page."""
    return narrow_place(source, text, EvidenceSpan(group[0].start, max(one.end for one in group)))


def _body(
    shown: NumberedText,
    passages: Sequence[_Passage],
    doubted: Sequence[DoubtLine],
    grades: Sequence[str],
) -> str:
    """Return the text as HTML: cleaned first, then the numbers become links."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = markdown.disable(_NOT_WRITTEN).parse(shown.body)
    for token in tokens:
        token.tag = "h2" if token.tag == "h1" else token.tag
    plain = markdown.renderer.render(tokens, markdown.options, {})
    clean = nh3.clean(
        plain, tags=_TAGS, attributes=_ATTRIBUTES, filter_style_properties={"text-align"}
    )

    def warn(found: re.Match[str]) -> str:
        at = ord(found[0]) - FIRST_DOUBT_MARK
        place = f'id="w{at + 1}" href="#d{min(at + 1, len(doubted))}"'
        one, grade = min(at, len(doubted) - 1), escape(grades[min(at, len(grades) - 1)])
        why = escape(to_single_line(doubted[one].text + _bare(shown.notes[one])))
        after = found.string[found.end() :][:1]
        space = " " if after.isalnum() else ""
        return f'<a class="doubt" {place} title="{why}">⚠ {grade}</a>{space}'

    return DOUBT_MARK.sub(warn, _linked(clean, shown, passages))


def _linked(clean: str, shown: NumberedText, passages: Sequence[_Passage]) -> str:
    """Return clean HTML with its numbers as links, and with its quotations marked."""
    targets = {
        use: f"p{at}-{number}" if part.certain else f"p{at}"
        for at, passage in reversed([*enumerate(passages, start=1)])
        for number, (part, uses) in enumerate(zip(passage.parts, passage.uses, strict=True), 1)
        for use in uses
    }

    def link(found: re.Match[str]) -> str:
        at = ord(found[2]) - FIRST_USE_MARK
        number = shown.uses[at].number
        about = escape(_about(shown.documents[number - 1]))
        target = targets.get(at, f"s{number}")
        name = _RANGE.sub(_UNBROKEN_DASH, found[1])
        return f'<a class="ref" id="c{at + 1}" href="#{target}" title="{about}">[{name}]</a>'

    marked = _NUMBER.sub(link, clean.replace(" \ue000", "\u00a0\ue000"))
    return marked.replace("\ue002", '<span class="quote">').replace("\ue003", "</span>")


def _bare(note: str) -> str:
    """Return a note without its numbers and without the marks of Markdown."""
    return PRIVATE_MARK.sub("", unescape_markdown(_NUMBER.sub("", note))).rstrip()


def _doubts(
    shown: NumberedText, passages: Sequence[_Passage], doubted: Sequence[DoubtLine], language: str
) -> str:
    """Return what is doubted and why, each with a link to its sentence where that is marked."""
    marked = {ord(mark) - FIRST_DOUBT_MARK for mark in DOUBT_MARK.findall(shown.body)}
    lines = []
    for at, (one, note) in enumerate(zip(doubted, shown.notes, strict=True)):
        space = " " if note.startswith(" ") else ""
        proof = space + _linked(_escaped(unescape_markdown(note)), shown, passages)
        back = _jumps("w", [at + 1], "↑", get_label("back", language)) if at in marked else ""
        lines.append(f'<li id="d{at + 1}">{_escaped(one.text)}{proof} {back}</li>')
    return _section("doubts", lines, language)


def _meta(document: ReportDocument, count: int, language: str) -> str:
    status = document["status"]
    sources = get_label("count_one" if count == 1 else "count", language).format(count)
    doubted = len(document["doubted"])
    # What is doubted is no reason for a green badge.
    look = "partial" if doubted and status == "succeeded" else status
    badge = f'<span class="badge {_escaped(look)}">{_escaped(get_label(status, language))}</span>'
    if doubted:
        told = get_label("to_check", language).format(doubted)
        badge += f' <a class="badge partial" href="#d1">⚠ {told}</a>'
    created = f"<time>{_escaped(document['created'])}</time>"
    return f"{badge} {created} <span>{sources}</span>" if count else f"{badge} {created}"


def _gap(gap: MissingPart, language: str) -> str:
    bold = ((f"<strong>{_escaped(title)}</strong>", _escaped(more)) for title, more in gap.titles)
    titles = get_label("comma", language).join(append_detail(*one, language) for one in bold)
    return f"{titles}{get_label('colon', language)}{_escaped(gap.reason)}"


def _list(heading: str, items: list[str], language: str) -> str:
    lines = "\n".join(f"<li>{item}</li>" for item in items)
    return (
        f"<section><h2>{get_label(heading, language)}</h2>\n<ul>\n{lines}\n</ul></section>"
        if lines
        else ""
    )


def _sources(shown: NumberedText, passages: Sequence[_Passage], language: str) -> str:
    """Return the list of sources; each leads to what is cited of it, or back to the text."""
    lines = []
    for number, source in enumerate(shown.documents, start=1):
        of_it = [at for at, one in enumerate(passages, start=1) if one.number == number]
        uses = [at for at, use in enumerate(shown.uses) if use.number == number]
        links = _jumps("p", of_it, "¶", get_label("cited", language)) or _backs(uses, language)
        line = f'<span class="number">[{number}]</span> <span>{_source(source)} {links}</span>'
        lines.append(f'<li id="s{number}">{line}</li>')
    told = (
        _paragraph(get_label("same_place", language), "removed")
        if has_repeated_places(shown.body)
        else ""
    )
    return _section("sources", lines, language) + told


def _appendix(used: Sequence[Source], passages: Sequence[_Passage], language: str) -> str:
    """Return the words that are cited, in their context, with links back to the text."""
    lines = []
    for at, one in enumerate(passages, start=1):
        title = _escaped(used[one.number - 1]["title"] or used[one.number - 1]["location"])
        where = f", {_escaped(one.place)}" if one.place else ""
        where += (
            "" if any(part.certain for part in one.parts) else f" · {get_label('near', language)}"
        )
        head = f'<a href="#s{one.number}">[{one.number}]</a> {title}{where}'
        words = "".join(_piece(piece, f"p{at}") for piece in one.pieces)
        backs = _backs(sorted(chain(*one.uses)), language)
        lines.append(
            f'<li id="p{at}"><p class="from">{head} {backs}</p>\n'
            f"<blockquote>{words}</blockquote></li>"
        )
    return _section("cited", lines, language)


def _section(name: str, lines: Sequence[str], language: str) -> str:
    if not lines:
        return ""
    heading, items = f"<h2>{get_label(name, language)}</h2>", "\n".join(lines)
    return f'<section class="{name}">{heading}\n<ol>\n{items}\n</ol></section>'


def _backs(uses: Sequence[int], language: str) -> str:
    return _jumps("c", [use + 1 for use in uses], "↑", get_label("back", language))


def _jumps(kind: str, targets: Sequence[int], sign: str, title: str) -> str:
    """Return a link to each target, counted from 1."""
    return " ".join(
        f'<a class="back" href="#{kind}{target}" title="{title}">{sign}{count}</a>'
        for count, target in enumerate(targets, start=1)
    )


def _piece(piece: ExcerptPart, passage: str) -> str:
    """Return a part of a passage, with the space that keeps it from the next one."""
    text = piece.text
    ends = (" " if text[:1].isspace() else "", " " if text[-1:].isspace() else "")
    lines = "<br>\n".join(map(_escaped, text.split("\n")))
    shown = f"{ends[0]}{lines}{ends[1]}" if text.strip() else " "
    return f'<mark id="{passage}-{piece.cited}">{shown}</mark>' if piece.cited else shown


def _source(source: Source) -> str:
    """Return title and place of a source; an address of the web is a link, a file is not."""
    title, place = _escaped(source["title"]), _escaped(source["location"])
    shown = f' <span class="place">{place}</span>' if title else ""
    address = to_safe_url(source["location"])
    if address:
        link = f'href="{escape(address)}" rel="noopener noreferrer nofollow"'
        return f'<a class="title" {link}>{title or place}</a>{shown}'
    return f'<span class="title">{title or place}</span>{shown}'


def _about(source: Source) -> str:
    return to_single_line(f"{source['title']} — {source['location']}").strip(" —")


def _paragraph(text: str, kind: str = "") -> str:
    shown = _escaped(text)
    return (
        f'<p class="{kind}">{shown}</p>' if shown and kind else f"<p>{shown}</p>" if shown else ""
    )


def _escaped(text: str) -> str:
    return escape(to_single_line(text))
