from itertools import product

import pytest

from report.checks.verification import verify_citations
from tests.cases import each_case

PAGE = (
    "The heron stands still in shallow water for hours, and strikes when a fish comes near. "
    'Its call, "fraank", is heard at dusk. Herons do not nest alone, but in colonies on trees. '
    "In 1932 the colony at Alder Mere had forty nests, the keeper's diary says."
)
DIKE = "堤坝建于明代，全长十二公里，由当地农民修筑。堤坝没有毁于洪水，而是在地震中倒塌。"
TEXTS = {"S1": PAGE, "S2": DIKE}


def left(text):
    return verify_citations(text, TEXTS).body


@each_case(
    product(
        ['The page says: <q s="S1">{}</q>.', 'It says "{}" [S1].'],
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
)
def test_a_quotation_may_leave_words_out_and_put_some_in_as_writers_do(spelt, quotation):
    if '"' in spelt.format("") and "'" in quotation and "<q" not in spelt:
        spelt = "It says “{}” [S1]."

    checked = verify_citations(spelt.format(quotation), TEXTS)

    assert not checked.removed
    assert "[S1]" in checked.body or 's="S1"' in checked.body
    assert verify_citations(checked.body, TEXTS).body == checked.body


def test_each_piece_of_a_marked_quotation_is_quoted_for_itself():
    text = '<q s="S1">The heron stands still [...] and strikes when a fish comes near</q>.'

    checked = verify_citations(text, TEXTS)

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


def test_a_word_that_joins_sentences_may_begin_a_quotation_with_words_left_out():
    pages = {"S1": "It froze. However, in the cold spring of 1987, no heron came back to nest."}
    text = 'It says: <q s="S1">However, … no heron came back to nest</q>.'
    turned = 'It says: <q s="S1">No … heron came back to nest</q>.'

    assert not verify_citations(text, pages).removed
    assert verify_citations(turned, pages).removed


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
    checked = verify_citations(f'It says: <q s="S1">{quotation}</q>.', TEXTS)

    assert [one["reason"] for one in checked.removed] == ["quote_not_found"]


KEEPER = (
    'The keeper told the board that "the lamp must never go out", and meant it. It is a '
    "first-class \ufb01nding — the office said so — that ‘small lamps’ fail. "
    'He "left" in 1987–1990. The\u00a0harbour  was\nclosed. An exam-\nple of it stands there. '
    "He wrote teh letter in May. The film's producer didn't reply, and the crew lost 1,500 pounds."
)
TOWER = (
    "馆长说：“这座‘灯塔’从未熄灭。”他补充说，灯塔建于1932年，作者称之为「海上的『眼睛』」，\n"
    "居民把它叫作《老灯》。塔高 32 米，由 Smith 公司承建。"
)


@each_case(
    product(
        ['The page says: <q s="S1">{}</q>.', "It says “{}” [S1]."],
        [
            "that ‘the lamp must never go out,’ and meant it",
            "that «the lamp must never go out» and meant it",
            "that ‹small lamps› fail",
            "that small lamps fail",
            "[s]mall lamps fail",
            "a first-class finding—the office said so—that",
            "a first-class finding - the office said so - that",
            "first class finding",
            "He left in 1987-1990",
            "the  harbour was closed .",
            "—the harbour was closed—",
            "[A]n example of it stands there",
            "An exam- ple of it stands there",
            "He wrote teh [sic] letter in May",
            "He wrote teh letter in May [sic].",
            "He wrote teh letter in *May* (emphasis added)",
            "[the film]’s producer didn’t reply",
            "The film’s producer didn’t reply,",
            "the crew lost [some] 1500 pounds",
            "The harbour was closed [in winter]",
        ],
    )
)
def test_a_quotation_is_known_by_its_words_whatever_signs_stand_between_them(spelt, quotation):
    checked = verify_citations(spelt.format(quotation), {"S1": KEEPER})

    assert not checked.removed
    assert verify_citations(checked.body, {"S1": KEEPER}).body == checked.body


@each_case(
    product(
        ['资料说：<q s="S1">{}</q>。', "资料说：『{}』[S1]。"],
        [
            "这座「灯塔」从未熄灭",
            "这座《灯塔》从未熄灭",
            "这座灯塔从未熄灭",
            "他补充说: 灯塔建于1932年",
            "作者称之为‘海上的眼睛’",
            "居民把它叫作“老灯”。",
            "塔高３２米,由smith公司承建",
            "灯塔〔原名老灯〕建于1932年",
            "馆长说【…】作者称之为「海上的眼睛」",
            "灯塔建于1932年⋯⋯居民把它叫作老灯",
            "他补充说，灯塔建于1932年（原文如此）",
            "［馆长］补充说，灯塔建于1932年",
        ],
    )
)
def test_a_chinese_quotation_is_known_by_its_characters(spelt, quotation):
    checked = verify_citations(spelt.format(quotation), {"S1": TOWER})

    assert not checked.removed
    assert verify_citations(checked.body, {"S1": TOWER}).body == checked.body


@pytest.mark.parametrize(
    "quotation",
    [
        "that ‘the lamp must always go out’",
        "He ‘stayed’ in 1987–1990",
        "He left in 1987-1991",
        "The harbour [sic] closed",
        "The harbour was [not] closed",
        "The lamp [may soon] go out",
        "closed, an example of it",
        "the crew lost [some] 15,00 pounds",
        "这座‘灯塔’曾经熄灭",
        "灯塔［并非］建于1932年，作者称之为",
        "塔高 3 米，由 Smith 公司承建",
    ],
)
def test_a_quotation_with_another_word_is_none_whatever_signs_stand_in_it(quotation):
    checked = verify_citations(f'It says: <q s="S1">{quotation}</q>.', {"S1": KEEPER + TOWER})

    assert [one["reason"] for one in checked.removed] == ["quote_not_found"]


def test_what_was_put_in_behind_a_quotation_stands_behind_it():
    text = 'It says: <q s="S1">the harbour was closed [in winter]</q>.'

    body = verify_citations(text, {"S1": KEEPER}).body

    assert body == 'It says: <q s="S1">The harbour was closed</q> [in winter].'
