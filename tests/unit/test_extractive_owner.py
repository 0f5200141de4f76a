import pytest

from models.extractive.exact_answers import find_answer_form
from models.extractive.manual_answers import (
    asked_title_words,
    entry_gives_default,
    has_asked_owner,
    is_from_other_manual,
    is_unambiguous_term,
    names_beside_term,
    page_covers_names,
    page_subjects,
    split_term_names,
)
from models.extractive.prompt_parser import SourceQuote
from tests.cases import each_case
from text.answerability import SourcePassage

KILN = SourcePassage(
    "S1", "kiln-add, kiln-rm - adds pots to a kiln", "", "  -k  Keep the pots hot."
)
AGENT = SourcePassage("S2", "kiln-agent - holds the keys of kilns", "", "  -k  Kill the agent.")


def sure(asked, told, under, *pages):
    return find_answer_form(asked, pages, [SourceQuote(pages[0].id, told, under)])


def test_the_names_of_a_manual_stand_before_the_dash_of_its_title():
    assert page_subjects("at, batch - run pots later") == {"at", "batch"}
    assert {"kiln.conf", "kiln"} <= page_subjects("kiln.conf - settings of the kiln")
    assert page_subjects("The kiln book — Doors") == {"the", "kiln", "book"}


def test_a_term_may_have_several_names():
    assert split_term_names("-k, --keep=HOURS") == ["-k", "--keep"]
    assert split_term_names("port: <number>") == ["port"]


@pytest.mark.parametrize(
    ("asked", "head", "named"),
    [
        ("the -k option of kiln", "-k", ["kiln"]),
        ("kiln -k", "-k", ["kiln"]),
        ("the -z option of on", "-z", ["on"]),
        ("Glaze in kiln.conf", "Glaze", ["kiln.conf"]),
        ("Glaze", "Glaze", []),
    ],
)
def test_what_is_named_beside_a_term_is_its_owner(asked, head, named):
    assert names_beside_term(asked, head) == named


def test_an_entry_is_of_the_manual_whose_name_and_not_whose_purpose_is_named():
    assert page_covers_names(["kiln-rm"], KILN.title)
    assert not page_covers_names(["pots"], KILN.title)
    assert not page_covers_names(["kiln"], "kiln-add - adds pots to a kiln")
    assert page_covers_names(["push"], "kiln — push")
    assert page_covers_names(["OpenKiln"], "kilnd - the OpenKiln daemon")


def test_the_option_of_a_sibling_is_not_sure():
    asked = "What does the -k option of {} do?"
    assert sure(asked.format("kiln-add"), "Keep the pots hot.", "-k", KILN, AGENT) == "entry"
    assert not sure(asked.format("kiln-agent"), "Keep the pots hot.", "-k", KILN, AGENT)
    assert not sure(asked.format("kiln-agent"), "Keep the pots hot.", "-k", KILN)


def test_a_term_without_an_owner_is_sure_where_all_its_entries_say_the_same():
    add, same, agent = (
        page._replace(text=page.text.replace("-k", "--keep-on"))
        for page in (KILN, KILN._replace(id="S3", title="kiln-mv - moves pots"), AGENT)
    )
    asked, told = "What does --keep-on do?", "Keep the pots hot."
    assert sure(asked, told, "--keep-on", add) == "entry"
    assert sure(asked, told, "--keep-on", add, same) == "entry"
    assert not sure(asked, told, "--keep-on", add, agent)
    assert is_unambiguous_term("-k", KILN.title, [KILN, AGENT], named=True)
    assert not is_unambiguous_term("-k", KILN.title, [KILN, AGENT], named=False)


@pytest.mark.parametrize("option", ["-k", "--keep", "Keep", "keep"])
def test_a_term_of_one_word_without_a_command_is_sure_only_in_a_single_manual(option):
    page = KILN._replace(text=f"  {option}  Keep the pots hot.")
    other = SourcePassage("S2", "stove - burns wood", "", "Wood burns.")
    asked, told = f"What does {option} do?", "Keep the pots hot."
    assert sure(asked, told, option, page, page._replace(text="Pots.")) == "entry"
    assert not sure(asked, told, option, page, other)
    named = f"What does the {option} option of kiln-add do?"
    assert sure(named, told, option, page, other) == "entry"


def test_a_quote_from_another_manual_than_the_one_that_is_named_is_foreign():
    quote = SourceQuote("S1", "By default the door is shut.")
    asked = "What is the default door of kiln-agent?"
    assert is_from_other_manual(asked, quote, KILN.title, [KILN, AGENT])
    assert not is_from_other_manual(asked, quote, AGENT.title, [KILN, AGENT])
    assert not is_from_other_manual(
        asked, quote._replace(text="kiln-agent shuts."), KILN.title, [KILN, AGENT]
    )
    assert not is_from_other_manual("What is a door?", quote, KILN.title, [KILN, AGENT])


def test_what_a_question_ends_with_stands_in_the_quote_or_names_its_page():
    quote = SourceQuote("S1", "The default door is shut.")
    assert has_asked_owner("What is the default door of kiln-add?", quote, KILN.title)
    assert not has_asked_owner("What is the default door of stove?", quote, KILN.title)
    assert has_asked_owner("What is the default door?", quote, KILN.title)


