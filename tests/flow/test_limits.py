"""What a reader is told when a run could not do all it should."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from calls import call_middleware
from config.errors import ErrorCode, Problem
from graph.records import entries_of_turn
from graph.session import SessionOutcome, ThreadSession
from library import page_retrieval
from runs.incomplete import find_limit, find_resume_node
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.model_calls import BAD_KEY
from tests.places import new_process
from tests.unit.test_cost_quotas import spend
from tools.web.federated_search import WebHits
from tools.web.providers.provider_registry import SearchUnanswered

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks"
)

STEPS = ["waggle dance", "winter cluster", "queen eggs"]


def shown(outcome: SessionOutcome) -> str:
    return str(outcome.state["messages"][-1].text)


def missing(outcome: SessionOutcome) -> list[str]:
    """Return the lines that tell what is missing."""
    section = shown(outcome).partition("## What is not known\n\n")[2]
    return section.partition("\n\n")[0].splitlines()


async def test_a_run_out_of_calls_says_which_limit_was_reached_and_what_was_not_done(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft(*STEPS))
    context = make(choices, max_calls=4, max_reflections=0)

    outcome = await thread.begin("How do bees dance?", context, quiet)

    assert outcome.state["status"] == "partial"
    assert "> Partial: the run reached its limit (max_calls = 4)" in shown(outcome)
    steps = ", ".join(f"**{step}**" for step in STEPS)
    assert missing(outcome) == [f"- {steps}: a limit of the run was reached (max_calls = 4)"]


async def test_when_the_month_of_a_user_is_used_up_runs_at_work_call_nobody_but_the_reporter(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    monkeypatch.setenv("DOSSIER_CALLER_MAX_COST_MONTH", "5")
    new_process()
    usual = call_middleware.check_cost_room

    async def spent_elsewhere(owner: str) -> None:
        # Another run of the same user makes the last call of the month after the plan.
        if "Draft" in script.names():
            await spend("local", 5.0, thread="t2")
        await usual(owner)

    monkeypatch.setattr(call_middleware, "check_cost_room", spent_elsewhere)
    script.on("Draft", draft(*STEPS))
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    called = script.names()
    assert set(called[called.index("Draft") + 1 :]) <= {"reporter"}
    assert outcome.state["status"] == "partial"
    assert "> Partial: the run reached its limit (max_cost_month = 5)" in shown(outcome)


async def test_a_run_without_findings_reports_what_the_first_search_found(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft(*STEPS))
    context = make(choices, max_calls=4)

    outcome = await thread.begin("Who described the waggle dance?", context, quiet)

    assert not [
        one for one in entries_of_turn(outcome.state["findings"], 1).values() if one["text"]
    ]
    assert "reporter" in script.names()
    assert "Karl von Frisch" in outcome.state["report"]["body"]


async def test_a_run_out_of_calls_before_its_report_quotes_what_was_found(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("reporter", Problem(ErrorCode.BUDGET_SPENT, "no more", where="max_cost = 0.5"))
    context = make(choices, depth="quick")

    outcome = await thread.begin("Who described the waggle dance?", context, quiet)

    assert outcome.state["status"] == "partial"
    assert outcome.state["report"]["body"].startswith(
        '- <q s="S1">Karl von Frisch described the waggle dance in 1927.</q>'
    )
    (notice,) = outcome.state["report"]["notices"]
    assert notice.startswith("Partial: the run reached its limit (max_cost = 0.5)")


async def test_a_run_out_of_calls_that_found_nothing_does_not_call_it_a_lack_of_evidence(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("quantum chromodynamics"))
    context = make(choices, max_calls=4, language="zh", files=[])

    outcome = await thread.begin("What is quantum chromodynamics?", context, quiet)
    nothing = outcome.state["status"]

    assert nothing == "insufficient_evidence"

    script.on("Draft", draft(*STEPS))
    context = make(choices, max_calls=1, language="zh")
    outcome = await thread.begin("How do bees dance?", context, quiet)

    assert outcome.state["status"] == "partial"
    assert "max_calls = 1" in shown(outcome)


async def test_a_finding_that_nobody_could_judge_is_no_failure(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft(*STEPS[:2]))
    script.on("Verdict", Problem(ErrorCode.MODEL_REJECTED, "no"))

    outcome = await thread.begin("How do bees live?", make(choices), quiet)

    assert outcome.state["status"] == "succeeded"
    assert outcome.state["report"]["cited"]
    assert missing(outcome) == []
    assert "Not reviewed a second time: 2 of the results." in shown(outcome)


@pytest.fixture
def dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search provider at an address where nothing listens."""
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:9")


@pytest.mark.usefixtures("dead")
@pytest.mark.parametrize("depth", ["standard", "quick"])
async def test_a_search_provider_that_is_down_is_told_once_and_the_answer_stays(
    thread: ThreadSession, choices: dict[str, object], script: Script, depth: str
):
    script.on("Draft", draft(*STEPS[:2]))

    outcome = await thread.begin("How do bees dance?", make(choices, depth=depth), quiet)

    assert outcome.state["report"]["cited"]
    assert outcome.state["status"] == "partial"
    assert missing(outcome) == [
        "- **searxng**: the search could not be reached (it cannot be reached)"
    ]


