"""What a check of a report found: its result, where, and what each sentence was told."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

CheckStatus = Literal["ok", "partly", "warning", "failed", "not_checked"]
"""`partly`: nothing is wrong in what could be checked, and some of it could not be."""

CHECK_TITLES = {
    "C1": "Markers lead to a source",
    "C2": "Sources are there",
    "C3": "Addresses are those of sources",
    "C4": "The list has what is cited",
    "C5": "No source is listed twice",
    "C6": "Quotations are word for word",
    "C7": "Cited sources are the right ones",
    "C8": "Numbers are in the sources",
    "C9": "Numbers have a source",
    "C10": "Names are in the sources",
    "C11": "Every step of the plan is there",
    "C12": "One language, nothing left over",
    "C13": "The text is complete",
    "C14": "Tables are whole and add up",
    "C15": "Sources are of several sites",
    "C16": "“Latest” rests on recent sources",
    "C17": "Sources do not contradict it",
    "C18": "Nothing is run or loaded",
    "C19": "The same again",
}
"""What each check is about, by its id."""

WARNING_ONLY = frozenset(["C10", "C15", "C16", "C17"])
"""Checks whose findings are told and fail no report."""


@dataclass(frozen=True)
class CheckFinding:
    """Something that a check found."""

    check: str
    line: int
    """The line of the report, from 1; 0 for the report as a whole."""
    what: str
    text: str = ""
    """The words of the report that it is about."""
    warning: bool = False
    """Whether it is told without failing the report."""


@dataclass
class CheckResult:
    """The result of one check.

    Attributes:
        id: `C1` to `C19`.
        checked: How many things were compared.
        unchecked: How many could not be.
        reason: Why not.
        note: A figure to show, such as a share.
    """

    id: str
    checked: int = 0
    unchecked: int = 0
    reason: str = ""
    note: str = ""
    findings: list[CheckFinding] = field(default_factory=list)

    @property
    def status(self) -> CheckStatus:
        """What became of it."""
        if any(not one.warning for one in self.findings):
            return "failed"
        if self.findings:
            return "warning"
        if not self.checked:
            return "not_checked"
        return "partly" if self.unchecked or self.reason else "ok"

    def add(self, line: int, what: str, text: str = "", *, warning: bool = False) -> None:
        """Record something that was found."""
        warned = warning or self.id in WARNING_ONLY
        self.findings.append(CheckFinding(self.id, line, what, text, warned))

    def skip(self, reason: str, count: int = 1) -> None:
        """Record that something could not be checked, and why; the first reason is shown."""
        self.unchecked += count
        self.reason = self.reason or reason


@dataclass(frozen=True)
class SentenceResult:
    """What the checks found in one sentence or row of a table."""

    line: int
    text: str
    cited: list[str]
    """The labels of the sources that it cites."""
    status: Literal["ok", "warning", "failed", "not_checked"]
    findings: list[str]


@dataclass(frozen=True)
class Verification:
    """The results of all checks of a report."""

    style: str
    words: int
    references: int
    matched: int
    """References whose document was given."""
    checks: list[CheckResult]
    sentences: list[SentenceResult]

    @property
    def failed(self) -> bool:
        """Whether a check failed."""
        return any(one.status == "failed" for one in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """Return the results as plain data."""
        checks = [
            {"status": one.status, "title": CHECK_TITLES[one.id], **asdict(one)}
            for one in self.checks
        ]
        head = {"failed": self.failed, "style": self.style, "words": self.words}
        counts = {"references": self.references, "matched": self.matched}
        sentences = [asdict(one) for one in self.sentences]
        return {**head, **counts, "checks": checks, "sentences": sentences}
