"""What a second reader is shown of a text, and what follows from what the reader says."""

from __future__ import annotations

import pytest

from report.checks.second_reader import (
    ClaimVerdict,
    ReviewClaim,
    derive_ruling,
    find_draft_passages,
    list_claim_passages,
    list_claims,
    validate_verdict,
)
from tests.cases import each_case

PAGE = (
    "The pump runs at 41 bar. " + "It is painted grey. " * 60 + "The valve opens at 7 bar. "
    "Nobody may stand near it."
)
TEXTS = {"S1": PAGE}


def texts(body: str, **contested: str) -> list[tuple[str, str]]:
    doubted = [{"text": text, "reason": reason} for reason, text in contested.items()]
    return [(one.text, one.reason) for one in list_claims(body, [], doubted, TEXTS)]  # type: ignore[arg-type]


def test_headings_that_name_labels_and_pure_quotations_are_not_compared():
    body = (
        '## The pump\n\nIn short:\n\n<q s="S1">The pump runs at 41 bar.</q> [S1]\n\n'
        "The pump is held at 41 bar [S1]."
    )

    assert texts(body) == [("The pump is held at 41 bar [S1].", "")]


def test_every_line_of_code_that_says_something_is_compared_behind_what_leads_to_it():
    body = (
        "The pump is held at 41 bar [S1]. It could be set so:\n\n"
        "```ini\n[Pump]\nBar=40\n\nColour=grey\n```\n\nNobody may stand near it [S1]."
    )

    assert texts(body, number="`Bar=40`") == [
        ("The pump is held at 41 bar [S1].", ""),
        ("It could be set so:", ""),
        ("`Bar=40`", "number"),
        ("`Colour=grey`", ""),
        ("Nobody may stand near it [S1].", ""),
    ]
    assert {one.sources for one in list_claims(body, [], [], TEXTS)} == {("S1",)}


def test_code_is_compared_with_what_its_lead_cites_or_else_with_what_stands_above():
    code = "```\nbar 40\n```"
    pages = {**TEXTS, "S2": "The valve."}
    near = list_claims(f"It is grey [S1].\n\nThe valve is set so [S2]:\n\n{code}", [], [], pages)
    far = list_claims(f"It is grey [S1].\n\n阀门可以这样设：\n\n{code}", [], [], pages)

    assert near[-1].sources == ("S2",)
    assert far[-1].sources == ("S1",)


def test_what_a_page_explains_of_a_line_of_code_is_shown():
    page = "It has Bar and Colour. " + "It is tall. " * 400 + "\n  Bar=\n   From 7 to 41."
    (passage,) = list_claim_passages(
        [ReviewClaim(1, "`Bar=40`", "", ("S1",), code=True)], {"S1": page}
    )

    assert "From 7 to 41." in passage["text"]


@each_case(
    [
        ("On battery the pump stops its work", True),
        ("The pump never opens a valve", True),
        ("Nobody can stand near it", True),
        ("The painter fell into the pump", True),
        ("泵在断电时会关闭阀门", True),
        ("Pump 默认不记录压力", True),
        ("The pump: a British design of 1911", True),
        ("阀门：瑞士制造的旧式零件", True),
        ("The pump: pressure", False),
        ("The pump: how and why it stops", False),
        ("The pump", False),
        ("What happens when the pump stops", False),
        ("Default pressure of the older pumps", False),
        ("泵与阀门的压力", False),
        ("断电时会怎样", False),
        ("Does the pump stop on battery?", False),
    ]
)
def test_a_heading_that_makes_a_claim_is_compared_with_the_sources_of_its_section(
    heading: str, claims_something: bool
):
    body = f"## {heading}\n\n### Bar\n\nIt is 41 [S1].\n\n## Valve\n\nIt is 7 [S2]."
    found = [one for one in list_claims(body, [], [], TEXTS) if one.text.startswith("#")]

    expected = [(f"## {heading}", ("S1",), "")] if claims_something else []
    assert [(one.text, one.sources, one.reason) for one in found] == expected


@pytest.mark.parametrize(
    ("line", "claims_something"),
    [
        ("An owl lives in the pump and greets its visitors:", True),
        ("泵卖给了一位牙医：", True),
        ("The pump and its pressure:", False),
        ("Three points are worth a closer look:", False),
        ("Who may stand near it:", False),
        ("泵的压力：", False),
    ],
)
def test_a_claim_that_leads_on_to_a_list_is_compared_with_the_sources_of_the_list(
    line: str, claims_something: bool
):
    body = f"It is grey [S2].\n\n{line}\n\n- 41 bar [S1]\n\n## Valve\n\nIt is 7 [S2]."
    found = [one for one in list_claims(body, [], [], TEXTS) if one.text in line]

    assert [one.sources for one in found] == ([("S1",)] if claims_something else [])


