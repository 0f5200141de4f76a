"""Compare a statement with its sources: words, numbers, dates, names, and what each is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from report.checks.calculations import CalculationOutcome, has_wrong_calculation, is_derivable
from report.checks.caveats import is_stated_computation, list_carried_claims
from report.checks.claims import (
    classify_statement,
    has_attribution,
    has_back_reference,
    is_about_source,
    is_assertion,
    strip_caption_label,
    strip_person_attribution,
    strip_transition,
)
from report.checks.contrast import find_contradiction, find_overstatement, is_denied_by_sources
from report.checks.entailment import (
    NEAR_SHARE,
    check_framing_line,
    find_unsupported_reason,
    has_most_words,
    has_unknown_name,
)
from report.checks.number_placement import has_other_count
from report.checks.numbers import find_unsupported_number, list_values, strip_calculations
from report.checks.overlap import (
    MIN_UNRELATED_WORDS,
    compute_share,
    cut_at_first_citation,
    has_all_words,
    has_other_subject,
    is_unrelated,
)
from report.checks.printed_results import (
    PrintedLine,
    is_statement_printed,
    split_printed_lines,
)
from report.checks.quantities import has_unknown_date
from report.checks.source_contents import ANSWERS, SourceContents
from report.checks.source_text import (
    list_near_sentences,
    normalize_statement,
    unmark_quotations,
)
from report.checks.swapped_values import has_swapped_value
from report.checks.verification import list_titles, plain_title
from report.checks.word_changes import detect_negation, tokenize
from report.citations import SECTION_SEPARATOR
from report.evidence_spans import extract_name_terms
from report.markdown.code import find_unknown_identifier
from report.markdown.markers import MARKER, QUOTE, QUOTED_WORDS, blank_quotations, list_cited_ids
from text.regex import regex
from text.script import detect_language, simplify_chinese
from text.words import search_words

# Of a statement that is of another source, its own sources have at most this share.
_MAX_FOREIGN_SHARE = {"en": 1 / 2, "zh": 1 / 3}
# The "no" of an option or a cell is a value, and denies nothing.
_VALUE = regex(
    r"(?<==)[<\[]?[\w-]+(?:\\?\|[\w-]+)+|[\w-]+(?:\\\|[\w-]+)+|(?<==)(?:no|none|never)\b"
    r"|^\s*(?:no|none)(?=\s*(?:$|[(（\[]))",
    re.IGNORECASE,
)
_LABEL = regex(r"\s*(?:[-*]\s+)?\*\*([^*\d]{1,60}[.。])\*\*\s*(?=\S)")


LEAD_SHARE = {"en": 1 / 2, "zh": 1 / 5}
"""A sentence without a source stays beside cited ones that have more of its words."""

BRIEF_LEAD_FACTOR = {"en": 1.5, "zh": 2}
"""How many times fewer words may be known of a brief sentence that leads on to a cited one."""

MAX_BRIEF_WORDS = {"en": 8, "zh": 14}
"""So many words at most has a brief sentence."""

_MAX_WORDS_BESIDE_TITLES = 6

_MIN_TOLD_WORDS = 2
"""So many words of the person's answers has a statement that tells them."""


