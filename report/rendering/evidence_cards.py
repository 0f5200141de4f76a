"""Show beside a citation the words that it rests on, in their paragraph."""

from __future__ import annotations

from collections.abc import Mapping

from graph.records import Source
from report.citations import describe_location, describe_origin, to_whole_document
from report.document import ReportDocument
from report.evidence_paragraphs import EvidenceParagraph, list_use_paragraphs
from report.labels import get_label
from report.rendering.citation_badges import CitationBadges
from report.rendering.html_parts import (
    escape_line,
    render_excerpt,
    render_language,
    render_paragraph,
)
from report.rendering.numbering import NumberedText
from report.rendering.original_link import build_original_link
from report.rendering.source_notes import SourceNotes


class EvidenceCards:
    """The cards of a report: for each use of a source its paragraph with the cited words.

    A card is hidden until its citation leads to it, is pointed at, or has the focus. It leads back
    to its citation.
    """

    def __init__(
        self,
        document: ReportDocument,
        shown: NumberedText,
        badges: CitationBadges,
        notes: SourceNotes,
        language: str,
    ) -> None:
        self.badges, self.notes = badges, notes
        self.texts, self.language = document["texts"], language
        self.sources: dict[str, Source] = {one["id"]: one for one in document["sources"]}
        self.documents, self.uses = shown.documents, shown.uses
        self.passages: Mapping[int, list[EvidenceParagraph]] = list_use_paragraphs(
            document["sources"], document["texts"], shown.uses, language
        )

    def has_card(self, use: int) -> bool:
        """Tell whether there is a card for a use."""
        return use in self.passages

    def get_target(self, use: int) -> str:
        """Return the id of what a citation leads to: its card, or the entry of its source."""
        return f"e{use + 1}" if use in self.passages else f"s{self.uses[use].number}"

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
        title = source["title"] or source["location"]
        own = render_language(title, self.language)
        back = escape_line(get_label("back", self.language))
        name = f'<a class="name" href="#s{number}">[{number}]</a>'
        head = (
            f'<a class="close" href="#c{use + 1}" title="{back}" aria-label="{back}">↩</a>'
            f"{name} <cite{own}>{escape_line(title)}</cite>"
        )
        shown = [self._render_passage(one) for one in self.passages[use]]
        ways = [self._render_original(one) for one in self.passages[use]]
        passages = "\n".join(
            f"{one}\n{way}" for one, way in zip(shown, [*ways[:-1], ""], strict=True)
        )
        label = escape_line(f"[{number}] {title}")
        return (
            f'<div class="card" id="e{use + 1}" role="dialog" tabindex="-1" aria-label="{label}">'
            f'<p class="head">{head}</p>\n{passages}\n'
            f'<div class="foot">{ways[-1]}'
            f'<p class="found">{self.badges.render(use)}{self.notes.render(number)}</p></div></div>'
        )

    def _render_passage(self, passage: EvidenceParagraph) -> str:
        source = self.sources[passage.source]
        near = "" if passage.is_certain else get_label("near", self.language)
        about = [describe_origin(to_whole_document(source), self.language), passage.place, near]
        origin = render_paragraph(" · ".join(filter(None, about)), "about")
        excerpt = render_excerpt(passage.excerpt, self.language, source.get("language", ""))
        return f"{origin}\n{excerpt}"

    def _render_original(self, passage: EvidenceParagraph) -> str:
        """Return the way to the original: a link to a web page, the path of a file."""
        source = self.sources[passage.source]
        if address := build_original_link(source, self._get_cited_words(passage)):
            rel = 'rel="noopener noreferrer nofollow"'
            original = get_label("original", self.language)
            return f'<p class="way"><a href="{escape_line(address)}" {rel}>{original}</a></p>'
        path = escape_line(describe_location(to_whole_document(source)))
        return f'<p class="way"><span class="place">{path}</span></p>' if path else ""

    def _get_cited_words(self, passage: EvidenceParagraph) -> str:
        text = self.texts[passage.source]
        return " … ".join(text[one.start : one.end] for one in passage.parts if one.certain)
