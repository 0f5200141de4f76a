"""What a command searches where neither files nor a search with a key are named."""

from __future__ import annotations

import pytest

from app.cli import question_run
from app.cli.question_run import _choose_web, leave_unused_out
from config.errors import Problem
from graph.context import Context
from tests.places import new_process
from tools.mcp.server_config import McpServer

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def open_web(monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers without a key may be asked, as they may be on a fresh machine."""
    monkeypatch.delenv("DOSSIER_KEYLESS_SEARCH")
    new_process()


async def chosen(
    monkeypatch: pytest.MonkeyPatch, *, reached: bool, files: list[str] | None = None, web: str = ""
) -> tuple[dict[str, str], list[str]]:
    """Return what is chosen of the web and what is said, on a machine with or without a network."""
    tests: list[object] = []

    async def reachable(*asked: object) -> bool:
        tests.append(asked)
        return reached

    monkeypatch.setattr(question_run, "is_any_reachable", reachable)
    said: list[str] = []
    run = Context(web=web)  # type: ignore[arg-type]
    update = await _choose_web("local/", run, files or [], [], "How do bees dance?", said.append)
    return update, [*said, *(["tested"] if tests else [])]


async def test_on_a_fresh_machine_the_web_is_searched_and_that_is_said(open_web, monkeypatch):
    update, said = await chosen(monkeypatch, reached=True)

    assert update == {}
    assert "searched with duckduckgo, wikipedia" in said[0]
    assert "--no-web" in said[0]


async def test_without_a_network_the_web_is_left_out_and_memory_must_have_something(
    open_web, monkeypatch
):
    with pytest.raises(Problem, match="nothing to search"):
        await chosen(monkeypatch, reached=False)


async def test_a_run_over_files_neither_tests_the_network_nor_speaks_of_it(open_web, monkeypatch):
    assert await chosen(monkeypatch, reached=False, files=["/docs"]) == ({}, [])


async def test_files_that_are_searched_with_the_web_go_on_alone_without_a_network(
    open_web, monkeypatch
):
    update, said = await chosen(monkeypatch, reached=False, files=["/docs"], web="on")

    assert update == {"web": "unreachable"}
    assert said == ["The web cannot be reached from here: it is not searched", "tested"]


def test_without_a_language_model_no_tool_of_a_server_is_used_and_that_is_said():
    server, said = McpServer(command="any", name="time"), list[str]()

    assert leave_unused_out([server], Context(), said.append) == []
    assert leave_unused_out([], Context(), said.append) == []
    assert said == ["The tools of MCP servers are not used: that takes a language model"]

    with_model = Context(models={"default": "openai:gpt-4o"})
    assert leave_unused_out([server], with_model, said.append) == [server]


async def test_a_search_with_a_key_is_not_tested(open_web, monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", "x")

    assert await chosen(monkeypatch, reached=False) == ({}, [])
