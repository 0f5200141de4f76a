"""Write a long report: an outline, its sections side by side, and one pass over the whole."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.gateway import ask, work
from calls.replies import VisibleText
from calls.run_progress import show_progress
from calls.streaming import show_text
from config.errors import Problem
from graph.context import Context
from graph.records import Finding, Source
from graph.state import State
from models.chat_models import model_for_role
from models.extractive.schema_answers import extractive_answer
from models.faults import raise_if_fatal
from nodes.report_draft import ReportDraft, clip_to_sentence, site_of_part
from nodes.report_request import (
    EvidenceRequest,
    ReportSize,
    list_open_points,
    render_contradictions,
    render_evidence,
    render_report_figures,
    render_rules,
    render_style,
)
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_cited_block,
    render_findings_block,
    render_sources_block,
    wrap_blocks,
)
from prompts.loader import render_prompt
from report.findings import list_findings, select_earlier_findings
from report.labels import get_label
from report.section_assembly import (
    WrittenSection,
    drop_repeated,
    join_report,
    order_sections,
    strip_leading_heading,
    unify_terms,
)
from text.tokens import estimate_tokens

LEAST_SECTIONS = 3
EVIDENCE_SHARE = 0.5
"""The share of the usual limit of passages that the request for one section has."""

SECTION_WORDS = (250, 900)
"""The fewest and the most words that a section is asked for."""

CHINESE_CHARS_PER_WORD = 2
"""About how many Chinese characters say what an English word says."""


class PlannedSection(BaseModel):
    """A section of an outline."""

    title: VisibleText
    says: str = ""
    findings: list[str] = []


# Without a section, the report is written in one answer, as the extractive model does.
@extractive_answer(lambda _: {"sections": []})
class ReportOutline(BaseModel):
    """The sections of a report."""

    sections: list[PlannedSection]


class TermChange(BaseModel):
    """A term that a report uses for the same thing as another one."""

    replace: str
    by: str


@extractive_answer(lambda _: {"opening": ""})
class WholePass(BaseModel):
    """What completes a report that was written in sections."""

    opening: str
    assessment: str = ""
    not_known: list[str] = []
    order: list[int] = []
    repeated: list[str] = []
    terms: list[TermChange] = []


class _SectionTask(NamedTuple):
    """A section that is to be written."""

    number: int
    title: str
    says: str
    found: list[Finding]


async def write_in_sections(
    draft: ReportDraft,
    state: State,
    runtime: Runtime[Context],
    sources: Mapping[str, Source],
    size: ReportSize,
) -> bool:
    """Write a report in sections; return False, with nothing written, if there is no outline.

    A section that the model does not write is made of its findings, and so is lost to nobody.
    """
    show_progress(state, "outlining")
    tasks = await _outline(state, runtime, size)
    if len(tasks) < 2:
        return False
    show_progress(state, "sections", count=len(tasks))
    words = min(max(size.words // len(tasks), SECTION_WORDS[0]), SECTION_WORDS[1])
    section = _SectionWriter(draft, state, runtime, sources, tasks, words)
    written = await asyncio.gather(*map(section.write, tasks))
    if len(draft.missing_parts) == len(tasks):
        draft.missing_parts, draft.problem = [], None
        draft.notices.remove("sections")
        return False
    draft.text = await _complete(draft, state, runtime, written)
    return True


async def _outline(state: State, runtime: Runtime[Context], size: ReportSize) -> list[_SectionTask]:
    """Return the sections of the report; none if the model gives no outline."""
    found = list_findings(state)
    earlier = select_earlier_findings(state, state["question"])
    most = min(size.most_sections, max(LEAST_SECTIONS, len(found) + 1))
    tongue = render_style(state, runtime.context)["tongue"]
    system = render_prompt(
        "report_outline", language=state["language"], least=LEAST_SECTIONS, most=most, tongue=tongue
    )
    request = join_prompt_blocks(
        render_block("question", state["question"]),
        render_sources_block([*found, *earlier], state.get("sources", {})),
        render_findings_block([*found, *earlier]),
        render_block("gaps", "\n".join(list_open_points(state))),
    )
    at = site_of_part(state, "outline")
    try:
        outline = await ask(at, runtime, "reporter", system, [HumanMessage(request)], ReportOutline)
    except Problem as problem:
        raise_if_fatal(problem)
        return []
    return _plan_tasks(outline.sections[:most], found, earlier)


def _plan_tasks(
    planned: Sequence[PlannedSection], found: Sequence[Finding], earlier: Sequence[Finding]
) -> list[_SectionTask]:
    """Return the tasks of an outline; findings that it left out have sections of their own."""
    titled = [one for one in planned if one.title.strip()]
    if not titled:
        return []
    named = {name for one in titled for name in one.findings}
    known = [*found, *earlier]
    parts = [
        (one.title.strip(), one.says, [item for item in known if item["step"] in one.findings])
        for one in titled
    ]
    parts += [(item["title"], "", [item]) for item in found if item["step"] not in named]
    return [
        _SectionTask(number, title, says, items)
        for number, (title, says, items) in enumerate((part for part in parts if part[2]), start=1)
    ]


class _SectionWriter:
    """Writes the sections of one report."""

    def __init__(
        self,
        draft: ReportDraft,
        state: State,
        runtime: Runtime[Context],
        sources: Mapping[str, Source],
        tasks: Sequence[_SectionTask],
        words: int,
    ) -> None:
        self.draft, self.state, self.runtime, self.sources = draft, state, runtime, sources
        self.outline = "\n".join(f"{one.number}. {one.title}: {one.says}" for one in tasks)
        style, language = render_style(state, runtime.context), state["language"]
        most = words * CHINESE_CHARS_PER_WORD if language == "zh" else words
        self.values = {"words": int(most), **style}

    async def write(self, task: _SectionTask) -> WrittenSection:
        """Return a section, and show it; if the model fails, it consists of its findings."""
        try:
            text = await self.ask_model(task)
        except Problem as problem:
            raise_if_fatal(problem)
            self.draft.note_missing_part(task.title, problem)
            text = "\n\n".join(finding["text"] for finding in task.found)
        section = WrittenSection(task.title, text)
        show_text(f"## {section.title}\n\n{section.text}\n\n", self.draft.id)
        return section

    async def ask_model(self, task: _SectionTask) -> str:
        """Return the text that the model writes for a section.

        Raises:
            Problem: What `work` raises.
        """
        at = site_of_part(self.state, str(task.number))
        cited = [name for one in task.found for name in one["sources"]]
        figures = await render_report_figures(self.state, self.runtime, self.sources, cited)
        system = self.render_system(has_figures=bool(figures))
        messages = [HumanMessage(await self.request(task, figures))]
        written = await work(at, self.runtime, "reporter", system, messages)
        self.draft.note_writer(written, model_for_role("reporter", self.runtime.context))
        text = strip_leading_heading(written.text)
        if written.complete:
            return text
        self.draft.cut_by = written.cap or self.draft.cut_by
        self.draft.note_cut()
        return clip_to_sentence(text)

    def render_system(self, *, has_figures: bool) -> str:
        """Return the instructions for a section, about figures only if it has some."""
        language = self.state["language"]
        rules = render_rules(language, has_figures=has_figures)
        return render_prompt("report_section", language=language, rules=rules, **self.values)

    async def request(self, task: _SectionTask, figures: str) -> str:
        """Return the request for a section; what all sections share comes first.

        Args:
            task: The section.
            figures: The block of the figures that it can show.
        """
        sources = self.state.get("sources", {})
        before = join_prompt_blocks(
            render_block("question", self.state["question"]),
            render_block("outline", self.outline),
            render_block("section", f"{task.title}\n{task.says}", number=task.number),
            render_sources_block(task.found, sources),
            render_findings_block(task.found),
            await render_contradictions(self.state, self.runtime, task.found),
            figures,
        )
        wanted = EvidenceRequest(task.found, self.sources, estimate_tokens(before), EVIDENCE_SHARE)
        evidence = await render_evidence(self.state, self.runtime, wanted)
        return join_prompt_blocks(before, evidence)


async def _complete(
    draft: ReportDraft,
    state: State,
    runtime: Runtime[Context],
    sections: Sequence[WrittenSection],
) -> str:
    """Return the whole report: its sections, with what one pass over them adds and sets right."""
    show_progress(state, "completing")
    style, language = render_style(state, runtime.context), state["language"]
    system = render_prompt("report_whole", language=language, **style)
    messages = [HumanMessage(_render_sections(state, sections))]
    at = site_of_part(state, "whole")
    try:
        whole = await ask(at, runtime, "reporter", system, messages, WholePass)
    except Problem as problem:
        raise_if_fatal(problem)
        draft.note_missing_part(get_label("answer_part", language), problem)
        return join_report("", sections, "", [], language)
    ordered = order_sections(sections, whole.order)
    texts = drop_repeated(ordered, whole.repeated)
    ordered = [one._replace(text=text) for one, text in zip(ordered, texts, strict=True)]
    text = join_report(whole.opening, ordered, whole.assessment, whole.not_known, language)
    return unify_terms(text, [(one.replace, one.by) for one in whole.terms])


def _render_sections(state: State, sections: Sequence[WrittenSection]) -> str:
    """Return the request for the pass over the whole report."""
    marked = (
        render_cited_block("section", text, number=number, title=title)
        for number, (title, text) in enumerate(sections, start=1)
    )
    lacking = [gap for one in list_findings(state) for gap in one.get("not_found", [])]
    return join_prompt_blocks(
        render_block("question", state["question"]),
        wrap_blocks("draft", marked),
        render_block("not_found", "\n".join(lacking)),
        render_block("gaps", "\n".join(list_open_points(state))),
    )
