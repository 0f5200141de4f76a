"""A run that is killed while a service is searched goes on and asks nothing again that it knows."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.integration.command import BEES, LONG, WHO, Forks, Place

pytestmark = pytest.mark.integration


class Service:
    """A Dify that answers the question at once, and holds all other queries until it may go on."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_go_on = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                query = json.loads(body)["query"]
                server.asked.append(query)
                if query != WHO:
                    server.may_go_on.wait(LONG)
                segment = {"content": BEES["dance.md"], "document": {"name": "dance.md"}}
                told = json.dumps({"records": [{"segment": segment, "score": 0.9}]}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"


@pytest.fixture
def service() -> Iterator[Service]:
    """A service that is asked until the test ends."""
    made = Service()
    thread = threading.Thread(target=made.http.serve_forever, daemon=True)
    thread.start()
    yield made
    made.may_go_on.set()
    made.http.shutdown()
    made.http.server_close()
    thread.join(LONG)


def wait_for(true: Callable[[], bool]) -> None:
    until = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def recorded(home: Path) -> list[str]:
    """Return the queries to bases that the ledger of a home holds."""
    with closing(sqlite3.connect(home / "dossier.db", timeout=30)) as database:
        rows = database.execute("SELECT result FROM calls WHERE kind = 'knowledge'").fetchall()
    return [json.loads(result)["query"] for (result,) in rows]


def test_a_query_that_was_recorded_before_a_kill_is_not_asked_again(
    tmp_path: Path, forks: Forks, service: Service
):
    place = Place(tmp_path)
    place.home.mkdir(parents=True)
    options = 'kind = "dify"\ndataset = "d1"\n'
    base = f'[dances]\nabout = "How bees dance"\nlocation = "{service.url}"\n{options}'
    (place.home / "knowledge.toml").write_text(base, encoding="utf-8")
    words = ["ask", WHO, "--yes", "--set", 'knowledge=["dances"]', "--thread", "t"]

    running = forks.start(place, *words, DIFY_API_KEY="k")
    wait_for(lambda: len(set(service.asked)) > 1 and recorded(place.home) == [WHO])
    running.process.kill()
    running.process.wait(LONG)
    before = Counter(service.asked)
    service.may_go_on.set()
    resumed = forks.run(place, "resume", "t-1", "--out", "report", DIFY_API_KEY="k")

    assert resumed.status in (0, 6), resumed.err
    assert before[WHO] == 1
    again = Counter(service.asked) - before
    assert again[WHO] == 0
    assert set(before) - {WHO} <= set(again)
    report = (place.folder / "report" / "report.md").read_text("utf-8")
    assert "Karl von Frisch" in report
    assert "knowledge base dances" in report
