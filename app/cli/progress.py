"""Show on standard error how far a run is."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Column, Table
from rich.text import Text

from app.cli import dispatch
from app.cli.output import one_line
from config.errors import ErrorCode, Problem
from graph.records import MEMORY
from runs.progress_events import ProgressEvent, describe_left, describe_spending
from text.pluralization import pluralize

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

COUNTED = {
    "searching": ("search", "searches"),
    "reading": ("page read", "pages read"),
    "checked": ("citation checked", "citations checked"),
    "removed": ("sentence removed", "sentences removed"),
}
"""What is counted of a run, one and several."""

SUMS = {"sending": "So far", "writing": "So far", "answered": "Used"}
"""The events at which it is said what was used, and how long the rest takes."""

TOLD = ("search", "found", "read", "removed")
"""The kinds of events that are lines of their own where there is no terminal."""

DRAFT = "Draft, not checked yet:"
"""What stands above the last words of a report that is being written."""

DRAFT_LINES = 3
"""How many lines of it are shown."""

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
        self.doing: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.used = ""
        self.draft = ""
        self.live: Live | None = None

    @property
    def shows_draft(self) -> bool:
        """Whether the words of the report are shown while it is written."""
        return self.console.is_terminal

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
                self.print_line(f"{self.activity} …{self._in_brackets()}")

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
        self.started_at, self.used = time.monotonic(), ""
        self.counts.clear()
        self.set_activity(what)

    def on_event(self, event: dict[str, Any]) -> None:
        """Show an event of the run."""
        if "node" in event:
            self._ended(event["node"], event["update"] or {})
        elif "draft" in event:
            self.draft += event["draft"]
        elif "kind" in event:
            self.on_progress(cast("ProgressEvent", event))

    def on_progress(self, event: ProgressEvent) -> None:
        """Show what a run says of its progress."""
        name, step = event["event"], event["step"]
        told = (describe_spending(event["spent"], "en"), describe_left(event["left"], "en"))
        self.used = " · ".join(filter(None, told))
        if name in COUNTED:
            self.counts[name] += int(event["data"].get("count", 1))
        text = one_line(event["text"])
        if step and event["kind"] in (*TOLD, "check"):
            self.doing[step] = text
        self._say(event, text)
        if name in SUMS and self.used:
            self.print_line(f"{SUMS[name]}: {self.used}")

    def _say(self, event: ProgressEvent, text: str) -> None:
        name, data, step = event["event"], event["data"], event["step"]
        if name == "researching":
            self.steps.setdefault(step, "")
            self.titles[step] = one_line(data["title"])
            self.activity = self._researching()
        elif name == "earlier_answer":
            self.print_line(f"{text}: {CHOSEN[data['choice']]}")
        elif name == "researched":
            self._ended(name, {})
        elif name == "knowledge":
            self.print_line(text)
        elif event["kind"] in TOLD:
            self._detail(event, text)
        elif event["kind"] in ("stage", "check", "report") and not step:
            self.activity = SAID.get(name, self.activity)

    def _detail(self, event: ProgressEvent, text: str) -> None:
        """Write a line for what is searched, found, read or removed, where no lines move."""
        if not self.console.is_terminal or event["kind"] == "removed":
            self.print_line(f"{event['step']}: {text}" if event["step"] else text)

    def _in_brackets(self) -> str:
        """Return what was used and how long the rest takes, as far as that is known."""
        return f" ({self.used})" if self.used else ""

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
            self.draft = "" if node == "reporter" else self.draft
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
        from report.labels import describe_reason  # noqa: PLC0415 - it brings the database

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
        table = Table.grid(Column(), Column(), Column(overflow="fold"), padding=(0, 1))
        for name, mark in self.steps.items():
            if not mark:
                title = Text(f"{name}: {self.titles.get(name, '')}")
                doing = Text(f"\n{self.doing[name]}" if name in self.doing else "", "dim")
                table.add_row("  ", Spinner("dots"), title + doing)
        told = " · ".join(filter(None, (f"{self.activity} … {seconds} s", self.used)))
        counted = [pluralize(self.counts[name], *nouns) for name, nouns in COUNTED.items()]
        counts = Text(f"  {' · '.join(counted)}" if self.counts else "", "dim")
        return Group(*self._drawn_draft(), table, Spinner("dots", text=Text(told)), counts)

    def _drawn_draft(self) -> list[Text]:
        """Return the last lines of a report that is being written."""
        # The first paragraph only says that it is a draft.
        written = self.draft.partition("\n\n")[2].strip()
        if not written:
            return []
        wrapped = Text(written[-2_000:], "dim").wrap(self.console, max(self.console.width - 2, 20))
        lines = [line for line in wrapped if line.plain.strip()][-DRAFT_LINES:]
        return [Text(DRAFT, "dim"), *(Text("  ") + line for line in lines)]


class EventLines(RunProgress):
    """The events of a run as lines of JSON, for programs; what else is said is a note."""

    shows_draft = False

    def __enter__(self) -> EventLines:
        return self

    def print_line(self, line: str) -> None:
        """Write a line as an event of its own kind."""
        self._write({"kind": "note", "text": one_line(line)})

    def restart_clock(self, what: str) -> None:
        """Say what is being done now; the clock of the command goes on."""
        self.set_activity(what)

    def on_event(self, event: dict[str, Any]) -> None:
        """Write an event of the run."""
        if "kind" in event:
            self._write(event)

    def _write(self, event: dict[str, Any]) -> None:
        """Write an event with the seconds of the command; a run counts only its own."""
        event = {**event, "seconds": round(time.monotonic() - self.started_at, 2)}
        self.console.file.write(f"{json.dumps(event)}\n")
        self.console.file.flush()


PROGRESS_FORMS = ("auto", "plain", "json", "off")
"""How progress is shown: moving lines on a terminal, plain ones, JSON, or not at all."""


def make_progress(form: str = "auto") -> RunProgress:
    """Return what shows the progress of a run on standard error.

    Args:
        form: One of `PROGRESS_FORMS`; `auto` is plain without a terminal.

    Raises:
        Problem: `usage` for any other.
    """
    if form not in PROGRESS_FORMS:
        what = f"there is no form of progress {form!r}"
        raise Problem(ErrorCode.USAGE, what, hint=f"one of {', '.join(PROGRESS_FORMS)}")
    if form == "json":
        return EventLines(Console(stderr=True))
    if form == "plain":
        return RunProgress(Console(stderr=True, force_terminal=False))
    return RunProgress(Console(stderr=True, quiet=form == "off"))


def _decided(update: dict[str, Any]) -> str:
    """Return what came of a review."""
    return "Plan approved" if update.get("decision") in ("approve", "edit") else "Plan sent back"
