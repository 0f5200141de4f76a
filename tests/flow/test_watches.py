"""A watch refreshes its answer when it is due, and tells what is new, once."""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage
from sqlalchemy import select

from app.auth.user_store import add_user, remove_user
from app.cli.forget import redraw_reports
from app.watching import check as checking
from app.watching import delivery
from app.watching.check import run_check
from app.watching.news import News
from app.watching.notice_text import render_notice
from app.watching.rounds import run_round
from config.errors import ErrorCode, Problem
from library.tables import pages
from privacy.retention import list_expired_threads, prune_threads
from privacy.service import execute_erasure, plan_erasure, resolve_erasure_target
from runs.call_site import join_owner
from runs.lifecycle import RunRecord, find_newest_run, find_run
from runs.lock import thread_lock
from runs.schedules import Schedule
from runs.watches import (
    RETRY_SECONDS,
    SEND_SECONDS,
    Watch,
    add_watch,
    find_watch,
    list_checks,
    list_due_watches,
    set_watch_status,
)
from storage.engine import read_rows
from tests.clock import Clock
from tests.fake_model import Reply, Script
from tests.flow.small_web import NORWAY, SmallWeb
from tests.flow.test_defects import draft
from tests.places import new_process

pytestmark = [
    pytest.mark.extractive(
        *("Triage", "Rewrite", "Draft", "researcher", "Verdict"),
        *("Enough", "reporter", "Checks", "Lessons"),
    ),
    pytest.mark.usefixtures("either", "thread"),
]

OWNER = join_owner("local", "")
QUESTION = "Who described the waggle dance, and how much honey does a winter cluster eat?"
WEEKLY = Schedule("0 7 * * 1", "Europe/Berlin")


def quiet(line: str) -> None:
    del line


@pytest.fixture
async def watch(choices: dict[str, object], script: Script) -> Watch:
    """A watch over the files on bees."""
    script.on("Draft", draft("waggle dance", "winter cluster honey"))
    return await add_watch(OWNER, "bees", QUESTION, WEEKLY, dict(choices), ["mail:me@example.org"])


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """The notices that were mailed: to whom, under which id, and what was found."""
    mailed: list[tuple[str, str, str]] = []

    async def mail(address: str, id: str, notice: dict[str, str]) -> None:
        mailed.append((address, id, notice["status"]))

    monkeypatch.setitem(delivery.CHANNELS, "mail", mail)
    return mailed


def change_winter(bees: str) -> None:
    """Let the file on winter say something else, without telling anyone."""
    text = "# Winter\n\nBees form a winter cluster below 14 degrees. "
    file = Path(bees, "winter.md")
    file.write_text(f"{text}A winter cluster eats about 30 kilograms of honey.", encoding="utf-8")
    later = time.time() + 10
    os.utime(file, (later, later))


async def test_only_what_is_new_is_told(
    watch: Watch, bees: str, sent: list[tuple[str, str, str]], script: Script
):
    first = await run_check(watch, quiet)
    asked = len(script.asked)
    same = await run_check(watch, quiet)
    spent = [name for name, _ in script.asked[asked:]]
    change_winter(bees)
    news = await run_check(watch, quiet)
    await run_round("", quiet)

    assert first
    assert same
    assert news
    assert [first.status, same.status, news.status] == ["first", "unchanged", "news"]
    assert spent == []
    assert (first.unsent, same.unsent) == (watch.notify, [])
    (changed,) = news.notice["changed"]
    assert "20 kilograms" in changed["before"]
    assert "30 kilograms" in changed["after"]
    assert news.notice["since"] == same.run
    assert [status for _, _, status in sent] == ["first", "news"]
    assert len({id for _, id, _ in sent}) == 2
    kept = await list_checks(watch)
    assert [one.status for one in kept] == ["news", "unchanged", "first"]
    assert [one.unsent for one in kept] == [[], [], []]


async def test_a_folder_that_is_gone_is_a_failure_and_no_lack_of_news(watch: Watch, bees: str):
    await run_check(watch, quiet)
    os.rename(bees, f"{bees}-away")
    gone = await run_check(watch, quiet)
    os.rename(f"{bees}-away", bees)
    back = await run_check(watch, quiet)

    assert gone
    assert back
    assert (gone.status, gone.code) == ("failed", "docs_not_found")
    assert back.status == "unchanged"


async def test_what_is_due_is_asked_once_and_missed_times_are_not_made_up_for(watch: Watch):
    both = await asyncio.gather(run_round("", quiet), run_round("", quiet))
    again = await run_round("", quiet)

    assert sum(len(one.checks) for one in both) == 1
    assert again.checks == []
    due = (await find_watch(OWNER, "bees")).due
    assert due == WEEKLY.find_next_time(time.time())
    assert due > time.time()


