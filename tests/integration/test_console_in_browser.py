"""The console of a real server in a browser: every flow, accessible, and nobody sees another's.

`DOSSIER_TEST_BROWSER=1` starts Chromium.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evals.openai_server import Server as ModelServer
from tests.integration.serving import QUESTION, Server, serving
from tools.web.browser_reader import find_browser

pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not (os.environ.get("DOSSIER_TEST_BROWSER") and find_browser("chromium")),
        reason="DOSSIER_TEST_BROWSER is not set to open the console in chromium",
    ),
]

MODES: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
EVIL = "<script>document.title = 'evil'</script><img src=x onerror=alert(1)>"
SLOW = 90_000
ASKING = "openai:gpt-4o"
COUNTRY = {"question": "In which country?", "default": "Germany", "options": ["Germany", "Austria"]}
DANCE = "Karl von Frisch described the waggle dance in 1927."
HIVES = {"question": "How many hives?", "default": "few"}

Opened = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        path = find_browser("chromium")
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def users_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with users, who may choose a model that asks the person before it writes."""
    asked = [{"name": "ask_user", "args": one} for one in (COUNTRY, HIVES)]
    rules: list[dict[str, Any]] = [{"answered": 0, "tool_calls": asked}, {"reply": f"{DANCE} [S1]"}]
    with ModelServer(rules) as model:
        keys = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": model.url}
        keys |= {"DOSSIER_AUTH": "users", "DOSSIER_CALLER_MODELS": ASKING}
        with serving(tmp_path_factory.mktemp("users"), **keys) as server:
            yield server


