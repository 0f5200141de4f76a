"""A model server that sends back what it was sent does not bring the key anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.integration.command import WHO, Forks, Place

KEY = "sk-proj-verysecret-1234567890abcdef"


class Echo(BaseHTTPRequestHandler):
    """Lists a model, and refuses every call with the headers of the request."""

    status, plain = 404, False

    def do_GET(self) -> None:
        self._send(200, json.dumps({"data": [{"id": "m"}]}))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        said = str(self.headers) + "." * 60 + self.headers["authorization"]
        self._send(self.status, said if self.plain else json.dumps({"error": {"message": said}}))

    def _send(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("content-type", "text/plain" if self.plain else "application/json")
        self.send_header("x-echo", self.headers["authorization"] or "")
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(params=[(404, False), (401, True), (500, True)])
def echo(request: pytest.FixtureRequest) -> Iterator[str]:
    status, plain = request.param
    kind = type("Told", (Echo,), {"status": status, "plain": plain})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_a_key_that_comes_back_is_neither_shown_nor_kept(forks: Forks, tmp_path: Path, echo: str):
    place = Place(tmp_path / "place")
    told = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": echo, "DOSSIER_MODEL": "openai:m"}
    words = ["ask", WHO, "--docs", "bees", "--yes", "--json", "--set", "second_reader=false"]

    done = forks.run(place, *words, **told, DOSSIER_RETRY_SECONDS="0")
    shown = forks.run(place, "runs", "show", done.told["run"], **told)

    assert KEY[:14] not in done.out + done.err + shown.out + shown.err
    kept = [file for file in place.folder.rglob("*") if file.is_file()]
    assert len(kept) > 4
    assert [file for file in kept if KEY[:14].encode() in file.read_bytes()] == []
