import pytest

from report.verify import check

PAGE = (
    "The heron stands still in shallow water for hours, and strikes when a fish comes near. "
    'Its call, "fraank", is heard at dusk. Herons do not nest alone, but in colonies on trees. '
    "In 1932 the colony at Alder Mere had forty nests, the keeper's diary says."
)
DIKE = "堤坝建于明代，全长十二公里，由当地农民修筑。堤坝没有毁于洪水，而是在地震中倒塌。"
TEXTS = {"S1": PAGE, "S2": DIKE}


def left(text):
    return check(text, TEXTS).body


@pytest.mark.parametrize(
    "quotation",
    [
        "The heron stands still … and strikes when a fish comes near",
        "The heron stands still ... and strikes when a fish comes near",
        "The heron stands still [...] and strikes when a fish comes near",
        "The heron stands still (…) and strikes when a fish comes near",
        "[T]he heron stands still in shallow water",
        "[The bird] stands still in shallow water",
        "strikes when a fish [or a frog] comes near",
        "Herons do not nest alone [sic], but in colonies",
        "Its call, 'fraank', is heard at dusk",
        "… the colony at Alder Mere had forty nests …",
    ],
)
@pytest.mark.parametrize("spelt", ['The page says: <q s="S1">{}</q>.', 'It says "{}" [S1].'])
def test_a_quotation_may_leave_words_out_and_put_some_in_as_writers_do(spelt, quotation):
    if '"' in spelt.format("") and "'" in quotation and "<q" not in spelt:
        spelt = "It says “{}” [S1]."

    checked = check(spelt.format(quotation), TEXTS)

    assert not checked.removed
    assert "[S1]" in checked.body or 's="S1"' in checked.body
    assert check(checked.body, TEXTS).body == checked.body


def test_each_piece_of_a_marked_quotation_is_quoted_for_itself():
    text = '<q s="S1">The heron stands still [...] and strikes when a fish comes near</q>.'

    checked = check(text, TEXTS)

    assert checked.body == (
        '<q s="S1">The heron stands still</q> [...] '
        '<q s="S1">and strikes when a fish comes near</q>.'
    )
    assert [one["text"] for one in checked.quotes] == [
        "The heron stands still",
        "and strikes when a fish comes near",
    ]


def test_words_left_out_of_a_chinese_quotation_are_no_fault():
    text = '资料说：<q s="S2">堤坝建于明代……由当地农民修筑</q>。'

    assert left(text) == '资料说：<q s="S2">堤坝建于明代</q>……<q s="S2">由当地农民修筑</q>。'


@pytest.mark.parametrize(
    "quotation",
    [
        "Herons … nest alone",
        "and strikes when a fish comes near … The heron stands still",
        "The heron stands still … and sings when a fish comes near",
        "The … heron … stands … alone",
        "The heron stands still … had forty-two nests",
        "堤坝……毁于洪水，而是在地震中倒塌",
    ],
)
def test_a_quotation_cut_so_that_it_says_something_else_is_none(quotation):
    checked = check(f'It says: <q s="S1">{quotation}</q>.', TEXTS)

    assert [one["reason"] for one in checked.removed] == ["quote_not_found"]
