import pytest

from report.checks.attribution import enforce_citations
from report.checks.claims import classify_statement

PIER = (
    "The pier at Holm was opened by Queen Ingrid in 1951. It is built of oak and has three lamps. "
    "A ferry took pilgrims from the pier to the island every summer until the bridge was built."
)
LAMP = "灯塔建于清代，由石头砌成。守塔人每天傍晚点灯，船只因此避开暗礁。"
TEXTS = {"S1": PIER, "S2": LAMP}


def doubts(text):
    return [one["reason"] for one in enforce_citations(text, TEXTS).doubted]


@pytest.mark.parametrize(
    "said",
    [
        "There is no evidence that the wood is rotten, so children may jump from it at night.",
        "The sources do not say what the pier cost, which proves that it was paid with bribes.",
        "No source mentions a storm; half of the lamps were lost in one.",
        "Nothing was found about the ferry, but its captain was hanged for smuggling.",
        "It is not stated who built it, although the army did most of the work.",
        "None of the pages names a toll, therefore drivers can cross for free.",
        "The sources are silent about whales — hunting them is harmless.",
        "没有证据表明灯塔会倒塌，所以游客可以爬到塔顶跳水。",
        "资料没有提到守塔人的姓名，但他后来成了海盗的首领。",
        "来源没有说明灯塔的高度；它是全国最高的建筑物之一。",
    ],
)
def test_a_claim_behind_the_remark_that_something_was_not_found_is_marked(said):
    checked = enforce_citations(said, TEXTS)

    assert [one["reason"] for one in checked.doubted] == ["carried"]
    assert checked.body == said


@pytest.mark.parametrize(
    "said",
    [
        "There is no evidence that the wood is rotten.",
        "The sources do not say what the pier cost, so this remains open.",
        "No source gives its length, and none names its builder.",
        "The sources do not name the captain, so the harbour office would have to be asked.",
        "None of the pages says what it cost, when it was painted, or who paid for it.",
        "The sources do not say what it cost, but the pier was opened by Queen Ingrid in 1951.",
        "资料没有说明灯塔的高度，因此无法回答这个问题。",
        "资料没有提到守塔人的姓名，但守塔人每天傍晚点灯。",
    ],
)
def test_the_remark_alone_is_let_be_and_so_is_what_a_source_says_beside_it(said):
    assert classify_statement(said) == "open"
    assert not doubts(said)


@pytest.mark.parametrize(
    "said",
    [
        "The pier at Holm was opened by Queen Ingrid in 1963.",
        "The pier at Holm was not opened by Queen Ingrid in 1951.",
        "The pier at Holm was opened by Queen Astrid in 1951.",
        "A ferry took soldiers from the pier to the island every summer until 1980.",
    ],
)
def test_a_sentence_that_its_source_has_otherwise_gets_no_citation_from_code(said):
    checked = enforce_citations(said, TEXTS)

    assert "[S" not in checked.body
    assert len(checked.doubted) + len(checked.removed) == 1
