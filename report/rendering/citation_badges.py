"""What the checks found of each citation of a report, as one word with a sign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from report.document import ReportDocument
from report.evidence_spans import CitationUse
from report.labels import describe_badge, format_count, get_badge_label, grade_reason
from report.rendering.html_parts import escape_line
from report.rendering.numbering import NumberedText, count_body_uses, extract_letters

BadgeKind = Literal[
    "verbatim", "supported", "computed", "inference", "weak", "not_found", "contradicted"
]
"""What was found of a citation; the last three are the grades of doubts."""

BADGE_KINDS: tuple[BadgeKind, ...] = get_args(BadgeKind)
_SIGNS: Mapping[BadgeKind, str] = {
    "verbatim": "“”",
    "supported": "✓",
    "computed": "=",
    "inference": "∴",
}
_DOUBT_SIGN = "⚠"


class CitationBadge(NamedTuple):
    """The badge of a citation, and the place of its doubt in the list of doubts, from 0."""

    kind: BadgeKind
    doubt: int | None = None


class CitationBadges:
    """The badges of the citations of a report, by their places in the list of all uses."""

    def __init__(self, document: ReportDocument, shown: NumberedText, language: str) -> None:
        self.language = language
        self.cited_uses = count_body_uses(shown.body)
        self.lines = len(shown.notes)
        doubted = document["doubted"]
        doubts = {extract_letters(one["text"]): at for at, one in reversed([*enumerate(doubted)])}
        grades = [grade_reason(one["reason"]) for one in doubted]
        inferred = {extract_letters(one) for one in document.get("inferred", [])}
        computed = {one["id"] for one in document["sources"] if one["kind"] == "computed"}

        def judge(use: CitationUse) -> CitationBadge:
            """Return the badge of a use: what is doubtful first, then what is not in a source."""
            letters = extract_letters(use.sentence)
            at = doubts.get(letters)
            if at is not None and grades[at] != "supported":
                return CitationBadge(grades[at], at)
            if letters in inferred:
                return CitationBadge("inference")
            if use.quoted:
                return CitationBadge("verbatim")
            return CitationBadge("computed" if computed.issuperset(use.sources) else "supported")

        self.badges = [judge(use) for use in shown.uses]

    def render(self, use: int) -> str:
        """Return the badge of a use, a link to what it means or to the reason of its doubt."""
        kind, doubt = self.badges[use]
        at = BADGE_KINDS.index(kind) + 1
        # The line of a doubt names its reason; beyond a limit one line stands for all others.
        target = f"k{at}" if doubt is None else f"d{min(doubt + 1, self.lines)}"
        return f'<a class="check {kind}" href="#{target}">{self._name(kind)}</a>'

    def render_legend(self) -> Sequence[str]:
        """Return a line for each kind of badge that the citations of the text have."""
        counts = Counter(badge.kind for badge in self.badges[: self.cited_uses])
        return [
            f'<dt id="k{at}"><span class="check {kind}">{self._name(kind)}</span> '
            f"{format_count('citations', counts[kind], self.language)}</dt>"
            f"<dd>{escape_line(describe_badge(kind, self.language))}</dd>"
            for at, kind in enumerate(BADGE_KINDS, start=1)
            if counts[kind]
        ]

    def _name(self, kind: BadgeKind) -> str:
        sign = f'<span aria-hidden="true">{_SIGNS.get(kind, _DOUBT_SIGN)}</span>'
        return f"{sign} {escape_line(get_badge_label(kind, self.language))}"
