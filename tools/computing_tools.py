"""The tools with which a model computes: plain arithmetic, and programs in the sandbox."""

from __future__ import annotations

from langchain.tools import ToolRuntime, tool

from calls.call_context import CallContext
from calls.ledger import ActionRecord, defer_actions
from config.errors import Problem
from prompts.data_blocks import escape_tags, join_prompt_blocks, render_block, render_pages_block
from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from text.normalization import drop_unstorable
from tools.arithmetic import evaluate
from tools.computations import (
    CodeResult,
    can_run_code,
    has_succeeded,
    run_code,
    store_computation,
)
from tools.computed_pages import COMPUTATION
from tools.evidence import Evidence
from tools.printed_lines import drop_repeated_lines
from tools.run_inputs import list_run_inputs, select_named_inputs

MAX_CODE = 20_000
"""The most characters of a program."""

MAX_ERROR = 2_000
"""So many characters of the end of an error are shown."""

Runtime = ToolRuntime[CallContext]


@tool("compute")
async def compute_tool(expression: str, runtime: Runtime) -> str:
    """Work out an expression of plain arithmetic."""
    around = runtime.context
    language = around.language if around.system else "en"
    try:
        value = evaluate(expression)
    except Problem as problem:
        return escape_tags(render_prompt("not_arithmetic", language=language, why=problem.what))
    shown = str(value) if isinstance(value, int) else f"{value:.12g}"
    equation = f"{' '.join(expression.split())} = {shown}"
    defer_actions(around.site, around.role, COMPUTATION, [ActionRecord(equation)])
    hint = render_prompt("write_calculation", language=language)
    return join_prompt_blocks(escape_tags(equation), hint)


@tool("run_python")
async def run_python_tool(code: str, runtime: Runtime) -> str:
    """Run a program over copies of the inputs of the step; what it prints can be cited."""
    around = runtime.context
    language = around.language
    if not await can_run_code():
        return render_prompt("no_sandbox", language=language)
    # What is recorded of a program must be what is run.
    code = drop_unstorable(code)
    if len(code) > MAX_CODE:
        return render_prompt("code_too_long", language=language, limit=f"{MAX_CODE:,}")
    every = await list_run_inputs(around.site, around.choices, around.sources, bases=around.bases)
    inputs = select_named_inputs(code, every)
    try:
        result = await run_code(around.site, around.role, code, inputs)
    except Problem as problem:
        return escape_tags(render_prompt("tool_refused", language=language, why=problem.what))
    if not has_succeeded(result) or not (result["stdout"].strip() or result["files"]):
        return _explain_failure(result, language)
    if not (result["files"] or drop_repeated_lines(code, result["stdout"], reads=bool(inputs))):
        return render_prompt("code_repeats", language=language)
    made = await store_computation(around.site, _title(around), language, code, inputs, result)
    sources = {made.source["id"]: made.source}
    around.sources.update(sources)
    around.tool_results.append(Evidence([made.passage], sources, []))
    return render_pages_block([made.passage], sources)


def _title(around: CallContext) -> str:
    """Return the title of the step that computes, or the question."""
    step = around.about.removeprefix(around.question).strip()
    return (step or around.question).partition("\n")[0]


def _explain_failure(result: CodeResult, language: str) -> str:
    """Return why a program has no result; its error is data like any other."""
    if result["stopped"]:
        return render_prompt("code_stopped", language=language, limit=result["stopped"])
    if has_succeeded(result):
        return render_prompt("code_silent", language=language)
    told = cut_injections(result["stderr"].strip()[-MAX_ERROR:])
    failed = render_prompt("code_failed", language=language)
    return join_prompt_blocks(failed, render_block("error", told))


COMPUTING_TOOLS = (run_python_tool, compute_tool)
"""What a coder may use."""
