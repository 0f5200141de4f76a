from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from retrieval.passages import passages
from retrieval.text import sentences

SENTENCE = "The bees of this hive dance until all the others know where the flowers are. "


def test_a_passage_is_full_of_whole_sentences():
    found = passages(SENTENCE * 20, size=300)

    assert all(len(passage.text) <= 300 for passage in found)
    assert all(passage.text.endswith("are.") for passage in found)
    assert len(found) == 7


def test_chinese_passages_are_half_as_long():
    found = passages("蜜蜂在蜂巢里跳舞，告诉同伴花在哪里。" * 50, size=400)

    assert 150 < max(len(passage.text) for passage in found) <= 200


def test_a_heading_goes_with_what_follows():
    text = f"{SENTENCE * 3}\n\n## Wasps\n\n{SENTENCE * 3}"

    assert [p.text.startswith("## Wasps") for p in passages(text, size=270)] == [False, True]


def test_a_heading_does_not_make_the_sentence_below_it_too_long():
    sentence = "b" * 80 + "."

    assert [p.text for p in passages(f"# Title\n{sentence}", size=85)] == ["# Title", sentence]


def test_only_a_sentence_longer_than_the_window_is_cut():
    found = passages("bee " * 100, size=100)

    assert all(len(passage.text) <= 100 for passage in found)
    assert "".join(p.text for p in found).count("bee") == 100


def test_nothing_gives_nothing():
    assert passages("") == passages(" \n ") == []


@given(st.lists(st.sampled_from([SENTENCE, "# Title\n", "蜜蜂跳舞。", "\n\n", "x" * 90 + " "])))
def test_passages_cover_the_text_in_order_and_cut_no_fitting_sentence(parts):
    text = "".join(parts)
    found = passages(text, size=120)
    ends = {passage.end for passage in found}

    assert all(one.end <= other.start for one, other in pairwise(found))
    assert "".join("".join(p.text.split()) for p in found) == "".join(text.split())
    for one in sentences(text):
        if len(one.text) <= 60:
            assert not any(one.start < end < one.end for end in ends)
