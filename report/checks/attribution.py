"""Give every sentence the source that supports it, and take out those that none does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from functools import cached_property, partial
from itertools import accumulate, chain, zip_longest
from typing import NamedTuple

from graph.records import DoubtedSentence, RemovedSentence, ReportQuote
from report.checks.calculations import iter_all_numbers
from report.checks.caveats import (
    asks_for_settings,
    is_labelled_computed,
    is_own_inference,
    is_suggestion,
)
from report.checks.claims import (
    classify_statement,
    has_summary_reference,
    is_assertion,
    is_introduction,
    is_plain_claim,
    is_summary_opener,
    list_dangling_statements,
)
from report.checks.contrast import list_denied_by_quotations
from report.checks.date_sums import KnownDates
from report.checks.numbers import (
    compute_few_results,
    list_checkable_numbers,
    list_values,
)
from report.checks.second_reader import NO_RULING, Ruling
from report.checks.sections import find_opening_answer, list_section_kinds, recommends
from report.checks.source_text import normalize_statement, unmark_quotations
from report.checks.table_cells import CellComparison
from report.checks.verification import VerifiedText, list_titles, verify_citations
from report.markdown.cited_parts import list_cited_parts
from report.markdown.code import list_code_lines, list_unknown_code_lines, to_inline_code
from report.markdown.markdown_blocks import (
    BlockContext,
    MarkdownBlock,
    drop_removed_blocks,
    get_block_context,
    get_text_below,
    iter_statements,
    join_blocks,
    list_cited_in_blocks,
    list_nearby_rows,
    list_prose_blocks,
    list_siblings,
    list_statements,
    parse_blocks,
    split_cells,
    split_statements,
    statement_key,
)
from report.markdown.markers import MARKER, add_marker, list_cited_ids, replace_markers
from text.question_types import asks_judgement


class CheckedText(NamedTuple):
    """A text in which every sentence has a source, or says that it has none."""

    body: str
    cited: list[str]
    quotes: list[ReportQuote]
    removed: list[RemovedSentence]
    doubted: list[DoubtedSentence]
    """Sentences that are in it although something in them is not what their sources say."""


def enforce_citations(
    body: str,
    texts: Mapping[str, str],
    question: str = "",
    names: Mapping[str, str] | None = None,
    ruling: Ruling = NO_RULING,
    told: str = "",
    today: date | None = None,
    computed: Collection[str] = (),
) -> CheckedText:
    """Return `body` without what its sources do not say, each of its claims with a source.

    It is checked first (`report/checks/verification.py`). Then a sentence that names no source gets
    one that says all of it in the same words (`report/checks/overlap.py`); those that its paragraph
    cites come first. Where it is worded in another way, common words could be of several sources,
    or a heading names another subject, it gets none and is doubted. A claim that no source bears
    out is taken out. Let be are headings, questions, what leads on to a list, and whatever says
    what was not found, or that it is an inference or not sure. A sentence whose sources say
    something else is named in `doubted`; so is one that is given to another source, and a line of
    code with a number or a name that no source has. Words are only compared with sources in the
    language of the sentence.

    Args:
        body: Markdown as a model wrote it.
        texts: The full text of each source by its id.
        question: What was asked; what it names may be named.
        names: The title and the place of each source by its id; where it is cited, so may they.
        ruling: What a second reader says of its statements.
        told: What the person answered; a sentence that says so ("by your answer") has no source.
        today: The day on which it is written, which it may name.
        computed: The ids of the sources that programs printed.
    """
    checked = verify_citations(body, texts, list_titles(names or {}))
    prover = _CitationEnforcer(body, checked, texts, question, names or {}, ruling, told)
    prover.dates, prover.computed = KnownDates(today), frozenset(computed)
    return prover.enforce(checked.quotes, checked.removed)


class _CitationEnforcer(CellComparison):
    """Proves the sentences of one text."""

    def __init__(
        self,
        body: str,
        checked: VerifiedText,
        texts: Mapping[str, str],
        question: str,
        names: Mapping[str, str],
        ruling: Ruling,
        told: str,
    ) -> None:
        self.body, self.ruling, self.question = body, ruling, question
        self.parts = parse_blocks(checked.body)
        self.kinds, self.judges = list_section_kinds(self.parts), asks_judgement(question)
        self.opening = find_opening_answer(self.parts)
        headings = [part.text for part in self.parts if part.kind == "heading"]
        tops = (part.text if part.kind == "heading" else "" for part in self.parts)
        self.headings = [*accumulate(tops, lambda above, own: own or above, initial="")]
        """The heading above each block."""
        super().__init__(texts, names, "\n".join([question, *headings]), checked.cited, told)
        self.code = "\n".join(part.text for part in self.parts if part.kind == "fence")
        self.doubted: list[DoubtedSentence] = []
        self.had: dict[tuple[str, int], set[str]] = {}

    def enforce(self, quotes: list[ReportQuote], removed: Sequence[RemovedSentence]) -> CheckedText:
        """Return the text with the sources of its sentences, and without those that have none."""
        gone = [*removed]
        parts = [*self.parts]
        for at, part in list_prose_blocks(self.parts):
            self.around = "\n".join([self.around, normalize_statement(part.text)][-2:])
            self.near = list_cited_ids(part.text)
            self.above = self.list_subject_lines(at)
            beside = list_siblings(self.parts, at) if self.computed else []
            self.siblings = [normalize_statement(one.text) for one in beside]
            said = list_statements(part)
            kept = self.check_part(said, at, part)
            noted = {one["text"] for one in self.doubted}
            denied = list_denied_by_quotations(kept, part.text, self.asked)
            for one in denied:
                if one.strip() not in noted:
                    self.doubt(one, "negation")
            lost = [one.strip() for one, left in zip(said, kept, strict=True) if not left]
            gone += [RemovedSentence(text=statement, reason="no_source") for statement in lost]
            text = "".join(kept).strip()
            parts[at] = part._replace(text=text, kind=part.kind if text else "gone")
        self.check_framing()
        left = drop_removed_blocks(parts)
        self.doubt_hanging(gone, left)
        self.doubt_faulted(left)
        self.doubted.sort(key=_places(left))
        return CheckedText(
            join_blocks(left), list_cited_in_blocks(left), quotes, gone, self.doubted
        )

    def check_part(self, statements: Sequence[str], at: int, part: MarkdownBlock) -> list[str]:
        """Return the statements of a block as they are kept; those that are not are empty."""
        row = part.kind == "row"
        check: Callable[[str], str] = partial(self.check_statement, near=self.near)
        if self.kinds[at] == "assessment":
            check = partial(self.check_inference, row=row)
        elif self.kinds[at] == "unknown":
            check = self.check_gap
        elif row:
            check = partial(self.check_row, at=at)
        kept: list[str] = []
        for statement in statements:
            whole = normalize_statement(unmark_quotations(statement))
            self.dates.look_at(normalize_statement(statement), whole)
            kept.append(self.record_numbers(check(statement)))
        if self.kinds[at]:
            return kept
        kept = self.keep_neighbours(statements, kept, get_text_below(self.parts, at))
        return self.keep_referred_to(statements, kept)

    def check_framing(self) -> None:
        """Doubt the headings, table heads and code that say what no source does."""
        claimed = {at for at, _ in list_prose_blocks(self.parts)}
        for at, part in enumerate(self.parts):
            if part.kind == "fence":
                self.check_code(part, get_block_context(self.parts, at).lead)
            elif part.kind in ("heading", "row") and at not in claimed:
                lines = split_cells(part.text) if part.kind == "row" else [part.text]
                wrong = (self.check_framing_line(one, self.question) for one in lines)
                self.doubt(part.text, next(filter(None, wrong), ""))

    def check_statement(self, statement: str, near: Sequence[str], *, row: bool = False) -> str:
        """Return a statement with its source, or nothing if it needs one and there is none."""
        if (ruled := self.apply_ruling(statement)) is not None:
            return ruled
        if self.judges and (recommends(statement) or statement == self.opening):
            return self.check_inference(statement)
        cited = [name for name in dict.fromkeys(list_cited_ids(statement)) if name in self.texts]
        if cited:
            return self.check_cited(statement, cited)
        if (fault := self.find_answer_fault(statement)) is not None:
            self.doubt(statement, fault)
            return statement
        kind, said = classify_statement(statement), normalize_statement(statement)
        if kind in ("none", "open"):
            wrong = self.check_stated_computation(said) or self.check_carried_claims(statement)
            if not wrong and kind == "none" and not is_introduction(said):
                wrong = self.check_framing_line(statement, self.question)
            self.doubt(statement, wrong)
            return statement
        if self.is_valid_calculation(statement):
            return statement
        found = self.with_found_source(statement, near) or self.as_calculation(statement, row=row)
        return found if found or row else self.without_source(statement)

    def apply_ruling(self, statement: str) -> str | None:
        """Return a statement as a second reader has ruled, or None where they have not."""
        source = self.ruling.upheld.get(statement_key(statement))
        if source is not None:
            return replace_markers(statement, source) if source else statement
        added = self.ruling.completed.get(statement_key(statement))
        return None if added is None else add_marker(statement, added) if added else statement

    def check_inference(self, statement: str, *, row: bool = False) -> str:
        """Return a statement of an assessment; only a detail that no source has is doubted."""
        source = self.ruling.upheld.get(statement_key(statement))
        if source is not None:
            return replace_markers(statement, source) if source else statement
        cited = [name for name in dict.fromkeys(list_cited_ids(statement)) if name in self.texts]
        free = asks_for_settings(self.question)
        parts = split_cells(statement) if row else [statement]
        unfounded = (self.find_unfounded_detail(one, cited, free=free) for one in parts)
        self.doubt(statement, next(filter(None, unfounded), ""))
        return statement

    def check_gap(self, statement: str) -> str:
        """Return a statement of what is not known; a claim that no source has is doubted."""
        cited = list_cited_ids(statement)
        said = normalize_statement(statement)
        if not (cited or is_plain_claim(said)):
            return statement
        label, colon, _ = said.replace("：", ":").partition(":")
        if colon and not cited and not is_assertion(label):
            # It names what is not known, and says why.
            return self.check_inference(statement)
        kept = self.check_statement(statement, self.near)
        if not kept:
            self.doubt(statement, "no_source")
        return kept or statement

    def list_likely_sources(self, statement: str, near: Sequence[str] = ()) -> list[str]:
        """Return the sources that have the words of a statement, those near it first."""
        # What was computed so far may bear out a number of it.
        key = statement, len(self.reckoner.results)
        if key not in self.had:
            self.had[key] = {
                name for name in self.texts if self.source_has_words(statement, name, reworded=True)
            }
        names = dict.fromkeys([*near, *self.cited, *self.texts])
        return [name for name in names if name in self.had[key]]

    def with_found_source(self, statement: str, near: Sequence[str]) -> str:
        """Return a statement with a source that says all of it, or nothing if there is none."""
        likely = self.list_likely_sources(statement, near)
        own = (name for name in likely if self.is_attributable(statement, name, near))
        supporting = (name for name in own if not self.find_mismatch(statement, name))
        return next((add_marker(statement, name) for name in supporting), "")

    def without_source(self, statement: str) -> str:
        """Return a statement that may be of a source as one without any, or nothing."""
        having = self.list_likely_sources(statement)
        if not having and not self.is_near_sources(statement):
            return ""
        self.doubt(statement, self.find_fault(statement, having))
        return statement

    def find_fault(self, statement: str, having: Sequence[str]) -> str:
        """Return what is wrong in a statement that no source is given to."""
        spoken = (one for one in having if self.is_attributable(statement, one, self.near))
        return next((self.find_mismatch(statement, one) for one in spoken), "no_source")

    def record_numbers(self, kept: str) -> str:
        """Note the numbers of what is left of a statement, with which later ones may reckon."""
        self.reckoner.record(MARKER.sub("", kept))
        return kept

    def as_calculation(self, statement: str, *, row: bool = False) -> str:
        """Return what no source bears out where it is a calculation or is hedged, or nothing.

        A calculation that comes out is not doubted, nor is it taken out where it does not.
        """
        outcome = self.evaluate_calculation(normalize_statement(statement), row=row)
        if not outcome and classify_statement(statement) == "claim":
            return ""
        reasons = {"holds": "", "wrong": "calculation"}
        unknown = self.find_fault(statement, self.list_likely_sources(statement))
        self.doubt(statement, reasons.get(outcome, unknown))
        return statement

    def check_cited(self, statement: str, cited: Sequence[str]) -> str:
        """Return a statement that cites sources; another one only where theirs say none of it.

        A statement whose parts have sources of their own keeps these.
        """
        if self.only_names_sources(statement, cited):
            return statement
        alone = len(list_cited_parts(statement)) < 2
        if (
            alone
            and self.is_miscited(statement, cited)
            and (other := self.find_other_source(statement, cited))
        ):
            return replace_markers(statement, other)
        named = self.with_answers(statement, cited)
        self.doubt(statement, self.find_difference(statement, named, self.code_numbers))
        return statement

    def keep_neighbours(
        self, statements: Sequence[str], kept: Sequence[str], below: str
    ) -> list[str]:
        """Return the statements of a paragraph, those too that only belong to cited ones.

        A statement that leads on to a cited one, or sums up what stands before it, stays and is
        named as without a source, where it has no number of its own and many of its words are in
        the paragraph, in its sources or in the question.
        """
        left, beside = [*kept], "".join(kept)
        for at, statement in enumerate(statements):
            after = kept[at + 1] if at + 1 < len(statements) else below
            around = (
                [*kept[max(0, at - 1) : at], after] if is_summary_opener(statement) else [after]
            )
            named = [name for one in around for name in list_cited_ids(one) if name in self.texts]
            if not left[at] and named and self.belongs_to_next(statement, after, beside, named):
                self.doubt(statement, "no_source")
                left[at] = statement
        return left

    def keep_referred_to(self, statements: Sequence[str], kept: Sequence[str]) -> list[str]:
        """Return the statements of a paragraph, with those that the next one means as a whole.

        Those have no source and are doubted, since without them the next one would say something
        else. One with a number that no source has stays out.
        """
        left, names = [*kept], list(self.texts)
        for at, (statement, after) in enumerate(zip(statements, kept[1:], strict=False)):
            if kept[at] or not has_summary_reference(after):
                continue
            if not self.has_unsupported_number(normalize_statement(statement), names):
                self.doubt(statement, "no_source")
                left[at] = statement
        return left

    def doubt_hanging(self, gone: Sequence[RemovedSentence], left: Sequence[MarkdownBlock]) -> None:
        """Doubt the statements of what is left that point back to one that was removed."""
        dangling = list_dangling_statements(self.body, [one["text"] for one in gone])
        keys = {*map(statement_key, dangling)}
        keys -= {statement_key(one["text"]) for one in self.doubted}
        prose = (part.text for part in left if part.kind != "fence")
        for statement in (one for text in prose for one in split_statements(text)) if keys else ():
            if statement_key(statement) in keys:
                self.doubt(statement, "hanging")

    def doubt_faulted(self, left: Sequence[MarkdownBlock]) -> None:
        """Doubt the statements of what is left that a second reader found fault with."""
        done = {statement_key(one["text"]) for one in self.doubted}
        faulted = map(self.ruling.to_doubt, iter_statements(left))
        self.doubted += [one for one in faulted if one and statement_key(one["text"]) not in done]

    def check_row(self, text: str, at: int) -> str:
        """Return a row of a table; each cell is compared with its sources, or with the row's.

        A number in it may be computed from others of the row, where the table is said to be the
        writer's own arithmetic, or where its cell cites nothing and a few others do; where it is
        said to be so, one without a citation may be from elsewhere. No row of a table in which
        another one is a calculation is taken out.
        """
        above = get_block_context(self.parts, at)
        whole = [name for name in dict.fromkeys(list_cited_ids(text)) if name in self.texts]
        if not whole or statement_key(text) in self.ruling.upheld:
            kept = self.check_statement(text, [], row=True)
            if kept or not self.is_computed_table(at, above):
                return kept or self.without_source(text)
            said = normalize_statement(text)
            counts = any(True for _ in iter_all_numbers(said)) and not list_checkable_numbers(said)
            self.doubt(text, "" if counts else "no_source")
            return text
        parts = split_cells(text)
        given = [list_values(normalize_statement(one)) for one in parts]
        sourced = [list_values(normalize_statement(one)) for one in parts if list_cited_ids(one)]
        results = compute_few_results([*chain.from_iterable(sourced)])
        known = self.with_answers(text, whole)
        told = [
            self.check_cell(cell, [*given[:at], *given[at + 1 :]], known, above, head, results)
            for at, (cell, head) in enumerate(zip_longest(parts, above.head, fillvalue=""))
        ]
        if told[0] == "strange" and not list_cited_ids(parts[0]):
            told[0] = ""  # What a row is about is named for the reader, in any words.
        wrong = next(filter(None, told), "")
        reckoned = is_labelled_computed(normalize_statement(above.lead)) or any(
            map(is_labelled_computed, above.head)
        )
        if not wrong and self.has_swapped_value(text, whole):
            wrong = "other_number"
        if not wrong and above.head and not reckoned:
            wrong = "other_number" if self.has_misplaced_cell(parts, above.head, whole) else ""
        self.doubt(text, wrong)
        return text

    def is_computed_table(self, at: int, above: BlockContext) -> bool:
        """Tell whether a table is the writer's own arithmetic, as it says or as a row shows."""
        if any(is_labelled_computed(normalize_statement(one)) for one in (above.lead, *above.head)):
            return True
        own = normalize_statement(self.parts[at].text)
        rows = (normalize_statement(row.text) for row in list_nearby_rows(self.parts, at))
        return any(
            self.evaluate_calculation(row, row=True) == "holds" for row in rows if row != own
        )

    def doubt(self, statement: str, reason: str) -> None:
        """Note that a statement stays in the text although something in it is doubtful."""
        doubted = self.ruling.to_doubt(statement, reason) if reason else None
        self.doubted += [doubted] if doubted else []

    def check_code(self, part: MarkdownBlock, lead: str) -> None:
        """Doubt the lines of a fence of code with a number, or a name, that no source has.

        A number may be the writer's, where the code is led on to as an example or a suggestion,
        where the question asks for one, or where it stands in a sentence of the writer's own.
        """
        names = self.cited or list(self.texts)
        free = is_suggestion((split_statements(lead) or [""])[-1]) or asks_for_settings(
            self.question
        )
        known = self.own_numbers
        unknown = list_unknown_code_lines(part.text, self.list_code_texts(names))
        for one in list_code_lines(part.text):
            if not free and self.has_unsupported_number(one, names, known):
                self.doubt(to_inline_code(one), "number")
            elif one in unknown:
                self.doubt(to_inline_code(one), "unknown")

    def list_subject_lines(self, at: int) -> list[str]:
        """Return what names the subject of a block: its heading, and what leads on to a table."""
        row = self.parts[at].kind == "row"
        lead = split_statements(get_block_context(self.parts, at).lead)[-1:] if row else []
        return [normalize_statement(one) for one in (self.headings[at], *lead) if one]

    @cached_property
    def own_numbers(self) -> list[float]:
        """Return the numbers of the sentences that are the writer's own, sorted."""
        said = (one for block in self.parts for one in split_statements(block.text))
        return list_values(
            "\n".join(normalize_statement(one) for one in said if is_own_inference(one))
        )


def _places(left: Sequence[MarkdownBlock]) -> Callable[[DoubtedSentence], int]:
    """Return what tells where in a text a doubted statement stands."""
    order = {statement_key(one): at for at, one in reversed([*enumerate(iter_statements(left))])}
    return lambda one: order.get(statement_key(one["text"]), len(order))
