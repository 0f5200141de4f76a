"""The shape of a document: everything that a reader is shown of a run."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from graph.records import Doubted, Removed, Source


class Gap(TypedDict):
    """A step, a search or a provider of web search that did not come out well."""

    title: str
    status: str
    reason: str
    """A code, with more after a colon where there is more to say; or words."""


class Document(TypedDict):
    """A report with all that stands around it; plain data, so it can be stored and sent."""

    title: str
    question: str
    """What was asked, in the words of the person; nothing where the title says the same."""
    researched: NotRequired[str]
    """The same in a form that stands alone, where a follow-up was put into one."""
    status: str
    notices: list[str]
    body: str
    """Checked markdown, with the marks `[S3]` and `<q s="S3">…</q>`."""
    gaps: list[Gap]
    searched: list[str]
    sources: list[Source]
    """The whole registry of the thread; only what the body cites is shown."""
    texts: dict[str, str]
    """The text of each page that is cited, by the id of its source; a page shows parts of them."""
    removed: list[Removed]
    doubted: list[Doubted]
    command: NotRequired[str]
    """What lists the sentences that were removed; nothing for a reader without a terminal."""
    unreviewed: int
    """How many findings nobody could judge; their quotations are checked all the same."""
    language: str
    created: str
    """The day, as an ISO date."""
