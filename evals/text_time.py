"""Measure how the time of every function that reads text grows with a hostile text.

    python -m evals.text_time [NAME …] [--seconds N] [--floor N]

Every function of the program whose arguments can be made of a text is given a short one of each of
`TEXTS`; with the one that is worst for it the processor time is printed at 10 KB, 100 KB, 1 MB and
10 MB, with the power of the length it grows with: 1 if it takes ten times as long for ten times the
text. ">" stands before the seconds after which one was ended, "~" before those that a size would
take that was not tried, since that is more than `--seconds`. What grows faster than `STEEP` is
flagged.

What reads a question, a title or a sentence is never given more than these may have. Of the first
two a tenth of that and all of it is measured, in the first two columns, and the limit is printed.
What reads sentences is given those of the text one by one, as the program does.
"""

from __future__ import annotations

import argparse
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, pairwise
from math import log
from typing import NamedTuple

from evals.text_readers import Reader, readers
from retrieval.text import LONGEST

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)

STEEP = 1.3
"""Time may grow with this power of the length at most, the noise of measuring included."""

SHORT = 1_500
"""So many characters has a text with which it is found out which is worst for a function."""

CHOSEN = 6
"""Of so many texts that take it longest it is looked at how the time grows."""

SECONDS = 5.0
"""What takes longer is ended."""

MEMORY = 6 * 2**30
"""How many bytes the measuring may use; what needs more is told like what takes too long."""

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

    reader: Reader
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
    except (_Ended, MemoryError):
        return float("inf")
    return time.process_time() - started


def worst(reader: Reader, most: float, size: int = SHORT) -> str:
    """Return the name of the text that is worst for a function: slow, and slower as it grows."""
    size = min(size, reader.most)
    # What is compiled and read from files at first is no part of what a text takes.
    taken(reader, hostile("sentences", size), most)
    long = {name: taken(reader, hostile(name, size), most) for name in TEXTS}
    slow = sorted(long, key=lambda name: -long[name])[:CHOSEN]
    short = {name: taken(reader, hostile(name, size // 4), most) for name in slow}
    return max(slow, key=lambda name: long[name] * max(1, long[name] / max(short[name], 0.001) / 4))


def sizes(reader: Reader) -> tuple[int, ...]:
    """Return how long the texts are with which a function is measured."""
    return SIZES if reader.most >= SIZES[-1] else (reader.most // 10, reader.most)


def grown(reader: Reader, text: str, tried: Sequence[int], most: float) -> Grown:
    """Measure a function over growing texts of one sort, as long as that is quick enough."""
    seconds: list[float] = []
    for at, size in enumerate(tried):
        if at and seconds[-1] * size / tried[at - 1] > most:
            break
        seconds.append(taken(reader, hostile(text, size), most))
    return Grown(reader, text, list(tried[: len(seconds)]), seconds)


def measured(reader: Reader, most: float) -> Grown:
    """Return how a function does with the text that it does worst with.

    What seems to grow too fast is measured once more, for that may have been the machine.
    """
    text = worst(reader, min(most, 1.0))
    first = grown(reader, text, sizes(reader), most)
    if not first.steep:
        return first
    return min(first, grown(reader, text, sizes(reader), most), key=lambda one: one.growth)


def _told(one: Grown, most: float) -> str:
    shown = [f">{most:g}" if each == float("inf") else f"{each:.3f}" for each in one.seconds]
    for size in sizes(one.reader)[len(shown) :]:
        guess = one.seconds[-1] * size / one.sizes[-1]
        shown.append(f">{most:g}" if guess == float("inf") else f"~{guess:.0f}")
    shown += [""] * (len(SIZES) - len(shown))
    columns = "".join(f"{each:>9}" for each in shown)
    notes = [one.text, _limit(one.reader), "STEEP" if one.steep else ""]
    return f"{one.reader.name:60}{columns}{one.growth:8.2f}  {', '.join(filter(None, notes))}"


def _limit(reader: Reader) -> str:
    if reader.most < SIZES[-1]:
        return f"at most {reader.most:,} characters"
    return f"sentences of {LONGEST:,} characters" if reader.apart else ""


def main() -> None:
    """Print a line for each function, and how many grow faster than their text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only functions whose names begin so")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="what one call may take")
    parser.add_argument("--floor", type=float, default=0.0, help="leave out what takes less")
    parser.add_argument("--every", type=int, default=1, help="only each so many-th function")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sized = "".join(f"{size:>9}" for size in ("10 KB", "100 KB", "1 MB", "10 MB"))
    print(f"{'seconds of processor time':60}{sized}  growth")
    chosen = [one for one in readers() if one.name.startswith(tuple(options.names or [""]))]
    every: list[Grown] = []
    for reader in chosen[:: options.every]:
        every.append(measured(reader, options.seconds))
        if every[-1].steep or max(every[-1].seconds) >= options.floor:
            print(_told(every[-1], options.seconds), flush=True)
    capped = sum(bool(_limit(one.reader)) for one in every)
    steep = sum(one.steep for one in every)
    print(f"{steep} of {len(every)} functions grow faster than their text; {capped} have a limit")


if __name__ == "__main__":
    main()
