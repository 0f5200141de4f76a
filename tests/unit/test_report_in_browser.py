"""The page of a report in a browser: accessible, usable by keyboard, and silent on the network."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from report.rendering.html_report import render_html
from tests.report_samples import (
    make_empty_report,
    make_long_report,
    make_passage_report,
    make_rich_report,
)
from tools.web.browser_reader import find_browser

pytestmark = [
    pytest.mark.skipif(
        not (os.environ.get("DOSSIER_TEST_BROWSER") and find_browser("chromium")),
        reason="DOSSIER_TEST_BROWSER is not set to open reports in chromium",
    ),
    pytest.mark.timeout(120),
]

REPORTS = {
    "rich": make_rich_report,
    "chinese": lambda: make_rich_report("zh"),
    "long": make_long_report,
    "empty": make_empty_report,
    "passage": make_passage_report,
}
WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}

Opened = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        path = find_browser("chromium")
        # As root, as in a container, Chromium has no sandbox; it opens nothing but our own pages.
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reports")
    for name, make in REPORTS.items():
        (made / f"{name}.html").write_text(render_html(make()), "utf-8")
    return made


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Opened]:
    """Open a report; at the end nothing was fetched, and nothing broke the policy."""
    contexts, told = [], []

    def open_page(name: str, **options: Any) -> Any:
        context = (
            browser.new_context(viewport=WIDE, **options)
            if "viewport" not in options
            else (browser.new_context(**options))
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda asked: told.append(asked.url))
        page.goto((folder / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [one for one in told if not one.startswith(("file:", "data:"))] == []


def is_shown(page: Any, place: str) -> bool:
    return bool(
        page.locator(place).evaluate("one => getComputedStyle(one).visibility == 'visible'")
    )


MODES: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": PHONE, "has_touch": True},
}
# On the page of a long report axe works for half a minute.
LOOKED_AT = [
    (name, mode) for name in REPORTS for mode in MODES if name != "long" or mode == "light"
]


@pytest.mark.parametrize(("name", "mode"), LOOKED_AT)
def test_axe_finds_nothing_to_complain_of(opened: Opened, name: str, mode: str):
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

    page = opened(name, **MODES[mode])
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    # A card that a citation has led to is looked at, too.
    if page.locator(".card").count():
        page.evaluate("location.hash = document.querySelector('.card').id")
    found = Axe().run(page).response["violations"]

    assert [(one["id"], one["impact"], one["nodes"][0]["html"][:200]) for one in found] == []


def test_a_citation_opens_with_enter_and_escape_leads_back_without_scrolling(opened: Opened):
    page = opened("rich")
    page.locator("#c4").scroll_into_view_if_needed()
    page.evaluate("scrollTo({top: 150, behavior: 'instant'})")
    page.locator("#c4").press("Enter")

    assert is_shown(page, "#e4")
    assert page.evaluate("document.activeElement.id") == "e4"
    page.keyboard.press("Escape")
    assert not is_shown(page, "#e4")
    assert page.evaluate("[document.activeElement.id, scrollY]") == ["c4", 150]


def test_a_card_is_shown_while_its_citation_is_pointed_at_and_can_be_pointed_at_itself(
    opened: Opened,
):
    page = opened("rich")
    page.hover("#c2")
    page.wait_for_selector("#e2.shown")
    page.hover("#e2 blockquote")
    page.wait_for_timeout(500)

    assert is_shown(page, "#e2")
    page.mouse.move(5, 5)
    page.wait_for_selector("#e2", state="hidden")


def test_a_pointed_card_stands_beside_its_citation_and_goes_with_escape(opened: Opened):
    page = opened("rich")
    page.hover("#c2")
    page.wait_for_selector("#e2.shown")
    link, card = (page.locator(place).bounding_box() for place in ("#c2", "#e2"))

    assert card["x"] > link["x"] + link["width"]
    assert abs(card["y"] - link["y"]) < 300
    page.keyboard.press("Escape")
    assert not is_shown(page, "#e2")


def test_the_focus_shows_the_card_of_a_citation(opened: Opened):
    page = opened("rich")
    page.locator("#c1").focus()
    page.keyboard.press("Tab")

    assert is_shown(page, "#e2")
    page.keyboard.press("Tab")
    assert not is_shown(page, "#e2")


def test_a_tap_opens_a_card_and_a_tap_beside_it_closes_it(opened: Opened):
    page = opened("rich", viewport=PHONE, has_touch=True, is_mobile=True)
    page.tap("#c1")

    assert is_shown(page, "#e1")
    page.tap("h1")
    assert not is_shown(page, "#e1")
    page.tap("#c1")
    page.tap("#c1")
    assert not is_shown(page, "#e1")


@pytest.mark.parametrize("without", ["", "delete Navigator.prototype.clipboard"])
def test_a_table_is_copied_as_csv_and_the_page_says_so(opened: Opened, without: str):
    page = opened("rich", permissions=["clipboard-read", "clipboard-write"])
    read = page.evaluate_handle("navigator.clipboard")
    page.evaluate(without)
    page.get_by_role("button", name="Copy table").press("Enter")

    page.get_by_role("status").filter(has_text="Copied").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Copy table"
    copied = read.evaluate("clipboard => clipboard.readText()").splitlines()
    assert copied == ["Treatment,Colonies,Angle error", "Syrup with imidacloprid,12,19"]


def test_a_table_that_cannot_be_copied_is_told_in_the_language_of_the_page(opened: Opened):
    page = opened("chinese")
    page.evaluate("delete Navigator.prototype.clipboard; document.execCommand = () => false")
    page.get_by_role("button", name="复制表格").click()

    page.get_by_role("status").filter(has_text="未能复制").wait_for()


def test_without_a_script_a_table_has_its_link_alone(opened: Opened):
    page = opened("rich", java_script_enabled=False)

    assert page.locator(".csv").inner_text() == "Table as CSV"


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_long_passage_leaves_its_words_its_badge_and_the_original_in_sight(
    opened: Opened, viewport: dict[str, int]
):
    page = opened("passage", viewport=viewport)
    page.locator("#c1").click()

    card = page.locator("#e1").bounding_box()
    for place in (".close", "mark", ".way", ".found"):
        one = page.locator(f"#e1 {place}").bounding_box()
        assert card["y"] <= one["y"] <= card["y"] + card["height"] - one["height"], place
    mark, foot = (page.locator(f"#e1 {one}").bounding_box() for one in ("mark", ".foot"))
    assert mark["y"] + mark["height"] <= foot["y"]


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_without_a_script_a_citation_leads_to_its_words_and_they_lead_back(
    opened: Opened, viewport: dict[str, int]
):
    page = opened("rich", java_script_enabled=False, viewport=viewport)
    page.locator("#c1").click()

    page.wait_for_selector("#e1 mark", state="visible")
    page.locator("#e1 .close").click()
    page.wait_for_selector("#e1", state="hidden")
    page.hover("#c2")
    page.wait_for_selector("#e2", state="visible")


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_wider_than_a_phone_even_with_large_text(opened: Opened, name: str):
    page = opened(name, viewport=PHONE)
    for size in ("106.25%", "200%"):
        page.evaluate(f"document.documentElement.style.fontSize = '{size}'")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_contents_stand_beside_a_wide_text_and_are_folded_on_a_phone(opened: Opened):
    wide, phone = opened("long"), opened("long", viewport=PHONE)
    contents, article = (wide.locator(one).bounding_box() for one in ("nav ol", "article"))

    assert contents["x"] + contents["width"] < article["x"]
    assert not phone.locator("nav ol").is_visible()
    phone.locator("nav summary").click()
    assert phone.locator("nav ol").is_visible()


def test_a_printed_report_has_its_title_and_number_on_each_page_and_all_its_words(
    opened: Opened, tmp_path: Path
):
    from pypdf import PdfReader  # noqa: PLC0415

    file = tmp_path / "report.pdf"
    opened("rich").pdf(path=str(file), prefer_css_page_size=True)
    pages = [" ".join(page.extract_text().split()) for page in PdfReader(file).pages]

    assert [round(float(side) / 72 * 25.4) for side in PdfReader(file).pages[0].mediabox[2:]] == [
        210,
        297,
    ]
    for number, shown in enumerate(pages, start=1):
        assert f"{number} / {len(pages)}" in shown
        assert "How honey bees tell each other where food is" in shown
    assert "One second of waggling stands for about one kilometre." in " ".join(pages)
    assert "Skip to the text" not in pages[0]


def test_a_printed_list_of_sources_begins_on_the_page_of_its_heading(
    opened: Opened, tmp_path: Path
):
    from pypdf import PdfReader  # noqa: PLC0415

    page, file = opened("rich"), tmp_path / "report.pdf"
    page.evaluate(
        "document.querySelector('.sources').before(document.createElement('hr'));"
        "document.querySelector('.sources').style.marginTop = 0"
    )
    first = page.locator(".sources .title").first.inner_text()[:12]
    together = re.compile(rf"Sources\s+(?:\[1\]\s*)?{re.escape(first)}")
    for height in range(0, 900, 150):
        page.evaluate(f"document.querySelector('hr').style.height = '{height}px'")
        page.pdf(path=str(file), prefer_css_page_size=True)
        shown = [one.extract_text() for one in PdfReader(file).pages]
        assert any(map(together.search, shown)), height
