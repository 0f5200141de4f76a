"""List the sources of a report, each once, with what was taken from it and what rests on it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from graph.records import Source
from report.citations import describe_location, describe_origin
from report.document import ReportDocument
from report.evidence_paragraphs import EvidenceParagraph, count_passages, list_evidence_paragraphs
from report.labels import format_count, get_label
from report.markdown.sanitizer import strip_emphasis, to_safe_url
from report.rendering.citation_badges import CitationBadges
from report.rendering.html_parts import (
    escape_line,
    render_disclosure,
    render_excerpt,
    render_language,
    render_paragraph,
    render_section,
)
from report.rendering.markdown_report import render_plain_text
from report.rendering.numbering import NumberedText, has_repeated_places
from report.rendering.source_notes import SourceNotes

_MAX_SENTENCE_CHARS = 110  # of a sentence that leads back to its place


class SourceList:
    """The list of the sources of a report."""

    def __init__(
        self,
        document: ReportDocument,
        shown: NumberedText,
        badges: CitationBadges,
        notes: SourceNotes,
        language: str,
    ) -> None:
        self.shown, self.badges, self.language = shown, badges, language
        self.notes = notes
        self.declared = {one["id"]: one.get("language", "") for one in document["sources"]}
        self.passages = list_evidence_paragraphs(
            document["sources"], document["texts"], shown.uses, language
        )

    def render(self) -> str:
        """Return the section of the sources; "" without any."""
        counts = count_passages(self.passages)
        lines = [
            f'<li id="s{number}"><span class="number">[{number}]</span> '
            f"<div>{self._render_source(number, counts.get(number, 0))}</div></li>"
            for number in range(1, len(self.shown.documents) + 1)
        ]
        repeated = has_repeated_places(self.shown.body)
        note = get_label("same_place", self.language) if repeated else ""
        return render_section("sources", lines, self.language) + render_paragraph(note, "removed")

    def _render_source(self, number: int, count: int) -> str:
        entry = render_source_head(self.shown.documents[number - 1], self.language)
        entry += self.notes.render(number)
        own = [one for one in self.passages if one.number == number]
        items = [self._render_passage(one) for one in own]
        placed = {use for one in own for group in one.uses for use in group}
        uses = [at for at, use in enumerate(self.shown.uses) if use.number == number]
        others = [at for at in uses if at not in placed]
        if not own:
            return f'{entry}\n<div class="cited">{self._render_uses(others)}</div>'
        items += [f"<li>{self._render_uses(others)}</li>"] if others else []
        label = format_count("passages", count, self.language)
        return entry + "\n" + render_disclosure(label, f"<ol>{''.join(items)}</ol>", "cited")

    def _render_passage(self, passage: EvidenceParagraph) -> str:
        """Return a cited passage in its paragraph, with the sentences that rest on it."""
        near = "" if passage.is_certain else get_label("near", self.language)
        where = " · ".join(filter(None, (passage.place, near)))
        words = render_excerpt(passage.excerpt, self.language, self.declared[passage.source])
        uses = sorted({use for group in passage.uses for use in group})
        place = render_paragraph(where, "from")
        return f"<li>{place}{words}\n{self._render_uses(uses)}</li>"

    def _render_uses(self, uses: Sequence[int]) -> str:
        """Return the sentences of some uses, each a link back to its place, with its badge."""
        items = "\n".join(f"<li>{self._render_use(use)}</li>" for use in uses)
        label = get_label("cited_for", self.language)
        return f'<p class="from">{label}</p><ul class="uses">{items}</ul>'

    def _render_use(self, use: int) -> str:
        sentence = shorten_sentence(self._get_sentence(use))
        language = render_language(sentence, self.language)
        link = f'<a class="back" href="#c{use + 1}"{language}>{escape_line(sentence)}</a>'
        return f"{link} {self.badges.render(use)}"

    def _get_sentence(self, use: int) -> str:
        """Return the sentence of a use; for one below the text it is what is quoted there."""
        one = self.shown.uses[use]
        if use < self.badges.cited_uses:
            return render_plain_text(strip_emphasis(one.sentence))
        return f"“{one.statement}”"


def shorten_sentence(sentence: str) -> str:
    """Return a sentence in one line, cut after a word if it is too long."""
    line = " ".join(sentence.split())
    if len(line) <= _MAX_SENTENCE_CHARS:
        return line
    cut = line[:_MAX_SENTENCE_CHARS]
    head, space, rest = cut.rpartition(" ")
    return f"{head if space and len(rest) < len(cut) // 2 else cut}…"


def render_source_head(source: Source, language: str) -> str:
    """Return title, origin and location of a source; a web address is a link, a file is not."""
    title, place = escape_line(source["title"]), escape_line(describe_location(source))
    origin = escape_line(describe_origin(source, language, located=True))
    shown = f' <span class="origin">{origin}</span>' if origin else ""
    shown += f' <span class="place">{place}</span>' if title and place else ""
    address = to_safe_url(source["location"])
    own = render_language(title, language) if title else ""
    if address:
        link = f'href="{escape(address)}" rel="noopener noreferrer nofollow"'
        return f'<a class="title"{own} {link}>{title or place}</a>{shown}'
    return f'<span class="title"{own}>{title or place}</span>{shown}'
