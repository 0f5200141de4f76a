"""What each citation of a report refers to, for exports that write citations in other styles."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from report.evidence_paragraphs import list_use_paragraphs
from report.exports.author_labels import list_author_labels
from report.exports.bibliography import list_cited_works
from report.exports.export_formats import ExportedReport
from report.labels import get_label, is_chinese_tag
from report.markdown.sanitizer import to_single_line
from report.rendering.numbering import number_document
from text.regex import regex

CITED_GROUP = regex("(?:[ \u00a0]?\ue000[^\ue001]+\ue001[\U000f0000-\U000ffffd])+")
"""Citations side by side in a numbered text, with the space before each."""

CITED_USE = regex("\ue000([^\ue001]+)\ue001([\U000f0000-\U000ffffd])")
"""One of them: its number with its place, and the mark of its use."""

_MAX_WORDS_CHARS = 400  # of the cited words in a footnote
_UNSAFE_PLACE = str.maketrans({"(": "[", ")": "]", "（": "[", "）": "]", ";": ",", "；": "，"})


class Footnote(NamedTuple):
    """What a citation of the text refers to."""

    number: int
    """The number of the footnote, from 1."""
    source: int
    """The number of the source in the list of sources."""
    title: str
    place: str
    """The place in the source, in words; may be empty."""
    words: str
    """The words of the source that the sentence rests on; empty where they are not certain."""

    def describe(self, language: str) -> str:
        """Return the text of the footnote behind the number of its source."""
        comma = "，" if is_chinese_tag(language) else ", "
        colon = get_label("colon", language)
        about = comma.join(filter(None, (self.title, self.place)))
        return f"{about}{colon}“{self.words}”" if self.words else about


class CitedUses:
    """The citations of one report, in the order in which they are asked for."""

    def __init__(self, report: ExportedReport) -> None:
        self.language = report.document["language"]
        self.notes: list[Footnote] = []
        """Those that were asked for so far."""
        self._texts = report.document["texts"]
        self._shown, _ = number_document(report.document)
        works = list_cited_works(report, self._shown.documents)
        self.labels = list_author_labels(works, self.language)
        """The label of each source by author and year."""
        self._places: dict[int, str] = {}  # where a place is left out, it is the last one again
        self._passages = list_use_paragraphs(
            report.document["sources"], self._texts, self._shown.uses, self.language
        )

    def add(self, use: int, shown: str) -> Footnote:
        """Return what a use refers to.

        Args:
            use: Its place among the uses, from 0.
            shown: Its number and place as the report shows them.
        """
        source = self._shown.uses[use].number
        cited = self._shown.documents[source - 1]
        title = to_single_line(cited["title"] or cited["location"])
        place = shown.partition(", ")[2] or self._places.get(source, "")
        self._places[source] = place
        note = Footnote(len(self.notes) + 1, source, title, place, self._find_words(use))
        self.notes.append(note)
        return note

    def get_address(self, source: int) -> str:
        """Return where a source is, by its number."""
        return self._shown.documents[source - 1]["location"]

    def count_sources(self) -> int:
        """Return how many sources the report cites."""
        return len(self._shown.documents)

    def _find_words(self, use: int) -> str:
        """Return the words on which a use certainly rests, cut if they are long; or ""."""
        words = " … ".join(
            self._texts[passage.source][part.start : part.end]
            for passage in self._passages.get(use, [])
            for part in passage.parts
            if part.certain
        )
        line = to_single_line(words)
        return line if len(line) <= _MAX_WORDS_CHARS else f"{line[:_MAX_WORDS_CHARS].rstrip()}…"


def join_author_citations(
    uses: CitedUses, cited: list[Footnote], write: Callable[[Footnote, str], str]
) -> str:
    """Return `(Frisch 1967, p. 4; Lindauer 1955)`, with a space before it in English.

    Args:
        uses: The citations of the report.
        cited: Those that stand side by side.
        write: Writes a citation with its words: its label, and its place.
    """
    chinese = is_chinese_tag(uses.language)
    comma = "，" if chinese else ", "
    written = [
        write(
            one,
            comma.join(
                filter(None, (uses.labels[one.source - 1], one.place.translate(_UNSAFE_PLACE)))
            ),
        )
        for one in cited
    ]
    return f"（{'；'.join(written)}）" if chinese else f" ({'; '.join(written)})"
