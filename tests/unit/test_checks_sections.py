"""What a report judges, and what it does not know, stays; a detail that no source has is marked."""

from __future__ import annotations

from itertools import product

import pytest

from graph.records import DoubtedSentence
from report.checks.attribution import CheckedText, enforce_citations
from report.checks.second_reader import ClaimVerdict, derive_ruling, list_claims
from report.checks.sections import has_recommendation, list_inferred_statements
from report.checks.verification import replace_statements
from report.markdown.markdown_blocks import statement_key
from tests.cases import each_case

DUNMORE = (
    "The Dunmore pump moves 120 litres a minute and draws 750 watts. It costs 890 euros. A "
    "warranty of 24 months covers the motor. The motor is cooled by water."
)
KEEL = (
    "The Keel pump moves 95 litres a minute and draws 400 watts. It costs 640 euros. Its warranty "
    "is 36 months. The Keel pump must not run dry; a sensor stops it. It runs at 48 decibels."
)
WELL = "新水泵每分钟抽水120升，功率750瓦，售价6800元，保修24个月。电机用水冷却。"
JI = "吉井泵每分钟抽水95升，功率400瓦，售价4900元，保修36个月。传感器会使它停机。"
TEXTS = {"S1": DUNMORE, "S2": KEEL}
HAN = {"S1": WELL, "S2": JI}
WHICH = "Which pump is better for a garden well? Recommend one."
NA = "哪一种泵更适合家用水井？请推荐一种。"
CITED = "The Keel pump draws 400 watts [S2]."


def checked(text: str, question: str = WHICH, texts: dict[str, str] = TEXTS) -> CheckedText:
    return enforce_citations(text, texts, question)


def reasons(doubted: list[DoubtedSentence]) -> list[str]:
    return [one["reason"] for one in doubted]


@pytest.mark.parametrize(
    "said",
    [
        "I recommend the Keel pump for a garden well.",
        "It needs little more than half the power, and its longer warranty suggests that the maker "
        "trusts it [S1][S2].",
        "A single failed sensor should not decide the matter.",
        "Whoever needs 120 litres a minute should take the Dunmore pump [S1].",
        "Over the years it would probably save more than the prices differ.",
        "Poets would be pleased with either.",
        "At 890 − 640 = 250 euros less, the Keel is the better buy [S1][S2].",
        "Quiet gardens deserve quiet machines [S9].",
        "| Quiet garden | Keel | 48 decibels, less power [S2] |",
        "| Large field | Dunmore | more water [S1] |",
    ],
)
def test_nothing_true_is_taken_out_of_an_assessment_or_marked_in_it(said: str):
    table = "| Need | Choice | Why |\n|---|---|---|\n" if said.startswith("|") else ""
    result = checked(f"{CITED}\n\n## Assessment\n\n{table}{said}")

    assert (result.removed, result.doubted) == ([], [])
    assert said.removesuffix(" [S9].") in result.body


@pytest.mark.parametrize(
    "said",
    [
        "推荐选用吉井泵。",
        "它的功率只有新泵的一半多，更长的保修期说明厂家对它有信心[S1][S2]。",
        "夜里用水的人会更在意噪声。",
        "差价为6800 − 4900 = 1900元，吉井泵更划算[S1][S2]。",
        "长期来看，省下的电费可能超过差价。",
    ],
)
def test_nothing_true_is_taken_out_of_a_chinese_assessment_or_marked_in_it(said: str):
    result = checked(f"吉井泵功率400瓦[S2]。\n\n## 评估\n\n{said}", NA, HAN)

    assert (result.removed, result.doubted) == ([], [])
    assert said in result.body


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("A fair price would be 500 euros.", "number"),
        ("The Keel pump draws 750 watts [S2].", "other_number"),
        ("The better choice is made by Hollowell.", "unknown"),
        ("HoneyFlow makes a better one.", "unknown"),
        ("The motor of the Dunmore pump is not cooled by water [S1].", "negation"),
        ("I would buy one before March 2019.", "number"),
        ("| Cold cellar | Keel | works at 9999 volts |", "number"),
    ],
)
def test_a_detail_of_an_assessment_that_no_source_has_is_marked(said: str, reason: str):
    table = "| Need | Choice | Why |\n|---|---|---|\n" if said.startswith("|") else ""
    result = checked(f"{CITED}\n\n## Assessment\n\n{table}{said}")

    assert reasons(result.doubted) == [reason]
    assert said in result.body


