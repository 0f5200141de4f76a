"""Give every sentence the source that bears it out, and take out those that none does."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from itertools import accumulate, chain, zip_longest
from typing import NamedTuple

from graph.records import Doubted, Quote, Removed
from report.arithmetic import numbers
from report.blocks import Around, Block, around, blocks, cells, joined, prose, table, without_gone
from report.caveats import is_own, is_reckoned, suggests, wants_settings
from report.claims import sort
from report.comparison import Comparison
from report.contrast import Text, contrast, indexed, plain
from report.leads import left_hanging, letters
from report.likeness import CLAUSES
from report.marks import MARKER, QUOTE, cites, given, replaced
from report.numbers import computed, listed, values
from report.openers import introduces, points_back, refers_to_all, sums_up, without_transition
from report.rulings import NO_RULING, Ruling
from report.snippets import coded, lines, unknown_lines
from report.statements import statements, statements_of
from report.verify import Checked, check
from retrieval.text import language
from retrieval.words import words

LEAD = {"en": 1 / 2, "zh": 1 / 5}
"""A sentence without a source stays beside cited ones that have more of its words."""

EASED = {"en": 1.5, "zh": 2}
"""How many times fewer words may be known of a brief sentence that leads on to a cited one."""

QUOTED = 20
"""A statement is compared with so many quotations of its paragraph, and always with its sources."""

BRIEF = {"en": 8, "zh": 14}
"""So many words at most has a brief sentence."""


class Proven(NamedTuple):
    """A text in which every sentence has a source, or says that it has none."""

    body: str
    cited: list[str]
    quotes: list[Quote]
    removed: list[Removed]
    doubted: list[Doubted]
    """Sentences that are in it although something in them is not what their sources say."""


def proven(
    body: str,
    texts: Mapping[str, str],
    question: str = "",
    names: Mapping[str, str] | None = None,
    ruling: Ruling = NO_RULING,
) -> Proven:
    """Return `body` without what its sources do not say, each of its claims with a source.

    It is checked first (`report/verify.py`). Then a sentence that names no source gets one that
    says all of it in the same words (`report/copies.py`); those that its paragraph cites come
    first. Where it is worded in another way, common words could be of several sources, or a heading
    names another subject, it gets none and is doubted. A claim that no source bears out is taken
    out. Let be are headings, questions,
    what leads on to a list, and whatever says what was not found, or that it is an inference or not
    sure. A sentence whose sources say something else is named in `doubted`; so is one that is given
    to another source, and a line of code with a number or a name that no source has. Words are only
    compared with sources in the language of the sentence.

    Args:
        body: Markdown as a model wrote it.
        texts: The full text of each source by its id.
        question: What was asked; what it names may be named.
        names: The title and the place of each source by its id; where it is cited, so may they.
        ruling: What a second reader says of its statements.
    """
    checked = check(body, texts)
    prover = _Prover(body, checked, texts, question, names or {}, ruling)
    return prover.proven(checked.quotes, checked.removed)


class _Prover(Comparison):
    """Proves the sentences of one text."""

    def __init__(
        self,
        body: str,
        checked: Checked,
        texts: Mapping[str, str],
        question: str,
        names: Mapping[str, str],
        ruling: Ruling,
    ) -> None:
        self.body, self.ruling, self.question = body, ruling, question
        self.parts = blocks(checked.body)
        headings = [part.text for part in self.parts if part.kind == "heading"]
        self.headings = [*accumulate(self.parts, _heading, initial="")]
        super().__init__(texts, names, "\n".join([question, *headings]), checked.cited)
        self.doubted: list[Doubted] = []
        self.had: dict[tuple[str, int], set[str]] = {}

    def proven(self, quotes: list[Quote], removed: Sequence[Removed]) -> Proven:
        """Return the text with the sources of its sentences, and without those that have none."""
        gone = [*removed]
        parts = [*self.parts]
        for at, part in prose(self.parts):
            self.around = "\n".join([self.around, plain(part.text)][-2:])
            self.near = cites(part.text)
            self.above = self.names_above(at)
            row = part.kind == "row"
            said = statements_of(part)
            kept = [
                self.told(self.row(statement, at) if row else self.sourced(statement, self.near))
                for statement in said
            ]
            kept = self.referred_to(said, self.with_neighbours(said, kept, self.below(at)))
            self.compare_quotations(kept, part.text)
            lost = [one.strip() for one, left in zip(said, kept, strict=True) if not left]
            gone += [Removed(text=statement, reason="no_source") for statement in lost]
            text = "".join(kept).strip()
            parts[at] = part._replace(text=text, kind=part.kind if text else "gone")
        claimed = {at for at, _ in prose(self.parts)}
        for at, part in enumerate(self.parts):
            if part.kind == "fence":
                self.code(part, around(self.parts, at).lead)
            elif part.kind in ("heading", "row") and at not in claimed:
                lines = cells(part.text) if part.kind == "row" else [part.text]
                wrong = (self.framing(one, self.question) for one in lines)
                self.doubt(part.text, next(filter(None, wrong), ""))
        left = without_gone(parts)
        self.doubt_hanging(gone, left)
        self.doubt_faulted(left)
        self.doubted.sort(key=_places(left))
        cited = [name for part in left if part.kind != "fence" for name in cites(part.text)]
        return Proven(joined(left), list(dict.fromkeys(cited)), quotes, gone, self.doubted)

    def sourced(self, statement: str, near: Sequence[str], *, row: bool = False) -> str:
        """Return a statement with its source, or nothing if it needs one and there is none."""
        if letters(statement) in self.ruling.upheld:
            return self.upheld(statement)
        cited = [name for name in dict.fromkeys(cites(statement)) if name in self.texts]
        if cited:
            return self.compared(statement, cited)
        if sort(statement) in ("none", "open"):
            wrong = self.miscounted(plain(statement)) or self.carries(statement)
            framing = self.framing(statement, self.question) if self.is_frame(statement) else ""
            self.doubt(statement, wrong or framing)
            return statement
        if self.adds_up(statement):
            return statement
        found = self.given_source(statement, near) or self.as_reckoned(statement, row=row)
        return found if found or row else self.without_source(statement)

    def is_frame(self, statement: str) -> bool:
        """Tell whether a statement names or asks what follows, and is no word about the report."""
        return sort(statement) == "none" and not introduces(plain(statement))

    def having(self, statement: str, near: Sequence[str] = ()) -> list[str]:
        """Return the sources that have the words of a statement, those near it first."""
        # What was computed so far may bear out a number of it.
        key = statement, len(self.reckoner.results)
        if key not in self.had:
            self.had[key] = {name for name in self.texts if self.has_any(statement, name)}
        names = dict.fromkeys([*near, *self.cited, *self.texts])
        return [name for name in names if name in self.had[key]]

    def given_source(self, statement: str, near: Sequence[str]) -> str:
        """Return a statement with a source that says all of it, or nothing if there is none."""
        spoken = (
            one for one in self.having(statement, near) if self.speaks_for(statement, one, near)
        )
        says = (name for name in spoken if not self.disproves(statement, name))
        return next((given(statement, name) for name in says), "")

    def without_source(self, statement: str) -> str:
        """Return a statement that may be of a source as one without any, or nothing."""
        having = self.having(statement)
        if not having and not self.is_near(statement):
            return ""
        self.doubt(statement, self.lacks(statement, having))
        return statement

    def lacks(self, statement: str, having: Sequence[str]) -> str:
        """Return what is wrong in a statement that no source is given to."""
        spoken = (one for one in having if self.speaks_for(statement, one, self.near))
        return next((self.disproves(statement, one) for one in spoken), "no_source")

    def told(self, kept: str) -> str:
        """Note the numbers of what is left of a statement, with which later ones may reckon."""
        self.reckoner.tell(MARKER.sub("", kept))
        return kept

    def as_reckoned(self, statement: str, *, row: bool = False) -> str:
        """Return what no source bears out where it is a calculation or is hedged, or nothing.

        A calculation that comes out is not doubted, nor is it taken out where it does not.
        """
        outcome = self.reckoned(plain(statement), row=row)
        if not outcome and sort(statement) == "claim":
            return ""
        reasons = {"holds": "", "wrong": "calculation"}
        unknown = self.lacks(statement, self.having(statement))
        self.doubt(statement, reasons.get(outcome, unknown))
        return statement

    def upheld(self, statement: str) -> str:
        """Return a statement that a second reader upholds, with the source that it shall cite."""
        source = self.ruling.upheld[letters(statement)]
        return replaced(statement, source) if source else statement

    def compared(self, statement: str, cited: Sequence[str]) -> str:
        """Return a statement that cites sources; another one only where theirs say none of it."""
        better = self.elsewhere(statement, cited) if self.is_foreign(statement, cited) else ""
        if better:
            return replaced(statement, better)
        self.doubt(statement, self.difference(statement, cited))
        return statement

    def below(self, at: int) -> str:
        """Return what a block leads to: a list, a table, or a paragraph after one sentence."""
        if self.parts[at].kind != "text":
            return ""
        below = map(self.parts.__getitem__, range(at + 1, len(self.parts)))
        after = next((one for one in below if one.kind != "blank"), None)
        alone = len(statements(self.parts[at].text)) == 1
        kinds = ("item", "row", "text") if alone else ("item", "row")
        return after.text if after and after.kind in kinds else ""

    def with_neighbours(self, said: Sequence[str], kept: Sequence[str], below: str) -> list[str]:
        """Return the statements of a paragraph, those too that only belong to cited ones.

        A statement that leads on to a cited one, or sums up what stands before it, stays and is
        named as without a source, where it has no number of its own and many of its words are in
        the paragraph, in its sources or in the question.
        """
        left, beside = [*kept], "".join(kept)
        for at, statement in enumerate(said):
            after = kept[at + 1] if at + 1 < len(said) else below
            around = [*kept[max(0, at - 1) : at], after] if sums_up(statement) else [after]
            named = [name for one in around for name in cites(one) if name in self.texts]
            if not left[at] and named and self.belongs(statement, after, beside, named):
                self.doubt(statement, "no_source")
                left[at] = statement
        return left

    def referred_to(self, said: Sequence[str], kept: Sequence[str]) -> list[str]:
        """Return the statements of a paragraph, those too that the next one means as a whole.

        What has no source is then doubted, since without it the other would say something else;
        with a number that no source has it is taken out.
        """
        left = [*kept]
        for at, (statement, after) in enumerate(zip(said, kept[1:], strict=False)):
            known = not kept[at] and not self.unsupported(plain(statement), list(self.texts))
            if known and refers_to_all(after):
                self.doubt(statement, "no_source")
                left[at] = statement
        return left

    def belongs(self, statement: str, after: str, beside: str, named: Sequence[str]) -> bool:
        """Tell whether a statement has so many words of what stands beside it that it may stay."""
        lead = plain(statement)
        told = set(words(f"{plain(beside)}\n{plain(after)}\n{self.asked}"))
        sources = [self.source(name).places for name in dict.fromkeys(named)]
        wanted = set(words(without_transition(lead)))
        found = [word for word in wanted if word in told or any(word in one for one in sources)]
        refers = points_back(after) and not points_back(lead)
        brief = len(wanted) <= BRIEF[language(lead)]
        part = 2 if refers else EASED[language(lead)] if brief else 1
        enough = LEAD[language(lead)] / part * len(wanted)
        return not self.unsupported(lead, named) and len(found) > enough

    def doubt_hanging(self, gone: Sequence[Removed], left: Sequence[Block]) -> None:
        """Doubt the statements of what is left that point back to one that was removed."""
        names = set(map(letters, left_hanging(self.body, [one["text"] for one in gone])))
        doubted = {letters(one["text"]) for one in self.doubted}
        said = (one for part in left for one in statements(part.text) if part.kind != "fence")
        for statement in said if names else ():
            if letters(statement) in names - doubted:
                self.doubt(statement, "hanging")

    def doubt_faulted(self, left: Sequence[Block]) -> None:
        """Doubt the statements of what is left that a second reader found fault with."""
        done = {letters(one["text"]) for one in self.doubted}
        faulted = map(self.ruling.doubted, _said(left))
        self.doubted += [one for one in faulted if one and letters(one["text"]) not in done]

    def compare_quotations(self, kept: Sequence[str], paragraph: str) -> None:
        """Doubt what says the opposite of a quotation from its own source in its paragraph."""
        found = dict.fromkeys((one[1], html.unescape(one[2])) for one in QUOTE.finditer(paragraph))
        quoted = [(name, indexed(text)) for name, text in found]
        doubted = {one["text"] for one in self.doubted}
        for statement in kept if quoted else []:
            said, names = plain(statement), set(cites(statement))
            theirs = [one for name, one in quoted if name in names]
            theirs = _nearest(said, [one for one in theirs if one.language == language(said)])
            parts = [said, *CLAUSES.split(said)] if theirs else []
            opposite = any(contrast(part, theirs, self.asked) == "negation" for part in parts)
            if opposite and statement.strip() not in doubted:
                self.doubt(statement, "negation")

    def row(self, text: str, at: int) -> str:
        """Return a row of a table; each cell is compared with its sources, or with the row's.

        A number in it may be computed from others of the row, where the table is said to be the
        writer's own arithmetic; so may one without a citation be from elsewhere. No row of a table
        in which another one is a calculation is taken out.
        """
        above = around(self.parts, at)
        whole = [name for name in dict.fromkeys(cites(text)) if name in self.texts]
        if not whole or letters(text) in self.ruling.upheld:
            kept = self.sourced(text, [], row=True)
            if kept or not self.is_reckoned(at, above):
                return kept or self.without_source(text)
            counts = [*numbers(plain(text))] and not listed(plain(text))
            self.doubt(text, "" if counts else "no_source")
            return text
        parts = cells(text)
        given = [values(plain(one)) for one in parts]
        told = [
            self.cell(cell, [*given[:at], *given[at + 1 :]], whole, above, head)
            for at, (cell, head) in enumerate(zip_longest(parts, above.head, fillvalue=""))
        ]
        wrong = next(filter(None, told), "")
        reckoned = is_reckoned(plain(above.lead)) or any(map(is_reckoned, above.head))
        if not wrong and above.head and not reckoned:
            wrong = "other_number" if self.is_moved(parts, above.head, whole) else ""
        self.doubt(text, wrong)
        return text

    def is_moved(self, parts: Sequence[str], head: Sequence[str], cited: Sequence[str]) -> bool:
        """Tell whether a cell has a number that the sources of its row have for something else."""
        first, *rest = [plain(one).strip() for one in parts]
        named = [plain(one).strip() for one in head[1:]]
        return any(
            self.misplaced(f"{first}, {name} {cell}", cited)
            for name, cell in zip(named, rest, strict=False)
        )

    def is_reckoned(self, at: int, above: Around) -> bool:
        """Tell whether a table is the writer's own arithmetic, as it says or as a row shows."""
        if any(is_reckoned(plain(one)) for one in (above.lead, *above.head)):
            return True
        own, rows = plain(self.parts[at].text), [plain(one.text) for one in table(self.parts, at)]
        return any(self.reckoned(row, row=True) == "holds" for row in rows if row != own)

    def cell(
        self,
        text: str,
        counts: Sequence[Sequence[float]],
        whole: Sequence[str],
        above: Around,
        head: str,
    ) -> str:
        """Return in what a cell differs from its sources, or from those of the whole row.

        The numbers of the other cells are given, from which it may be computed.
        """
        cited = [name for name in cites(text) if name in self.texts]
        reckoned = is_reckoned(plain(above.lead))
        computes = reckoned or any(map(is_reckoned, above.head))
        given = sorted(set(chain.from_iterable(counts))) if computes or "=" in text else []
        known = [*(given if "=" in text else []), *(computed(given) if computes else [])]
        different = self.difference(text, cited or whole, known)
        free = not cited and (reckoned or is_reckoned(plain(head)))
        return "" if free and different in ("number", "other_number") else different

    def doubt(self, statement: str, reason: str) -> None:
        """Note that a statement stays in the text although something in it is doubtful."""
        doubted = self.ruling.doubted(statement, reason) if reason else None
        self.doubted += [doubted] if doubted else []

    def code(self, part: Block, lead: str) -> None:
        """Doubt the lines of a fence of code with a number, or a name, that no source has.

        A number may be the writer's, where the code is led on to as an example or a suggestion,
        where the question asks for one, or where it stands in a sentence of the writer's own.
        """
        names = self.cited or list(self.texts)
        free = suggests((statements(lead) or [""])[-1]) or wants_settings(self.question)
        known = self.own_numbers
        unknown = unknown_lines(part.text, self.beside(names))
        for one in lines(part.text):
            if not free and self.unsupported(one, names, known):
                self.doubt(coded(one), "number")
            elif one in unknown:
                self.doubt(coded(one), "unknown")

    def names_above(self, at: int) -> list[str]:
        """Return what names the subject of a block: its heading, and what leads on to a table."""
        row = self.parts[at].kind == "row"
        lead = statements(around(self.parts, at).lead)[-1:] if row else []
        return [plain(one) for one in (self.headings[at], *lead) if one]

    @cached_property
    def own_numbers(self) -> list[float]:
        """Return the numbers of the sentences that are the writer's own, sorted."""
        said = (one for block in self.parts for one in statements(block.text))
        return values("\n".join(plain(one) for one in said if is_own(one)))


def _nearest(said: str, quoted: list[Text]) -> list[Text]:
    """Return the quotations with most words of a statement, if there are too many for all."""
    wanted = set(words(said)) if len(quoted) > QUOTED else set()
    return (
        quoted
        if not wanted
        else nlargest(QUOTED, quoted, key=lambda one: len(wanted & one.places.keys()))
    )


def _heading(last: str, part: Block) -> str:
    return part.text if part.kind == "heading" else last


def _said(left: Sequence[Block]) -> Iterator[str]:
    """Yield what a text says in the order of the text: statements, headings and lines of code."""
    for part in left:
        if part.kind == "fence":
            yield from map(coded, lines(part.text))
        else:
            yield from statements_of(part)


def _places(left: Sequence[Block]) -> Callable[[Doubted], int]:
    """Return what tells where in a text a doubted statement stands."""
    order = {letters(one): at for at, one in reversed([*enumerate(_said(left))])}
    return lambda one: order.get(letters(one["text"]), len(order))
