"""The writer sees where sources contradict each other, and the reader what sources are worth."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence

import pytest
from langchain_core.messages import BaseMessage

from graph.session import SessionOutcome, ThreadSession
from report.checks.attribution import CheckedText
from report.document import build_document
from report.rendering.markdown_report import render_markdown
from runs.call_site import CallSite
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet
from tests.loopback import Asked, Loopback, reply, serving
from tests.places import new_process
from tools import source_checks
from tools.source_checks import load_cited_texts

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Verdict", "Enough", "Checks", "Lessons")

QUESTION = "When was Eling Tide Mill rebuilt?"
HISTORY = (
    "Eling Tide Mill was rebuilt after a storm in 1775. Its two wheels drive four pairs of stones, "
    "and the pond behind the causeway is filled through a gate that the tide itself shuts."
)
THREAD = (
    "Eling Tide Mill was rebuilt after a storm in 1785. My grandfather ran the toll house opposite "
    "and told us of the eels that were trapped there whenever the water was let out at night."
)
PAGES = {"/docs/mill": HISTORY, "/forum/mill": THREAD}


@pytest.fixture
async def web(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Loopback]:
    """A web of a documentation and a forum that contradict each other."""

    def answer(asked: Asked) -> bytes:
        if asked.target.startswith("/search"):
            hits = [{"url": f"{server.url}{path}", "title": path} for path in PAGES]
            return reply(json.dumps({"results": hits}), mime="application/json")
        title = "<title>Eling Tide Mill</title>"
        words = PAGES[asked.target]
        return reply(f"<html>{title}<body><article><p>{words}</p></article></body></html>")

    async with serving(answer) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        monkeypatch.setenv("DOSSIER_ALLOW_PRIVATE_FETCH", "true")
        new_process()
        yield server


async def ask(
    thread: ThreadSession, choices: dict[str, object], script: Script, said: str
) -> SessionOutcome:
    """Ask over both pages; `{docs}` and `{forum}` in what the reporter says are their ids."""
    chosen = make(choices, files=[], search=["searxng"], depth="quick")

    def write(messages: list[BaseMessage]) -> str:
        prompt = str(messages[-1].text)
        found = (re.search(rf'<page id="(S\d)"[^>]*>[^<]*{year}', prompt) for year in (1775, 1785))
        docs, forum = (f"[{one[1]}]" for one in found if one)
        return said.format(docs=docs, forum=forum)

    script.on("reporter", write)
    return await thread.begin(QUESTION, chosen, quiet)


async def rendered(outcome: SessionOutcome) -> str:
    state = outcome.state
    texts = await load_cited_texts("local/", state)
    return render_markdown(
        build_document(state, state["report"], state["status"], "2024-05-31", texts)
    )


async def test_the_writer_is_shown_both_sides_and_what_their_sources_are(
    web: Loopback, thread: ThreadSession, choices: dict[str, object], script: Script
):
    await ask(thread, choices, script, "Eling Tide Mill was rebuilt after a storm in 1775 {docs}.")

    (prompt,) = script.prompts("reporter")
    told = prompt.partition("<contradictions>")[2].partition("</contradictions>")[0]
    sides = dict(re.findall(r"(S\d): Eling Tide Mill was rebuilt after a storm in (\d+)", told))
    assert sorted(sides) == ["S1", "S2"]
    assert sorted(sides.values()) == ["1775", "1785"]
    (forum,) = re.findall(r'<page id="(S\d)"[^>]* genre="forum"', prompt)
    assert sides[forum] == "1785"


async def test_the_reader_is_shown_what_the_report_does_not_tell_of_its_sources(
    web: Loopback, thread: ThreadSession, choices: dict[str, object], script: Script
):
    said = "Eling Tide Mill was rebuilt after a storm in 1785 {forum}."
    outcome = await ask(thread, choices, script, said)

    report = outcome.state["report"]
    assert [one["reason"] for one in report["standing"]] == ["forum"]
    assert [one["reason"] for one in report["contradictions"]] == ["date"]
    shown = await rendered(outcome)
    assert "in 1785 [1] *(only in a forum)*." in shown
    disagreeing = shown.partition("## Where sources disagree")[2]
    assert "in 1775.” [2]" in disagreeing
    assert "in 1785.” [1]" in disagreeing


async def test_a_report_that_names_both_sides_needs_no_such_list(
    web: Loopback, thread: ThreadSession, choices: dict[str, object], script: Script
):
    said = (
        "Eling Tide Mill was rebuilt after a storm in 1775 {docs}. "
        "A forum says that Eling Tide Mill was rebuilt after a storm in 1785 {forum}."
    )
    outcome = await ask(thread, choices, script, said)

    assert "contradictions" not in outcome.state["report"]
    assert "standing" not in outcome.state["report"]
    assert "Where sources disagree" not in await rendered(outcome)


async def test_a_report_is_judged_once_where_the_second_reader_leaves_it_as_it_is(
    web: Loopback,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    judged: list[str] = []
    compare = source_checks.SourceJudge._compare

    async def counting(
        self: source_checks.SourceJudge, body: str, cited: Sequence[str]
    ) -> source_checks.SourceJudgement:
        judged.append(body)
        return await compare(self, body, cited)

    monkeypatch.setattr(source_checks.SourceJudge, "_compare", counting)
    script.on("Checks", {"verdicts": [{"sentence": 1, "verdict": "supported"}]})
    said = "The storm of 1785 took Eling Tide Mill away {forum}."
    outcome = await ask(thread, choices, script, said)

    assert judged == [outcome.state["report"]["body"]]


async def test_another_wording_is_judged_anew(
    web: Loopback, thread: ThreadSession, choices: dict[str, object], script: Script
):
    said = "Eling Tide Mill was rebuilt after a storm in 1785 {forum}."
    state = (await ask(thread, choices, script, said)).state
    place = CallSite("local/", state["run"], state["run"], "", "0")
    judge = source_checks.SourceJudge(place, make(choices), state["sources"])
    (forum,) = state["report"]["cited"]
    other = "S1" if forum == "S2" else "S2"
    weak = CheckedText(state["report"]["body"], [forum], [], [], [])
    both = CheckedText(f"{weak.body[:-1]} [{other}].", [forum, other], [], [], [])

    assert [one["reason"] for one in (await judge.judge(weak))["standing"]] == ["forum"]
    assert not (await judge.judge(both))["contradictions"]
