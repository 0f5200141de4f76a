"""Checks of a report against the text of its sources: quotations, numbers, names, dates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from difflib import SequenceMatcher
from functools import cached_property

from graph.records import Source
from report.checks.comparison import SourceComparison
from report.checks.contrast import find_contradiction
from report.checks.entailment import has_unknown_name
from report.checks.numbers import (
    is_known_number,
    list_checkable_numbers,
    list_values,
    normalize_numerals,
)
from report.checks.overlap import compute_share
from report.checks.quotation_search import QuotablePages
from report.checks.sections import list_section_kinds
from report.checks.source_text import list_closest_sentences, normalize_statement
from report.checks.verification import (
    QuotationSpan,
    find_quotations,
    find_verbatim,
    list_titles,
)
from report.contradictions import about_statements, find_contradictions
from report.markdown.markdown_blocks import list_siblings
from report.markdown.markers import MARKER, list_cited_ids
from report.verify.check_results import CheckResult
from report.verify.cited_report import DOUBT_SIGN, CitedReport, VerifiedStatement
from report.verify.computed_references import parse_computed_reference
from report.verify.exchanged_numbers import has_exchanged_numbers
from report.verify.given_documents import GivenDocument
from report.verify.structure_checks import CheckedSources, is_total
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import detect_language
from text.words import search_words

_PATTERNS = PatternFile("report.verify", "content_checks.toml")

_AFTER = regex(r"[\"'”’」』»*_)）.,;:!?。，；：！？\s]*((?:\[S[1-9]\d*\][\s,;、]*)+)")
_REASONS = {
    "number": "a number that no cited source has",
    "other_number": "a number that the source has otherwise",
    "date": "a date that no cited source has",
    "calculation": "a calculation that is wrong",
    "exchanged": "a number of another source than the one that it cites",
}
NOT_GIVEN = "its document is not given"
_NEAR = 0.85
_SHORT_PAGE = 600
_MAX_UNCITED = 0.02
_MIN_WORDS = {"en": 6, "zh": 10}
_OWN_SHARE = 0.5
_OTHER_SHARE = 0.75
_COPIED_SHARE = 0.8
_MARGIN = 0.3
_OLD_DAYS = 730


class ContentChecker:
    """Compares a report with its documents.

    Args:
        report: The report.
        sources: Its documents.
        today: The date by which sources are recent.
    """

    def __init__(self, report: CitedReport, sources: CheckedSources, today: date) -> None:
        self.report, self.sources, self.today = report, sources, today
        self.texts = {name: one.text for name, one in sources.documents.items()}
        listed = {one.id: one for one in report.references}
        names = {
            name: f"{listed[name].title or one.title}\n{one.name}"
            for name, one in sources.documents.items()
        }
        self.titles = _list_all_titles(report, sources, names)
        asked = "\n".join(one.text for one in report.blocks if one.kind == "heading")
        self.comparison = SourceComparison(self.texts, names, asked, list(self.texts))
        computed = (one.id for one in report.references if parse_computed_reference(one))
        self.comparison.computed = frozenset(computed) & self.texts.keys()
        self.pages = QuotablePages(self.texts)
        kinds = list_section_kinds(report.blocks)
        self.exempt = {at for at, kind in enumerate(kinds) if kind} | set(_list_framing(report))
        """The blocks that judge, say what is not known, or only repeat the question."""

    @cached_property
    def statements(self) -> list[VerifiedStatement]:
        """The statements that claim something."""
        return [one for one in self.report.statements if any(map(str.isalnum, one.text))]

    def run(self) -> list[CheckResult]:
        """Return the results of all these checks."""
        quoted, right = self.check_quotations()
        self.check_attribution(right)
        numbers = [self.check_numbers(), self.check_uncited(), self.check_names()]
        return [
            self.check_documents(),
            quoted,
            right,
            *numbers,
            self.check_dates(),
            self.check_contradictions(),
        ]

    def check_documents(self) -> CheckResult:
        """Check that the document of each source is there, and says something (C2)."""
        result = CheckResult("C2")
        listed = [one for one in self.report.references if one.listed]
        for one in listed or self.report.references:
            document = self.sources.documents.get(one.id)
            name = f"[{one.label}] {one.title}" if one.label else one.title or one.address
            if document is None and not self.sources.complete:
                result.skip(NOT_GIVEN)
                continue
            wrong = _find_fault(document) if document else "its document is not among those given"
            if wrong:
                result.add(one.line, wrong, name)
            result.checked += 1
        if not self.report.references:
            result.skip("the report names no sources")
        elif all(one.altered is None for one in self.sources.documents.values()):
            result.note = "no hashes to compare"
        return result

    def check_quotations(self) -> tuple[CheckResult, CheckResult]:
        """Check that quotations are word for word in the source that they name (C6, C7)."""
        exact, right = CheckResult("C6"), CheckResult("C7")
        for one in self.statements:
            for quotation, named in self._list_quotations(one):
                self._check_quotation(one, quotation, named, exact, right)
        if not exact.checked and not exact.unchecked:
            exact.skip("there is no quotation with a source", 0)
        return exact, right

    def _list_quotations(
        self, statement: VerifiedStatement
    ) -> Iterator[tuple[QuotationSpan, list[str]]]:
        """Yield the quotations of a statement with the ids that they are attributed to."""
        marks = "" if statement.cited else "".join(f"[{one}]" for one in statement.near)
        if not marks and not statement.cited and self.report.style == "list":
            marks = "".join(f"[{one.id}]" for one in self.report.references)
        text = statement.text + marks
        for quotation in find_quotations(text, self.titles):
            after = _AFTER.match(statement.text, quotation.end)
            following = list_cited_ids(after[1]) if after else []
            yield quotation, following or list(dict.fromkeys(list_cited_ids(text)))

    def _check_quotation(
        self,
        statement: VerifiedStatement,
        quotation: QuotationSpan,
        named: Sequence[str],
        exact: CheckResult,
        right: CheckResult,
    ) -> None:
        given = [name for name in named if name in self.texts]
        found = find_verbatim(quotation, given, self.pages) if self.texts else None
        if found and found.source in named:
            exact.checked += 1
            right.checked += 1
        elif len(given) < len(set(named)):
            exact.skip(NOT_GIVEN)
        elif found:
            exact.checked += 1
            right.checked += 1
            where = self._label(found.source)
            right.add(
                statement.line, f"the quotation is of {where}: “{quotation.words}”", statement.text
            )
        elif quotation.words.strip() not in self.comparison.asked:
            exact.checked += 1
            near = self._find_near(quotation.words, given)
            exact.add(
                statement.line, f"not in the source: “{quotation.words}”{near}", statement.text
            )

    def _find_near(self, words: str, named: Sequence[str]) -> str:
        """Return what a source says nearly so; it does not count."""
        for name in named:
            for sentence in list_closest_sentences(words, self.comparison.get_source(name))[:3]:
                matcher = SequenceMatcher(None, words, sentence, autojunk=False)
                size = sum(one.size for one in matcher.get_matching_blocks())
                if size >= _NEAR * len(words):
                    return f" – near: “{' '.join(sentence.split())[:200]}”"
        return ""

    def _label(self, name: str) -> str:
        label = next((one.label for one in self.report.references if one.id == name), "")
        return f"[{label}]" if label else self.sources.documents[name].name

    def _get_cited(self, statement: VerifiedStatement) -> list[str]:
        """Return the ids that a statement is compared with; its paragraph's where it has none."""
        if self.report.style == "list":
            return list(self.texts)
        return list(statement.cited or statement.near)

    def check_attribution(self, result: CheckResult) -> None:
        """Check that no statement is of another source than it cites (C7)."""
        for one in self._list_claims():
            cited = list(one.cited)
            if not cited or not all(name in self.texts for name in cited):
                if cited:
                    result.skip(NOT_GIVEN)
                continue
            result.checked += 1
            if DOUBT_SIGN in one.text:
                continue
            other = self._find_other(one, cited)
            if other:
                where = self._label(other)
                result.add(one.line, f"{where} says this, and not the source cited", one.text)
            elif self.comparison.is_miscited(one.text, cited):
                result.add(one.line, "its source has few of these words", one.text, warning=True)
        if not result.checked and not result.unchecked:
            result.skip("no sentence cites a source")

    def _find_other(self, statement: VerifiedStatement, cited: Sequence[str]) -> str:
        """Return another source with most words of a statement, of which the cited have few."""
        said = normalize_statement(statement.text)
        wanted = set(search_words(said))
        if len(wanted) < _MIN_WORDS[detect_language(said)]:
            return ""

        def share(name: str) -> float:
            return compute_share(wanted, self.comparison.get_source(name).positions)

        own, alike = max(map(share, cited)), self.comparison.is_comparable(said, cited)
        if own > _OWN_SHARE:
            return ""
        others = {name: share(name) for name in self.texts if name not in cited}
        best = max(others, key=others.__getitem__, default="")
        least = max(_OTHER_SHARE, own + _MARGIN) if alike else _COPIED_SHARE
        return best if best and others[best] >= least else ""

    def _list_claims(self) -> Iterator[VerifiedStatement]:
        return (one for one in self.statements if one.block not in self.exempt)

    def check_numbers(self) -> CheckResult:
        """Check that the numbers of cited sentences are in their sources (C8)."""
        result = CheckResult("C8")
        told = 0
        for one in self._list_claims():
            if not list_checkable_numbers(normalize_statement(one.text)):
                continue
            cited = self._get_cited(one)
            given = [name for name in cited if name in self.texts]
            if not cited:
                continue
            beside = (
                list_siblings(self.report.blocks, one.block) if self.comparison.computed else []
            )
            self.comparison.siblings = [normalize_statement(block.text) for block in beside]
            wrong = self._find_wrong_number(one.text, given) if given else None
            wrong = wrong or self._find_exchanged(one)
            if not given or (wrong and len(given) < len(cited) and wrong != "calculation"):
                result.skip(NOT_GIVEN)
                continue
            result.checked += 1
            if wrong in _REASONS and DOUBT_SIGN in one.text:
                told += 1
            elif wrong in _REASONS:
                result.add(one.line, _REASONS[wrong], one.text)
        result.note = f"{told} told by the report itself" if told else ""
        if not result.checked and not result.unchecked:
            result.skip("no cited sentence has a number", 0)
        return result

    def _find_exchanged(self, statement: VerifiedStatement) -> str | None:
        """Return what is wrong where a number is of another source than its part cites."""
        given = all(name in self.texts for name in statement.cited)
        wrong = given and has_exchanged_numbers(
            statement.text, statement.row, self.texts.__getitem__
        )
        return "exchanged" if wrong else None

    def _find_wrong_number(self, statement: str, cited: Sequence[str]) -> str | None:
        """Return what is wrong with a number of a statement: no source has it, or not there."""
        wrong = self.comparison.find_exact_mismatch(statement, cited, ())
        said = normalize_statement(statement)
        if wrong or not self.comparison.is_comparable(said, cited):
            return wrong
        sources = [self.comparison.get_source(name) for name in cited]
        near = " ".join(one for source in sources for one in list_closest_sentences(said, source))
        values = sorted({*list_values(near), *list_values(normalize_numerals(near))})
        if all(is_known_number(one, values) for one in list_checkable_numbers(said)):
            return None
        made = self.comparison.list_derivable_numbers(said, cited)
        about = self.comparison.get_nameable_text(cited)
        differs = find_contradiction(statement, sources, about, made)
        return differs if differs in _REASONS else None

    def check_uncited(self) -> CheckResult:
        """Check that at most two in a hundred sentences with a number have no source (C9)."""
        result = CheckResult("C9")
        if self.report.style in ("list", "none"):
            result.skip("the text has no markers")
            return result
        known = self.comparison.asked
        for one in self._list_claims():
            said = normalize_statement(one.text)
            numbers = list_checkable_numbers(said)
            if not numbers or said.strip() in known:
                continue
            result.checked += 1
            if not (one.near or self._has_other_ground(one)):
                result.add(one.line, "a number without a source", one.text)
        bare = len(result.findings)
        result.note = f"{bare} of {result.checked}" if bare else ""
        if bare <= _MAX_UNCITED * result.checked:
            result.findings = [one for one in result.findings if one.warning]
        if not result.checked:
            result.skip("no sentence has a number", 0)
        return result

    def _has_other_ground(self, statement: VerifiedStatement) -> bool:
        """Tell whether a statement is computed, or leads to a list or a table with marks."""
        if self.comparison.is_valid_calculation(statement.text):
            return True
        if statement.row and is_total(statement.text):
            return True
        text = MARKER.sub("", statement.text).rstrip("*_ ")
        if not text.endswith((":", "：")):
            return False
        after = self.report.blocks[statement.block + 1 : statement.block + 5]
        return any(MARKER.search(one.text) for one in after)

    def check_names(self) -> CheckResult:
        """Tell which names of cited sentences no source has (C10)."""
        result = CheckResult("C10")
        for one in self._list_claims():
            cited = [name for name in one.cited if name in self.texts]
            if not cited or len(cited) < len(one.cited):
                result.unchecked += bool(one.cited)
                continue
            said = normalize_statement(one.text)
            result.checked += 1
            if not self.comparison.is_comparable(said, cited):
                continue
            sources = [self.comparison.get_source(name) for name in cited]
            about = self.comparison.get_nameable_text(cited)
            if has_unknown_name(said, sources, about):
                result.add(one.line, "a name that its sources do not have", one.text)
        if not result.checked:
            result.skip(NOT_GIVEN if result.unchecked else "no sentence cites a source", 0)
        return result

    def check_dates(self) -> CheckResult:
        """Tell where something is called the latest, and the newest source is old (C16)."""
        result = CheckResult("C16")
        dates = [one.published for one in self.sources.documents.values() if one.published]
        claims = [
            one for one in self._list_claims() if one.cited and _PATTERNS.latest.search(one.text)
        ]
        if not claims:
            result.skip("nothing is called the latest", 0)
            return result
        if not dates:
            result.skip("no source has a date", len(claims))
            return result
        newest = max(dates)
        days = (self.today - _to_date(newest)).days
        result.checked, result.note = len(claims), f"newest source: {newest}"
        if days > _OLD_DAYS:
            for one in claims:
                result.add(one.line, f"the newest source is of {newest}", one.text)
        return result

    def check_contradictions(self) -> CheckResult:
        """Tell where sources contradict each other in what the report uses (C17)."""
        result = CheckResult("C17")
        if len(self.texts) < 2:
            result.skip("there are no two documents to compare")
            return result
        sources = {
            name: Source(id=name, page=name, title=one.title, location=one.name, kind="file")
            for name, one in self.sources.documents.items()
        }
        text = "\n".join(MARKER.sub("", one.text) for one in self.statements)
        result.checked = len(self.texts)
        for found in find_contradictions(self.texts, sources, about_statements(text)):
            one, other = self._label(found["one"]), self._label(found["other"])
            result.add(0, f"{one}: “{found['one_says']}” – {other}: “{found['other_says']}”")
        return result


