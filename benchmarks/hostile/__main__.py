"""Give every command hostile words, settings and stored data, and see how each ends.

`python -m evals.hostile` tries six things: every argument and option of every command with values
of every wrong kind (`words`), every setting (`settings`), traces with lines of every form
(`traces`), checkpoints in which a value was replaced by one of another kind (`checkpoints`), the
same for branches, for what was written and for what is kept apart (`rows`), and streams that are
closed or full (`streams`). Rows are also tried as bytes that are cut, zeroed or of another type.

Every command must end in a named error or in its result; `internal`, a traceback, a signal, a hang
and an error without a hint are wrong, are printed, and make the exit status 1. `--only` takes some
of the six, `--share` a part of the trials, which `--seed` chooses; `--part 2/8` makes the second of
eight parts of these, which together are all of them.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks import forks
from benchmarks.hostile.checkpoints import checkpoint_trials, row_trials
from benchmarks.hostile.commands import setting_trials, stream_trials, word_trials
from benchmarks.hostile.homes import Trial, furnish_homes, trace_trials, try_all

KINDS: dict[str, Callable[[Path], Iterable[Trial]]] = {
    "words": lambda _: word_trials(),
    "settings": lambda _: setting_trials(),
    "traces": lambda _: trace_trials(),
    "checkpoints": checkpoint_trials,
    "rows": row_trials,
    "streams": lambda _: stream_trials(),
}
"""What is tried, by its name."""


def _main_of_trials() -> int:
    """Print what ended as it must not; return 1 if anything did."""
    parser = argparse.ArgumentParser(description="Give every command what nobody should.")
    parser.add_argument("--only", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", default="1/1")
    asked = parser.parse_args()
    part, parts = map(int, asked.part.split("/"))
    forks.prepare_forks()
    dice, wrong = random.Random(asked.seed), 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        whole = Path(name, "whole")
        furnish_homes(whole)
        for kind in asked.only:
            every = [*KINDS[kind](whole)]
            chosen = dice.sample(every, max(1, round(len(every) * asked.share)))[part - 1 :: parts]
            faults = 0
            for one in chosen:
                if fault := try_all(whole, one):
                    faults += 1
                    print(f"  {one.about}: {' '.join(one.words)!r:.120} → {fault}", flush=True)
            made = f"{len(chosen):6} of {len(every)} trials"
            print(f"{kind:12} {made}, {faults} ended as they must not", flush=True)
            wrong += faults
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(_main_of_trials())
