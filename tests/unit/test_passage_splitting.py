from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text.passage_splitting import is_breadcrumb, merge_passages, split_passages
from text.sentences import Span, split_sentences

SENTENCE = "The bees of this hive dance until all the others know where the flowers are. "


def test_a_passage_is_full_of_whole_sentences():
    found = split_passages(SENTENCE * 20, size=300)

    assert all(len(passage.text) <= 300 for passage in found)
    assert all(passage.text.endswith("are.") for passage in found)
    assert len(found) == 7


def test_chinese_passages_are_half_as_long():
    found = split_passages("蜜蜂在蜂巢里跳舞，告诉同伴花在哪里。" * 50, size=400)

    assert 150 < max(len(passage.text) for passage in found) <= 200


def test_a_heading_goes_with_what_follows():
    text = f"{SENTENCE * 3}\n\n## Wasps\n\n{SENTENCE * 3}"

    assert [p.text.startswith("## Wasps") for p in split_passages(text, size=270)] == [False, True]


def test_a_heading_does_not_make_the_sentence_below_it_too_long():
    sentence = "b" * 80 + "."

    assert [p.text for p in split_passages(f"# Title\n{sentence}", size=85)] == [
        "# Title",
        sentence,
    ]


def test_only_a_sentence_longer_than_the_window_is_cut():
    found = split_passages("bee " * 100, size=100)

    assert all(len(passage.text) <= 100 for passage in found)
    assert "".join(p.text for p in found).count("bee") == 100


def test_nothing_gives_nothing():
    assert split_passages("") == split_passages(" \n ") == ()


@given(st.lists(st.sampled_from([SENTENCE, "# Title\n", "蜜蜂跳舞。", "\n\n", "x" * 90 + " "])))
def test_passages_cover_the_text_in_order_and_cut_no_fitting_sentence(parts):
    text = "".join(parts)
    found = split_passages(text, size=120)
    ends = {passage.end for passage in found}

    assert all(one.end <= other.start for one, other in pairwise(found))
    assert "".join("".join(p.text.split()) for p in found) == "".join(text.split())
    for one in split_sentences(text):
        if len(one.text) <= 60:
            assert not any(one.start < end < one.end for end in ends)


STEPS = "".join(f"- Step {n} takes the lever {n} notches further down.\n\n" for n in range(1, 10))
MANUAL = f"## Starting\n\nThe pump is started so:\n\n{STEPS}{SENTENCE * 30}"


def spans(text, *places):
    return [Span(start, end, text[start:end]) for start, end in places]


def test_what_announces_something_stays_with_what_it_announces():
    text = f"{SENTENCE * 3}The line to write is:\n\nhive = 3\n\n{SENTENCE}"

    assert [p.text[:21] for p in split_passages(text, size=250)][1:] == ["The line to write is:"]


def test_pieces_that_stand_close_are_one_piece_in_the_order_of_the_page():
    text = SENTENCE * 60
    (first, second) = merge_passages(
        text, spans(text, (2400, 2800), (300, 600), (0, 200), (500, 900))
    )

    assert (first.start, first.end) == (0, 900)
    assert first.text == text[:900]
    assert (second.start, second.end) == (2400, 2800)


def test_a_part_of_a_list_brings_all_of_it_and_what_announces_it():
    (whole,) = merge_passages(MANUAL, spans(MANUAL, (150, 200)))

    assert whole.text.startswith("## Starting\n\nThe pump is started so:")
    assert whole.text.endswith("Step 9 takes the lever 9 notches further down.")


def test_a_list_below_a_heading_comes_with_it():
    text = f"{SENTENCE}\n\n## Parts\n\n- a wheel\n- a gate\n- a pond"
    at = text.index("a gate")

    assert merge_passages(text, spans(text, (at, at + 6)))[0].text == text[text.index("## Parts") :]


def test_of_a_list_that_is_very_long_only_a_part_is_taken():
    text = "The pumps are:\n\n" + "".join(f"- pump {n} of the mill\n\n" for n in range(900))

    (part,) = merge_passages(text, spans(text, (600, 640)))

    assert text[600:640] in part.text
    assert len(part.text) < 100


def whole(text: str, words: str) -> str:
    """Return what is shown of a text where a passage of it holds some words."""
    at = text.index(words)
    return merge_passages(text, spans(text, (at, at + len(words))))[0].text


ROPES = f"""{SENTENCE * 4}

## Ropes

A rope of hemp is tarred once a year. It lasts for ten years then. A rope of sisal rots.

This can be prevented by a coat of wax. It is laid on before the first frost:

rub(wax) {{
  warm();

  spread();
}}

The wax is bought at the mill, where there is enough of it for all the ropes of the harbour.

--dry=yes|no [default: no]

Lets the rope dry before the wax is laid on. Without it the wax peels.

{SENTENCE * 4}"""


def test_a_piece_goes_on_to_the_end_of_its_paragraph_and_begins_with_it():
    shown = whole(ROPES, "It lasts for ten years")

    assert shown.startswith("## Ropes\n\nA rope of hemp")
    assert shown.endswith("A rope of sisal rots.")


def test_a_paragraph_that_points_back_comes_with_the_one_that_it_points_to():
    assert "A rope of hemp is tarred" in whole(ROPES, "a coat of wax")


def test_what_is_announced_comes_along_and_code_is_whole():
    assert whole(ROPES, "a coat of wax").endswith("spread();\n}")
    assert whole(ROPES, "spread();").count("{") == whole(ROPES, "spread();").count("}")


def test_a_term_stays_with_its_description():
    assert whole(ROPES, "the wax peels").startswith("--dry=yes|no [default: no]")


def test_a_chinese_announcement_brings_what_it_announces():
    text = f"{'蜜蜂跳舞。' * 90}\n\n绳子的保养方法如下：\n\n先上蜡，再晾干。\n\n{'蜜蜂跳舞。' * 90}"

    assert whole(text, "绳子的保养").endswith("再晾干。")


def test_a_very_long_paragraph_is_shown_in_part():
    assert len(whole(SENTENCE * 40, "flowers are. The bees of this hive")) < 1_300


def test_paragraphs_that_fit_are_not_cut():
    text = "\n\n".join([SENTENCE * 3] * 8)

    assert [one.text for one in split_passages(text, size=300)] == [(SENTENCE * 3).strip()] * 8


@pytest.mark.parametrize(
    "text",
    [
        "This page last modified on 2024-05-09 14:01:22 UTC",
        "Last updated: 3 May 2021.",
        "*Last edited on 4 June 2019, by the miller*",
        "最后更新：2021 年 5 月 3 日",
        "Home » Mills » Tide mills",
        "Home > Mills > Gates\n\nLast modified 2020-01-02",
    ],
)
def test_where_and_when_a_page_stands_is_a_scrap(text):
    assert is_breadcrumb(text)


@pytest.mark.parametrize(
    "text",
    [
        "The last modified file wins. Older ones are kept.",
        "This page last modified on Monday. The gate is shut at night.",
        "Mills",
        "a -> b",
        "sort list > sorted",
        "If x > y, the gate opens at dawn, and the pond fills.",
        "",
    ],
)
def test_what_says_something_is_no_scrap(text):
    assert not is_breadcrumb(text)
