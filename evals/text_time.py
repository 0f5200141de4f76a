"""Measure how the time of every function that reads text grows with a hostile text.

    python -m evals.text_time [NAME …] [--seconds N] [--floor N]

Every function of the program whose arguments can be made of a text is given each of `TEXTS`, and
for the one that takes it longest the processor time is printed at 10 KB, 100 KB, 1 MB and 10 MB,
with the power of the length it grows with: 1 if it takes ten times as long for ten times the text.
"-" stands for a size that was not tried since it would take more than half of `--seconds`, and ">"
for one that was ended. What grows faster than `STEEP` is flagged. A question
has at most 20,000 characters, so what reads one is given no more, and that stands in the second
column. What reads sentences is given those of the text, as the program does.
"""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, pairwise
from math import log
from typing import NamedTuple

from evals.text_readers import Reader, readers

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)

STEEP = 1.3
"""Time may grow with this power of the length at most, the noise of measuring included."""

FLOOR = 0.05
"""What takes fewer seconds of processor time is not judged."""

UNITS = {
    "abbreviations": "Mr. Smith ",
    "initials": "J. K. R., ",
    "bibliography": "[12] Smith, J. K., and Roe, A. et al. (1998). On bees. Vol. 3, pp. 12-14. ",
    "clauses": "i like bees and i like tea but ",
    "endless word": "x",
    "endless number": "9",
    "digits and commas": "12,3",
    "dotted": "a.b.",
    "hyphens": "a-",
    "underscores": "_a",
    "punctuation": "?!.,;",
    "open brackets": "(",
    "brackets": "[1] ",
    "open citations": "[S1, ",
    "open quotes": "“a ",
    "open tags": "<a ",
    "open quotations": '<q s="S1">a ',
    "comments": "<!-- ",
    "backticks": "`a",
    "stars": "**a ",
    "pipes": "| a ",
    "rows": "| a | b |\n",
    "spaces": " ",
    "tabs": "\t",
    "lines": "\n",
    "wide spaces": "\u3000",
    "indented": "\n    a",
    "short lines": "a\n",
    "headings": "# a\n\n",
    "bullets": "- a\n",
    "settings": "a=b\n",
    "leads": "a: b\n",
    "announcements": "a:\n\n",
    "quoted": "> " * 50 + "a\n",
    "fences": "```\na\n",
    "addresses": "http://a.b/",
    "long address": "a.b/%20?c=",
    "mail": "a@b.",
    "negations": "not ",
    "days": "12.5.2001 ",
    "months": "may ",
    "apostrophes": "it's ",
    "equations": "1 + 2 = ",
    "backslashes": "\\",
    "chinese": "的",
    "chinese clauses": "的。",
    "chinese list": "甲、乙，",
    "dots": "……",
    "semicolons": "；",
    "passwords": "password: ",
    "base64": "QmVlcyBkYW5jZSBhdCBub29u",
    "code": "function(a){return b[c]||{d:e};};",
    "zero width": "\u200b",
    "combining": "e\u0301\u0301",
    "names": "Karl von Frisch, Bern, ",
    "sentences": "Bees of the hive dance in the sun at noon, and 12 of them sleep. ",
}


def _nested(size: int) -> str:
    """Return a list of which every item stands below the last, as deep as there is room."""
    lines: list[str] = []
    while size > 0:
        lines.append(f"{' ' * (len(lines) % 400)}- a")
        size -= len(lines[-1]) + 1
    return "\n".join(lines)


def _repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


