import pytest

from models.extractive.lists_and_tables import find_extreme_row, parse_row, parse_scaled_number

HIVES = [
    "Hive: H1; Weight 1 March (kg): 35.4; Weight 1 June (kg): 36; Loss over the winter (kg): 6.2.",
    "Hive: H2; Weight 1 March (kg): 31.9; Weight 1 June (kg): 33; Loss over the winter (kg): 4.9.",
    "Hive: H3; Weight 1 March (kg): 25.4; Weight 1 June (kg): 39; Loss over the winter (kg): 16.9.",
]
城市 = ["城市: 成都; 人口（万）: 2126; 面积: 14335", "城市: 苏州; 人口（万）: 1291; 面积: 8657"]


@pytest.mark.parametrize(
    ("question", "rows", "chosen"),
    [
        ("Which hive lost the most weight over the winter?", HIVES, 2),
        ("Which hive lost the least weight?", HIVES, 1),
        ("Which hive had the highest weight in March?", HIVES, 0),
        ("Which hive was heaviest in June?", HIVES, 2),
        ("哪个城市人口最多？", 城市, 0),
        ("哪个城市的面积最小？", 城市, 1),
    ],
)
def test_a_superlative_chooses_the_row_by_the_column_it_names(question, rows, chosen):
    assert find_extreme_row(question, rows) == chosen


def test_without_a_superlative_or_a_column_that_is_named_no_row_is_chosen():
    assert find_extreme_row("Which hive lost weight?", HIVES) is None
    assert find_extreme_row("Which hive is the most beautiful?", HIVES) is None


def test_only_a_row_has_cells():
    assert parse_row(HIVES[0])["Loss over the winter (kg)"] == "6.2"
    assert parse_row("He said: no; they went home.") == {}


def test_a_number_is_read_with_its_marks_and_its_scale():
    assert parse_scaled_number("about 1,250.5 kg") == 1250.5
    assert parse_scaled_number("-3 °C") == -3
    assert parse_scaled_number("2 million") == 2e6
    assert parse_scaled_number("3万") == 3e4
    assert parse_scaled_number("alive") is None
