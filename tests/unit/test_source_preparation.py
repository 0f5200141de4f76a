"""What sources are compared by is made while a model still writes, and changes no verdict."""

from __future__ import annotations

from report.checks.attribution import enforce_citations
from report.checks.source_preparation import load_source, load_source_numbers, prepare_sources
from report.checks.source_text import DERIVATIONS

PAGES = [
    "The waggle dance was described in 1927. It lasts 12 seconds for a flower 3 km away.",
    "Karl von Frisch received the prize in 1973. A hive holds 40,000 workers in summer.",
]
SAID = "The dance lasts 15 seconds [S1]. A hive holds 40,000 workers [S2]."


def never() -> bool:
    return False


def test_a_prepared_source_has_all_that_is_made_of_it_once():
    prepare_sources(PAGES, never)

    assert all(len(load_source(page).derived) == len(DERIVATIONS) for page in PAGES)
    assert load_source_numbers(PAGES[0]) is load_source_numbers(PAGES[0])


def test_what_is_written_is_judged_the_same_with_prepared_sources():
    named = {"S1": PAGES[0] + " It is danced on the comb.", "S2": PAGES[1] + " They are female."}
    before = enforce_citations(SAID, named)
    prepare_sources(named.values(), never)

    assert enforce_citations(SAID, named) == before
    assert [one["reason"] for one in before.doubted] == ["other_number"]


def test_nothing_more_is_made_once_the_text_is_there():
    late = "Drones leave the hive in autumn, and 7 of 10 never come back."
    prepare_sources([late], lambda: True)

    assert not load_source(late).derived