def _find_fault(document: GivenDocument) -> str:
    """Return what is wrong with a document, or nothing."""
    if document.altered:
        return "its stored text has been altered"
    if not document.text.strip():
        return "its document has no text"
    short = len(document.text) < _SHORT_PAGE
    gone = short and _PATTERNS.not_there.search(document.text)
    return "its document says that the page is not there" if gone else ""


def _list_all_titles(
    report: CitedReport, sources: CheckedSources, names: Mapping[str, str]
) -> Collection[str]:
    """Return the titles of all sources, which are no quotations."""
    more = {f"\0{one.id}": f"{one.title}\n" for one in report.references}
    given = {f"\1{name}": f"{one.title}\n" for name, one in sources.documents.items()}
    return list_titles({**names, **more, **given})


def _list_framing(report: CitedReport) -> Iterator[int]:
    """Yield the blocks that are the question or a notice: all in italics, or quoted by Dossier."""
    for at, block in enumerate(report.blocks):
        text = block.text.strip()
        italic = text.startswith("*") and text.endswith("*") and not text.startswith("**")
        if (italic and not MARKER.search(text)) or (block.kind == "quote" and report.own):
            yield at


def _to_date(written: str) -> date:
    parts = [int(one) for one in written.split("T")[0].split("-")[:3]]
    return date(*[*parts, 1, 1][:3])
