"""What a writer says of the sources' silence, or of their own thought, stays as it is."""

from __future__ import annotations

import pytest

from report.checks.attribution import enforce_citations
from report.checks.claims import classify_statement
from tests.cases import each_case

PUMP = (
    "The Dunmore pump was installed in March 2004 and overhauled in May 2007. It moves 120 litres "
    "a minute; the older pump moved 30 litres a minute. A warranty of 24 months covers the motor, "
    "and a further 6 months cover the seals. The motor is cooled by water."
)
WELL = "老井深18米，新井深45米。水泵由徐立成于2003年4月安装，2006年9月大修。电机用水冷却。"
TEXTS = {"S1": PUMP, "S2": WELL}
CITED = "The motor is cooled by water [S1]."


@each_case(
    [
        "Nothing in them compares the Dunmore pump with its rivals.",
        "They do not say how loud it is, and vibration is not named anywhere in them.",
        "Whether the seals may be reused is not said in the service manual.",
        "How long the spare parts will be made is not stated in either handbook.",
        "One would need the maker's price list; neither that nor a catalogue is among the files.",
        "From this one cannot conclude that other pumps fail sooner.",
        "The guides leave the question of noise open.",
        "Its power use goes unmentioned.",
        "None of this is documented.",
        "The inventor's name does not appear in any of them.",
        "Prices are absent from the documents.",
        "The year of its scrapping is missing from both manuals.",
        "Nobody among the authors discusses vibration.",
        "There is not a word on vibration.",
        "Only two of the four questions can be answered from these manuals.",
        "噪声和振动均未提及。",
        "没有一份资料说明振动有多大。",
        "两份手册都没有谈到价格。",
        "何时停产，手册里看不到。",
        "报废年份不详。",
        "作者没有交代停产的原因。",
        "这一点在书中没有答案。",
    ]
)
def test_what_says_that_nothing_was_found_stays_in_any_ordinary_wording(said: str):
    checked = enforce_citations(f"{CITED} {said}", TEXTS)

    assert checked.body == f"{CITED} {said}"
    assert (checked.removed, checked.doubted) == ([], [])


@pytest.mark.parametrize(
    "said",
    [
        "That the newer pump is the safer choice is a conclusion of mine.",
        "This is how I read the two manuals.",
        "The ranking is my own.",
        "Gravel suits it better than clay, in my reading.",
        "I would rank noise first; neither manual does, so the order is mine.",
        "先修电机，再换密封，这是我的归纳。",
        "这里的次序是我排的。",
        "以上是我对两份手册的理解。",
        "前者更省事，属于我的判断。",
        "哪一台更合适，此为推断。",
    ],
)
def test_what_is_marked_as_a_writers_own_thought_stays_in_any_ordinary_wording(said: str):
    checked = enforce_citations(f"{CITED} {said}", TEXTS)

    assert checked.body == f"{CITED} {said}"
    assert (checked.removed, checked.doubted) == ([], [])


@pytest.mark.parametrize(
    "said",
    [
        "The pump does not compare pressures.",
        "Nothing can stop the valve.",
        "The valve is not named after its maker.",
        "Nothing in the engine wears out.",
        "The tank is missing a lid.",
        "The author never visited the works.",
        "此阀门没有弹簧。",
        "价格没有上涨。",
    ],
)
def test_a_plain_denial_is_a_claim(said: str):
    assert classify_statement(said) == "claim"


DATES = "The pump was installed in March 2004 and overhauled in May 2007 [S1]."
RATES = "It moves 120 litres a minute, the older one 30 litres a minute [S1]."
WARRANTY = "A warranty of 24 months covers the motor, and 6 more months cover the seals [S1]."
DEPTHS = "老井深18米，新井深45米[S2]。"


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        (DATES, "That is a gap of 38 months, which I computed from those dates."),
        (DATES, "By my count, the first overhaul came after three years."),
        (RATES, "By these figures the new pump is four times as fast as the old one."),
        (RATES, "Together they would move 150 litres, which is my own arithmetic."),
        (WARRANTY, "That makes 30 months in all, worked out from the two figures."),
        (DEPTHS, "两者相差27米，这是我推算的。"),
        (DEPTHS, "新井是老井的2.5倍，这是我自己算的。"),
        ("水泵于2003年4月安装，2006年9月大修[S2]。", "其间相隔41个月，这是我的推算。"),
    ],
)
def test_arithmetic_that_is_marked_as_the_writers_own_and_comes_out_raises_nothing(
    beside: str, said: str
):
    text = f"{beside} {said}"

    assert enforce_citations(text, TEXTS) == enforce_citations(text, TEXTS)._replace(
        body=text, removed=[], doubted=[]
    )


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        (DATES, "That is a gap of 44 months, which I computed from those dates."),
        (RATES, "By these figures the new pump is seven times as fast as the old one."),
        (WARRANTY, "That makes 36 months in all, worked out from the two figures."),
        (DEPTHS, "两者相差37米，这是我推算的。"),
    ],
)
def test_arithmetic_of_the_writers_own_that_does_not_come_out_is_marked(beside: str, said: str):
    checked = enforce_citations(f"{beside} {said}", TEXTS)

    assert [(one["text"], one["reason"]) for one in checked.doubted] == [(said, "calculation")]


def test_arithmetic_of_numbers_that_stand_nowhere_near_is_let_be():
    said = "That makes 91 days, which I computed from the log."

    assert enforce_citations(f"{CITED}\n\n{CITED}\n\n{said}", TEXTS).doubted == []