class SourceComparison(SourceContents):
    """Compares the statements of one text with its sources.

    Args:
        texts: The full text of each source by its id.
        names: The title and the place of each source by its id.
        asked: What may be named although no source names it: the question, and the headings.
        cited: The ids of the sources that the text cites.
        told: What the person answered to questions of the run, or nothing.
    """

    def __init__(
        self,
        texts: Mapping[str, str],
        names: Mapping[str, str],
        asked: str,
        cited: Sequence[str],
        told: str = "",
    ) -> None:
        super().__init__(texts, names, asked, told)
        self.cited = cited
        self.around = ""
        """The paragraph that is looked at, and the one before it."""
        self.near: list[str] = []
        """The sources that this paragraph cites."""
        self.above: list[str] = []
        """What names the subject of the paragraph: its heading, what leads on to its table."""
        self.siblings: list[str] = []
        """The other items of the list, or rows of the table, that is looked at."""
        self.computed: frozenset[str] = frozenset()
        """The ids of the sources that programs printed."""

    def find_other_source(self, statement: str, cited: Sequence[str]) -> str:
        """Return the source that best bears a statement out which does not cite it, or nothing.

        It has all names in code and settings of the statement.
        """
        said = normalize_statement(statement)
        wanted = set(search_words(strip_transition(said)))
        named = extract_name_terms(statement)
        others = [name for name in dict.fromkeys([*self.cited, *self.texts]) if name not in cited]
        having = (
            name
            for name in others
            if self.source_has_words(statement, name)
            and named <= self.get_source(name).positions.keys()
            and self.is_attributable(statement, name)
        )
        bearing = [name for name in having if not self.find_contrast(statement, name)]

        def share(name: str) -> float:
            return compute_share(wanted, self.get_source(name).positions)

        return max(bearing, key=share, default="")

    def is_attributable(self, statement: str, name: str, near: Sequence[str] = ()) -> bool:
        """Tell whether the words of a statement that a source has say clearly that it is its own.

        A few common words do not where other sources have them, too, unless the paragraph cites
        the source. A statement below a heading that names what only other sources are about is of
        one of those.
        """
        said = normalize_statement(statement)
        if not (name in near or self.is_distinctive(statement) or self.is_only_source(said, name)):
            return False
        title, text = self.names.get(name, ""), self.get_source(name).text
        others = [self.names.get(other, "") for other in self.texts if other != name]
        return not any(
            has_other_subject(one, [text], [title], others) for one in [*self.above, said]
        )

    def only_names_sources(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether a statement says no more than the titles of the sources that it cites.

        Such is "Documentation: “borg prune” [S3], “borg compact” [S1]".
        """
        titles = list_titles({name: self.names[name] for name in cited if name in self.names})
        said = MARKER.sub("", statement)
        rest = QUOTED_WORDS.sub(
            lambda words: "" if plain_title(words[words.lastgroup or 0]) in titles else words[0],
            said,
        )
        left = [word for word in search_words(rest) if not word.isdigit()]
        return rest != said and len(left) <= _MAX_WORDS_BESIDE_TITLES

    def is_miscited(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether the sources of a statement have few of its words, and not its numbers.

        A quotation is found already, and a sentence that says whose words it tells is believed. A
        source that has all names in code and settings of a statement is not a wrong one, in
        whatever words it says the rest; nor are the words of its title missing.
        """
        said = normalize_statement(statement)
        if QUOTE.search(statement) or has_attribution(said) or not self.is_comparable(said, cited):
            return False
        if list_values(said) and not self.has_unsupported_number(said, cited):
            return False
        named = extract_name_terms(statement)
        if named and any(named <= self.get_source(name).positions.keys() for name in cited):
            return False
        titles = set(search_words("\n".join(self.names.get(name, "") for name in cited)))
        wanted = set(search_words(strip_transition(said))) - titles
        if len(wanted) < MIN_UNRELATED_WORDS[detect_language(said)]:
            return len(wanted) > 1 and not any(
                wanted & self.get_source(name).positions.keys() for name in cited
            )
        shares = (compute_share(wanted, self.get_source(name).positions) for name in cited)
        return max(shares, default=0.0) <= _MAX_FOREIGN_SHARE[detect_language(said)]

    def find_exact_mismatch(
        self, statement: str, cited: Sequence[str], known: Sequence[float]
    ) -> str | None:
        """Return which exact part of a statement its sources have otherwise, or None.

        A number that its writer says to have computed is verified, and the rest is the writer's.
        """
        said = normalize_statement(statement)
        if has_wrong_calculation(said):
            return "calculation"
        if self.has_swapped_value(statement, cited):
            return "other_number"
        if self.has_unsupported_number(said, cited, known):
            return self.check_unknown_number(said, cited, known)
        if self.has_unknown_version(said, cited):
            return "number"
        if find_unknown_identifier(blank_quotations(statement), self.list_code_texts(cited)):
            return "name"
        dates = [self.get_source_numbers(name).dates for name in cited]
        named = "\n".join(self.names.get(name, "") for name in cited)
        return "date" if has_unknown_date(self.dates.strip(said), dates, named) else None

    def strip_label(self, statement: str, cited: Sequence[str]) -> str:
        """Return a statement without a bold label that it begins with, if that claims nothing."""
        label = _LABEL.match(statement)
        negated = label and detect_negation(tokenize(label[1])) is not False
        if (
            not label
            or negated
            or is_assertion(label[1])
            or not self.is_comparable(label[1], cited)
        ):
            return statement
        sources = [self.get_source(name) for name in cited]
        unknown = has_unknown_name(label[1], sources, self.get_nameable_text(cited))
        return statement if unknown else statement[label.end() :]

    def find_difference(
        self, statement: str, cited: Sequence[str], known: Sequence[float] = ()
    ) -> str:
        """Return in what a statement differs from the sources it cites, or nothing."""
        inexact = self.find_exact_mismatch(statement, cited, known)
        if inexact is not None:
            return inexact
        statement = _VALUE.sub(" ", self.strip_label(statement, cited))
        said = normalize_statement(statement)
        sources = [self.get_source(name) for name in cited]
        if not self.is_comparable(said, cited):
            foreign = self.has_unknown_latin_name(said, cited)
            other = self.check_subject(statement) or find_overstatement(said, sources, alike=False)
            return "name" if foreign else other
        about = self.get_nameable_text(cited)
        bare = strip_calculations(said)
        made = self.list_derivable_numbers(said, cited)
        different = find_contradiction(self.dates.strip(bare), sources, about, made)
        if different == "negation" and QUOTE.search(statement):
            # What it denies may be in the words that it quotes.
            different = find_contradiction(unmark_quotations(statement), sources, about, made)
        if different == "other_number" and self.is_printed(said, cited):
            different = ""
        if classify_statement(said) == "open":
            return ("" if different == "name" else different) or self.check_carried_claims(
                statement
            )
        if not different and is_denied_by_sources(said, sources):
            return "negation"
        different = different or self.check_subject(statement) or find_overstatement(said, sources)
        own = QUOTE.search(statement) or is_about_source(said) or classify_statement(said) == "none"
        if different or own or bare != said:
            return different
        strange = "strange" if self.is_unrelated_to(statement, cited) else ""
        reason = strange or self.find_unsupported_reason(statement, cited)
        own = self.quotes_code(statement, cited) or self.dates.has_computed(said)
        return "" if reason == "strange" and own else reason

    def find_unfounded_detail(self, statement: str, cited: Sequence[str], *, free: bool) -> str:
        """Return why an inference is doubtful: a detail of it that no source has, or nothing.

        What it concludes is its writer's; its numbers, dates and names are of some source, and what
        it nearly copies from the sources that it cites is as they have it.

        Args:
            statement: The statement.
            cited: The sources that it cites.
            free: Whether its numbers may be its writer's, too.
        """
        said, every = normalize_statement(statement), self.with_answers(statement, [*self.texts])
        inexact = self.find_exact_mismatch(statement, every, ()) if every else None
        if inexact and not (free and inexact in ("number", "other_number")):
            return inexact
        like = [name for name in every if self.is_comparable(said, [name])]
        said = normalize_statement(self.strip_label(statement, like))
        about = self.get_nameable_text(every)
        if like and has_unknown_name(said, [self.get_source(name) for name in every], about):
            return "unknown"
        same = [self.get_source(name) for name in cited if name in like]
        made = self.list_derivable_numbers(said, every) if same else []
        differs = find_contradiction(statement, same, about, made) if same else ""
        return "" if differs == "strength" else differs

    def is_printed(self, said: str, cited: Sequence[str]) -> bool:
        """Tell whether programs printed all numbers of a statement of what it gives them for."""
        lines = self.list_printed_lines(cited)
        return bool(lines) and is_statement_printed(said, "\n".join(self.above), self.asked, lines)

    def has_swapped_value(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether a statement gives a name the number that programs printed of another."""
        if not cited or not self.computed.issuperset(cited):
            return False
        printed = tuple(self.texts[name] for name in cited)
        return has_swapped_value(normalize_statement(statement), self.siblings, printed)

    def list_printed_lines(self, cited: Sequence[str]) -> list[PrintedLine]:
        """Return the lines of sources that programs printed; none if one is of another kind."""
        if not self.computed.issuperset(cited):
            return []
        return [line for name in cited for line in split_printed_lines(self.texts[name])]

    def list_code_texts(self, cited: Sequence[str]) -> list[str]:
        """Return where a name in code may be: sources, other parts of them, the question."""
        documents = {
            name: self.names.get(name, "").split(SECTION_SEPARATOR)[0] for name in self.texts
        }
        wanted = {documents.get(name, "") for name in cited} - {""}
        beside = [name for name, document in documents.items() if document in wanted]
        named = dict.fromkeys([*cited, *self.near, *beside])
        found = [self.known[name] for name in named if name in self.known]
        return [self.get_nameable_text(cited), *found]

    def with_answers(self, statement: str, names: Sequence[str]) -> list[str]:
        """Return sources, and the person's answers where a statement says that it tells them."""
        told = self.get_source(ANSWERS).positions if ANSWERS in self.known else {}
        said = strip_person_attribution(statement) if told else statement
        shared = set(search_words(said)) & told.keys() if said != statement else set[str]()
        return [*names, *([ANSWERS] if len(shared) >= _MIN_TOLD_WORDS else [])]

    def find_answer_fault(self, statement: str) -> str | None:
        """Return in what a statement without a source differs from the person's answers.

        Returns:
            Nothing where they said it, and None where the statement does not tell what they said.
        """
        if not self.with_answers(statement, []):
            return None
        said = normalize_statement(strip_person_attribution(statement))
        if inexact := self.find_exact_mismatch(said, [ANSWERS], ()):
            return inexact
        source, about = self.get_source(ANSWERS), self.get_nameable_text([ANSWERS])
        near = has_most_words(said, source, NEAR_SHARE)
        return "" if near and not has_unknown_name(said, [source], about) else "no_source"

    def check_subject(self, statement: str) -> str:
        """Return the reason to doubt a statement whose first citation is about something else."""
        first = cut_at_first_citation(statement)
        cited = [name for name in dict.fromkeys(list_cited_ids(first)) if name in self.texts]
        said = normalize_statement(first)
        sources = [self.get_source(name) for name in cited]
        near = list_near_sentences(said, sources, alike=self.is_comparable(said, cited))
        titles = [self.names.get(name, "") for name in cited]
        others = [self.names.get(name, "") for name in self.texts if name not in cited]
        if not self.is_comparable(said, cited) and self.begins_with_word(said):
            return ""
        return "subject" if cited and has_other_subject(said, near, titles, others) else ""

    def is_unrelated_to(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether sources have hardly a word of a statement.

        What follows its last citation may be of any source, and what several sources support
        together is compared as a whole.
        """
        end, about = _find_citation_end(statement), self.get_nameable_text(cited)
        said, rest = normalize_statement(statement[:end]), normalize_statement(statement[end:])
        sources = [self.get_source(name) for name in cited]
        return is_unrelated(said, sources, about, whole=len(cited) > 1) or is_unrelated(
            rest, [self.get_source(name) for name in self.texts], about
        )

    def find_unsupported_reason(self, statement: str, cited: Sequence[str]) -> str:
        """Return why sources do not support a statement up to its last citation, or nothing."""
        said = normalize_statement(statement[: _find_citation_end(statement)])
        said = self.dates.strip(said) if self.dates.has_computed(said) else said
        known = self.list_source_values(cited)
        if self.reckoner.evaluate(said, known, cited=True) == "holds":
            return ""
        sources, about = [self.get_source(name) for name in cited], self.get_nameable_text(cited)
        computes = any(number not in known for number in self.list_derivable_numbers(said, cited))
        computes = computes or self.is_printed(said, cited)
        return find_unsupported_reason(said, sources, about, computes=computes)

    def check_framing_line(self, statement: str, question: str) -> str:
        """Return what is wrong in a line that only names what follows, or nothing.

        It may name what the question and the titles of the sources name, and no other heading.
        """
        bare = strip_caption_label(normalize_statement(statement))
        if not self.texts or not self.is_comparable(bare, [*self.texts]):
            return ""
        titles = (self.names.get(name, "") for name in self.texts)
        about = "\n".join([simplify_chinese(question), *titles])
        known = [self.get_source_numbers(name).numbers for name in self.texts]
        more = sorted([*list_values(about), *self.reckoner.results])
        if find_unsupported_number(self.dates.strip(bare), known, more):
            return "number"
        return check_framing_line(bare, [self.get_source(name) for name in self.texts], about)

    def is_near_sources(self, statement: str) -> bool:
        """Tell whether a statement that no source bears out may be of one in other words."""
        said = normalize_statement(statement)
        names = [name for name in self.texts if self.is_comparable(said, [name])]
        if not names or self.has_unsupported_number(said, names):
            return False
        sources, about = [self.get_source(name) for name in names], self.get_nameable_text(names)
        near = any(has_most_words(said, source, NEAR_SHARE) for source in sources)
        return near and not has_unknown_name(said, sources, about)

    def belongs_to_next(
        self, statement: str, after: str, beside: str, named: Sequence[str]
    ) -> bool:
        """Tell whether a statement shares enough words with its surroundings to stay."""
        lead = normalize_statement(statement)
        around = [normalize_statement(beside), normalize_statement(after), self.asked]
        known = set(search_words("\n".join(around)))
        sources = [self.get_source(name).positions for name in dict.fromkeys(named)]
        words = set(search_words(strip_transition(lead)))
        shared = [one for one in words if one in known or any(one in source for source in sources)]
        tongue = detect_language(lead)
        refers = has_back_reference(after) and not has_back_reference(lead)
        brief = len(words) <= MAX_BRIEF_WORDS[tongue]
        divisor = 2 if refers else BRIEF_LEAD_FACTOR[tongue] if brief else 1
        enough = len(shared) > LEAD_SHARE[tongue] / divisor * len(words)
        return enough and not self.has_unsupported_number(lead, named)

    def find_contrast(self, statement: str, name: str) -> str:
        """Return in what a statement differs from one source, or nothing."""
        made = self.list_derivable_numbers(normalize_statement(statement), [name])
        return find_contradiction(
            statement, [self.get_source(name)], self.get_nameable_text([name]), made
        )

    def find_mismatch(self, statement: str, name: str) -> str:
        """Return why one source is none that a statement may be given, or nothing."""
        different = self.find_contrast(statement, name) or self.find_difference(statement, [name])
        source, said = self.get_source(name), normalize_statement(statement)
        copied = different or has_all_words(said, source, self.names.get(name, ""))
        return different or ("" if copied else "no_source")

    def check_carried_claims(self, statement: str) -> str:
        """Return the reason to doubt what stands beside the remark that something was not found."""
        for claim in list_carried_claims(normalize_statement(statement)):
            having = (one for one in self.texts if self.source_has_words(claim, one))
            if all(self.find_contrast(claim, one) for one in having):
                return "carried"
        return ""

    def is_valid_calculation(self, statement: str) -> bool:
        """Tell whether a statement is a calculation with numbers of the sources, which holds."""
        said = normalize_statement(statement)
        sums = re.search(r"\d\s*[=＝]\s*\d", said) and not has_wrong_calculation(said)
        return bool(sums) and not self.has_unsupported_number(said, list(self.texts))

    def check_unknown_number(
        self, statement: str, cited: Sequence[str], known: Sequence[float]
    ) -> str:
        """Return the reason to doubt a number that the sources of a statement do not have.

        There is none where it was computed from others that they or the text have.
        """
        values = sorted([*self.list_source_values(cited), *known])
        if self.reckoner.evaluate(statement, values, cited=True) == "holds":
            return ""
        if is_stated_computation(statement):
            return self.check_stated_computation(statement)
        comparable = self.is_comparable(statement, cited)
        sources = [self.get_source(name) for name in cited] if comparable else []
        found = find_contradiction(statement, sources, self.get_nameable_text(cited))
        counted = has_other_count(statement, sources, self.asked)
        other = found == "other_number" or counted
        return "other_number" if other else "number"

    def evaluate_calculation(self, statement: str, *, row: bool = False) -> CalculationOutcome:
        """Return what becomes of a calculation in a statement that names no source."""
        known = self.list_source_values(self.cited or list(self.texts))
        return self.reckoner.evaluate(statement, known, row=row)

    def check_stated_computation(self, statement: str) -> str:
        """Return the reason to doubt a number that a writer computed from others nearby."""
        if not is_stated_computation(statement):
            return ""
        known = self.list_source_values(self.cited)
        around = self.around.replace(statement.strip(), " ")
        return "" if is_derivable(statement, around, known) else "calculation"


def _find_citation_end(statement: str) -> int:
    return max((marker.end() for marker in MARKER.finditer(statement)), default=len(statement))
