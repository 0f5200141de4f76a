"""Say of each source of a report what it is worth: its genre, and whether it is a copy."""

from __future__ import annotations

from collections.abc import Sequence

from report.citations import get_document_key
from report.document import ReportDocument
from report.independence import group_sources
from report.labels import describe_genre, get_label
from report.rendering.html_parts import escape_line
from report.rendering.numbering import NumberedText
from report.source_standing import is_weak

_MAX_OTHERS = 3  # of the documents on which one depends


class SourceNotes:
    """What the documents of a report are worth, by their numbers from 1."""

    def __init__(self, document: ReportDocument, shown: NumberedText, language: str) -> None:
        self.documents, self.language = shown.documents, language
        named = {name for use in shown.uses for name in use.sources}
        cited = [source for source in document["sources"] if source["id"] in named]
        keys = [get_document_key(one) for one in shown.documents]
        numbers = {one["id"]: keys.index(get_document_key(one)) + 1 for one in cited}

        def group(found: Sequence[Sequence[str]]) -> list[list[int]]:
            return [sorted({numbers[name] for name in names}) for names in found]

        groups = group_sources(cited, document["texts"])
        self.copies, self.dependent = group(groups.copies), group(groups.dependent)

    @property
    def independent(self) -> int:
        """How many sources there are that do not depend on each other."""
        return len(self.dependent)

    def render(self, number: int) -> str:
        """Return the genre of a document and on which others it depends; "" if nothing is known."""
        notes = [self._describe_genre(number), self._describe_dependence(number)]
        shown = " · ".join(filter(None, notes))
        return f'<span class="source-note">{shown}</span>' if shown else ""

    def _describe_genre(self, number: int) -> str:
        source = self.documents[number - 1]
        genre = escape_line(describe_genre(source.get("genre", ""), self.language))
        if not genre or not is_weak(source):
            return genre
        return f'{genre} · <span class="weak">⚠ {get_label("weak_source", self.language)}</span>'

    def _describe_dependence(self, number: int) -> str:
        """Return of which documents one is a copy, or with which it shares its site."""
        for label, groups in (("copy_of", self.copies), ("site_of", self.dependent)):
            (own,) = [group for group in groups if number in group] or [[number]]
            others = [f'<a href="#s{one}">[{one}]</a>' for one in own if one != number]
            if others:
                more = " …" if len(others) > _MAX_OTHERS else ""
                joined = get_label("comma", self.language).join(others[:_MAX_OTHERS])
                return get_label(label, self.language).format(joined + more)
        return ""
