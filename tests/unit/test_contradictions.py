"""Contradictions between documents are found where code can be sure of them, and nowhere else."""

from __future__ import annotations

import pytest

from evals.datasets import CorpusEntry
from evals.source_contradictions import Figures, plant, render_figures
from graph.records import Source
from report.contradictions import MOST, about_statements, find_contradictions
from report.stated_values import Measure, list_measures, read_stated_sentence
from tests.cases import each_case

TITLES = {"S1": "Eling Tide Mill", "S2": "Eling Tide Mill"}


def sources(titles: dict[str, str]) -> dict[str, Source]:
    return {
        name: Source(
            id=name, page=name, title=title, location=f"https://{name}.example/", kind="web"
        )
        for name, title in titles.items()
    }


def reasons(one: str, other: str, titles: dict[str, str] | None = None) -> list[str]:
    known = sources(titles or TITLES)
    return [found["reason"] for found in find_contradictions({"S1": one, "S2": other}, known)]


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        (
            "The pond of Eling Tide Mill covers 12 acres at high tide.",
            "At high tide the pond of Eling Tide Mill covers 17 acres.",
            "number",
        ),
        (
            "Eling Tide Mill was rebuilt after a storm in 1775.",
            "Eling Tide Mill, rebuilt in 1785 after a storm, still works.",
            "date",
        ),
        (
            "The mill was opened to the public on 4 May 1980.",
            "The mill was opened to the public on 5 May 1980.",
            "date",
        ),
        (
            "The wheel of the mill turns when the tide rises.",
            "The wheel of the mill does not turn as the tide rises.",
            "",
        ),
        (
            "Eling Tide Mill is owned by the council of the district.",
            "Eling Tide Mill is not owned by the council of the district.",
            "negation",
        ),
        (
            "The mill grinds twelve sacks of flour each tide.",
            "The mill grinds 14 sacks of flour each tide.",
            "number",
        ),
        (
            "The sluice of the mill costs $400 to repair.",
            "The sluice of the mill costs $900 to repair.",
            "number",
        ),
        (
            "埃灵潮汐磨坊建于1775年，位于堤道旁边。",
            "埃灵潮汐磨坊建于1785年，位于堤道旁边。",
            "date",
        ),
        ("埃灵潮汐磨坊的蓄水池面积为12公顷。", "埃灵潮汐磨坊的蓄水池面积为17公顷。", "number"),
    ],
)
def test_one_value_of_one_thing_in_like_words_is_compared(one: str, other: str, reason: str):
    titles = {"S1": "埃灵潮汐磨坊", "S2": "埃灵潮汐磨坊"} if not one.isascii() else TITLES

    assert reasons(one, other, titles) == ([reason] if reason else [])


@each_case(
    [
        ("The mill grinds 12 sacks each tide.", "The mill grinds 12 sacks each tide."),
        ("The bridge is 1000 metres long today.", "The bridge is 1 kilometre long today."),
        ("The pond of the mill covers about 12 acres.", "The pond of the mill covers 13 acres."),
        ("The mill grinds more than 12 sacks a day.", "The mill grinds 20 sacks a day."),
        ("The mill grinds 10 to 14 sacks a day.", "The mill grinds 12 sacks a day."),
        ("In 1990 the mill had 4 workers in it.", "In 2010 the mill had 6 workers in it."),
        (
            "The north wheel of the mill has 12 blades.",
            "The south wheel of the mill has 10 blades.",
        ),
        (
            "The first wheel of the mill had 12 blades.",
            "The second wheel of the mill had 10 blades.",
        ),
        (
            "The mill was built in 1775 of brick and oak.",
            "The mill was demolished in 1785 of brick and oak.",
        ),
        (
            "The mill may be closed on Monday mornings.",
            "The mill may not be closed on Monday mornings.",
        ),
        (
            "The 2008 Mill Festival was held in Totton.",
            "The 2009 Mill Festival was held in Totton.",
        ),
        (
            "Anna Miller bought the mill for 400 pounds.",
            "Ben Carter bought the mill for 500 pounds.",
        ),
        (
            "As of 2016, the mill's estimated income was 309,180.",
            "As of 2017, the mill's estimated income was 304,442.",
        ),
    ]
)
def test_other_times_parts_bounds_and_units_are_no_contradiction(one: str, other: str):
    assert reasons(one, other) == []


def test_sentences_that_only_say_it_are_compared_by_the_titles_of_their_documents():
    one, other = "It was built of brick and oak in 1775.", "It was built of brick and oak in 1785."

    assert reasons(one, other) == ["date"]
    assert reasons(one, other, {"S1": "Eling Tide Mill", "S2": "Bromley Tide Mill"}) == []
    assert reasons(one, other, {"S1": "Floods of 1775", "S2": "Floods of 1785"}) == []


