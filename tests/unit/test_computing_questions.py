"""The answers of the computing questions, worked out a second time without pandas."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path
from statistics import correlation, linear_regression, mean, median, stdev
from typing import Any

import pytest
from openpyxl import load_workbook

from evals.computing import TABLES, has_answers, load_questions
from tests.cases import each_case

QUESTIONS = {one.id: one for one in load_questions()}
SPECIES = ("setosa", "versicolor", "virginica")


def rows(name: str) -> list[dict[str, str]]:
    with (Path(TABLES) / name).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def sheet(name: str, at: int) -> list[dict[str, Any]]:
    lines = list(load_workbook(Path(TABLES) / name).worksheets[at].iter_rows(values_only=True))
    return [dict(zip(map(str, lines[0]), line, strict=True)) for line in lines[1:]]


IRIS, ZONES, GREEK = rows("iris.csv"), rows("time_zones.csv"), rows("greek_characters.csv")
WINE, MEN, BODY = sheet("wine.xlsx", 0), sheet("linnerud.xlsx", 0), sheet("linnerud.xlsx", 1)
LEAPS = [
    (date.fromisoformat(one["date"]), int(one["TAI minus UTC seconds"]))
    for one in rows("leap_seconds.csv")
]
GAPS = [(later - earlier).days for (earlier, _), (later, _) in pairwise(LEAPS)]
ZONE_COUNTS = Counter(one["country"] for one in ZONES)
LATITUDES = {one["zone"]: float(one["latitude"]) for one in ZONES}
LONGITUDES = {one["zone"]: float(one["longitude"]) for one in ZONES}


def iris(column: str, species: str = "") -> list[float]:
    return [float(one[f"{column} cm"]) for one in IRIS if species in ("", one["species"])]


def wine(column: str, cultivar: str = "") -> list[float]:
    return [float(one[column]) for one in WINE if cultivar in ("", one["cultivar"])]


def men(column: str) -> list[float]:
    return [float(one[column]) for one in (MEN if column in MEN[0] else BODY)]


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def ranks(values: list[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(one) + (ordered.count(one) + 1) / 2 for one in values]


def highest(scores: dict[str, float]) -> tuple[str, float]:
    name = max(scores, key=lambda one: scores[one])
    return name, scores[name]


def far_irises() -> int:
    count = 0
    for one in SPECIES:
        lengths = iris("sepal length", one)
        middle, spread = mean(lengths), stdev(lengths)
        count += sum(abs(length - middle) > 2 * spread for length in lengths)
    return count


def distance(one: str, other: str) -> float:
    """Return the distance by the spherical law of cosines."""
    a, b = math.radians(LATITUDES[one]), math.radians(LATITUDES[other])
    apart = math.radians(LONGITUDES[other] - LONGITUDES[one])
    return 6371 * math.acos(math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(apart))


def latitude_spans() -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for one in ZONES:
        found.setdefault(one["country"], []).append(float(one["latitude"]))
    return {name: max(some) - min(some) for name, some in found.items()}


def chin_ups_above(pounds: int) -> list[float]:
    heavy = {one["man"] for one in BODY if one["weight lb"] > pounds}
    return [one["chin-ups"] for one in MEN if one["man"] in heavy]


def named(score: tuple[str, float], form: str) -> list[str]:
    return [score[0], form.format(score[1])]


def per_cultivar(measure: Callable[[list[float]], float], column: str) -> dict[str, float]:
    return {one: measure(wine(column, one)) for one in "ABC"}


def variation(values: list[float]) -> float:
    return 100 * stdev(values) / mean(values)


def both_above() -> int:
    sits, jumps = mean(men("sit-ups")), mean(men("jumps"))
    return sum(one["sit-ups"] > sits and one["jumps"] > jumps for one in MEN)


def totals() -> dict[str, float]:
    return {str(one["man"]): one["chin-ups"] + one["sit-ups"] + one["jumps"] for one in MEN}


def share(part: float, whole: float) -> list[str]:
    return [f"{100 * part / whole:.1f}"]


def categories(name: str) -> int:
    return sum(one["category"] == name for one in GREEK)


WORKED_OUT: dict[str, Callable[[], list[str]]] = {
    "iris-mean": lambda: [f"{mean(iris('petal length', 'virginica')):.3f}"],
    "iris-count": lambda: [str(sum(one > 1.5 for one in iris("petal width")))],
    "iris-max": lambda: [str(max(iris("sepal length", "setosa")))],
    "iris-median": lambda: [f"{median(iris('sepal width', 'versicolor')):g}"],
    "iris-correlation": lambda: [f"{correlation(iris('petal length'), iris('petal width')):.3f}"],
    "iris-deviation": lambda: [f"{stdev(iris('sepal length', 'virginica')):.3f}"],
    "iris-widest": lambda: named(
        highest({one: mean(iris("sepal width", one)) for one in SPECIES}), "{:.3f}"
    ),
    "iris-ratio": lambda: [
        f"{mean(iris('petal length', 'virginica')) / mean(iris('petal length', 'setosa')):.2f}"
    ],
    "iris-share": lambda: share(
        sum(one > 6 for one in iris("sepal length", "virginica")),
        sum(one > 6 for one in iris("sepal length")),
    ),
    "iris-percentile": lambda: [f"{quantile(iris('petal length'), 0.9):.1f}"],
    "iris-slope": lambda: [
        f"{linear_regression(iris('petal length'), iris('petal width')).slope:.4f}"
    ],
    "iris-outliers": lambda: [str(far_irises())],
    "wine-mean": lambda: [f"{mean(wine('alcohol', 'A')):.3f}"],
    "wine-count": lambda: [str(len(wine("ash", "B")))],
    "wine-max": lambda: [f"{max(wine('proline')):g}"],
    "wine-median": lambda: [f"{median(wine('magnesium')):g}"],
    "wine-correlation": lambda: [f"{correlation(wine('flavanoids'), wine('total phenols')):.3f}"],
    "wine-difference": lambda: [
        f"{mean(wine('color intensity', 'A')) - mean(wine('color intensity', 'B')):.2f}"
    ],
    "wine-flavanoids": lambda: named(highest(per_cultivar(mean, "flavanoids")), "{:.3f}"),
    "wine-variation": lambda: named(highest(per_cultivar(variation, "proline")), "{:.1f}"),
    "wine-both": lambda: [str(sum(one["alcohol"] > 13 and one["hue"] < 0.7 for one in WINE))],
    "wine-total": lambda: [f"{sum(wine('magnesium', 'C')):g}"],
    "wine-above": lambda: share(
        sum(one > mean(wine("alcohol")) for one in wine("alcohol")), len(WINE)
    ),
    "wine-quartiles": lambda: [
        f"{quantile(wine('malic acid'), 0.75) - quantile(wine('malic acid'), 0.25):.3f}"
    ],
    "wine-fit": lambda: [f"{correlation(wine('alcohol'), wine('proline')) ** 2:.3f}"],
    "wine-ranks": lambda: [
        f"{correlation(ranks(wine('hue')), ranks(wine('color intensity'))):.3f}"
    ],
    "men-pulse": lambda: [f"{mean(men('pulse')):.1f}"],
    "men-chin-ups": lambda: [f"{max(men('chin-ups')):g}"],
    "men-correlation": lambda: [f"{correlation(men('waist in'), men('sit-ups')):.3f}"],
    "men-weight": lambda: [f"{mean(men('weight lb')) * 0.45359237:.1f}"],
    "men-above": lambda: [str(both_above())],
    "men-best": lambda: named(highest(totals()), "{:g}"),
    "men-heavy": lambda: [f"{mean(chin_ups_above(180)):.2f}"],
    "men-jumps": lambda: [f"{median(men('jumps')):g}"],
    "leap-after": lambda: [str(sum(day > date(1990, 1, 1) for day, _ in LEAPS))],
    "leap-gap": lambda: [str(max(GAPS))],
    "leap-july": lambda: [str(sum((day.month, day.day) == (7, 1) for day, _ in LEAPS))],
    "leap-mean": lambda: [f"{(LEAPS[-1][0] - LEAPS[0][0]).days / (len(LEAPS) - 1):.1f}"],
    "leap-2000": lambda: [str(max(more for day, more in LEAPS if day <= date(2000, 1, 1)))],
    "leap-decade": lambda: [str(sum(1980 <= day.year < 1990 for day, _ in LEAPS))],
    "leap-thirty": lambda: [min(day for day, more in LEAPS if more >= 30).isoformat()],
    "leap-max": lambda: [str(max(more for _, more in LEAPS))],
    "zones-us": lambda: [str(sum(one["country code"] == "US" for one in ZONES))],
    "zones-most": lambda: [str(one) for one in ZONE_COUNTS.most_common()[1]],
    "zones-north": lambda: named(highest(LATITUDES), "{:g}"),
    "zones-south": lambda: [str(sum(one < 0 for one in LATITUDES.values()))],
    "zones-single": lambda: [str([*ZONE_COUNTS.values()].count(1))],
    "zones-brazil": lambda: [
        f"{mean(float(one['latitude']) for one in ZONES if one['country'] == 'Brazil'):.3f}"
    ],
    "zones-distance": lambda: [f"{distance('Europe/Paris', 'Asia/Tokyo'):.0f}"],
    "zones-europe": lambda: [str(sum(one.startswith("Europe/") for one in LATITUDES))],
    "zones-span": lambda: named(highest(latitude_spans()), "{:.2f}"),
    "zones-comment": lambda: share(sum(bool(one["comment"]) for one in ZONES), len(ZONES)),
    "zones-equator": lambda: [min(LATITUDES, key=lambda one: abs(LATITUDES[one]))],
    "zones-region": lambda: [
        str(one) for one in Counter(name.split("/")[0] for name in LATITUDES).most_common()[0]
    ],
    "greek-capitals": lambda: [str(categories("Lu"))],
    "greek-tonos": lambda: [str(sum("TONOS" in one["name"] for one in GREEK))],
    "greek-more": lambda: [str(categories("Ll") - categories("Lu"))],
    "greek-longest": lambda: [str(max(len(one["name"]) for one in GREEK))],
    "greek-coptic": lambda: share(sum("COPTIC" in one["name"] for one in GREEK), len(GREEK)),
    "greek-range": lambda: [
        str(
            sum(
                0x3B1 <= int(one["code point"][2:], 16) <= 0x3C9 and one["category"] == "Ll"
                for one in GREEK
            )
        )
    ],
}


@each_case(sorted(QUESTIONS))
def test_an_answer_comes_out_without_pandas_too(name: str):
    assert WORKED_OUT[name]() == QUESTIONS[name].answers


def test_there_are_sixty_questions():
    assert len(QUESTIONS) == 60


@pytest.mark.parametrize(
    ("text", "answers", "has"),
    [
        ("The mean is 13.745 [S1].", ["13.745"], True),
        ("The mean is 13.74 [S1].", ["13.745"], True),
        ("The mean is 13.7 [S1].", ["13.745"], False),
        ("The mean is 13.75 of 14 [S1].", ["13.745"], True),
        ("The mean is 13.76 [S1].", ["13.745"], False),
        ("It is Asia/Tokyo with 1,680.", ["Asia/Tokyo", "1680"], True),
        ("There are 52 of 150.", ["51"], False),
        ("The correlation is -0.646.", ["0.646"], True),
    ],
)
def test_a_number_counts_as_the_answer_if_it_is_rounded_and_not_if_it_is_another(
    text: str, answers: list[str], *, has: bool
):
    assert has_answers(text, answers) == has
