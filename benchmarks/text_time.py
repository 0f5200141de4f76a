"""Measure how the time of every function that reads text grows with a hostile text.

    python -m benchmarks.text_time [NAME …] [--seconds N] [--floor N] [--part 1/2] [--kept FILE]

Every function of the program whose arguments can be made of a text is given a short one of each of
`TEXTS`; with the one that is worst for it the processor time is printed at 10 KB, 100 KB, 1 MB and
10 MB, with the power of the length it grows with: 1 if it takes ten times as long for ten times the
text. ">" stands before the seconds after which one was ended, "~" before those that a size would
take that was not tried, since that is more than `--seconds`. What grows faster than `STEEP` is
flagged.

With `--kept` each line is kept in a file, and a function that has one there is not measured again;
several processes may share the file, each with a part of the functions. `--table` only prints what
is kept there: the slowest functions first, and the counts.

What reads a question, a title or a sentence is never given more than these may have. Of the first
two a tenth of that and all of it is measured, in the first two columns, and the limit is printed.
What reads sentences is given those of the text one by one, as the program does.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import signal
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, pairwise
from math import inf, log
from pathlib import Path
from typing import NamedTuple

from benchmarks.text_readers import Reader, readers
from text.sentences import LONGEST_SENTENCE

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)

STEEP = 1.3
"""Time may grow with this power of the length at most, the noise of measuring included."""

SHORT = 4_000
"""So many characters has a text with which it is found out which is worst for a function."""

CHOSEN = 4
"""Of so many texts that take it longest it is looked at how the time grows."""

TIMES = 4
"""So many times as long is the text with which that is looked at."""

SECONDS = 3.0
"""What takes longer is ended."""

PATIENCE = 2
"""So many times as long may take what would take `SECONDS`, if it grew as the text does."""

SEARCHED = 4.0
"""No more seconds are spent on finding the text that is worst for a function."""

MEMORY = 6 * 2**30
"""How many bytes the measuring may use; what needs more is told like what takes too long."""

FLOOR = 0.05
"""What takes fewer seconds of processor time is not judged."""

UNITS = tomllib.loads(Path(__file__).with_name("text_units.toml").read_text("utf-8"))


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


def hostile_texts(name: str, size: int) -> str:
    """Return a text of some size that nothing was given before, so that nothing is remembered."""
    end = f" stand {next(_made)}"
    return TEXTS[name](size - len(end)) + end


class _Grown(NamedTuple):
    """How long a function took for growing texts of one sort."""

    name: str
    """The function, and which of its arguments is the text."""
    text: str
    limit: str
    """What bounds the text that reaches it, if anything does."""
    sizes: list[int]
    """How long the texts are."""
    before: float
    """The seconds for a short one: the first part of the first."""
    seconds: list[float]
    """The seconds for each, as far as they were tried; where one was ended, those until then."""
    ended: bool
    """Whether the last that was tried was ended."""

    @property
    def growth(self) -> float:
        """The power of the length with which the time grows: 1 if as the text does, 2 for twice."""
        first = (self.sizes[0] // TIMES, self.before)
        each = pairwise([first, *zip(self.sizes, self.seconds, strict=False)])
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

    @property
    def pace(self) -> float:
        """The seconds for a million characters, by the longest text that was tried."""
        return self.seconds[-1] / self.sizes[len(self.seconds) - 1] * 1_000_000


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


def measure_seconds(reader: Reader, text: str, most: float) -> float:
    """Return the processor time for a text; infinite where it is more than `most` seconds."""
    # What the garbage collector does depends on what was read before.
    gc.disable()
    # The time of the thread is known more exactly than that of the process.
    started = time.thread_time()
    try:
        with _within(most):
            reader.read(text)
    except (_Ended, MemoryError):
        return inf
    finally:
        gc.enable()
    return time.thread_time() - started


def _worst(reader: Reader, most: float, size: int = SHORT) -> str:
    """Return the name of the text that is worst for a function: slow, and slower as it grows."""
    size = min(size, reader.most // TIMES)
    # What is compiled and read from files at first is no part of what a text takes.
    measure_seconds(reader, hostile_texts("sentences", size), most)
    short: dict[str, float] = {}
    for name in TEXTS:
        if sum(min(one, most) for one in short.values()) < SEARCHED:
            short[name] = measure_seconds(reader, hostile_texts(name, size), most)
    slow = sorted(short, key=lambda name: -short[name])[:CHOSEN]
    long = {name: measure_seconds(reader, hostile_texts(name, size * TIMES), most) for name in slow}
    return max(slow, key=lambda name: long[name] * max(1, long[name] / short[name] / TIMES))


def _sizes(reader: Reader) -> tuple[int, ...]:
    """Return how long the texts are with which a function is measured."""
    return SIZES if reader.most >= SIZES[-1] else (reader.most // 10, reader.most)


def estimate_growth(reader: Reader, text: str, tried: Sequence[int], most: float) -> _Grown:
    """Measure a function over growing texts of one sort, as long as that is quick enough."""
    before = measure_seconds(reader, hostile_texts(text, tried[0] // TIMES), most)
    seconds: list[float] = []
    for at, size in enumerate(tried):
        if at and seconds[-1] * size / tried[at - 1] > most:
            break
        seconds.append(measure_seconds(reader, hostile_texts(text, size), PATIENCE * most))
    ended = inf in seconds
    known = [min(one, PATIENCE * most) for one in [before, *seconds]]
    return _Grown(reader.name, text, _limit(reader), [*tried], known[0], known[1:], ended)


def measure_reader(reader: Reader, most: float) -> _Grown:
    """Return how a function does with the text that it does worst with.

    What seems to grow too fast is measured once more, for that may have been the machine.
    """
    text = _worst(reader, min(most, 1.0))
    first = estimate_growth(reader, text, _sizes(reader), most)
    if not first.steep:
        return first
    return min(
        first, estimate_growth(reader, text, _sizes(reader), most), key=lambda one: one.growth
    )


def _told(one: _Grown) -> str:
    shown = [f"{each:.3f}" for each in one.seconds]
    if one.ended:
        shown[-1] = f">{one.seconds[-1]:g}"
    sign = ">" if one.ended else "~"
    untried = one.sizes[len(shown) :]
    shown += [f"{sign}{one.pace * size / 1_000_000:.0f}" for size in untried]
    shown += [""] * (len(SIZES) - len(shown))
    columns = "".join(f"{each:>9}" for each in shown)
    notes = [one.text, one.limit, "STEEP" if one.steep else ""]
    return f"{one.name:60}{columns}{one.growth:8.2f}  {', '.join(filter(None, notes))}"


def _limit(reader: Reader) -> str:
    if reader.most < SIZES[-1]:
        return f"at most {reader.most:,} characters"
    return f"sentences of {LONGEST_SENTENCE:,} characters" if reader.apart else ""


def _kept(file: Path | None) -> list[_Grown]:
    if file is None or not file.exists():
        return []
    return [_Grown(*json.loads(line)) for line in file.read_text("utf-8").splitlines()]


def _keep(file: Path | None, one: _Grown) -> None:
    if file is not None:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{json.dumps(one)}\n")


def _summary(every: Sequence[_Grown]) -> str:
    steep = sum(one.steep for one in every)
    unknown = sum(one.ended and not one.steep for one in every)
    limited = sum(bool(one.limit) for one in every)
    return (
        f"of {len(every)} functions {len(every) - steep - unknown} grow no faster than their text,"
        f" {steep} do, {unknown} were ended too early to tell; {limited} are given no more than the"
        f" limit printed beside them"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only functions whose names begin so")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="what one call may take")
    parser.add_argument("--floor", type=float, default=0.0, help="leave out what takes less")
    parser.add_argument("--part", default="1/1", help="which part of the functions, as 1/2")
    parser.add_argument("--kept", type=Path, help="where lines are kept, to go on another time")
    parser.add_argument("--table", action="store_true", help="print what is kept, slowest first")
    return parser.parse_args()


def _chosen(options: argparse.Namespace, done: Sequence[_Grown]) -> list[Reader]:
    known = {one.name for one in done}
    part, parts = map(int, options.part.split("/"))
    named = [one for one in readers() if one.name.startswith(tuple(options.names or [""]))]
    return [one for one in named[part - 1 :: parts] if one.name not in known]


def main() -> None:
    """Print a line for each function, and how many grow faster than their text."""
    options = _options()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sized = "".join(f"{size:>9}" for size in ("10 KB", "100 KB", "1 MB", "10 MB"))
    print(f"{'seconds of processor time':60}{sized}  growth")
    every = _kept(options.kept)
    for one in sorted(every, key=lambda one: (-one.steep, -one.pace)) if options.table else ():
        print(_told(one))
    for reader in [] if options.table else _chosen(options, every):
        one = measure_reader(reader, options.seconds)
        every.append(one)
        _keep(options.kept, one)
        if one.steep or max(one.seconds) >= options.floor:
            print(_told(one), flush=True)
    print(_summary(every))


if __name__ == "__main__":
    main()
