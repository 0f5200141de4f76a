"""What several providers find is joined, and a page that many find is one page."""

from __future__ import annotations

from typing import Any

import pytest

from config.search_table import SiteTable
from tools.web.providers.provider import SearchHit
from tools.web.result_fusion import fuse_results
from tools.web.site_rules import SiteRules


def hit(url: str, title: str = "", **more: Any) -> SearchHit:
    return SearchHit(url=url, title=title, snippet="", **more)


def fused(results: dict[str, list[SearchHit]], limit: int = 9, **options: Any) -> list[str]:
    rules = SiteRules.of_table(SiteTable.model_validate(options.pop("sites", {})))
    return [one["url"] for one in fuse_results(results, limit, options, rules)]


def test_what_two_providers_find_stands_above_the_first_of_one():
    results = {
        "a": [hit("https://x.org/1"), hit("https://both.org/")],
        "b": [hit("https://y.org/1"), hit("https://both.org/")],
    }

    assert fused(results)[0] == "https://both.org/"


def test_a_provider_counts_as_much_as_its_weight():
    results = {"a": [hit("https://x.org/1")], "b": [hit("https://y.org/1")]}

    assert fused(results) == ["https://x.org/1", "https://y.org/1"]
    assert fused(results, b=2.0) == ["https://y.org/1", "https://x.org/1"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (hit("https://bees.org/dance"), hit("http://bees.org/dance/")),
        (hit("https://bees.org/dance"), hit("https://www.bees.org/dance?utm_source=x#top")),
        (hit("https://bees.org/"), hit("https://m.bees.org/index.html")),
        (hit("https://bees.org/a%20b"), hit("https://bees.org/a b")),
        (hit("https://en.wikipedia.org/wiki/Bee"), hit("https://en.m.wikipedia.org/wiki/Bee")),
        (hit("https://arxiv.org/abs/2401.01234"), hit("https://arxiv.org/pdf/2401.01234v2.pdf")),
        (
            hit("https://arxiv.org/html/2401.01234v1"),
            hit("https://doi.org/10.48550/arXiv.2401.01234"),
        ),
        (hit("https://doi.org/10.1000/XyZ"), hit("https://press.org/doi/full/10.1000/xyz")),
        (hit("https://repo.org/77", doi="10.1000/xyz"), hit("https://dx.doi.org/10.1000/XYZ")),
        (
            hit("https://bees.org/p/123", "Why bees dance in the hive"),
            hit("https://www.bees.org/why-bees-dance", "Why bees dance in the hive | Bees.org"),
        ),
    ],
    ids=str,
)
def test_the_same_page_is_one_page_under_all_its_addresses(one: SearchHit, other: SearchHit):
    assert len(fused({"a": [one], "b": [other]})) == 1
    assert len(fused({"a": [other], "b": [one]})) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (hit("https://bees.org/a"), hit("https://bees.org/b")),
        (hit("https://bees.org/?id=1"), hit("https://bees.org/?id=2")),
        (
            hit("https://bees.org/2020/report", "Annual report of the bees"),
            hit("https://bees.org/2021/report", "Annual report of the bees"),
        ),
        (
            hit("https://a.org/x", "Why bees dance in the hive"),
            hit("https://b.org/x", "Why bees dance in the hive"),
        ),
        (hit("https://bees.org/1", "Home"), hit("https://bees.org/2", "Home")),
        (hit("https://arxiv.org/abs/2401.01234"), hit("https://arxiv.org/abs/2401.01235")),
    ],
    ids=str,
)
def test_different_pages_stay_different(one: SearchHit, other: SearchHit):
    assert len(fused({"a": [one], "b": [other]})) == 2


def test_a_hit_that_ties_two_pages_together_joins_them():
    results = {
        "a": [hit("https://repo.org/77"), hit("https://doi.org/10.1000/xyz")],
        "b": [hit("https://repo.org/77", doi="10.1000/xyz")],
    }

    assert len(fused(results)) == 1


def test_what_another_provider_knows_of_a_page_is_kept_with_it():
    rules = SiteRules()
    results = {
        "a": [hit("http://doi.org/10.1000/xyz", "Bees")],
        "b": [hit("https://doi.org/10.1000/xyz", "Bees!", text="Abstract.", date="2020")],
    }

    found = fuse_results(results, 5, {}, rules)

    assert found == [
        {
            "url": "https://doi.org/10.1000/xyz",
            "title": "Bees",
            "snippet": "",
            "text": "Abstract.",
            "date": "2020",
        }
    ]


def test_blocked_sites_are_left_out_and_weighed_ones_moved():
    results = {"a": [hit(f"https://{name}.org/") for name in ("spam", "plain", "good")]}
    sites = {"block": ["spam.org"], "weights": {"good.org": 3.0}}

    assert fused(results, sites=sites) == ["https://good.org/", "https://plain.org/"]
    assert fused(results, limit=1, sites=sites) == ["https://good.org/"]
