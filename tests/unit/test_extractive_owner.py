import pytest

from models.extractive.blocks import Page, Quote
from models.extractive.exact import exact
from models.extractive.owner import about, belongs, beside, foreign, heads, owned, owners, single
from models.extractive.terms import gives_default

KILN = Page("S1", "kiln-add, kiln-rm - adds pots to a kiln", "", "  -k  Keep the pots hot.")
AGENT = Page("S2", "kiln-agent - holds the keys of kilns", "", "  -k  Kill the agent.")


def sure(asked, told, under, *pages):
    return exact(asked, pages, [Quote(pages[0].id, told, under)])


def test_the_names_of_a_manual_stand_before_the_dash_of_its_title():
    assert owners("at, batch - run pots later") == {"at", "batch"}
    assert {"kiln.conf", "kiln"} <= owners("kiln.conf - settings of the kiln")
    assert owners("The kiln book — Doors") == {"the", "kiln", "book"}


def test_a_term_may_have_several_names():
    assert heads("-k, --keep=HOURS") == ["-k", "--keep"]
    assert heads("port: <number>") == ["port"]


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
    assert beside(asked, head) == named


def test_an_entry_is_of_the_manual_whose_name_and_not_whose_purpose_is_named():
    assert owned(["kiln-rm"], KILN.title)
    assert not owned(["pots"], KILN.title)
    assert not owned(["kiln"], "kiln-add - adds pots to a kiln")
    assert owned(["push"], "kiln — push")
    assert owned(["OpenKiln"], "kilnd - the OpenKiln daemon")


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
    assert single("-k", KILN.title, [KILN, AGENT], named=True)
    assert not single("-k", KILN.title, [KILN, AGENT], named=False)


@pytest.mark.parametrize("option", ["-k", "--keep", "Keep", "keep"])
def test_a_term_of_one_word_without_a_command_is_sure_only_in_a_single_manual(option):
    page = KILN._replace(text=f"  {option}  Keep the pots hot.")
    other = Page("S2", "stove - burns wood", "", "Wood burns.")
    asked, told = f"What does {option} do?", "Keep the pots hot."
    assert sure(asked, told, option, page, page._replace(text="Pots.")) == "entry"
    assert not sure(asked, told, option, page, other)
    named = f"What does the {option} option of kiln-add do?"
    assert sure(named, told, option, page, other) == "entry"


def test_a_quote_from_another_manual_than_the_one_that_is_named_is_foreign():
    quote = Quote("S1", "By default the door is shut.")
    asked = "What is the default door of kiln-agent?"
    assert foreign(asked, quote, KILN.title, [KILN, AGENT])
    assert not foreign(asked, quote, AGENT.title, [KILN, AGENT])
    assert not foreign(asked, quote._replace(text="kiln-agent shuts."), KILN.title, [KILN, AGENT])
    assert not foreign("What is a door?", quote, KILN.title, [KILN, AGENT])


def test_what_a_question_ends_with_stands_in_the_quote_or_names_its_page():
    quote = Quote("S1", "The default door is shut.")
    assert belongs("What is the default door of kiln-add?", quote, KILN.title)
    assert not belongs("What is the default door of stove?", quote, KILN.title)
    assert belongs("What is the default door?", quote, KILN.title)


def test_what_a_manual_is_for_says_something_only_for_a_question_that_names_it():
    assert "pot" in {one.rstrip("s") for one in about("What are pots of kiln-add?", KILN.title)}
    assert not about("What are pots?", KILN.title)


@pytest.mark.parametrize(
    ("asked", "term", "told"),
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
    ],
)
def test_an_entry_of_another_term_or_that_first_says_something_else_is_not_sure(asked, term, told):
    page = Page("S1", "kiln.conf - settings", "", f"  {term}  {told}")
    assert not exact(asked, [page], [Quote("S1", told, term)])


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
    page = Page("S1", "kiln.conf - settings", "", f"  Glaze  {told}")
    assert exact("What does Glaze do?", [page], [Quote("S1", told, "Glaze")]) == "entry"
    assert exact("What does the Glaze setting of kiln do?", [page], [Quote("S1", told, "Glaze")])


def test_what_an_option_does_is_not_what_the_program_does():
    page = Page("S1", "kilnctl - start kilns", "", "  -v  The kiln has 14 doors.")
    asked, quote = "How many doors does the kiln have?", Quote("S1", "The kiln has 14 doors.")
    assert exact(asked, [page], [quote])
    assert not exact(asked, [page], [quote._replace(under="-v")])


def test_a_manual_says_in_its_description_what_its_program_does():
    told = "kilnctl takes a number of pots."
    arguments = Page("S1", "kilnctl - start kilns", "", f"ARGUMENTS\n   {told}")
    described = arguments._replace(text=f"DESCRIPTION\n   {told}")
    assert not exact("What does kilnctl do?", [arguments], [Quote("S1", told)])
    assert exact("What does kilnctl do?", [described], [Quote("S1", told)]) == "deed"


def default_of(asked, told, *more):
    page = Page("S1", "kiln.conf - settings", "", f"### max_heat\n\n{told} {' '.join(more)}")
    return gives_default(asked, Quote("S1", told, "max_heat"), [page])


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
