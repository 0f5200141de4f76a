"""What a piece of a page stands under."""

from __future__ import annotations

import pytest

from graph.records import Passage, Source
from prompts.data_blocks import list_unseen_passages, render_pages_block
from report.checks.attribution import enforce_citations
from text.text_blocks import find_headings, find_headings_above

PUMPS = """# Pumps

All pumps are blue.

## Zeta

### Pressure

It runs at 41 bar.

## Eta

--cool=<yes|no>

Cools the pump.

This doubles the flow.
"""


@pytest.mark.parametrize(
    ("words", "above"),
    [
        ("All pumps", ["Pumps"]),
        ("It runs", ["Pumps", "Zeta", "Pressure"]),
        ("### Pressure", ["Pumps", "Zeta"]),
        ("## Eta", ["Pumps"]),
        ("--cool", ["Pumps", "Eta"]),
        ("This doubles", ["Pumps", "Eta", "--cool=<yes|no>"]),
    ],
)
def test_a_piece_stands_under_the_headings_above_it_and_the_term_it_explains(words, above):
    assert find_headings_above(PUMPS, PUMPS.index(words)) == above


def test_a_comment_within_code_and_a_bullet_are_no_headings():
    text = "# Setup\n\nmake\n# then wait\nrun\n\n- first\n\nIt starts."
    assert find_headings_above(text, text.index("It starts")) == ["Setup"]


SOURCE = Source(id="S1", page="p", title="Manual", location="m.html", kind="file")


def test_a_prompt_tells_what_a_passage_stands_under_beside_its_words():
    passage = Passage(source="S1", text="This doubles the flow.", start=9, under="Eta › --cool")
    shown = render_pages_block([passage], {"S1": SOURCE})
    assert shown.splitlines()[1:3] == [
        '<page id="S1" title="Manual" file="m.html" under="Eta › --cool" left_out="before">',
        "This doubles the flow.",
    ]


def test_the_rest_of_a_passage_is_not_said_to_stand_under_what_its_beginning_does():
    begun = "It opens the valve of the second pump at noon."
    text = f"{begun}\n\n## Theta\n\nIt closes the valve again."
    passage = Passage(source="S1", text=text, start=0, under="Eta")
    talk = render_pages_block(
        [Passage(source="S1", text=begun, start=0, under="Eta")], {"S1": SOURCE}
    )
    assert [one.get("under") for one in list_unseen_passages([passage], [talk])] == [None]


def test_what_a_passage_stands_under_cannot_be_quoted():
    said = 'It has <q s="S1">Eta › --cool</q>. It <q s="S1">doubles the flow</q>.'
    checked = enforce_citations(said, {"S1": "This doubles the flow."}, "")
    assert "Eta" not in checked.body
    assert "doubles the flow" in checked.body


def test_the_headings_of_a_text_are_found_without_its_terms():
    found = find_headings(PUMPS)

    assert [(one.level, one.text) for one in found] == [
        (1, "Pumps"),
        (2, "Zeta"),
        (3, "Pressure"),
        (2, "Eta"),
    ]
    assert all(PUMPS[one.start :].startswith("#") for one in found)


def test_a_prompt_tells_the_site_and_the_date_of_a_page_that_has_them():
    source = Source(
        id="S1",
        page="p",
        title="Pumps",
        location="https://a.org/x",
        kind="web",
        site="a.org",
        published="2024-05-01",
    )
    shown = render_pages_block([Passage(source="S1", text="They pump.")], {"S1": source})

    assert '<page id="S1" title="Pumps" site="a.org" date="2024-05-01">' in shown
