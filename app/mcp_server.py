"""Dossier as a server of the Model Context Protocol: its tools, and pages and reports to read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any, Literal, NamedTuple, TypeVar
from uuid import uuid4

import anyio
from mcp import McpError
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    ErrorData,
    Resource,
    ResourceTemplate,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import AnyUrl, BaseModel, ConfigDict, TypeAdapter, ValidationError

from app.mcp_folders import TellProgress
from app.mcp_library import (
    ReadAnswer,
    SearchAnswer,
    find_stored_document,
    read_document,
    search_library,
)
from app.mcp_runs import (
    AskAnswer,
    RecallAnswer,
    ServedRuns,
    ask_question,
    recall_notes,
)
from config.errors import ErrorCode, Problem, first_validation_error
from library.document_sections import OutlinedDocument
from library.recall import read_pages
from library.scope import list_stored_pages
from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from report.report_places import read_report_file
from runs.call_site import CallSite
from runs.lifecycle import find_run, list_recent_runs
from tools.document_reading import list_document_page_ids

LISTED_PAGES, LISTED_REPORTS = 50, 20
"""How many of the newest pages and reports are listed as resources."""

PAGE_URI, REPORT_URI = "dossier://page/", "dossier://report/"
"""What the addresses of resources begin with; the id of a page or of a run follows."""

DEFECT = "the server failed over this request"
"""What a client is told of a defect, whose own words may hold what others have said."""

Result = TypeVar("Result")

_log = logging.getLogger(__name__)


class _Arguments(BaseModel):
    """The arguments of a tool; others are refused."""

    model_config = ConfigDict(extra="forbid")


class _Search(_Arguments):
    query: str
    within: str = ""


class _Read(_Arguments):
    document: str
    section: str = ""
    around: str = ""
    lines: str = ""


class _Recall(_Arguments):
    question: str
    within: str = ""


class _Ask(_Arguments):
    question: str
    thread: str = ""
    depth: Literal["quick", "standard", "deep"] | None = None
    length: Literal["brief", "standard", "long"] | None = None
    language: Literal["en", "zh"] | None = None
    again: Literal["reuse", "refresh", "deepen", "new"] | None = None
    review: bool | None = None


class _Request(NamedTuple):
    """A call of a tool: its arguments, what is served, and who is told of its progress."""

    arguments: Any
    served: ServedRuns
    here: CallSite
    tell: TellProgress

    async def read_folders(self) -> None:
        """Read the folders that are served, if nothing was looked up in them before.

        Raises:
            Problem: `docs_not_found`, `docs_unreadable` or `docs_empty`.
        """
        await self.served.folders.read_first(self.here.owner, self.tell)


async def _search(request: _Request) -> tuple[str, SearchAnswer]:
    given: _Search = request.arguments
    await request.read_folders()
    return await search_library(request.here, given.query, given.within)


async def _read(request: _Request) -> tuple[str, ReadAnswer]:
    given: _Read = request.arguments
    await request.read_folders()
    return await read_document(
        request.here, given.document, given.section, given.around, given.lines
    )


async def _recall(request: _Request) -> tuple[str, RecallAnswer]:
    given: _Recall = request.arguments
    return await recall_notes(request.served, given.question, given.within, request.tell)


async def _ask(request: _Request) -> tuple[str, AskAnswer]:
    given: _Ask = request.arguments
    asked = given.model_dump(exclude={"question", "thread", "review"}, exclude_none=True)
    if given.review is not None:
        asked["auto_accept"] = not given.review
    return await ask_question(request.served, given.question, given.thread, asked, request.tell)


class _ServedTool(NamedTuple):
    """A tool: its arguments, what it answers with, and what it may change."""

    arguments: type[_Arguments]
    answer: Callable[[_Request], Awaitable[tuple[str, Any]]]
    result: Any
    annotations: ToolAnnotations

    def describe(self, name: str) -> Tool:
        """Return the tool as clients see it."""
        return Tool(
            name=name,
            description=render_prompt(f"mcp_{name}"),
            inputSchema=_without_titles(self.arguments.model_json_schema()),
            outputSchema=_without_titles(TypeAdapter(self.result).json_schema()),
            annotations=self.annotations,
        )


_READING = ToolAnnotations(readOnlyHint=True, idempotentHint=True, openWorldHint=False)
_RUNNING = ToolAnnotations(readOnlyHint=False, destructiveHint=False, openWorldHint=True)

TOOLS = {
    "search": _ServedTool(_Search, _search, SearchAnswer, _READING),
    "read": _ServedTool(_Read, _read, ReadAnswer, _READING),
    "recall": _ServedTool(_Recall, _recall, RecallAnswer, _READING),
    "ask": _ServedTool(_Ask, _ask, AskAnswer, _RUNNING),
}
"""The tools that are served, by name."""


def _without_titles(schema: Any) -> Any:
    """Return a JSON schema without the titles and docstrings that Pydantic gives to everything."""
    if isinstance(schema, list):
        return [_without_titles(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: one for name, one in schema.items() if name not in ("title", "description")}
    named = schema.get("properties", {})
    properties = {name: _without_titles(one) for name, one in named.items()}
    rest = {name: _without_titles(one) for name, one in kept.items() if name != "properties"}
    return {**rest, "properties": properties} if named else rest


def make_mcp_server(served: ServedRuns) -> Server[Any, Any]:
    """Return a server of the Model Context Protocol over a person's library and memory.

    Args:
        served: Whose they are, and what runs may use.
    """
    server = Server[Any, Any](
        "dossier", version=version("dossier"), instructions=render_prompt("mcp_instructions")
    )
    thread = f"mcp-{uuid4().hex[:12]}"
    here = CallSite(served.owner, thread, f"{thread}-1", "", "0")

    async def call(name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Answer a call; a problem is told with its code and a hint."""
        async with _open_progress(server) as tell:
            outcome = await run_to_end(_answer(name, arguments, served, here, tell))
        return to_tool_error(outcome) if isinstance(outcome, Problem) else outcome

    # The arguments are checked against the same models here, with codes.
    server.call_tool(validate_input=False)(call)
    _serve_lists(server)
    _serve_resources(server, here)
    return server


