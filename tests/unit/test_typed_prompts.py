"""A prompt that asks for a typed answer explains each of its fields, and shows one answer."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import BaseModel

from calls.replies import bare_schema, describe_schema
from evals.deep_research_bench.fact_scores import (
    DistinctStatements,
    ExtractedCitations,
    StatementVerdicts,
)
from evals.deep_research_bench.race_evaluation import DimensionWeights, WrittenCriteria
from evals.deep_research_bench.race_scores import RaceScores
from evals.locomo import Short
from memory.experience.consolidation import Lessons
from memory.learning.claim_extraction import Learnt
from nodes.checker import Checks
from nodes.coordinator import Triage
from nodes.ingest import Abstract
from nodes.past_runs import Ratings, Same
from nodes.planner import Draft
from nodes.recall.recall_graph import Complete, Lookup, Notes
from nodes.reflection import Verdict
from nodes.report_sections import ReportOutline, WholePass
from nodes.rewrite import Rewrite
from nodes.support_check import SupportGrades
from nodes.team import Enough
from prompts.loader import load_prompt, render_prompt
from prompts.methods import load_methods
from tools.tables.query import TableQueries

ANSWERS: dict[str, type[BaseModel]] = {
    "bench_criteria": WrittenCriteria,
    "bench_deduplicate": DistinctStatements,
    "bench_extract": ExtractedCitations,
    "bench_support": StatementVerdicts,
    "bench_weights": DimensionWeights,
    "checker": Checks,
    "coordinator": Triage,
    "judge": Enough,
    "learn": Learnt,
    "lessons": Lessons,
    "likely_answer": Short,
    "memorize": Abstract,
    "planner": Draft,
    "rate_runs": Ratings,
    "recall_check": Complete,
    "recall_integrate": Notes,
    "recall_plan": Lookup,
    "reflection": Verdict,
    "report_outline": ReportOutline,
    "report_whole": WholePass,
    "rewrite": Rewrite,
    "short_answer": Short,
    "support": SupportGrades,
    "tables": TableQueries,
    "tidy": Same,
}
WEB_FIELD = ', "need_web_search": true'
"""What the steps of an example have besides in a run that searches the web."""

LANGUAGES = ["en", "zh"]
each_prompt = pytest.mark.parametrize("name", sorted(ANSWERS))
each_language = pytest.mark.parametrize("language", LANGUAGES)


def prompt(name: str, language: str) -> str:
    values = dict.fromkeys(load_prompt(name, language).get_identifiers(), "true")
    if "web_field" in values:
        values["web_field"] = WEB_FIELD
    return render_prompt(name, language=language, **values)


def field_names(form: Any) -> set[str]:
    """Return the names of all fields of a schema."""
    if isinstance(form, list):
        return set().union(*map(field_names, form))
    if not isinstance(form, dict):
        return set()
    return {*form.get("properties", {})}.union(*map(field_names, form.values()))


def example(name: str, language: str) -> Any:
    """Return the one answer that a prompt shows."""
    (found,) = re.findall(r"\{\".*\}$", prompt(name, language), re.MULTILINE)
    return json.loads(found)


@pytest.mark.parametrize(
    ("name", "schema"), [*ANSWERS.items(), ("bench_score", RaceScores)], ids=lambda one: str(one)
)
@each_language
def test_every_field_is_explained(name: str, schema: type[BaseModel], language: str):
    fields = field_names(bare_schema(schema))

    assert fields
    assert fields <= set(re.findall(r"`(\w+)`", prompt(name, language)))


@each_prompt
@each_language
def test_the_example_is_an_answer_that_is_taken(name: str, language: str):
    shown = example(name, language)

    answer = ANSWERS[name].model_validate(shown).model_dump(by_alias=True, exclude_unset=True)
    assert answer == shown


@each_prompt
def test_both_languages_show_an_example_of_the_same_form(name: str):
    def form(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: form(one) for key, one in value.items()}
        return [form(one) for one in value] if isinstance(value, list) else type(value)

    assert form(example(name, "en")) == form(example(name, "zh"))


@each_prompt
def test_a_schema_has_no_words_that_its_prompt_says_already(name: str):
    written = json.dumps(bare_schema(ANSWERS[name]))

    assert not re.search(r'"(?:title|description|default)": (?!\{)', written)
    assert describe_schema(ANSWERS[name]).count(written.replace(": ", ":").replace(", ", ",")) == 1


def test_a_field_may_be_called_like_a_word_of_a_schema():
    class Page(BaseModel):
        title: str
        description: str = ""

    assert set(bare_schema(Page)["properties"]) == {"title", "description"}


def test_what_no_model_is_to_say_is_in_no_schema():
    assert "unread" not in describe_schema(Learnt)


@each_language
def test_the_lessons_name_methods_that_exist(language: str):
    named = {one["method"] for one in example("lessons", language)["lessons"] if "method" in one}

    assert named <= set(load_methods())


@pytest.mark.parametrize(("field", "count"), [(WEB_FIELD, 3), ("", 0)])
@each_language
def test_the_example_of_a_plan_names_the_web_only_where_the_run_searches_it(
    field: str, count: int, language: str
):
    values = dict.fromkeys(load_prompt("planner", language).get_identifiers(), "")
    text = render_prompt("planner", language=language, **{**values, "web_field": field})

    assert text.count('"need_web_search": true') == text.count('"need_web_search"') == count
