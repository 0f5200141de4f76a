"""What a source says of one thing is not told of another, nor more strongly than it says it."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations

NAMES = {
    "S1": "The Kestrel database manual — Backups",
    "S2": "The Merlin database manual — Locks",
    "S3": "The Merlin database manual — Releases",
    "S4": "The Kestrel database manual — Tuning",
}
TEXTS = {
    "S1": (
        "Backups are made while the server runs, and a backup of 20 GB takes a quarter of an hour. "
        "Kestrel contains direct support for tape drives, which works fairly well."
    ),
    "S2": (
        "Locks are taken for each row, and a writer waits at most 30 seconds. Long queries may "
        "slow it down. It appears to be impossible to order locks so that every deadlock is "
        "avoided; the present order does not guarantee it, but works well in practice."
    ),
    "S3": (
        "A release of October is supported for 8 months. Other releases get 12 months of fixes and "
        "another 18 months of security updates. Two releases a year were planned in 2009."
    ),
    "S4": (
        "The page cache should be half of the memory. The index option is not enabled by default "
        "because it is new. Kestrel treats closing of a file as if it was flushed immediately "
        "before the close. All rows are compared if they are sorted by their keys. The old "
        "planner is harmless in that it only reads tables; the new one rewrites them."
    ),
}


def doubts(said: str) -> list[str]:
    checked = enforce_citations(said, TEXTS, "How do Kestrel and Merlin differ?", NAMES)

    assert (checked.body, checked.removed) == (said, [])
    return [one["reason"] for one in checked.doubted]


@pytest.mark.parametrize(
    "said",
    [
        "Kestrel takes a lock for each row, and a writer waits at most 30 seconds [S2].",
        "In Kestrel, locks are taken for each row [S2], while backups run beside the server [S1].",
        "Merlin makes backups while the server runs [S1].",
        "Kestrel 为每一行加锁，写入者最多等待 30 秒[S2]。",
        "在 Merlin 中，备份在服务器运行时进行[S1]。",
    ],
)
def test_what_a_source_says_of_one_thing_is_marked_where_it_is_told_of_another(said: str):
    assert doubts(said) == ["subject"]


@pytest.mark.parametrize(
    "said",
    [
        "Merlin takes a lock for each row, and a writer waits at most 30 seconds [S2].",
        "Kestrel makes backups while the server runs [S1].",
        "In practice, locks are taken for each row, and a writer waits at most 30 seconds [S2].",
        "Merlin 为每一行加锁，写入者最多等待 30 秒[S2]。",
        "Kestrel and Merlin both guard their data: one by backups, the other by locks [S1][S2].",
    ],
)
def test_what_a_source_says_of_its_own_subject_raises_nothing(said: str):
    assert doubts(said) == []


LIBRARY = {"S1": "晨曦图书馆读者须知", "S2": "临江档案馆查档指南", "S3": "The tapectl handbook"}
RULES = {
    "S1": "读者每次可借8册，借期为30天。未满12周岁的儿童须由家长陪同。",
    "S2": "查阅档案须提前3天预约，每人每次限5卷。",
    "S3": "Drives 4…17 are reserved. The name part cannot hold blanks. The case part cannot.",
}


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        ("晨曦图书馆要求提前3天预约才能查阅[S2]。", ["subject"]),
        ("在临江档案馆，读者每次可借8册[S1]。", ["subject"]),
        ("读者每次可借8册，借期一个月[S1]。", []),
        ("12周岁以下的儿童须由家长陪同[S1]。", []),
        ("借期有误：8 × 3 = 30[S1]。", ["calculation"]),
        ("Drives from 4 to 17 are reserved [S3].", []),
        ("Neither part may hold blanks [S3].", []),
        ("tapectl 规定每次可借8册[S1]。", ["subject"]),
    ],
)
def test_names_in_small_letters_and_in_chinese_other_units_and_ranges_are_understood(
    said: str, reasons: list[str]
):
    assert [one["reason"] for one in enforce_citations(said, RULES, "", LIBRARY).doubted] == reasons


@pytest.mark.parametrize(
    "said",
    [
        "Kestrel cannot be used with tape drives at all without patches to the server [S1].",
        "With the present order of locks, Merlin is guaranteed to avoid deadlocks [S2].",
        "Merlin 的加锁次序可以彻底避免死锁[S2]。",
        "Merlin has never missed the release planned for October [S3].",
    ],
)
def test_strong_words_that_no_passage_bears_are_marked(said: str):
    assert doubts(said) == ["strength"]


@pytest.mark.parametrize(
    "said",
    [
        "The order of locks cannot be guaranteed to avoid every deadlock [S2].",
        "The index option never comes switched on by default, because it is new [S4].",
    ],
)
def test_strong_words_that_a_passage_bears_are_not_marked(said: str):
    assert doubts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "It is off by default [S4].",
        "The index option is disabled by default [S4].",
        "When on, the closing of a file counts as a flush made immediately before the close [S4].",
        "| Rows | rows not compared by their keys [S4] |",
        "The old planner is harmless because it reads tables only [S4].",
    ],
)
def test_an_antonym_or_a_condition_on_one_side_is_no_contradiction(said: str):
    assert doubts(said) == []


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        ("| Support | 9 months [S3] |", ["other_number"]),
        ("| Support | 8 months, or 12 + 18 months for others [S3] |", []),
        ("| 支持 | 9个月[S3] |", ["other_number"]),
        ("A release of October is supported for eight months [S3].", []),
        ("A release of October is supported for five months [S3].", ["other_number"]),
        ("Others get a year of fixes [S3].", []),
        ("They are supported for 30 months in all, being 12 plus 18 [S3].", []),
    ],
)
def test_small_lengths_of_time_are_compared_in_cells_and_sentences(said: str, reasons: list[str]):
    assert doubts(f"| A | B |\n|---|---|\n{said}" if said.startswith("|") else said) == reasons


@pytest.mark.parametrize(
    "said",
    [
        "Both therefore wait for one reason – they cannot see which rows come next – and neither "
        "is of use unaided: you must set the page cache [S4][S2].",
        "Merlin says how long releases get fixes – 12 months [S3] –, whereas the other manual "
        "promises upgrades without giving a length.",
        "The nearest remark about hardware concerns tape drives alone [S1].",
        "Please say which of the two databases is meant [S1].",
    ],
)
def test_a_synthesis_or_a_word_about_the_sources_is_not_strange_to_them(said: str):
    assert doubts(said) == []


def test_a_short_paraphrase_keeps_its_citation():
    texts = {
        "S1": "Harl does not check for a race in the case where both accesses are reads.",
        "S2": "Two reads by one thread never race.",
    }
    said = "Two reads are never a race [S1]."

    assert enforce_citations(said, texts).body == said
    assert enforce_citations(said, texts).doubted == []
