"""Headings of plain text, and what only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.records import Source
from library.document_sections import find_section
from report.citations import describe_place, narrow_place
from report.evidence_spans import EvidenceSpan
from text.boilerplate import is_navigation_page
from text.text_blocks import find_headings, find_headings_above
from tools.files.extractor import extract_document
from tools.folder_ingestion import ingest_folder

PROSE = (
    "The queen of the hive lays her eggs in the cells of the comb, and\n"
    "workers of every age take care of them in the weeks of the summer,\n"
    "while others fetch the water that the whole of the hive needs.\n"
)
INDENTED = "".join(f"    {line}\n" for line in PROSE.splitlines())

FAQ = f"""\

                  养蜂常见问题

---------------------------------------------------------------------

目录

1. 概览
    1.1. 本文档是什么？
    1.2. 蜜蜂和其他昆虫的区别是什么？为什么我应该选择蜜蜂，而不是其他
    的昆虫？
2. 过冬
    2.1. 怎样喂糖？
        2.1.1. 什么时候？
3. 结束

第 1 章 概览

1.1. 本文档是什么？

{INDENTED}
1.2. 蜜蜂和其他昆虫的区别是什么？为什么我应该选择蜜蜂，而不是其他
的昆虫？

{INDENTED}
    1. 先打开蜂箱

    2. 再放入糖水

{INDENTED}
第 2 章 过冬

2.1. 怎样喂糖？

{INDENTED}
2.1.1. 什么时候？

{INDENTED}
第 3 章 结束

{INDENTED}"""

RFC = f"""\
Network Working Group                                         A. Keeper
Request for Comments: 1                                       June 1999

                          How Bees Dance

Table of Contents

   1   Introduction ...................................................7
   1.1    Purpose......................................................7
   2   Dances .........................................................9
   2.1   Waggle Dance ................................................14
   A.  Numbers .......................................................15

1 Introduction

1.1 Purpose

{INDENTED}
A. Keeper            Standards Track                          [Page 7]

2 Dances

2.1 Waggle Dance

{INDENTED}
A. Numbers

{INDENTED}"""

SPHINX = f"""\
Bee Manual
**********

{PROSE}
1. Hives
********

1.1. Wood
=========

{PROSE}
1.2. Straw
==========

{PROSE}
"""

SETEXT = f"""\
The house of the bees
=====================
{PROSE}
Winter
------

{PROSE}
"""


async def read(tmp_path: Path, text: str, name: str = "a.txt") -> list[tuple[int, str]]:
    """Return the headings of a text, of all pages."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    sections = (await extract_document(path))["sections"]
    return [(one.level, one.text) for part in sections for one in find_headings(part["text"])]


async def test_numbered_headings_are_marked_and_those_of_the_contents_are_not(tmp_path: Path):
    assert await read(tmp_path, FAQ) == [
        (1, "第 1 章 概览"),
        (2, "1.1. 本文档是什么？"),
        (2, "1.2. 蜜蜂和其他昆虫的区别是什么？为什么我应该选择蜜蜂，而不是其他的昆虫？"),
        (1, "第 2 章 过冬"),
        (2, "2.1. 怎样喂糖？"),
        (3, "2.1.1. 什么时候？"),
        (1, "第 3 章 结束"),
    ]


async def test_an_rfc_has_numbers_without_dots_and_appendices_with_letters(tmp_path: Path):
    assert await read(tmp_path, RFC) == [
        (1, "1 Introduction"),
        (2, "1.1 Purpose"),
        (1, "2 Dances"),
        (2, "2.1 Waggle Dance"),
        (1, "A. Numbers"),
    ]


async def test_underlined_titles_have_the_level_of_their_numbers_or_of_their_rule(tmp_path: Path):
    assert await read(tmp_path, SPHINX) == [
        (1, "Bee Manual"),
        (1, "1. Hives"),
        (2, "1.1. Wood"),
        (2, "1.2. Straw"),
    ]
    assert await read(tmp_path, SETEXT) == [(1, "The house of the bees"), (2, "Winter")]


