"""Compare the cells of a table with their sources, or with those of the whole row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from report.checks.calculations import has_wrong_calculation
from report.checks.caveats import is_labelled_computed, strip_none_cell
from report.checks.comparison import SourceComparison
from report.checks.number_placement import has_other_listed_number
from report.checks.numbers import compute_results, list_calculations, list_values
from report.checks.printed_results import is_cell_printed
from report.checks.source_text import normalize_statement
from report.markdown.markdown_blocks import BlockContext
from report.markdown.markers import MARKER, list_cited_ids
from text.regex import regex

_BRACKETED_SUM = regex(r"[(（]\s*\d[\d.,]*(?:\s*[+＋]\s*\d[\d.,]*)+\s*[)）]")


class CellComparison(SourceComparison):
    """Compares the cells of the tables of one text with its sources."""

    def check_cell(
        self,
        text: str,
        counts: Sequence[Sequence[float]],
        whole: Sequence[str],
        above: BlockContext,
        head: str,
        results: Sequence[float] = (),
    ) -> str:
        """Return in what a cell differs from its sources, or from those of the whole row.

        The numbers of the other cells are given, from which it may be computed; those that follow
        from the cited cells are the `results`, which a cell without a citation may name.
        """
        cited = [name for name in list_cited_ids(text) if name in self.texts]
        reckoned = is_labelled_computed(normalize_statement(above.lead))
        computes = reckoned or any(map(is_labelled_computed, above.head))
        given = sorted(set(chain.from_iterable(counts))) if computes or "=" in text else []
        known = [*(given if "=" in text else []), *(compute_results(given) if computes else [])]
        known += [] if cited else results
        named, known = self.with_answers(text, cited) or whole, [*known, *self.code_numbers]
        different = self.find_difference(text, named, known)
        rest = strip_none_cell(text)
        if different == "strange" and rest != text:
            claims = re.search(r"\w", MARKER.sub("", rest))
            different = self.find_difference(rest, named, known) if claims else ""
        free = not cited and (reckoned or is_labelled_computed(normalize_statement(head)))
        return "" if free and different in ("number", "other_number") else different

    def has_misplaced_cell(
        self, parts: Sequence[str], head: Sequence[str], cited: Sequence[str]
    ) -> bool:
        """Tell whether a cell has a number that the sources of its row have for something else."""
        first, *rest = [normalize_statement(one).strip() for one in parts]
        named = [normalize_statement(one).strip() for one in head[1:]]
        return any(
            self.is_misplaced_cell(cell, first, name, cited)
            for name, cell in zip(named, rest, strict=False)
            if not self.with_answers(cell, [])
        )

    def is_misplaced_cell(self, cell: str, row: str, head: str, cited: Sequence[str]) -> bool:
        """Tell whether the sources of a row have a number of a cell for something else.

        What programs printed has it where they printed it with the names of row and column.
        """
        named = self._list_named(cell, row, head)
        lines = self.list_printed_lines(cited)
        sources = [] if lines else [self.get_source(name) for name in cited]
        if any(has_other_listed_number(cell, name, sources) for name in (row, head)):
            return True
        if not has_wrong_calculation(cell):
            # A sum in brackets is of several rows.
            cell = _BRACKETED_SUM.sub(" ", cell)
        if not self.has_misplaced_number(f"{row}, {head} {cell}", cited, named):
            return False
        return not (lines and is_cell_printed(cell, f"{row} {head}", lines))

    def _list_named(self, cell: str, row: str, head: str) -> str:
        """Return the texts whose numbers are not compared as numbers of a cell.

        Its row and its column may have one in their names ("of 143"). A calculation may also use
        one that leads on to the table, and has a result that no source has to have.
        """
        names = [one for one in (row, head) if re.search(r"[^\W\d]", one)]
        if not re.search(r"\d", cell):
            return ""
        rights = [] if has_wrong_calculation(cell) else list_calculations(cell)
        results = [
            re.split("[=≈≒≃]", one, maxsplit=1)[1] for one in rights if re.search("[=≈≒≃]", one)
        ]
        return "\n".join([*names, *results, *(self.above if results else [])])

    @cached_property
    def code_numbers(self) -> list[float]:
        """Return the numbers of the code that the text shows, which its prose explains, sorted."""
        return list_values(self.code)
