"""A snippet shows why a page was found."""

from __future__ import annotations

from app.cli.snippets import LONGEST_SNIPPET, cut_snippet, highlight_terms

TEXT = "# Bees\n\nBees are insects. The waggle dance was described by Karl von Frisch. They sleep."


def test_a_snippet_begins_with_the_sentence_that_holds_most_of_the_words():
    assert cut_snippet(TEXT, "who described the waggle dance?").startswith("The waggle dance was")


def test_a_snippet_of_a_long_sentence_shows_the_words_that_were_found():
    long = "word " * 200 + "waggle " + "word " * 200

    cut = cut_snippet(long, "waggle")

    assert "waggle" in cut
    assert len(cut) <= LONGEST_SNIPPET + 2


def test_a_page_without_sentences_has_a_snippet_too():
    assert cut_snippet("", "anything") == ""


def test_words_are_marked_in_the_form_in_which_they_stand_there():
    shown = highlight_terms("Dances, dancing and danced.", "dance")

    assert [shown.plain[one.start : one.end] for one in shown.spans] == [
        "Dances",
        "dancing",
        "danced",
    ]


def test_chinese_words_are_marked_by_their_pairs():
    shown = highlight_terms("蜜蜂怎样过冬", "蜜蜂过冬")

    assert {shown.plain[one.start : one.end] for one in shown.spans} == {"蜜蜂", "过冬"}
