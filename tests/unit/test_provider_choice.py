"""Which providers a run may ask, and which of them a query is sent to."""

from __future__ import annotations

import pytest

from config.search_table import load_search_table
from graph.context import Context
from tests.places import new_process
from tools.web.provider_choice import choose_query_providers, is_keyless, list_run_providers

KEYED = {"TAVILY_API_KEY": "x", "SEARXNG_URL": "http://127.0.0.1:1", "BRAVE_API_KEY": "x"}


@pytest.fixture(autouse=True)
def open_web(monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers without a key may be asked, as they may be on a fresh machine."""
    monkeypatch.delenv("DOSSIER_KEYLESS_SEARCH")
    new_process()


def chosen(topic: str, environ: dict[str, str]) -> list[str]:
    names = list_run_providers(Context(), environ)
    return choose_query_providers(names, topic, load_search_table())  # type: ignore[arg-type]


def test_without_any_key_the_web_is_searched_by_those_that_need_none():
    assert is_keyless(Context(), {})
    assert chosen("general", {}) == ["duckduckgo", "wikipedia"]
    assert chosen("encyclopedia", {}) == ["duckduckgo", "wikipedia"]


def test_a_topic_adds_the_providers_that_know_it_and_three_are_asked_at_most():
    assert chosen("academic", {}) == ["duckduckgo", "openalex", "arxiv"]
    assert chosen("code", KEYED) == ["searxng", "stackexchange", "github"]
    assert chosen("data", KEYED) == ["searxng", "tavily", "worldbank"]
    assert chosen("general", KEYED) == ["searxng", "tavily"]


def test_a_run_that_names_its_providers_asks_exactly_those():
    assert list_run_providers(Context(search=["brave", "arxiv"]), KEYED) == ["brave", "arxiv"]


@pytest.mark.parametrize("uploads", [False, True])
def test_nothing_about_files_goes_to_the_open_web_unasked(uploads: bool):
    files = [] if uploads else ["/docs"]

    assert list_run_providers(Context(files=files), {}, has_uploads=uploads) == []
    assert "duckduckgo" in list_run_providers(
        Context(files=files, web="on"), {}, has_uploads=uploads
    )
    assert "tavily" in list_run_providers(Context(files=files), KEYED, has_uploads=uploads)


def test_a_run_may_leave_the_web_alone_whatever_keys_there_are():
    assert list_run_providers(Context(web="off", search=["tavily"]), KEYED) == []


def test_an_installation_may_close_the_open_web(monkeypatch):
    monkeypatch.setenv("DOSSIER_KEYLESS_SEARCH", "false")
    new_process()

    assert list_run_providers(Context(web="on"), {}) == []
    assert list_run_providers(Context(), KEYED) == ["searxng", "tavily", "brave"]
