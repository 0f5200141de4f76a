"""Sites are blocked, allowed and weighed by their domains."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.errors import Problem
from config.search_table import SiteTable, load_search_table
from tests.places import new_process
from tools.web.providers.provider_registry import DECLARATIONS
from tools.web.site_rules import SiteRules, check_site


def rules(**lists: object) -> SiteRules:
    return SiteRules.of_table(SiteTable.model_validate(lists))


@pytest.mark.parametrize(
    "url",
    [
        "https://spam.example/a",
        "http://SPAM.example:8080/",
        "https://deep.down.spam.example/",
        "https://spam.example./x",
        "https://user@spam.example/",
        "https://spam。example/",
        "https://exämple.org/",
    ],
)
def test_a_blocked_domain_is_blocked_in_every_spelling_and_with_its_subdomains(url: str):
    assert not rules(block=["*.Spam.example", "exämple.org"]).allows(url)


@pytest.mark.parametrize(
    "url", ["https://notspam.example/", "https://spam.example.org/", "https://a.org/spam.example"]
)
def test_other_domains_are_not_blocked_with_it(url: str):
    assert rules(block=["spam.example"]).allows(url)


def test_where_some_sites_are_allowed_no_other_may_be_read():
    only = rules(allow=["gov.example"], block=["old.gov.example"])

    assert only.allows("https://www.gov.example/a")
    assert not only.allows("https://other.example/a")
    assert not only.allows("https://old.gov.example/a")


def test_the_most_exact_domain_decides_the_weight():
    weighed = rules(weights={"example.org": 2.0, "blog.example.org": 0.5})

    assert weighed.weigh("https://docs.example.org/") == 2.0
    assert weighed.weigh("https://blog.example.org/") == 0.5
    assert weighed.weigh("https://elsewhere.org/") == 1.0


def test_the_file_in_the_home_replaces_what_it_names_and_nothing_else(home: Path):
    home.mkdir(exist_ok=True)
    (home / "search.toml").write_text('most_providers = 2\n[sites]\nblock = ["spam.example"]\n')
    new_process()

    table = load_search_table()

    assert (table.most_providers, table.sites.block) == (2, ("spam.example",))
    assert table.hosts.at_once == 4
    with pytest.raises(Problem) as problem:
        check_site("https://www.spam.example/secret?q=1")
    assert (problem.value.code, problem.value.where) == (
        "site_blocked",
        "https://www.spam.example/secret",
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("most_providers = 0", "config_value"),
        ("unknown = 1", "config_value"),
        ("[topics]\ncooking = []", "config_value"),
        ("= 3", "config_syntax"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(home: Path, text: str, code: str):
    home.mkdir(exist_ok=True)
    (home / "search.toml").write_text(text)
    new_process()

    with pytest.raises(Problem) as problem:
        load_search_table()

    assert problem.value.code == code
    assert "search.toml" in problem.value.where


def test_the_shipped_table_names_only_providers_that_there_are():
    table = load_search_table()
    named = {*table.general, *table.keyless, *table.weights, *table.rates}
    named.update(name for names in table.topics.values() for name in names)

    assert named <= set(DECLARATIONS)
