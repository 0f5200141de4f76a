import pytest

from models.extractive.exact_answers import find_answer_form
from models.extractive.prompt_parser import SourceQuote
from text.answerability import SourcePassage


def is_exact(asked, told, *, title="Kiln book", under="", before=""):
    page = SourcePassage("S1", title, "", f"{before}{told}")
    return find_answer_form(asked, [page], [SourceQuote("S1", told, under)])


def test_the_entry_of_the_very_setting_is_exact():
    text = "glaze_hold  Keep the heat for so many minutes."
    page = SourcePassage("S1", "kiln.conf", "", text)
    quote = SourceQuote("S1", "Keep the heat for so many minutes.", "glaze_hold")
    assert find_answer_form("What is glaze_hold for?", [page], [quote])
    assert not find_answer_form("What is glaze_cool for?", [page], [quote])


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What is a saggar?", "A saggar is a box that shields pots."),
        ("Who is Mila Horn?", "Mila Horn is a Dutch potter."),
        ("What is the melting point of the glaze?", "The melting point of the glaze is 1200."),
        ("What does slip mean?", "Slip means clay that is mixed with water."),
    ],
)
def test_a_sentence_that_begins_with_the_thing_and_says_what_it_is_is_exact(asked, told):
    assert is_exact(asked, told)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What is a saggar?", "A saggar shelf is a board in a kiln."),
        ("What is a saggar?", "Saggar: warning in line 9."),
        ("What is a saggar?", "In this case a saggar is a waste of time."),
        ("Who is Horn County, Ohio, named after?", "Horn County is a county in Ohio."),
    ],
)
def test_a_sentence_on_something_else_defines_nothing(asked, told):
    assert not is_exact(asked, told)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What does kilnctl do?", "kilnctl starts and stops kilns."),
        ("What does kilnctl do?", "kilnctl is a tool that starts kilns."),
        ("What is kilnctl used for?", "kilnctl is used to start kilns."),
        ("What does kilnctl start?", "The kilnctl command may be used to start a kiln."),
    ],
)
def test_a_sentence_that_says_what_the_thing_does_is_exact(asked, told):
    assert is_exact(asked, told)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What does kilnctl do?", "kilnctl consists of three parts."),
        ("What does kilnctl do?", "kilnctl (but not kilnd) stops, and then the fire fails."),
        ("What does kilnctl start?", "kilnctl prints the heat of a kiln."),
        ("What does kilnctl do?", "Note that kilnd starts kilns."),
    ],
)
def test_a_sentence_that_says_something_else_of_the_thing_is_not(asked, told):
    assert not is_exact(asked, told)


def test_the_default_of_the_very_thing_is_exact():
    asked = "What is the default heat of the oven?"
    assert is_exact(asked, "The default heat of the oven is 900.")
    assert is_exact("What is the default of hold?", "Defaults to 15 minutes.", under="hold")


@pytest.mark.parametrize(
    "told",
    [
        "The default heat limit of the oven is 1300.",
        "By default, a porter counts the heat of the oven.",
        "Set a default value for the heat of the oven.",
        "You can change the default heat the oven uses by turning it.",
        "The oven is built with a default door, default bricks and heat.",
        "The default size grows when the heat of the oven does.",
        "By default, this check of the oven is off in favour of its heat.",
    ],
)
def test_the_default_of_something_else_is_not(told):
    assert not is_exact("What is the default heat of the oven?", told)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Who built the kiln of Ostrava?", "The kiln of Ostrava was built by Mila Horn."),
        ("When was the kiln opened?", "The kiln was opened in 1903."),
        ("How many doors does the kiln have?", "The kiln has 14 doors."),
        ("Where are the moulds kept?", "The moulds are kept in /srv/moulds."),
    ],
)
def test_one_clause_with_all_of_the_question_and_what_is_asked_for_is_exact(asked, told):
    assert is_exact(asked, told)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("When was the kiln opened?", "The kiln was mended in 1903; the shop was opened before."),
        ("How many doors does the kiln have?", "The kiln has doors made for IPv4 and 9 chimneys."),
        ("Where are the moulds defined?", "In Brno, moulds defines all shapes."),
        (
            "How many doors does the kiln have?",
            "Doors of the kiln, see kilnd(8) doors, have locks.",
        ),
        ("When was the kiln opened?", "It was opened in 1903 beside another kiln."),
    ],
)
def test_what_is_asked_for_in_another_clause_or_of_something_else_is_not(asked, told):
    assert not is_exact(asked, told)


def test_what_stands_below_the_same_question_is_exact():
    asked, told = "Why do pots crack in the kiln?", "Water in the clay turns to steam."
    assert is_exact(asked, told, before="Why do pots crack in the kiln?\n\n")
    assert is_exact(asked, told, title="FAQ — Why do pots crack in a kiln?")
    assert not is_exact(asked, told, before="Why do shelves bend in the kiln?\n\n")


