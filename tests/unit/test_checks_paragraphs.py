"""The sentences of a paragraph are judged beside each other."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations

EN = (
    "The log mode used to be slow for large changes. Since version 3.11 it handles changes of any "
    "size as well as the journal. New SHARED locks can be acquired while there is a RESERVED lock. "
    "The tide gate is never closed during a storm."
)
ZH = (
    "日志模式过去处理大的改动很慢。自3.11版起，它处理任何大小的改动都和旧模式一样快。"
    "持有保留锁期间可以取得新的共享锁。"
)
TEXTS = {"S1": EN, "S2": ZH}


@pytest.mark.parametrize(
    ("lead", "proof"),
    [
        (
            "Size is no longer a reason against the log mode.",
            "It used to be slow for large changes, but handles those of any size now [S1].",
        ),
        ("Large changes speak for neither mode.", "Both handle changes of any size [S1]."),
        ("改动大小不再是选择旧模式的理由。", "自3.11版起，处理任何大小的改动都一样快[S2]。"),
        ("改动的大小已经不要紧。", "任何大小的改动都处理得一样快，官方文档这样说[S1]。"),
    ],
)
def test_a_lead_sentence_stays_with_the_cited_sentences_behind_it_and_is_marked(
    lead: str, proof: str
):
    space = " " if proof.isascii() else ""
    checked = enforce_citations(f"{lead}{space}{proof}", TEXTS)

    assert checked.body == f"{lead}{space}{proof}"
    assert checked.removed == []
    assert checked.doubted == [{"text": lead, "reason": "no_source"}]


@pytest.mark.parametrize(
    "lead",
    [
        "Penguins were first tamed in Portugal.",
        "The log mode is 77 times faster for large changes.",
        "企鹅最早在葡萄牙被驯化。",
    ],
)
def test_a_lead_sentence_about_something_else_or_with_a_number_of_its_own_is_taken_out(lead: str):
    proof = "It handles changes of any size now [S1]."

    checked = enforce_citations(f"{lead} {proof}", TEXTS)

    assert (checked.body, checked.removed[0]["reason"]) == (proof, "no_source")


@pytest.mark.parametrize(
    "said",
    [
        '<q s="S1">New SHARED locks can be acquired while there is a RESERVED lock</q> [S1]. '
        "By the page, new SHARED locks cannot be acquired beside a RESERVED lock [S1][S2].",
        "In a storm, the tide gate is closed [S1][S2]. "
        'The page reads: <q s="S1">The tide gate is never closed during a storm</q> [S1].',
        '笔记说：<q s="S2">持有保留锁期间可以取得新的共享锁</q>。'
        "持有保留锁期间不可以取得新的共享锁[S2][S1]。",
    ],
)
def test_what_says_the_opposite_of_a_quotation_beside_it_is_marked(said: str):
    checked = enforce_citations(said, TEXTS)

    assert checked.body == said
    assert [one["reason"] for one in checked.doubted] == ["negation"]


def test_two_sources_may_say_the_opposite_of_each_other():
    texts = {"S1": EN, "S3": "The tide gate is closed during a storm."}
    said = (
        'One says: <q s="S1">The tide gate is never closed during a storm</q>. '
        "The other says that the tide gate is closed during a storm [S3]."
    )

    assert enforce_citations(said, texts).doubted == []
