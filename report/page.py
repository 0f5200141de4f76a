"""Render a document as a page of HTML that needs nothing but itself."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from html import escape
from importlib import resources
from string import Template

import nh3
from markdown_it import MarkdownIt

from graph.records import Source
from report.escaping import one_line, web_address
from report.numbering import numbered
from report.shape import Document
from report.wording import footnotes, notices, reason, word

_TAGS = {
    *("p", "br", "hr", "blockquote", "ul", "ol", "li", "em", "strong", "s", "pre", "code"),
    *("h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"th": {"style"}, "td": {"style"}, "ol": {"start"}}
_NOT_WRITTEN = ["autolink", "code", "html_block", "html_inline", "image", "link", "reference"]
_NUMBER = re.compile("\ue000(\\d+)((?:, [^\ue001]+)?)\ue001")


def to_html(document: Document) -> str:
    """Return a document as a page; the same document gives the same bytes.

    Nothing in it is active and nothing is fetched. Only addresses of sources are links.
    """
    language = "zh" if document["language"].lower().startswith("zh") else "en"
    text, used = numbered(document["body"], document["sources"], language)
    uses = Counter(int(number) for number, _ in _NUMBER.findall(text))
    unanswered = document["status"] == "insufficient_evidence"
    nothing = _paragraph(word("nothing", language)) if unanswered and not text else ""
    gaps = [
        _gap(gap["title"], reason(gap["reason"], gap["status"], language), language)
        for gap in document["gaps"]
    ]
    searched = [_escaped(query) for query in document["searched"]] if unanswered else []
    return _template().substitute(
        language="zh-CN" if language == "zh" else "en",
        title=_escaped(document["title"]),
        meta=_meta(document, len(used), language),
        question=_paragraph(document["question"], "question"),
        notices="\n".join(_paragraph(notice, "notice") for notice in notices(document)),
        body=_body(text, used) or nothing,
        missing=_list("missing", gaps, language),
        searched=_list("searched", searched, language),
        sources=_sources(used, uses, language),
        removed="\n".join(_paragraph(line, "removed") for line in footnotes(document)),
    )


@cache
def _template() -> Template:
    page = resources.files("report") / "page.html"
    return Template(page.read_text(encoding="utf-8"))


def _body(text: str, used: list[Source]) -> str:
    """Return the text as HTML: cleaned first, then the numbers become links."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = markdown.disable(_NOT_WRITTEN).parse(text)
    for token in tokens:
        token.tag = "h2" if token.tag == "h1" else token.tag
    plain = markdown.renderer.render(tokens, markdown.options, {})
    clean = nh3.clean(
        plain, tags=_TAGS, attributes=_ATTRIBUTES, filter_style_properties={"text-align"}
    )
    seen: Counter[int] = Counter()

    def link(found: re.Match[str]) -> str:
        number = int(found[1])
        seen[number] += 1
        about = escape(_about(used[number - 1]))
        place = f'id="c{number}-{seen[number]}" href="#s{number}"'
        return f'<a class="ref" {place} title="{about}">[{number}{found[2]}]</a>'

    marked = _NUMBER.sub(link, clean.replace(" \ue000", "\u00a0\ue000"))
    return marked.replace("\ue002", '<span class="quote">').replace("\ue003", "</span>")


def _meta(document: Document, count: int, language: str) -> str:
    status = document["status"]
    sources = word("count_one" if count == 1 else "count", language).format(count)
    badge = f'<span class="badge {_escaped(status)}">{_escaped(word(status, language))}</span>'
    created = f"<time>{_escaped(document['created'])}</time>"
    return f"{badge} {created} <span>{sources}</span>" if count else f"{badge} {created}"


def _gap(title: str, why: str, language: str) -> str:
    return f"<strong>{_escaped(title)}</strong>{word('colon', language)}{_escaped(why)}"


def _list(heading: str, items: list[str], language: str) -> str:
    lines = "\n".join(f"<li>{item}</li>" for item in items)
    return (
        f"<section><h2>{word(heading, language)}</h2>\n<ul>\n{lines}\n</ul></section>"
        if lines
        else ""
    )


def _sources(used: list[Source], uses: Counter[int], language: str) -> str:
    lines = []
    for number, source in enumerate(used, start=1):
        back = word("back", language)
        backs = " ".join(
            f'<a class="back" href="#c{number}-{use}" title="{back}">↑{use}</a>'
            for use in range(1, uses[number] + 1)
        )
        shown = f'<span class="number">[{number}]</span> <span>{_source(source)} {backs}</span>'
        lines.append(f'<li id="s{number}">{shown}</li>')
    if not lines:
        return ""
    heading = f"<h2>{word('sources', language)}</h2>"
    items = "\n".join(lines)
    return f'<section class="sources">{heading}\n<ol>\n{items}\n</ol></section>'


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
