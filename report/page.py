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
from report.citations import narrowed, place
from report.escaping import one_line, unescaped, web_address
from report.extracts import BEGINNING, Piece, grouped, pieces
from report.numbering import DOUBT, DOUBTS, PRIVATE, USE, Numbered, leaves_out, numbered
from report.placing import Part, Use, placed
from report.shape import Document
from report.wording import (
    Doubt,
    Missing,
    doubts,
    footnotes,
    grades,
    missing,
    noted,
    nothing,
    notices,
    researched,
    word,
)
from retrieval.regex import regex

_TAGS = {
    *("p", "br", "hr", "blockquote", "ul", "ol", "li", "em", "strong", "s", "pre", "code"),
    *("h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"th": {"style"}, "td": {"style"}, "ol": {"start"}}
_NOT_WRITTEN = ["autolink", "code", "html_block", "html_inline", "image", "link", "reference"]
UNBROKEN = "\u2060–\u2060"
"""A dash between two numbers, at which no line ends."""

_RANGE = regex(r"(?<=\d)–(?=\d)")
_NUMBER = regex("\ue000([^\ue001]+)\ue001([\U000f0000-\U000ffffd])")


class _Passage(NamedTuple):
    """What is cited of a page, the number of its document, and the uses of each cited part."""

    number: int
    place: str
    pieces: list[Piece]
    uses: list[list[int]]
    parts: list[Part]


def to_html(document: Document) -> str:
    """Return a document as a page; the same document gives the same bytes.

    Nothing in it is active and nothing is fetched. Only addresses of sources are links.
    """
    language = "zh" if document["language"].lower().startswith("zh") else "en"
    told = [one["text"] for one in document["doubted"]]
    doubted = doubts(document)
    proofs = [one.proof for one in doubted]
    shown = numbered(
        document["body"], document["sources"], language, told, document["texts"], proofs
    )
    passages = _passages(document, shown.uses, language)
    unanswered = document["status"] == "insufficient_evidence"
    none = _paragraph(nothing(document)) if unanswered and not shown.body else ""
    gaps = [_gap(one, language) for one in missing(document)]
    searched = [_escaped(query) for query in document["searched"]] if unanswered else []
    return _template().substitute(
        language="zh-CN" if language == "zh" else "en",
        title=_escaped(document["title"]),
        meta=_meta(document, len(shown.used), language),
        question=_paragraph(document["question"], "question")
        + _paragraph(researched(document), "researched"),
        notices="\n".join(_paragraph(notice, "notice") for notice in notices(document)),
        body=_body(shown, passages, doubted, grades(document)) or none,
        doubts=_doubts(shown, passages, doubted, language),
        missing=_list("missing", gaps, language),
        searched=_list("searched", searched, language),
        sources=_sources(shown, passages, language),
        passages=_appendix(shown.used, passages, language),
        removed="\n".join(_paragraph(line, "removed") for line in footnotes(document)),
    )


@cache
def _template() -> Template:
    page = resources.files("report") / "page.html"
    return Template(page.read_text(encoding="utf-8"))


def _passages(document: Document, uses: Sequence[Use], language: str) -> list[_Passage]:
    """Return what the uses of sources rest on, page by page in the order of their documents.

    Of a document of which no use finds its part, the beginning of what is cited is shown.
    """
    sources = {source["id"]: source for source in document["sources"]}
    texts = {name: text for name, text in document["texts"].items() if text.strip()}
    found: dict[tuple[int, str], dict[int, Part]] = {}
    rest: dict[tuple[int, str], dict[int, Part]] = {}
    for at, use in enumerate(uses):
        for name in (one for one in use.sources if one in texts):
            part = placed(texts[name], use)
            to, part = (found, part) if part else (rest, Part(0, BEGINNING, sure=False))
            to.setdefault((use.number, name), {})[at] = part
    told = {number for number, _ in found}
    found |= {key: parts for key, parts in rest.items() if key[0] not in told}
    return [
        _Passage(
            number,
            place(_exact(sources[name], texts[name], group), language),
            pieces(texts[name], group),
            [[at for at, part in parts.items() if part == one] for one in group],
            group,
        )
        for (number, name), parts in sorted(found.items(), key=lambda one: one[0][0])
        for group in grouped(list(parts.values()))
    ]


def _exact(source: Source, text: str, group: Sequence[Part]) -> Source:
    """Return a source with the place of some parts of its page."""
    return narrowed(source, text, Part(group[0].start, max(one.end for one in group)))


def _body(
    shown: Numbered,
    passages: Sequence[_Passage],
    doubted: Sequence[Doubt],
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
        at = ord(found[0]) - DOUBT
        place = f'id="w{at + 1}" href="#d{min(at + 1, len(doubted))}"'
        one, grade = min(at, len(doubted) - 1), escape(grades[min(at, len(grades) - 1)])
        why = escape(one_line(doubted[one].text + _bare(shown.notes[one])))
        after = found.string[found.end() :][:1]
        space = " " if after.isalnum() else ""
        return f'<a class="doubt" {place} title="{why}">⚠ {grade}</a>{space}'

    return DOUBTS.sub(warn, _linked(clean, shown, passages))


def _linked(clean: str, shown: Numbered, passages: Sequence[_Passage]) -> str:
    """Return clean HTML with its numbers as links, and with its quotations marked."""
    targets = {
        use: f"p{at}-{number}" if part.sure else f"p{at}"
        for at, passage in reversed([*enumerate(passages, start=1)])
        for number, (part, uses) in enumerate(zip(passage.parts, passage.uses, strict=True), 1)
        for use in uses
    }

    def link(found: re.Match[str]) -> str:
        at = ord(found[2]) - USE
        number = shown.uses[at].number
        about = escape(_about(shown.used[number - 1]))
        target = targets.get(at, f"s{number}")
        name = _RANGE.sub(UNBROKEN, found[1])
        return f'<a class="ref" id="c{at + 1}" href="#{target}" title="{about}">[{name}]</a>'

    marked = _NUMBER.sub(link, clean.replace(" \ue000", "\u00a0\ue000"))
    return marked.replace("\ue002", '<span class="quote">').replace("\ue003", "</span>")


def _bare(note: str) -> str:
    """Return a note without its numbers and without the marks of Markdown."""
    return PRIVATE.sub("", unescaped(_NUMBER.sub("", note))).rstrip()


def _doubts(
    shown: Numbered, passages: Sequence[_Passage], doubted: Sequence[Doubt], language: str
) -> str:
    """Return what is doubted and why, each with a link to its sentence where that is marked."""
    marked = {ord(mark) - DOUBT for mark in DOUBTS.findall(shown.body)}
    lines = []
    for at, (one, note) in enumerate(zip(doubted, shown.notes, strict=True)):
        space = " " if note.startswith(" ") else ""
        proof = space + _linked(_escaped(unescaped(note)), shown, passages)
        back = _jumps("w", [at + 1], "↑", word("back", language)) if at in marked else ""
        lines.append(f'<li id="d{at + 1}">{_escaped(one.text)}{proof} {back}</li>')
    return _section("doubts", lines, language)


def _meta(document: Document, count: int, language: str) -> str:
    status = document["status"]
    sources = word("count_one" if count == 1 else "count", language).format(count)
    doubted = len(document["doubted"])
    # What is doubted is no reason for a green badge.
    look = "partial" if doubted and status == "succeeded" else status
    badge = f'<span class="badge {_escaped(look)}">{_escaped(word(status, language))}</span>'
    if doubted:
        told = word("to_check", language).format(doubted)
        badge += f' <a class="badge partial" href="#d1">⚠ {told}</a>'
    created = f"<time>{_escaped(document['created'])}</time>"
    return f"{badge} {created} <span>{sources}</span>" if count else f"{badge} {created}"


def _gap(gap: Missing, language: str) -> str:
    bold = ((f"<strong>{_escaped(title)}</strong>", _escaped(more)) for title, more in gap.titles)
    titles = word("comma", language).join(noted(*one, language) for one in bold)
    return f"{titles}{word('colon', language)}{_escaped(gap.why)}"


def _list(heading: str, items: list[str], language: str) -> str:
    lines = "\n".join(f"<li>{item}</li>" for item in items)
    return (
        f"<section><h2>{word(heading, language)}</h2>\n<ul>\n{lines}\n</ul></section>"
        if lines
        else ""
    )


def _sources(shown: Numbered, passages: Sequence[_Passage], language: str) -> str:
    """Return the list of sources; each leads to what is cited of it, or back to the text."""
    lines = []
    for number, source in enumerate(shown.used, start=1):
        of_it = [at for at, one in enumerate(passages, start=1) if one.number == number]
        uses = [at for at, use in enumerate(shown.uses) if use.number == number]
        links = _jumps("p", of_it, "¶", word("cited", language)) or _backs(uses, language)
        line = f'<span class="number">[{number}]</span> <span>{_source(source)} {links}</span>'
        lines.append(f'<li id="s{number}">{line}</li>')
    told = _paragraph(word("same_place", language), "removed") if leaves_out(shown.body) else ""
    return _section("sources", lines, language) + told


def _appendix(used: Sequence[Source], passages: Sequence[_Passage], language: str) -> str:
    """Return the words that are cited, in their context, with links back to the text."""
    lines = []
    for at, one in enumerate(passages, start=1):
        title = _escaped(used[one.number - 1]["title"] or used[one.number - 1]["location"])
        where = f", {_escaped(one.place)}" if one.place else ""
        where += "" if any(part.sure for part in one.parts) else f" · {word('near', language)}"
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
    heading, items = f"<h2>{word(name, language)}</h2>", "\n".join(lines)
    return f'<section class="{name}">{heading}\n<ol>\n{items}\n</ol></section>'


def _backs(uses: Sequence[int], language: str) -> str:
    return _jumps("c", [use + 1 for use in uses], "↑", word("back", language))


def _jumps(kind: str, targets: Sequence[int], sign: str, title: str) -> str:
    """Return a link to each target, counted from 1."""
    return " ".join(
        f'<a class="back" href="#{kind}{target}" title="{title}">{sign}{count}</a>'
        for count, target in enumerate(targets, start=1)
    )


def _piece(piece: Piece, passage: str) -> str:
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
    address = web_address(source["location"])
    if address:
        link = f'href="{escape(address)}" rel="noopener noreferrer nofollow"'
        return f'<a class="title" {link}>{title or place}</a>{shown}'
    return f'<span class="title">{title or place}</span>{shown}'


def _about(source: Source) -> str:
    return one_line(f"{source['title']} — {source['location']}").strip(" —")


def _paragraph(text: str, kind: str = "") -> str:
    shown = _escaped(text)
    return (
        f'<p class="{kind}">{shown}</p>' if shown and kind else f"<p>{shown}</p>" if shown else ""
    )


def _escaped(text: str) -> str:
    return escape(one_line(text))
