import pytest

from models.extractive.prompt_parser import ParsedPrompt
from models.extractive.sentence_scoring import list_candidates
from models.extractive.writing import write_finding
from text.answerability import SourcePassage
from text.manuals import (
    begins_entry,
    find_asked_purpose,
    find_entry_at,
    find_manual_entries,
    find_options,
    is_entry_of,
)

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
PAGE = SourcePassage("S1", "glazer - put glaze on pots", "", MANUAL)


def asked(question, *pages):
    return write_finding(
        ParsedPrompt(question=question, step=(question, question), pages=pages or (PAGE,))
    )


def test_an_entry_is_a_term_with_what_stands_below_it_or_beside_it():
    found = find_manual_entries(MANUAL)

    assert [one.term for one in found] == [
        "-q, --quiet",
        "-k kiln",
        "--slow",
        "CoatLimit=",
        "HeatLimit=",
    ]
    assert MANUAL[found[1].body_start :].startswith("Take the kiln")
    assert MANUAL[found[0].body_start : found[0].end].strip().endswith("-v.")


def test_prose_and_code_have_no_entries():
    prose = "Pots are made of clay.  They are fired.\n\nThe kiln is hot.\nIt cools at night."
    code = "def fire(pot):\n    heat(pot)\n    return pot\n"
    call = "  glazer -k 2 pot \\\n      | tee pots > all\n"

    assert (
        find_manual_entries(prose) == find_manual_entries(code) == find_manual_entries(call) == []
    )


def test_what_is_said_within_an_entry_belongs_to_the_innermost_one():
    text = "  modes\n     What a kiln does.\n\n     slow\n         It heats slowly.\n\n"
    text += "  other\n     No.\n"
    found = find_manual_entries(text)

    assert find_entry_at(found, text.index("What"))[0] == "modes"
    assert find_entry_at(found, text.index("It heats"))[0] == "slow"
    assert find_entry_at(found, text.index("No."))[0] == "other"
    assert find_entry_at(found, 0)[0] == "modes"


def test_sentences_of_an_entry_are_quoted_under_its_term():
    told = {one.text: one.section for one in list_candidates([PAGE])}

    assert told["Say nothing while pots are glazed."] == "-q, --quiet"
    assert told["Take the kiln of that name."] == "-k kiln"
    assert told["Limits the heat of the kiln."] == "HeatLimit="


def test_heads_and_feet_of_manual_pages_and_calls_of_commands_are_not_quoted():
    told = [one.text for one in list_candidates([PAGE])]

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
    assert find_asked_purpose(question) == thing


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
    assert is_entry_of(term, thing, "glazer - put glaze on pots") is yes


def test_what_a_setting_takes_does_not_say_what_it_is_for():
    assert begins_entry("CoatLimit=", "Limits how many coats a pot may get.", MANUAL)
    assert not begins_entry("CoatLimit=", "Takes a number.", MANUAL)
    assert not begins_entry("CoatLimit=", "Defaults to 3.", MANUAL)


def test_options_are_told_from_words_with_hyphens():
    assert find_options("does -q of a re-fired pot mean --quiet?") == {"-q", "--quiet"}


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
    [found] = (one for one in find_manual_entries(text) if one.term == term)
    assert text[found.body_start :].startswith("Limits")
    assert begins_entry(term, "Limits the heat.", text)


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
    assert find_manual_entries(text) == []


def test_what_is_said_of_a_term_ends_with_the_next_heading():
    text = "### max_heat\n\nLimits the heat.\n\n### Pots\n\nPots are old."
    [found] = find_manual_entries(text)
    assert "Pots" not in text[found.body_start : found.end]


def test_the_default_above_what_is_said_of_a_term_does_not_say_what_it_does():
    text = "### max_heat\n\nDefault: 900.\n\nLimits the heat."
    assert begins_entry("max_heat", "Limits the heat.", text)
    assert not begins_entry("max_heat", "Default: 900.", text)