@pytest.mark.parametrize("written", ["It runs at 41 bar.", "It runs at 41 bar [S2]."])
def test_a_claim_that_the_checks_gave_a_source_is_shown_with_that_source(written: str):
    pages = {**TEXTS, "S2": "The valve."}
    (given,) = list_claims(written, [], [], pages, "It runs at 41 bar [S1].")

    assert (given.text, given.sources, given.reason) == ("It runs at 41 bar [S1].", ("S1",), "")


def test_a_row_of_a_table_is_one_claim():
    body = "| part | bar |\n|---|---|\n| pump [S1] | 41 |\n| valve [S1] | 7 |"

    assert [text for text, _ in texts(body)] == ["| pump [S1] | 41 |", "| valve [S1] | 7 |"]
    assert {one.head for one in list_claims(body, [], [], TEXTS)} == {"| part | bar |"}


def test_a_sentence_without_a_source_needs_a_verdict_and_a_remark_on_the_sources_none():
    body = "The pump runs at 41 bar. The documents do not say who painted it. Was it you?"

    assert texts(body) == [
        ("The pump runs at 41 bar.", "no_source"),
        ("The documents do not say who painted it.", ""),
    ]


def test_a_claim_that_cites_the_wrong_source_is_given_the_right_one():
    shown = [ReviewClaim(1, "The pump runs at 41 bar [S2].", "", ("S2",))]

    assert derive_ruling(shown, {1: ClaimVerdict("supported", "S1")}).upheld == {
        "Thepumprunsat41bar": "S1"
    }
    assert derive_ruling(shown, {1: ClaimVerdict("supported", "S2")}).upheld == {}
    assert derive_ruling(shown, {1: ClaimVerdict("supported")}).upheld == {}


def test_what_a_sentence_rests_on_is_shown_with_what_stands_around_it():
    shown = list_claim_passages(
        [ReviewClaim(1, "The valve opens at 8 bar [S1].", "", ("S1",))], TEXTS
    )

    (passage,) = shown
    assert "The valve opens at 7 bar. Nobody may stand near it." in passage["text"]
    assert "41 bar" not in passage["text"]
    assert PAGE[passage["start"] :].startswith(passage["text"])


def test_a_page_in_another_language_is_shown_where_its_numbers_and_names_stand():
    (passage,) = list_claim_passages(
        [ReviewClaim(1, "阀门在 7 bar 时打开 [S1]。", "", ("S1",))], TEXTS
    )

    assert "opens at 7 bar" in passage["text"]


def test_pieces_of_a_page_that_meet_are_shown_once():
    said = ("The pump runs at 41 bar [S1].", "It is painted grey [S1].")
    shown = list_claim_passages(
        [ReviewClaim(at, one, "", ("S1",)) for at, one in enumerate(said, 1)], TEXTS
    )

    assert len(shown) == 1


def test_a_verdict_lifts_doubts_and_raises_them():
    shown = [
        ReviewClaim(1, "A doubted one [S1].", "number", ("S1",)),
        ReviewClaim(2, "A clean one [S1].", "", ("S1",)),
        ReviewClaim(3, "Another doubted one.", "no_source", ("S1",)),
        ReviewClaim(4, "Another clean one [S1].", "", ("S1",)),
    ]
    said = derive_ruling(
        shown,
        {
            1: ClaimVerdict("contradicted"),
            2: ClaimVerdict("not_said"),
            3: ClaimVerdict("supported", "S1"),
            4: ClaimVerdict("own"),
        },
    )

    assert said.upheld == {"Anotherdoubtedone": "S1"}
    assert said.faulted == {
        "Acleanone": ClaimVerdict("not_said"),
        "Adoubtedone": ClaimVerdict("contradicted"),
    }


def test_code_that_a_claim_names_is_shown_where_it_stands():
    page = (
        "The tool sorts its input by size. "
        + "It is painted grey. " * 100
        + "With -k it keeps all."
    )
    claim = ReviewClaim(1, "The tool with `-k` sorts its input by size [S1].", "", ("S1",))

    assert "-k it keeps all" in " ".join(
        one["text"] for one in list_claim_passages([claim], {"S1": page})
    )


def test_where_much_is_claimed_less_is_shown_around_each_place():
    page = " ".join(
        f"Pump number {at} runs at {at + 7} bar. " + "It is grey. " * 200 for at in range(60)
    )
    one = list_claim_passages(
        [ReviewClaim(1, "Pump number 5 runs at 12 bar [S1].", "", ("S1",))], {"S1": page}
    )
    many = [
        ReviewClaim(at, f"Pump number {at} runs at {at + 7} bar [S1].", "", ("S1",))
        for at in range(60)
    ]
    all_of_it = list_claim_passages(many, {"S1": page})

    assert len(one[0]["text"]) > 1_500
    assert sum(len(piece["text"]) for piece in all_of_it) < 50_000
    assert max(len(piece["text"]) for piece in all_of_it) < 1_500


