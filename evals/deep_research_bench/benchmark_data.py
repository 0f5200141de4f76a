"""Read DeepResearch Bench: tasks, criteria, reference reports, and the reports to be scored.

The formats and the places of the files are those of the benchmark's repository
(github.com/Ayanami0730/deep_research_bench).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from config.errors import ErrorCode, Problem
from evals.datasets import iter_json_objects

DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
"""What a report is scored for, by the benchmark's names."""

TASK_FILES = (
    "data/prompt_data/query.jsonl",
    "prompt_data/query.jsonl",
    "query.jsonl",
    "queries.jsonl",
)
CRITERIA_FILES = (
    "data/criteria_data/criteria.jsonl",
    "criteria_data/criteria.jsonl",
    "criteria.jsonl",
)
REFERENCE_FILES = (
    "data/test_data/cleaned_data/reference.jsonl",
    "test_data/cleaned_data/reference.jsonl",
    "cleaned_data/reference.jsonl",
    "reference.jsonl",
)
"""Where the files may be in the folder of the benchmark; the first that exists is read."""

Language = Literal["en", "zh"]


class BenchmarkTask(NamedTuple):
    """A question of the benchmark."""

    id: int | str
    prompt: str
    language: Language


class WeightedCriterion(NamedTuple):
    """One criterion of a dimension; the weights of a dimension add up to 1."""

    criterion: str
    explanation: str
    weight: float


class TaskCriteria(NamedTuple):
    """How the reports on one task are scored."""

    dimension_weights: dict[str, float]
    """The weight of each dimension; they add up to 1."""
    criteria: dict[str, list[WeightedCriterion]]
    """By dimension."""


class BenchmarkData(NamedTuple):
    """The chosen tasks, and what the folder has for them, by their prompts."""

    tasks: list[BenchmarkTask]
    criteria: dict[str, TaskCriteria]
    references: dict[str, str]


def read_benchmark(
    folder: Path, language: str = "", limit: int | None = None, reference: Path | None = None
) -> BenchmarkData:
    """Read the tasks of a folder, with the criteria and the reference reports that it has.

    Args:
        folder: The benchmark's repository, its `data`, or a folder with the files alone.
        language: Only tasks in this language; "" for all.
        limit: Only so many tasks, from the first on.
        reference: The file of reference reports, where it is elsewhere.

    Raises:
        Problem: `file_not_found`, `corpus_line`, `corpus_unreadable` or `corpus_empty`.
    """
    file = _find_file(folder, TASK_FILES)
    if file is None:
        hint = f"name the folder of the benchmark; it has {TASK_FILES[0]}, or {TASK_FILES[-1]}"
        raise Problem(ErrorCode.FILE_NOT_FOUND, "no tasks are there", where=str(folder), hint=hint)
    tasks = [_task(line, where) for where, line in iter_json_objects(file)]
    tasks = [task for task in tasks if language in ("", task.language)][:limit]
    if not tasks:
        raise Problem(ErrorCode.CORPUS_EMPTY, "there is no such task in it", where=str(file))
    rules, reports = _find_file(folder, CRITERIA_FILES), _find_file(folder, REFERENCE_FILES)
    wanted = {task.prompt for task in tasks}
    reports = reference or reports
    return BenchmarkData(
        tasks,
        read_criteria(rules, wanted) if rules else {},
        _keep(read_articles(reports, tasks), wanted) if reports else {},
    )


def read_criteria(file: Path, wanted: Iterable[str]) -> dict[str, TaskCriteria]:
    """Return the criteria of a file for the wanted prompts.

    Raises:
        Problem: `corpus_line` with its number, or what `iter_json_objects` raises.
    """
    chosen = set(wanted)
    found: dict[str, TaskCriteria] = {}
    for where, line in iter_json_objects(file):
        if line.get("prompt") in chosen:
            found[str(line["prompt"])] = parse_criteria(line, where)
    return found


