"""Pages that only scripts write are told apart, and read where a reader is set."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from urllib.parse import unquote

import pytest

from config.errors import Problem
from tests.loopback import Asked, moved, reply, serving
from tests.places import new_process
from tools.web import browser_reader
from tools.web.browser_reader import find_browser
from tools.web.download import FetchLimits
from tools.web.fetch import FetchedPage, fetch_page
from tools.web.script_pages import make_service_address, needs_script

SHELL = (
    '<!doctype html><html><head><title>Bees</title><script src="/app.js"></script></head>'
    "<body><noscript>You need to enable JavaScript to run this app.</noscript>"
    '<div id="root"></div></body></html>'
)
WORDS = "Bees dance on the comb to tell the others where the food is. " * 6
SCRIPT = (
    "fetch('/data.json').then(answer => answer.json()).then(data => {"
    "document.getElementById('root').innerHTML = '<article><h1>Bees</h1><p>' + data.text + '</p>'"
    "+ '</article>'})"
)

needs_chromium = pytest.mark.skipif(
    not (os.environ.get("DOSSIER_TEST_BROWSER") and shutil.which("bwrap")),
    reason="DOSSIER_TEST_BROWSER is not set to run chromium in bubblewrap",
)


def use(monkeypatch: pytest.MonkeyPatch, **settings: str) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"DOSSIER_{name.upper()}", value)
    new_process()


def application(asked: Asked) -> bytes:
    if asked.target == "/app.js":
        return reply(SCRIPT, mime="text/javascript")
    if asked.target == "/data.json":
        return reply(f'{{"text": "{WORDS}"}}', mime="application/json")
    return reply(SHELL)


async def read(answer: Callable[[Asked], bytes], limits: FetchLimits | None = None) -> FetchedPage:
    async with serving(answer) as server:
        return await fetch_page(f"{server.url}/", limits or FetchLimits(), allow_private=True)


@pytest.mark.parametrize(
    ("html", "needed"),
    [
        (SHELL, True),
        ('<script src="a.js"></script><div id="__next"></div>', True),
        ("<script></script><app-root></app-root>", True),
        ("<script>x</script><p>请启用 JavaScript 后查看</p>".encode(), True),
        ("<script>x</script><p>JavaScript is required.</p>", True),
        ('<div id="root"></div>', False),
        ("<script>count()</script><p>404</p>", False),
        ("<p>Nothing here.</p>", False),
    ],
)
def test_an_empty_shell_is_told_from_an_empty_page(html: str | bytes, needed: bool):
    data = html if isinstance(html, bytes) else html.encode()

    assert needs_script(data) is needed


async def test_without_a_reader_the_page_says_that_it_needs_one_and_how_to_get_it():
    with pytest.raises(Problem) as problem:
        await read(application)

    assert problem.value.code == "page_needs_script"
    assert "DOSSIER_READER_BROWSER" in problem.value.hint
    assert "DOSSIER_READER_URL" in problem.value.hint


@pytest.mark.parametrize(
    ("service", "address"),
    [
        ("https://r.example/", "https://r.example/https://a.org/x?y=1"),
        ("https://r.example/read/{url}", "https://r.example/read/https://a.org/x?y=1"),
        ("https://r.example/?u={url}&k=1", "https://r.example/?u=https%3A%2F%2Fa.org%2Fx%3Fy%3D1&k=1"),
    ],
)  # fmt: skip
def test_a_service_is_asked_as_its_address_says(service: str, address: str):
    assert make_service_address(service, "https://a.org/x?y=1") == address


async def test_a_reader_service_renders_the_page(monkeypatch):
    def render(asked: Asked) -> bytes:
        assert unquote(asked.target).startswith("/?page=http://127.0.0.1:")
        assert asked.headers["authorization"].startswith("Basic ")
        return reply(f"# Bees\n\n{WORDS}", mime="text/markdown")

    async with serving(render) as service:
        address = service.url.replace("//", "//me:secret@")
        use(monkeypatch, reader_url=f"{address}/?page={{url}}")
        page = await read(application)

    assert "where the food is" in page["text"]
    assert page["url"].startswith("http://127.0.0.1:")
    assert service.port != int(page["url"].rpartition(":")[2])


@pytest.mark.parametrize(
    "answer", [b"", reply("", status="500 Broken"), reply("", mime="image/png")]
)
async def test_a_service_that_fails_is_a_problem_without_its_address(monkeypatch, answer):
    async with serving(lambda _: answer) as service:
        use(monkeypatch, reader_url=service.url.replace("//", "//me:secret@"))
        with pytest.raises(Problem) as problem:
            await read(application)

    assert problem.value.code in ("page_unavailable", "page_not_text")
    assert "secret" not in str(problem.value)
    assert str(service.port) not in str(problem.value)


async def test_no_log_has_the_key_of_a_reader_service(monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)

    async with serving(lambda _: reply(f"# Bees\n\n{WORDS}", mime="text/markdown")) as service:
        use(monkeypatch, reader_url=f"{service.url}/read?key=s3cr3tkey&page={{url}}")
        await read(application)

    assert [one.target.partition("&")[0] for one in service.asked] == ["/read?key=s3cr3tkey"]
    assert "HTTP Request" in caplog.text
    assert "s3cr3tkey" not in caplog.text


async def test_a_page_with_a_text_is_never_rendered(monkeypatch):
    use(monkeypatch, reader_browser="/no/browser")

    page = await read(lambda _: reply(SHELL.replace('"root">', f'"root"><p>{WORDS}</p>')))

    assert "where the food is" in page["text"]


async def test_a_browser_that_is_not_there_is_named(monkeypatch):
    use(monkeypatch, reader_browser="/no/browser")

    with pytest.raises(Problem, match="there is no browser at '/no/browser'") as problem:
        await read(application)

    assert problem.value.code == "page_needs_script"


async def test_no_browser_runs_as_root_without_a_sandbox(monkeypatch):
    monkeypatch.setattr(browser_reader, "_wrap", lambda *_: None)
    monkeypatch.setattr(browser_reader.os, "geteuid", lambda: 0)
    use(monkeypatch, reader_browser="/bin/true")

    with pytest.raises(Problem, match="as root Chromium has no sandbox") as problem:
        await read(application)

    assert problem.value.code == "page_needs_script"


def test_the_usual_names_are_looked_for(monkeypatch):
    monkeypatch.setattr(shutil, "which", {"google-chrome": "/opt/chrome"}.get)

    assert find_browser("chromium") == "/opt/chrome"


@needs_chromium
async def test_a_page_is_read_as_its_scripts_have_written_it(monkeypatch):
    use(monkeypatch, reader_browser="chromium")

    page = await read(application)

    assert "where the food is" in page["text"]
    assert page["title"] == "Bees"


def leading_on(rules: str) -> Callable[[Asked], bytes]:
    """A page whose script opens another page of its server, with a robots.txt."""

    def answer(asked: Asked) -> bytes:
        if asked.target == "/robots.txt":
            return reply(rules, mime="text/plain")
        if asked.target == "/app.js":
            return reply("location.href = '/moved'", mime="text/javascript")
        if asked.target == "/moved":
            return moved("/other")
        return reply(f"<article><p>{WORDS}</p></article>" if asked.target == "/other" else SHELL)

    return answer


async def find_loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


@needs_chromium
@pytest.mark.parametrize("rules", ["", "User-agent: *\nDisallow: /other"])
async def test_a_page_that_leads_on_by_script_is_known_by_where_it_leads(monkeypatch, rules: str):
    use(monkeypatch, reader_browser="chromium")

    async with serving(leading_on(rules)) as server:
        address = f"http://bees.example:{server.port}"
        reading = fetch_page(f"{address}/", allow_private=True, resolve=find_loopback)
        if rules:
            with pytest.raises(Problem, match="may not be read"):
                await reading
        else:
            assert (await reading)["url"] == f"{address}/other"
    assert ("/other" in [one.target for one in server.asked]) is not bool(rules)


HOSTILE = """
const told = [];
const note = what => told.push(what);
async function attempt(name, work) {
  try { await work(); note(name + ' got through'); } catch (error) { note(name + ' failed'); }
}
async function all() {
  for (const url of CANARIES) await attempt(url, () => fetch(url, {mode: 'no-cors'}));
  await attempt('post', () => fetch('/post', {method: 'POST', body: 'x'}));
  await attempt('file', () => fetch('file:///etc/passwd'));
  await attempt('socket', () => new Promise((done, fail) => {
    const socket = new WebSocket('ws://127.0.0.1:PORT/socket');
    socket.onopen = done; socket.onerror = fail; setTimeout(fail, 1500);
  }));
  new Image().src = 'http://127.0.0.1:PORT/image';
  const frame = document.createElement('iframe');
  frame.src = 'http://127.0.0.1:PORT/frame';
  document.body.append(frame);
  navigator.sendBeacon && navigator.sendBeacon('http://127.0.0.1:PORT/beacon', 'x');
  document.getElementById('root').innerHTML =
    '<article><p>' + told.join('. ') + '. ' + 'The page has tried what it could. '.repeat(9)
    + '</p></article>';
}
all();
"""


@needs_chromium
async def test_a_rendered_page_reaches_nothing_that_a_fetched_one_could_not(monkeypatch):
    use(monkeypatch, reader_browser="chromium", robots="false")
    async with serving(lambda _: reply("canary")) as canary:
        urls = [f"http://{host}:{canary.port}/" for host in ("127.0.0.1", "localhost", "[::1]")]
        urls += [f"http://rebinding.example:{canary.port}/", "http://bees.example/moved"]
        script = HOSTILE.replace("CANARIES", str(urls)).replace("PORT", str(canary.port))

        page, sent = await read_publicly(monkeypatch, script, canary.url)

    assert canary.asked == []
    assert "The page has tried what it could" in page["text"]
    assert "got through" not in page["text"]
    assert "socket failed" in page["text"]
    assert "/post" not in sent


async def read_publicly(
    monkeypatch: pytest.MonkeyPatch, script: str, canary: str
) -> tuple[FetchedPage, list[str]]:
    """Read a page of the open web that runs a script; return it with what its server was asked."""
    from tests.unit.test_robots import PUBLIC, web  # noqa: PLC0415

    answers = {"bees.example": [[PUBLIC]], "rebinding.example": [["127.0.0.1"]]}

    async def resolve(host: str, port: int) -> list[str]:
        return answers.get(host, [[]])[0]

    def page(asked: Asked) -> bytes:
        if asked.target == "/app.js":
            return reply(script, mime="text/javascript")
        return moved(canary) if asked.target == "/moved" else reply(SHELL)

    async with web(monkeypatch, "", page) as server:
        found = await fetch_page("http://bees.example/", resolve=resolve)
        return found, [asked.target for asked in server.asked]


@needs_chromium
async def test_scripts_without_an_end_are_ended(monkeypatch):
    use(monkeypatch, reader_browser="chromium")

    def endless(asked: Asked) -> bytes:
        return (
            reply("while (true) {}", mime="text/javascript")
            if ".js" in asked.target
            else reply(SHELL)
        )

    with pytest.raises(Problem) as problem:
        await read(endless, FetchLimits(seconds=4))

    assert problem.value.code == "page_timeout"


@needs_chromium
async def test_a_page_that_writes_without_measure_is_refused(monkeypatch):
    use(monkeypatch, reader_browser="chromium")
    flood = "onload = () => document.getElementById('root').innerText = 'bees '.repeat(400000)"

    def flooding(asked: Asked) -> bytes:
        return reply(flood, mime="text/javascript") if ".js" in asked.target else reply(SHELL)

    with pytest.raises(Problem) as problem:
        await read(flooding, FetchLimits(page=1_000_000))

    assert problem.value.code == "url_too_large"