def test_behind_a_citation_a_sentence_may_begin_with_a_small_letter():
    body = "The tools replace their input [S1]. xz keeps it with an option [S1]! gzip, too [S1]."

    assert [text for text, _ in texts(body)] == [
        "The tools replace their input [S1].",
        "xz keeps it with an option [S1]!",
        "gzip, too [S1].",
    ]


@pytest.mark.parametrize("source", ["S3", "S9"])
def test_a_source_with_no_word_of_a_claim_does_not_take_over_its_citation(source: str):
    pages = {**PAGES, "S3": "Nothing here."}

    assert validate_verdict(ClaimVerdict("supported", source), CLAIM, pages) is None
    assert validate_verdict(ClaimVerdict("supported", "S1"), CLAIM, pages)


def test_a_verdict_on_a_number_is_none_on_the_number_without_its_point_or_sign():
    shown = [
        ReviewClaim(1, "It is 1.5 km long [S1].", "number", ("S1",)),
        ReviewClaim(2, "It holds where x > 5 [S1].", "negation", ("S1",)),
    ]
    said = derive_ruling(
        shown, {1: ClaimVerdict("contradicted"), 2: ClaimVerdict("supported", "S1")}
    )

    assert said.to_doubt("It is 1.5 km long [S2].")
    assert not said.to_doubt("It is 15 km long [S1].")
    assert said.to_doubt("It holds where x < -5 [S1].", "negation")


CLAIM = ReviewClaim(1, "The pump, painted blue, runs at 41 bar [S2].", "", ("S2",))
PAGES = {"S1": PAGE, "S2": 'The pump\nis painted  grey, and "nobody" knows why.'}


@pytest.mark.parametrize(
    ("judged", "left"),
    [
        (ClaimVerdict("contradicted", "S2", "is painted grey"), ("S2", "is painted grey")),
        (ClaimVerdict("contradicted", "S1", "The valve opens"), ("S1", "The valve opens")),
        (ClaimVerdict("contradicted", "S2", "The valve opens"), ("S1", "The valve opens")),
        (ClaimVerdict("contradicted", "", "“is painted grey”"), ("S2", "is painted grey")),
        (ClaimVerdict("contradicted", "S9", "is painted green"), ("", "")),
        (ClaimVerdict("contradicted", "S2", "is painted green"), ("S2", "")),
        (ClaimVerdict("contradicted", "S1", "It is painted grey. " * 20), ("S1", "")),
    ],
)
def test_what_a_reader_says_a_source_says_is_looked_up_in_it(
    judged: ClaimVerdict, left: tuple[str, str]
):
    kept = validate_verdict(judged, CLAIM, PAGES)

    assert (kept.source, kept.says) == left


@pytest.mark.parametrize(
    ("part", "left"),
    [("painted blue", "painted blue"), ("painted green", ""), (CLAIM.text, ""), ("", "")],
)
def test_the_part_of_a_sentence_that_a_reader_names_stands_in_it(part: str, left: str):
    assert validate_verdict(ClaimVerdict("contradicted", part=part), CLAIM, PAGES).part == left


def test_of_a_page_in_another_language_all_is_shown():
    page = "A mill has a wheel. " * 60 + "The gate is opened at ebb. " + "It is old. " * 60
    (passage,) = list_claim_passages(
        [ReviewClaim(1, "水闸在退潮时打开[S1]。", "", ("S1",))], {"S1": page}
    )

    assert passage["text"].strip() == page.strip()


def test_what_a_program_printed_is_shown_in_whole_lines():
    lines = [
        f"Declared minus measured size of the packages of section {n} (with both sizes) without "
        f"those of the base system: {n}.5 MiB"
        for n in range(10, 60)
    ]
    text = "Computed by a program.\n\n" + "\n".join(lines)
    draft = "In section 31 the packages declare 31.5 MiB more than was measured [S1]."
    shown = find_draft_passages(draft, [], [], {"S1": text})

    assert shown
    for passage in shown:
        first, *_, last = passage["text"].splitlines()
        assert {first, last} <= {*text.splitlines()}


def test_a_calculation_is_shown_with_the_whole_of_a_short_page():
    rows = [f"model: M{at}; units: {at}; price: 899.94 euros." for at in range(90)]
    page = "\n".join(rows)
    said = "M3 and M88 sold 3 + 88 = 91 units [S1]."

    (whole,) = find_draft_passages(said, [], [], {"S1": page})
    parts = find_draft_passages("M3 sold 3 units [S1].", [], [], {"S1": page})

    assert whole["text"] == page
    assert all(rows[88] not in one["text"] for one in parts)
