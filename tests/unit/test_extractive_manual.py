import pytest

from models.extractive.blocks import Page, Prompt
from models.extractive.candidates import candidates
from models.extractive.manual import begins, entries, explains, options, purpose, within
from models.extractive.writing import finding

MANUAL = """GLAZER(1)                     General Commands Manual                    GLAZER(1)

NAME
       glazer - put glaze on pots

SYNOPSIS
       glazer [-qn] [-k kiln] [--slow | --fast] [pot ...]

OPTIONS
       -q, --quiet
              Say nothing while pots are glazed.  It is the opposite of -v.

       -k kiln  Take the kiln of that name.

       --slow
              Let every pot dry for an hour before the next coat.

FILES
       CoatLimit=
              Takes a number. Limits how many coats a pot may get. Defaults to 3.

       HeatLimit=
              Limits the heat of the kiln.

4th Pottery Distribution        19 April 2010                        GLAZER(1)
"""
PAGE = Page("S1", "glazer - put glaze on pots", "", MANUAL)


def asked(question, *pages):
    return finding(Prompt(question=question, step=(question, question), pages=pages or (PAGE,)))


def test_an_entry_is_a_term_with_what_stands_below_it_or_beside_it():
    found = entries(MANUAL)

    assert [one.term for one in found] == [
        "-q, --quiet",
        "-k kiln",
        "--slow",
        "CoatLimit=",
        "HeatLimit=",
    ]
    assert MANUAL[found[1].text :].startswith("Take the kiln")
    assert MANUAL[found[0].text : found[0].end].strip().endswith("-v.")


def test_prose_and_code_have_no_entries():
    prose = "Pots are made of clay.  They are fired.\n\nThe kiln is hot.\nIt cools at night."
    code = "def fire(pot):\n    heat(pot)\n    return pot\n"
    call = "  glazer -k 2 pot \\\n      | tee pots > all\n"

    assert entries(prose) == entries(code) == entries(call) == []


def test_what_is_said_within_an_entry_belongs_to_the_innermost_one():
    text = "  modes\n     What a kiln does.\n\n     slow\n         It heats slowly.\n\n"
    text += "  other\n     No.\n"
    found = entries(text)

    assert within(found, text.index("What"))[0] == "modes"
    assert within(found, text.index("It heats"))[0] == "slow"
    assert within(found, text.index("No."))[0] == "other"
    assert within(found, 0)[0] == "modes"


def test_sentences_of_an_entry_are_quoted_under_its_term():
    told = {one.text: one.under for one in candidates([PAGE])}

    assert told["Say nothing while pots are glazed."] == "-q, --quiet"
    assert told["Take the kiln of that name."] == "-k kiln"
    assert told["Limits the heat of the kiln."] == "HeatLimit="


def test_heads_and_feet_of_manual_pages_and_calls_of_commands_are_not_quoted():
    told = [one.text for one in candidates([PAGE])]

    assert not [text for text in told if "GLAZER(1)" in text or "[--slow" in text]
    assert "-q, --quiet" not in told


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("What does the -q option of glazer do?", "the -q option of glazer"),
        ("What does CoatLimit limit?", "CoatLimit"),
        ("What is the purpose of HeatLimit?", "HeatLimit"),
        ("What is --slow for?", "--slow"),
        ("Why is the kiln hot?", ""),
    ],
)
def test_a_question_may_ask_for_a_purpose(question, thing):
    assert purpose(question) == thing


@pytest.mark.parametrize(
    ("term", "thing", "yes"),
    [
        ("-q, --quiet", "the -q option of glazer", True),
        ("-q, --quiet", "glazer --quiet", True),
        ("-Q", "glazer -q", False),
        ("-q", "the -q option of kilner", False),
        ("CoatLimit=", "the CoatLimit setting", True),
        ("CoatLimit=", "the heat limit", False),
        ("", "CoatLimit", False),
    ],
)
def test_an_entry_explains_what_its_term_names_on_a_page_of_that_name(term, thing, yes):
    assert explains(term, thing, "glazer - put glaze on pots") is yes


def test_what_a_setting_takes_does_not_say_what_it_is_for():
    assert begins("CoatLimit=", "Limits how many coats a pot may get.", MANUAL)
    assert not begins("CoatLimit=", "Takes a number.", MANUAL)
    assert not begins("CoatLimit=", "Defaults to 3.", MANUAL)


def test_options_are_told_from_words_with_hyphens():
    assert options("does -q of a re-fired pot mean --quiet?") == {"-q", "--quiet"}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does the -q option of glazer do?", '*-q, --quiet*: <q s="S1">Say nothing while'),
        ("What does HeatLimit do?", '*HeatLimit=*: <q s="S1">Limits the heat'),
        ("What does --slow mean?", '*--slow*: <q s="S1">Let every pot dry'),
    ],
)
def test_the_entry_of_what_is_asked_is_the_answer(question, answer):
    written = asked(question)

    assert answer in written.text.split("\n")[0]
    assert written.unsure is None


@pytest.mark.parametrize(
    "question", ["What does the -x option of glazer do?", "What does the -q option of kilner do?"]
)
def test_another_option_or_another_command_is_no_sure_answer(question):
    assert asked(question).unsure is not None or "<q" not in asked(question).text


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("## Settings\n\n#### maxHeat (Number)\n\nLimits the heat.", "maxHeat (Number)"),
        ("## Settings\n\n### `kiln.heat`\n\nLimits the heat.", "kiln.heat"),
        ("Settings\n\n``max_heat``\n~~~~~~~~~~~~\n\nLimits the heat.", "max_heat"),
        ("Settings\n\n--max-heat DEGREES\n\nLimits the heat.", "--max-heat DEGREES"),
        ("Settings\n\nmax_heat (KILN_HEAT)\n\nLimits the heat.", "max_heat (KILN_HEAT)"),
        ("   Heat\n\n   max-heat degrees;\n\n   Limits the heat.", "max-heat degrees"),
    ],
)
def test_a_name_as_a_heading_is_a_term_with_what_stands_below_an_empty_line(text, term):
    [found] = (one for one in entries(text) if one.term == term)
    assert text[found.text :].startswith("Limits")
    assert begins(term, "Limits the heat.", text)


@pytest.mark.parametrize(
    "text",
    [
        "## Firing\n\nLimits the heat.",
        "## Node.js\n\nLimits the heat.",
        "apt-get install kiln\n\nLimits the heat.",
        "heat\n----\n\nLimits the heat.",
    ],
)
def test_a_heading_that_is_no_name_of_a_setting_is_no_term(text):
    assert entries(text) == []


def test_what_is_said_of_a_term_ends_with_the_next_heading():
    text = "### max_heat\n\nLimits the heat.\n\n### Pots\n\nPots are old."
    [found] = entries(text)
    assert "Pots" not in text[found.text : found.end]


def test_the_default_above_what_is_said_of_a_term_does_not_say_what_it_does():
    text = "### max_heat\n\nDefault: 900.\n\nLimits the heat."
    assert begins("max_heat", "Limits the heat.", text)
    assert not begins("max_heat", "Default: 900.", text)
