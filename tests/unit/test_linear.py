"""What is done to a text on its way to its pages takes time that grows with the text, not faster.

Each of these took minutes for sixty thousand characters of some of these texts; it takes a fraction
of a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from config.errors import Problem
from graph import plan as graph_plan
from library.page_sizing import prepare_pages
from library.spelling import apply_corrections
from memory.facts.fact import clean_fact_text
from memory.learning.self_statements import parse_clauses
from models.extractive.answer_confidence import is_confident_answer
from models.extractive.planning import remove_unwanted
from models.extractive.prompt_parser import SourceQuote
from models.extractive.quote_wording import has_answering_clause
from report.checks import calculations
from report.checks.attribution import enforce_citations
from report.checks.caveats import is_absence_remark
from report.checks.claims import is_assertion
from report.checks.entailment import find_unsupported_reason
from report.checks.roles import has_other_role
from report.checks.source_preparation import load_source
from report.checks.substitutions import has_swapped_name, has_swapped_number, has_swapped_words
from report.checks.synonyms import list_opposites
from report.checks.verification import find_quotations
from report.findings import drop_doubted, parse_quoted_sentences
from report.markdown.code import find_code_name, find_similar_code_name, list_unknown_code_lines
from report.markdown.markdown_blocks import get_block_context, list_nearby_rows, parse_blocks
from report.rendering.markdown_report import render_plain_text
from text.answerability import SourcePassage
from text.boilerplate import is_boilerplate
from text.dates import find_dates
from text.definitions import find_defined_term
from text.passage_splitting import split_passages
from text.question_parts import find_comparison
from text.summaries import describe_source_code, make_title
from text.text_blocks import announces_following, find_lists
from text.title_mentions import title_key
from text.topics import is_generative_request, key_phrase, strip_request_phrases
from tools.files.file_reader import read_file
from tools.files.formats import FILE_READERS, FileContent, FileLimits
from tools.files.html import strip_permalink
from tools.tables.cell_values import has_decimal_comma

SIZE = 15_000
SECONDS = 2.0
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
    return read_file(FILE_READERS[".txt"], FileContent((5 * text).encode(), ".txt", FileLimits()))


def pages(text: str) -> object:
    """Make pages of a section."""
    return prepare_pages([{"title": "Hives", "place": "L1", "text": text}])


def numbers(text: str) -> object:
    """Find the numbers of a text that was computed from others."""
    return list(calculations.iter_all_numbers(text))


def plan(text: str) -> object:
    """Read a plan as a person wrote it, which has too many steps."""
    with pytest.raises(Problem):
        return graph_plan.parse_plan(text)


def fact(text: str) -> object:
    """Clean a fact, which is too long."""
    with pytest.raises(Problem):
        return clean_fact_text(text)


def wishes(text: str) -> object:
    """Leave out of a page what a person does not want."""
    return remove_unwanted(
        [SourcePassage("S1", "Bees", "", "Bees dance.")], [text], "How do bees dance?"
    )


def kept(text: str) -> object:
    """Leave a doubted sentence out of a report."""
    return drop_doubted(text, ["Bees sleep."])


def places(text: str) -> object:
    """Compare statements with the words around names and numbers of a source."""
    source = [load_source(text)]
    return [
        has_swapped_number("Vos paid 12 euros", source),
        has_swapped_name("Vos met Mertens", source),
        has_swapped_words("周德明加入商会", source),
        has_other_role("Vos filmed the match in Leiden", source),
    ]


def quoted_answer(text: str) -> object:
    """Judge a quote that a page holds as an answer."""
    page, quote = SourcePassage("S1", "Bees", "", text), SourceQuote("S1", text)
    return is_confident_answer("How do bees dance?", [page], [quote], 1)


def settings(text: str) -> object:
    """Look up the names in a fence of code."""
    return list_unknown_code_lines(f"```\n{text}\n```", ["bees"])


def days_apart(text: str) -> object:
    """Work out what was computed from the days beside it."""
    return calculations.is_derivable("Bees danced for 12 days", f"{text} 3 4", [])


def commas(text: str) -> object:
    """Look at how the numbers of a cell are written."""
    return has_decimal_comma([text])


def borne(text: str) -> object:
    """Compare a sentence with a source."""
    return find_unsupported_reason(
        "Vos filmed 12 bees in Leiden", [load_source(text)], "Which bees danced?"
    )


def announced(text: str) -> object:
    """Tell of each end of a text whether it announces something."""
    return [announces_following(text[: at + 200]) for at in range(0, len(text), 6)]


def respelling(text: str) -> object:
    """Correct a word that is as long as the text that it is in."""
    return apply_corrections(5 * text, {5 * text: "bees"})


def named(text: str) -> object:
    """Look up a very long name."""
    return find_similar_code_name(5 * text, 5 * text)


def judged(text: str) -> object:
    """Compare a report with two short sources."""
    sources = {"S1": "Bees danced in 1990. Vos filmed 12 of them.", "S2": "Bees sleep at night."}
    return enforce_citations(text[: SIZE // 4], sources, "How do bees dance?")


def set_in_line(text: str) -> object:
    """Look for the line that a name begins in a text that is one line."""
    return find_code_name("S1", 20 * text)


def tabulated(text: str) -> object:
    """Look up what stands around each row of a table."""
    parts = parse_blocks(text[: SIZE // 2])
    return [
        (get_block_context(parts, at), list_nearby_rows(parts, at)) for at, _ in enumerate(parts)
    ]


def stated(text: str) -> object:
    """Look for the clause that says all of a question."""
    return has_answering_clause(text[:20_000], SourceQuote("S1", text[:20_000]), "Bees")


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("work", [plain, pages, split_passages, title_key, find_dates])
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
        (is_boilerplate, "?!.,;"),
        (is_boilerplate, "<!-- "),
        (numbers, "a.b."),
        (places, "and Vos "),
        (places, "Vos, "),
        (places, "filmed, "),
        (places, "12 "),
        (places, "周德明加入"),
        (numbers, "x"),
        (find_quotations, '<q s="S1">a '),
        (find_lists, "- a\n\nb\n\n"),
        (plan, "a\n"),
        (fact, "<!-- "),
        (wishes, " "),
        (wishes, "instead "),
        (parse_clauses, " "),
        (parse_clauses, "[S1, "),
        (parse_clauses, "?!.,;"),
        (is_assertion, "?!.,;"),
        (is_assertion, "?) "),
        (render_plain_text, '<q s="S1">a '),
        (kept, '<q s="S1">a '),
        (is_absence_remark, "not "),
        (is_absence_remark, "the sources "),
        (is_absence_remark, "资料"),
        (list_opposites, "a\n"),
        (make_title, "9"),
        (make_title, " ;"),
        (strip_request_phrases, "9"),
        (is_generative_request, "("),
        (quoted_answer, "?!.,;"),
        (quoted_answer, "<!-- "),
        (key_phrase, "“a "),
        (key_phrase, "《蜂"),
        (key_phrase, "Vos "),
        (find_defined_term, "\n"),
        (find_comparison, "bees and tea "),
        (parse_quoted_sentences, "“a "),
        (describe_source_code, "\n"),
        (commas, "9"),
        (settings, "a=b\n"),
        (days_apart, "12.5.2001 "),
        (borne, "QmVlcyBkYW5j"),
        (borne, "Vos "),
        (borne, "9"),
        (strip_permalink, "\u3000"),
        (announced, "a:\n\n"),
        (announced, "："),
        (render_plain_text, "\n"),
        (describe_source_code, "/* a\n"),
        (describe_source_code, "/*"),
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
