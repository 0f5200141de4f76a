"""dossier eval drb: score reports by DeepResearch Bench, or let Dossier write them first."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from rich.table import Column, Table

from app.cli.choices import read_choices
from app.cli.dispatch import Invocation
from app.cli.eval_runs import progress_bars
from app.cli.event_loop import run_and_close
from app.cli.output import confirm
from app.cli.question_run import NOTHING_HINT, load_model_names
from app.cli.table import make_table
from config.errors import ErrorCode, ErrorKind, Problem
from config.model_table import is_extractive
from evals.deep_research_bench.benchmark_data import (
    BenchmarkData,
    BenchmarkTask,
    read_articles,
    read_benchmark,
)
from evals.deep_research_bench.benchmark_runs import answer_tasks, task_context
from evals.deep_research_bench.call_estimate import (
    EvaluationPlan,
    StageCost,
    drop_answered,
    plan_calls,
    sum_by_stage,
)
from evals.deep_research_bench.evaluation import RACE_LABELS, Evaluation, EvaluationFiles
from evals.deep_research_bench.judge_calls import ROLE, Judge
from evals.retrieval_eval import open_own_store
from graph.context import Context
from models.chat_models import list_unpriced_models, load_chat_model, model_for_role
from text.pluralization import pluralize
from tools.web.provider_choice import list_run_providers

OWN_REPORTS = "raw_data/{}.jsonl"
"""The file of the reports that Dossier writes, as the benchmark has it."""

JUDGE_WINDOW = "131072"
"""How many tokens a judge is taken to read where its model is unknown: two reports, or a page."""

WINDOW_VARIABLE = "DOSSIER_CONTEXT_TOKENS"


@dataclass
class BenchmarkRequest:
    """What a person asks for."""

    data: BenchmarkData
    out: Path
    name: str
    parallel: int
    choices: dict[str, Any]
    reports: dict[str, str] = field(default_factory=dict)
    """The reports that exist, by the prompts of their tasks."""
    awaited: list[BenchmarkTask] = field(default_factory=list)
    race: str = ""
    """The judge of RACE, as `provider:name`; "" to leave it out."""
    fact: str = ""
    skip_cleaning: bool = False
    make_criteria: bool = False
    retry_failed: bool = False

    def plan(self) -> EvaluationPlan:
        """Return what is to be judged; it belongs to one event loop."""
        gate = asyncio.Semaphore(self.parallel)
        race, fact = (
            Judge(model, gate, retry_failed=self.retry_failed) if model else None
            for model in (self.race, self.fact)
        )
        return EvaluationPlan(
            self.data,
            self.reports,
            self.awaited,
            race,
            fact,
            skip_cleaning=self.skip_cleaning,
            write_criteria=self.make_criteria,
        )


def run_deep_research_bench(
    *,
    folder: Path,
    reports: Path | None,
    name: str,
    out: Path,
    judge: str,
    fact_judge: str,
    only: str,
    language: str,
    limit: int | None,
    parallel: int,
    reference: Path | None,
    skip_cleaning: bool,
    make_criteria: bool,
    retry_failed: bool,
    choice: list[str] | None,
    dry_run: bool,
    yes: bool,
    invocation: Invocation,
) -> int:
    """Score reports by RACE and FACT; return the exit status.

    Raises:
        Problem: `file_not_found`, `corpus_line`, `corpus_empty`, `unknown_model`,
            `model_key_missing`, `nothing_to_search`, `eval_unconfirmed`, or what a choice lacks.
    """
    _check_words({"--only": (only, ("race", "fact")), "--language": (language, ("en", "zh"))})
    data = read_benchmark(folder, language, limit, reference)
    called = name or (reports.stem if reports else "dossier")
    request = BenchmarkRequest(data, out.absolute(), called, parallel, _read_choices(choice or []))
    request.skip_cleaning, request.make_criteria = skip_cleaning, make_criteria
    request.retry_failed = retry_failed
    request.race, request.fact = _choose_judges(judge, fact_judge, only)
    _find_reports(request, reports)
    return _evaluate(request, invocation, dry_run=dry_run, yes=yes)


def _evaluate(
    request: BenchmarkRequest, invocation: Invocation, *, dry_run: bool, yes: bool
) -> int:
    """Show what it will cost, do it if a person agrees, and print what came out."""
    _leave_out_race(request)
    lines = _describe_missing(request)
    stages = _estimate(request)
    costs, runs = _render_costs(stages), _describe_runs(request)
    if dry_run:
        figures = {"stages": [one._asdict() for one in stages], "missing": lines}
        invocation.print_result({**figures, "runs": len(request.awaited)}, *lines, costs, *runs)
        return 0
    asyncio.run(_check_models(request))
    for line in (*lines, *(_plain_lines(stages)), *runs):
        print(line, file=sys.stderr)
    needed = bool(request.awaited) or any(one.calls for one in stages)
    if needed and not yes and not confirm("Go on?", ErrorCode.EVAL_UNCONFIRMED):
        return 0
    failed = _write_reports(request) if request.awaited else {}
    figures = _judge(request) | ({"runs_failed": failed} if failed else {})
    if lines:
        figures["missing"] = lines
    files = EvaluationFiles(request.out, request.name)
    files.write_text("results/{name}.json", json.dumps(figures, ensure_ascii=False, indent=2))
    invocation.print_result(figures, *_render_figures(figures), *_render_sums(figures, request))
    return ErrorKind.PARTIAL.exit_status if _has_failures(figures) else 0


def _check_words(given: Mapping[str, tuple[str, tuple[str, ...]]]) -> None:
    """Refuse options that are none of the words they may be.

    Raises:
        Problem: `usage`.
    """
    for option, (value, allowed) in given.items():
        if value and value not in allowed:
            hint = f"{' or '.join(allowed)}, or leave it out"
            raise Problem(ErrorCode.USAGE, f"{option} is not {value!r}", hint=hint)


def _read_choices(choices: list[str]) -> dict[str, Any]:
    return read_choices(choices, yes=False, review=False, quick=False, named={})


def _choose_judges(judge: str, fact_judge: str, only: str) -> tuple[str, str]:
    """Return the models that judge by RACE and by FACT; "" for what is left out.

    Raises:
        Problem: `model_key_missing` where it would be the built-in one.
    """
    usual = judge or model_for_role(ROLE, Context())
    race, fact = usual if only != "fact" else "", fact_judge or usual
    fact = "" if only == "race" else fact
    if is_extractive(race) or is_extractive(fact):
        hint = "--judge provider:name, with the key of the provider"
        what = "the built-in model cannot judge a report"
        raise Problem(ErrorCode.MODEL_KEY_MISSING, what, hint=hint)
    return race, fact


def _find_reports(request: BenchmarkRequest, reports: Path | None) -> None:
    """Read the reports that exist, and note the tasks for which Dossier will write one.

    Raises:
        Problem: `file_not_found`, `corpus_line` or `corpus_empty`.
    """
    tasks, own = request.data.tasks, request.out / OWN_REPORTS.format(request.name)
    source = reports or own
    found = read_articles(source, tasks) if reports or own.exists() else {}
    request.reports = {one.prompt: found[one.prompt] for one in tasks if one.prompt in found}
    if reports is None:
        request.awaited = [one for one in tasks if one.prompt not in found]
    elif not request.reports:
        what, hint = "no report in it is on one of the chosen tasks", "check `prompt` or `id`"
        raise Problem(ErrorCode.CORPUS_EMPTY, what, where=str(reports), hint=hint)


def _leave_out_race(request: BenchmarkRequest) -> None:
    """Leave RACE out where nothing can be scored by it.

    Raises:
        Problem: `file_not_found` if nothing else was asked for.
    """
    if not request.race or request.plan().scorable():
        return
    if not request.fact:
        what = "RACE needs the benchmark's reference reports and criteria, and they are not there"
        hint = "get reference.jsonl and criteria.jsonl of the benchmark (docs/measuring.md)"
        raise Problem(ErrorCode.FILE_NOT_FOUND, what, hint=hint)
    request.race = ""


def _describe_missing(request: BenchmarkRequest) -> list[str]:
    """Say what cannot be measured, and why."""
    data, plan = request.data, request.plan()
    wanted = plan.reported()
    lines = []
    if unreported := len(data.tasks) - len(wanted):
        lines.append(f"No report on {pluralize(unreported, 'task')}: not scored")
    references = sum(one.prompt not in data.references for one in wanted)
    criteria = sum(one.prompt not in data.criteria for one in wanted)
    if references:
        what = f"No reference report for {pluralize(references, 'task')} (reference.jsonl)"
        lines.append(f"{what}: RACE leaves them out")
    if criteria and request.make_criteria:
        what = f"No criteria for {pluralize(criteria, 'task')}: the judge writes them"
        lines.append(f"{what}, and the scores cannot be compared with the leaderboard")
    elif criteria:
        what = f"No criteria for {pluralize(criteria, 'task')} (criteria.jsonl): RACE leaves them"
        lines.append(f"{what} out (--make-criteria has the judge write some)")
    return lines


async def _check_models(request: BenchmarkRequest) -> None:
    """Load every model before anything is spent.

    Raises:
        Problem: `unknown_model`, `model_key_missing` or `nothing_to_search`.
    """
    for model in dict.fromkeys(filter(None, (request.race, request.fact))):
        await load_chat_model(model)
    if request.awaited:
        context = task_context(request.awaited[0], request.choices)
        if not list_run_providers(context, os.environ):
            what = "there is nothing to search: no search of the web is set"
            raise Problem(ErrorCode.NOTHING_TO_SEARCH, what, hint=NOTHING_HINT)
        await load_model_names(context)


def _estimate(request: BenchmarkRequest) -> list[StageCost]:
    """Return what the judges will cost, without what they have answered already."""
    calls = plan_calls(request.plan())
    store = request.out / "judge"
    if store.exists():
        with _judge_store(store):
            calls = run_and_close(drop_answered(calls))
    return sum_by_stage(calls)


def _judge_store(store: Path) -> Any:
    window = os.environ.get(WINDOW_VARIABLE) or JUDGE_WINDOW
    return open_own_store(folder=store, **{WINDOW_VARIABLE: window})


def _write_reports(request: BenchmarkRequest) -> dict[str, str]:
    """Let Dossier answer the tasks that have no report; return why some still have none."""
    with open_own_store(folder=request.out / "runs"), progress_bars() as told:
        written = asyncio.run(
            answer_tasks(
                request.awaited,
                request.choices,
                request.out / "reports" / request.name,
                request.name,
                request.parallel,
                told,
            )
        )
    request.reports |= written.articles
    request.awaited = []
    lines = [
        {"id": one.id, "prompt": one.prompt, "article": request.reports[one.prompt]}
        for one in request.data.tasks
        if one.prompt in request.reports
    ]
    if lines:
        files = EvaluationFiles(request.out, request.name)
        files.write(OWN_REPORTS.format("{name}"), lines)
    return written.failed


def _judge(request: BenchmarkRequest) -> dict[str, Any]:
    """Have all reports judged; return the figures."""

    async def judged() -> dict[str, Any]:
        files = EvaluationFiles(request.out, request.name)
        return await Evaluation(request.plan(), files, told).run()

    with _judge_store(request.out / "judge"), progress_bars() as told:
        return run_and_close(judged())


def _has_failures(figures: Mapping[str, Any]) -> bool:
    parts = (figures.get("race", {}), figures.get("fact", {}))
    failed = any(part.get("failed") or part.get("pages_failed") for part in parts)
    return failed or bool(figures.get("runs_failed"))


def _describe_runs(request: BenchmarkRequest) -> list[str]:
    """Say what the runs of Dossier can cost at most."""
    if not request.awaited:
        return []
    context, count = task_context(request.awaited[0], request.choices), len(request.awaited)
    runs, most = pluralize(count, "run"), context.limits.max_cost
    return [
        f"{runs} of Dossier before that, at most ${most:.2f} each (max_cost) and "
        f"${count * most:.2f} in all"
    ]


def _render_costs(stages: Sequence[StageCost]) -> Table:
    numbers = (Column(one, justify="right", no_wrap=True) for one in ("calls", "in", "out", "$"))
    rows = make_table("stage", "judge", *numbers)
    for one in stages:
        rows.add_row(*_cells(one))
    if len(stages) > 1:
        rows.add_row(*_cells(_total(stages)))
    return rows


def _total(stages: Sequence[StageCost]) -> StageCost:
    """Return what all stages cost; nobody knows where one has no price."""
    known = [one.dollars for one in stages if one.dollars is not None]
    return StageCost(
        "in all",
        "",
        sum(one.calls for one in stages),
        sum(one.tokens_in for one in stages),
        sum(one.tokens_out for one in stages),
        sum(known) if len(known) == len(stages) else None,
    )


def _cells(one: StageCost) -> list[str]:
    dollars = "?" if one.dollars is None else f"{one.dollars:.2f}"
    counts = [f"{value:,}" for value in (one.calls, one.tokens_in, one.tokens_out)]
    return [one.stage, one.model, *counts, dollars]


def _plain_lines(stages: Sequence[StageCost]) -> list[str]:
    """Return the estimate as lines for the terminal, with the sum."""
    lines = [
        f"{one.stage}: {pluralize(one.calls, 'call')} of {one.model}, about "
        f"{one.tokens_in:,} tokens read and {one.tokens_out:,} written"
        for one in stages
    ]
    if not stages:
        return ["Everything is judged already: nothing is to be paid"]
    unpriced = list_unpriced_models(dict.fromkeys(one.model for one in stages))
    total = sum(one.dollars or 0.0 for one in stages)
    calls = pluralize(sum(one.calls for one in stages), "call")
    price = f"the price of {', '.join(unpriced)} is unknown" if unpriced else f"about ${total:.2f}"
    return [*lines, f"In all: {calls}, {price}"]


def _render_figures(figures: Mapping[str, Any]) -> list[Table | str]:
    parts: list[Table | str] = []
    if race := figures.get("race"):
        scores = make_table("RACE", Column("score", justify="right"))
        for name, label in RACE_LABELS.items():
            if name in race:
                scores.add_row(label, f"{100 * race[name]:.2f}")
        parts += [scores, _describe_judged(race, "scored"), ""]
    if fact := figures.get("fact"):
        scores = make_table("FACT", Column("", justify="right"))
        scores.add_row("Citation accuracy", f"{100 * fact['valid_rate']:.2f}")
        scores.add_row("Effective citations", f"{fact['total_valid_citations']:.2f}")
        scores.add_row("Citations judged", f"{fact['total_citations']:.2f}")
        scores.add_row("Citation accuracy, mean of tasks", f"{100 * fact['citation_accuracy']:.2f}")
        parts += [scores, _describe_judged(fact, "checked"), ""]
    return parts


def _describe_judged(part: Mapping[str, Any], done: str) -> str:
    line = f"{part['judge']}: {pluralize(part[done], 'report')} {done}"
    if failed := part["failed"]:
        each = ", ".join(f"{name} ({code})" for name, code in failed.items())
        line += f", {len(failed)} failed: {each} (--retry-failed asks again)"
    if part.get("pages_failed"):
        line += f", {pluralize(part['pages_failed'], 'page')} without a usable verdict"
    if part.get("criteria", "benchmark") != "benchmark":
        line += f"; criteria {part['criteria']}"
    return line


def _render_sums(figures: Mapping[str, Any], request: BenchmarkRequest) -> list[str]:
    spent = cast("dict[str, float]", figures["spent"])
    calls = pluralize(int(spent["calls"]), "call")
    tokens = f"{int(spent['tokens_in']):,} tokens read, {int(spent['tokens_out']):,} written"
    lines = [f"{calls}, {tokens}, ${spent['dollars']:.4f}", f"files: {request.out}"]
    if failed := figures.get("runs_failed"):
        each = ", ".join(f"{name} ({code})" for name, code in failed.items())
        lines.append(f"{pluralize(len(failed), 'task')} without a report: {each}")
    return [*figures.get("missing", []), *lines]