def test_what_a_manual_is_for_says_something_only_for_a_question_that_names_it():
    assert "pot" in {
        one.rstrip("s") for one in asked_title_words("What are pots of kiln-add?", KILN.title)
    }
    assert not asked_title_words("What are pots?", KILN.title)


@each_case(
    [
        ("What does port do?", "control-port", "Sets the port to listen on."),
        ("What does --no-glaze do?", "--glaze, --no-glaze", "Put glaze on pots."),
        ("What does glaze do?", "Glaze on|off", "Puts glaze on pots."),
        ("What does Glaze replace?", "Glaze", "Puts glaze on pots."),
        ("What does Glaze not do?", "Glaze", "Puts glaze on pots."),
        ("What does Glaze do?", "Glaze", "Linux only; requires a pot."),
        ("What does Glaze do?", "Glaze", "When pots are cold, potters burn wood."),
        ("What does Glaze do?", "Glaze", "The pots are old."),
        ("What does Glaze do?", "Glaze", "Slow fire."),
        ("What is Glaze?", "Glaze", "Print Glaze-like figures of pots."),
        ("What does Glaze do?", "Glaze", "Even if pots are cold, they get glaze."),
        ("What does Glaze do?", "Glaze", "Clay pots get the glaze of their parents."),
        ("What does Glaze do?", "Glaze", "This option should be the path of a file."),
        ("What does Glaze do?", "Glaze", "This is a map with the following pots:"),
        ("What does Glaze do?", "Glaze", "In some kilns, pots are glazed."),
        ("What does Glaze do?", "Glaze", "Usually pots are glazed."),
        ("What does Glaze do?", "Glaze", "The glaze setting."),
        ("What does Glaze do?", "Glaze", "This option must be given before all others."),
        ("What does Glaze do?", "Glaze", "BTU tables require potters to add marks."),
        ("What does Glaze do?", "Glaze", "One of Glaze or Paint must be given for pots."),
    ]
)
def test_an_entry_of_another_term_or_that_first_says_something_else_is_not_sure(asked, term, told):
    page = SourcePassage("S1", "kiln.conf - settings", "", f"  {term}  {told}")
    assert not find_answer_form(asked, [page], [SourceQuote("S1", told, term)])


@pytest.mark.parametrize(
    "told",
    [
        "Puts glaze on pots.",
        "The glaze that pots must have.",
        "This option can be used to put glaze on pots.",
        "If set to yes, pots get glaze.",
        "All pots are glazed.",
        "Don't do any glazing.",
    ],
)
def test_what_an_entry_says_first_of_its_term_is_sure(told):
    page = SourcePassage("S1", "kiln.conf - settings", "", f"  Glaze  {told}")
    assert (
        find_answer_form("What does Glaze do?", [page], [SourceQuote("S1", told, "Glaze")])
        == "entry"
    )
    assert find_answer_form(
        "What does the Glaze setting of kiln do?", [page], [SourceQuote("S1", told, "Glaze")]
    )


def test_what_an_option_does_is_not_what_the_program_does():
    page = SourcePassage("S1", "kilnctl - start kilns", "", "  -v  The kiln has 14 doors.")
    asked, quote = "How many doors does the kiln have?", SourceQuote("S1", "The kiln has 14 doors.")
    assert find_answer_form(asked, [page], [quote])
    assert not find_answer_form(asked, [page], [quote._replace(section="-v")])


def test_a_manual_says_in_its_description_what_its_program_does():
    told = "kilnctl takes a number of pots."
    arguments = SourcePassage("S1", "kilnctl - start kilns", "", f"ARGUMENTS\n   {told}")
    described = arguments._replace(text=f"DESCRIPTION\n   {told}")
    assert not find_answer_form("What does kilnctl do?", [arguments], [SourceQuote("S1", told)])
    assert (
        find_answer_form("What does kilnctl do?", [described], [SourceQuote("S1", told)]) == "deed"
    )


def default_of(asked, told, *more):
    page = SourcePassage(
        "S1", "kiln.conf - settings", "", f"### max_heat\n\n{told} {' '.join(more)}"
    )
    return entry_gives_default(asked, SourceQuote("S1", told, "max_heat"), [page])


@pytest.mark.parametrize("told", ["Default: 900.", "The default is 900.", "It defaults to 900."])
def test_the_default_in_the_entry_of_the_very_term_is_given(told):
    assert default_of("What is the default of max_heat?", told)
    assert default_of("What is the default max_heat in kiln.conf?", told)
    assert default_of("What does max_heat default to?", told)


def test_the_default_of_another_term_or_owner_or_one_of_several_is_not_given():
    told = "The default is 900."
    assert not default_of("What is the default of heat?", told)
    assert not default_of("What is the default of max_heat in oven.conf?", told)
    assert not default_of("What does max_heat do?", told)
    assert not default_of("What is the default of max_heat?", told, "The default is 7.")
    assert not default_of("What is the default of max_heat?", "For pots the default is 900.")
