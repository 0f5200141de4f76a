"""Measure how large a report of 5,000 words is in each format, and how long writing it takes.

The first export loads the packages of a format and is shown apart; the second is what a server
pays for each further one. Every tenth paragraph is Chinese, so that fonts for it are embedded.
A second report has a table of 3,000 rows and 12 columns; it is not drawn as PDF, which would take
minutes.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from config.errors import Problem
from graph.records import Source
from report.document import ReportDocument
from report.exports.export_formats import EXPORT_FORMATS, ExportedReport

_WORDS = 5_000
_SOURCES = 30
_SENTENCES = 40  # of a source
_ROWS, _COLUMNS = 3_000, 12
_CITED_ROWS = 10  # one row in so many cites a source
_CHINESE = "蜜蜂用摇摆舞告诉同伴花的方向和距离，第{}年的观察证实了这一点。"
_NAMES = (
    "bees dance hive honey nectar summer winter field colony queen worker pollen flower sun angle "
    "distance observer journal measure record season forage recruit signal vibration comb"
)


class ExportCost(NamedTuple):
    """Kilobytes of a format, and seconds of the processor for a first and a second export."""

    name: str
    kilobytes: float
    first: float
    second: float
    problem: str = ""


def build_report() -> ExportedReport:
    """Return a report of 5,000 words with some 250 citations of 30 sources; always the same."""
    chance = random.Random(7)
    texts = {f"S{at}": list(_write_sentences(chance, at)) for at in range(1, _SOURCES + 1)}
    body = "\n\n".join(_write_sections(chance, texts))
    document = ReportDocument(
        title="How bees find food, and how they tell each other",
        question="How do bees find food?",
        status="succeeded",
        notices=[],
        body=body,
        gaps=[],
        sources=[_make_source(name) for name in texts],
        texts={name: _join_paragraphs(said) for name, said in texts.items()},
        removed=[],
        doubted=[],
        unreviewed=0,
        language="en",
        created="2026-01-12",
    )
    return ExportedReport("exports-1", "exports", document, dict.fromkeys(texts, "2026-01-11"))


def _make_source(name: str) -> Source:
    return Source(
        id=name,
        page=f"page-{name}",
        title=f"Observations on bees, part {name[1:]}",
        location=f"https://bees.example/{name}",
        kind="web",
        site="bees.example",
        author="Karl Example; 王小明",
        published="2024-05-01",
    )


def _write_sentences(chance: random.Random, source: int) -> Iterator[str]:
    """Yield sentences that no other source has."""
    for at in range(_SENTENCES):
        if at % 10 == 9:
            yield _CHINESE.format(1900 + source + at)
        else:
            words = " ".join(chance.choices(_NAMES.split(), k=16))
            yield f"In {1900 + at} observer {source} wrote that {words}."


def _join_paragraphs(sentences: list[str]) -> str:
    return "\n\n".join(" ".join(sentences[at : at + 4]) for at in range(0, len(sentences), 4))


def _write_sections(chance: random.Random, texts: dict[str, list[str]]) -> Iterator[str]:
    """Yield paragraphs of cited sentences below headings until there are enough words."""
    words = paragraphs = 0
    while words < _WORDS:
        if paragraphs % 8 == 0:
            yield f"## Part {paragraphs // 8 + 1}"
        names = chance.choices(list(texts), k=4)
        cited = [(chance.choice(texts[name]), name) for name in names]
        paragraph = " ".join(f"{said[:-1]} [{name}]{said[-1]}" for said, name in cited)
        words += len(paragraph.split())
        paragraphs += 1
        yield paragraph
        if paragraphs % 20 == 0:
            rows = "\n".join(f"| part {at} [S{at}] | {at * 1000:,} |" for at in range(1, 6))
            yield f"| Source | Bees |\n|---|--:|\n{rows}"


def build_table_report() -> ExportedReport:
    """Return a report with a table of 3,000 rows and 12 columns of numbers and words."""
    report, chance = build_report(), random.Random(7)
    head = "|".join(f"Column {at}" for at in range(_COLUMNS))
    rows = "\n".join(_write_row(chance, at) for at in range(_ROWS))
    body = f"All counts [S1].\n\n|{head}|\n{'|---' * _COLUMNS}|\n{rows}"
    return report._replace(document={**report.document, "body": body})


def _write_row(chance: random.Random, at: int) -> str:
    cited = f" [S{at % _SOURCES + 1}]" if at % _CITED_ROWS == 0 else ""
    kinds = (
        f"{chance.randrange(10**6):,}",
        f"{chance.random() * 100:.1f} %",
        f"{chance.choice(_NAMES.split())} **{chance.choice(_NAMES.split())}**",
        f"{chance.randrange(1900, 2020)}-0{chance.randrange(1, 10)}-11",
    )
    cells = [kinds[column % len(kinds)] for column in range(1, _COLUMNS)]
    return f"| row {at}{cited} | {' | '.join(cells)} |"


def measure_exports(
    report: ExportedReport, folder: Path | None = None, left_out: Collection[str] = ()
) -> Iterator[ExportCost]:
    """Yield the figures of each format.

    Args:
        report: The report.
        folder: Where the files are kept, to be looked at.
        left_out: The formats that are not measured.
    """
    for name, one in EXPORT_FORMATS.items():
        if name in left_out:
            continue
        started = time.process_time()
        try:
            content = one.load()(report)
            first = time.process_time() - started
            started = time.process_time()
            one.load()(report)
        except Problem as problem:
            yield ExportCost(name, 0, 0, 0, str(problem))
            continue
        if folder:
            (folder / f"report.{one.suffix}").write_bytes(content)
        yield ExportCost(name, len(content) / 1000, first, time.process_time() - started)


def main(arguments: list[str]) -> None:
    """Print the figures; the files are kept in a folder that is named."""
    print("format      kB  first s  again s  (of the processor)")
    _print_costs(measure_exports(build_report(), Path(arguments[0]) if arguments else None))
    print(f"with a table of {_ROWS:,} rows and {_COLUMNS} columns")
    _print_costs(measure_exports(build_table_report(), left_out={"pdf"}))


def _print_costs(costs: Iterable[ExportCost]) -> None:
    for one in costs:
        shown = f"{one.kilobytes:8,.0f} {one.first:8.2f} {one.second:8.2f}"
        print(f"{one.name:5} {one.problem or shown}")


if __name__ == "__main__":
    main(sys.argv[1:])
