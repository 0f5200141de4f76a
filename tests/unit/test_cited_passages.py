"""A writer sees what findings cite, each in its paragraph, as far as it fits."""

from __future__ import annotations

from graph.records import Finding
from report.cited_passages import list_cited_passages
from text.tokens import estimate_tokens

NOISE = "Nobody knows whether poets like the sound of pumps at night in summer gardens. " * 40
KEEL = (
    "# Keel manual\n\nAn introduction to gardens and wells.\n\n## Power\n\nThe Keel pump draws 400 "
    "watts. It needs a fuse of 4 amperes. Never open the case.\n\n## Price\n\nThe Keel pump costs "
    f"640 euros.\n\n## Notes\n\n{NOISE}\n\n"
    "| Part | Price |\n|---|---|\n| Seal | 12 euros |\n| Sensor | 30 euros |\n"
)
TEXTS = {"S1": KEEL, "S2": "吉井泵功率400瓦。它用水冷却。\n\n售价4900元。"}

ROWS = "\n".join(
    f"quarter: 2025-Q{quarter}; model: {model}; units: {units + quarter}; price: 899.94 euros."
    for model, units in (("Aster", 90), ("Birch", 80), ("Corvo", 40), ("Drift", 70), ("Fjell", 21))
    for quarter in range(1, 9)
)


def finding(text: str) -> Finding:
    return Finding(
        step="1",
        title="Power",
        status="ok",
        reason="",
        text=text,
        sources=["S1"],
        queries=[],
        attempts=1,
        review="passed",
    )


def texts(said: str, most: int = 12_000) -> list[str]:
    return [one["text"] for one in list_cited_passages([finding(said)], TEXTS, most)]


def test_a_citation_is_shown_in_its_paragraph_under_its_headings():
    (passage,) = list_cited_passages([finding("The Keel pump draws 400 watts [S1].")], TEXTS)

    assert passage["text"] == (
        "The Keel pump draws 400 watts. It needs a fuse of 4 amperes. Never open the case."
    )
    assert passage["under"] == "Keel manual › Power"
    assert KEEL[passage["start"] :].startswith(passage["text"])


def test_a_quotation_is_shown_where_it_stands():
    assert texts('It says: <q s="S1">costs 640 euros</q>.') == ["The Keel pump costs 640 euros."]


def test_a_passage_that_is_cited_twice_is_shown_once():
    said = "The Keel pump draws 400 watts [S1]. The Keel pump needs a fuse of 4 amperes [S1]."

    assert len(texts(said)) == 1


def test_a_row_of_a_table_is_shown_whole():
    assert "| Sensor | 30 euros |" in "\n".join(texts("A sensor costs 30 euros [S1]."))


def test_pages_in_other_languages_and_unknown_ids_are_no_obstacle():
    assert texts("吉井泵功率400瓦[S2]。售价未知[S9]。") == ["吉井泵功率400瓦。它用水冷却。"]


def test_passages_become_shorter_and_then_fewer_where_they_do_not_fit():
    said = "Poets like the sound of pumps at night [S1]. The Keel pump draws 400 watts [S1]."
    long, short, one = (texts(said, most) for most in (12_000, 200, 90))

    assert max(map(len, long)) > max(map(len, short))
    assert sum(map(estimate_tokens, short)) <= 200
    assert len(one) == 1
    assert texts(said, 10) == []


def test_each_part_of_a_sentence_brings_the_words_that_its_source_says_of_it():
    other = f"# Nets\n\n{NOISE}\n\nA torn net is mended with tarred twine.\n\n{NOISE}"
    said = (
        "The Keel pump draws 400 watts and needs a fuse [S1]; a torn net is mended with twine [S3]."
    )

    shown = list_cited_passages([finding(said)], {**TEXTS, "S3": other}, 12_000)

    assert any("tarred twine" in one["text"] for one in shown if one["source"] == "S3")


def test_a_source_that_is_to_be_shown_whole_is_if_there_is_room():
    page = f"Computed from pumps.csv.\n\n{NOISE}\n\nThe pump draws 7 watts.\n\n{NOISE}\n\nEnd."
    found, pages = [finding("The pump draws 7 watts [S5].")], {"S5": page}

    (whole,) = list_cited_passages(found, pages, 12_000, whole={"S5"})
    (small,) = list_cited_passages(found, pages, 100, whole={"S5"})

    assert whole["text"] == page
    assert small["text"] == "The pump draws 7 watts."


def test_a_calculation_brings_all_rows_of_its_page():
    """Rows far from the one that has most of its words are cited by it, too."""
    calculated = "Birch sold 81 + 82 + 83 + 84 = 330 and Fjell 22 + 23 + 24 + 25 = 94 units [S6]."

    (whole,) = list_cited_passages([finding(calculated)], {"S6": ROWS})
    told = list_cited_passages(
        [finding("Birch sold 81 units in quarter 2025-Q1 [S6].")], {"S6": ROWS}
    )

    assert whole["text"] == ROWS
    assert all("Fjell" not in one["text"] for one in told)


def test_a_statement_that_sums_up_two_places_brings_both():
    said = "The Keel pump draws 400 watts, and it costs 640 euros to buy [S1]."

    shown = "\n".join(texts(said, 600))

    assert "draws 400 watts" in shown
    assert "costs 640 euros" in shown


def test_a_short_page_in_another_language_is_shown_whole_where_its_place_is_unsure():
    page = "水泵手册。" + "水泵放在井边。" * 60 + "漏水时必须马上关掉电源。"
    shown = list_cited_passages(
        [finding("A leaking pump has to be switched off at once [S4].")], {"S4": page}
    )

    assert shown[0]["text"].endswith("马上关掉电源。")
