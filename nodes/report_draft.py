"""A report while a model writes it: its text, its notices, and why a part of it is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from calls.attempts import FailedRole
from calls.gateway import WorkResult, work
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.records import Step
from graph.state import State
from models.chat_models import model_for_role
from models.faults import raise_if_fatal
from prompts.loader import render_prompt
from text.regex import regex
from text.script import CJK

CONTINUATIONS = 3
"""How often a report that was cut off is continued."""

_UNSPACED = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]$")
"""The end of a text that takes no space after it: a Chinese character or punctuation mark."""


PART_PREFIX = "report."
"""The prefix of the steps at which parts of a report are written; no step of a plan has a dot."""

CORRECTION_PART = "correction"
"""The part that corrects what the checks took out of a report."""


def site_of_part(state: State, name: str) -> dict[str, Any]:
    """Return a state from which a part of the report has a call site of its own.

    No step of a plan has a full stop in its id. Without a title, the part is told the same of the
    memory as the whole, so that requests begin alike.
    """
    step = Step(
        id=f"{PART_PREFIX}{name}",
        title="",
        description="",
        kind="research",
        queries=[],
        needs=[],
        need_web_search=False,
    )
    return {**state, "step": step}


@dataclass
class ReportDraft:
    """The text of the model, the notices for its readers, and the id it was streamed with.

    The finished report takes that id, so that it replaces the streamed text.
    """

    text: str = ""
    notices: list[str] = field(default_factory=list)
    limit: str = ""
    """The limit of the run that was reached, or ""."""
    cut_by: str = ""
    """The limit of the run that cut the text off; "" for the limit of the model."""
    uncertainty: str = ""
    """What an uncertain answer lacks."""
    problem: Problem | None = None
    """Why the model did not write the text, or only a part of it."""
    missing_parts: list[str] = field(default_factory=list)
    """The titles of the parts that the model did not write."""
    second_reader_error: str = ""
    """The code of the problem that kept the second reader from reading it."""
    unread_count: int = 0
    """How many of its sentences were not shown to the second reader."""
    failed_role: FailedRole | None = None
    """The role whose failure may be why nothing was found."""
    quotes: bool = False
    """Whether it consists of quotations, which answer fewer questions."""
    id: str = field(default_factory=lambda: str(uuid4()))

    def append_text(self, text: str) -> None:
        """Append another part; a heading or a list starts a new paragraph."""
        starts_block = text.startswith(("#", "-", "|", "*", "1."))
        separator = "\n\n" if starts_block else "" if _UNSPACED.search(self.text) else " "
        self.text = f"{self.text}{separator}{text}".strip()

    def add_notice(self, notice: str) -> None:
        """Add a notice unless it is there already."""
        if notice not in self.notices:
            self.notices.append(notice)

    def note_writer(self, written: WorkResult, model: str) -> None:
        """Record which model wrote a part, and how sure it is.

        Args:
            written: What was written.
            model: The model that was to write it.
        """
        if is_extractive(written.model):
            self.quotes = True
        if is_extractive(model):
            self.add_notice("extractive")
        self.problem = written.fallback_reason or self.problem
        if written.uncertainty is not None:
            self.uncertainty = written.uncertainty
            self.add_notice("unsure")

    def note_problem(self, problem: Problem) -> None:
        """Record the problem that kept the model from writing or continuing the text."""
        spent = problem.where if problem.code == ErrorCode.BUDGET_SPENT else ""
        self.cut_by = self.cut_by or spent
        if self.text:
            self.note_cut()
        elif spent:
            self.limit, self.notices = spent, ["budget"]
        else:
            self.add_notice("no_model")
        self.problem = None if spent else problem

    def note_cut(self) -> None:
        """Record which limit cut the text off: one of the run, or that of the model."""
        self.limit = self.cut_by or self.limit
        self.add_notice("capped_text" if self.cut_by else "cut")

    def note_missing_part(self, title: str, problem: Problem) -> None:
        """Record a part that the model did not write, and why."""
        self.missing_parts.append(title)
        self.add_notice("sections")
        if problem.code == ErrorCode.BUDGET_SPENT:
            self.limit = problem.where
        else:
            self.problem = problem


async def write_at_once(
    draft: ReportDraft, state: State, runtime: Runtime[Context], system: str, request: str
) -> None:
    """Let the model write the whole text in one answer, and continue one that was cut off."""
    model = model_for_role("reporter", runtime.context)
    messages: list[AnyMessage] = [HumanMessage(request)]
    try:
        for _ in range(1 + CONTINUATIONS):
            written = await work(state, runtime, "reporter", system, messages, message_id=draft.id)
            text = written.text if written.complete else clip_to_sentence(written.text)
            draft.append_text(text)
            draft.note_writer(written, model)
            if written.complete:
                break
            draft.cut_by = written.cap
            go_on = render_prompt("continue", language=state["language"])
            messages += [AIMessage(text), HumanMessage(go_on)]
        else:
            draft.note_cut()
    except Problem as problem:
        raise_if_fatal(problem)
        draft.note_problem(problem)


def clip_to_sentence(text: str) -> str:
    """Cut an incomplete text after its last whole sentence."""
    ends = max(text.rfind(mark) for mark in (". ", "? ", "! ", "。", "！", "？", "\n", "]"))
    return text[: ends + 1].rstrip() if ends > 0 else text