async def test_places_are_still_lines_and_no_word_is_changed(tmp_path: Path):
    path = tmp_path / "a.txt"
    many = FAQ + "".join(f"第 {n} 章 第{n}种蜂\n\n{INDENTED * 9}\n" for n in range(4, 12))
    path.write_text(many, encoding="utf-8")
    lines = many.split("\n")

    sections = (await extract_document(path))["sections"]

    assert len(sections) > 4
    for section in sections:
        first, _, last = section["place"].replace("L", "").partition("-")
        part = "".join("".join(lines[int(first) - 1 : int(last or first)]).split())
        words = "".join(line.lstrip("#") for line in section["text"].split("\n"))
        assert "".join(words.split()) == part
    assert all(one["text"].startswith("#") for one in sections[2:])


async def test_the_contents_are_a_page_of_their_own_that_is_navigation(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text(FAQ, encoding="utf-8")

    sections = (await extract_document(path))["sections"]
    (contents,) = [one for one in sections if one["title"] == "目录"]

    assert contents["text"].startswith("目录")
    assert contents["text"].endswith("3. 结束")
    assert is_navigation_page("养蜂常见问题 — 目录", contents["text"])
    assert is_navigation_page("Bees — Table of Contents (2)", contents["text"])
    assert not is_navigation_page("Bees — Contents of a hive", PROSE)


LIST = "".join(f"{n}. Open the hive of number {n}\n\n" for n in range(1, 9))
STEPS = "".join(f"{n}. Open the hive\n\n   Use a tool.\n\n" for n in range(1, 9))
POEM = "I\n\nThe bee is not afraid of me,\nI know the butterfly;\n\nII\n\nThe woods\n"
LOG = "".join(f"{n}.{n} Started\n\n2024-05-01 12:00:0{n} INFO it listens\n\n" for n in (7, 3, 9, 2))
TABLE = "".join(f"{n}.{part}   Hive   12\n\nx\n\n" for n in range(1, 4) for part in range(1, 4))
CODE = "def run():\n\n1. Not this;\n\n    x = 1\n\n2. Nor this;\n\n    y = 2\n\n3. Nor.\n\n    z"
VERSIONS = "2.1 Bees\n\nfixed\n\n2.0 Wasps\n\nfixed\n\n1.9 Ants\n\nfixed\n\n1.8 Flies\n\nfixed\n"
YEARS = "1927. Dances\n\nx\n\n1945. Wars\n\nx\n\n1973. A prize\n\nx\n"
COLUMN = " count\n-------\n    12\n\nname     size\n-------------\n\nA sentence.\n-----------\n"
NAMES = f"A. Keeper\n\n{PROSE}\nB. Wright\n\n{PROSE}\nC. Smith\n\n{PROSE}"


@pytest.mark.parametrize(
    "text", [PROSE * 3, LIST, STEPS, POEM, LOG, TABLE, CODE, VERSIONS, YEARS, COLUMN, NAMES]
)
async def test_what_only_looks_like_a_heading_is_none(tmp_path: Path, text: str):
    assert await read(tmp_path, text) == []


async def test_source_code_and_logs_are_left_alone(tmp_path: Path):
    assert await read(tmp_path, SETEXT, "a.log") == []
    assert await read(tmp_path, SETEXT, "a.py") == []


async def test_a_citation_names_the_section_and_the_lines(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text(FAQ, encoding="utf-8")
    (page,) = [one for one in (await extract_document(path))["sections"] if "喂糖" in one["text"]][
        -1:
    ]
    at = page["text"].index("The queen", page["text"].index("2.1.1."))
    source = Source(
        id="S1",
        page="p",
        title=f"FAQ — {page['title']}",
        location=f"/a.txt#{page['place']}",
        kind="file",
    )
    shown = narrow_place(source, page["text"], EvidenceSpan(at, at + 9, True))

    assert find_headings_above(page["text"], at)[-1] == "2.1.1. 什么时候？"
    assert describe_place(shown, "en").startswith("§ 2.1.1, lines ")


@pytest.mark.usefixtures("either")
async def test_a_section_of_a_text_is_read_whole_also_over_several_pages(tmp_path: Path):
    (tmp_path / "a.txt").write_text(FAQ.replace(INDENTED, INDENTED * 40), encoding="utf-8")
    await ingest_folder("me/", tmp_path, lambda _: None)

    found = await find_section("me/", str(tmp_path / "a.txt"), "2.1. 怎样喂糖？")
    chapter = await find_section("me/", str(tmp_path / "a.txt"), "第 2 章")

    assert found is not None
    assert chapter is not None
    assert (found.level, chapter.level) == (2, 1)
    assert len(found.parts) > 2
    assert found.size > 40 * 190
    assert chapter.whole > found.whole > 2 * found.size - 9
