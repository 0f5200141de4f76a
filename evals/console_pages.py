"""Measure the pages of the console of a running server in a browser: size, requests, first paint.

It asks nothing and changes nothing. Start a server on this machine, ask something in the console,
and run it:

    python -m evals.console_pages --url http://127.0.0.1:8123 [--shots FOLDER]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tools.web.browser_reader import find_browser

PATHS = (
    *("", "/history", "/memory", "/memory/agents-md", "/memory/changes", "/knowledge"),
    *("/watches", "/operator", "/sign-in"),
)
"""The pages that every server has."""

MODES: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}

_LOADS = 5

_PAINTED = """() => new Promise((done) => {
  const seen = (list) => list.getEntriesByName("first-contentful-paint").length && done();
  new PerformanceObserver(seen).observe({type: "paint", buffered: true});
})"""

_FIGURES = """() => {
  const page = performance.getEntriesByType("navigation")[0];
  const files = performance.getEntriesByType("resource");
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return {
    bytes: page.decodedBodySize,
    answered: page.responseStart - page.requestStart,
    files: files.length,
    file_bytes: files.reduce((sum, one) => sum + one.decodedBodySize, 0),
    paint: paint ? paint.startTime : 0,
  };
}"""


class PageFigures(NamedTuple):
    """What a page takes; times are medians in milliseconds."""

    path: str
    kilobytes: float
    files: int
    file_kilobytes: float
    """Style and scripts, which a browser loads once."""
    answered: float
    first_paint: float


def measure_console(url: str) -> list[PageFigures]:
    """Return the figures of each page of a console."""
    with _open_browser() as browser:
        page = browser.new_context(**MODES["light"]).new_page()
        return [_measure(page, url, path) for path in list_console_paths(page, url)]


def list_console_paths(page: Any, url: str) -> list[str]:
    """Return the paths of the pages of a console, with those of its newest report."""
    page.goto(f"{url}/console/history")
    links = page.locator("a[href*='/console/reports/']")
    if not links.count():
        return [*PATHS]
    report = str(links.first.get_attribute("href")).removeprefix("/console")
    return [*PATHS, report, f"{report}/page", f"{report}/sources", f"{report}/sources/1"]


def _measure(page: Any, url: str, path: str) -> PageFigures:
    loads = []
    for _ in range(_LOADS):
        page.goto(f"{url}/console{path}", wait_until="load")
        page.evaluate(_PAINTED)
        loads.append(page.evaluate(_FIGURES))
    middle = {name: statistics.median(one[name] for one in loads) for name in loads[0]}
    return PageFigures(
        path or "/",
        middle["bytes"] / 1000,
        int(middle["files"]),
        middle["file_bytes"] / 1000,
        middle["answered"],
        middle["paint"],
    )


def save_screenshots(url: str, folder: Path) -> None:
    """Save a picture of each page as it is in the light, in the dark and on a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    with _open_browser() as browser:
        for mode, options in MODES.items():
            page = browser.new_context(**options).new_page()
            for path in list_console_paths(page, url):
                page.goto(f"{url}/console{path}", wait_until="networkidle")
                name = path.strip("/").replace("/", "_") or "ask"
                page.screenshot(path=folder / f"{name}-{mode}.png", full_page=True)


@contextmanager
def _open_browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an optional package

    with sync_playwright() as playwright:
        path = find_browser("chromium")
        # As root, as in a container, Chromium has no sandbox; it opens the pages of one server.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def main() -> None:
    """Print the figures of each page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8123", help="where the server is")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of the pages")
    given = parser.parse_args()
    print(f"{'page':60} {'kB':>7} {'files':>5} {'kB':>6} {'answer ms':>9} {'paint ms':>8}")
    for one in measure_console(given.url):
        print(
            f"{one.path[-60:]:60} {one.kilobytes:7.1f} {one.files:5} {one.file_kilobytes:6.1f}"
            f" {one.answered:9.0f} {one.first_paint:8.0f}"
        )
    if given.shots:
        save_screenshots(given.url, given.shots)


if __name__ == "__main__":
    main()
