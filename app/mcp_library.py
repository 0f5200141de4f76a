"""What clients of MCP are answered from the library: passages of a search, parts of documents."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from typing_extensions import TypedDict

from calls.run_budget import end_thread_sessions
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.records import Passage, Source
from library.document_sections import OutlinedDocument, PagePart, outline_document
from library.page_retrieval import (
    FoundPage,
    document_location,
    find_misspellings,
    search_pages,
)
from library.recall import read_pages, trace_reports
from library.scope import Scope, resolve_scope
from library.spelling import apply_corrections
from prompts.data_blocks import join_prompt_blocks, render_block, render_pages_block
from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from runs.call_site import CallSite
from runs.lifecycle import check_question
from text.normalization import drop_unstorable
from text.script import detect_language
from text.tokens import estimate_tokens
from tools.document_reading import (
    QUOTED,
    READ_TOKENS,
    around_parts,
    describe_outline,
    line_parts,
    list_document_page_ids,
    section_parts,
)
from tools.evidence import WIDE_PAGES
from tools.passage_choice import PassageRequest
from tools.search_answer import ANSWER_TOKENS, answer_search
from tools.web.urls import canonicalise_url

SOURCE_KINDS = ("file", "web")
"""The kinds of pages that are searched where none is named: those that can be cited."""


class FoundPassage(TypedDict):
    """A passage, with the page that it stands on."""

    page: str
    title: str
    location: str
    kind: str
    text: str


class SearchAnswer(TypedDict):
    """What a search found."""

    query: str
    """As it was searched for, with misspelt words corrected."""
    passages: list[FoundPassage]


class ReadAnswer(TypedDict):
    """A part of a document."""

    page: str
    """The id of the page with which the part begins."""
    title: str
    location: str
    first_line: int
    last_line: int
    lines: int
    """How many lines the whole document has."""
    next_lines: str
    """What to read next, such as `121-480`; empty at the end of what was asked for."""
    text: str


async def search_library(here: CallSite, query: str, within: str) -> tuple[str, SearchAnswer]:
    """Return the passages that answer a query best, as text for a model and as data.

    Args:
        here: Whose library, and the thread in which its sources are numbered.
        query: What is looked for.
        within: A kind of pages, a folder or a conversation; the files and web pages where empty.

    Raises:
        Problem: `question_empty`, `question_too_long` or `namespace_not_found`.
    """
    query = check_question(query)
    scope = await resolve_scope(here.owner, within) if within else Scope(SOURCE_KINDS)
    query = apply_corrections(query, await find_misspellings(here.owner, query, *scope))
    results = await search_pages(here.owner, query, WIDE_PAGES, *scope)
    found = await trace_reports(here.owner, query, [result.page for result in results])
    wanted = PassageRequest([query], ANSWER_TOKENS)
    try:
        evidence = await answer_search(here, Context(), [found], wanted, [])
    finally:
        end_thread_sessions(here.thread)
    shown = render_by_page(evidence.passages, evidence.sources)
    shown = shown or render_prompt("nothing_found", language=detect_language(query))
    passages = list_passages(evidence.passages, evidence.sources)
    return shown, SearchAnswer(query=query, passages=passages)


def render_by_page(passages: Sequence[Passage], sources: Mapping[str, Source]) -> str:
    """Mark passages, each with the id of its page, by which `read` goes on."""
    renamed = [{**one, "source": sources[one["source"]]["page"]} for one in passages]
    by_page = {one["page"]: {**one, "id": one["page"]} for one in sources.values()}
    return render_pages_block(renamed, by_page)


def list_passages(passages: Sequence[Passage], sources: Mapping[str, Source]) -> list[FoundPassage]:
    """Return passages as data, without what gives instructions to the model that reads them."""
    return [
        FoundPassage(
            page=sources[one["source"]]["page"],
            title=cut_injections(sources[one["source"]]["title"]),
            location=sources[one["source"]]["location"],
            kind=sources[one["source"]]["kind"],
            text=cut_injections(one["text"]),
        )
        for one in passages
    ]


class _Line(NamedTuple):
    """A line of a document, by its number from 1, and the page that it stands on."""

    number: int
    page: FoundPage
    text: str


async def read_document(
    here: CallSite, name: str, section: str, around: str, lines: str
) -> tuple[str, ReadAnswer]:
    """Return a part of a stored document, at most about `READ_TOKENS`, as text and as data.

    Args:
        here: Whose document.
        name: The id of any of its pages, its path, its address, or the run of a report.
        section: The title of a section, or words of it.
        around: Words that stand in the part to read.
        lines: Lines of its text, such as `120-180`.

    Raises:
        Problem: `source_not_found` if there is no such document, section, word or line.
    """
    document = await find_stored_document(here.owner, name)
    parts = await _list_parts(here, document, section, around, lines)
    found = await read_pages(here.owner, list_document_page_ids(document))
    every, chosen = await asyncio.to_thread(_number_lines, found, parts)
    shown, rest = _fit(chosen)
    answer = _describe(document, shown, rest, every)
    return _render(document, answer, with_outline=bool(rest) and len(parts) > 1), answer


async def find_stored_document(owner: str, name: str) -> OutlinedDocument:
    """Return the document that a client names.

    Raises:
        Problem: `source_not_found`.
    """
    plain = drop_unstorable(name).strip()
    names = (plain, document_location(plain), canonicalise_url(plain))
    for one in filter(None, dict.fromkeys(names)):
        if document := await outline_document(owner, one):
            return document
    hint = "give the id of a page as search shows it, a path or an address that was read"
    what = f"no document is named {cut_injections(plain)[:QUOTED]!r}"
    raise Problem(ErrorCode.SOURCE_NOT_FOUND, what, hint=hint)


async def _list_parts(
    here: CallSite, document: OutlinedDocument, section: str, around: str, lines: str
) -> Sequence[PagePart]:
    if around:
        parts = await around_parts(here, document, around)
        if not parts:
            what, hint = f"it does not say {around[:QUOTED]!r}", "search for it, or read a section"
            raise Problem(ErrorCode.SOURCE_NOT_FOUND, what, where=document.title, hint=hint)
        return parts
    if lines:
        return await line_parts(here, document, lines)
    if section:
        return await asyncio.to_thread(section_parts, document, section)
    return document.pages


def _number_lines(found: Sequence[FoundPage], parts: Sequence[PagePart]) -> tuple[int, list[_Line]]:
    """Return how many lines a document has, and those of its parts, each of them once."""
    chosen = list[_Line]()
    done = 0
    for page in found:
        ends = [(one.start, one.end) for one in parts if one.page == page.id]
        rows = page.text.split("\n")
        if ends:
            chosen += _choose_lines(page, rows, ends, done)
        done += len(rows)
    return done, chosen


def _choose_lines(
    page: FoundPage, rows: Sequence[str], ends: Sequence[tuple[int, int]], done: int
) -> Iterator[_Line]:
    """Yield the lines of a page of which a part begins or lies within some ends."""
    at = 0
    for number, row in enumerate(rows, start=done + 1):
        if any(start <= at + len(row) and at < end for start, end in ends):
            yield _Line(number, page, row)
        at += len(row) + 1


def _fit(chosen: Sequence[_Line]) -> tuple[Sequence[_Line], Sequence[_Line]]:
    """Return the first lines that fit what is read at once, at least one, and the others."""
    left = READ_TOKENS
    for at, line in enumerate(chosen):
        left -= estimate_tokens(line.text) + 1
        if at and left < 0:
            return chosen[:at], chosen[at:]
    return chosen, ()


def _describe(
    document: OutlinedDocument, shown: Sequence[_Line], rest: Sequence[_Line], every: int
) -> ReadAnswer:
    page = shown[0].page
    return ReadAnswer(
        page=page.id,
        title=cut_injections(document.title),
        location=page.location,
        first_line=shown[0].number,
        last_line=shown[-1].number,
        lines=every,
        next_lines=f"{rest[0].number}-{rest[-1].number}" if rest else "",
        text=cut_injections("\n".join(line.text for line in shown)),
    )


def _render(document: OutlinedDocument, answer: ReadAnswer, *, with_outline: bool) -> str:
    lines = f"{answer['first_line']}-{answer['last_line']} of {answer['lines']}"
    named = {"id": answer["page"], "title": answer["title"], "location": answer["location"]}
    shown = render_block("page", answer["text"], **named, lines=lines)
    outline = render_block("outline", describe_outline(document)) if with_outline else ""
    following = answer["next_lines"]
    more = render_prompt("mcp_goes_on", lines=following) if following else ""
    return join_prompt_blocks(outline, shown, more)
