import pytest

from tools.files.extractor import extract_document

WRAPPED = """\
The lighthouse at Cape Merrin was built between 1854 and 1857 by
Thomas Arkwright, an engineer from Bristol. It stands 41 metres high.
The keeper's house was sold in 1998, and its new owner, Helen
Prydderch, turned it into a museum.
"""


async def read(tmp_path, text, name="a.txt"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return (await extract_document(path))["sections"]


async def texts(tmp_path, text, name="a.txt"):
    return "\n".join(section["text"] for section in await read(tmp_path, text, name))


@pytest.mark.parametrize("name", ["a.txt", "a.text", "a.rst"])
async def test_the_lines_of_a_wrapped_paragraph_are_joined(tmp_path, name):
    assert await texts(tmp_path, WRAPPED, name) == " ".join(WRAPPED.split())


async def test_lines_that_are_all_indented_are_joined(tmp_path):
    indented = "".join(f"    {line}\n" for line in WRAPPED.splitlines())

    assert await texts(tmp_path, indented) == " ".join(WRAPPED.split())


@pytest.mark.parametrize("indent", ["   ", "\t"])
async def test_an_indented_line_begins_a_paragraph(tmp_path, indent):
    found = await texts(tmp_path, f"{indent}{WRAPPED}{indent}{WRAPPED}")

    assert [" ".join(line.split()) for line in found.split("\n")] == [" ".join(WRAPPED.split())] * 2


async def test_wrapped_chinese_lines_are_joined_without_a_space(tmp_path):
    line = "武夷岩茶是产于福建省武夷山的一种乌龙茶它的代表品种有大红袍铁罗汉白鸡冠和水金龟等等"

    assert await texts(tmp_path, f"　　{line}\n{line}\n{line[:9]}。") == f"{line}{line}{line[:9]}。"


async def test_no_space_follows_a_bracket_that_opens_at_the_end_of_a_line(tmp_path):
    line = "武夷岩茶是产于福建省武夷山的一种乌龙茶它的代表品种有大红袍铁罗汉白鸡冠和水金龟（"

    assert "（Tieluohan" in await texts(tmp_path, f"{line}\nTieluohan）等等。\n{line}\nTieluohan）")


async def test_a_word_that_was_cut_at_the_end_of_a_line_is_whole_again(tmp_path):
    text = (
        "The bees of the whole region have been studied by inter-\n"
        "national teams of well-known people.\n"
    )

    assert "international teams" in await texts(tmp_path, text)


async def test_items_verses_and_entries_stay_lines_of_their_own(tmp_path):
    text = (
        f"{WRAPPED}\n- windows on the ground floor have to stay closed all day because the\n"
        "  chimney draws air\n- the lift\n\nShopping list\neggs\n"
        "2024-05-01 12:00:03 INFO listening on the port of the machine\n"
        "2024-05-01 12:04:17 WARN the queue is above the limit of today\n"
    )

    assert (await texts(tmp_path, text)).split("\n")[2:] == [
        "- windows on the ground floor have to stay closed all day because the chimney draws air",
        "- the lift",
        "",
        "Shopping list",
        "eggs",
        "2024-05-01 12:00:03 INFO listening on the port of the machine",
        "2024-05-01 12:04:17 WARN the queue is above the limit of today",
    ]


async def test_places_count_the_lines_of_the_file(tmp_path):
    sections = await read(tmp_path, f"{WRAPPED}\n" * 30)

    last = int(sections[0]["place"].removeprefix("L1-L"))
    assert last % 5 == 4
    assert sections[1]["place"].startswith(f"L{last + 2}-")
    assert sections[-1]["place"].endswith("-L149")


async def test_the_lines_of_source_code_are_left_alone(tmp_path):
    assert await texts(tmp_path, WRAPPED, "a.py") == WRAPPED.strip()


RULED = """\
       Table 1. Kinds of bees
       ┌─────────┬──────────────┐
       │Kind     │ What it does │
       ├─────────┼──────────────┤
       │Worker   │ Gathers food │
       │         │ and guards.  │
       ├─────────┼──────────────┤
       │Drone    │ Mates.       │
       └─────────┴──────────────┘
       Every kind is in a hive.
"""

HEADED = """\
┏━━━━━━━┳━━━━━━━┓
┃ Month ┃ Honey ┃
┣━━━━━━━╋━━━━━━━┫
┃ May   ┃ 4 kg  ┃
┃       ┃ early ┃
┃ June  ┃ 9 kg  ┃
┗━━━━━━━┻━━━━━━━┛
"""


async def test_a_row_of_a_ruled_table_is_one_line(tmp_path):
    shown = await texts(tmp_path, RULED)

    assert [line.strip() for line in shown.split("\n")] == [
        "Table 1. Kinds of bees",
        "| Kind | What it does |",
        "| Worker | Gathers food and guards. |",
        "| Drone | Mates. |",
        "Every kind is in a hive.",
    ]


async def test_without_a_rule_between_them_rows_begin_with_their_first_cell(tmp_path):
    shown = await texts(tmp_path, HEADED)

    assert shown.split("\n") == ["| Month | Honey |", "| May | 4 kg early |", "| June | 9 kg |"]


async def test_ruled_tables_in_source_code_stay_as_they_are(tmp_path):
    assert await texts(tmp_path, HEADED, "a.py") == HEADED.strip()
