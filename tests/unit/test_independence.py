"""Copies of a text, pages of a site and what was taken over count as one source."""

from __future__ import annotations

import pytest

from graph.records import Source
from report.independence import are_copies, count_independent, group_copies, list_shingles

STORY = (
    "The tide mill at Eling reopened on Friday after two years of repairs. Its wheel had rusted so "
    "badly that the trust ordered a new one from a foundry in Cornwall, and the pond was dredged "
    "for the first time since the war. About four hundred people came to see the stones turn, "
    "and the first sack of flour was given to the school across the causeway. The trust hopes "
    "to grind on every tide of the summer, and says that a legacy and a raffle paid. "
)
OTHER = (
    "Engineers who surveyed old sluices along the coast report that timber gates last about "
    "forty years where worms are rare. They measured leakage at eleven sites in winter, compared "
    "iron with oak, and found that silt and not salt is what wears a hinge. Their paper recommends "
    "that ponds be emptied twice a year, and that owners keep a log of levels. Nothing in it is "
    "about flour. "
)
CHINESE = (
    "埃灵潮汐磨坊经过两年维修后于周五重新开放。水轮锈蚀严重，信托基金从康沃尔的铸造厂订购了新水轮，"
    "蓄水池也自战后第一次清淤。约四百人前来观看石磨转动，第一袋面粉送给了堤道对面的学校。"
)


def source(number: int, address: str, genre: str = "unknown", kind: str = "web") -> Source:
    site = address.split("/")[2] if "//" in address else "docs"
    return Source(  # type: ignore[typeddict-item]
        id=f"S{number}",
        page=f"p{number}",
        title=f"T{number}",
        location=address,
        kind=kind,
        site=site,
        genre=genre,
    )


def two(one: str, other: str, **more: str) -> int:
    sources = [source(1, "https://a.example/1", **more), source(2, "https://b.example/2", **more)]
    return count_independent(sources, {"S1": one, "S2": other})


def test_two_texts_on_two_sites_are_independent():
    assert two(STORY, OTHER) == 2


@pytest.mark.parametrize(
    "copy",
    [
        STORY,
        STORY.upper(),
        f"Advertisement. {STORY} Read more of our stories.",
        STORY.replace("Friday", "the 31st").replace("four hundred", "400"),
        STORY[: len(STORY) * 3 // 4],
        f"{STORY}\n\n{OTHER}",
    ],
)
def test_a_copy_is_the_same_source(copy: str):
    assert two(STORY, copy) == 1


def test_a_copy_in_traditional_characters_is_the_same_source():
    assert two(CHINESE, CHINESE.replace("蓄水池也自战后", "蓄水池也自戰後")) == 1


def test_a_quotation_makes_no_copy():
    assert two(STORY, OTHER + STORY.split(". ")[0]) == 2


def test_a_short_text_is_no_copy_since_it_may_be_a_phrase():
    assert not are_copies(list_shingles("All rights reserved. " * 2), list_shingles(STORY))


@pytest.mark.parametrize(
    "credit",
    [
        "Originally published at https://a.example.com/mill.",
        "This story first appeared on Millnews.",
        "Source: millnews.com",
        "转载自 millnews.com",
        "来源：Millnews",
    ],
)
def test_what_says_that_it_is_taken_over_is_no_source_of_its_own(credit: str):
    sources = [source(1, "https://millnews.com/1"), source(2, "https://b.example/2")]
    if "a.example.com" in credit:
        sources[0] = source(1, "https://a.example.com/1")

    assert count_independent(sources, {"S1": STORY, "S2": f"{OTHER}\n{credit}"}) == 1


def test_a_name_that_is_only_mentioned_is_no_credit():
    sources = [source(1, "https://millnews.com/1"), source(2, "https://b.example/2")]
    said = f"Millnews has written about sluices before. {OTHER}"

    assert count_independent(sources, {"S1": STORY, "S2": said}) == 2


def test_pages_of_a_site_are_one_source_but_papers_are_not():
    on_site = [source(n, f"https://a.example/{n}") for n in (1, 2)]
    papers = [source(n, f"https://arxiv.org/abs/{n}", "paper") for n in (1, 2)]
    texts = {"S1": STORY, "S2": OTHER}

    assert count_independent(on_site, texts) == 1
    assert count_independent(papers, texts) == 2


def test_files_of_a_folder_are_independent_and_pages_of_a_file_are_not():
    files = [
        source(1, "/docs/a.pdf#page=1", "file", "file"),
        source(2, "/docs/a.pdf#page=2", "file", "file"),
        source(3, "/docs/b.pdf#page=1", "file", "file"),
    ]

    assert count_independent(files, {"S1": STORY, "S2": OTHER, "S3": CHINESE}) == 2


def test_copies_are_grouped_across_all_sources():
    sources = [source(n, f"https://site{n}.example/") for n in range(1, 5)]
    texts = {"S1": STORY, "S2": OTHER, "S3": f"{STORY} More.", "S4": f"By us: {STORY}"}

    assert group_copies(sources, texts) == [["S1", "S3", "S4"], ["S2"]]


def test_nothing_is_no_source():
    assert count_independent([], {}) == 0
