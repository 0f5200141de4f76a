"""A sentence gets a citation only where a source says all of it, in the same words and order."""

import pytest

from report.checks.attribution import enforce_citations
from tests.cases import each_case

BRIDGE = (
    "The Ostrel Bridge was designed by Marta Keel and paid for by Henrik Aalto. It opened in 1931 "
    "and was never closed during the flood of 1954. Keel was born in Turku, and her brother Paul "
    "died in Vaasa of pneumonia. The first toll was two marks, and the last one was five marks. "
    "All heavy boats wait for the tide."
)
ZH = "奥斯特桥由玛塔设计，由亨里克出资。大桥于1931年通车，1954年洪水期间没有关闭。"
TEXTS = {"S1": BRIDGE, "S2": "Poets admire distant music.", "S3": ZH}
TITLES = {"S1": "Ostrel Bridge", "S3": "奥斯特桥"}


def checked(said: str) -> tuple[str, list[str]]:
    found = enforce_citations(said, TEXTS, "", TITLES)
    return found.body, [one["reason"] for one in found.doubted]


@pytest.mark.parametrize(
    "said",
    [
        "It was designed by Marta Keel.",
        "The Ostrel Bridge opened in 1931 and was never closed during the flood of 1954.",
        "The bridge was never closed during the flood of 1954.",
        "Keel was born in Turku, and her brother Paul died in Vaasa of pneumonia.",
        "All heavy boats wait for the tide.",
        "大桥于1931年通车，1954年洪水期间没有关闭。",
    ],
)
def test_a_copy_gets_its_source(said: str):
    body, doubted = checked(said)
    assert doubted == []
    assert "[S1]" in body or "[S3]" in body


@each_case(
    [
        "The railings of the Ostrel Bridge were designed by Marta Keel.",
        "The Ostrel Bridge was designed by Henrik Aalto.",
        "The Ostrel Bridge was closed during the flood of 1954.",
        "Her brother Paul died in Vaasa of lung cancer.",
        "Her sister Keel was born in Turku.",
        "The last toll was two marks, and the first one was five marks.",
        "Keel was born in Vaasa of pneumonia.",
        "Some heavy boats wait for the tide.",
        "It opened before the flood of 1954.",
        "奥斯特桥由亨里克设计。",
        "大桥在1954年洪水期间关闭。",
        "大桥的栏杆由玛塔设计。",
    ]
)
def test_what_no_source_says_in_full_gets_none_and_is_marked(said: str):
    body, doubted = checked(said)
    assert "[S" not in body
    assert len(doubted) == 1 or not body


def test_a_true_paraphrase_stays_and_is_named_as_without_a_source():
    said = "During the flood of 1954 the bridge was never closed."
    assert checked(said) == (said, ["no_source"])


def test_a_calculation_that_comes_out_needs_no_copy():
    said = "The two tolls make 2 + 5 = 7 marks."
    assert checked(f"{said}\n\nThe first toll was two marks [S1].")[0].startswith(said)
