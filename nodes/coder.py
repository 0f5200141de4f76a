"""Do a step that computes: a model writes programs, which run in the sandbox."""

from __future__ import annotations

import asyncio

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from calls.gateway import work
from calls.run_budget import step_semaphore
from calls.run_progress import show_step_progress
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.records import Passage
from graph.state import StepState
from library.uploaded_files import with_uploads
from models.chat_models import built_in
from nodes.step_finding import (
    StepAnswer,
    apply_checks,
    check_answer,
    end_step,
    load_read_passages,
    make_finding,
    render_revision_blocks,
)
from nodes.step_pause import end_or_pause, open_human_input
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_findings_block,
    render_pages_block,
    render_step_block,
)
from prompts.loader import render_prompt
from report.findings import render_earlier_block, render_open_block
from runs.call_site import CallSite, call_site
from tools.computations import can_run_code
from tools.computed_pages import record_direct_answer
from tools.input_descriptions import describe_run_inputs
from tools.mcp.mcp_tools import prepare_server_tools
from tools.reading_choice import list_spans
from tools.run_files import RunFile, list_base_files, list_folder_files
from tools.run_inputs import list_run_inputs
from tools.source_checks import preparing_checks
from tools.tables.table_answers import (
    TableAnswers,
    answer_table_question,
    find_candidate_tables,
)
from tools.toolbox import CODER_TOOLS

CODER = "coder"
"""The role that writes programs."""

NOT_COMPUTED = "not_computed"
"""The code of a question over tables that could not be read in one way; the reason follows."""


async def coder(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Do a step that computes.

    A model writes programs, and cites what they print. Without a model, or without a sandbox, the
    step is done if its title or description is a question over one table that rules can read. A
    program is never run outside the sandbox.

    Reads `question`, `step`, `needed`, `earlier`, `feedback`, `read`, `upheld`, `sources`, `pause`,
    `consulted`; writes `finding`, `read`, `sources`, `unsearched`, `draft`, `removed`, `doubted`,
    `consulted`, or `pauses` where a tool needs the person. A step that fails has a finding that
    says so, with the code `sandbox_unavailable` where there is no sandbox.
    """
    place = call_site(state, runtime)
    try:
        async with step_semaphore(place, runtime.context.parallelism):
            update = await _compute(state, runtime, place)
    except Problem as problem:
        update = await end_step(state, runtime, place, problem, [])
    # A step that is done again begins anew.
    return update | StepState(pause=None)


async def _compute(state: StepState, runtime: Runtime[Context], place: CallSite) -> StepState:
    show_step_progress(state, "researching")
    by_rules = built_in(CODER, runtime.context)
    if not by_rules and await can_run_code():
        return await _write(state, runtime, place)
    answered = await _answer_by_rules(state, runtime, place)
    if answered["finding"]["status"] == "ok" or by_rules:
        return answered
    return StepState(finding=make_finding(state, "failed", ErrorCode.SANDBOX_UNAVAILABLE))


async def _write(state: StepState, runtime: Runtime[Context], place: CallSite) -> StepState:
    """Let the model compute and write the finding; keep what its sources support."""
    passages = await load_read_passages(place.owner, state)
    human = await open_human_input(state, runtime.context)
    request, _ = await asyncio.gather(
        _render_request(state, runtime, place, passages),
        prepare_server_tools(place.owner, runtime.context, CODER),
    )
    async with preparing_checks(place, runtime.context, CODER, state["sources"]):
        written = await work(
            state,
            runtime,
            CODER,
            render_prompt(CODER, language=state["language"]),
            [HumanMessage(request)],
            CODER_TOOLS,
            sources=state["sources"],
            human=human,
            # The built-in model writes no programs.
            fallback=False,
        )
    return await end_or_pause(StepAnswer(state, runtime, CODER, written, human, passages, []))


async def _render_request(
    state: StepState, runtime: Runtime[Context], place: CallSite, passages: list[Passage]
) -> str:
    """Return the request: the question, what is there to compute with, and the step."""
    bases = state.get("bases", [])
    inputs = await list_run_inputs(
        place, runtime.context, state["sources"], bases=bases, described=True
    )
    return join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("inputs", await describe_run_inputs(inputs, state["language"])),
        render_pages_block(passages, state["sources"]),
        render_findings_block(state["needed"], "needs"),
        render_open_block(state["needed"]),
        render_earlier_block(state.get("earlier", [])),
        render_step_block(state["step"]),
        *(render_revision_blocks(state) if state["feedback"] else []),
    )


async def _answer_by_rules(
    state: StepState, runtime: Runtime[Context], place: CallSite
) -> StepState:
    """Answer a step that is a question over one table, as rules read it."""
    step = state["step"]
    roots = await with_uploads(place.owner, place.thread, runtime.context.files)
    files = await list_folder_files(place.owner, roots)
    files += await list_base_files(place.owner, state.get("bases", []))
    answers: TableAnswers | None = None
    for asked in dict.fromkeys([step["title"], *step["queries"], step["description"]]):
        found = await _ask_tables(state, runtime, place, files, asked) if asked else None
        answers = found or answers
        if answers and answers.whole:
            break
    if answers is None or not answers.computed:
        why = answers.uncomputed[0].why if answers and answers.uncomputed else ""
        return StepState(
            finding=make_finding(state, "failed", f"{NOT_COMPUTED}: {why}".rstrip(": "))
        )
    answer = await record_direct_answer(place, answers.computed)
    sources = {**state["sources"], **answer.sources}
    text = "\n\n".join(f"{one['text']} [{one['source']}]" for one in answer.passages)
    checked = await check_answer(state | StepState(sources=sources), runtime, CODER, text)
    finding = apply_checks(state, make_finding(state, "ok", ""), checked)
    if answers.uncomputed:
        reason = f"{NOT_COMPUTED}: {answers.uncomputed[0].why}"
        finding = finding | {"status": "partial", "reason": reason}
    return StepState(
        finding=finding,
        read=list_spans(answer.passages, sources),
        sources=sources,
        draft=text,
        removed=checked.removed,
        doubted=checked.doubted,
    )


async def _ask_tables(
    state: StepState, runtime: Runtime[Context], place: CallSite, files: list[RunFile], asked: str
) -> TableAnswers | None:
    candidates = await find_candidate_tables(files, asked)
    return await answer_table_question(place, runtime.context, candidates, asked, state["language"])
