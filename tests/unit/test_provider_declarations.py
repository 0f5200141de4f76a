"""What providers declare is enough to choose and ask them, and stands in the guide."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from config import environment
from tests.cases import each_case
from tools.web.providers.provider import Topic
from tools.web.providers.provider_registry import DECLARATIONS, list_available_providers


def test_the_guide_has_every_provider_with_its_variables():
    guide = (Path(__file__).parents[2] / "docs" / "web-search.md").read_text("utf-8")
    table = guide.partition("## Providers\n")[2].partition("\n## ")[0]
    rows = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}

    assert rows.keys() == DECLARATIONS.keys()
    for name, declared in DECLARATIONS.items():
        assert declared.key_variable in rows[name]
        assert all(variable in rows[name] for variable in declared.needed_variables)


def test_what_needs_no_key_can_be_asked_on_a_fresh_machine():
    assert list_available_providers({}) == [
        *("duckduckgo", "wikipedia", "openalex", "semantic_scholar", "arxiv", "europe_pmc"),
        *("pubmed", "crossref", "stackexchange", "github", "worldbank"),
    ]


def test_every_topic_has_a_provider_that_needs_no_key():
    free = [one for one in DECLARATIONS.values() if one.is_usable({})]

    assert {topic for one in free for topic in one.topics} == set(get_args(Topic))


@each_case(DECLARATIONS)
def test_a_declaration_says_all_that_is_needed_to_ask(name):
    declared = DECLARATIONS[name]

    assert declared.topics
    assert declared.requests_per_second > 0
    assert declared.url.startswith("https://") or declared.url_variable == "SEARXNG_URL"
    assert declared.url_variable in ("SEARXNG_URL", f"DOSSIER_{name.upper()}_URL")
    assert environment.is_known_variable(declared.key_variable or "SEARXNG_URL")


@pytest.mark.parametrize(("key", "rate"), [("", 10 / 60), ("ghp-1234", 0.5)])
def test_a_key_lets_a_provider_be_asked_more_often(key, rate):
    assert DECLARATIONS["github"].allowed_rate({"GITHUB_TOKEN": key}) == rate
