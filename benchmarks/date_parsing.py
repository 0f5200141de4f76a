"""Compare our reading of dates with `dateparser` and `dateutil`: what is found, what it costs."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dateparser
import dateparser.search
from dateutil.parser import ParserError
from dateutil.parser import parse as parse_date

from text.dates import PartialDate, find_dates, to_iso_timestamp

PAGES = 120
"""How many pages of each language are read."""

CHINESE_DATE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日")
"""A full date, which leaves no doubt about what it means."""

MODULES = ("text.dates", "dateutil.parser", "dateparser", "dateparser.search")


class DatedText(NamedTuple):
    """A page with dates that it is certain to name."""

    text: str
    language: str
    dates: list[PartialDate]


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_english(data: Path) -> Iterator[DatedText]:
    """Yield pages of 2WikiMultihopQA with the dates of birth and death that people labelled."""
    pages = {page["id"]: page for page in _read_lines(data / "2wiki" / "corpus.jsonl")}
    for query in _read_lines(data / "2wiki" / "queries.jsonl"):
        for subject, relation, value in query["evidences"]:
            dates = [one for one in find_dates(value) if one.month and one.day]
            for page in (pages[each] for each in query["gold"]):
                if relation.startswith("date of") and dates and page["title"] == subject:
                    yield DatedText(page["text"], "en", dates)


def read_chinese(data: Path) -> Iterator[DatedText]:
    """Yield pages of CMRC 2018 that name full dates."""
    for page in _read_lines(data / "cmrc2018" / "corpus.jsonl"):
        dates = [PartialDate(*map(int, match)) for match in CHINESE_DATE.findall(page["text"])]
        if dates:
            yield DatedText(page["text"], "zh", dates)


def search_with_dateparser(text: str, language: str) -> list[PartialDate]:
    """Return the dates that `dateparser` finds in a text."""
    dates = dateparser.search.search_dates(text, languages=[language]) or []
    return [PartialDate(date.year, date.month, date.day) for _, date in dates]


def compare_search(texts: list[DatedText]) -> None:
    """Print how many of the dates are found, what else is, and the time for a kilobyte."""
    size = sum(len(each.text.encode()) for each in texts) / 1024
    total = sum(len(each.dates) for each in texts)
    searches: dict[str, Callable[[str, str], list[PartialDate]]] = {
        "ours": lambda text, _: find_dates(text),
        "dateparser": search_with_dateparser,
    }
    for name, search in searches.items():
        search(texts[0].text, texts[0].language)
        start = time.perf_counter()
        found = [search(each.text, each.language) for each in texts]
        spent = time.perf_counter() - start
        right = sum(
            date in dates for each, dates in zip(texts, found, strict=True) for date in each.dates
        )
        print(
            f"| {texts[0].language} | {name} | {right} of {total} |"
            f" {sum(map(len, found))} | {1000 * spent / size:.2f} |"
        )


def compare_timestamps(data: Path) -> None:
    """Print how many timestamps of LoCoMo each reads as we do, and the time for one."""
    dates = sorted({line["date"] for line in _read_lines(data / "locomo" / "corpus_turn.jsonl")})
    ours = [to_iso_timestamp(date) for date in dates]
    readers: dict[str, Callable[[str], str]] = {
        "ours": to_iso_timestamp,
        "dateparser": lambda text: str(dateparser.parse(text, languages=["en"])),
        "dateutil": _parse_with_dateutil,
    }
    for name, read in readers.items():
        start = time.perf_counter()
        found = [read(date).replace(" ", "T")[:16] for date in dates]
        spent = 1e6 * (time.perf_counter() - start) / len(dates)
        same = sum(a == b for a, b in zip(found, ours, strict=True))
        print(f"| {name} | {same} of {len(dates)} | {spent:.0f} |")


def _parse_with_dateutil(text: str) -> str:
    try:
        return str(parse_date(text, fuzzy=True))
    except ParserError:
        return ""


def compare_imports() -> None:
    """Print what importing each costs, in a process of its own."""
    for module in MODULES:
        code = (
            "import time; start = time.perf_counter();"
            "pages = lambda: int(open('/proc/self/statm').read().split()[1]);"
            f"before = pages(); import {module};"
            "spent = 1000 * (time.perf_counter() - start);"
            "print(f'{spent:.0f} | {(pages() - before) * 4096 / 2**20:.1f}')"
        )
        run = subprocess.run(  # noqa: S603
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        print(f"| {module} | {run.stdout.strip()} |")


def main() -> None:
    """Print three tables: dates in text, timestamps, imports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    print("| language | reader | found | dates returned | ms per KB |\n|---|---|---|---|---|")
    for read in (read_english, read_chinese):
        compare_search(list(read(data))[:PAGES])
    print("\n| reader | timestamps read alike | µs for one |\n|---|---|---|")
    compare_timestamps(data)
    print("\n| module | ms to import | MB |\n|---|---|---|")
    compare_imports()


if __name__ == "__main__":
    main()
