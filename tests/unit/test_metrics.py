"""Rankings are scored as the field does it."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.retrieval_eval import fuse_ranks, mean, score_ranking

IDS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True)


def test_recall_is_the_share_of_gold_in_the_first_places():
    told = score_ranking(["a", "x", "b", "y", "z", "c"], ["a", "b", "c", "d"])

    assert [told[f"R@{cut}"] for cut in (1, 2, 5, 10)] == [0.25, 0.25, 0.5, 0.75]


def test_all_counts_only_when_every_gold_page_is_there():
    told = score_ranking(["a", "x", "y", "z", "w", "b"], ["a", "b"])

    assert (told["all@5"], told["all@10"]) == (0, 1)


def test_the_reciprocal_rank_is_that_of_the_first_gold_page_within_100():
    far = [f"x{n}" for n in range(99)]

    assert score_ranking(["x", "y", "b", "a"], ["a", "b"])["MRR"] == pytest.approx(1 / 3)
    assert score_ranking([*far, "a"], ["a"])["MRR"] == pytest.approx(1 / 100)
    assert score_ranking([*far, "x", "a"], ["a"])["MRR"] == 0


def test_the_gain_is_that_of_the_best_order_that_ten_places_allow():
    many = [f"g{n}" for n in range(20)]

    assert score_ranking(["x", "a"], ["a"])["nDCG@10"] == pytest.approx(1 / log2(3))
    assert score_ranking(many, many)["nDCG@10"] == 1


def test_a_fact_is_covered_by_any_page_of_its_group():
    told = score_ranking(
        ["a2", "x", "y", "z", "w", "b1"], ["a1", "a2", "b1"], [["a1", "a2"], ["b1"]]
    )

    assert (told["group@5"], told["all_groups@5"]) == (0.5, 0)
    assert (told["group@10"], told["all_groups@10"]) == (1, 1)
    assert "group@5" not in score_ranking(["a"], ["a"])


@given(IDS, IDS.filter(bool))
def test_every_score_is_between_0_and_1(ranked: list[str], gold: list[str]):
    assert all(0 <= value <= 1 for value in score_ranking(ranked, gold, [gold]).values())


def test_a_mean_is_over_the_rows_that_have_the_score():
    assert mean([{"R@1": 1.0}, {"R@1": 0.0, "group@5": 1.0}]) == {"R@1": 0.5, "group@5": 1.0}


def test_fusion_adds_the_reciprocal_ranks():
    assert fuse_ranks([["a", "b", "c"], ["b", "d"]]) == ["b", "a", "d", "c"]
