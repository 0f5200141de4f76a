import numpy as np

from text.keyword_ranking import (
    ScoredPassage,
    rank_texts,
    rescore_by_meaning,
    score_texts,
    select_passages,
)
from text.sentences import Span
from text.tokens import count_tokens

WORDS = ["gate", "pond", "wheel", "corn", "flour", "miller", "sluice", "paddle", "stone", "rope"]
WORDS += ["beam", "shaft"]


def paragraph(word: str) -> str:
    return f"The {word} of the mill is kept in good order by the men who know the {word} best."


def page(*words: str) -> str:
    return "\n\n".join(f"{paragraph(word)}\n\n{'Nothing is said here. ' * 20}" for word in words)


def cuts(texts: list[str], worths: dict[str, float]) -> list[ScoredPassage]:
    found = []
    for word, worth in worths.items():
        said = paragraph(word)
        (at,) = [n for n, text in enumerate(texts) if said in text]
        start = texts[at].index(said)
        found.append(ScoredPassage(at, Span(start, start + len(said), said), said, worth))
    return found


def said(texts: list[str], chosen) -> str:
    return "\n".join(span.text for spans in chosen.values() for span in spans)


def test_what_is_chosen_fits_into_the_room_and_the_best_come_first():
    texts = [page(*WORDS[:6]), page(*WORDS[6:])]
    worths = {word: 1 - at / 20 for at, word in enumerate(WORDS)}

    chosen = select_passages(texts, cuts(texts, worths), 150)

    assert count_tokens(said(texts, chosen)) <= 150
    assert paragraph("gate") in said(texts, chosen)
    assert paragraph("shaft") not in said(texts, chosen)


def test_room_goes_to_what_is_worth_most_and_not_to_every_page():
    texts = [page(*WORDS[:6]), page(*WORDS[6:])]
    worths = {word: 1.0 if at < 6 else 0.1 for at, word in enumerate(WORDS)}

    assert [*select_passages(texts, cuts(texts, worths), 130)] == [0]


def test_the_first_passage_is_shown_however_small_the_room_is():
    texts = [page("gate")]

    assert paragraph("gate") in said(texts, select_passages(texts, cuts(texts, {"gate": 1.0}), 1))


def test_half_of_the_room_belongs_to_the_first_pages():
    texts = [page(*WORDS[:6]), page(*WORDS[6:])]
    worths = {word: 1.0 if at < 6 else 0.1 for at, word in enumerate(WORDS)}

    chosen = select_passages(texts, cuts(texts, worths), 200, first={1})

    assert [*chosen] == [1, 0]
    assert count_tokens("".join(span.text for span in chosen[1])) <= 100


def test_of_each_page_that_was_named_something_is_shown():
    texts = [page(*WORDS[:6]), page(*WORDS[6:9]), page(*WORDS[9:])]
    worths = {word: 1 - at / 20 for at, word in enumerate(WORDS)}

    assert {1, 2} <= select_passages(texts, cuts(texts, worths), 150, each={1, 2}).keys()


def test_what_says_the_same_is_chosen_once():
    texts = [page("gate"), page("gate", "pond")]
    twice = [ScoredPassage(at, *one[1:]) for at in (0, 1) for one in cuts(texts[:1], {"gate": 1.0})]
    pond = cuts(texts[1:], {"pond": 0.2})

    chosen = select_passages(texts, [*twice, *(one._replace(page=1) for one in pond)], 400)

    assert said(texts, chosen).count(paragraph("gate")) == 1
    assert paragraph("pond") in said(texts, chosen)


def test_a_passage_is_worth_what_it_means_beside_its_words():
    texts = [page(*WORDS[:3])]
    found = cuts(texts, {"gate": 1.0, "pond": 0.9, "wheel": 0.8})
    like = np.array([[0.1, 0.2], [0.1, 0.1], [0.7, 0.2]], np.float32)

    assert [cut.text for cut in rescore_by_meaning(found, like)][:2] == [
        paragraph("wheel"),
        paragraph("gate"),
    ]


def test_meaning_does_not_bring_up_what_is_about_something_else():
    texts = [page(*WORDS[:3])]
    found = [one._replace(factor=0.2) for one in cuts(texts, {"gate": 1.0, "pond": 0.5})]
    found[0] = found[0]._replace(factor=1.0)
    like = np.array([[0.4], [0.5]], np.float32)

    assert rescore_by_meaning(found, like)[0].text == paragraph("gate")


def test_what_is_not_compared_comes_after_what_is_as_good_by_words():
    texts = [page(*WORDS[:3])]
    found = cuts(texts, {"gate": 1.0, "pond": 0.9, "wheel": 0.9})
    like = np.array([[0.4], [0.4]], np.float32)

    assert [cut.text for cut in rescore_by_meaning(found, like)][-1] == paragraph("wheel")


def test_a_text_that_answers_one_part_comes_before_one_that_touches_on_each():
    wanted = ["gate colour hinge\npond depth fish", "corn price sack", "beam oak length"]
    texts = [
        "Gate, pond, fish, corn, price, beam: these matters.",
        "The gate has a green colour, and its hinge is of iron.",
        "The depth of the pond is two feet, and it has fish.",
        "The price of corn is by the sack.",
        "The beam is of oak, of great length.",
        *["Nothing else was written down in that year by any of the men."] * 6,
    ]

    assert rank_texts("\n".join(wanted), texts)[0][0] == 0
    assert score_texts(wanted, texts)[0][0] != 0
    assert max(score for _, score in score_texts(wanted, texts)) <= 1
