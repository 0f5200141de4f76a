"""Measure how often what is called an answer is wrong, and fit what decides it.

Run `python -m evals.calibration --data ../shared/data --documents FOLDER --manuals FOLDER
--references FOLDER --guides FOLDER --handbooks FOLDER`; `evals/natural.py` says what belongs in
the folders. Every question is put to the nearest pages of its set, to the same without the pages
that answer it, and to those of another set. The logistic regression of each language is fitted on
the sets of `FITTED`. The threshold is the lowest at which no more than 4 % of what is called an
answer is wrong: of the natural questions by the upper bound of that share (Wilson, 95 %), each
judged by a regression that was fitted without its whole folder, and of the made ones by the share
itself, each judged by one that was fitted without its tenth of the questions, five times over.
`CHECKED` sets are only measured: those called sealed are unseen, and the others ask for what
several pages say. What it prints as "weights" stands in `models/extractive/confidence.py`.

An answer is right if one of the quotes it begins with is from a page that the set marks as gold, or
from another page of that title, and holds the answer. Questions for yes or no are left out.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from evals.labelled import KINDS, WAYS, Case, cases, natural_cases
from evals.natural import AS_ASKED, PUT_AWAY, Folders
from models.extractive.confidence import WEIGHTS, Weights, likelihood
from models.extractive.signs import Signs

FITTED = {"en": (AS_ASKED, "2wiki facts"), "zh": ("cmrc2018", "drcd")}
CHECKED = {
    "en": (PUT_AWAY, "musique hops", "hotpotqa", "2wiki", "musique"),
    "zh": ("cmrc2018 sealed", "drcd sealed", "rgb_zh_int"),
}
UNSEEN = slice(2000, 2300)
"""The questions of a sealed set: of the same pages, and none that was asked for fitting."""

THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
FOLDS, REPEATS = 10, 5
STRENGTH = 0.3
"""The inverse of how strongly weights are kept small: what is unseen is in other folders."""

TWICE = AS_ASKED
"""The set that weighs twice as much as its size says."""
WRONG = 0.04
"""The share of wrong ones among what is called an answer must not be higher when it is fitted.

The aim is 5 % of what is unseen; whoever mends the signs has seen the errors that are counted here.
"""
SURENESS = 1.96
"""Of what chance does to a share, so many standard deviations are allowed for: 95 % of it."""


def main() -> None:
    """Print the curve of each set, and the weights that fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=Path, required=True)
    parser.add_argument("--manuals", type=Path, required=True)
    parser.add_argument("--references", type=Path, required=True)
    parser.add_argument("--guides", type=Path, required=True)
    parser.add_argument("--handbooks", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--languages", nargs="*", default=list(FITTED), choices=list(FITTED))
    parser.add_argument("--fit", action="store_true", help="fit first, and print the weights")
    chosen = parser.parse_args()
    folders = Folders(
        chosen.data,
        chosen.documents,
        chosen.manuals,
        chosen.references,
        chosen.guides,
        chosen.handbooks,
    )
    told = {
        name: list(_cases(folders, name, chosen.limit))
        for sets in (FITTED, CHECKED)
        for tongue in chosen.languages
        for name in sets[tongue]
    }
    for tongue in chosen.languages:
        if chosen.fit:
            _fit(tongue, [one for name in FITTED[tongue] for one in told[name]])
        for what, sets in (("fitted", FITTED), ("checked", CHECKED)):
            for name in sets[tongue]:
                _print(f"{name} ({tongue}, {what})", tongue, told[name])
                for kind in sorted({one.kind for one in told[name]} - {name}):
                    of_kind = [one for one in told[name] if one.kind == kind]
                    _print(f"{name}: {kind} ({tongue}, {what})", tongue, of_kind)
            every = [one for name in sets[tongue] for one in told[name]]
            _print(f"all {what} ({tongue})", tongue, every)


def _cases(folders: Folders, name: str, limit: int) -> Iterator[Case]:
    if name in (AS_ASKED, PUT_AWAY):
        return natural_cases(folders, name)
    if name.endswith(" sealed"):
        return cases(folders.data, name.removesuffix(" sealed"), UNSEEN)
    return cases(folders.data, name, slice(limit))


def _fit(tongue: str, given: Sequence[Case]) -> None:
    """Fit the weights and the threshold of a language and print them; the rest uses them."""
    told = [one for one in given if one.signs and not one.signs.disqualified]
    each = Counter(one.name for one in told)
    rows = np.array([one.signs for one in told])
    right = np.array([one.right for one in told])
    share = np.array([(1 + (one.name == TWICE)) * each[one.name] ** -0.5 for one in told])
    share /= share.mean()
    model = LogisticRegression(max_iter=1000, C=STRENGTH)
    asked = np.array([one.question for one in told])
    folder = np.array([one.folder for one in told])
    likely, apart = np.zeros((REPEATS, len(told))), np.zeros((1, len(told)))
    for seed in range(REPEATS):
        folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
        for some, rest in folds.split(rows, right, asked):
            model.fit(rows[some], right[some], sample_weight=share[some])
            likely[seed, rest] = model.predict_proba(rows[rest])[:, 1]
    for name in sorted(set(folder)):
        some = folder != name
        if some.any():
            model.fit(rows[some], right[some], sample_weight=share[some])
            apart[0, ~some] = model.predict_proba(rows[~some])[:, 1]
    model.fit(rows, right, sample_weight=share)
    parts = Signs(*(round(float(one), 2) for one in model.coef_[0]))
    bias = round(float(model.intercept_[0]), 2)
    made = ~np.isin([one.kind for one in told], list(KINDS.values()))
    least = max(
        _least(seen[:, which], right[which], asked[which], sure)
        for seen, which, sure in ((likely, made, 0.0), (apart, ~made, SURENESS))
        if which.any()
    )
    WEIGHTS[tongue] = Weights(bias, parts, least)
    print(f"weights {tongue}: {WEIGHTS[tongue]}")


def _least(
    likely: NDArray[np.float64],
    right: NDArray[np.bool_],
    asked: NDArray[np.str_],
    sure: float = SURENESS,
) -> float:
    """Return the lowest threshold in hundredths at which few enough answers are surely wrong.

    `likely` has a row for each time that the questions were parted. What was `asked` twice, of all
    pages and of those that do not answer it, counts once: one error is behind both.
    """
    for hundredth in range(50, 100):
        called = likely >= hundredth / 100
        wrong, every = _asked(called & ~right, asked), _asked(called, asked)
        if every and _bound(wrong, every, sure) <= WRONG:
            return hundredth / 100
    return 1.0


def _asked(which: NDArray[np.bool_], asked: NDArray[np.str_]) -> float:
    """Return how many different questions were asked, on average over the rows."""
    return float(np.mean([len(set(asked[row])) for row in which]))


def _bound(wrong: float, called: float, sure: float) -> float:
    """Return the upper bound of a share by Wilson's score, `sure` standard deviations above it."""
    share, spread = wrong / called, sure**2 / called
    middle = share + spread / 2
    return (middle + sqrt(spread * (share * (1 - share) + spread / 4))) / (1 + spread)


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
