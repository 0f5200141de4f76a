"""Run code in the sandbox over copies of a run's files, and keep what it gave as pages."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from typing_extensions import TypedDict

from calls.ledger import LedgerCall, call_once
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.records import Passage, Source
from library.page_metadata import PageMetadata
from library.page_rows import NewPage
from library.store import read_page_links, read_page_texts, store_computed_page
from prompts.loader import render_prompt
from report.source_registry import CitablePage, register_sources
from runs.call_site import CallSite
from runs.trace import trace
from text.normalization import to_one_line
from tools.computed_pages import COMPUTATION
from tools.printed_lines import drop_repeated_lines
from tools.program_files import keep_files
from tools.run_inputs import RunInput, list_run_inputs, read_run_inputs
from tools.sandbox import sandbox

MAX_OUTPUT = 12_000
"""The most characters of an output that are kept and shown."""

MAX_COLUMNS = 40
"""So many columns of its inputs are named above an output."""

PATIENCE = 3
"""So many times the usual seconds a program has that is run again."""

_RECORD = f"{COMPUTATION}:"
"""Stands before the id of its record among the links of a result."""


class CodeResult(TypedDict):
    """What running a program gave, as the ledger keeps it."""

    exit_status: int
    stdout: str
    stderr: str
    files: dict[str, str]
    """What it wrote, by name, in base64."""
    seconds: float
    stopped: str
    """The limit that ended it: `time`, `memory`, `output` or `files`; else empty."""
    backend: str


class ComputedFile(TypedDict):
    """A file that a program wrote."""

    name: str
    sha256: str
    page: str
    """The id of the page that holds it in base64."""


class ComputationInput(TypedDict):
    """An input of a computation by the name of its copy."""

    name: str
    sha256: str


class ComputationRecord(TypedDict):
    """How a result was computed: enough to compute it again."""

    code: str
    inputs: list[ComputationInput]
    output: str
    """The whole output, as far as it is kept."""
    sha256: str
    """The hash of the whole output."""
    files: list[ComputedFile]
    backend: str


class Computed(NamedTuple):
    """A result that can be cited, with its source."""

    passage: Passage
    source: Source


async def can_run_code() -> bool:
    """Tell whether there is a sandbox here in which a program of a model may run."""
    return bool((await sandbox.describe_sandbox()).backend)


async def run_code(
    here: CallSite, role: str, code: str, inputs: Sequence[RunInput], *, again: str = ""
) -> CodeResult:
    """Run a program in the sandbox, once at each point of a run.

    Args:
        here: The point of the run.
        role: Who wrote the program.
        code: The program, in Python.
        inputs: What it finds in its folder.
        again: For what it is run again; a part of the key in the ledger.

    Raises:
        Problem: `sandbox_unavailable`, or `file_unreadable` if an input has changed.
    """
    limits = sandbox.configured_limits()
    if again:
        # A busy machine must not make a result look as if it could not be repeated.
        limits = replace(limits, seconds=PATIENCE * limits.seconds)
    request = {"code": code, "inputs": {one.name: one.sha256 for one in inputs}}
    call = LedgerCall(here, "sandbox", role, {**request, "again": again} if again else request)

    async def make() -> CodeResult:
        """Run it, and say so in the trace."""
        try:
            done = await sandbox.run_python(code, await _read_all(inputs), limits)
        except Problem as problem:
            await trace(here, "sandbox", role, problem.code)
            raise
        status = done.stopped or ("ok" if done.exit_status == 0 else "error")
        await trace(here, "sandbox", role, status, seconds=round(done.seconds, 3))
        return CodeResult(
            exit_status=done.exit_status,
            stdout=done.stdout,
            stderr=done.stderr[-MAX_OUTPUT:],
            files=await asyncio.to_thread(keep_files, done.files),
            seconds=done.seconds,
            stopped=done.stopped,
            backend=done.backend,
        )

    return cast("CodeResult", await call_once(call, make))


async def _read_all(inputs: Sequence[RunInput]) -> dict[str, bytes]:
    """Return the content of inputs by name: what a result names was there when it was computed.

    Raises:
        Problem: `file_unreadable`.
    """
    contents = await read_run_inputs(inputs)
    if changed := ", ".join(one.name for one in inputs if one.name not in contents):
        what = f"{changed} has changed since it was read in, or is gone"
        raise Problem(ErrorCode.FILE_UNREADABLE, what)
    return contents


def has_succeeded(result: CodeResult) -> bool:
    """Tell whether a program ended by itself and without an error."""
    return result["exit_status"] == 0 and not result["stopped"]


async def store_computation(
    here: CallSite,
    title: str,
    language: str,
    code: str,
    inputs: Sequence[RunInput],
    result: CodeResult,
) -> Computed:
    """Store what a program gave, with how, as pages that no search finds; return the result.

    Args:
        here: The point of the run.
        title: What was computed, in a few words.
        language: The language of the words around the output.
        code: The program.
        inputs: What it computed with, which forgetting goes by.
        result: What running it gave.
    """
    digest = hash_computation(code, inputs)
    first = inputs[0] if inputs else None
    kind, origin = (first.kind, first.origin) if first else (COMPUTATION, digest)
    origins = list(dict.fromkeys(one.origin for one in inputs))
    based = ", ".join(dict.fromkeys(one.base for one in inputs if one.base))
    label = to_one_line(title, 200)

    async def store(place: str, text: str, links: Sequence[str]) -> str:
        page = NewPage(title=label, place=place, text=text, links=[*links])
        page |= {"session": f"{COMPUTATION} {digest} {place}", "abstract": ""}
        page |= {"metadata": PageMetadata(site=based)}
        return await store_computed_page(here.owner, kind, origin, page)

    files = [
        ComputedFile(name=name, sha256=digest_output(data), page=page)
        for name, data in result["files"].items()
        for page in [await store(f"file={name}", data, origins)]
    ]
    record = _build_record(code, inputs, result, files)
    recorded = await store("record", json.dumps(record, ensure_ascii=False, indent=1), origins)
    place = f"{COMPUTATION}={digest[:12]}"
    text = render_result(language, code, inputs, result)
    page = await store(place, text, [f"{_RECORD}{recorded}", *origins])
    citable = CitablePage(page, label, _name_place(language, digest, inputs), "computed")
    (source,) = await register_sources(here.thread, [citable])
    return Computed(Passage(source=source["id"], text=text, start=0), source)


def _build_record(
    code: str, inputs: Sequence[RunInput], result: CodeResult, files: list[ComputedFile]
) -> ComputationRecord:
    """Return by what a program and its results can be known again."""
    return ComputationRecord(
        code=code,
        inputs=[ComputationInput(name=one.name, sha256=one.sha256) for one in inputs],
        output=result["stdout"][:MAX_OUTPUT],
        sha256=digest_output(result["stdout"]),
        files=files,
        backend=result["backend"],
    )


def _name_place(language: str, digest: str, inputs: Sequence[RunInput]) -> str:
    """Return in words what a result was computed from."""
    named = ", ".join(one.name for one in inputs)
    words = {"digest": digest[:12]} | ({"inputs": named} if named else {})
    phrase = "computation_of" if named else "computation_place"
    return render_prompt(phrase, language=language, **words)


def hash_computation(code: str, inputs: Sequence[RunInput]) -> str:
    """Return the name of a computation: the hash of its program and its inputs."""
    return digest_output(json.dumps([code, [[one.name, one.sha256] for one in inputs]]))


def digest_output(text: str) -> str:
    """Return the hash by which an output, a file or a program is known."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def render_result(language: str, code: str, inputs: Sequence[RunInput], result: CodeResult) -> str:
    """Return the words of a result: what it was computed from, and what was worked out."""
    named = ", ".join(one.name for one in inputs)
    columns = [column.name for one in inputs for table in one.tables for column in table.columns]
    head = render_prompt("computed_from" if named else "computed", language=language, inputs=named)
    if columns:
        shown = ", ".join(dict.fromkeys(columns[:MAX_COLUMNS]))
        head += " " + render_prompt("computed_columns", language=language, columns=shown)
    output = drop_repeated_lines(code, result["stdout"], reads=bool(inputs)).strip()
    cut = render_prompt("output_cut", language=language) if len(output) > MAX_OUTPUT else ""
    files = ", ".join(result["files"])
    wrote = render_prompt("computed_files", language=language, files=files) if files else ""
    return "\n\n".join(filter(None, (head, output[:MAX_OUTPUT], cut, wrote)))


