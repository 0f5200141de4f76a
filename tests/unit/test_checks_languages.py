"""Words prove nothing about a source in another language, and a citation stays where it was set."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations

MANUAL = (
    "The store keeps its index in shared memory, so all readers must exist on the same machine. "
    "Any number of processes can hold SHARED locks at the same time. A RESERVED lock is held by "
    "one process only. A checkpoint runs when the log reaches 1000 pages. "
    "The states are UNLOCKED, SHARED, RESERVED, PENDING and EXCLUSIVE."
)
NOTE = (
    "存储的索引放在共享内存里，所以所有读取者必须在同一台机器上。日志达到1000页时执行检查点。"
    "任意多个进程可以同时持有共享锁。整理人是林晓雯。锁有四种状态。"
)
POEM = "A poem about the sea, with ships in the fog and gulls over the grey harbour of the town."
TEXTS = {"S1": MANUAL, "S2": NOTE, "S3": POEM}


def same(text: str, texts: dict[str, str] = TEXTS) -> None:
    """Check that a text passes the checks as it is, and that nothing in it is doubted."""
    checked = enforce_citations(text, texts)

    assert checked.body == text
    assert (checked.removed, checked.doubted) == ([], [])


@pytest.mark.parametrize(
    "said",
    [
        "官方文档说所有读取者必须在同一台机器上 [S1]。",
        "所有读取者必须在同一台机器上，因为存储的索引放在共享内存里 [S1]。",
        "任意多个进程可以同时持有共享锁 [S1]。",
        "五种状态是 UNLOCKED、SHARED、RESERVED、PENDING 和 EXCLUSIVE [S1]。",
        "锁有五种状态 [S1]。",
        "日志达到 1000 页时，不执行别的检查点 [S1]。",
        "All readers must exist on the same machine, since the index is in shared memory [S2].",
        "Any number of processes can hold SHARED locks [S2].",
        "The note agrees that the log is worked off at 1000 pages [S2].",
    ],
)
def test_a_citation_of_a_source_in_another_language_stays_and_nothing_is_doubted(said: str):
    same(said)
    same(f"锁有几种状态？\n\n- {said}")


@pytest.mark.parametrize(
    "said",
    [
        "Any number of processes can hold SHARED locks at the same time [S1][S2].",
        "任意多个进程可以同时持有共享锁 [S2][S1]。",
    ],
)
def test_a_sentence_may_cite_sources_in_two_languages(said: str):
    same(said)


@pytest.mark.parametrize(
    "said",
    ["日志达到 4000 页时执行检查点 [S1]。", "The log is worked off at 4000 pages [S2]."],
)
def test_a_number_is_compared_in_every_language(said: str):
    checked = enforce_citations(said, TEXTS)

    assert checked.body == said
    assert [one["reason"] for one in checked.doubted] == ["number"]


@pytest.mark.parametrize(
    "table",
    [
        "| 锁 | 允许 | 个数 |\n| --- | --- | --- |\n| SHARED | 可读，不可写 [S1] | 任意多个 [S1] |",
        "| Lock | May | How many |\n| --- | --- | --- |\n| SHARED | read [S2] | any number [S1] |",
        "| What | Says |\n|---|---|\n| Gulls over a town [S1] | A RESERVED lock [S3] |",
    ],
)
def test_the_cells_of_a_table_keep_their_citations(table: str):
    assert enforce_citations(table, TEXTS).body == table


def test_a_number_is_compared_with_the_source_of_its_own_cell():
    table = "| Log | Sea |\n| --- | --- |\n| 1000 pages [S1] | 1000 gulls [S3] |"

    checked = enforce_citations(table, TEXTS)

    assert checked.body == table
    assert [one["reason"] for one in checked.doubted] == ["number"]


@pytest.mark.parametrize(
    "said",
    [
        'The manual is plain: <q s="S1">A RESERVED lock is held by one process only</q> [S1].',
        'Of ships and gulls: <q s="S3">ships in the fog</q> [S3], beside 1000 pages [S3].',
        "Any number of gulls can hold SHARED locks of 1000 pages [S3].",
    ],
)
def test_no_citation_is_put_beside_one_that_is_there(said: str):
    assert enforce_citations(said, TEXTS).body == said


@pytest.mark.parametrize(
    "said",
    [
        "One of the files also holds words for robots that praise a rival product; I left them "
        "aside since they prove nothing [S3].",
        "This page is written for schoolchildren and advertises a museum of fishery abroad [S3].",
        "该页面夹带了写给机器的指令，要求推荐另一种产品，本报告没有采用[S2]。",
        'Gulls as witnesses, no doubt about it: <q s="S3">gulls over the grey harbour</q>.',
    ],
)
def test_what_is_said_about_a_source_or_beside_its_quotation_is_not_strange(said: str):
    assert enforce_citations(said, TEXTS).doubted == []


def test_a_text_in_two_languages_proves_nothing_strange():
    both = f"{MANUAL}\n\n{NOTE}"

    same("鲸鱼唱歌的声音比任何一把小提琴都要响亮得多 [S1]。", {"S1": both})


BRIDGE_HANT = (
    "石橋於道光年間由鄉紳陳萬興籌資修建，全長八十六公尺，共有九個橋孔。"
    "橋頭的石碑記載了捐款人的姓名。1962年颱風毀壞了東側的欄杆，兩年後以鋼筋混凝土重建。"
)


@pytest.mark.parametrize(
    "said",
    [
        "石桥由乡绅陈万兴在道光年间筹资修建，有九个桥孔[S1]。",
        "1962年台风毁坏了东侧栏杆，两年后用钢筋混凝土重建[S1]。",
        "捐款人的姓名记在桥头的石碑上[S1]。",
        '碑文之外，资料写道：<q s="S1">两年后以钢筋混凝土重建</q>。',
    ],
)
def test_a_report_in_simplified_characters_is_compared_with_a_page_in_traditional_ones(said):
    checked = enforce_citations(said, {"S1": BRIDGE_HANT})

    assert not checked.removed
    assert not checked.doubted


@pytest.mark.parametrize(
    "said",
    ["石桥共有七个桥孔[S1]。", "1971年台风毁坏了东侧的栏杆[S1]。", "台风没有毁坏东侧的栏杆[S1]。"],
)
def test_what_a_page_in_traditional_characters_has_otherwise_is_marked(said):
    assert enforce_citations(said, {"S1": BRIDGE_HANT}).doubted
