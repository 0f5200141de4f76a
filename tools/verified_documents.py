"""Load the documents against which a report is verified: files, stored pages, sources of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from anyio import to_thread

from config.errors import Problem
from graph.state import State
from library.documents import list_stored_files
from library.store import (
    find_altered_pages,
    find_computed_result,
    list_page_ids,
    read_page_texts,
)
from report.verify.cited_report import Reference
from report.verify.computed_references import ComputedReference, parse_computed_reference
from report.verify.given_documents import GivenDocument, build_cited_documents
from report.verify.reference_list import find_address
from text.regex import regex
from tools.files.extractor import extract_document
from tools.files.formats import find_files
from tools.source_checks import load_cited_texts
from tools.web.urls import canonicalise_url

_DECLARED = regex(
    r"(?im)^\W{0,4}(?:url|source(?:[_ ]url)?|address|link|permalink|canonical|来源|网址|链接)\W{0,3}[:：=]\s*\W?(?=https?://)"
)
_CANONICAL = regex(
    r"(?is)<link\b[^>]*\brel=[\"']?canonical[^>]*>|<meta\b[^>]*\bog:url[^>]*>"
    r"|<!--\s*saved from url=\(\d+\)\s*\S+"
)
_HEAD_CHARS = 20_000
_DECLARING_CHARS = 1_500


class GivenFiles(NamedTuple):
    """What was read of some files and folders."""

    documents: list[GivenDocument]
    unread: dict[str, str]
    """Why a file was not read, by its path."""


async def read_given_files(paths: Sequence[Path]) -> GivenFiles:
    """Read the documents below some files and folders; nothing is stored.

    Raises:
        Problem: `file_not_found` for a path that there is not.
    """
    given = GivenFiles([], {})
    for root in paths:
        for path in await to_thread.run_sync(find_files, root):
            try:
                given.documents.append(await _read_file(path, root.resolve()))
            except Problem as problem:
                given.unread[str(path)] = problem.what
    return given


async def _read_file(path: Path, root: Path) -> GivenDocument:
    document = await extract_document(path)
    sections = document["sections"]
    text = "\n\n".join(
        f"{one['title']}\n{one['text']}" if one["title"] not in one["text"] else one["text"]
        for one in sections
    )
    declared = await to_thread.run_sync(_read_declared_addresses, path, text)
    name = str(path.relative_to(root)) if root in path.parents else path.name
    return GivenDocument(
        name=name,
        title=document["title"],
        text=text,
        addresses=(str(path), *map(canonicalise_url, declared)),
        published=document["metadata"].published if "metadata" in document else "",
    )


def _read_declared_addresses(path: Path, text: str) -> list[str]:
    """Return the addresses that a file says it is from, in its head or its first lines."""
    found: list[str] = []
    if path.suffix.lower() in (".html", ".htm", ".xhtml"):
        with path.open("rb") as stream:
            head = stream.read(_HEAD_CHARS).decode("utf-8", "replace")
        found += [find_address(one[0]) for one in _CANONICAL.finditer(head)]
    start = text[:_DECLARING_CHARS]
    if path.suffix.lower() in (".md", ".markdown", ".txt"):
        with path.open("rb") as stream:
            start = stream.read(_DECLARING_CHARS).decode("utf-8", "replace")
    found += [find_address(start[one.end() :]) for one in _DECLARED.finditer(start)]
    return list(dict.fromkeys(filter(None, found)))


async def load_stored_documents(owner: str, references: Iterable[Reference]) -> list[GivenDocument]:
    """Return the stored documents of references: pages of addresses and files, and results."""
    computed, addresses = list[GivenDocument](), list[str]()
    for one in references:
        cited = parse_computed_reference(one)
        if cited:
            computed += await _load_result(owner, one.address, cited)
        elif one.address:
            addresses.append(one.address)
    return [*computed, *await _load_pages(owner, addresses)]


async def _load_result(owner: str, address: str, cited: ComputedReference) -> list[GivenDocument]:
    page = await find_computed_result(owner, cited.place, cited.titles)
    texts = await read_page_texts(owner, [page]) if page else {}
    altered = bool(await find_altered_pages(owner, list(texts)))
    title = next(iter(cited.titles), "")
    return [GivenDocument(address, title, text, (address,), "", altered) for text in texts.values()]


async def _load_pages(owner: str, addresses: Sequence[str]) -> list[GivenDocument]:
    files = {one.path: one.sha256 for one in await list_stored_files(owner)}
    documents: list[GivenDocument] = []
    for address in dict.fromkeys(addresses):
        key = canonicalise_url(address)
        web = key.startswith(("http://", "https://"))
        origin = key if web else files.get(address, "")
        ids = await list_page_ids(owner, "web" if web else "file", origin) if origin else []
        texts = await read_page_texts(owner, ids)
        if texts:
            text = "\n\n".join(texts[one] for one in ids if one in texts)
            altered = bool(await find_altered_pages(owner, ids))
            documents.append(GivenDocument(address, "", text, (key,), "", altered))
    return documents


async def load_run_documents(owner: str, state: State) -> list[GivenDocument]:
    """Return the documents that the report of a run cites, with the text of their cited pages."""
    texts = await load_cited_texts(owner, state)
    sources = state.get("sources", {})
    changed = await find_altered_pages(owner, [sources[name]["page"] for name in texts])
    altered = [name for name in texts if sources[name]["page"] in changed]
    return build_cited_documents(sources, texts, altered, canonicalise_url)
