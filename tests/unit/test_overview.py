"""What documents there are, told without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import each_case
from tools.folder_ingestion import ingest_folder
from tools.overview import MOST, asks_overview, describe_folders


@each_case(
    [
        "What is in this folder?",
        "What's in my documents?",
        "Summarize all the files, please.",
        "Could you give me a short overview of these documents?",
        "Which files are there?",
        "Describe the contents of this directory.",
        "How many documents do you have?",
        "What are these files about?",
        "这个文件夹里有什么？",
        "请总结一下这些文档",
        "这些资料主要讲了什么内容？",
        "有哪些文件？",
    ]
)
def test_a_question_of_the_folder_is_recognised(question: str):
    assert asks_overview(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is a file?",
        "Which files does bash read?",
        "Summarize the winter of the bees.",
        "How do I list files in a directory?",
        "Which document describes the waggle dance?",
        "文件权限是什么？",
        "总结一下蜜蜂的冬天",
        "What is in the honey?",
    ],
)
def test_a_question_of_what_the_files_say_is_left_to_research(question: str):
    assert not asks_overview(question)


@pytest.fixture
async def folder(tmp_path: Path, database: None) -> str:
    """A folder with a text, a Chinese text, a table, and a file that cannot be read."""
    root = tmp_path / "mixed"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nBees dance to tell where food is.", encoding="utf-8")
    (root / "冬天.txt").write_text("蜜蜂在冬天抱成一团。", encoding="utf-8")
    (root / "hives.csv").write_text("hive,honey\nA1,12\n", encoding="utf-8")
    (root / "broken.xlsx").write_bytes(b"PK\x03\x04 no")
    return (await ingest_folder("sam", root, lambda _: None)).root


async def test_each_document_is_told_with_kind_size_date_language_and_a_sentence(folder: str):
    whole, *each = await describe_folders("sam", [folder], "en")

    assert "There are 3 documents" in whole.text
    assert "Not read: broken.xlsx" in whole.text
    lines = {Path(one.location).name: one.text for one in each}
    assert lines["bees.md"].startswith("- bees.md: Markdown, 41 B, of 20")
    assert "English; “Bees dance to tell where food is.”" in lines["bees.md"]
    assert "text" in lines["冬天.txt"]
    assert "Chinese; “蜜蜂在冬天抱成一团。”" in lines["冬天.txt"]
    assert "CSV table" in lines["hives.csv"]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("A Vec<T> holds argv[1] | two, where x < y and y > z.", None),
        (
            "A gate [S7] opens, and [?] shuts it again.",
            "A gate (S7) opens, and (?) shuts it again.",
        ),
        ("The `ls *.c` of <b>bold</b> men is a list.", "The ls *.c of bold men is a list."),
        (
            'It is <q s="S1">told</q> at https://a.example/x and no more.',
            "It is told at and no more.",
        ),
    ],
)
async def test_what_is_quoted_keeps_its_brackets_and_is_no_mark_of_a_report(
    tmp_path: Path, database: None, written: str, told: str | None
):
    (tmp_path / "gate.txt").write_text(written, encoding="utf-8")
    root = (await ingest_folder("sam", tmp_path, lambda _: None)).root

    _, one = await describe_folders("sam", [root], "en")

    assert f"“{told or written}”" in one.text


async def test_an_overview_is_worded_in_chinese(folder: str):
    whole, *_ = await describe_folders("sam", [folder], "zh")

    assert "中有 3 个文档" in whole.text


@pytest.mark.usefixtures("folder")
async def test_a_folder_of_another_owner_is_empty():
    assert await describe_folders("kim", [], "en") == []


async def test_of_many_documents_the_first_are_told_and_the_rest_counted(
    tmp_path: Path, database: None
):
    root = tmp_path / "many"
    root.mkdir()
    for number in range(MOST + 5):
        (root / f"note{number:03}.txt").write_text(f"Note {number} says a thing.", encoding="utf-8")
    library = await ingest_folder("sam", root, lambda _: None)

    whole, *each = await describe_folders("sam", [library.root], "en")

    assert f"There are {MOST + 5} documents" in whole.text
    assert f"The first {MOST} follow" in whole.text
    assert len(each) == MOST


async def test_one_letter_alone_is_told_as_what_it_is(tmp_path: Path, database: None):
    file = tmp_path / "hello.eml"
    file.write_text("From: Ann\nSubject: Bees\n\nThe bees dance again.", encoding="utf-8")
    library = await ingest_folder("sam", file, lambda _: None)

    whole, _ = await describe_folders("sam", [library.root], "en")

    assert "There is 1 document in" in whole.text
    assert whole.text.endswith("in all: letter 1.")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Next: Pumps, Up: Manual [Index]\n\nA pump moves water.", "A pump moves water."),
        ("- The valve opens at 4 bar.\n- It shuts at 3.", "The valve opens at 4 bar."),
        ("open 4 never\nshut 3 maybe\n\nThe table tells when it opens.", "The table tells"),
        (
            "See the GNU General Public License for more details.\n\nGates hold back water.",
            "Gates hold back water.",
        ),
    ],
)
async def test_the_sentence_of_a_document_is_one_and_says_something_of_it(
    tmp_path: Path, database: None, written: str, told: str
):
    (tmp_path / "valve.md").write_text(f"# Valves\n\n## Parts\n\n{written}", encoding="utf-8")
    root = (await ingest_folder("sam", tmp_path, lambda _: None)).root

    _, one = await describe_folders("sam", [root], "en")

    assert f"“{told}" in one.text
    assert one.title == "Valves"
