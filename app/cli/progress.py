"""Show on standard error how far a run is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Column, Table
from rich.text import Text

from app.cli import dispatch
from app.cli.output import one_line
from graph.records import MEMORY
from report.labels import describe_reason

MARKS = {"ok": "✓", "passed": "✓", "failed": "✗", "skipped": "–", "partial": "~"}

STAGES = {
    "profile": "Question taken",
    "coordinator": "Question understood",
    "rewrite": "Queries written",
    "background": "First search done",
    "planner": "Plan made",
    "researched": "Research done",
    "reporter": "Report written",
    "deliver": "Report delivered",
}
"""What is said when a node has done its work, or has said that some is done."""

CHOSEN = {
    "reuse": "its report is shown again",
    "refresh": "what may have changed is looked at again",
    "deepen": "new steps go beyond it",
    "new": "it is researched as a new question",
}
"""What is said of each choice for an earlier answer."""

FOLLOWING = {
    "profile": "Understanding the question",
    "coordinator": "Searching",
    "rewrite": "Searching",
    "background": "Planning",
    "researched": "Writing the report",
    "reporter": "Delivering the report",
}
"""What is done when a node has ended."""

SAID = {
    "planning": "Planning",
    "writing": "Writing the report",
    "comparing": "Reading the report again beside its sources",
}
"""What is being done when a node says so itself."""

SILENCE = 10.0
"""The seconds without a terminal after which it is said what is being done."""


class RunProgress:
    """The lines of a run; they move on a terminal and are plain elsewhere."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.started_at = dispatch.started_at or time.monotonic()
        self.last_printed_at = time.monotonic()
        self.stopped = threading.Event()
        self.steps: dict[str, str] = {}
        self.titles: dict[str, str] = {}
        self.planned = 0
        self.announced: set[str] = set()
        self.activity = "Starting"
        self.live: Live | None = None

    def __enter__(self) -> RunProgress:
        if self.console.is_terminal:
            # One that is started again wipes out as many lines above as it had at its last end.
            self.live = Live(console=self.console, get_renderable=self._drawn, transient=True)
            self.live.start(refresh=True)
        else:
            self.stopped = threading.Event()
            threading.Thread(target=self._tick, args=[self.stopped], daemon=True).start()
        return self

    def _tick(self, over: threading.Event) -> None:
        """Say what is being done whenever nothing was said for a while."""
        while not over.wait(SILENCE / 10):
            if time.monotonic() - self.last_printed_at >= SILENCE:
                self.print_line(f"{self.activity} …")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let something else be printed, without the lines that move."""
        moving = self.live is not None and self.live.is_started
        if self.live:
            self.live.stop()
        yield
        if moving:
            self.__enter__()

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        if self.live:
            self.live.stop()

    def print_line(self, line: str) -> None:
        """Write one line that stays, with the seconds since the start."""
        self.last_printed_at = time.monotonic()
        seconds = Text(f"{self.last_printed_at - self.started_at:6.1f} s", "dim")
        text = Text(one_line(line), overflow="fold")
        if not self.console.is_terminal:
            self.console.print(Text.assemble(seconds, "  ", text), soft_wrap=True)
            return
        row = Table.grid(Column(no_wrap=True), padding=(0, 2))
        row.add_row(seconds, text)
        self.console.print(row)

    def set_activity(self, what: str) -> None:
        """Say what is being done now."""
        self.activity = one_line(what)

    def restart_clock(self, what: str) -> None:
        """Say what is being done now, with a clock of its own."""
        self.started_at = time.monotonic()
        self.set_activity(what)

    def on_event(self, event: dict[str, Any]) -> None:
        """Show an event of the run."""
        if "node" in event:
            self._ended(event["node"], event["update"] or {})
        elif event.get("event") == "researching":
            self.steps.setdefault(event["step"], "")
            self.titles[event["step"]] = one_line(event["title"])
            self.activity = self._researching()
        elif event.get("event") == "earlier_answer":
            earlier, choice = event["earlier"], event["choice"]
            known = f"Answered before, on {earlier['answered']} ({earlier['run']})"
            self.print_line(f"{known}: {CHOSEN[choice]}")
        elif event.get("event") == "researched":
            self._ended("researched", {})
        elif event.get("event") == "knowledge":
            self.print_line(f"Searching the knowledge bases: {', '.join(event['bases'])}")
        else:
            self.activity = SAID.get(str(event.get("event")), self.activity)

    def _ended(self, node: str, update: dict[str, Any]) -> None:
        for finding in (update.get("findings") or {}).values():
            if finding:  # One that is done again is taken out first.
                self._step(finding)
        self.planned = len((update.get("plan") or {}).get("steps", [])) or self.planned
        if node == "human_feedback":
            self.print_line(_decided(update))
        elif node == "planner" and not update:
            return
        elif node == "planner" or (node in STAGES and node not in self.announced):
            self.announced.add(node)
            self.print_line(STAGES[node])
        if node == "planner" and update.get("decision") == "approve":
            node = "human_feedback"
            self.print_line(_decided(update))
        if node == "human_feedback":
            again = update.get("decision") == "reject"
            self.activity = FOLLOWING["background"] if again else "Starting the steps"
        self.activity = FOLLOWING.get(node, self.activity)

    def _step(self, finding: dict[str, Any]) -> None:
        name = finding["step"]
        if name == MEMORY:
            self.print_line(f"{MARKS['ok']} {finding['title']}")
            return
        if self.steps.get(name):
            return
        self.steps[name] = mark = MARKS[finding["status"]]
        line, reason = f"{mark} {name}: {finding['title']}", finding["reason"]
        why = describe_reason(reason, finding["status"], "en") if reason else ""
        self.print_line(f"{line}: {why}" if why else line)
        self.activity = self._researching()

    def _researching(self) -> str:
        """Say which steps are at work, and how many of them have ended."""
        working = [name for name, mark in self.steps.items() if not mark]
        if not working:
            return "Seeing whether anything is missing"
        done, count = len(self.steps) - len(working), max(self.planned, len(self.steps))
        return f"Researching {', '.join(working)} ({done} of {count} done)"

    def _drawn(self) -> Group:
        seconds = int(time.monotonic() - self.started_at)
        table = Table.grid(padding=(0, 1))
        for name, mark in self.steps.items():
            if not mark:
                table.add_row("  ", Spinner("dots"), Text(f"{name}: {self.titles.get(name, '')}"))
        return Group(table, Spinner("dots", text=Text(f"{self.activity} … {seconds} s")))


def _decided(update: dict[str, Any]) -> str:
    """Return what came of a review."""
    return "Plan approved" if update.get("decision") in ("approve", "edit") else "Plan sent back"
