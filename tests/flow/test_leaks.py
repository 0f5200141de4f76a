"""What a search provider is told holds no private words, though the model hands them on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from langchain_core.messages import AIMessage

from app.cli.dispatch import Invocation
from app.cli.runner import CliRunner
from app.cli.runs import show_run
from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.plan import render_steps
from graph.session import ThreadSession
from memory.experience import insights
from memory.facts.fact import NewFact
from memory.facts.store import add_fact
from report.document import list_gaps
from report.method import list_searched_queries
from runs.call_site import CallSite
from runs.trace import read_trace
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.loopback import Asked, Loopback, reply, serving
from tests.model_calls import BAD_KEY
from tests.places import new_process
from tools.folder_ingestion import ingest_folder
from tools.web import web_search
from tools.web.federated_search import WebHits
from tools.web.providers.provider import SearchHit
from tools.web.web_search import WebSearch

pytestmark = pytest.mark.extractive(
    "Triage", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks"
)

BEES = "How do bees dance?"
PRIVATE = ("Zorblatt", "Marisela", "Quenlyn", "48213377", "Ottokar")
QUERIES = ["Zorblatt bees", "Marisela diabetes", "bees of Ottokar"]
PAGE = "<h1>Bees</h1><p>Honeybees perform the waggle dance, which Tautz has filmed.</p>"


def queries(server: Loopback) -> list[str]:
    """Return what the search provider was asked for."""
    asked = (urlsplit(one.target) for one in server.asked)
    return [parse_qs(one.query)["q"][0] for one in asked if one.path == "/search"]


@pytest.fixture
async def web(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Loopback]:
    """A search provider with one page about bees, and that page."""

    def answer(asked: Asked) -> bytes:
        if not asked.target.startswith("/search"):
            return reply(PAGE * 5)
        hit = {"url": f"{server.url}/bees", "title": "Bees", "content": "The waggle dance."}
        return reply(json.dumps({"results": [hit]}), mime="application/json")

    async with serving(answer) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        monkeypatch.setenv("DOSSIER_ALLOW_PRIVATE_FETCH", "true")
        new_process()
        yield server


@pytest.fixture
async def told(tmp_path: Path, choices: dict[str, object], script: Script) -> dict[str, object]:
    """Choices of a run whose model puts into queries what memory and files say."""
    settings().home.mkdir(parents=True, exist_ok=True)
    (settings().home / "AGENTS.md").write_text("I work for Zorblatt Holdings.\n")
    await add_fact("local/", NewFact("My sister Marisela has diabetes", "context"))
    await insights.add_insight(
        "local/", insights.InsightText("Ask first.", {"planner": "Ask Ottokar first."}), ["t0-1"]
    )
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "bees.md").write_text("Bees dance. Contract 48213377 is with Quenlyn Ltd.")
    library = await ingest_folder("local/", folder, lambda _: None)
    script.on("Rewrite", {"question": BEES, "queries": QUERIES})
    leak = draft("waggle dance")
    leak["steps"][0]["queries"] = ["Quenlyn 48213377", "bee dance Quenlyn"]
    script.on("Draft", leak)
    call = {"name": "search", "args": {"query": "bees z-o-r-b-l-a-t-t"}, "id": "1"}
    asked = AIMessage("", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"})
    only = {"name": "search", "args": {"query": "TWFyaXNlbGEgaGFzIGRpYWJldGVz"}, "id": "2"}
    more = AIMessage("", tool_calls=[only], response_metadata={"finish_reason": "tool_calls"})
    script.on("researcher", asked, more, "The waggle dance tells of food [S1].")
    return {**choices, "files": [library.root]}


def leaks(server: Loopback) -> list[str]:
    squeezed = [one.replace("-", "").replace(" ", "").casefold() for one in queries(server)]
    return [one for one in squeezed for name in PRIVATE if name.casefold() in one]


async def test_words_of_memory_and_files_are_in_no_query(
    thread: ThreadSession, told: dict[str, object], web: Loopback, script: Script
):
    await thread.begin(BEES, make(told), quiet)

    assert BEES in queries(web)
    assert "bees" in queries(web)
    assert leaks(web) == []
    assert not any("TWFy" in one for one in queries(web))
    answers = [str(one.text) for _, said in script.asked for one in said if one.type == "tool"]
    assert any("must not leave this machine" in one for one in answers)


async def test_the_trace_says_which_words_were_withheld(
    thread: ThreadSession,
    told: dict[str, object],
    web: Loopback,
    capsys: pytest.CaptureFixture[str],
):
    await thread.begin(BEES, make(told), quiet)

    lines: list[dict[str, Any]] = [
        one for one in await read_trace("t1-1") if one["kind"] == "search"
    ]
    redacted = [one for one in lines if one["status"] == "redacted"]
    assert ("bees", ["Zorblatt"]) in [(one["query"], one["withheld"]) for one in redacted]
    assert any(one["status"] == "query_withheld" for one in lines)
    await show_run(run="t1-1", report=False, removed=False, source=None, invocation=Invocation())
    assert "shortened or not sent because of private words" in capsys.readouterr().out


async def test_the_report_lists_queries_as_they_were_sent(
    thread: ThreadSession, told: dict[str, object], web: Loopback
):
    ended = await thread.begin(BEES, make(told), quiet)

    listed = list_searched_queries(ended.state)
    assert listed[:3] == [BEES, "bees", "bees of"]
    assert not any(name in query for query in listed for name in PRIVATE)


async def test_a_query_that_was_not_sent_is_not_repeated_in_the_report(
    thread: ThreadSession, told: dict[str, object], web: Loopback, script: Script
):
    script.on("Rewrite", {"question": BEES, "queries": ["Marisela Zorblatt"]})
    script.on("Draft", Problem(ErrorCode.MODEL_UNAVAILABLE, "it is down"))

    ended = await thread.begin(BEES, make({**told, "files": []}), quiet)

    missing = [gap["title"] for gap in list_gaps({**ended.state, "findings": {}})]
    assert "Marisela Zorblatt" not in list_searched_queries(ended.state)
    assert missing == ["A search query with private words"]


async def test_the_researcher_is_told_which_queries_were_shortened_or_not_sent(
    thread: ThreadSession, told: dict[str, object], web: Loopback, script: Script
):
    await thread.begin(BEES, make(told), quiet)

    asked = [str(said[-1].text) for role, said in script.asked if role == "researcher"]
    assert "<withheld>\nThe web was searched for “bee dance”" in asked[0]
    assert "The web was not searched" in asked[0]
    assert any("The web was searched for “bees”" in one for one in asked[1:])


async def test_a_step_whose_model_fails_lists_its_queries_as_they_were_sent(
    thread: ThreadSession, told: dict[str, object], web: Loopback, script: Script
):
    script.on("researcher", BAD_KEY)

    with pytest.raises(Problem, match="model_auth"):
        await thread.begin(BEES, make(told), quiet)

    (finding,) = (await thread.current()).values["findings"].values()
    assert finding["queries"] == ["bee dance"]


async def test_a_recorded_search_tells_what_was_sent_whatever_its_pages_release(
    thread: ThreadSession, told: dict[str, object], web: Loopback, monkeypatch: pytest.MonkeyPatch
):
    async def found(*_: object, **__: object) -> WebHits:
        return WebHits([SearchHit(url=web.url, title="Zorblatt keeps bees", snippet="")])

    monkeypatch.setattr(web_search, "search_web", found)
    place = CallSite("local/", "t1", "t1-1", "s1", "0.0")
    sent = []
    for _ in range(2):
        search = WebSearch(place, make(told, style="It is for keepers of bees."), ["searxng"])
        await search.find_pages("Zorblatt bees")
        sent.append(search.sent)

    assert sent == [{"Zorblatt bees": "bees"}] * 2


async def test_the_command_ends_in_a_line_that_counts_the_shortened_queries(
    told: dict[str, object],
    web: Loopback,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    conductor = CliRunner("t2", wait=False, out=tmp_path / "out", force=False, as_json=False)
    await conductor._work(lambda opened: conductor.begin(opened, BEES, make(told)))

    line = "7 web searches were shortened or not sent because of private words"
    assert f"{line}: dossier runs show t2-1 --json" in capsys.readouterr().err


async def test_the_command_says_nothing_of_queries_that_were_sent_whole(
    told: dict[str, object],
    web: Loopback,
    script: Script,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    conductor = CliRunner("t2", wait=False, out=tmp_path / "out", force=False, as_json=False)
    chosen = make(told, share=["queries"])
    script.on("Draft", draft("waggle dance of Quenlyn"))
    script.on("researcher", "The waggle dance tells of food [S1].")
    await conductor._work(lambda opened: conductor.begin(opened, BEES, chosen))

    assert "private words" not in capsys.readouterr().err


@pytest.mark.parametrize("by", ["run", "installation"])
async def test_a_person_may_let_private_words_be_searched_for(
    thread: ThreadSession,
    told: dict[str, object],
    web: Loopback,
    monkeypatch: pytest.MonkeyPatch,
    by: str,
):
    if by == "installation":
        monkeypatch.setenv("DOSSIER_PRIVATE_QUERIES", "true")
        new_process()

    await thread.begin(BEES, make(told, share=["queries"] if by == "run" else []), quiet)

    assert "Zorblatt bees" in queries(web)
    assert "Quenlyn 48213377" in queries(web)


async def test_words_that_the_person_says_may_be_searched_for(
    thread: ThreadSession, told: dict[str, object], web: Loopback, script: Script
):
    await thread.begin("What does Zorblatt know about bees?", make(told), quiet)

    assert "Zorblatt bees" in queries(web)


async def test_words_that_the_person_puts_into_the_plan_may_be_searched_for(
    thread: ThreadSession, told: dict[str, object], web: Loopback
):
    context = make(told, auto_accept=False)
    waiting = await thread.begin(BEES, context, quiet)
    assert waiting.request
    args = waiting.request["action_requests"][0]["args"]
    lines = render_steps(waiting.request["plan"]["steps"])
    steps = lines.replace("bee dance Quenlyn", "bee dance Marisela Quenlyn")
    assert steps != lines
    action = {"name": "research_plan", "args": {**args, "steps": steps}}
    await thread.answer_review({"type": "edit", "edited_action": action}, context, quiet)

    assert "bee dance Marisela" in queries(web)


@pytest.mark.parametrize("allowed", [False, True])
async def test_a_question_with_a_secret_is_not_searched_whole(
    thread: ThreadSession, choices: dict[str, object], web: Loopback, script: Script, allowed: bool
):
    number = "078-05-1120"
    said = f"{BEES} SSN {number}, and log in with password hunter2-Zebra9"
    script.on("Rewrite", {"question": said, "queries": [f"bees {number}", "bees hunter2-Zebra9"]})

    await thread.begin(said, make(choices, share=["queries"] if allowed else []), quiet)

    assert queries(web)
    assert not any(one in query for query in queries(web) for one in ("1120", "removed"))


@pytest.mark.parametrize("allowed", [False, True])
async def test_the_number_of_an_account_in_the_question_is_in_no_query(
    thread: ThreadSession, choices: dict[str, object], web: Loopback, script: Script, allowed: bool
):
    said = f"{BEES} My account number is 77120934."
    spelt = "bees seven seven one two oh nine three four"
    script.on("Rewrite", {"question": said, "queries": ["bees 77120934", "bees 7712", spelt]})

    await thread.begin(said, make(choices, share=["queries"] if allowed else []), quiet)

    assert queries(web)
    assert not any(one in query for query in queries(web) for one in ("7712", "seven"))


NAMED = ("Quagmire", "Blorptown")


@pytest.fixture
async def named(tmp_path: Path, choices: dict[str, object]) -> dict[str, object]:
    """Choices of a run over files that nothing finds, with private names in titles and headings."""
    folder = tmp_path / "plans"
    folder.mkdir()
    (folder / "Blorptown.txt").write_text("A text without any word of the question.")
    (folder / "plans.md").write_text(
        "# Plans\n\n## Takeover of Quagmire\n\nWe pay.\n\n## End\n\nOk."
    )
    library = await ingest_folder("local/", folder, lambda _: None)
    return {**choices, "files": [library.root]}


async def test_names_and_headings_that_an_outline_shows_are_in_no_query(
    thread: ThreadSession, named: dict[str, object], web: Loopback, script: Script
):
    script.on("Rewrite", {"question": BEES, "queries": ["bees Quagmire", "bees Blorptown"]})

    await thread.begin(BEES, make(named), quiet)

    assert BEES in queries(web)
    assert not [one for one in queries(web) for name in NAMED if name in one]


async def test_a_process_that_goes_on_with_a_run_knows_what_the_outline_has_shown(
    thread: ThreadSession, named: dict[str, object], web: Loopback, script: Script
):
    script.on("Rewrite", {"question": BEES, "queries": []})
    plan = draft("waggle dance")
    plan["steps"][0]["queries"] = ["bees Quagmire"]
    script.on("Draft", plan)
    context = make(named, auto_accept=False)
    await thread.begin(BEES, context, quiet)
    new_process()

    await thread.answer_review({"type": "approve"}, context, quiet)

    assert len(queries(web)) > 1
    assert not [one for one in queries(web) for name in NAMED if name in one]
