"""Short texts are as alike as scikit-learn's vectors say, however they came and went."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from text.tfidf import best_rows, build_tfidf_matrix, group_similar_texts
from text.words import search_words

TEXTS = [
    "Prefers metric units in tables",
    "喜欢简短的回答，不要长段落",
    "Works on the waggle dance of bees, bees, bees",
    "I am who I am",
    "Uses getUserName() in test_api.py",
    "研究蜜蜂怎么跳舞",
]

WORDS = st.sampled_from(["bee", "wax", "hive", "queen", "蜜蜂", "跳舞", "the", "x1", "C++"])
TEXT = st.lists(WORDS, max_size=6).map(" ".join)


def naive(texts: list[str], asked: str) -> np.ndarray:
    vectorizer = TfidfVectorizer(analyzer=search_words, sublinear_tf=True)
    vectors = vectorizer.fit_transform(texts)
    return (vectors @ vectorizer.transform([asked]).T).toarray().ravel()


@pytest.mark.parametrize(
    "asked", ["bees bees dance", "metric tables please", "蜜蜂跳舞", "简短 getUserName unknownword"]
)
def test_likeness_is_the_cosine_of_scikit_learns_vectors(asked: str):
    found = build_tfidf_matrix(TEXTS).similarity(asked)

    assert found is not None
    assert np.allclose(found, naive(TEXTS, asked), atol=1e-6)


@pytest.mark.parametrize("asked", ["", "the of", "volcano", "火山"])
def test_a_text_that_shares_no_word_is_like_none(asked: str):
    assert build_tfidf_matrix(TEXTS).similarity(asked) is None
    assert build_tfidf_matrix([]).similarity(asked) is None


@given(
    first=st.lists(TEXT, max_size=5),
    steps=st.lists(st.tuples(st.booleans(), TEXT, st.integers(0, 99)), max_size=8),
    asked=TEXT,
)
def test_texts_that_came_and_went_weigh_what_they_would_weigh_at_once(first, steps, asked):
    shelf, texts = build_tfidf_matrix(first), dict(enumerate(first))
    rows = len(first)
    for comes, text, which in steps:
        if comes or not texts:
            shelf, texts[rows] = shelf.with_texts([text]), text
            rows += 1
        else:
            gone = sorted(texts)[which % len(texts)]
            shelf = shelf.without_rows(np.array([gone]))
            del texts[gone]
    known = any(set(search_words(text)) & set(search_words(asked)) for text in texts.values())

    for found, places in (
        (shelf.similarity(asked), list(texts)),
        (
            shelf.select_rows(np.array(list(texts), dtype=np.int64)).similarity(asked),
            range(len(texts)),
        ),
    ):
        if not known:
            assert found is None
        else:
            assert found is not None
            assert np.allclose(found[list(places)], naive([*texts.values()], asked), atol=1e-5)


def test_who_reads_a_shelf_does_not_see_what_comes_later():
    before = build_tfidf_matrix(TEXTS)
    was = before.similarity("bees and volcanoes")
    before.with_texts(["A volcano of bees"]).without_rows(np.array([2]))
    now = before.similarity("bees and volcanoes")

    assert was is not None
    assert now is not None
    assert now.tolist() == was.tolist()


@given(
    st.lists(st.integers(0, 30) | st.just(None), max_size=400),
    st.integers(1, 40),
)
def test_the_best_are_those_with_the_highest_scores_and_of_equals_the_last(given, many):
    scores = np.array([-np.inf if each is None else each for each in given], dtype=np.float32)
    wanted = sorted(
        (at for at, each in enumerate(given) if each is not None), key=lambda at: (-scores[at], -at)
    )

    assert best_rows(scores, many).tolist() == wanted[:many]


def test_texts_in_nearly_the_same_words_are_grouped_in_their_order():
    texts = [
        "Check every date against the official announcement before it is reported.",
        "Search the archive of the newspaper first.",
        "…",
        "Before it is reported, check every date against the official announcement!",
        "先核对官方公告的日期，再写报告。",
        "请先核对官方公告的日期，再写报告。",
        "Check every figure against the table of the annual report.",
    ]

    assert group_similar_texts(texts, 0.7) == [[0, 3], [4, 5]]


@pytest.mark.parametrize("texts", [[], ["…", "!"], ["one alone", "…"]])
def test_texts_without_words_are_in_no_group(texts: list[str]):
    assert group_similar_texts(texts, 0.7) == []
