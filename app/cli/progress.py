"""Show on standard error how far a run is."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from app.cli.output import one_line

MARKS = {"ok": "✓", "passed": "✓", "failed": "✗", "skipped": "–", "partial": "~"}

STAGES = {
    "profile": "Question taken",
    "coordinator": "Question understood",
    "rewrite": "Queries written",
    "background": "First search done",
    "planner": "Plan made",
    "human_feedback": "Plan decided",
    "knowledge": "Research done",
    "reporter": "Report written",
    "memorize": "Report kept",
}
"""What is said when a node has done its work."""


class Progress:
    """The lines of a run; they move on a terminal and are plain elsewhere."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.began = time.monotonic()
        self.steps: dict[str, str] = {}
        self.titles: dict[str, str] = {}
        self.said: set[str] = set()
        self.now = "Starting"
        self.live = Live(
            console=console, get_renderable=self._drawn, refresh_per_second=8, transient=True
        )

    def __enter__(self) -> Progress:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def say(self, line: str) -> None:
        """Write one line that stays, with the seconds since the start."""
        seconds = f"{time.monotonic() - self.began:6.1f} s"
        self.console.print(Text.assemble((seconds, "dim"), "  ", one_line(line)), soft_wrap=True)

    def doing(self, what: str) -> None:
        """Say what is being done now."""
        self.now = one_line(what)

    def watch(self, event: dict[str, Any]) -> None:
        """Show an event of the run."""
        if "node" in event:
            self._ended(event["node"], event["update"] or {})
        elif event.get("event") == "researching":
            self.steps.setdefault(event["step"], "")
            self.titles[event["step"]] = one_line(event["title"])
            self.now = "Researching"

    def _ended(self, node: str, update: dict[str, Any]) -> None:
        for finding in (update.get("findings") or {}).values():
            self._step(finding)
        if node in STAGES and node not in self.said:
            self.said.add(node)
            self.say(STAGES[node])
        if node == "planner":
            self.said -= {"planner", "human_feedback"}
        self.now = {"knowledge": "Writing", "rewrite": "Searching"}.get(node, self.now)

    def _step(self, finding: dict[str, Any]) -> None:
        name = finding["step"]
        if self.steps.get(name):
            return
        self.steps[name] = mark = MARKS[finding["status"]]
        reason = f" ({finding['reason']})" if finding["reason"] else ""
        self.say(f"{mark} {name}: {finding['title']}{reason}")

    def _drawn(self) -> Group:
        seconds = int(time.monotonic() - self.began)
        table = Table.grid(padding=(0, 1))
        for name, mark in self.steps.items():
            if not mark:
                table.add_row("  ", Spinner("dots"), f"{name}: {self.titles.get(name, '')}")
        return Group(table, Spinner("dots", text=f"{self.now} … {seconds} s"))