def _serve_lists(server: Server[Any, Any]) -> None:
    """Serve what there is: tools, and the forms of addresses."""

    @server.list_tools()  # type: ignore[no-untyped-call, untyped-decorator]
    async def list_tools() -> list[Tool]:
        return [tool.describe(name) for name, tool in TOOLS.items()]

    @server.list_resource_templates()  # type: ignore[no-untyped-call, untyped-decorator]
    async def list_templates() -> list[ResourceTemplate]:
        return [
            ResourceTemplate(
                name=name, uriTemplate=f"dossier://{name}/{{id}}", mimeType="text/markdown"
            )
            for name in ("page", "report")
        ]


def _serve_resources(server: Server[Any, Any], here: CallSite) -> None:
    """Serve the documents and reports of an owner as resources."""

    @server.list_resources()  # type: ignore[no-untyped-call, untyped-decorator]
    async def list_resources() -> list[Resource]:
        return _result_or_raise(await run_to_end(_list_resources(here.owner)))

    @server.read_resource()  # type: ignore[no-untyped-call, untyped-decorator]
    async def read_resource(uri: AnyUrl) -> list[ReadResourceContents]:
        text = _result_or_raise(await run_to_end(_read_resource(here.owner, str(uri))))
        return [ReadResourceContents(text, "text/markdown")]


async def _answer(
    name: str, arguments: dict[str, Any], served: ServedRuns, here: CallSite, tell: TellProgress
) -> CallToolResult:
    """Return what a tool answers.

    Raises:
        Problem: `usage` for a tool that there is not, or for its arguments; or what it raises.
    """
    tool = TOOLS.get(name)
    if tool is None:
        hint = f"one of {', '.join(TOOLS)}"
        raise Problem(ErrorCode.USAGE, f"there is no tool {name[:100]!r}", hint=hint)
    try:
        given = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        where, what = first_validation_error(error)
        hint = f"its arguments: {', '.join(tool.arguments.model_fields)}"
        raise Problem(ErrorCode.USAGE, what, where=where, hint=hint) from error
    text, data = await tool.answer(_Request(given, served, here, tell))
    return CallToolResult(content=[TextContent(type="text", text=text)], structuredContent=data)