@pytest.mark.parametrize("moment", ["Triage", "Draft", "researcher", "reporter"])
async def test_a_check_that_is_stopped_has_not_failed_and_goes_on_with_its_run(
    watch: Watch, script: Script, moment: str
):
    reply = draft("waggle dance", "winter cluster honey") if moment == "Draft" else None

    def stop(messages: list[BaseMessage]) -> Reply | None:
        del messages
        stopped.cancel()
        return reply

    script.on(moment, stop)
    stopped = asyncio.create_task(run_round("", quiet))
    with pytest.raises(asyncio.CancelledError):
        await stopped
    left, checks = await find_newest_run(OWNER, watch.thread), await list_checks(watch)
    script.on(moment, lambda _: reply)
    again = await run_round("", quiet)

    assert left
    assert left.status == "paused"
    assert checks == []
    ((_, check),) = again.checks
    assert (check.run, check.status) == (left.id, "first")


async def test_a_watch_that_another_process_asks_is_left_to_it(watch: Watch):
    with thread_lock(watch.thread):
        assert (await run_round("", quiet)).checks == []
        with pytest.raises(Problem) as busy:
            await run_check(watch, quiet)
    assert busy.value.code == "run_in_progress"


async def test_a_paused_watch_is_not_due(watch: Watch):
    await set_watch_status(watch, "paused")

    assert await list_due_watches(time.time() + 1e9) == []
    assert await run_check(watch, quiet, due_by=time.time() + 1e9) is None


async def test_a_failure_is_repeated_soon_and_told_when_it_stays(
    watch: Watch, sent: list[tuple[str, str, str]], monkeypatch: pytest.MonkeyPatch
):
    async def fail(*_: object) -> None:
        raise Problem(ErrorCode.MODEL_UNAVAILABLE, "the model is away")

    monkeypatch.setattr(checking, "load_model_names", fail)
    waits = []
    for _ in range(3):
        check = await run_check(watch, quiet)
        assert check
        assert (check.status, check.code) == ("failed", "model_unavailable")
        waits.append((await find_watch(OWNER, "bees")).due - check.ended)
    await run_round("", quiet)

    assert waits[:2] == pytest.approx([RETRY_SECONDS, 2 * RETRY_SECONDS], abs=1)
    assert (await find_watch(OWNER, "bees")).due == WEEKLY.find_next_time(time.time())
    assert [status for _, _, status in sent] == ["failed"]


async def test_a_notice_that_could_not_be_sent_is_sent_later_under_the_same_id(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
):
    ids: list[str] = []

    async def refuse_once(address: str, id: str, notice: dict[str, str]) -> None:
        ids.append(id)
        if len(ids) == 1:
            raise Problem(ErrorCode.NOTICE_FAILED, "the server is away")

    monkeypatch.setitem(delivery.CHANNELS, "mail", refuse_once)

    clock = Clock(monkeypatch)
    first = await run_round("", quiet)
    early = await run_round("", quiet)
    clock.step(SEND_SECONDS + 1)
    second = await asyncio.gather(run_round("", quiet), run_round("", quiet))
    third = await run_round("", quiet)

    assert (first.unsent, early.unsent, third.unsent) == (1, 0, 0)
    assert [one.unsent for one in second] == [0, 0]
    assert len(ids) == 2
    assert len(set(ids)) == 1


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ({"CALLER_FOLDERS": "/elsewhere", "CALLER_MODELS": "fake:*"}, "choice_refused"),
        ({"CALLER_FOLDERS": "/", "CALLER_MODELS": "fake:*"}, ""),
        (
            {"CALLER_FOLDERS": "/", "CALLER_MODELS": "fake:*", "CALLER_MAX_COST_MONTH": "0"},
            "cost_quota",
        ),
    ],
)
async def test_the_limits_of_users_hold_whenever_a_watch_is_asked(
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    limit: dict[str, str],
    code: str,
):
    script.on("Draft", draft("waggle dance", "winter cluster honey"))
    mine = await add_watch(join_owner("ann", ""), "bees", QUESTION, WEEKLY, dict(choices), [])
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    for name, value in limit.items():
        monkeypatch.setenv(f"DOSSIER_{name}", value)
    new_process()
    await add_user("ann")

    check = await run_check(mine, quiet)

    assert check
    assert check.code == code
    if not code:
        assert (await find_run(mine.owner, check.run)).owner == mine.owner


