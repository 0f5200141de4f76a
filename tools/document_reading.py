"""Read on in documents: a section, what is around some words, some lines, or what follows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from sqlalchemy import select

from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.records import Passage, Source
from library.document_outline import find_named_document
from library.document_sections import (
    OutlinedDocument,
    PagePart,
    match_sections,
    outline_document,
)
from library.page_retrieval import FoundPage, document_location
from library.recall import read_pages
from library.tables import documents, pages
from library.uploaded_files import with_uploads
from prompts.data_blocks import find_shown_texts, list_new_passages
from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from report.citations import to_whole_document
from runs.call_site import CallSite
from storage.engine import read_rows
from text.literal_terms import list_missing_terms
from text.normalization import cut_at_word, drop_unstorable, find_quote
from text.reading_windows import section_around
from text.regex import regex
from text.sentences import Span
from text.text_blocks import find_headings, split_blocks
from text.tokens import estimate_tokens
from tools.evidence import Evidence, register_spans
from tools.passage_choice import PassageRequest
from tools.scope_outline import find_scope
from tools.search_answer import answer_search
from tools.site_search import list_site_documents, read_site_name
from tools.web.urls import canonicalise_url

READ_TOKENS = 6_000
"""How many tokens of a document are read at once."""

OUTLINED = 80
"""How many sections of a document are listed."""

NAMED_SECTIONS = 40
"""How many sections are named where one was asked for that there is not."""

NAMED_PAGES = 20
"""How many pages of a site are named where a document was asked for."""

PLACES = 3
"""At how many places some words are read."""

AHEAD = 3_000
"""How many characters are read on behind some words, to the end of a paragraph or a section."""

QUOTED = 200
"""How many characters of what a model asked for are repeated to it."""

_LINES = regex(r"(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?")


class SourceNotFound(Problem):
    """What a model names is nowhere; it is told so in the language of its prompt."""

    def __init__(self, what: str, hint: str, **values: str) -> None:
        self.names, self.values = (what, hint), values
        said, told = self.tell("en")
        super().__init__(ErrorCode.SOURCE_NOT_FOUND, said, hint=told)

    def tell(self, language: str) -> tuple[str, str]:
        """Return what there is not, and what to name instead."""
        said, told = (render_prompt(n, language=language, **self.values) for n in self.names)
        return said.strip(), told.strip()


async def find_document(
    here: CallSite, context: Context, sources: Mapping[str, Source], name: str
) -> OutlinedDocument:
    """Return the document that a model names.

    Args:
        here: The point of the run.
        context: The files of the run.
        sources: The sources that the conversation knows, by id.
        name: The id of a source, a title, the name of a file as an outline has it, or an address.

    Raises:
        Problem: `source_not_found`.
    """
    plain = drop_unstorable(name).strip().strip("[]").strip()
    page = _page_of(sources, plain) or await _find_file(here, context, plain)
    page = page or canonicalise_url(plain)
    document = await outline_document(here.owner, page) if plain else None
    if document:
        return document
    site = read_site_name(plain)
    if site and (known := await list_site_documents(here.owner, site)):
        pages_of_site = ", ".join(known[:NAMED_PAGES])
        raise SourceNotFound("no_document", "name_page", asked=_quoted(plain), pages=pages_of_site)
    # No page of a site is meant by the name of the site alone.
    scope = await find_scope(here, context)
    origin = "" if site else await find_named_document(here.owner, scope, plain)
    document = await outline_document(here.owner, origin) if origin else None
    if document is None:
        raise SourceNotFound("no_document", "name_document", asked=_quoted(plain))
    return document


def _page_of(sources: Mapping[str, Source], name: str) -> str:
    """Return the page of the source with an id, a title or a location; "" for none."""
    if name in sources:
        return sources[name]["page"]
    said = (name.casefold(), canonicalise_url(name).casefold())
    same = (
        one["page"]
        for one in sources.values()
        if said[0] in (one["title"].casefold(), to_whole_document(one)["title"].casefold())
        or {one["location"].casefold(), document_location(one["location"]).casefold()} & {*said}
    )
    return next(same, "")


async def _find_file(here: CallSite, context: Context, name: str) -> str:
    """Return the path of the file of the run that has a name; "" for none."""
    roots = await with_uploads(here.owner, here.thread, context.files)
    listed = select(documents.c.path).where(
        documents.c.owner == here.owner, documents.c.root.in_(roots)
    )
    paths = list((await read_rows(listed)).scalars()) if roots else []
    wanted = PurePath(name).parts
    same = (path for path in paths if PurePath(path).parts[-len(wanted) :] == wanted)
    return next(same, "") if wanted else ""


def describe_outline(document: OutlinedDocument) -> str:
    """Return the sections of a document as lines, each with about how many tokens it has."""
    lines = [f"{cut_injections(document.title)}: {document.tokens:,} tokens"]
    for section in document.sections[:OUTLINED]:
        size = max(section.whole // 4, 1)
        lines.append(f"{'  ' * (section.level - 1)}- {cut_injections(section.title)} ({size:,})")
    if len(document.sections) > OUTLINED:
        lines.append(f"- … and {len(document.sections) - OUTLINED} more")
    return "\n".join(lines)


async def read_part(
    here: CallSite,
    context: Context,
    parts: Sequence[PagePart],
    sources: Mapping[str, Source],
    talk: Sequence[str],
) -> tuple[Evidence, int]:
    """Return parts of a document as passages, and how many tokens did not fit.

    Args:
        here: The point of the run.
        context: The files of the run.
        parts: The parts, in order.
        sources: The sources that the conversation knows, by id.
        talk: The conversation; what it shows already is left out.
    """
    found = {page.id: page for page in await read_pages(here.owner, [one.page for one in parts])}
    ids = {one["page"]: name for name, one in sources.items()}
    chosen, rest = await asyncio.to_thread(_fit_unseen, parts, found, ids, talk)
    return await register_spans(here, chosen, context.files), rest


def _fit_unseen(
    parts: Sequence[PagePart],
    found: Mapping[str, FoundPage],
    ids: Mapping[str, str],
    talk: Sequence[str],
) -> tuple[list[tuple[FoundPage, Span]], int]:
    """Return the first parts with something new in them, and how many tokens did not fit."""
    chosen: list[tuple[FoundPage, Span]] = []
    left = READ_TOKENS
    rest = 0
    shown = find_shown_texts(talk)
    for part in parts:
        page = found.get(part.page)
        text = page.text[part.start : part.end].strip() if page else ""
        source = ids.get(part.page, "")
        new: Sequence[Mapping[str, object]] = [Passage(source=source, text=text)] if text else []
        # Of most pages nothing was shown, and a long document has thousands.
        new = list_new_passages(new, shown) if source in shown else new
        if not page or not new:
            continue
        size = sum(estimate_tokens(str(one["text"])) for one in new)
        if rest or (chosen and size > left):
            rest += size
            continue
        start = page.text.index(text, part.start)
        chosen.append((page, Span(start, start + len(text), text)))
        left -= size
    return chosen, rest


def section_parts(document: OutlinedDocument, section: str) -> Sequence[PagePart]:
    """Return where the section that some words name is, or where all of that title are.

    Raises:
        Problem: `source_not_found`.
    """
    found = match_sections(document, section)
    if not found:
        titles = list(dict.fromkeys(one.title for one in document.sections))
        named = [*map(cut_injections, titles[:NAMED_SECTIONS])]
        named += [f"… +{len(titles) - NAMED_SECTIONS}"] if titles[NAMED_SECTIONS:] else []
        values = {"document": _quoted(document.title), "asked": _quoted(section)}
        raise SourceNotFound("no_section", "name_section", **values, titles="; ".join(named))
    parts: list[PagePart] = []
    end = 0
    for one in found:
        # A section in one of the same title is read with it.
        if one.start >= end:
            parts += one.parts
            end = one.start + one.whole
    return parts


def _quoted(words: str) -> str:
    """Return some words of a model or a title as a message quotes them."""
    return repr(cut_at_word(cut_injections(words), QUOTED))


async def line_parts(here: CallSite, document: OutlinedDocument, lines: str) -> list[PagePart]:
    """Return where lines of the text of a document are, such as `120-180`, counted from 1.

    Raises:
        Problem: `source_not_found` if they are no lines of it.
    """
    asked = _LINES.fullmatch(lines.strip())
    first = int(asked[1]) if asked else 0
    last = int(asked[2] or asked[1]) if asked else 0
    texts = {
        page.id: page.text
        for page in await read_pages(here.owner, list_document_page_ids(document))
    }
    parts: list[PagePart] = []
    done = 0
    for part in document.pages:
        rows = texts.get(part.page, "").split("\n")
        start, end = max(first - done, 1), min(last - done, len(rows))
        if start <= end:
            before = sum(len(row) + 1 for row in rows[: start - 1])
            parts.append(
                PagePart(part.page, before, before + len("\n".join(rows[start - 1 : end])))
            )
        done += len(rows)
    if not parts:
        values = {"document": _quoted(document.title), "asked": _quoted(lines)}
        raise SourceNotFound("no_lines", "name_lines", **values, count=str(done))
    return parts


async def list_absent_terms(here: CallSite, page_ids: Sequence[str], query: str) -> list[str]:
    """Return the literal terms of a query that stand on none of some pages; without pages, none."""
    found = await read_pages(here.owner, page_ids)
    if not found:
        return []
    return list_missing_terms(query, [f"{page.title}\n{page.text}" for page in found])


async def search_document(
    here: CallSite, context: Context, document: OutlinedDocument, query: str
) -> Evidence:
    """Return what answers a query in one document, in all of its pages."""
    found = await read_pages(here.owner, list_document_page_ids(document))
    wanted = PassageRequest([query], READ_TOKENS)
    return await answer_search(here, context, [found], wanted, context.files)


async def around_parts(here: CallSite, document: OutlinedDocument, words: str) -> list[PagePart]:
    """Return where some words of a document stand, each place with what is around it.

    A place is the section of the words, or of a long one the paragraphs from shortly before the
    words on. Places at the beginning of a line come first, such as the entry of a manual.
    """
    found = [
        (span, page)
        for page in await read_pages(here.owner, list_document_page_ids(document))
        for span in _find_places(words, page.text)
    ]
    found.sort(key=lambda one: one[1].text[: one[0].start].rstrip(" `*-#")[-1:] not in ("", "\n"))
    return [PagePart(page.id, *_around(page.text, span)) for span, page in found[:PLACES]]


def _find_places(words: str, text: str) -> Iterator[Span]:
    """Yield the first places of some words in a text, however they are broken into lines."""
    done = 0
    for _ in range(PLACES if words.strip() else 0):
        found = find_quote(words, text[done:])
        if found is None:
            return
        yield Span(done + found.start, done + found.end, found.text)
        done += found.end


def _around(text: str, place: Span) -> tuple[int, int]:
    """Return the ends of what is read around a place."""
    section = section_around(text, place)
    heading = next((one.start for one in find_headings(text) if one.start > place.end), len(text))
    most = min(heading, place.end + AHEAD)
    ends = (end for _, end in split_blocks(text) if end <= most)
    return section.start, max([section.end, *ends])


def list_document_page_ids(document: OutlinedDocument) -> list[str]:
    """Return the ids of the pages of a document, in order."""
    return [part.page for part in document.pages]


async def list_links(here: CallSite, document: OutlinedDocument) -> dict[str, str]:
    """Return the addresses that a web page links to, each with the words of the link."""
    return await list_page_links(here.owner, list_document_page_ids(document))


async def list_page_links(owner: str, page_ids: Sequence[str]) -> dict[str, str]:
    """Return the addresses that some web pages link to, each with the words of the link."""
    wanted = select(pages.c.links).where(
        pages.c.owner == owner, pages.c.kind == "web", pages.c.id.in_(page_ids)
    )
    rows = (await read_rows(wanted)).scalars()
    pairs = (link.partition(" ") for row in rows for link in json.loads(row))
    return {address: words for address, _, words in pairs}


async def open_pages(here: CallSite, context: Context, found: Sequence[FoundPage]) -> Evidence:
    """Return the first pages of a document of the web as passages, as far as they fit."""
    chosen: list[tuple[FoundPage, Span]] = []
    left = READ_TOKENS
    for page in found:
        left -= estimate_tokens(page.text)
        if chosen and left < 0:
            break
        chosen.append((page, Span(0, len(page.text), page.text)))
    return await register_spans(here, chosen, context.files)
