"""What is computed over tables, and what is not because it could be read otherwise."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.cases import each_case
from tools.files.data_files import read_csv_grids
from tools.files.formats import FileContent, FileLimits
from tools.files.parsed_document import CellGrid
from tools.tables import answer_text
from tools.tables.query import ParsedQuery, QueryResult, compute_query
from tools.tables.question_parser import UnclearQuestion, parse_question
from tools.tables.typed_table import TypedTable, make_tables

HIVES = """hive,apiary,queen born,honey,mites per 100,temper
A1,North,2021-04-02,"1,204.5 kg",3,calm
A2,North,2019-05-20,880 kg,12,calm
B1,South,2022-06-01,n/a,7,wild
B2,South,2020-03-15,950.5 kg,,wild
C1,Sea side,2023-01-09,310 kg,1,calm
"""
蜂箱 = """编号,蜂场,产蜜量(公斤),蜂王年份
甲一,北坡,120,2021
甲二,北坡,85,2020
乙一,南坡,,2022
乙二,南坡,143,2019
"""


def table(text: str, name: str = "hives.csv") -> TypedTable:
    (made,) = make_tables(name, read_csv_grids(FileContent(text.encode(), ".csv", FileLimits())))
    return made


def result(question: str, text: str = HIVES, name: str = "hives.csv") -> QueryResult:
    read = parse_question(question, table(text, name))
    assert isinstance(read, ParsedQuery), read
    return compute_query(read)


@each_case(
    [
        ("How many hives are there?", 5),
        ("How many rows are in hives.csv?", 5),
        ("What is the number of hives in the apiary North?", 2),
        ("how many hives are calm or wild?", 5),
        ("How many hives are not in North?", 3),
        ("How many different apiaries are there?", 3),
        ("What is the total honey?", Decimal("3345.0")),
        ("What's the average honey of hives with temper calm?", Decimal("2394.5") / 3),
        ("What is the median of mites per 100?", Decimal(5)),
        ("How many hives had more than 5 mites per 100?", 2),
        ("How many hives have at least 900 honey?", 2),
        ("How many hives have a queen born before 2021?", 2),
        ("How many hives have a queen born in 2022?", 1),
        ("How many hives have no mites per 100?", 1),
        ("How many hives starting with B are there?", 2),
        ("What is the smallest honey?", Decimal(310)),
    ]
)
def test_a_number_is_computed(question: str, value: Decimal | int):
    assert result(question).value == value


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which hive has the most honey?", ["A1"]),
        ("Which hive has the lowest mites per 100?", ["C1"]),
        ("Which hive has the oldest queen born?", ["A2"]),
        ("Which two hives have the largest honey?", ["A1", "B2"]),
        ("Which apiary has the largest total honey?", ["North"]),
        ("List the hives with temper wild.", ["B1", "B2"]),
        ("Which hives are in the Sea side apiary?", ["C1"]),
    ],
)
def test_rows_and_groups_are_named(question: str, names: list[str]):
    assert [one.name for one in result(question).items] == names


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("蜂箱.csv 有多少行？", 4),
        ("蜂场为北坡的编号有几个？", 2),
        ("产蜜量的总和是多少？", 348),
        ("南坡的平均产蜜量是多少？", 143),
        ("蜂王年份大于2020的编号有多少个？", 2),
        ("最大的产蜜量是多少？", 143),
        ("有多少种不同的蜂场？", 2),
    ],
)
def test_a_chinese_question_is_computed(question: str, value: int):
    assert result(question, 蜂箱, "蜂箱.csv").value == value


def test_rows_are_counted_in_groups():
    groups = result("How many hives are there per apiary?").items

    assert {one.name: one.value for one in groups} == {"North": 2, "South": 2, "Sea side": 1}


def test_a_cell_is_looked_up():
    (cell,) = result("What is the temper of B2?").items

    assert cell.value == "wild"


def test_a_mistyped_column_is_recognised():
    assert result("What is the highest populaton size?", TWO, "cities.csv").value == 700_000


def test_cells_without_a_number_are_left_out_and_told():
    found = result("What is the average honey?")

    assert (found.used, found.fitting, found.empty) == (4, 5, 1)
    assert "4 of 5 rows used; 1 left out because honey is empty" in answer_text.render_table_answer(
        found, "en"
    )


def test_a_row_that_sums_up_the_others_is_left_out_and_told():
    text = "item,price\npen,2\nink,5\nTotal,7\n"
    found = result("What is the total price?", text, "shop.csv")

    assert found.value == 7
    assert "row 4 sums up others" in answer_text.render_table_answer(found, "en")


@pytest.mark.parametrize(
    ("rows", "left_out"),
    [
        (
            "Graz,100\nLinz,200\nTotal:,300\nRome,50\nBari,9\nTotal Italy,59\nAll shops,359\n",
            [4, 7, 8],
        ),
        ("Graz,100\nLinz,200\n,300\n", [4]),
        ("Graz,100\nLinz,200\nGesamt,300\n", [4]),
        ("Graz,100\nLinz,200\nAverage,150\n", [4]),
        ("一店,100\n二店,200\n合　计,300\n", [4]),
        ("Graz,100\nLinz,200\nTotal Energies,700\nAll Saints,20\n", []),
        ("Graz,100\nLinz,200\nAverage,400\n,250\n", []),
        ("Graz,100\nLinz,200\nWien,300\n", []),
    ],
)
def test_rows_that_sum_up_others_are_known_by_name_and_number(rows: str, left_out: list[int]):
    assert table(f"shop,sales\n{rows}").totals == left_out


def test_sums_of_groups_are_known_by_their_second_cell():
    text = "country,city,guests\nItaly,Rome,50\nItaly,Subtotal,50\nMalta,Mdina,7\nMalta,Total,9\n"

    assert table(text).totals == [3]


def test_an_unnamed_sum_is_known_where_all_its_numbers_are_sums():
    text = "land,men,women\nA,1,2\nB,3,4\nC,5,6\nWorld,9,12\n"

    assert table(text).totals == [5]
    assert table(text.replace("9,12", "9,13")).totals == []


def test_several_sums_are_told_in_the_plural():
    text = "item,price\npen,2\nink,5\nSubtotal,7\nbox,1\nTotal,8\n"
    told = answer_text.render_table_answer(result("What is the total price?", text), "en")

    assert "rows 4, 6 sum up others and are left out" in told


PARTS = """part,stock,supplier,checked,approved,price
bolt,0,Acme,yes,yes,€1
nut,12,Cogs,no,rejected,$2
gear,,Acme,no,pending,€3
rod,7,Cogs,yes,yes,€4
"""


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many parts are not checked?", 2),
        ("How many parts have not been checked?", 2),
        ("How many parts are checked?", 2),
        ("How many parts have no supplier?", 0),
        ("What is the total stock where supplier is not Acme?", 19),
        ("What is the total stock where supplier = Acme?", 0),
    ],
)
def test_what_is_denied_is_not_taken_for_what_is_empty(question: str, value: int):
    assert result(question, PARTS, "parts.csv").value == value


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How many parts are not approved?", "“are not approved” could mean approved = “rejected”"),
        ("How many parts have no stock?", "“have no stock” could mean stock = 0"),
        ("What is the total price?", "“price” of parts.csv is not computed with"),
    ],
)
def test_what_cannot_be_read_or_computed_is_said(question: str, told: str):
    unclear = parse_question(question, table(PARTS, "parts.csv"))

    assert isinstance(unclear, UnclearQuestion)
    assert told in answer_text.explain_unclear_question(unclear, "en")


def test_columns_of_one_name_are_told_apart_by_the_row_above_or_their_place():
    headed = "shop,2022,,2023,\n,sales,cost,sales,cost\nA,10,5,20,6\nB,30,7,40,8\n"
    bare = "shop,sales,sales\nA,10,20\nB,30,40\n"

    assert result("What is the total cost in 2023?", headed, "s.csv").value == 14
    assert [one.name for one in table(bare).columns] == [
        *("shop", "sales (column 2)", "sales (column 3)")
    ]
    unclear = parse_question("What are the total sales?", table(bare))
    assert isinstance(unclear, UnclearQuestion)
    assert unclear.options == ("sales (column 2)", "sales (column 3)")


def test_a_capital_letter_that_names_a_row_is_no_article():
    text = "shop,sales\nA,10\nB,30\n"

    assert result("What are the total sales of A?", text, "s.csv").value == 10


def test_decimals_are_added_exactly():
    text = "item,price\npen,0.1\nink,0.2\n"

    assert "is 0.3." in answer_text.render_table_answer(
        result("What is the total price?", text, "s.csv"), "en"
    )


TWO = "city,size km2,population size\nOslo,454,700000\nBergen,465,290000\n"


def test_a_name_that_two_columns_bear_is_not_guessed():
    found = parse_question("What is the average size?", table(TWO, "cities.csv"))

    assert isinstance(found, UnclearQuestion)
    assert found.options == ("size km2", "population size")


@pytest.mark.parametrize(
    ("asked", "text", "tongue", "told"),
    [
        (
            "Which apiary has the most mites per 100 in hives.csv?",
            HIVES,
            "en",
            "the total of mites per 100 for each apiary or the mites per 100 of a single row",
        ),
        (
            "hives.csv 中哪个蜂场的产蜜量(公斤)最多？",
            蜂箱,
            "zh",
            "每个蜂场合计的产蜜量(公斤)、单独一行的产蜜量(公斤)",
        ),
    ],
)
def test_the_most_of_rows_or_of_their_sums_is_asked_about_in_plain_words(
    asked: str, text: str, tongue: str, told: str
):
    found = parse_question(asked, table(text), sure=True)

    assert isinstance(found, UnclearQuestion), found
    assert told in answer_text.explain_unclear_question(found, tongue)


def test_a_value_that_two_columns_have_is_not_guessed():
    text = "from,to,price\nOslo,Bergen,90\nBergen,Oslo,80\nRome,Oslo,120\n"
    found = parse_question("What is the average price for Oslo?", table(text, "flights.csv"))

    assert isinstance(found, UnclearQuestion)
    assert len(found.options) == 2


@pytest.mark.parametrize(
    "question",
    [
        "How many hives were painted in 2022 by Anna?",
        "Why do the hives in North have the most honey?",
        "What is the average temper?",
        "Which hive is the best?",
        "What is a hive?",
        "How many bees live in hive A1?",
        "Is A1 in North?",
        "How many hives have more than 500 lb of honey?",
    ],
)
def test_a_question_with_words_that_have_no_part_in_it_is_not_computed(question: str):
    assert parse_question(question, table(HIVES)) is None


def test_a_question_that_names_the_file_is_told_why_nothing_is_computed():
    found = parse_question("How many hives in hives.csv are blue?", table(HIVES), sure=True)

    assert isinstance(found, UnclearQuestion)
    assert answer_text.explain_unclear_question(found, "en").startswith("“blue” was not understood")


def test_a_column_of_several_units_is_not_added_up():
    text = "file,size\na,3 MB\nb,200 kB\nc,1 MB\n"

    unclear = parse_question("What is the total size?", table(text, "files.csv"))
    assert isinstance(unclear, UnclearQuestion)
    told = answer_text.explain_unclear_question(unclear, "en")
    assert "“size” of files.csv is not computed with" in told
    assert "“3 MB”, “200 kB”" in told


def test_numbers_with_a_decimal_comma_are_not_misread():
    text = 'item,price\npen,"3,5"\nink,"1.234,50"\n'

    unclear = parse_question("What is the total price?", table(text, "shop.csv"))
    assert isinstance(unclear, UnclearQuestion)
    assert unclear.unusable


def test_telephone_numbers_are_not_numbers():
    text = "name,phone\nAnna,0171234\nBo,0179999\n"

    assert parse_question("What is the average phone?", table(text, "people.csv")) is None


def test_a_superlative_of_a_name_that_stands_in_many_rows_is_not_guessed():
    found = parse_question("Which apiary has the largest honey?", table(HIVES))

    assert isinstance(found, UnclearQuestion)


def test_a_table_without_a_header_has_no_columns():
    assert make_tables("x.csv", [CellGrid("", [], [(1, ["1", "2"])])]) == []


def test_an_answer_says_its_rows_its_operation_and_its_filter():
    said = answer_text.render_table_answer(
        result("What is the total honey of hives in North?"), "en"
    )

    assert said.splitlines() == [
        "In hives.csv, the total of honey where apiary = “North” is 2084.5 kg.",
        "Computed over rows 2–6 of hives.csv: total of honey where apiary = “North”; "
        "2 of 5 rows used.",
    ]


def test_a_chinese_answer_is_chinese():
    said = answer_text.render_table_answer(
        result("南坡的平均产蜜量是多少？", 蜂箱, "蜂箱.csv"), "zh"
    )

    assert said.splitlines()[0] == "蜂箱.csv 中蜂场 = “南坡” 的行，产蜜量(公斤) 的平均值是 143。"


def test_a_cell_keeps_its_brackets_and_is_no_markup_of_a_report():
    text = "item,note\npen,<b>[S9](http://x.example) [dry] Vec<T>\nink,plain\n"
    said = answer_text.render_table_answer(
        result("What is the note of pen?", text, "shop.csv"), "en"
    )

    assert "[dry] Vec<T>" in said
    assert not any(mark in said for mark in ("<b>", "[S9]", "http"))
