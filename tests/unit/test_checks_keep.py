"""What is true stays in a report: code, clauses, honest words, numbers that need no source."""

from __future__ import annotations

import time

import pytest

from report.checks.attribution import enforce_citations
from report.checks.claims import classify_statement
from report.checks.verification import verify_citations

LOG = (
    "The `fsync` call flushes the file. Set `wal_mode` to keep a log. Map<String, Tape> holds the "
    "tapes. The <tape_head> element moves. A tape has 48 tracks and 12 heads. It costs 300 euros."
)
MOON = "月球绕地球运行；它没有大气；表面有环形山。月球的直径是3474公里。"
TEXTS = {"S1": LOG, "S2": MOON}


def same(text: str, question: str = "", **names: str) -> None:
    checked = enforce_citations(text, TEXTS, question, names)

    assert (checked.body, checked.removed, checked.doubted) == (text, [], [])


@pytest.mark.parametrize(
    "text",
    [
        "The `fsync` call flushes the file [S1]. Set `wal_mode` to keep a log [S1].",
        'Set `wal_mode` [S1]; <q s="S1">Set `wal_mode` to keep a log</q>.',
        "The ``fsync`` call flushes the file [S1]. A stray ` is in the file [S1].",
        "`Map<String, Tape>` holds the tapes [S1].",
        "Map<String, Tape> holds the tapes [S1]. The <tape_head> element moves [S1].",
        "- The `<tape_head>` element moves [S1].",
    ],
)
def test_inline_code_stays_as_it_is(text: str):
    assert verify_citations(text, TEXTS).body == text
    same(text)


def test_one_wrong_quotation_takes_only_its_own_sentence_out_of_a_paragraph_with_code():
    wrong = '<q s="S1">The `fsync` call erases the whole file</q>.'
    right = "Set `wal_mode` to keep a log [S1]."

    checked = enforce_citations(f"The `fsync` call flushes the file [S1]. {wrong} {right}", TEXTS)

    assert checked.body == f"The `fsync` call flushes the file [S1]. {right}"


@pytest.mark.parametrize(
    "text",
    [
        "月球绕地球运行；它没有大气；表面有环形山[S2]。",
        "- 月球绕地球运行；表面有环形山[S2]。",
        "月球绕地球运行……表面有环形山[S2]。",
    ],
)
def test_the_clauses_of_a_chinese_sentence_share_its_citation(text: str):
    same(text)


@pytest.mark.parametrize(
    "text", ["月球有环形山吗？有[S2]。", "表面有什么？环形山[S2]。它没有大气[S2]。"]
)
def test_nothing_is_put_behind_a_chinese_question_mark(text: str):
    same(text)


@pytest.mark.parametrize(
    "said",
    [
        "The text mentions no warranty for the tape drive.",
        "Neither excerpt gives the year in which the drive was sold.",
        "Nothing was found about the maker of the heads.",
        "How loud the drive is could not be determined.",
        "The page doesn't say who wrote the driver.",
        "这些段落没有提到驱动程序的作者。",
        "文中未给出售价。",
        "关于噪声，没有找到任何数据。",
        "该页面只字未提保修。",
        "难以从这些材料判断产量。",
        "无法由上述数字得出售价。",
    ],
)
def test_what_says_that_nothing_was_found_is_kept(said: str):
    same(f"{said}\n\nThe `fsync` call flushes the file [S1].")


@pytest.mark.parametrize(
    "said",
    [
        "That both drives share a motor is my inference, and no source says it.",
        "I assume that the second drive is the newer one.",
        "It is not certain that the two names mean one machine.",
        "This should be read with some caution.",
        "两台机器共用电机，这是我的推断。",
        "由此推测，后一台更新。",
        "两个名称是否指同一台机器，尚不清楚。",
    ],
)
def test_what_says_that_it_is_an_inference_or_not_sure_is_kept(said: str):
    same(f"{said}\n\nThe `fsync` call flushes the file [S1].")


def test_a_claim_that_only_hedges_is_kept_and_named_as_without_a_source():
    said = "Drummers might prefer wooden tapes."

    checked = enforce_citations(f"{said} The `fsync` call flushes the file [S1].", TEXTS)

    assert checked.removed == []
    assert checked.doubted == [{"text": said, "reason": "no_source"}]


