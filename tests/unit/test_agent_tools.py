"""The research tools in an agent that knows nothing of runs and nodes."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent, factory
from langchain_core.messages import AIMessage

from tests.fake_model import FakeModel, Script
from tools.agent_tools import make_research_tools
from tools.folder_ingestion import ingest_folder

ROOT = Path(__file__).parents[2]
GATES = "# Gates\n\nThe north gate is green.\n\n## Keys\n\nThe key is of brass.\n"


@pytest.fixture
async def root(tmp_path: Path) -> str:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "gates.md").write_text(GATES)
    return (await ingest_folder("local/", docs, lambda _: None)).root


def call(number: int, name: str, **args: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": str(number)}])


async def test_an_agent_of_langchain_searches_and_reads_on(root: str, script: Script):
    steps = [
        call(1, "search", query="green gate", scope="files"),
        call(2, "outline", source="gates.md"),
        call(3, "read", source="gates.md"),
        AIMessage("It is green [S1]."),
    ]
    script.on("researcher", *steps)
    agent = create_agent(FakeModel(script=script), make_research_tools(files=[root], web=False))

    result = await agent.ainvoke({"messages": [("user", "<step>Which gate is green?</step>")]})

    found, outline, again = [str(one.content) for one in result["messages"] if one.type == "tool"]
    assert "The north gate is green." in found
    assert "- Keys (" in outline
    assert again == "All that was found is shown above already: gates.md."


def test_its_tools_can_be_used_without_an_event_loop(root: str):
    search = make_research_tools(files=[root], web=False)[0]

    assert "The key is of brass." in search.invoke({"query": "key brass"})


def test_no_argument_is_for_the_program(root: str):
    named = {tool.name: set(tool.args) for tool in make_research_tools(files=[root])}

    assert named["read"] == {"source", "section", "around", "lines"}
    assert list(named) == ["search", "outline", "read", "links", "open", "recall", "compute"]


async def test_arithmetic_is_worked_out_exactly(root: str):
    tools = {tool.name: tool for tool in make_research_tools(files=[root], web=False)}

    assert "0.1 + 0.2 = 0.3" in await tools["compute"].ainvoke({"expression": "0.1 + 0.2"})
    assert "cannot be worked out" in await tools["compute"].ainvoke({"expression": "open('x')"})
    assert set(tools["compute"].args) == {"expression"}


EXAMPLE = re.compile(r"## In your own agent\n.*?```python\n(.*?)```", re.DOTALL)
"""The example in the documentation."""


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_example_of_the_documentation_runs_as_it_stands(
    root: str, script: Script, monkeypatch: pytest.MonkeyPatch, asynchronous: bool
):
    found = EXAMPLE.search((ROOT / "docs" / "asking.md").read_text("utf-8"))
    assert found
    code = found[1].replace("/home/me/docs", root)
    script.on("reporter", call(1, "search", query="green gate"))
    script.on("researcher", call(2, "compute", expression="12% of 250"), AIMessage("It is 30."))
    model = FakeModel(script=script)
    monkeypatch.setattr(factory, "init_chat_model", lambda _: model)
    if asynchronous:
        asked = "agent.invoke("
        assert asked in code
        code = code.replace(asked, "asyncio.run(agent.ainvoke(").replace(")\nprint", "))\nprint")

    names: dict[str, Any] = {"asyncio": asyncio}
    exec(compile(code, "docs/asking.md", "exec"), names)  # noqa: S102 - this is the test

    said = [str(one.text) for one in names["result"]["messages"]]
    assert len(found[1].strip().splitlines()) <= 10
    assert "The north gate is green." in said[2]
    assert "= 30" in said[4]
    assert said[-1] == "It is 30."


async def test_two_owners_share_nothing(root: str):
    search = make_research_tools("other/", files=[root], web=False)[0]

    assert await search.ainvoke({"query": "green gate"}) == "Nothing was found."


async def test_plain_arithmetic_is_worked_out_or_refused_in_words(root: str):
    tools = {tool.name: tool for tool in make_research_tools(files=[root], web=False)}

    told = await tools["compute"].ainvoke({"expression": "(890 - 640) / 640 * 100"})
    assert told.startswith("(890 - 640) / 640 * 100 = 39.0625\n")
    refused = await tools["compute"].ainvoke({"expression": "__import__('os').getcwd()"})
    assert refused.startswith("This cannot be worked out: ")