@pytest.fixture
def opened(browser: Any, server: Server) -> Iterator[Opened]:
    """Open a page of the console; at the end nothing broke the policy or left the server."""
    contexts, told = [], []

    def open_page(path: str = "", at: Server = server, **options: Any) -> Any:
        context = browser.new_context(**{**MODES["light"], **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("console", lambda line: "Policy" in line.text and told.append(line.text))
        page.on(
            "request",
            lambda asked: asked.url.startswith((at.url, "data:")) or told.append(asked.url),
        )
        page.goto(f"{at.url}/console{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert told == []


def ask(page: Any, question: str, **choices: str) -> None:
    page.goto(re.sub(r"/console.*", "/console", page.url))
    page.fill("#question", question)
    if choices:
        page.click("summary:has-text('Options')")
        for name, value in choices.items():
            page.check(f"input[name={name}][value={value}]")
    page.click("#ask button.main")


def wait_for_report(page: Any) -> None:
    page.wait_for_url("**/console/reports/**", timeout=SLOW)


@pytest.fixture(scope="module")
def report(browser: Any, server: Server) -> str:
    """The path of a report, whose question had no plan to be seen."""
    page = browser.new_context().new_page()
    page.goto(f"{server.url}/console")
    ask(page, "What do the papers say about the decay of memories?", review="no")
    wait_for_report(page)
    page.context.close()
    return str(page.url).partition("/console")[2]


def test_a_question_is_planned_reviewed_and_answered(opened: Opened):
    page = opened()
    ask(page, QUESTION)
    page.wait_for_selector("button[value=approve]", timeout=SLOW)
    page.fill("input[name=step_1_title]", "Decay of memories")
    page.click("summary:has-text('Add steps')")
    page.fill("input[name=new_1_title]", "Interference of memories")
    page.click("button[value=approve]")
    wait_for_report(page)

    body = page.frame_locator("iframe").locator("body")
    assert body.locator("h2", has_text="Decay of memories").count()
    assert body.locator("h2", has_text="Interference of memories").count()


def test_progress_is_told_while_it_works_and_after_a_reload(opened: Opened):
    page = opened()
    ask(page, "How does decay differ from interference?", review="no", depth="deep")
    page.wait_for_selector(".log li.search", timeout=SLOW)
    page.reload()
    page.wait_for_selector(".steps li.working, .steps li.done", timeout=SLOW)
    assert page.locator("#stage").inner_text() not in ("", "Starting …")
    assert int(page.locator(".figures dd").first.inner_text()) > 0
    wait_for_report(page)


def test_a_question_is_stopped_and_resumed(opened: Opened):
    page = opened()
    ask(page, "Which experiments on forgetting are named?", review="no", depth="deep")
    page.wait_for_selector(".log li.search", timeout=SLOW)
    page.click("button:text-is('Stop')")
    page.wait_for_selector("button:text-is('Resume')", timeout=SLOW)
    page.click("button:text-is('Resume')")
    wait_for_report(page)


def test_a_plan_is_sent_back_with_words(opened: Opened):
    page = opened()
    ask(page, "Which of the papers is about interference?", depth="deep")
    page.wait_for_selector("button[value=approve]", timeout=SLOW)
    page.fill("#words", "Look at the experiments first")
    page.click("button[value=reject]")
    page.wait_for_selector("text=Look at the experiments first", timeout=SLOW)
    page.wait_for_selector("button[value=approve]", timeout=SLOW)

    assert "Look at the experiments first" in page.locator(".notice").inner_text()


def test_a_citation_opens_the_passage_that_is_quoted(opened: Opened, report: str):
    frame = opened(report).frame_locator("iframe")
    frame.locator(".ref").first.click()

    card = frame.locator(".card.shown, .card:target").first
    card.wait_for(state="visible")
    assert card.locator("mark").count()


def test_a_report_is_shared_until_the_link_is_revoked(opened: Opened, report: str):
    page = opened(report)
    page.click("summary:has-text('Share')")
    page.click("button:has-text('Create a link')")
    link = page.locator("#link").input_value()

    assert page.request.get(link).status == 200
    page.click("summary:has-text('Share')")
    page.click("button:has-text('Revoke')")
    page.wait_for_selector("text=The link no longer works")
    assert page.request.get(link).status == 404


def test_a_report_is_saved_as_a_file(opened: Opened, report: str):
    page = opened(report)
    page.click("summary:has-text('Files')")
    with page.expect_download() as saved:
        page.click("a:text-is('Markdown')")

    assert saved.value.suggested_filename.endswith(".md")


def test_feedback_and_sources_of_a_report(opened: Opened, report: str):
    page = opened(report)
    page.click("summary:has-text('Feedback')")
    page.check("input[value=up]")
    page.click("button:text-is('Send')")
    page.wait_for_selector("text=Thank you")
    page.click("text=Sources and passages")
    page.click(".row >> nth=0")

    assert page.locator("blockquote").count()


def test_a_section_is_deepened_as_a_version_that_can_be_compared(opened: Opened):
    page = opened()
    ask(page, "What is the interference view of forgetting?", review="no")
    wait_for_report(page)
    page.click("summary:has-text('Follow up')")
    page.click("button:text-is('Go deeper')")
    page.wait_for_url("**/console/questions/**")
    wait_for_report(page)
    page.click("summary:has-text('Versions')")
    page.click("a:has-text('Compare')")

    assert page.frame_locator("iframe").locator("h1").count()


def test_the_same_question_is_offered_its_answer(opened: Opened, report: str):
    page = opened()
    ask(page, "What do the papers say about the decay of memories?")
    page.wait_for_selector("input[name=choice]", timeout=SLOW)
    page.check("input[value=reuse]")
    page.click("button.main")
    wait_for_report(page)

    assert page.url.partition("/console")[2] != report


def test_files_of_a_question_are_searched(opened: Opened):
    page = opened()
    page.set_input_files(
        "#files",
        files=[
            {
                "name": "apiary <b>notes</b>.md",
                "mimeType": "text/markdown",
                "buffer": b"# Apiary\n\nThe queen of hive seven was marked with blue paint.\n",
            }
        ],
    )
    page.wait_for_selector("text=apiary <b>notes</b>.md")
    page.fill("#question", "With which paint was the queen of hive seven marked?")
    page.click("summary:has-text('Options')")
    page.check("input[name=review][value=no]")
    page.click("#ask button.main")
    wait_for_report(page)

    assert "blue paint" in page.frame_locator("iframe").locator("body").inner_text()


def test_what_others_write_is_never_a_part_of_a_page(opened: Opened):
    page = opened("/memory")
    page.fill("#fact", f"I like {EVIL} bees")
    page.click("button:has-text('Remember')")
    assert EVIL in page.locator("main").inner_text()
    ask(page, f"What about {EVIL} bees?")
    page.wait_for_selector("button[value=approve]", timeout=SLOW)
    assert EVIL in page.locator(".asked").inner_text()
    page.goto(re.sub(r"/console.*", "/console/history?q=%3Cscript%3E", page.url))

    assert EVIL in page.locator("main").inner_text()
    assert page.title() == "History – Dossier"
    assert page.locator("main script, main img").count() == 0


def test_memory_is_changed_explained_undone_and_forgotten(opened: Opened):
    page = opened("/memory")
    page.fill("#fact", "I keep seven hives in Carinthia.")
    page.click("button:has-text('Remember')")
    page.locator("li:has-text('Carinthia') >> a:has-text('Why')").click()
    page.fill("#text", "I keep nine hives in Carinthia.")
    page.click("button:has-text('Save')")
    page.wait_for_selector("text=Saved.")
    page.goto(page.url.partition("/memory")[0] + "/memory/changes")
    page.locator("li:has-text('nine hives') button").first.click()
    page.wait_for_selector("text=is undone")
    page.goto(page.url.partition("/memory")[0] + "/memory")
    page.locator("li:has-text('seven hives') >> a:has-text('Forget')").click()
    page.wait_for_selector("text=facts: 1")
    page.click("button:has-text('Forget for good')")
    page.wait_for_selector("text=Forgotten for good.")

    assert "Carinthia" not in page.locator("main").inner_text()


def test_the_file_of_the_person_is_written(opened: Opened):
    page = opened("/memory/agents-md")
    page.fill("#agents", "Prefer primary sources.")
    page.click("button:has-text('Save')")
    page.wait_for_selector("text=Saved.")

    assert page.locator("#agents").input_value().strip() == "Prefer primary sources."


def test_a_knowledge_base_is_made_of_files_and_removed(opened: Opened):
    page = opened("/knowledge")
    page.fill("#name", "apiary")
    page.fill("#about", "What the bees of the apiary do")
    data = {"name": "bees.md", "mimeType": "text/markdown", "buffer": b"# Bees\n\nBees dance.\n"}
    page.set_input_files("#files", files=[data])
    page.click("button.main")
    page.wait_for_selector("text=The knowledge base is ready")
    page.click("button:has-text('Refresh')")
    page.wait_for_selector("text=is up to date")
    page.click("summary:has-text('Remove')")
    page.click("button:has-text('Remove for good')")
    page.wait_for_selector("text=is removed")

    assert page.locator("text=No knowledge bases yet").count()


def test_a_conversation_is_found_and_deleted(opened: Opened):
    page = opened()
    ask(page, "What do the papers say about Wonderland?", review="no")
    wait_for_report(page)
    page.goto(re.sub(r"/console.*", "/console/history?q=Wonderland", page.url))
    page.click("a[href$='/delete'] >> nth=0")
    page.click("button:has-text('Delete for good')")
    page.wait_for_url("**/console/history")
    page.goto(re.sub(r"/console.*", "/console/history?q=Wonderland", page.url))

    assert page.locator("text=Nothing found").count()


def test_what_a_step_asks_is_answered_in_part_and_then_in_whole(
    opened: Opened, users_server: Server
):
    page, token = signed_in(opened, users_server, "cleo")
    thread = begun(users_server, token)
    page.goto(f"{users_server.url}/console/questions/{thread}")
    page.click("button[value=approve]", timeout=SLOW)
    page.wait_for_selector("legend:has-text('In which country?')", timeout=SLOW)
    assert complaints(page) == []
    page.check("input[value=Austria]")
    page.click("button.main")
    page.wait_for_selector("legend:has-text('How many hives?')", timeout=SLOW)
    page.wait_for_function("!document.body.textContent.includes('In which country?')")
    page.fill("input[name=q2_words]", "about twelve")
    page.click("button.main")
    wait_for_report(page)

    assert "Assumed" not in page.frame_locator("iframe").locator("body").inner_text()


def begun(server: Server, token: str) -> str:
    """Ask with the model that asks back, which the console does not offer; return the thread."""
    sdk = pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")
    choices = {"models": {"researcher": ASKING}, "max_reflections": 0, "max_rounds": 0}
    data = base64.b64encode(f"{DANCE} It tells other bees where food is.".encode()).decode()
    file = {"type": "file", "mimeType": "text/plain", "data": data, "metadata": {"name": "b.txt"}}
    said = [{"type": "text", "text": "Who described the waggle dance?"}, file]
    with sdk.get_sync_client(url=server.url, api_key=token) as client:
        thread = client.threads.create()["thread_id"]
        question = {"messages": [{"role": "user", "content": said}]}
        client.runs.wait(thread, "dossier", input=question, context=choices)
    return str(thread)


def test_a_question_is_watched_and_what_was_found_leads_to_the_report(
    opened: Opened, server: Server
):
    page = opened("/watches?question=What%20do%20bees%20eat%20in%20winter%3F")
    page.select_option("#every", "daily")
    page.click("summary:has-text('Options')")
    page.fill("#name", "winter")
    page.click("button:text-is('Add the watch')")
    page.wait_for_selector("text=Not checked yet")
    run_dossier(server, "watch", "run", "winter")
    page.reload()
    assert page.locator(".badge", has_text="first report").count() == 1
    page.click("button:text-is('Pause')")
    page.click("button:text-is('Resume')")
    page.click("a:text-is('Report')")
    assert page.frame_locator("iframe").locator("h1").count()
    page.goto(f"{server.url}/console/watches/winter")
    page.click("summary:has-text('Remove')")
    page.click("button:text-is('Remove')")

    page.wait_for_selector("text=No watches yet")


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "none"])
def test_the_menu_of_a_phone_is_opened_and_nothing_scrolls_sideways(
    opened: Opened, report: str, has_script: bool
):
    narrow = {**MODES["phone"], "viewport": {"width": 360, "height": 640}}
    page = opened(report, java_script_enabled=has_script, **narrow)
    links = page.locator(".menu nav a")
    assert not links.first.is_visible()
    page.tap(".menu summary")

    boxes = [one.bounding_box() for one in links.all()]
    assert len(boxes) == 6
    assert min(box["height"] for box in boxes) >= 44
    assert max(box["x"] + box["width"] for box in boxes) <= 360
    page.tap(".menu nav a:text-is('Watches')")
    page.wait_for_url("**/console/watches")


def test_a_wrong_token_is_told_at_a_server_of_one_person(opened: Opened):
    page = opened("/sign-in")
    page.fill("#token", "wrong")
    page.click("button.main")
    page.wait_for_selector("text=token_wrong")


def test_everything_works_without_a_script(opened: Opened):
    page = opened(java_script_enabled=False)
    page.fill("#question", "What is decay of memories?")
    page.click("#ask button.main")
    page.wait_for_selector("button[value=approve]", timeout=SLOW)
    page.click("button[value=approve]")
    wait_for_report(page)

    assert page.frame_locator("iframe").locator("h1").count()


def test_a_user_sees_nothing_of_another(opened: Opened, users_server: Server, browser: Any):
    (ada, _), (ben, _) = [signed_in(opened, users_server, one) for one in ("ada", "ben")]
    ask(ada, "Please remember: I keep bees. What is decay of memories?", review="no")
    wait_for_report(ada)
    paths = [ada.url, ada.url + "/page", ada.url + "/sources", ada.url + "/file?format=md"]
    paths.append(re.sub(r"/reports/(.*)-1$", r"/questions/\1", ada.url))

    for path in paths:
        assert ben.goto(path).status == 404, path
    for place in ("/history", "/memory", "/memory/changes", "/knowledge"):
        ben.goto(f"{users_server.url}/console{place}")
        assert "decay" not in ben.locator("main").inner_text()
        assert "bees" not in ben.locator("main ul.rows").all_inner_texts()
    assert ben.goto(f"{users_server.url}/console/operator").status == 403
    assert ada.goto(f"{users_server.url}/console/history").status == 200
    assert "decay" in ada.locator("main").inner_text()
    ben.click("text=Sign out")
    ben.wait_for_url("**/sign-in*")


def run_dossier(server: Server, *words: str) -> str:
    command = [str(Path(sys.executable).with_name("dossier")), *words]
    where: dict[str, Any] = {"env": server.environment, "cwd": server.home}
    told = subprocess.run(command, capture_output=True, check=True, **where)
    return told.stdout.decode().strip()


def signed_in(opened: Opened, server: Server, name: str) -> tuple[Any, str]:
    """Return a page of a new user, after a token that was wrong, and their token."""
    run_dossier(server, "users", "add", name)
    token = run_dossier(server, "users", "token", name)
    page = opened("/history", server)
    assert "/sign-in?next=" in page.url
    page.fill("#token", "dsr_00000000_wrong")
    page.click("button.main")
    page.wait_for_selector("text=token_wrong")
    page.fill("#token", token)
    page.click("button.main")
    page.wait_for_url("**/console/history")
    return page, token


def complaints(page: Any) -> list[tuple[str, str]]:
    """Return what axe finds wrong with a page, of which every part is opened."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

    page.evaluate("document.querySelectorAll('main details').forEach(one => one.open = true)")
    options = {"exclude": [["iframe"]]}
    found = Axe().run(page, context=options).response["violations"]
    return [(one["id"], one["nodes"][0]["html"][:150]) for one in found]


@pytest.mark.parametrize("mode", MODES)
def test_axe_finds_nothing_to_complain_of(opened: Opened, report: str, mode: str):
    page = opened(**MODES[mode])
    base = page.url
    paths = ["", "/history", "/memory", "/memory/agents-md", "/memory/changes", "/knowledge"]
    paths += ["/operator", "/watches", "/sign-in", "/nowhere", report]
    paths += [f"{report}/sources", f"{report}/sources/1"]
    page.goto(f"{base}/history")
    paths.append(page.locator("a[href$='/delete']").first.get_attribute("href")[len("/console") :])
    found: dict[str, Any] = {}
    for path in paths:
        page.goto(base + path)
        found[path] = complaints(page)
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, f"{path} scrolls sideways"
    ask(page, "Which papers do we have on forgetting?")
    page.wait_for_selector("button[value=approve]", timeout=SLOW)
    found["review"] = complaints(page)

    assert {path: told for path, told in found.items() if told} == {}
