"""Measure the checks of a report on sentences that are known to be right or wrong.

`python -m evals.sentences --data ../shared/data`: from the pages of six data sets, English and
Chinese, sentences of many kinds are made (`evals/sentences/made.py`). A right one should stay
as it is, without a warning; a wrong one should be taken out, be given the source that has it, or be
named as doubtful. Half of the sets is for tuning the checks; `--half held-out` is the other.

`--cases FILE` measures on sentences of one's own instead. Each line of the file is a JSON object
with the fields of `LabelledSentence`: `kind`, `wrong`, `language`, `body` (the small report),
`said` (the sentence in it that counts), `texts` and `titles` (by the ids that it cites), and
`right` (what a sentence with the wrong source would be with the right one), which may be left out.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from evals.datasets import read_json_lines
from evals.sentences.made import LabelledSentence, SentenceMaker
from evals.sentences.right import RIGHT
from evals.sentences.wrong import WRONG
from report.checks.attribution import CheckedText, enforce_citations
from report.markdown.markers import MARKER

STRICT = ("made_up_id", "altered_quotation", "changed_digit", "changed_date", "other_source")
"""Kinds of which at most one in a hundred may survive unmarked."""

GOALS = {
    "wrong_strict": 1.0,
    "wrong_names_negations": 10.0,
    "right_damaged": 0.5,
    "right_warned": 0.5,
}
"""The most that are allowed, in per cent."""

_KEPT = re.compile(r"[^\w<>]+|_")


class SentenceOutcome(NamedTuple):
    """What the checks made of one case."""

    case: LabelledSentence
    checked: CheckedText
    kept: bool
    """Whether the words of the sentence are still in the report."""
    warned: bool
    mended: bool
    """Whether it names the right source now."""

    @property
    def failed(self) -> bool:
        """Whether a wrong sentence stayed unmarked, or a right one did not stay as it was."""
        if self.case.wrong:
            return self.kept and not self.warned and not self.mended
        return not self.kept or self.warned


def main() -> None:
    """Make the sentences, check them, and print a table by kind."""
    parser = make_parser(__doc__, half="tuning", each=60)
    parser.add_argument("--show", nargs="*", default=[], help="print what failed of these kinds")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    started = time.perf_counter()
    outcomes = [
        judge_in_report(case, enforce_citations(case.body, case.texts, case.question, case.titles))
        for case in choose_cases(options)
    ]
    table = _list_rows(outcomes)
    if options.json:
        print(json.dumps({"kinds": table, **_summary(outcomes)}))
        return
    _print(table, options.cases or options.half, time.perf_counter() - started)
    for name, share in _summary(outcomes).items():
        goal = f"   goal ≤ {GOALS[name]} %" if name in GOALS else ""
        print(f"{name:26}{share:>8.2f} %{goal}")
    for one in outcomes:
        if one.failed and one.case.kind in options.show:
            _show(one)


def make_parser(description: str | None, *, half: str, each: int) -> argparse.ArgumentParser:
    """Return what reads the options that say which sentences are chosen."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cases", type=Path, help="JSON lines of sentences of one's own")
    parser.add_argument("--half", choices=["tuning", "held-out"], default=half)
    parser.add_argument("--each", type=int, default=each, help="sentences of a kind and language")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def choose_cases(options: argparse.Namespace) -> list[LabelledSentence]:
    """Return the cases of a file of JSON lines, or those that are made of the data."""
    if options.cases:
        return [LabelledSentence(**line) for line in read_json_lines(options.cases)]
    return [*_make_cases(options.data, options.half, options.each, options.seed)]


def _make_cases(data: Path, half: str, each: int, seed: int) -> Iterable[LabelledSentence]:
    """Yield so many cases of every kind in both languages."""
    for language in ("en", "zh"):
        maker = SentenceMaker(data, half, language, seed)
        for ways, wrong in ((RIGHT, False), (WRONG, True)):
            for kind, way in ways.items():
                yield from filter(None, (maker.case(kind, way, wrong=wrong) for _ in range(each)))


