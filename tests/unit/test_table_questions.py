"""Questions as people put them to tables: names, gaps, ranges, times, differences, choices."""

from __future__ import annotations

from decimal import Decimal
from pathlib import PurePath

import pytest

from tests.unit.test_tables import table
from tools.run_files import RunFile
from tools.tables import answer_text
from tools.tables.query import ParsedQuery, QueryResult, compute_query
from tools.tables.question_parser import UnclearQuestion, parse_question, split_table_question
from tools.tables.table_answers import compute_answers
from tools.tables.typed_table import TypedTable

LIGHTS = """number,light,coast,lit,dark,lit-again,range nm,keeper,automatic,budget
1,Skerry,North,1851-06-01,1990-06-01,,12,Ole Moe,no,"€1,200"
2,Horn,North,1870-01-01,1970-01-01,1980-05-05,18,,yes,"€900"
3,Tor,South,1901-03-10,1951-03-10,,9,Ida Vik,no,"€2,050"
4,Ness,South,1920-07-07,n/a,,21,Ole Moe,yes,n/a
5,Holm,West,1933-02-02,1943-02-02,1950-01-01,15,Jon Li,no,"€700"
"""
灯塔 = """灯塔,海岸,点亮日期,熄灭日期,射程(海里),看守人
北礁,北岸,1851年6月1日,1990年6月1日,12,王海
角灯,北岸,1870年1月1日,1970年1月1日,18,
石塔,南岸,1901年3月10日,1951年3月10日,9,李涛
"""


def result(question: str, text: str = LIGHTS, name: str = "lights.csv") -> QueryResult:
    read = parse_question(question, table(text, name), sure=name in question)
    assert isinstance(read, ParsedQuery), read
    return compute_query(read)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("In lights.csv, how many rows have a value in lit-again?", 2),
        ("How many lights have a lit-again date?", 2),
        ("How many rows of lights.csv have `lit-again` filled?", 2),
        ("How many lights have no keeper?", 1),
        ("How many rows are there in lights.csv where the keeper is missing?", 1),
        ('How many lights in lights.csv have the column "dark" empty?', 1),
        ("How many lights have not been lit-again?", 3),
    ],
)
def test_cells_with_and_without_a_value_are_counted(question: str, value: int):
    assert result(question).value == value


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many lights have a range nm between 10 and 20?", 3),
        ("How many lights have a range nm from 9 to 12?", 2),
        ("What is the average range nm of numbers 2 to 4?", 16),
        ("How many lights were lit between 1860 and 1920?", 3),
        ("How many lights were lit since 1901?", 3),
        ("How many lights were lit in March 1901?", 1),
        ("How many lights with a budget over €800 are there?", 3),
        ("How many automatic lights are there?", 2),
        ("What percentage of lights are automatic?", 2),
        ("How many lights on the South coast have a range nm over 10?", 1),
        ("How many lights have the keeper Ole Moe?", 2),
    ],
)
def test_rows_are_chosen_by_ranges_years_money_and_yes_or_no(question: str, value: int):
    found = result(question)
    assert (found.fitting if found.query.operation == "share" else found.value) == value


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (
            "What is the average number of days between lit and dark in lights.csv?",
            Decimal("27301.75"),
        ),
        ("How many days are there between lit and dark for Holm?", Decimal(3652)),
        ("What is the longest time in years from lit to dark?", Decimal(139)),
        ("Mean days from column lit to column dark over numbers 2 to 3", Decimal(27393)),
        ("灯塔.csv 里点亮日期到熄灭日期最短的是多少？", Decimal(18262)),
        ("灯塔.csv 中，从点亮日期到熄灭日期平均多少天？", Decimal(35185)),
    ],
)
def test_what_lies_between_two_dates_is_computed_row_by_row(question: str, value: Decimal):
    chinese = question.startswith("灯塔")
    found = result(question, *((灯塔, "灯塔.csv") if chinese else (LIGHTS, "lights.csv")))
    shown = found.value if found.value is not None else found.items[0].value
    if isinstance(shown, str):
        shown = Decimal(shown.split()[0])
    assert isinstance(shown, Decimal)
    assert abs(shown - value) < 1


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which light was lit first?", ["Skerry"]),
        ("Which light was lit last?", ["Holm"]),
        ("Top 2 lights by range nm", ["Ness", "Horn"]),
        ("What are the bottom two lights by range nm?", ["Tor", "Skerry"]),
        ("Which number has the largest range nm?", ["4 Ness"]),
        ("Which light in the North has the longest time from lit to dark?", ["Skerry"]),
    ],
)
def test_the_first_and_the_last_are_named(question: str, names: list[str]):
    assert [one.name for one in result(question).items] == names


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("看守人为空的有几行？", 1),
        ("灯塔.csv 中看守人有值的行有多少？", 2),
        ("列“射程(海里)”的最大值是多少？", 18),
        ("射程在10到20之间的灯塔有几个？", 2),
        ("1900年之前点亮的灯塔有多少个？", 2),
        ("点亮日期在1860年到1910年之间的有多少条？", 2),
        ("北岸占全部灯塔的百分比是多少？", 2),
    ],
)
def test_chinese_wordings_are_read(question: str, value: int):
    found = result(question, 灯塔, "灯塔.csv")
    assert (found.fitting if found.query.operation == "share" else found.value) == value


