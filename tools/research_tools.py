"""The tools with which a model researches: search, read on, follow links, ask the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from langchain.tools import ToolRuntime, tool

from calls.call_context import CallContext
from calls.run_progress import tell_progress
from calls.tool_requests import tool_answer_key
from config.errors import Problem
from library.document_sections import OutlinedDocument, PagePart
from library.knowledge_records import KNOWLEDGE_KIND
from library.uploaded_files import with_uploads
from prompts.data_blocks import (
    escape_tags,
    join_prompt_blocks,
    list_unseen_passages,
    render_block,
    render_cited_block,
    render_pages_block,
)
from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from report.citations import get_document_key
from report.source_registry import list_web_pages
from text.script import detect_language
from tools.document_reading import (
    SourceNotFound,
    around_parts,
    describe_outline,
    find_document,
    line_parts,
    list_absent_terms,
    list_document_page_ids,
    list_links,
    list_page_links,
    open_pages,
    read_part,
    search_document,
    section_parts,
)
from tools.evidence import (
    Evidence,
    SearchRequest,
    gather_evidence,
    gather_from_bases,
    searches_web,
)
from tools.knowledge.base_search import search_named_bases
from tools.scope_outline import outline_scope
from tools.search_answer import answer_search
from tools.site_search import list_site_documents, read_site_name, search_site
from tools.web.query_redaction import note_shown
from tools.web.urls import canonicalise_url
from tools.web.web_search import describe_redacted_queries, read_web_pages

LISTED_LINKS = 60
"""How many links of a page are listed."""

Runtime = ToolRuntime[CallContext]


@tool("search")
async def search_tool(query: str, runtime: Runtime, scope: str = "all", source: str = "") -> str:
    """Search files, the web or what was read of it about one query, or one document or site."""
    around = runtime.context
    if scope in around.bases and not source:
        return await _search_base(runtime, scope, query)
    if scope == "web" and not searches_web(around.choices):
        return _say("no_web_search", runtime, query)
    web = around.allow_web and scope != "files"
    if source:
        return await _search_in(runtime, source, query, web=web)
    choices = replace(around.choices, files=[]) if scope == "web" else around.choices
    bases = around.bases if scope == "all" else ()
    read = [] if scope == "files" else list_web_pages(around.sources)
    wanted = SearchRequest([query], query, web, choose=answer_search, bases=bases, read=read)
    evidence = await gather_evidence(around.site, choices, wanted)
    shown = await _show_found(evidence, runtime, query)
    everywhere = web and searches_web(choices)
    found = bool(evidence.passages) or everywhere
    missed = "" if found else await _tell_unsearched(runtime, query, scope)
    return join_prompt_blocks(shown, missed, _tell_withheld(evidence, runtime, query))


async def _tell_unsearched(runtime: Runtime, query: str, scope: str) -> str:
    """Say where a search that found nothing has not looked; other agents have no steps."""
    around = runtime.context
    if not around.system:
        return ""
    here, files = around.site, around.choices.files
    has_files = bool(await with_uploads(here.owner, here.thread, files))
    missed = [] if has_files or scope == "web" else ["no_files_here"]
    missed += ["no_web_here"] if scope != "files" and searches_web(around.choices) else []
    return "\n".join(_say(name, runtime, query).strip() for name in missed)


async def _search_base(runtime: Runtime, name: str, query: str) -> str:
    """Search one knowledge base of the plan."""
    here, choices = runtime.context.site, runtime.context.choices
    hits = await search_named_bases(here, choices, [name], [query])
    found = await gather_from_bases(here, choices, hits, [query], about=query, choose=answer_search)
    if hits.problems:
        runtime.context.tool_results.append(found)
        return _refuse(hits.problems[0], runtime)
    shown = await _show_found(found, runtime, query)
    return join_prompt_blocks(shown, _tell_withheld(found, runtime, query))


async def _search_in(runtime: Runtime, source: str, query: str, *, web: bool) -> str:
    around = runtime.context
    here, choices = around.site, around.choices
    tell_progress(here, "searching", query=query, source=source)
    site = read_site_name(source)
    within: list[str] | None = None
    try:
        try:
            document = await find_document(here, choices, around.sources, source)
            within = list_document_page_ids(document)
            evidence = await search_document(here, choices, document, query)
        except Problem:
            if not site or not (web or await list_site_documents(here.owner, site)):
                raise
            evidence = await search_site(here, choices, site, query, web=web)
    except Problem as problem:
        return _refuse(problem, runtime)
    shown = await _show_found(evidence, runtime, query, within)
    return join_prompt_blocks(shown, _tell_withheld(evidence, runtime, query))


@tool("outline")
async def outline_tool(runtime: Runtime, source: str = "") -> str:
    """List the sections of a document, each with about how many tokens it has, or all documents."""
    around = runtime.context
    if not source.strip():
        return await _list_documents(runtime)
    try:
        document = await find_document(around.site, around.choices, around.sources, source)
    except Problem as problem:
        return _refuse(problem, runtime)
    outline = describe_outline(document)
    if document.kind != "web":
        note_shown(around.site, outline)
    return render_block("outline", outline)


async def _list_documents(runtime: Runtime) -> str:
    """List the documents that can be read, and the knowledge bases that can be searched."""
    around = runtime.context
    language = _language(runtime, around.question)
    outline = await outline_scope(around.site, around.choices, around.about, language)
    of_bases = [one for one in around.sources.values() if one["kind"] == KNOWLEDGE_KIND]
    known = {get_document_key(one): one for one in reversed(of_bases)}
    lines = [f"- {one['id']}: {cut_injections(one['title'])}" for one in reversed(known.values())]
    bases = ", ".join(around.bases)
    return join_prompt_blocks(
        render_block("outline", "\n".join(filter(None, [outline.text, *lines]))),
        _say("bases_here", runtime, bases=bases) if bases else "",
    ) or _say("nothing_to_read", runtime)


@tool("read")
async def read_tool(
    source: str,
    runtime: Runtime,
    section: str = "",
    around: str = "",
    lines: str = "",
) -> str:
    """Read a document on, without what is shown already: a part of it, or all."""
    call = runtime.context
    try:
        document = await find_document(call.site, call.choices, call.sources, source)
        tell_progress(call.site, "reading", title=document.title)
        parts = await _list_parts(call, document, section, around, lines)
        if not parts:
            found = await search_document(call.site, call.choices, document, around)
            return await _show_found(found, runtime, around, list_document_page_ids(document))
        evidence, rest = await read_part(
            call.site, call.choices, parts, call.sources, _list_said(runtime)
        )
    except Problem as problem:
        return _refuse(problem, runtime)
    if not evidence.passages:
        return _say("all_shown", runtime, sources=escape_tags(source))
    more = _say("goes_on", runtime, tokens=f"{rest:,}") if rest else ""
    return join_prompt_blocks(await show_evidence(evidence, runtime), more)


async def _list_parts(
    call: CallContext, document: OutlinedDocument, section: str, around: str, lines: str
) -> Sequence[PagePart]:
    """Return the parts of a document that are asked for; none if it lacks the words `around`.

    Raises:
        Problem: `source_not_found` if it has no such section or lines.
    """
    if around:
        return await around_parts(call.site, document, around)
    if lines:
        return await line_parts(call.site, document, lines)
    if section:
        return await asyncio.to_thread(section_parts, document, section)
    return document.pages


@tool("links")
async def links_tool(source: str, runtime: Runtime) -> str:
    """List what a web page links to."""
    around = runtime.context
    try:
        document = await find_document(around.site, around.choices, around.sources, source)
    except Problem as problem:
        return _refuse(problem, runtime)
    links = await list_links(around.site, document)
    listed = list(links.items())[:LISTED_LINKS]
    lines = [f"{address} {cut_injections(words)}" for address, words in listed]
    return render_block("links", "\n".join(lines)) or _say("no_links", runtime)


@tool("open")
async def open_tool(url: str, runtime: Runtime) -> str:
    """Open a page of the web that a page which was read links to, or that the question names."""
    around = runtime.context
    if not around.allow_web:
        return _say("no_web_here", runtime)
    if not await _may_open(around, url):
        return _say("not_linked", runtime)
    problems: list[Problem] = []
    found = await read_web_pages(around.site, [canonicalise_url(url)], problems)
    if not found:
        return _refuse(problems[0], runtime) if problems else _say("nothing_to_read", runtime)
    evidence = await open_pages(around.site, around.choices, found)
    return await show_evidence(evidence, runtime)


async def _may_open(around: CallContext, url: str) -> bool:
    """Tell whether an address was read somewhere; one that is made up could carry private words."""
    address = canonicalise_url(url)
    if url.strip() and url.strip() in around.question:
        return True
    web = [one["page"] for one in around.sources.values() if one["kind"] == "web"]
    return address in await list_page_links(around.site.owner, web)


@tool("recall")
async def recall_tool(question: str, runtime: Runtime) -> str:
    """Ask the memory of earlier research and chats a whole question."""
    around = runtime.context
    recalled = await around.recall(question) if around.recall else None
    if recalled is None or not recalled.evidence.passages:
        return _say("not_remembered", runtime, question)
    notes = render_cited_block("notes", recalled.notes)
    shown = await show_evidence(recalled.evidence, runtime, question)
    return notes if notes and "<page" not in shown else join_prompt_blocks(notes, shown)


async def show_evidence(evidence: Evidence, runtime: Runtime, query: str = "") -> str:
    """Mark the passages that the conversation, as the model sees it, does not show already."""
    around = runtime.context
    around.tool_results.append(evidence)
    around.sources.update(evidence.sources)
    said = [*_list_said(runtime), *await _list_answers(runtime)]
    unseen = await asyncio.to_thread(list_unseen_passages, evidence.passages, said)
    if unseen or not evidence.passages:
        shown = render_pages_block(unseen, evidence.sources)
        return shown or _say("nothing_found", runtime, query)
    named = dict.fromkeys(passage["source"] for passage in evidence.passages)
    return _say("all_shown", runtime, query, sources=", ".join(named))


def _list_said(runtime: Runtime) -> list[str]:
    """Return the texts of the conversation as the model sees it."""
    short, said = runtime.context.compacted, runtime.state["messages"]
    return [str(one.text) for one in [*short.messages, *said[short.upto :]]]


async def _show_found(
    evidence: Evidence, runtime: Runtime, query: str, within: Sequence[str] | None = None
) -> str:
    """Mark what a search found; the first line names the terms of the query that are not there.

    Args:
        evidence: What was found.
        runtime: The runtime of the tool.
        query: What was searched for.
        within: The ids of the pages that were searched; else those that were found are.
    """
    around = runtime.context
    pages = [source["page"] for source in evidence.sources.values()] if within is None else within
    terms = ", ".join(await list_absent_terms(around.site, pages, query))
    lacks = _say("terms_not_found", runtime, query, terms=terms) if terms else ""
    return join_prompt_blocks(lacks, await show_evidence(evidence, runtime, query))


async def _list_answers(runtime: Runtime) -> list[str]:
    """Return what the calls before this one in the same message of the model have answered.

    They run side by side; without waiting for them, all would show the same passages.
    """
    messages, answers = runtime.state["messages"], runtime.context.tool_answers
    ids = [one["id"] for one in getattr(messages[-1], "tool_calls", [])] if messages else []
    before = ids[: ids.index(runtime.tool_call_id)] if runtime.tool_call_id in ids else []
    loop = asyncio.get_running_loop()
    keys = [tool_answer_key(messages, one) for one in before]
    return [await answers.setdefault(key, loop.create_future()) for key in keys]


def _tell_withheld(evidence: Evidence, runtime: Runtime, query: str) -> str:
    return describe_redacted_queries(evidence.sent, _language(runtime, query))


def _say(name: str, runtime: Runtime, query: str = "", **values: str) -> str:
    """Return an answer in words."""
    return render_prompt(name, language=_language(runtime, query), **values)


def _language(runtime: Runtime, query: str) -> str:
    """Return the language of the role; an agent of another program is answered in its own."""
    around = runtime.context
    return around.language if around.system else detect_language(query)


def _refuse(problem: Problem, runtime: Runtime) -> str:
    note_shown(runtime.context.site, problem.hint)
    what, hint = problem.what, problem.hint
    if isinstance(problem, SourceNotFound):
        what, hint = problem.tell(_language(runtime, runtime.context.question))
    why = f"{what} ({hint})" if hint else what
    return escape_tags(_say("tool_refused", runtime, why=why))


RESEARCH_TOOLS = (search_tool, outline_tool, read_tool, links_tool, open_tool, recall_tool)
"""What a researcher may use to read on."""

WEB_TOOLS = ("links", "open")
"""Those of them for which the web is needed."""


def describe_tool(
    name: str, language: str, *, searches_web: bool, bases: Sequence[str] = ()
) -> str:
    """Return what a model is told of a tool."""
    where = ("_web" if searches_web else "_files") if name == search_tool.name else ""
    told = render_prompt(f"tool_{name}{where}", language=language)
    if not bases or name != search_tool.name:
        return told
    return told + render_prompt("tool_search_bases", language=language, bases=", ".join(bases))
