import pytest

from text.sentences import measure_page_width, split_sentences

NAMES = (
    "The lighthouse was built between the years 1854 and 1857 by\n"
    "Thomas Arkwright, an engineer. In the storm of the year 1903 the\n"
    "schooner ran aground below it. All hands were saved by William\n"
    "Doyle and his two daughters, who rowed out to it in May\n"
    "1903."
)


def texts(text):
    return [sentence.text for sentence in split_sentences(text)]


def test_a_sentence_goes_on_in_a_line_that_begins_with_a_name_or_a_number():
    found = texts(NAMES)

    assert len(found) == 3
    assert found[2].endswith(
        "William\nDoyle and his two daughters, who rowed out to it in May\n1903."
    )


@pytest.mark.parametrize("indent", ["    ", "\t", "\u3000\u3000"])
def test_an_indent_does_not_end_a_sentence(indent):
    assert len(texts("\n".join(indent + line for line in NAMES.split("\n")))) == 3
    assert len(texts(indent + NAMES)) == 3


def test_a_short_line_ends_also_on_a_wide_page():
    assert texts(f"{NAMES}\n\nOur Shop\nEggs\nMilk")[3:] == ["Our Shop", "Eggs", "Milk"]


@pytest.mark.parametrize(
    "entry",
    [
        "2024-05-01 12:00:03 the service is listening on {}",
        "H{} stood under the old oak tree all year",
    ],
)
def test_entries_that_begin_alike_are_not_joined(entry):
    lines = [entry.format(number) for number in (7, 8, 9)]

    assert texts("\n".join(lines)) == lines


def test_rows_and_headings_are_not_joined():
    rows = ["The name of the hive and its keeper\tweight", "The name of another hive\t40.1"]

    assert texts("\n".join(rows)) == rows
    assert len(texts(f"# The lighthouse at the cape of the north\n{NAMES}")) == 4


def test_the_width_of_a_page_is_that_of_its_full_lines():
    assert measure_page_width(NAMES.split("\n")) == 62


def test_text_that_is_not_wrapped_has_no_width():
    assert measure_page_width(["Short", "lines", "only"]) == 0
    assert measure_page_width(["x" * 300, "y" * 300]) == 0
    assert measure_page_width(["This is a sentence that takes the whole line."] * 5) == 0
