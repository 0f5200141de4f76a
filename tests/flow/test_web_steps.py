"""Which steps search the web, and what the others look through."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from graph.context import Context
from graph.plan import parse_plan, render_plan
from graph.session import ThreadSession
from library.page_metadata import NO_METADATA
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.flow.test_tool_loop import calling
from tools.web.federated_search import WebHits
from tools.web.fetch import FetchedPage
from tools.web.providers.provider import SearchHit

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks"
)

ADDRESS = "https://tools.example/manual"
CHAPTERS = {
    "Leak checks": "The checker of leaks looks at every lost block of memory.",
    "Heap profiles": "The profiler takes a snapshot of the heap at its peak.",
    "Thread errors": "The detector of races follows the locks of threads.",
}
MANUAL = "\n\n".join(
    f"## {title}\n\n{text}\n\n" + "\n\n".join(f"Rule {title} {n} is dull. " * 40 for n in range(20))
    for title, text in CHAPTERS.items()
)
QUESTION = "How does the checker of leaks work?"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, script: Script) -> list[str]:
    """What the web was searched for; every search finds the manual."""
    queries: list[str] = []

    async def search(_names: object, query: str, *_: object, **__: object) -> WebHits:
        queries.append(query)
        return WebHits([SearchHit(url=ADDRESS, title="Manual", snippet="")])

    async def fetch(url: str, **_: object) -> FetchedPage:
        return FetchedPage(
            url=url,
            title="Manual",
            text=MANUAL,
            mime="text/html",
            metadata=NO_METADATA,
            links=[],
            sized=None,
        )

    monkeypatch.setattr("tools.web.web_search.search_web", search)
    monkeypatch.setattr("tools.web.web_search.fetch_page", fetch)
    return queries


def on_web(**more: Any) -> Context:
    plain = {"models": {"default": "fake:any"}, "search": ["searxng"], "auto_accept": True}
    return Context(**{**plain, **more})


def without_web(*titles: str) -> dict[str, Any]:
    plan: Any = draft(*titles)
    for step in plan["steps"]:
        step["need_web_search"] = False
    return plan


async def test_every_step_searches_the_web_where_there_is_nothing_else_to_search(
    thread: ThreadSession, asked: list[str], script: Script
):
    script.on("Draft", without_web("snapshot of the heap"))

    await thread.begin(QUESTION, on_web(), quiet)

    assert "snapshot of the heap" in asked
    (prompt,) = [said for role, said in script.asked if role == "Draft"]
    assert "`need_web_search`: always true" in str(prompt[0].text)


async def test_who_wants_no_web_search_is_not_overruled(
    thread: ThreadSession, asked: list[str], script: Script
):
    script.on("Draft", draft("leaks"), without_web("snapshot of the heap"))
    context = on_web(auto_accept=False)
    await thread.begin(QUESTION, context, quiet)
    no = {"type": "reject", "message": "Search no web for that."}
    await thread.answer_review(no, context, quiet)

    await thread.answer_review({"type": "approve"}, context, quiet)

    assert "snapshot of the heap" not in asked


async def test_a_step_without_the_web_looks_through_what_was_read_of_it(
    thread: ThreadSession, asked: list[str], script: Script
):
    script.on("Draft", draft("leaks"))
    script.on(
        "researcher",
        calling(("search", {"query": "detector of races"}), ("search", {"query": "xylophone"})),
        AIMessage("Nothing.", response_metadata={"finish_reason": "stop"}),
    )
    context = on_web(auto_accept=False, depth="standard", max_reflections=0)
    await thread.begin(QUESTION, context, quiet)
    plan = parse_plan("1. Snapshots\n   search: snapshot of the heap\n   files only")
    edit = {"type": "edit", "edited_action": {"name": "research_plan", "args": plan}}
    before = len(asked)

    await thread.answer_review(edit, context, quiet)

    first, last = [said for role, said in script.asked if role == "researcher"]
    races, nothing = [str(one.text) for one in last if one.type == "tool"]
    assert len(asked) == before
    assert CHAPTERS["Heap profiles"] in str(first[-1].text)
    assert races.startswith("All that was found is shown above already: S")
    assert nothing.startswith("Nothing was found.")
    assert "This step does not search the web." in nothing


async def test_a_run_that_searches_no_web_is_not_asked_which_steps_do(
    thread: ThreadSession, script: Script, choices: dict[str, object]
):
    script.on("Draft", draft("snapshot of the heap"))

    outcome = await thread.begin(QUESTION, make(choices), quiet)

    (prompt,) = [str(said[0].text) for role, said in script.asked if role == "Draft"]
    assert "`need_web_search`: leave it out" in prompt
    assert '"need_web_search": ' not in prompt.partition("An example")[2].partition("$defs")[0]
    assert "files only" not in render_plan(outcome.state["plan"])