@pytest.mark.usefixtures("dead")
async def test_a_search_that_only_a_tool_made_is_told_too(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    async def search(names: object, query: str, *_: object, **__: object) -> WebHits:
        if query == "mead":
            raise SearchUnanswered(
                ErrorCode.SEARCH_UNAVAILABLE, {"searxng": "it answers 500"}, hint=""
            )
        return WebHits([])

    monkeypatch.setattr("tools.web.web_search.search_web", search)
    script.on("Draft", draft(*STEPS[:1]))
    script.on("researcher", calling("mead"), "Bees dance [S1].")
    script.on("Verdict", {"passed": True})

    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    assert missing(outcome) == ["- **searxng**: the search could not be reached (it answers 500)"]


def calling(query: str) -> AIMessage:
    """Return the message of a model that searches."""
    call = {"name": "search", "args": {"query": query}, "id": "1"}
    return AIMessage("", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"})


@pytest.mark.usefixtures("dead")
async def test_a_provider_that_was_down_for_one_question_is_not_told_with_the_next(
    thread: ThreadSession, choices: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    await thread.begin("How do bees dance?", make(choices), quiet)
    monkeypatch.delenv("SEARXNG_URL")

    outcome = await thread.begin("How do bees spend the winter?", make(choices), quiet)

    assert "searxng" not in shown(outcome)


@pytest.mark.usefixtures("dead")
async def test_a_search_in_files_that_fails_before_a_quick_answer_is_told(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv("SEARXNG_URL")
    find = page_retrieval.find_pages_many

    async def broken(owner: str, queries: list[str], *more: object) -> object:
        if queries == ["winter"]:
            raise Problem(ErrorCode.STORAGE_BUSY, "it is locked")
        return await find(owner, queries, *more)

    monkeypatch.setattr("library.page_retrieval.find_pages_many", broken)
    script.on("Rewrite", {"question": "How do bees dance?", "queries": ["winter"]})

    outcome = await thread.begin("How do bees dance?", make(choices, depth="quick"), quiet)

    assert outcome.state["report"]["cited"]
    assert missing(outcome) == ["- **winter**: it failed (storage busy)"]


async def test_a_run_that_a_limit_ended_does_the_rest_when_it_may_use_more(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft(*STEPS))
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    ended = await thread.begin("How do bees dance?", make(choices, max_calls=6), quiet)
    before = len(script.names())

    whole = await thread.resume(make(choices, max_calls=100), quiet)

    assert ended.state["report"]["limit"] == "max_calls = 6"
    assert find_limit(ended.state) == "max_calls = 6"
    assert [one["status"] for one in entries_of_turn(whole.state["findings"], 1).values()] == [
        "ok"
    ] * 3
    assert "limit" not in whole.state["report"]
    assert missing(whole) == []
    assert find_resume_node(whole.state) == ""
    assert {"Triage", "Rewrite", "Draft"} & set(script.names()[before:]) == set()


async def test_a_run_that_still_has_no_room_ends_at_its_limit_again(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft(*STEPS))
    context = make(choices, max_calls=6)
    await thread.begin("How do bees dance?", context, quiet)

    again = await thread.resume(context, quiet)

    assert again.state["status"] == "partial"
    assert find_limit(again.state) == "max_calls = 6"


async def test_a_report_that_a_limit_prevented_is_written_when_it_may_use_more(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("reporter", Problem(ErrorCode.BUDGET_SPENT, "no more", where="max_cost = 0.5"))
    ended = await thread.begin("Who described the waggle dance?", make(choices), quiet)
    del script.rules["reporter"]

    whole = await thread.resume(make(choices, max_cost=2.0), quiet)

    assert find_resume_node(ended.state) == "knowledge"
    assert find_limit(whole.state) == ""
    assert not [one for one in whole.state["report"]["notices"] if "limit" in one]


async def test_an_answer_that_a_limit_cut_off_is_asked_for_again_when_it_may_be_longer(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    words = "Karl von Frisch described the waggle dance in 1927 [S1]."
    usage = {"input_tokens": 500, "output_tokens": 900, "total_tokens": 1400}
    cut = AIMessage(words, response_metadata={"finish_reason": "length"}, usage_metadata=usage)
    script.on("reporter", cut)
    context = make(choices, max_tokens=4_000)
    ended = await thread.begin("Who described the waggle dance?", context, quiet)
    script.on("reporter", words)

    whole = await thread.resume(make(choices, max_tokens=100_000), quiet)

    assert find_limit(ended.state) == "max_tokens = 4000"
    assert find_limit(whole.state) == ""
    assert whole.state["status"] == "succeeded"


async def test_steps_that_a_limit_prevented_in_a_run_that_then_failed_are_done_as_well(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft(*STEPS))
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    script.on("researcher", BAD_KEY)
    with pytest.raises(Problem, match="model_auth"):
        await thread.begin("How do bees dance?", make(choices, max_calls=5, parallelism=1), quiet)
    del script.rules["researcher"]

    whole = await thread.resume(make(choices, max_calls=100), quiet)

    assert [one["status"] for one in entries_of_turn(whole.state["findings"], 1).values()] == [
        "ok"
    ] * 3