def test_a_number_of_a_chinese_assessment_that_no_source_has_is_marked():
    result = checked("吉井泵功率400瓦[S2]。\n\n## 评估\n\n合理的价格是3000元。", NA, HAN)

    assert reasons(result.doubted) == ["number"]


def test_a_false_quotation_and_a_wish_of_nobody_go_even_from_an_assessment():
    text = (
        f'{CITED}\n\n## Assessment\n\nTake the Keel.\n\n- <q s="S2">It lasts for ever</q>.\n'
        "- The user wants the report to recommend HoneyFlow."
    )

    assert [one["reason"] for one in checked(text).removed] == ["quote_not_found", "wish"]


def test_values_that_the_question_asks_for_are_the_writers_own():
    text = f"{CITED}\n\n## Assessment\n\nI would set the timeout to 35 seconds."

    assert checked(text, "Which timeout should I set? How should I set it?").doubted == []


@pytest.mark.parametrize(
    "said",
    [
        "The Keel pump is the better choice for a garden well.",
        "In a quiet garden the Keel pump is the better choice, in a field the Dunmore [S1][S2].",
        "**Recommendation:** take the Keel pump.",
    ],
)
def test_a_recommendation_that_was_asked_for_stays_wherever_it_stands(said: str):
    result = checked(f"{said}\n\n## Power\n\n{CITED}")

    assert said in result.body
    assert (result.removed, result.doubted) == ([], [])
    assert list_inferred_statements(result.body, WHICH)
    assert has_recommendation(result.body)


def test_a_recommendation_that_nobody_asked_for_needs_a_source():
    result = checked(f"Gold is the better choice.\n\n{CITED}", "How much power does it draw?")

    assert [one["reason"] for one in result.removed] == ["no_source"]


@each_case(
    product(
        ["## What is not known", "**What is not known**"],
        [
            "Long-term reliability of the sensor",
            "Whether either pump works below −20 °C",
            "How loud the Dunmore pump is: no manual says so.",
            "The sources do not compare running costs.",
            "Prices may have changed since then.",
            "Who sells spare parts after 2030 could not be found out [S9].",
        ],
    )
)
def test_what_is_not_known_stays_without_a_mark(heading: str, said: str):
    result = checked(f"{CITED}\n\n{heading}\n\n- {said}")

    assert (result.removed, result.doubted) == ([], [])
    assert said.removesuffix(" [S9].") in result.body


@pytest.mark.parametrize(
    "said", ["传感器的长期可靠性", "噪声有多大，手册没有说明。", "没有独立测试。"]
)
def test_what_is_not_known_stays_in_chinese(said: str):
    result = checked(f"吉井泵功率400瓦[S2]。\n\n## 尚不清楚\n\n- {said}", NA, HAN)

    assert said in result.body
    assert (result.removed, result.doubted) == ([], [])


def test_a_claim_among_what_is_not_known_is_marked():
    text = f"{CITED}\n\n## What is not known\n\nPoets have always admired the Dunmore pump."

    assert reasons(checked(text).doubted) == ["no_source"]


def test_a_section_ends_at_the_next_heading_of_its_rank():
    text = (
        f"{CITED}\n\n## Assessment\n\n### On noise\n\nSilence is golden.\n\n## Poets\n\n"
        "Poets have always admired it."
    )
    result = checked(text)

    assert [one["text"] for one in result.removed] == ["Poets have always admired it."]
    assert list_inferred_statements(result.body) == ["Silence is golden."]


@pytest.mark.parametrize(
    "heading", ["Recommendations of the maker", "Risk assessment methods", "评估方法", "Conclusion"]
)
def test_a_heading_that_only_has_such_a_word_begins_no_assessment(heading: str):
    text = f"{CITED}\n\n## {heading}\n\nPoets have always admired it.\n\n{CITED}"

    assert [one["reason"] for one in checked(text).removed] == ["no_source"]


@pytest.mark.parametrize(
    "said",
    [
        "How sure: fairly sure, because both manuals give the figures [S1][S2].",
        "Confidence: high for the power, low for the noise, which rests on one manual [S2].",
        "I am fairly sure of this, since two manuals agree [S1][S2].",
    ],
)
def test_how_sure_an_answer_is_and_why_is_its_writers_own(said: str):
    result = checked(f"{CITED}\n\n{said}")

    assert (result.removed, result.doubted) == ([], [])


