import pytest

from text.text_blocks import announces_following, refers_back, split_blocks


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in split_blocks(text)]


def test_a_heading_and_an_announcement_stay_with_the_next_paragraph():
    text = "One rule.\n\n## Gates\n\nThe gates are these:\n\nNorth gate and south gate.\n\nAnother."

    assert parts(text) == [
        "One rule.",
        "## Gates\n\nThe gates are these:\n\nNorth gate and south gate.",
        "Another.",
    ]


def test_an_option_stays_with_what_it_does():
    text = "Options.\n\n--speed=slow|fast [default: slow]\n\nTurns the wheel.\n\n-v\n\nTalks more."

    assert parts(text) == [
        "Options.",
        "--speed=slow|fast [default: slow]\n\nTurns the wheel.",
        "-v\n\nTalks more.",
    ]


def test_code_with_blank_lines_is_one_block_until_its_brackets_close():
    code = "mill() {\n  open();\n\n  if (wet) {\n    dry();\n  }\n}"

    assert parts(f"A mill.\n\n{code}\n\nIt turns.") == ["A mill.", code, "It turns."]


def test_a_bracket_that_never_closes_takes_in_no_whole_document():
    text = "mill() {\n  open();\n\n" + "The mill turns all day and grinds the corn.\n\n" * 200

    assert len(parts(text)[0]) < 3_000


@pytest.mark.parametrize(
    "text",
    ["The gates are:", "It is mended as follows.", "Write the following line:", "步骤如下："],
)
def test_what_announces_is_known(text):
    assert announces_following(text)


@pytest.mark.parametrize("text", ["The gate follows the wall.", "Below the gate is a pond."])
def test_what_announces_nothing_is_known(text):
    assert not announces_following(text)


@pytest.mark.parametrize(
    "text",
    [
        "This wears out.",
        "It cannot turn.",
        "However, rain helps.",
        "In the latter case it stops.",
        "By comparison, the south gate holds.",
        "这会磨损。",
        "因此要上蜡。",
    ],
)
def test_what_points_back_is_known(text):
    assert refers_back(text)


@pytest.mark.parametrize(
    "text", ["Thistles grow.", "Items are kept.", "The gate is shut.", "闸门关闭。"]
)
def test_what_stands_alone_is_known(text):
    assert not refers_back(text)
