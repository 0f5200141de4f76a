from benchmarks.near_misses import make_misses, pick_manuals, read_manuals

KILN = """NAME
       kiln-add - add pots

OPTIONS
       -k     Keep the pots hot.

       --hold-heat=HOURS
              Hold the heat so long. The default is 3.
"""
AGENT = """NAME
       kiln-agent - hold the keys

OPTIONS
       -k     Kill the agent.

       See kiln-rm(1).
"""
PAGES = [
    {"id": "add:0", "title": "kiln-add - add pots", "text": KILN},
    {"id": "agent:0", "title": "kiln-agent - hold the keys", "text": AGENT},
    {"id": "notes:0", "title": "Notes", "text": KILN},
]


def asked(kind):
    return [one.question for one in make_misses(read_manuals(PAGES)) if one.kind == kind]


def test_a_manual_has_its_names_and_its_entries():
    add, agent = read_manuals(PAGES)
    assert add.names == ["kiln-add"]
    assert set(add.terms) == {"-k", "--hold-heat"}
    assert agent.terms["-k"].startswith("Kill")


def test_an_option_is_asked_of_a_sibling_that_lacks_it():
    assert "What does kiln-agent --hold-heat do?" in asked("another owner")
    assert not any("-k" in one.split() for one in asked("another owner"))


def test_an_option_of_several_commands_is_asked_without_one():
    assert set(asked("several owners")) == {"What does -k do?"}


def test_an_option_is_asked_with_a_part_more_or_fewer():
    assert {"What does --heat do?", "What does --no-hold-heat do?"} <= set(asked("nearly so spelt"))


def test_only_where_an_entry_has_no_default_is_one_asked_for():
    assert asked("no default") == [
        "What is the default of the -k option of kiln-add?",
        "What is the default of the -k option of kiln-agent?",
    ]


def test_what_is_only_mentioned_is_asked_for():
    assert asked("only mentioned") == ["What does kiln-rm do?", "What is kiln-rm?"]


def test_of_each_kind_so_many_are_picked():
    assert len(pick_manuals(make_misses(read_manuals(PAGES)), 1)) == len(
        {one.kind for one in make_misses(read_manuals(PAGES))}
    )