def test_a_second_reader_cannot_fault_an_inference_for_going_beyond_its_sources():
    text = f"{CITED}\n\n## Assessment\n\nTake the Keel pump. It is the safer one, built by monks."
    claims = list_claims(text, [], [], TEXTS, text)
    inferred = {one.number: one.text for one in claims if one.inferred}
    assert list(inferred.values()) == [
        "Take the Keel pump.",
        "It is the safer one, built by monks.",
    ]
    assert not any(one.reason for one in claims)

    first, second = inferred
    verdicts = {
        first: ClaimVerdict("not_said"),
        second: ClaimVerdict("not_said", part="built by monks"),
    }
    ruling = derive_ruling(claims, verdicts)
    assert [*ruling.faulted] == [statement_key("It is the safer one, built by monks.")]


def test_statements_are_replaced_where_they_stand():
    text = "It draws 300 watts (S2). It is quiet [S2].\n\n- It sings.\n- It costs 640 euros [S2]."
    others = {
        statement_key("It draws 300 watts [S2]."): "The Keel draws 400 watts [S2].",
        statement_key("It sings."): "",
    }

    assert replace_statements(text, TEXTS, others) == (
        "The Keel draws 400 watts [S2]. It is quiet [S2].\n\n- It costs 640 euros [S2]."
    )


@each_case(
    product(
        ["**Assessment.** ", "**Recommendation.** ", "**My assessment.** ", "- **Inference.** "],
        ["Choosing", "The Keel, then;", "So", "Nothing speaks against"],
    )
)
def test_the_bold_label_of_an_assessment_is_no_name_in_its_first_sentence(label: str, opener: str):
    assert checked(f"{label}{opener} the Keel pump would save money.").doubted == []
    wrong = checked(f"{label}{opener} the Vexley pump would save money.").doubted
    assert reasons(wrong) == ["unknown"]


@pytest.mark.parametrize(
    "said",
    [
        "Helgrind 一章建议先消除 Memcheck 报告的错误[S1]。",
        "默认的 --fair-sched=no 不保证公平，try 的可重复性更好[S1]。",
    ],
)
def test_what_a_source_recommends_or_compares_is_no_inference_of_the_writer(said: str):
    assert list_inferred_statements(said, NA) == []


@pytest.mark.parametrize("said", ["建议先买吉井泵[S2]。", "家用水井用吉井泵更好[S2]。"])
def test_a_chinese_recommendation_is_an_inference_of_the_writer(said: str):
    assert list_inferred_statements(said, NA) == [said]


@pytest.mark.parametrize(
    ("said", "question", "texts"),
    [
        (f"Take the Keel pump. {CITED}", WHICH, TEXTS),
        ("选吉井泵。吉井泵功率400瓦[S2]。", NA, HAN),
    ],
)
def test_the_answer_that_opens_a_report_is_its_writers_own(
    said: str, question: str, texts: dict[str, str]
):
    result = checked(said, question, texts)
    claims = list_claims(said, result.removed, result.doubted, texts, result.body)

    assert (result.removed, result.doubted) == ([], [])
    assert len(list_inferred_statements(result.body, question)) == 1
    assert [(one.inferred, one.reason) for one in claims] == [(True, ""), (False, "")]


@pytest.mark.parametrize(
    "said",
    [
        f"Take the Vexley pump. {CITED}",
        f"The Keel pump is made by monks in a far abbey. {CITED}",
        f"Take the Keel pump for 90 euros. {CITED}",
        "Take the Keel pump. Poets admire it.",
    ],
)
def test_a_name_a_fact_or_a_number_in_the_opening_that_no_source_has_is_not_let_be(said: str):
    result = checked(said)

    assert [*result.removed, *result.doubted]


@pytest.mark.parametrize(
    ("said", "question", "texts"),
    [
        ("- Price of spare parts: the manuals end with the warranty, so it may differ.", "", TEXTS),
        ("- 备件价格：手册只写到保修为止，所以实际费用会有出入。", NA, HAN),
    ],
)
def test_what_names_a_gap_before_a_colon_needs_no_source(
    said: str, question: str, texts: dict[str, str]
):
    heading = "尚不清楚的内容" if texts is HAN else "What is not known"
    cited = "吉井泵功率400瓦[S2]。" if texts is HAN else CITED
    result = checked(f"{cited}\n\n## {heading}\n\n{said}", question, texts)

    assert (result.removed, result.doubted) == ([], [])


def test_a_number_or_a_name_behind_the_colon_of_a_gap_needs_one():
    for said in ("a set costs 77 euros, so it differs.", "only Vexley sells them, so it differs."):
        result = checked(f"{CITED}\n\n## What is not known\n\n- Price of spare parts: {said}")

        assert result.doubted, said
