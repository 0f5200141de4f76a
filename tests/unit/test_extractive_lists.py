import pytest

from models.extractive import writing
from models.extractive.answer_confidence import is_confident_answer
from models.extractive.lists_and_tables import find_asked_list, is_complete_list_answer
from models.extractive.prompt_parser import ParsedPrompt, PromptFinding, SourceQuote
from report.checks.verification import verify_citations
from text.answerability import SourcePassage
from text.definitions import find_defined_term, score_definition
from text.question_types import asks_list

DRIVES = """# Drives of the Zeta pump

The Zeta pump is sold with one of the following drives:

- Electric. The motor needs 400 V.

- Diesel. The tank holds 20 litres.

- Hand crank.

The Zeta pump was tested with every drive for a year.
"""
PAGES = (SourcePassage("S1", "Zeta pump manual", "", DRIVES),)
ASKED = "Which drives does the Zeta pump have?"


def finding(question: str, pages: tuple[SourcePassage, ...] = PAGES) -> writing.WrittenAnswer:
    return writing.write_finding(ParsedPrompt(question=question, step=(question, ""), pages=pages))


@pytest.mark.parametrize(
    "question",
    [
        "List the planets of the system",
        "What are the stages of sleep?",
        "Which values can the mode take?",
        "What colours are the doors painted in?",
        "Name the rivers of Norway",
        "申请护照有哪些步骤？",
        "列出所有的锁类型",
        "软件包有哪几种优先级？",
    ],
)
def test_a_question_may_ask_for_a_list(question: str):
    assert asks_list(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is a mailing list?",
        "Who built the pump?",
        "When did the wars end?",
        "How many planets are there?",
        "What class does the object have?",
        "What happens at night?",
        "什么是列表？",
        "谁发明了电话？",
    ],
)
def test_a_question_for_one_thing_asks_for_no_list(question: str):
    assert not asks_list(question)


def test_a_list_that_is_asked_for_is_quoted_whole_and_in_order():
    written = finding(ASKED)

    assert written.unsure is None
    assert written.text.startswith(
        '- <q s="S1">The Zeta pump is sold with one of the following drives:</q>\n'
        '  - <q s="S1">Electric. The motor needs 400 V.</q>\n'
        '  - <q s="S1">Diesel. The tank holds 20 litres.</q>\n'
        '  - <q s="S1">Hand crank.</q>'
    )


def test_a_report_shows_the_list_below_what_announces_it_and_every_item_is_cited():
    found = PromptFinding("s1", ASKED, "ok", finding(ASKED).text)
    text = writing.write_report(ParsedPrompt(question=ASKED, findings=(found,))).text
    checked = verify_citations(text, {"S1": DRIVES})

    assert checked.body.startswith(
        "The sources put it this way: "
        '<q s="S1">The Zeta pump is sold with one of the following drives:</q>\n\n'
        '- <q s="S1">Electric. The motor needs 400 V.</q>\n'
        '- <q s="S1">Diesel. The tank holds 20 litres.</q>\n'
        '- <q s="S1">Hand crank.</q>'
    )
    assert not checked.removed


def test_a_chinese_list_is_quoted_whole():
    text = (
        "# 申请图书证\n\n申请图书证的步骤如下：\n\n1. 填写表格。\n2. 交两张照片。\n3. 领取图书证。"
    )
    written = finding("申请图书证有哪些步骤？", (SourcePassage("S1", "图书馆指南", "", text),))

    assert written.unsure is None
    assert [line.strip(" -") for line in written.text.splitlines()[:4]] == [
        f'<q s="S1">{one}</q>'
        for one in ("申请图书证的步骤如下：", "填写表格。", "交两张照片。", "领取图书证。")
    ]


def test_a_list_of_something_else_is_not_taken():
    assert find_asked_list("Which colours does the Zeta pump have?", PAGES) is None
    assert find_asked_list("Which drives does the Omega crane have?", PAGES) is None


def test_a_sentence_is_no_sure_answer_where_a_list_is_asked_for():
    text = "The drives of the Zeta pump are tested for a year by the engineers of the plant."
    page = SourcePassage("S1", "Zeta pump", "", text)

    assert finding(ASKED, (page,)).unsure is not None


def test_a_sentence_that_names_several_things_comes_before_one_that_names_none():
    text = (
        "The drives of the Zeta pump were tested. "
        "Drives of the Zeta pump are electric motors, diesel engines and hand cranks."
    )

    assert (
        "hand cranks"
        in finding(ASKED, (SourcePassage("S1", "Pumps", "", text),)).text.splitlines()[0]
    )


def test_a_list_that_the_page_does_not_finish_is_no_sure_answer():
    text = (
        "The drives of the Zeta pump are as follows:\n\nElectric (1)\n\nIt needs 400 V.\n\n"
        "Diesel (2)\n\nIt needs a tank.\n\nHand crank (3)"
    )

    assert "Diesel (2)" in finding(ASKED, (SourcePassage("S1", "", "", text),)).text
    assert finding(ASKED, (SourcePassage("S1", "", "", text),)).unsure is not None


def test_a_long_item_is_quoted_by_its_first_sentences():
    text = f"The Zeta pump has these drives:\n\n- Electric. {'It hums. ' * 80}\n- Diesel."
    (_, electric, diesel, *_) = finding(
        ASKED, (SourcePassage("S1", "", "", text),)
    ).text.splitlines()

    assert len(electric) < 450
    assert "Diesel." in diesel


def test_what_ends_with_a_colon_is_quoted_with_what_follows():
    text = "A lift pump is a machine with two parts:\n\n- a piston\n- a valve\n\nIt is old."

    assert (
        '  - <q s="S1">a valve</q>'
        in finding("What is a lift pump?", (SourcePassage("S1", "", "", text),)).text
    )


def test_the_items_of_a_finding_are_read_back_as_such():
    first = PromptFinding("s1", ASKED, "ok", finding(ASKED).text).quotes[0]

    assert first.text.endswith("following drives:")
    assert first.items[1:] == ("Diesel. The tank holds 20 litres.", "Hand crank.")


def test_a_condition_is_no_definition():
    asked = find_defined_term("What is a hot valve?")
    assert asked

    told = score_definition(asked, "A hot valve is a part of a boiler.", "")
    condition = score_definition(
        asked, 'A hot valve is a "live" valve if all of these are true:', ""
    )

    assert told > condition


def test_single_quotes_of_a_list_are_no_whole_answer():
    lead = find_asked_list(ASKED, PAGES)
    assert lead

    assert is_confident_answer(ASKED, PAGES, [lead.quote], 1)
    assert not is_confident_answer(ASKED, PAGES, [lead.quote._replace(items=())], 1)


def test_a_list_of_something_else_below_a_fitting_heading_is_no_answer():
    page = SourcePassage(
        "S1",
        "Kilns of Ostrava – Glaze types",
        "",
        "The Ostrava kiln has a long history and offers many modern comforts:\n\n"
        "- a lift\n- a canteen\n- a library",
    )
    quote = SourceQuote(
        "S1",
        "The Ostrava kiln has a long history and offers many modern comforts:",
        items=("a lift", "a canteen", "a library"),
    )

    assert not is_complete_list_answer(
        "Which glaze types does the Ostrava kiln offer?", quote, [page]
    )