async def test_a_watch_of_a_user_who_was_removed_asks_nothing(
    choices: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    mine = await add_watch(join_owner("ann", ""), "bees", QUESTION, WEEKLY, dict(choices), [])
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    new_process()
    await add_user("ann")
    await remove_user("ann")

    check = await run_check(mine, quiet)

    assert check
    assert check.code == "token_wrong"


async def test_names_are_taken_once_and_owners_see_their_own(watch: Watch):
    with pytest.raises(Problem) as taken:
        await add_watch(OWNER, "bees", QUESTION, WEEKLY, {}, [])
    other = await add_watch(join_owner("local", "other"), "bees", QUESTION, WEEKLY, {}, [])
    with pytest.raises(Problem) as missing:
        await find_watch(join_owner("local", "third"), watch.id)

    assert taken.value.code == "watch_exists"
    assert other.id != watch.id
    assert missing.value.code == "watch_not_found"


async def test_what_nobody_foresaw_in_one_watch_keeps_no_other_from_being_asked(
    watch: Watch, choices: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    await add_watch(OWNER, "broken", "Is it so?", WEEKLY, dict(choices), [])
    usual = checking.compose_news

    async def fail(one: Watch, *more: RunRecord | None) -> News:
        if one.name == "broken":
            raise ZeroDivisionError
        return await usual(one, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "compose_news", fail)
    found = {one.name: check.code for one, check in (await run_round("", quiet)).checks}

    assert found == {"bees": "", "broken": "internal"}


async def test_what_is_forgotten_or_pruned_is_in_no_history(watch: Watch, bees: str):
    await run_check(watch, quiet)
    change_winter(bees)
    news = await run_check(watch, quiet)
    assert news
    assert "30 kilograms" in str(news.notice)

    found = await read_rows(select(pages.c.id).where(pages.c.text.contains("30 kilograms")))
    target = await resolve_erasure_target(OWNER, list(found.scalars()))
    await execute_erasure(await plan_erasure(target), partial(redraw_reports, OWNER))
    (newest, *_) = await list_checks(watch)
    assert "30 kilograms" not in str(newest.notice)

    await prune_threads(await list_expired_threads(OWNER, 0))
    assert await list_checks(watch) == []
    assert await find_watch(OWNER, "bees")


@pytest.fixture
async def web(monkeypatch: pytest.MonkeyPatch) -> SmallWeb:
    """A web on which the question can be answered."""
    made = SmallWeb()
    monkeypatch.setattr("tools.web.web_search.search_web", made.search)
    monkeypatch.setattr("tools.web.web_search.fetch_page", made.fetch)
    return made


@pytest.fixture
async def web_watch(web: SmallWeb, choices: dict[str, object], script: Script) -> Watch:
    """A watch of the web alone, which has been asked once."""
    del web
    script.on("Draft", draft("waggle dance", "winter cluster honey"))
    chosen = {**choices, "files": [], "search": ["searxng"]}
    made = await add_watch(OWNER, "web", QUESTION, WEEKLY, chosen, ["mail:me@example.org"])
    assert await run_check(made, quiet)
    return made


async def test_a_watch_of_the_web_tells_which_new_page_it_found_and_what_it_changed(
    web_watch: Watch, web: SmallWeb, script: Script
):
    same = await run_check(web_watch, quiet)
    web.find_norway()
    before = len(script.asked)
    news = await run_check(web_watch, quiet)

    assert same
    assert news
    assert (same.status, same.notice["searched"], same.notice["found"]) == ("unchanged", 2, [])
    assert [name for name, _ in script.asked[before:]].count("researcher") == 1
    assert news.status == "news"
    assert news.notice["found"] == [
        {"title": "About norway.example", "location": NORWAY, "cited": True}
    ]
    assert "40 kilograms" in str(news.notice["sections"])
    told = render_notice(news.notice)
    assert f"\n- About norway.example ({NORWAY})\n" in told
    assert told.count("40 kilograms") == 1


async def test_a_web_that_is_down_is_no_web_without_news(
    web_watch: Watch, web: SmallWeb, sent: list[tuple[str, str, str]]
):
    web.is_down = True
    down = await run_check(web_watch, quiet)
    web.is_down = False
    web.find_norway()
    up = await run_check(web_watch, quiet)

    assert down
    assert up
    assert (down.status, down.code) == ("failed", "search_unavailable")
    assert "could not be searched for new pages" in str(down.notice["error"])
    assert down.unsent == []
    assert (up.status, up.notice["since"]) == ("news", f"{web_watch.thread}-1")


async def test_a_notice_under_way_is_written_down_before_a_process_ends(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
):
    begun, ended = asyncio.Event(), asyncio.Event()

    async def mail(address: str, id: str, notice: dict[str, str]) -> None:
        begun.set()
        await ended.wait()

    monkeypatch.setitem(delivery.CHANNELS, "mail", mail)
    await run_check(watch, quiet)
    sending = asyncio.create_task(delivery.send_notices("", quiet))
    await begun.wait()
    sending.cancel()
    await asyncio.sleep(0)
    ended.set()
    with pytest.raises(asyncio.CancelledError):
        await sending

    (check,) = await list_checks(watch)
    assert check.unsent == []
