"""Have the second reader compare the sentences of the benchmark with their sources.

`python -m evals.sentences.read_again --data ../shared/data`: the sentences of `evals/sentences`,
right and wrong ones, are mixed into reports of so many sentences, and the model that the
environment names for the role `checker` is asked once for each report, with the product's own
prompt (`nodes/checker.py`). Printed by kind: how many sentences fail with the checks alone, and how
many when the reader has had its say. `--cases FILE` measures on sentences of one's own instead
(`evals/sentences/measuring.py` says what the file holds).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from evals.sentences.made import LabelledSentence
from evals.sentences.measuring import SentenceOutcome, choose_cases, judge_in_report, make_parser
from graph.context import Context
from graph.records import Source
from models.chat_models import load_role_model
from nodes.checker import Checks, collect_judgements, render_comparison
from prompts.loader import render_prompt
from report.checks.attribution import enforce_citations
from report.checks.second_reader import NO_RULING, Ruling, derive_ruling, list_claims

ASKED = {"en": "What do the sources say?", "zh": "这些来源说了什么？"}

_CITED = re.compile(r"(?<=[\[,\"(【 ^])S\d+(?=[\],\")】])")


class _Report(NamedTuple):
    """Cases in one text, with one numbering of their sources."""

    cases: list[LabelledSentence]
    language: str
    text: str
    pages: dict[str, str]
    titles: dict[str, str]
    question: str
    """What is asked, and what the cases say that was asked."""

    def outcomes(self, told: Ruling = NO_RULING) -> list[SentenceOutcome]:
        """Return what the checks make of each sentence, after what a reader has ruled."""
        checked = enforce_citations(self.text, self.pages, self.question, self.titles, told)
        return [judge_in_report(case, checked) for case in self.cases]


def main() -> None:
    """Choose the sentences, ask the model once for each report, and print a table by kind."""
    parser = make_parser(__doc__, half="held-out", each=2)
    parser.add_argument("--report", type=int, default=40, help="sentences of a report")
    options = parser.parse_args()
    asyncio.run(_measure([*_reports(choose_cases(options), options.report, options.seed)]))


def _reports(cases: Sequence[LabelledSentence], size: int, seed: int) -> Iterator[_Report]:
    """Yield reports of at most so many cases each, mixed at random; each in one language."""
    for language in ASKED:
        some = [case for case in cases if case.language == language]
        Random(seed).shuffle(some)
        for start in range(0, len(some), size):
            yield _joined(some[start : start + size], language)


def _joined(cases: Sequence[LabelledSentence], language: str) -> _Report:
    """Put cases one after the other, their sources numbered anew; a page has one number."""
    numbers: dict[str, str] = {}
    titles: dict[str, str] = {}
    renamed = []
    for case in cases:
        new = {}
        for name, page in case.texts.items():
            new[name] = numbers.setdefault(page, f"S{len(numbers) + 1}")
            titles[new[name]] = case.titles.get(name, "")
        renamed.append(_renamed(case, new))
    text = "\n\n".join(case.body for case in renamed)
    pages = {name: page for page, name in numbers.items()}
    asked = [ASKED[language], *dict.fromkeys(one.question for one in cases if one.question)]
    return _Report(renamed, language, text, pages, titles, " ".join(asked))


def _renamed(case: LabelledSentence, names: dict[str, str]) -> LabelledSentence:
    def new(text: str) -> str:
        return _CITED.sub(lambda found: names.get(found[0], f"S9{found[0][1:]}0"), text)

    return case._replace(body=new(case.body), said=new(case.said), right=new(case.right))


async def _measure(written: Sequence[_Report]) -> None:
    model = await load_role_model("checker", Context())
    alone: list[SentenceOutcome] = []
    read: list[SentenceOutcome] = []
    for number, report in enumerate(written, start=1):
        print(f"report {number} of {len(written)} ...", flush=True)
        alone += report.outcomes()
        read += report.outcomes(await _ruled(model, report))
    _print(alone, read)


async def _ruled(model: BaseChatModel, report: _Report) -> Ruling:
    checked = enforce_citations(report.text, report.pages, report.question, report.titles)
    shown = list_claims(report.text, checked.removed, checked.doubted, report.pages, checked.body)
    sources = {
        name: Source(id=name, page="", title=title, location=f"{name}.md", kind="file")
        for name, title in report.titles.items()
    }
    data = render_comparison(report.question, report.language, shown, report.pages, sources)
    system = SystemMessage(render_prompt("checker", language=report.language))
    checks = await model.with_structured_output(Checks).ainvoke([system, HumanMessage(data)])
    return derive_ruling(
        shown, collect_judgements(Checks.model_validate(checks), shown, report.pages)
    )


def _print(alone: Sequence[SentenceOutcome], read: Sequence[SentenceOutcome]) -> None:
    """Print by kind how many sentences failed before and after the reader had its say."""
    print(f"{'kind':24}{'all':>6}{'failed: checks alone':>24}{'with a reader':>16}")
    for wrong in (True, False):
        for kind in dict.fromkeys(one.case.kind for one in alone if one.case.wrong == wrong):
            _print_row(kind, *([o for o in t if o.case.kind == kind] for t in (alone, read)))
        name = "wrong, unmarked" if wrong else "right, marked or removed"
        _print_row(name, *([o for o in t if o.case.wrong == wrong] for t in (alone, read)))


def _print_row(
    name: str, alone: Sequence[SentenceOutcome], read: Sequence[SentenceOutcome]
) -> None:
    before, after = (sum(one.failed for one in group) for group in (alone, read))
    print(f"{name:24}{len(alone):>6}{before:>24}{after:>16}")


if __name__ == "__main__":
    main()
