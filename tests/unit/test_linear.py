"""What is done to a text on its way to its pages takes time that grows with the text, not faster.

Each of these took minutes for sixty thousand characters of some of these texts; it takes a fraction
of a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from config.errors import Problem
from graph import plan_text
from memory.facts.fact import cleaned
from memory.learning.rules import clauses
from memory.pages.sizing import prepared
from models.extractive.asking import bare, beyond_quoting
from models.extractive.blocks import Page, Quote
from models.extractive.clauses import states
from models.extractive.confidence import answered
from models.extractive.feedback import without
from models.extractive.meaning import thing
from models.extractive.questions import sides
from models.extractive.source_code import described
from models.extractive.titles import titled
from models.extractive.topic import key_phrase
from report import arithmetic
from report.bearing import unborne
from report.blocks import around, blocks, table
from report.caveats import not_found
from report.claims import asserts
from report.frames import moved_name, moved_number, moved_words
from report.keeping import quoted, sound
from report.likeness import compared
from report.quotations import quotations
from report.render import plain as plain_report
from report.roles import other_role
from report.snippets import nearest_place, place_of, unknown_lines
from report.support import proven
from report.synonyms import opposed
from retrieval.blocks import announces
from retrieval.boilerplate import boilerplate
from retrieval.dates import dates
from retrieval.listing import listings
from retrieval.names import title_key
from retrieval.passages import passages
from retrieval.spelling import respelt
from tools.files.kinds import READERS
from tools.files.markup import unmarked
from tools.files.shapes import File, Limits
from tools.files.worker import read
from tools.tables.cells import decimal_comma

SIZE = 60_000
SECONDS = 4.0
UNITS = {
    "space": " ",
    "tab": "\t",
    "line": "\n",
    "wide": "\u3000",
    "mark": "；",
    "open": "(",
    "letter": "x",
    "digit": "9",
    "name": "a.b.",
    "month": "may ",
    "cell": "|a",
    "lead": "a:\n\n",
}


def plain(text: str) -> object:
    """Read a text, some times over, as plain text."""
    return read(READERS[".txt"], File((5 * text).encode(), ".txt", Limits()))


def pages(text: str) -> object:
    """Make pages of a section."""
    return prepared([{"title": "Hives", "place": "L1", "text": text}])


def numbers(text: str) -> object:
    """Find the numbers of a text that was computed from others."""
    return list(arithmetic.numbers(text))


def plan(text: str) -> object:
    """Read a plan as a person wrote it, which has too many steps."""
    with pytest.raises(Problem):
        return plan_text.read(text)


def fact(text: str) -> object:
    """Clean a fact, which is too long."""
    with pytest.raises(Problem):
        return cleaned(text)


def wishes(text: str) -> object:
    """Leave out of a page what a person does not want."""
    return without([Page("S1", "Bees", "", "Bees dance.")], [text], "How do bees dance?")


def kept(text: str) -> object:
    """Leave a doubted sentence out of a report."""
    return sound(text, ["Bees sleep."])


def places(text: str) -> object:
    """Compare statements with the words around names and numbers of a source."""
    source = [compared(text)]
    return [
        moved_number("Vos paid 12 euros", source),
        moved_name("Vos met Mertens", source),
        moved_words("周德明加入商会", source),
        other_role("Vos filmed the match in Leiden", source),
    ]


def quoted_answer(text: str) -> object:
    """Judge a quote that a page holds as an answer."""
    page, quote = Page("S1", "Bees", "", text), Quote("S1", text)
    return answered("How do bees dance?", [page], [quote], 1)


def settings(text: str) -> object:
    """Look up the names in a fence of code."""
    return unknown_lines(f"```\n{text}\n```", ["bees"])


def days_apart(text: str) -> object:
    """Work out what was computed from the days beside it."""
    return arithmetic.comes_out("Bees danced for 12 days", f"{text} 3 4", [])


def commas(text: str) -> object:
    """Look at how the numbers of a cell are written."""
    return decimal_comma([text])


def borne(text: str) -> object:
    """Compare a sentence with a source."""
    return unborne("Vos filmed 12 bees in Leiden", [compared(text)], "Which bees danced?")


def announced(text: str) -> object:
    """Tell of each end of a text whether it announces something."""
    return [announces(text[: at + 200]) for at in range(0, len(text), 6)]


def respelling(text: str) -> object:
    """Correct a word that is as long as the text that it is in."""
    return respelt(5 * text, {5 * text: "bees"})


def named(text: str) -> object:
    """Look up a very long name."""
    return nearest_place(5 * text, 5 * text)


def judged(text: str) -> object:
    """Compare a report with two short sources."""
    sources = {"S1": "Bees danced in 1990. Vos filmed 12 of them.", "S2": "Bees sleep at night."}
    return proven(text[: SIZE // 4], sources, "How do bees dance?")


def set_in_line(text: str) -> object:
    """Look for the line that a name begins in a text that is one line."""
    return place_of("S1", 20 * text)


def tabulated(text: str) -> object:
    """Look up what stands around each row of a table."""
    parts = blocks(text[: SIZE // 2])
    return [(around(parts, at), table(parts, at)) for at, _ in enumerate(parts)]


def stated(text: str) -> object:
    """Look for the clause that says all of a question."""
    return states(text[:20_000], Quote("S1", text[:20_000]), "Bees")


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("work", [plain, pages, passages, title_key, dates])
def test_a_text_of_one_thing_repeated_takes_no_longer_than_another(
    work: Callable[[str], object], unit: str
):
    text = f"Hives {unit * (SIZE // len(unit))} stand"
    started = time.process_time()

    work(text)

    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize(
    ("work", "unit"),
    [
        (boilerplate, "?!.,;"),
        (boilerplate, "<!-- "),
        (numbers, "a.b."),
        (places, "and Vos "),
        (places, "Vos, "),
        (places, "filmed, "),
        (places, "12 "),
        (places, "周德明加入"),
        (numbers, "x"),
        (quotations, '<q s="S1">a '),
        (listings, "- a\n\nb\n\n"),
        (plan, "a\n"),
        (fact, "<!-- "),
        (wishes, " "),
        (wishes, "instead "),
        (clauses, " "),
        (clauses, "[S1, "),
        (clauses, "?!.,;"),
        (asserts, "?!.,;"),
        (asserts, "?) "),
        (plain_report, '<q s="S1">a '),
        (kept, '<q s="S1">a '),
        (not_found, "not "),
        (not_found, "the sources "),
        (not_found, "资料"),
        (opposed, "a\n"),
        (titled, "9"),
        (titled, " ;"),
        (bare, "9"),
        (beyond_quoting, "("),
        (quoted_answer, "?!.,;"),
        (quoted_answer, "<!-- "),
        (key_phrase, "“a "),
        (key_phrase, "《蜂"),
        (key_phrase, "Vos "),
        (thing, "\n"),
        (sides, "bees and tea "),
        (quoted, "“a "),
        (described, "\n"),
        (commas, "9"),
        (settings, "a=b\n"),
        (days_apart, "12.5.2001 "),
        (borne, "QmVlcyBkYW5j"),
        (borne, "Vos "),
        (borne, "9"),
        (unmarked, "\u3000"),
        (announced, "a:\n\n"),
        (announced, "："),
        (plain_report, "\n"),
        (described, "/* a\n"),
        (described, "/*"),
        (respelling, "[S1, "),
        (named, "[S1, "),
        (named, "-a"),
        (set_in_line, "[S1, "),
        (stated, "J. K. R., "),
        (tabulated, "| a |\n"),
        (judged, "```\na\n"),
        (judged, "```py\na\n"),
        (judged, "| 7 | 12"),
        (judged, '<q s="S1">Bees danced in 1990</q> '),
        (judged, "Bees dance in 1991. "),
        (judged, "in total 14 and 23 = 40 ; "),
    ],
)
def test_a_text_of_the_worst_kind_is_read_in_a_moment(work: Callable[[str], object], unit: str):
    text = f"{unit * (SIZE // len(unit))} stand"
    started = time.process_time()

    work(text)

    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Waggle dance (of bees) ", "waggle dance"),
        ("Waggle dance（蜜蜂）", "waggle dance"),
        ("Waggle (dance) of bees", "waggle dance of bees"),
        ("Waggle (dance (of)) bees)", "waggle dance of bees"),
    ],
)
def test_only_the_last_parenthesis_of_a_title_is_left_out_of_its_key(title: str, key: str):
    assert title_key(title) == key