async def run_to_end(work: Coroutine[Any, Any, Result]) -> Result | Problem:
    """Return the result of some work, or its problem, however its caller is cancelled.

    A scope of AnyIO cancels every await until it is left, also those that record how a run ended.
    So the work is a task of its own, which is cancelled once.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([task])
        raise
    error = task.exception()
    return task.result() if error is None else _to_problem(error)


def _to_problem(error: BaseException) -> Problem:
    """Return what a client is told of an error; a defect is logged."""
    if isinstance(error, Problem):
        return error
    _log.error("A request failed", exc_info=error)
    return Problem(ErrorCode.INTERNAL, DEFECT, hint="see the log of the server")


def _result_or_raise(outcome: Result | Problem) -> Result:
    """Return a result.

    Raises:
        McpError: For a problem, with its code and hint. A defect is an internal error.
    """
    if not isinstance(outcome, Problem):
        return outcome
    code = INTERNAL_ERROR if outcome.code == ErrorCode.INTERNAL else INVALID_PARAMS
    raise McpError(ErrorData(code=code, message=str(outcome), data=outcome.as_dict()))


def to_tool_error(problem: Problem) -> CallToolResult:
    """Return a problem as the answer of a tool: its code, what is wrong, and what can be done."""
    content = TextContent(type="text", text=str(problem))
    return CallToolResult(content=[content], structuredContent=problem.as_dict(), isError=True)


@asynccontextmanager
async def _open_progress(server: Server[Any, Any]) -> AsyncIterator[TellProgress]:
    """Yield a function that tells the client of a request how far it is, if it wants to know."""
    context = server.request_context
    token = context.meta.progressToken if context.meta else None
    lines = asyncio.Queue[str]()
    loop = asyncio.get_running_loop()

    async def send() -> None:
        count = 0
        while True:
            line = await lines.get()
            count += 1
            if token is not None:
                await context.session.send_progress_notification(
                    token, count, message=line, related_request_id=str(context.request_id)
                )

    def tell(line: str) -> None:
        # Lines come from other threads, too.
        loop.call_soon_threadsafe(lines.put_nowait, line)

    sender = asyncio.create_task(send())
    try:
        yield tell
    finally:
        sender.cancel()


async def _list_resources(owner: str) -> list[Resource]:
    """Return the newest reports and pages of an owner."""
    runs = [run for run in await list_recent_runs(owner, LISTED_REPORTS) if run.folder]
    pages = await list_stored_pages(owner, limit=LISTED_PAGES)
    reports = [_resource(REPORT_URI, run.id, run.question) for run in runs]
    return [*reports, *(_resource(PAGE_URI, page.id, page.title) for page in pages)]


def _resource(prefix: str, id: str, title: str) -> Resource:
    name = cut_injections(title) or id
    return Resource(uri=AnyUrl(f"{prefix}{id}"), name=name[:200], mimeType="text/markdown")


async def _read_resource(owner: str, uri: str) -> str:
    """Return the text of a whole document, or of a report.

    Raises:
        Problem: `source_not_found` or `run_not_found`.
    """
    if uri.startswith(REPORT_URI):
        return await _read_report(owner, uri.removeprefix(REPORT_URI))
    document = await find_stored_document(owner, uri.removeprefix(PAGE_URI))
    return await _read_whole(owner, document)


async def _read_report(owner: str, run: str) -> str:
    record = await find_run(owner, run)
    with suppress(OSError):
        if record.folder:
            return (await asyncio.to_thread(read_report_file, record.folder, "md")).decode()
    return await _read_whole(owner, await find_stored_document(owner, record.id))


async def _read_whole(owner: str, document: OutlinedDocument) -> str:
    pages = await read_pages(owner, list_document_page_ids(document))
    return cut_injections("\n".join(page.text for page in pages))