def test_a_date_with_slashes_is_read_only_where_its_column_tells_the_order():
    text = "item,sold\npen,{}/04/2020\nink,05/06/2020\n"
    asked = "How many items were sold in June 2020?"

    assert result(asked, text.format("25"), "shop.csv").value == 1
    assert not isinstance(parse_question(asked, table(text.format("02"), "shop.csv")), ParsedQuery)


@pytest.mark.parametrize(
    "question",
    [
        "Why were the lights on the North coast lit?",
        "How are lights kept lit in a storm?",
        "How many ships sank off the North coast?",
        "What is the largest budget of any ministry?",
        "Which coast is the most beautiful?",
        "Who invented the automatic light?",
        "The light has a range; what decides it?",
        "How many lights does Norway have?",
    ],
)
def test_prose_that_shares_words_with_a_table_is_not_answered_from_it(question: str):
    assert parse_question(question, table(LIGHTS, "lights.csv")) is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the average fee?", "boat,mooring fee,winter fee\nGannet,40,15\nTern,55,25\n"),
        ("费用的总和是多少？", "船,停泊费用,过冬费用\n海鸥,40,15\n燕鸥,55,25\n"),
        ("How many trips are there from Oslo?", "trip,start,end\n1,Oslo,Rome\n2,Rome,Oslo\n"),
    ],
)
def test_what_is_ambiguous_may_be_asked_again_as_it_is_offered(question: str, text: str):
    found = parse_question(question, table(text, "port.csv"), sure=True)

    assert isinstance(found, UnclearQuestion)
    assert len(found.choices) == 2
    for choice in found.choices:
        assert isinstance(parse_question(choice, table(text, "port.csv")), ParsedQuery), choice


def test_the_last_month_that_a_date_can_have_is_no_error():
    question = "How many lights were lit in December 9999?"

    parse_question(question, table(LIGHTS, "lights.csv"), sure=True)


@pytest.mark.parametrize(
    "question",
    [
        "How many lights were lit before 1860 or after 1925?",
        "How many different keepers are there per coast?",
        "What percentage of lights per coast are automatic?",
        "What is the average number of lights per coast?",
        "What is the average range nm of the top 2 lights?",
        "What is the total range nm of the North with Ole Moe and of the South with Ida Vik?",
        "How many lights have a range nm below the average?",
        "What is the second largest range nm?",
        "每个海岸平均有多少座灯塔？",
    ],
)
def test_what_is_more_than_one_computation_is_not_answered_with_another(question: str):
    assert not isinstance(
        parse_question(question, table(LIGHTS, "lights.csv"), sure=True), ParsedQuery
    )


def test_a_share_is_taken_of_the_rows_that_the_question_names_first():
    found = result("What percentage of lights in the South are automatic?")

    assert answer_text.render_table_answer(found, "en").splitlines()[0] == (
        "In lights.csv, 1 of the 2 rows where coast = “South” have automatic = “yes”: "
        "that is 50.00 %."
    )


def test_two_operations_asked_for_at_once_are_both_computed():
    found = asked("What are the smallest and the largest range nm in the North?", lights=LIGHTS)

    assert [one.rpartition(" is ")[2] for one in found] == ["12 (Skerry).", "18 (Horn)."]


def test_a_column_that_repeats_names_no_row():
    assert result("Which keeper has the largest total range nm?").items[0].name == "Ole Moe"