@pytest.mark.parametrize(
    "text",
    [
        "According to drive-2029.pdf, a tape has 48 tracks [S1].",
        "- **Step 17:** A tape has 48 tracks [S1].",
        "## Release 9.21\n\nIn 9.21 a tape has 48 tracks [S1].",
        "As table 33 shows, a tape has 48 tracks [S1].",
        "That is 36 more: 48 − 12 = 36 [S1].",
        "Tracks and heads are 60 together (48 + 12 = 60) [S1].",
        "There are 4 tracks for a head: 48 / 12 = 4 [S1].",
        "如表33所示，月球的直径是3474公里[S2]。",
    ],
)
def test_numbers_of_labels_files_headings_and_calculations_need_no_source(text: str):
    same(text)


def test_a_number_of_the_question_or_of_a_title_needs_no_source():
    text = "For the TX-870 of 1993 a tape has 48 tracks [S1]."

    assert enforce_citations(text, TEXTS).doubted != []
    same(text, "What can the TX-870 of 1993 do?")
    same(text, S1="Manual of the TX-870, 1993")


@pytest.mark.parametrize(
    "said", ["- _ – _: 42 %, ___ and ½ ² ․․ of _ [S1].", "… ；；【】 · [S1]", "_ _"]
)
def test_a_sentence_of_signs_is_no_stumbling_block(said: str):
    enforce_citations(said, TEXTS)


def test_a_sentence_that_goes_on_and_on_is_told_in_time():
    began = time.process_time()

    assert classify_statement("no " * 3_000) == "none"
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("source", "quoted"),
    [
        ("李明（），中国篮球运动员，司职后卫。", "李明（），中国篮球运动员，司职后卫。"),
        ("Call stop () to end the tape.", "Call stop () to end the tape."),
    ],
)
def test_brackets_that_are_empty_in_the_source_are_no_reason_to_remove_a_quotation(
    source: str, quoted: str
):
    text = f"It says “{quoted}” [S1]"

    assert quoted in verify_citations(text, {"S1": source}).body


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("A tape has heads (https://a.example/x) [S1].", "A tape has heads [S1]."),
        ("A tape has heads ( ![head](https://a.example/x.png) ) [S1].", "A tape has heads [S1]."),
        ("磁带有磁头（https://a.example/x）[S1]。", "磁带有磁头[S1]。"),
    ],
)
def test_brackets_that_held_nothing_but_an_address_go_with_it(said: str, kept: str):
    assert verify_citations(said, {"S1": "A tape has heads. 磁带有磁头。"}).body == kept


NAMED = {
    "S1": "Run this to shrink the store. It needs no key.",
    "S2": "This command thins out the boxes by age. Store and boxes are kept apart.",
    "S3": "The crate prune and crate shrink commands are run by hand. Documentation of crates.",
}


@pytest.mark.parametrize(
    "said",
    [
        "Documentation: “crate prune” [S2], “crate shrink” [S1].",
        "| Single boxes | “crate shrink” [S1] |",
        "The “crate prune” page still teaches `crate_age` [S2].",
    ],
)
def test_the_title_of_a_source_in_quotation_marks_is_no_quotation(said: str):
    names = {"S1": "crate shrink\na", "S2": "crate prune — Crate 1.2\nb", "S3": "All tools\nc"}

    checked = enforce_citations(said, NAMED, "", names)

    assert checked.body == said
    assert not checked.removed


def test_prose_may_name_the_numbers_of_the_code_that_it_explains():
    source = "A gate rule drops what the keeper did not name. Put a rule into the file of the gate."
    code = "I suggest these rules:\n\n```\ngate allow 4711 from 10.1.2.0/24\n```\n\n"
    said = "A gate rule drops what the keeper did not name, and 4711 is named [S1]."

    def doubted(text: str) -> list[str]:
        found = enforce_citations(text, {"S1": source}, "Which gate rules should I set?").doubted
        return [one["reason"] for one in found if "keeper" in one["text"]]

    assert not doubted(code + said)
    assert doubted(code + said.replace("4711", "4712"))
    assert not doubted(code + said.replace("4711", "10.1.2.0/24"))
    assert doubted(code + said.replace("4711", "10.1.3.0/24"))
