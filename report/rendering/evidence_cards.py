"""Show beside a citation the words that it rests on, in their paragraph, without a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.records import Source
from report.citations import describe_location, describe_origin, to_whole_document
from report.document import ReportDocument
from report.evidence_paragraphs import EvidenceParagraph, list_use_paragraphs
from report.labels import get_label
from report.rendering.html_parts import escape_line, render_excerpt
from report.rendering.numbering import NumberedText
from report.rendering.original_link import build_original_link

_MAX_WORDS_CHARS = 160  # of the cited words in the title of a link


class EvidenceCards:
    """The cards of a report: for each use of a source its paragraph with the cited words.

    A card is hidden until its citation leads to it, or is pointed at on a wide screen. It leads
    back to its citation.
    """

    def __init__(self, document: ReportDocument, shown: NumberedText, language: str) -> None:
        self.texts, self.language = document["texts"], language
        self.sources: dict[str, Source] = {one["id"]: one for one in document["sources"]}
        self.documents, self.uses = shown.documents, shown.uses
        self.passages: Mapping[int, list[EvidenceParagraph]] = list_use_paragraphs(
            document["sources"], document["texts"], shown.uses, language
        )

    def get_target(self, use: int) -> str:
        """Return the id of what a citation leads to: its card, or the entry of its source."""
        return f"e{use + 1}" if use in self.passages else f"s{self.uses[use].number}"

    def get_words(self, use: int) -> str:
        """Return the words on which a use certainly rests, cut if they are long; or ""."""
        words = " … ".join(self._get_cited_words(one) for one in self.passages.get(use, []))
        line = " ".join(words.split())
        return line if len(line) <= _MAX_WORDS_CHARS else f"{line[:_MAX_WORDS_CHARS]}…"

    def render(self) -> str:
        """Return all cards."""
        return "\n".join(self._render_card(at) for at in sorted(self.passages))

    def render_style(self) -> str:
        """Return the selectors of the cards whose citation is pointed at or has the focus."""
        return ",\n".join(
            f"body:has(#c{at + 1}:is(:hover, :focus-visible)) #e{at + 1}"
            for at in sorted(self.passages)
        )

    def _render_card(self, use: int) -> str:
        number = self.uses[use].number
        source = self.documents[number - 1]
        title = escape_line(source["title"] or source["location"])
        back = get_label("back", self.language)
        head = (
            f'<a class="close" href="#c{use + 1}" title="{back}">↩ {back}</a>'
            f'<a class="name" href="#s{number}">[{number}]</a> <cite>{title}</cite>'
        )
        passages = "\n".join(self._render_passage(one) for one in self.passages[use])
        label = escape_line(f"[{number}] {source['title']}")
        return (
            f'<aside class="card" id="e{use + 1}" tabindex="-1" aria-label="{label}">'
            f'<p class="head">{head}</p>\n{passages}</aside>'
        )

    def _render_passage(self, passage: EvidenceParagraph) -> str:
        source = self.sources[passage.source]
        near = "" if passage.is_certain else get_label("near", self.language)
        about = [describe_origin(to_whole_document(source), self.language), passage.place, near]
        origin = f'<p class="about">{escape_line(" · ".join(filter(None, about)))}</p>'
        link = self._render_original(source, self._get_cited_words(passage))
        return f"{origin}\n{render_excerpt(passage.excerpt)}\n{link}"

    def _render_original(self, source: Source, words: str) -> str:
        """Return the way to the original: a link to a web page, the path of a file."""
        if address := build_original_link(source, words):
            rel = 'rel="noopener noreferrer nofollow"'
            original = get_label("original", self.language)
            return f'<p class="way"><a href="{escape_line(address)}" {rel}>{original}</a></p>'
        path = escape_line(describe_location(to_whole_document(source)))
        return f'<p class="way"><span class="place">{path}</span></p>' if path else ""

    def _get_cited_words(self, passage: EvidenceParagraph) -> str:
        text = self.texts[passage.source]
        return " … ".join(text[one.start : one.end] for one in passage.parts if one.certain)


def list_back_targets(uses: Sequence[Sequence[int]]) -> list[int]:
    """Return the numbers of the citations of some uses, each once, in order."""
    return sorted({use + 1 for group in uses for use in group})