TEXTS: dict[str, Callable[[int], str]] = {
    **{name: partial(_repeated, unit) for name, unit in UNITS.items()},
    "nested list": _nested,
    "a closed end": lambda size: "(" * (size // 2) + ")" * (size // 2),
}
"""Texts that are hard to read, made as long as they are wanted."""


_made = count()


def hostile(name: str, size: int) -> str:
    """Return a text of some size that nothing was given before, so that nothing is remembered."""
    end = f" stand {next(_made)}"
    return TEXTS[name](size - len(end)) + end


class Grown(NamedTuple):
    """How long a function took for growing texts of one sort."""

    name: str
    text: str
    sizes: list[int]
    """Those that were tried."""
    seconds: list[float]
    """One for each size; infinite where it was ended."""

    @property
    def growth(self) -> float:
        """The power of the length with which the time grows: 1 if as the text does, 2 for twice."""
        each = pairwise(zip(self.sizes, self.seconds, strict=True))
        powers = (
            log(taken / max(before, FLOOR / 10)) / log(size / smaller)
            for (smaller, before), (size, taken) in each
            if taken > FLOOR
        )
        return max(powers, default=0.0)

    @property
    def steep(self) -> bool:
        """Whether it grows faster than the text."""
        return self.growth > STEEP


class _Ended(Exception):
    """It took too long."""


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def end(*_: object) -> None:
        raise _Ended

    signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def taken(reader: Reader, text: str, most: float) -> float:
    """Return the processor time for a text; infinite where it is more than `most` seconds."""
    started = time.process_time()
    try:
        with _within(most):
            reader.read(text)
    except _Ended:
        return float("inf")
    return time.process_time() - started


def worst(reader: Reader, most: float, size: int = SIZES[0]) -> list[str]:
    """Return the names of the texts that may be worst for a function, at most three.

    They are those that take it longest, and the one that grows fastest.
    """
    long = {name: taken(reader, hostile(name, size), most) for name in TEXTS}
    short = {name: taken(reader, hostile(name, size // 4), most) for name in TEXTS}
    longest = sorted(long, key=lambda name: -long[name])[:2]
    steepest = max(long, key=lambda name: long[name] / max(short[name], 0.002))
    return list(dict.fromkeys([*longest, steepest]))


def grown(reader: Reader, text: str, sizes: Sequence[int], most: float) -> Grown:
    """Measure a function over growing texts of one sort, as long as that is quick enough."""
    seconds: list[float] = []
    tried = sorted({min(size, reader.most) for size in sizes})
    for size in tried:
        if seconds and seconds[-1] * size / tried[len(seconds) - 1] > most / 2:
            break
        seconds.append(taken(reader, hostile(text, size), most))
    return Grown(reader.name, text, tried[: len(seconds)], seconds)


def measured(reader: Reader, most: float) -> Grown:
    """Return how a function does with the text that it does worst with."""
    all_grown = [grown(reader, text, SIZES, most) for text in worst(reader, most)]
    return max(all_grown, key=lambda one: (one.steep, one.growth, one.seconds))


def _told(one: Grown) -> str:
    shown = [">" if each == float("inf") else f"{each:.3f}" for each in one.seconds]
    columns = [f"{each:>9}" for each in [*shown, *["-"] * (len(SIZES) - len(shown))]]
    flag = "  STEEP" if one.steep else ""
    return f"{one.name:52}{''.join(columns)}{one.growth:8.2f}  {one.text}{flag}"


def main() -> None:
    """Print a line for each function, and how many grow faster than their text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only functions whose names begin so")
    parser.add_argument("--seconds", type=float, default=10.0, help="what one call may take")
    parser.add_argument("--floor", type=float, default=0.0, help="leave out what takes less")
    options = parser.parse_args()
    print(
        f"{'seconds of processor time':52}{'10 KB':>9}{'100 KB':>9}{'1 MB':>9}{'10 MB':>9}  growth"
    )
    steep = 0
    for reader in readers():
        if options.names and not reader.name.startswith(tuple(options.names)):
            continue
        one = measured(reader, options.seconds)
        steep += one.steep
        if one.steep or max(one.seconds) >= options.floor:
            print(_told(one), flush=True)
    print(f"{steep} grow faster than their text")


if __name__ == "__main__":
    main()
