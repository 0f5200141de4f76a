from collections import Counter

import pytest

from library.page_scoring import PageRow
from library.spelling import correct_question, edit_distance
from text.words import search_words

TEXT = (
    "The table has columns and indexes. A transaction is committed to the database. Checkpoints "
    "and columns are kept. Wasps sleep. It is hard to kill an alias. 数据库有表。"
)


class Store:
    def __init__(self, text: str) -> None:
        self.text = text
        self.words = Counter(search_words(text))

    def counts(self, terms):
        return {term: self.words[term] for term in terms if term in self.words}

    def beginning(self, start):
        return [word for word in self.words if word.startswith(start)]

    def matching(self, terms, limit):
        return [1] if set(terms) & self.words.keys() else []

    def rows(self, numbers):
        return [PageRow(1, "p1", "", self.text, "", "", "", 0, "", "") for _ in numbers]


STORE = Store(TEXT)


@pytest.mark.parametrize(
    ("question", "changed"),
    [
        ("How many colums are there?", {"colums": "columns"}),
        ("what is a trasnaction", {"trasnaction": "transaction"}),
        ("When is a transacction commited?", {"transacction": "transaction"}),
        ("Checkpionts of the dtabase", {"Checkpionts": "Checkpoints", "dtabase": "database"}),
        ("Do qasps sleep?", {"qasps": "wasps"}),
    ],
)
def test_a_word_that_no_page_holds_is_put_as_the_nearest_that_is_held(question, changed):
    done = correct_question(question, STORE)

    assert done.changed == changed
    assert not any(word in done.text for word in changed)


@pytest.mark.parametrize(
    "question",
    [
        "Which columns has the table?",
        "I heard of a hard table: is it kept alive as an alias?",
        "What does `colums` mean?",
        'Who wrote "colums of tables"?',
        "Is Colums a town?",
        "What is colums_of or colums.txt or --colums?",
        "What did the COLUMS do in 2004 and 20045?",
        "Where is the sea?",
        "数椐库有什么？",
        "Does the frigate sail?",
        "",
    ],
)
def test_names_quotations_code_and_what_is_near_nothing_stay_as_they_are(question):
    assert correct_question(question, STORE).changed == {}
    assert correct_question(question, STORE).text == question


def test_a_common_word_is_not_corrected_even_where_no_page_holds_it():
    assert correct_question("Is the house old?", Store("A horse is old.")).changed == {}


@pytest.mark.parametrize(
    ("one", "other", "most", "expected"),
    [
        ("colum", "column", 2, 1),
        ("teh", "the", 2, 1),
        ("cat", "cat", 1, 0),
        ("kitten", "sitting", 2, 3),
        ("abc", "abcdef", 2, 3),
    ],
)
def test_swapped_letters_are_one_mistake(one, other, most, expected):
    assert edit_distance(one, other, most) == expected
    assert edit_distance(other, one, most) == expected


@pytest.mark.parametrize("endless", ["x" * 50_000, "abcdefghij" * 5_000])
def test_a_word_that_never_ends_is_compared_with_none(endless: str):
    store = Store(f"{TEXT} {endless}a")

    assert correct_question(f"what is {endless} and colums", store).changed == {"colums": "columns"}


def test_a_long_word_is_compared_near_the_diagonal_alone():
    word = "pneumonoultramicroscopicsilicovolcanoconiosis"

    assert correct_question(f"what is {word[:-4]}sois", Store(word)).changed == {
        f"{word[:-4]}sois": word
    }
    assert edit_distance("a" * 5_000, "a" * 5_001, 2) == 1
