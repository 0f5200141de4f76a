"""A number that the cited sources lack and another source has for the same thing."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations
from report.checks.number_sources import find_number_source
from report.checks.second_reader import ClaimVerdict, ReviewClaim, derive_ruling

TEXTS = {
    "S1": "The submission service of the mail server takes mail from users alone. It asks for TLS.",
    "S2": "The submission service of the server has port 587. The web server has port 8443.",
}
SAID = "Users hand in mail to the submission service on port 587 alone [S1]."


@pytest.mark.parametrize(
    ("said", "source"),
    [
        (SAID, "S2"),
        (SAID.replace("587", "8443"), ""),
        (SAID.replace(" on port 587", ""), ""),
        (SAID.replace("587", "5870"), ""),
    ],
)
def test_the_source_has_the_number_beside_words_of_the_statement(said: str, source: str):
    assert find_number_source(said, ["S1"], TEXTS) == source


def test_a_number_that_the_second_reader_accepts_gets_the_source_that_has_it():
    claim = ReviewClaim(1, SAID, "number", ("S1",))
    ruling = derive_ruling([claim], {1: ClaimVerdict("supported")}, TEXTS)

    checked = enforce_citations(SAID, TEXTS, ruling=ruling)

    assert checked.body.endswith("[S1] [S2].") or checked.body.endswith("[S1][S2].")
    assert not checked.doubted


def test_a_number_that_is_nowhere_stays_doubted():
    claim = ReviewClaim(1, SAID.replace("587", "465"), "number", ("S1",))
    ruling = derive_ruling([claim], {1: ClaimVerdict("supported")}, TEXTS)

    assert [
        one["reason"] for one in enforce_citations(claim.text, TEXTS, ruling=ruling).doubted
    ] == ["disputed"]


@pytest.mark.parametrize(("said", "reasons"), [("30", []), ("31", ["disputed"])])
def test_where_the_sources_have_the_number_the_reader_decides_what_it_is_of(
    said: str, reasons: list[str]
):
    texts = {"S1": "The gate opens at 30 minutes past the hour. The lock is kept shut at night."}
    claim = ReviewClaim(1, f"The lock opens at {said} minutes past [S1].", "other_number", ("S1",))
    ruling = derive_ruling([claim], {1: ClaimVerdict("supported")}, texts)

    doubt = ruling.to_doubt(claim.text, "other_number")

    assert [doubt["reason"]] == reasons if doubt else not reasons
