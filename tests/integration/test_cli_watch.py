"""A watch from the command line: added, asked, shown, paused, removed."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from tests.integration.command import WHO, Forks, Place

pytestmark = pytest.mark.integration


def test_a_watch_is_asked_when_it_is_due_and_shows_what_it_found(place: Place, forks: Forks):
    added = forks.run(
        *(place, "watch", "add", WHO, "--every", "weekly", "--name", "bees", "--docs", "bees"),
        *("--zone", "Europe/Berlin", "--json"),
    )
    first = forks.run(place, "watch", "run", "--json")
    idle = forks.run(place, "watch", "run")
    text = (place.docs / "dance.md").read_text("utf-8")
    (place.docs / "dance.md").write_text(text.replace("1927", "1926"), "utf-8")
    news = forks.run(place, "watch", "run", "bees", "--json")
    shown = forks.run(place, "watch", "show", "bees", "--json").told
    in_words = forks.run(place, "watch", "show", "bees").out

    assert (added.status, added.told["cron"], added.told["status"]) == (0, "0 7 * * 1", "active")
    assert (first.status, first.told[0]["status"]) == (0, "first")
    assert Path(first.told[0]["notice"]["report"], "report.md").is_file()
    assert (idle.status, idle.out) == (0, "Nothing is due.\n")
    (changed,) = news.told[0]["notice"]["changed"]
    assert "1927" in changed["before"]
    assert "1926" in changed["after"]
    assert [one["status"] for one in shown["checks"]] == ["news", "first"]
    assert re.search(r"next +Mon \d{4}-\d\d-\d\d 07:00 CES?T\n", in_words)
    assert "  news: 1 sentence changed (" in in_words
    assert "  first report (" in in_words
    assert "--json" not in forks.run(place, "watch", "list").out


def test_who_cannot_be_told_is_named(place: Place, forks: Forks):
    added = forks.run(
        *(place, "watch", "add", WHO, "--every", "weekly", "--name", "told", "--docs", "bees"),
        *("--notify", "mail:me@example.org"),
    )
    asked = forks.run(place, "watch", "run", "told")
    shown = forks.run(place, "watch", "show", "told")

    assert "set DOSSIER_SMTP_URL" in added.err
    assert asked.status == 1
    assert "error[notice_failed]: no mail server is set" in asked.err
    assert "could not be sent is tried again in 1 minute" in asked.err
    assert "mail:me@example.org (tried 1 time, is tried again)" in shown.out


def test_a_watch_is_paused_resumed_and_removed(place: Place, forks: Forks):
    forks.run(place, "watch", "add", WHO, "--every", "daily", "--name", "idle")

    assert forks.run(place, "watch", "pause", "idle").out == "idle is paused.\n"
    assert forks.run(place, "watch", "run").out == "Nothing is due.\n"
    assert forks.run(place, "watch", "resume", "idle").out.startswith("idle is asked at ")
    assert forks.run(place, "watch", "remove", "idle").status == 0
    gone = forks.run(place, "watch", "show", "idle")

    assert gone.status == 4
    assert "error[watch_not_found]" in gone.problem


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--every", "sometimes"], "bad_schedule"),
        (["--every", "weekly", "--notify", "pigeon:me"], "usage"),
        (["--every", "weekly", "--name", "-x y"], "bad_watch_name"),
        ([], "usage"),
    ],
)
def test_a_watch_that_cannot_be_is_refused(place: Place, forks: Forks, words: list[str], code: str):
    done = forks.run(place, "watch", "add", WHO, *words)

    assert done.status == 2
    assert f"error[{code}]" in done.problem


def test_a_loop_asks_what_is_due_until_it_is_told_to_end(place: Place, forks: Forks):
    added = forks.run(
        *(place, "watch", "add", WHO, "--every", "weekly", "--name", "looped", "--docs", "bees")
    )
    assert added.status == 0

    with place.start("watch", "loop", "--json") as loop:
        assert loop.stdout
        try:
            told = [json.loads(loop.stdout.readline())["line"] for _ in range(2)]
            loop.send_signal(signal.SIGTERM)
            ended = loop.wait(60)
        finally:
            loop.kill()

    assert told[0] == "watching"
    assert "looped" in told[1]
    assert ended == 143