def parse_criteria(line: Mapping[str, Any], where: str) -> TaskCriteria:
    """Return the criteria of a line of the benchmark's file.

    Raises:
        Problem: `corpus_line` when a dimension has no weight or no criterion.
    """
    try:
        weights = {one: float(line["dimension_weight"][one]) for one in DIMENSIONS}
        rules = {one: [_criterion(rule) for rule in line["criterions"][one]] for one in DIMENSIONS}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"its criteria are not the benchmark's: {type(error).__name__}: {error}"
        raise Problem(ErrorCode.CORPUS_LINE, what, where=where) from error
    empty = [one for one in DIMENSIONS if not _is_positive([rule.weight for rule in rules[one]])]
    if empty or not _is_positive(list(weights.values())):
        what = f"it has no criteria with a weight for {', '.join(empty) or 'any dimension'}"
        raise Problem(ErrorCode.CORPUS_LINE, what, where=where)
    return TaskCriteria(weights, rules)


def criteria_line(task: BenchmarkTask, rules: TaskCriteria) -> dict[str, Any]:
    """Return criteria as a line of the benchmark's file."""
    return {
        "id": task.id,
        "language": task.language,
        "prompt": task.prompt,
        "dimension_weight": rules.dimension_weights,
        "criterions": {
            name: [rule._asdict() for rule in rules.criteria[name]] for name in DIMENSIONS
        },
    }


def read_articles(place: Path, tasks: Sequence[BenchmarkTask]) -> dict[str, str]:
    """Return the reports of a file or folder, by the prompts of their tasks.

    Args:
        place: A file with `{id, prompt, article}` on each line, or a folder of such files, or of
            files named `ID.md`.
        tasks: The tasks; a line without a prompt is found by its id.

    Raises:
        Problem: `file_not_found`, `corpus_line`, `corpus_unreadable` or `corpus_empty`.
    """
    prompts = {str(task.id): task.prompt for task in tasks}
    found = _read_folder(place, prompts) if place.is_dir() else _read_file(place, prompts)
    if not found:
        hint = 'a line is {"id": …, "prompt": "…", "article": "…"}; a file in a folder, ID.md'
        what = "there is no report in it"
        raise Problem(ErrorCode.CORPUS_EMPTY, what, where=str(place), hint=hint)
    return found


def _read_folder(folder: Path, prompts: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in sorted(folder.glob("*.jsonl")):
        more = _read_file(file, prompts)
        if twice := found.keys() & more.keys():
            what = f"another file there has a report on the same task: {min(twice)[:60]!r}"
            hint = "name the file of one agent"
            raise Problem(ErrorCode.CORPUS_LINE, what, where=str(file), hint=hint)
        found |= more
    for file in sorted(folder.glob("*.md")):
        if file.stem in prompts and (text := file.read_text("utf-8", "replace").strip()):
            found.setdefault(prompts[file.stem], text)
    return found


def _read_file(file: Path, prompts: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for where, line in iter_json_objects(file):
        prompt = line.get("prompt") or prompts.get(str(line.get("id")))
        article = line.get("article")
        if not isinstance(article, str) or not isinstance(prompt or "", str):
            raise Problem(ErrorCode.CORPUS_LINE, "it has no `article` or no `prompt`", where=where)
        if prompt and article.strip():
            found[prompt] = article
    return found


def _find_file(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _task(line: Mapping[str, Any], where: str) -> BenchmarkTask:
    name, prompt, language = line.get("id"), line.get("prompt"), line.get("language")
    fits = isinstance(name, int | str) and isinstance(prompt, str) and prompt.strip()
    if not fits or language not in ("en", "zh"):
        what = "it is no task: it has `id`, `prompt`, and `language`, which is en or zh"
        raise Problem(ErrorCode.CORPUS_LINE, what, where=where)
    return BenchmarkTask(cast("int | str", name), str(prompt), cast("Language", language))


def _criterion(rule: Mapping[str, Any]) -> WeightedCriterion:
    text, about = str(rule["criterion"]).strip(), str(rule.get("explanation", ""))
    return WeightedCriterion(text, about, float(rule["weight"]))


def _is_positive(weights: Sequence[float]) -> bool:
    return all(math.isfinite(one) and one >= 0 for one in weights) and sum(weights) > 0


def _keep(articles: Mapping[str, str], wanted: Iterable[str]) -> dict[str, str]:
    return {prompt: articles[prompt] for prompt in wanted if prompt in articles}