def test_rows_by_an_unknown_name_are_offered_as_rows():
    found = parse_question("How many towers are on the North coast?", table(LIGHTS, "lights.csv"))

    assert isinstance(found, UnclearQuestion)
    assert found.choices == ("How many rows are on the North coast?",)
    assert answer_text.explain_unclear_question(found, "en").endswith(
        "ask How many rows are on the North coast?"
    )
    assert result(found.choices[0]).value == 2


def test_years_beside_what_is_added_up_are_no_bounds_of_it():
    text = "year,winner,prize\n1999,Kip,1500\n2001,Abe,2500\n2002,Kip,900\n"
    asked = "What is the total prize between 2000 and 2003?"

    assert result(asked, text, "races.csv").value == 3400
    assert [one.name for one in result("哪一年的 prize 最高？", text, "races.csv").items] == [
        "2001 Abe"
    ]


def test_a_name_of_a_column_is_never_said_to_be_none():
    found = parse_question(
        "How many furlongs is lit-again in lights.csv?", table(LIGHTS), sure=True
    )

    assert isinstance(found, UnclearQuestion)
    assert found.wording == "furlongs"


def test_a_row_whose_name_is_only_markup_is_told_without_a_name():
    found = result("List the lights with coast North", "light,coast\n<b>,North\nTor,South\n")

    told = answer_text.render_table_answer(found, "en").splitlines()[0]
    assert told == "In lights.csv, 1 of the 2 rows has coast = “North”."


def asked(question: str, **files: str) -> list[str]:
    """Return what is said to a question over some files."""
    pairs = [
        (RunFile(f"/d/{name}.csv", name, 1, f"/d/{name}.csv"), table(text, f"{name}.csv"))
        for name, text in files.items()
    ]
    named = [one for one in pairs if PurePath(one[0].path).name in question] or pairs
    found = compute_answers(named, question, "en")
    return [one.text.splitlines()[0] for one in found.computed] if found else []


def test_the_file_whose_columns_are_named_is_the_one_that_is_meant():
    shop = "item,price\npen,2\nink,5\n"

    assert asked("What is the maximum price?", shop=shop, lights=LIGHTS) == [
        "In shop.csv, the largest price is 5 (ink)."
    ]


def test_each_thing_that_is_asked_is_answered():
    found = asked("How many lights have no keeper? And what is the total range nm?", lights=LIGHTS)

    assert [one.rpartition(" ")[2] for one in found] == ["empty.", "75."]


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("Compare fog and rain, and say how many rows lights.csv has.", 2),
        ("How many lights are in the North, and which is the oldest?", 2),
        ("灯塔怎样发光？灯塔.csv 有多少行？", 2),
        ("What is the average range nm and budget of lights in the North and the South?", 1),
    ],
)
def test_a_question_is_taken_apart_where_another_thing_is_asked(question: str, count: int):
    assert len(split_table_question(question)) == count


def apiaries(*names: str) -> list[tuple[RunFile, TypedTable]]:
    """Tables of different rows in which the totals are the same."""
    made = [
        table(f"hive,honey\nA{at},{at}\nB{at},{9 - at}\n", name) for at, name in enumerate(names)
    ]
    return [(RunFile(f"/d/{one.name}", one.name, 1, f"/d/{one.name}"), one) for one in made]


@pytest.mark.parametrize("question", ["What is the total honey?", "How many hives are there?"])
def test_every_file_that_gives_the_same_result_is_named(question: str):
    both = compute_answers(apiaries("north.csv", "south.csv"), question, "en")

    assert both
    assert [PurePath(one.location).name for one in both.computed] == ["north.csv", "south.csv"]
    assert all(PurePath(one.location).name in one.text for one in both.computed)


@pytest.mark.parametrize(
    ("language", "question", "said"),
    [
        ("en", "What is the total honey?", "The result is the same in d.csv, e.csv."),
        ("zh", "honey 的总和是多少？", "d.csv、e.csv 的结果相同。"),
    ],
)
def test_of_many_files_with_the_same_result_the_others_are_named(
    language: str, question: str, said: str
):
    found = compute_answers(apiaries(*(f"{name}.csv" for name in "abcde")), question, language)

    assert found
    assert len(found.computed) == 3
    assert found.computed[-1].text.endswith(said)
    assert found.whole
