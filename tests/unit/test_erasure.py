"""Sentences are taken out of whatever holds them, and nothing else is changed."""

from __future__ import annotations

import json

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from privacy import erasure_stores
from privacy.affected_threads import AffectedThreads, OwnerThreads
from privacy.erasure import (
    Erasure,
    iter_word_ngrams,
    list_placed_words,
    redact_data,
    redact_json,
    redact_msgpack,
    word_sequence,
)
from runs.trace import trace_file

SAID = Erasure(
    phrases=frozenset(
        [word_sequence("my locker opens with 774102"), word_sequence("暗语是落日熔金")]
    )
)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Bees dance. My locker opens with 774102! They do.", "Bees dance. [forgotten] They do."),
        ("MY  LOCKER opens\nwith 774102.", "[forgotten]"),
        ("- one\n- my locker opens with 774102\n", "- one\n- [forgotten]\n"),
        ("蜜蜂跳舞。暗语是落日熔金。它们飞。", "蜜蜂跳舞。[forgotten]它们飞。"),
        ("My lockers open with 774102.", "My lockers open with 774102."),
        ("", ""),
    ],
)
def test_a_sentence_goes_and_its_neighbours_stay(text: str, rest: str):
    assert SAID.redact(text) == rest


def test_what_cites_a_page_goes_with_its_quotation():
    gone = Erasure(cited=frozenset(["S3"]))

    text = 'Bees dance [S1]. They open at dawn [S3]. So <q s="S3">a. b.</q> it is [S1]. End.'
    assert gone.redact(text) == "Bees dance [S1]. [forgotten] End."


def test_five_words_in_a_row_or_twelve_characters_are_shared():
    words = "one two three four five six"
    gone = Erasure(
        word_ngrams=frozenset(part for part, _, _ in iter_word_ngrams(list_placed_words(words)))
    )

    assert gone.redact("He said: two three four five six, yes. Bye.") == "[forgotten] Bye."
    assert gone.redact("Two three four five. Bye.") == "Two three four five. Bye."
    assert gone.redact("\U0001f44d !") == "\U0001f44d !"
    assert list(iter_word_ngrams(list_placed_words("\U0001f44d"))) == []


def test_json_is_written_as_it_was_with_its_escapes():
    data = {"id": "774102", "text": "暗语是落日熔金。好。", "n": 1}

    for escaped in (True, False):
        rest = redact_json(json.dumps(data, ensure_ascii=escaped), SAID)
        assert rest == json.dumps({**data, "text": "[forgotten]好。"}, ensure_ascii=escaped)


def test_a_single_word_goes_where_it_is_prose_and_stays_where_it_may_be_an_id():
    gone = Erasure(terms=frozenset(["quillhaven"]))
    state = {"status": "quillhaven", "queries": ["Quillhaven", "bees"], "run": "quillhaven"}

    assert redact_data(state, gone) == {**state, "queries": ["[forgotten]", "bees"]}


def test_what_langgraph_saves_is_read_back_as_what_it_was():
    serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    said = HumanMessage("Bees. My locker opens with 774102.", id="m1")
    kind, data = serde.dumps_typed({"messages": [said], "turn": 2, "pair": (1, "a")})

    back = serde.loads_typed((kind, redact_msgpack(data, SAID)))

    assert back["messages"] == [HumanMessage("Bees. [forgotten]", id="m1")]
    assert (back["turn"], list(back["pair"])) == (2, [1, "a"])


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(plain)
def test_what_says_nothing_of_it_is_the_very_same(value):
    assert redact_data(value, SAID) is value
    data = ormsgpack.packb(value)
    assert redact_msgpack(data, SAID) is data


@pytest.mark.usefixtures("home")
def test_a_line_of_a_trace_with_another_sign_for_a_line_end_is_one_line():
    trace = trace_file("a-1")
    kept = json.dumps({"query": "bees\u2028and\x85wasps"}, ensure_ascii=False)
    gone = json.dumps({"query": "Bees dance. My locker opens with 774102!"})
    trace.parent.mkdir(parents=True, exist_ok=True)
    trace.write_text(f"{kept}\n{gone}\n", encoding="utf-8")
    reach = AffectedThreads(SAID, {}, OwnerThreads({}, frozenset(), frozenset(), {}))

    assert erasure_stores.find_affected_traces(["a-1"], reach) == [str(trace)]
    erasure_stores.erase_in_traces(["a-1"], reach)

    rest = trace.read_text(encoding="utf-8")
    assert rest.split("\n") == [kept, '{"query": "Bees dance. [forgotten]"}', ""]
    assert erasure_stores.find_affected_traces(["a-1"], reach) == []
