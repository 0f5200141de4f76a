"""What is doubted in a report or a finding is not remembered."""

from __future__ import annotations

from report.checks.attribution import enforce_citations
from report.findings import drop_doubted, parse_quoted_sentences
from report.labels import render_check_results
from report.rendering.markdown_report import render_plain_text
from text.summaries import extract_abstract

PAGE = "The mill grinds wheat twice a day. Its gates are closed for 48 hours in a storm."
BODY = (
    "The mill grinds wheat [S1]. Its **gates** are closed for `30` hours in a storm [S1].\n\n"
    "| Gate | Hours |\n|---|---|\n| storm | 72 [S1] |\n| tide | 48 [S1] |"
)


def test_a_doubted_sentence_or_row_is_in_no_page_and_no_abstract():
    checked = enforce_citations(BODY, {"S1": PAGE})
    doubted = [one["text"] for one in checked.doubted]

    kept = render_plain_text(drop_doubted(checked.body, doubted))

    assert len(doubted) == 2
    assert "30" not in kept + extract_abstract(kept)
    assert "72" not in kept
    assert "The mill grinds wheat." in kept
    assert "48" in kept


def test_what_a_finding_doubts_in_words_is_left_out_too():
    checked = enforce_citations(BODY, {"S1": PAGE})
    doubted = parse_quoted_sentences(render_check_results([], checked.doubted, "en"))

    kept = render_plain_text(drop_doubted(checked.body, doubted))

    assert "30" not in kept
    assert "72" not in kept
    assert "The mill grinds wheat." in kept


def test_a_doubt_is_known_again_where_its_sentence_quotes():
    body = 'The mill <q s="S1">grinds wheat</q> nine times a day [S1]. Its gates are closed [S1].'
    doubted = ["The mill “grinds wheat” nine times a day."]

    assert render_plain_text(drop_doubted(body, doubted)) == "Its gates are closed."


def test_a_text_without_doubts_is_remembered_as_it_is():
    assert drop_doubted(BODY, []) == BODY