async def load_computations(
    owner: str, sources: Mapping[str, Source]
) -> dict[str, ComputationRecord]:
    """Return how each of some sources was computed by code, by its id; others are left out."""
    pages = {name: one["page"] for name, one in sources.items() if one["kind"] == "computed"}
    links = await read_page_links(owner, list(pages.values()))
    records = {
        name: link.removeprefix(_RECORD)
        for name, page in pages.items()
        for link in links.get(page, [])
        if link.startswith(_RECORD)
    }
    texts = await read_page_texts(owner, list(records.values()))
    return {name: _parse(texts[page]) for name, page in records.items() if page in texts}


async def find_recorded_inputs(
    here: CallSite,
    context: Context,
    sources: Mapping[str, Source],
    bases: Sequence[str],
    record: ComputationRecord,
) -> list[RunInput] | None:
    """Return the inputs of a computation as they were; `None` if one has changed or is gone.

    Args:
        here: The point of the run.
        context: The choices of the run.
        sources: The sources of the run, by id.
        bases: The names of the knowledge bases of its plan.
        record: How it was computed.
    """
    named = {one["name"].partition("-table-")[0] for one in record["inputs"]}
    tables = {name: source for name, source in sources.items() if name in named}
    known = {one.sha256: one for one in await list_run_inputs(here, context, tables, bases=bases)}
    if not all(one["sha256"] in known for one in record["inputs"]):
        return None
    inputs = [known[one["sha256"]]._replace(name=one["name"]) for one in record["inputs"]]
    return inputs if len(await read_run_inputs(inputs)) == len(inputs) else None


def _parse(text: str) -> ComputationRecord:
    record: Any = json.loads(text)
    return cast("ComputationRecord", record)


async def load_computed_files(owner: str, files: Sequence[ComputedFile]) -> dict[str, bytes]:
    """Return the content of files that a program wrote, by their hash."""
    texts = await read_page_texts(owner, [one["page"] for one in files])
    return {
        one["sha256"]: base64.b64decode(texts[one["page"]]) for one in files if one["page"] in texts
    }
