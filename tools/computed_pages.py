"""Store what was worked out for a question as pages that can be cited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from graph.records import Passage, Source
from library.documents import FILE_KIND
from library.knowledge_records import KNOWLEDGE_KIND
from library.page_metadata import PageMetadata
from library.page_retrieval import FoundPage
from library.page_rows import NewPage
from library.store import store_computed_page
from prompts.loader import render_prompt
from report.markdown.sanitizer import strip_markup
from report.source_registry import CitablePage, register_sources
from runs.call_site import CallSite
from text.regex import regex

COMPUTATION = "computation"
"""The kind of the pages of a computation without inputs, and the name of its place."""

_MARKS = regex(r"\[(?P<id>S[1-9]\d*|\?)\]|`")
"""What would be the mark of a source in a report, or of code."""


class DerivedText(NamedTuple):
    """What was worked out: its words, and what it was worked out from."""

    kind: str
    """The kind of what it was worked out from."""
    origin: str
    location: str
    title: str
    place: str
    text: str
    base: str = ""
    """The knowledge base that it was worked out from, if it was one."""


class DirectAnswer(NamedTuple):
    """Passages that answer a question by themselves, their sources, and what is still open."""

    passages: list[Passage]
    sources: dict[str, Source]
    reason: str = ""
    """Why it is no whole answer; empty where it is."""
    whole: bool = True
    """Whether nothing of the question is left to be researched."""
    uncomputed: tuple[tuple[str, str], ...] = ()
    """What was asked of a table and not computed, each part of the question with the reason."""


async def record_direct_answer(
    here: CallSite, made: Sequence[DerivedText], reason: str = ""
) -> DirectAnswer:
    """Return what was worked out as passages of sources of this thread."""
    citable = []
    for one in made:
        new = NewPage(title=one.title, place=one.place, text=one.text)
        if one.base:
            # The same table may be a file of the run, too.
            new |= name_base(one.base, one.origin)
        page = await store_computed_page(here.owner, one.kind, one.origin, new)
        location = f"{one.location}#{one.place}" if one.place else one.location
        citable.append(CitablePage(page, one.title, location, "computed"))
    sources = await register_sources(here.thread, citable)
    passages = [
        Passage(source=source["id"], text=one.text)
        for source, one in zip(sources, made, strict=True)
    ]
    return DirectAnswer(passages, {one["id"]: one for one in sources}, reason)


def make_citable(page: FoundPage) -> CitablePage:
    """Return a page that a search found as the registry takes it.

    What a program of an earlier run printed, to which its report leads, is cited as computed: it
    does not stand in the file from which it was computed, and is run again when it is cited.
    """
    _, mark, digest = page.location.partition(f"#{COMPUTATION}=")
    inputs = _find_inputs(page.text) if mark and page.kind == FILE_KIND else ("", "")
    if not inputs[0]:
        return CitablePage(page.id, page.title, page.location, page.kind)
    language, names = inputs
    place = render_prompt("computation_of", language=language, digest=digest, inputs=names)
    return CitablePage(page.id, page.title, place, "computed")


def _find_inputs(text: str) -> tuple[str, str]:
    """Return the language of what a program printed, and the names of the files that it read."""
    head = text.partition("\n")[0] + " "
    for language in ("en", "zh"):
        told = render_prompt("computed_from", language=language, inputs="\0")
        before, _, after = told.partition("\0")
        names, mark, _ = head.removeprefix(before).partition(f"{after} ")
        if head.startswith(before) and mark:
            return language, names
    return "", ""


def name_base(base: str, *origins: str) -> NewPage:
    """Return the fields of a page that was computed from documents of a knowledge base."""
    session = f"{KNOWLEDGE_KIND} {base} computed"
    named = {"session": session, "metadata": PageMetadata(site=base), "links": [*origins]}
    return cast("NewPage", named)


def to_plain_line(text: str) -> str:
    """Return a text in one line as a report shows it: no marks, no tags, and no addresses."""
    bare = _MARKS.sub(lambda mark: f"({mark['id']})" if mark["id"] else "", text)
    return " ".join(strip_markup(bare).replace("\0", "").split())