@pytest.mark.parametrize(
    ("asked", "title", "under", "told"),
    [
        ("What does fire do?", "pottery.conf - kilns", "Fire yes|no", "Fires all pots at once."),
        ("What does the -z option of on do?", "kilnctl - kilns", "-z", "Zero the heat."),
        ("What does kiln-hand -k do?", "kiln-add - adds a hand to a kiln", "-k", "Keep it hot."),
        ("What does kiln -k do?", "kiln-add - adds pots", "-k", "Keep it hot."),
        ("What does Glazes do?", "kiln.conf", "Glazes", "This key takes a list of glazes."),
        ("What does Rake do?", "kiln.conf", "Rake", "Warning! This may break all of the pots."),
        ("What does MaxPots do?", "Kilnd - the kiln daemon", "MaxPots", "Kilnd bakes pots."),
    ],
)
def test_the_entry_of_another_thing_or_a_word_on_the_program_is_not_exact(
    asked, title, under, told
):
    page = SourcePassage("S1", title, "", f"{under}  {told}")
    assert not find_answer_form(asked, [page], [SourceQuote("S1", told, under)])


def test_the_entry_of_a_command_with_a_name_like_a_light_word_is_exact():
    page = SourcePassage("S1", "on - start a kiln", "", "-z  Zero the heat.")
    quote = SourceQuote("S1", "Zero the heat.", "-z")
    assert find_answer_form("What does the -z option of on do?", [page], [quote])


def test_the_default_of_a_more_special_setting_is_not_exact():
    asked = "On which port does the kiln listen by default?"
    told = "The port to listen on, default is 8953."
    assert is_exact(asked, told, under="port: <number>")
    assert not is_exact(asked, told, under="control-port: <number>")


def test_the_default_of_things_that_were_named_before_is_not_exact():
    told = "By default, these shelves are made of steel."
    assert not is_exact("What is the default shelf of on?", told, title="Shelves")


def test_only_the_first_sentence_on_a_thing_says_what_it_does():
    asked, first = "What does kilnctl do?", "kilnctl starts and stops kilns. "
    assert is_exact(asked, first.strip())
    assert not is_exact(asked, "kilnctl keeps the heat of a kiln.", before=first)


def test_words_that_stand_far_apart_say_nothing_together():
    told = (
        "The kiln that Jan Horn and two friends of a potter from Brno bought at an old market near"
        " a river, with wheels, racks and many tools, was painted and then opened in 1903."
    )
    assert not is_exact("When was the kiln opened?", told)
    assert is_exact("When was the kiln opened?", "The kiln was painted and opened in 1903.")


def test_what_a_program_does_by_default_is_not_the_default_of_something():
    told = "By default, kilnctl counts all pots that go through the door."
    asked = "What is the default door of kilnctl?"
    assert not is_exact(asked, told, title="kilnctl - show the pots at a door")


def test_what_is_denied_answers_only_a_question_for_yes_or_no_or_one_that_denies():
    told = "The kiln should not be opened in 1903 because of its heat."
    assert is_exact("Why should the kiln not be opened?", told)
    assert not is_exact("Why should the kiln be opened?", told)
    assert is_exact("Is the kiln hot?", "The kiln is not hot.")
    assert not is_exact("When was the kiln not opened?", "The kiln was opened in 1903.")


def test_which_of_its_kind_a_thing_is_does_not_define_the_kind():
    assert not is_exact("What is a kiln?", "The kiln is a special 'old' kiln that is kept.")
    assert is_exact("What is a kiln?", "The kiln is an oven that bakes pots.")


def test_what_a_thing_does_to_what_was_named_before_says_nothing_of_it():
    assert not is_exact("What does kilnctl do?", "kilnctl makes this easy by turning all pots.")
    assert is_exact("What does kilnctl do?", "kilnctl makes pots.")


@pytest.mark.parametrize(
    "told",
    [
        "The default heat is chosen by the kiln.",
        "The default heat depends on the kiln.",
        "Kilns use the default heat of the house.",
        "The default heat is given by --warm.",
        "The default heat is taken from the environment.",
        "The default heat is set at compile time.",
        "The default heat is as configured for the house.",
        "The default heat is the same as that of the oven.",
        "The default heat: see kilnctl(8).",
        "Default heat: Same as the heat of the oven.",
        "Default heat: Uses the heat of the oven.",
    ],
)
def test_a_default_without_a_value_is_none(told):
    assert not is_exact("What is the default heat?", told)


@pytest.mark.parametrize(
    "told",
    [
        "The heat of the oven defaults to 900.",
        "The heat of the oven (default 900) can be set.",
        "A fire of 900 degrees is the default heat of the oven.",
        "By default, the heat of the oven is 900.",
    ],
)
def test_what_stands_before_a_default_or_behind_is_the_default_says_what_it_is_of(told):
    assert is_exact("What is the default heat of the oven?", told) == "default"


def test_what_stands_only_in_the_value_of_a_default_is_not_what_it_is_of():
    asked = "What is the default heat of the oven?"
    assert not is_exact(asked, "The oven defaults to a warm door and a low heat.")
    assert not is_exact(asked, "The oven is opened with the heat, a wheel by default.")
    assert not is_exact(asked, 'Defaults to "heat of the oven".', under="--why")
