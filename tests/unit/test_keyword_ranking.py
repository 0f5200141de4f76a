import time

import pytest
from rank_bm25 import BM25Plus

from text.keyword_ranking import (
    ScoredPassage,
    find_distinct_texts,
    limit_by_document,
    rank_texts,
    select_diverse,
)
from text.sentences import Span
from text.words import query_terms, search_words

TEXTS = [
    "The bees dance in the hive.",
    "A hive is made of wax.",
    "Football is played by two teams.",
    "The bees of the hive dance on the comb, and dancing bees are seen by bees.",
]


def test_the_text_that_says_most_about_the_query_comes_first():
    found = rank_texts("Why do bees dance?", TEXTS)

    assert [number for number, _ in found] == [3, 0]
    assert found[0][1] > found[1][1] > 0


def test_a_word_of_every_text_still_counts():
    assert [number for number, _ in rank_texts("bees", ["bees", "bees and wax", "bees and bees"])][
        :1
    ] == [2]
    assert rank_texts("bees", ["bees dance"])[0][1] > 0


@pytest.mark.parametrize(
    "query", ["Why do bees dance?", "wax football", "bees", "hive hive volcano"]
)
def test_scores_are_those_of_bm25_plus_without_a_lower_bound(query):
    reference = BM25Plus([search_words(text) for text in TEXTS], k1=1.2, b=0.75, delta=0)
    expected = reference.get_scores(query_terms(query)).tolist()

    found = dict(rank_texts(query, TEXTS))

    assert [found.get(number, 0.0) for number in range(len(TEXTS))] == expected


def test_chinese_is_ranked_too():
    assert rank_texts("蜜蜂为什么跳舞？", ["足球比赛", "蜜蜂在跳舞"])[0][0] == 1


def test_without_a_shared_word_nothing_is_found():
    assert rank_texts("volcano", TEXTS) == []
    assert rank_texts("what is it?", TEXTS) == []
    assert rank_texts("bees", []) == []
    assert rank_texts("bees", ["", "?"]) == []


def test_equal_texts_keep_their_order():
    assert [number for number, _ in rank_texts("wax", ["wax", "wax", "wax"])] == [0, 1, 2]


def test_three_hundred_passages_are_ranked_at_once():
    texts = [f"{TEXTS[n % 4]} " * 12 + str(n) for n in range(300)]
    rank_texts("bees", texts)

    start = time.process_time()
    rank_texts("Why do the bees of the hive dance?", texts)

    assert time.process_time() - start < 2


def test_spread_prefers_something_new_to_something_like_the_best():
    texts = ["bees dance hive sun", "bees dance hive comb", "bees smell flower"]

    found = select_diverse([(0, 1.0), (1, 0.9), (2, 0.8)], texts, limit=2)

    assert found == [(0, 1.0), (2, 0.8)]


def test_spread_without_diversity_keeps_the_order():
    texts = ["bees dance hive sun", "bees dance hive comb", "bees smell flower"]

    found = select_diverse([(0, 1.0), (1, 0.9), (2, 0.8)], texts, limit=2, weight=1)

    assert [number for number, _ in found] == [0, 1]


def test_spread_drops_what_says_the_same_but_not_another_number():
    rest = "wax comb queen drone worker larva honey pollen nectar swarm scout flower sun wind rain"
    same = f"The bees of this old hive danced on {{}} mornings near {rest}."
    texts = [same.format(7), same.format(7) + "!", same.format(8)]

    assert [n for n, _ in select_diverse([(0, 3.0), (1, 2.0), (2, 1.0)], texts, limit=9)] == [0, 2]


def test_spread_of_nothing_is_nothing():
    assert select_diverse([], [], limit=3) == []


def test_a_text_that_repeats_an_earlier_one_is_not_distinct():
    rest = "wax comb queen drone worker larva honey pollen nectar swarm scout flower sun wind rain"
    same = f"The bees of this old hive danced on {{}} mornings near {rest}."

    assert find_distinct_texts([same.format(7), "Wasps.", same.format(7) + "!"]) == [0, 1]
    assert find_distinct_texts([same.format(7), same.format(8)]) == [0, 1]
    assert find_distinct_texts([]) == []


def test_some_passages_of_each_document_are_kept_if_there_are_several():
    cuts = [ScoredPassage(page, Span(0, 1, "x"), "x", 1.0) for page in (0, 1, 0, 1, 2)]
    documents = ["a", "a", "b"]

    assert [cut.page for cut in limit_by_document(cuts, documents, 2)] == [0, 1, 2]
    assert limit_by_document(cuts[:4], documents, 2) == cuts[:4]
