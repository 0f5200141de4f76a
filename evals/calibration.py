"""Measure how often what is called an answer is wrong, and fit what decides it.

Run `python -m evals.calibration --data ../shared/data`. Every question is put to the nearest pages
of its set, to the same without the pages that answer it, and to those of another set. The logistic
regression of each language is fitted on the sets of `FITTED`; the threshold is the lowest at which
no more than 5 % of what is called an answer is wrong there, with some room. `CHECKED` sets are only
measured. What it prints under "weights" stands in `models/extractive/confidence.py`.

An answer is right if one of the quotes it begins with is from a page that the set marks as gold, or
from another page of that title, and holds the answer. Questions for yes or no are left out.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from evals.labelled import WAYS, Case, cases
from models.extractive.confidence import WEIGHTS, Signs, likelihood

FITTED = {"en": ("2wiki facts", "hotpotqa", "2wiki"), "zh": ("cmrc2018",)}
CHECKED = {"en": ("musique hops", "musique"), "zh": ("drcd", "rgb_zh_int")}
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
WRONG = 0.05
"""The share of wrong ones among what is called an answer must not be higher."""


def main() -> None:
    """Print the curve of each set, and the weights that fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--fit", action="store_true", help="fit first, and print the weights")
    chosen = parser.parse_args()
    names = [name for sets in (FITTED, CHECKED) for some in sets.values() for name in some]
    told = {name: list(cases(chosen.data, name, slice(chosen.limit))) for name in names}
    if chosen.fit:
        _fit([one for some in FITTED.values() for name in some for one in told[name]])
    for tongue in FITTED:
        for what, sets in (("fitted", FITTED), ("checked", CHECKED)):
            for name in sets[tongue]:
                _print(f"{name} ({tongue}, {what})", tongue, told[name])
            every = [one for name in sets[tongue] for one in told[name]]
            _print(f"all {what} ({tongue})", tongue, every)


def _fit(given: Sequence[Case]) -> None:
    """Fit the weights of both languages and print them; the rest measures with them."""
    told = [one for one in given if one.signs and not one.signs.missing]
    each = Counter(one.name for one in told)
    model = LogisticRegression(C=1.0, max_iter=1000)
    rows = np.array([[*one.signs, one.tongue == "en"] for one in told if one.signs])
    share = [each[one.name] ** -0.5 for one in told]
    model.fit(rows, [one.right for one in told], sample_weight=np.array(share) / np.mean(share))
    *parts, english = (round(float(one), 2) for one in model.coef_[0])
    for tongue, more in (("en", english), ("zh", 0.0)):
        bias = round(float(model.intercept_[0]) + more, 2)
        WEIGHTS[tongue] = WEIGHTS[tongue]._replace(bias=bias, signs=Signs(*parts))
        print(f"weights {tongue}: {WEIGHTS[tongue]}")


def _print(title: str, tongue: str, given: Sequence[Case]) -> None:
    quoted = [one for one in given if one.signs]
    right = sum(one.right for one in quoted)
    print(f"\n{title}: {len(given)} asked, {len(quoted)} quoted, {right} right")
    print(
        "threshold  answered  wrong   of the right ones kept   answered by way: " + ", ".join(WAYS)
    )
    for least in sorted({*THRESHOLDS, WEIGHTS[tongue].least}):
        called = [one for one in quoted if one.signs and likelihood(one.signs, tongue) >= least]
        wrong, kept = _share(not one.right for one in called), sum(one.right for one in called)
        ways = " ".join(f"{sum(one.way == way for one in called):4}" for way in WAYS)
        mark = "*" if least == WEIGHTS[tongue].least else " "
        print(
            f"{least:8.2f}{mark} {len(called):5} {len(called) / len(given):5.1%} {wrong:6.1%}"
            f" {kept / max(right, 1):12.1%} {ways:>30}"
        )


def _share(found: Iterable[bool]) -> float:
    told = list(found)
    return sum(told) / len(told) if told else 0.0


if __name__ == "__main__":
    main()