def judge_in_report(case: LabelledSentence, checked: CheckedText) -> SentenceOutcome:
    """See what became of the sentence of a case in a text that was checked."""
    body, said = strip_markers(checked.body), strip_markers(case.said)
    warned = any(
        strip_markers(one["text"]) in said or said in strip_markers(one["text"])
        for one in checked.doubted
    )
    plain = re.sub(r"\s", "", checked.body)
    mended = bool(case.right) and re.sub(r"\s", "", case.right) in plain
    return SentenceOutcome(case, checked, said in body, warned, mended)


def _list_rows(outcomes: Sequence[SentenceOutcome]) -> list[dict[str, object]]:
    """Return a row for each kind and language: how many there were and what became of them."""
    table: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in outcomes:
        table[one.case.kind, one.case.language] += Counter(
            all=1, gone=not one.kept, warned=one.warned, mended=one.mended, failed=one.failed
        )
    wrong = {one.case.kind for one in outcomes if one.case.wrong}
    marked = {language: _marked_right(outcomes, language) for language in ("en", "zh")}
    return [
        {
            "kind": kind,
            "language": language,
            **count,
            **_rates(count, marked[language], kind in wrong),
        }
        for (kind, language), count in table.items()
    ]


def _marked_right(outcomes: Sequence[SentenceOutcome], language: str) -> float:
    """Return which part of the right sentences of a language is marked or taken out."""
    right = [one for one in outcomes if not one.case.wrong and one.case.language == language]
    return sum(one.failed for one in right) / max(len(right), 1)


def _rates(count: Counter[str], marked: float, wrong: bool) -> dict[str, float]:
    """Return how much of a wrong kind is caught, and how much of what is caught is wrong.

    Precision is that of a text with as many right sentences, of all kinds, as wrong ones of this.
    """
    if not wrong:
        return {}
    caught, false = count["all"] - count["failed"], marked * count["all"]
    return {
        "recall": round(100 * caught / max(count["all"], 1), 1),
        "precision": round(100 * caught / max(caught + false, 1e-9), 1),
    }


def _summary(outcomes: list[SentenceOutcome]) -> dict[str, float]:
    """Return the shares that the goals are about, in per cent."""
    right = [one for one in outcomes if not one.case.wrong]
    named = ("swapped_name", "swapped_inside", "negated")
    return {
        "right_damaged": _share(not one.kept for one in right),
        "right_warned": _share(one.warned for one in right),
        "wrong_strict": _share(one.failed for one in outcomes if one.case.kind in STRICT),
        "wrong_names_negations": _share(one.failed for one in outcomes if one.case.kind in named),
        **{
            kind: _share(one.failed for one in outcomes if one.case.kind == kind)
            for kind in ("changed_count", "overstated", "mix_halves")
        },
    }


def _share(found: Iterable[bool]) -> float:
    all_of_them = list(found)
    return 100 * sum(all_of_them) / max(len(all_of_them), 1)


def strip_markers(text: str) -> str:
    """Return what a reader sees of a text as words: without marks, quotation marks and spaces."""
    text = re.sub(
        r"[\[【(]\^?[Ss]?\d+(?:, S\d+)*[\]】)]",
        "",
        MARKER.sub("", html.unescape(html.unescape(text))),
    )
    return _KEPT.sub("", re.sub(r"</?q\b[^<>]*>", "", text))


def _print(table: list[dict[str, object]], half: object, seconds: float) -> None:
    total = sum(int(str(row["all"])) for row in table)
    print(f"{half}: {total} sentences in {seconds:.0f} s")
    names = ("all", "gone", "warned", "mended", "failed", "recall", "precision")
    print(f"{'kind':22}{'language':10}" + "".join(f"{name:>10}" for name in names))
    for row in table:
        counts = "".join(f"{row.get(name, ''):>10}" for name in names)
        print(f"{row['kind']:22}{row['language']:10}{counts}")


def _show(one: SentenceOutcome) -> None:
    case = one.case
    print(f"\n--- {case.kind} {case.language}: kept={one.kept} warned={one.warned}")
    print(f"said:    {case.said}\nbody:    {one.checked.body!r}")
    print(f"removed: {one.checked.removed}\ndoubted: {one.checked.doubted}")
