"""Render a document as the Markdown of a chat message, whose citations are links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from graph.records import Source
from report.citations import get_page_anchor
from report.computed_results import cut_computations, name_figures
from report.document import ReportDocument
from report.evidence_paragraphs import list_evidence_paragraphs
from report.labels import get_label, is_chinese_tag
from report.markdown.sanitizer import (
    escape_markdown,
    strip_foreign_addresses,
    to_safe_url,
    to_single_line,
)
from report.rendering.markdown_report import cut_method_details, render_cited_markdown
from report.rendering.numbering import (
    FIRST_USE_MARK,
    PRIVATE_MARK,
    NumberedText,
    number_document,
)
from text.regex import regex

MAX_QUOTED_CHARS = 240
MAX_QUOTED_PARTS = 3
"""How much of a source a message quotes below its text."""

NOTE_ANCHOR = "#user-content-fn-{}"
"""The place of a footnote on a page: what GitHub and remark (of agent-chat-ui) name it."""

_CITATION = regex("\ue000([^\ue001]+)\ue001([\U000f0000-\U000ffffd])")
_ENTRY = regex(r"^\[(\d+)\] .*$", re.MULTILINE)
_LINKED = regex(r"\[\\\[((?:[^\\\]]|\\.)*?)\\\]\]\([^()\s]*\)")
_NOTE = regex(r" \[\^[\w.-]+\]$", re.MULTILINE)
_NOTE_TEXT = regex(r"^\[\^[\w.-]+\]: .*\n?", re.MULTILINE)
_UNSAFE_IN_LINK = regex(r"[()|\\]")


def render_chat_report(document: ReportDocument, notes: str, run: str) -> str:
    """Return a document as Markdown in which each citation leads to what it cites.

    The number of a web page links to the page; any other one to the footnote of its source, which
    quotes the cited words below the list of sources. Footnotes are numbered like the sources.

    Figures are named in their places, with where they are: a message with their data would have
    megabytes, and a page of a chat could not load them from the server, which asks for its token.

    Args:
        document: The document.
        notes: What the labels of its footnotes begin with: other messages of a page have others.
        run: The run of the report.
    """
    shown, _ = number_document(document)
    named = {**document, "computations": name_figures(document.get("computations", []))}
    where = get_label("figure_elsewhere", document["language"]).format(run)
    text = render_cited_markdown(cast("ReportDocument", named))
    text = cut_computations(text, document["language"], where)
    text = cut_method_details(text, document["language"])
    linked = _CITATION.sub(lambda mark: _link(mark, document, shown, notes), text)
    head, listed, tail = _split_sources(PRIVATE_MARK.sub("", linked), document["language"])
    entries = _ENTRY.sub(lambda entry: f"{entry[0]} [^{notes}-{entry[1]}]", listed)
    written = "\n".join(_write_notes(document, shown, notes))
    return f"{head}{entries}{tail}\n{written}\n" if written else f"{head}{entries}{tail}"


def _split_sources(text: str, language: str) -> tuple[str, str, str]:
    """Return a report before, in and behind its list of sources."""
    heading = f"\n## {get_label('sources', language)}\n"
    head, mark, rest = text.rpartition(heading)
    if not mark:
        return text, "", ""
    listed, end, tail = rest.partition("\n## ")
    return head + mark, listed, end + tail


def _link(mark: re.Match[str], document: ReportDocument, shown: NumberedText, notes: str) -> str:
    use = shown.uses[ord(mark[2]) - FIRST_USE_MARK]
    cited = next((one for one in document["sources"] if one["id"] == use.sources[0]), None)
    listed = shown.documents[use.number - 1]
    target = _find_page(listed, cited) or NOTE_ANCHOR.format(f"{notes}-{use.number}")
    return f"[\\[{mark[1]}\\]]({target})"


def _find_page(listed: Source, cited: Source | None) -> str:
    """Return the address of a web page, of a PDF with the cited page; "" for any other source."""
    address = to_safe_url(listed["location"])
    anchor = get_page_anchor(cited) if cited and "#" not in address else ""
    whole = f"{address}#{anchor}" if address and anchor else address
    return _UNSAFE_IN_LINK.sub(lambda one: f"%{ord(one[0]):02X}", whole)


def _write_notes(document: ReportDocument, shown: NumberedText, notes: str) -> Iterator[str]:
    """Yield a footnote for each source: the words that it was cited for, with their places."""
    quoted = _list_quoted(document, shown)
    comma = "，" if is_chinese_tag(document["language"]) else ", "
    for number, source in enumerate(shown.documents, start=1):
        words = comma.join(quoted.get(number, [])[:MAX_QUOTED_PARTS])
        title = escape_markdown(source["title"] or source["location"])
        yield f"[^{notes}-{number}]: {words or title}"


def _list_quoted(document: ReportDocument, shown: NumberedText) -> dict[int, list[str]]:
    texts, quoted = document["texts"], dict[int, list[str]]()
    passages = list_evidence_paragraphs(
        document["sources"], texts, shown.uses, document["language"]
    )
    for passage in passages:
        parts = [part for part in passage.parts if part.certain]
        words = [_shorten(texts[passage.source][part.start : part.end]) for part in parts]
        place = f" ({escape_markdown(passage.place)})" if passage.place and words else ""
        told = [f"“{escape_markdown(one)}”" for one in words if one]
        quoted.setdefault(passage.number, []).extend(_with_place(told, place))
    return quoted


def _with_place(told: Sequence[str], place: str) -> list[str]:
    """Return the quotations from one passage, the last with the place that they share."""
    return [*told[:-1], f"{told[-1]}{place}"] if told else []


def _shorten(words: str) -> str:
    # A chat page makes a link of every address that it is shown.
    line = strip_foreign_addresses(to_single_line(words), "")
    return line if len(line) <= MAX_QUOTED_CHARS else f"{line[:MAX_QUOTED_CHARS].rstrip()}…"


def unlink_citations(text: str) -> str:
    """Return the text of such a message for a reader without links: numbers, without footnotes."""
    plain = _NOTE_TEXT.sub("", _NOTE.sub("", _LINKED.sub(r"[\1]", text)))
    return f"{plain.rstrip()}\n"