FILES = {"S1": "history.md", "S2": "council.md"}


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("The bridge was built in 1894.", "The bridge was built in 1896.", "date"),
        (
            "The repair of the bridge costs 3.4 million euros.",
            "The repair of the bridge will cost 4.1 million euros.",
            "number",
        ),
    ],
)
def test_the_only_bridge_that_two_documents_name_is_one_bridge(one: str, other: str, reason: str):
    history = f"The Harrow Bridge crosses the river. {one}"
    council = f"The council spoke of Harrow Bridge. {other}"

    assert reasons(history, council, FILES) == [reason]
    named = (each.replace("bridge", "Harrow Bridge") for each in (one, other))
    assert reasons(*named, FILES) == [reason]
    assert reasons(history, council.replace("Harrow", "Selby"), FILES) == []
    assert reasons(history, f"{council} So is Selby Bridge.", FILES) == []


@pytest.mark.parametrize("denied", ["cannot be", "can not be", "can't be"])
def test_what_things_in_general_can_and_cannot_do_is_a_contradiction(denied: str):
    one, other = "Piles can be driven in winter.", f"Piles {denied} driven in winter."

    assert reasons(one, other, FILES) == ["negation"]
    assert reasons(one.replace("Piles", "The piles"), other, FILES) == []
    assert reasons(one, other.replace("driven", "tested"), FILES) == []


def test_a_value_that_the_other_document_has_elsewhere_is_no_contradiction():
    other = "The pond of the mill covers 17 acres. At low tide, the pond covers 12 acres."

    assert reasons("The pond of the mill covers 12 acres.", other) == []


def test_pages_of_one_document_are_not_compared():
    known = sources(TITLES)
    known["S2"]["location"] = known["S1"]["location"]
    texts = {"S1": "The mill has 12 sacks of flour.", "S2": "The mill has 14 sacks of flour."}

    assert find_contradictions(texts, known) == []


def test_a_contradiction_says_who_says_what_about_what():
    texts = {
        "S1": "Some words. Eling Tide Mill was rebuilt after a storm in 1775. More words.",
        "S2": "Other words. Eling Tide Mill was rebuilt in 1785 after a storm.",
    }

    (found,) = find_contradictions(texts, sources(TITLES))

    assert found == {
        "about": "Eling Tide Mill",
        "one": "S1",
        "one_says": "Eling Tide Mill was rebuilt after a storm in 1775.",
        "other": "S2",
        "other_says": "Eling Tide Mill was rebuilt in 1785 after a storm.",
        "reason": "date",
    }


def test_only_what_is_of_interest_is_returned():
    texts = {"S1": "The mill has 12 sacks of flour.", "S2": "The mill has 14 sacks of flour."}

    used = about_statements("It is said that the mill has sacks of flour, twelve of them.")
    assert find_contradictions(texts, sources(TITLES), used)
    unused = about_statements("Bees dance for the others of their hive in the sun.")
    assert not find_contradictions(texts, sources(TITLES), unused)


def test_there_are_only_so_many():
    one = " ".join(f"The hopper of kind k{n}x holds {n + 20} sacks of barley." for n in range(30))
    other = " ".join(f"The hopper of kind k{n}x holds {n + 60} sacks of barley." for n in range(30))

    assert len(reasons(one, other)) <= MOST


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ("12 sacks and 400 new stones", {("sack", 12), ("new", 400)}),
        ("5 km", {("length", 5000)}),
        ("It costs $5 million.", {("$", 5e6)}),
        ("40% of it", {("%", 40)}),
        ("built in 1775 on 4 May 1980", set()),
        ("the third wheel", set()),
        ("约有3000人", {("人", 3000)}),
        ("12个月", {("个月", 12)}),
        ("a population of 5,000.", {("of popul", 5000)}),
    ],
)
def test_numbers_are_read_with_what_they_are_of(text: str, measures: set[tuple[str, float]]):
    assert set(list_measures(text)) == {Measure(*one) for one in measures}


def test_vague_values_are_not_stated():
    read = read_stated_sentence("The mill has more than 12 sacks, 3 to 5 wheels and 7 doors.")

    assert read.measures == {Measure("door", 7.0)}


def test_planted_contradictions_are_found_and_counted():
    text = "Eling Tide Mill is a mill that was rebuilt in 1775. Its pond covers 120 acres of mud."
    entry = CorpusEntry("p", "Eling Tide Mill", text, "", "", "", "")
    beside = entry._replace(id="q", title="Bees", text="Bees dance.")

    planted = dict(plant(entry, beside))

    assert {"year", "number", "negation", "year, reworded"} <= planted.keys()
    assert "1768" in planted["year"].text
    assert planted["number"].text.endswith("143 acres of mud.")
    shown = render_figures([Figures("mills", 10, 0, {"year": [4, 3]})])
    assert shown == "mills: 0 false alarms in 10 pairs\n  year: 3 of 4 found (75%)"
