"""What every kind of knowledge base can do, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from config.errors import ErrorCode, Problem
from library.knowledge_records import UNANSWERED_PREFIX
from library.page_metadata import NO_METADATA, PageMetadata
from tools.folder_ingestion import SkippedFile

Progress = Callable[[str], None]
"""Called with the name of each document that is done."""


class BaseOptions(BaseModel):
    """What may be said of a base of any kind, beside its name, place and subject."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hyde: bool = False
    """Whether it is searched with a likely answer, too, which a model writes."""
    translate: Literal["", "en", "zh"] = ""
    """The language of its documents, if questions in another one are translated for it."""
    trusted: bool = False
    """Whether queries may hold words of the person's files and memory, as where it is their own."""


def _split(given: Any) -> Any:
    """Read a list that stands in one text: as JSON, or with commas between its entries."""
    if not isinstance(given, str):
        return given
    try:
        read = json.loads(given)
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, list) else [one.strip() for one in given.split(",")]


NameList = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(_split),
    Field(min_length=1),
]
"""Names, which a command line gives in one text with commas between them."""

VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
"""The name of a variable of the environment that holds a key."""


class BasePassage(NamedTuple):
    """A piece of a document of a base, as its search returns it."""

    title: str
    text: str
    location: str
    """The path or address of the document, or "" if it has none."""
    place: str = ""
    """Where in the document it is."""
    metadata: PageMetadata = NO_METADATA


class RefreshResult(NamedTuple):
    """What reading the documents of a base anew did; all zero for a service."""

    files: int = 0
    read: int = 0
    skipped: tuple[SkippedFile, ...] = ()

    @property
    def known(self) -> int:
        """The number of documents that were read before and have not changed."""
        return self.files - self.read - len(self.skipped)


class KnowledgeSource(Protocol):
    """A knowledge base that can be searched."""

    is_remote: bool
    """Whether queries leave this machine, so that they are checked first and recorded."""

    async def search(self, query: str, limit: int) -> list[BasePassage]:
        """Return at most `limit` passages, the best first.

        Raises:
            Problem: `knowledge_unavailable` if it cannot be searched.
        """

    async def refresh(self, progress: Progress) -> RefreshResult:
        """Read new and changed documents; a service has nothing to read.

        Raises:
            Problem: If nothing can be read.
        """

    async def check(self) -> str:
        """Return in a few words how it stands.

        Raises:
            Problem: `knowledge_unavailable` if it cannot be searched.
        """


class BaseUnanswered(Problem):
    """A knowledge base that could not be searched."""

    def __init__(self, name: str, why: Problem) -> None:
        super().__init__(ErrorCode.KNOWLEDGE_UNAVAILABLE, why.what, where=name, hint=why.hint)
        self.failures: Mapping[str, str] = {f"{UNANSWERED_PREFIX}{name}": why.what}
        """Why not, by the name of the base."""


class BaseUnreachable(Problem):
    """A service that nothing was heard of, so that it need not be asked anything else now."""

    def __init__(self, what: str, where: str = "") -> None:
        hint = "check its address, and whether it can be reached from this machine"
        super().__init__(ErrorCode.KNOWLEDGE_UNAVAILABLE, what, where=where, hint=hint)


def unavailable(what: str, where: str = "", hint: str = "") -> Problem:
    """Return the problem that a base cannot be searched."""
    return Problem(ErrorCode.KNOWLEDGE_UNAVAILABLE, what, where=where, hint=hint)


RANK_CONSTANT = 60
"""What is added to a rank before it is inverted, so that no first place outweighs several."""


def join_by_rank(results: Sequence[Sequence[BasePassage]]) -> list[tuple[BasePassage, float]]:
    """Join results of several searches by their ranks, the best first, each with its score.

    Scores of different searches are no measure of each other: one of words has no upper bound, one
    of vectors is at most 1. (Cormack et al. 2009, reciprocal rank fusion.)
    """
    scores: dict[tuple[str, str, str], float] = {}
    passages: dict[tuple[str, str, str], BasePassage] = {}
    for found in results:
        for rank, passage in enumerate(found, start=1):
            key = (passage.location, passage.place, passage.text)
            passages.setdefault(key, passage)
            scores[key] = scores.get(key, 0.0) + 1 / (RANK_CONSTANT + rank)
    return [(passages[key], scores[key]) for key in sorted(scores, key=lambda key: -scores[key])]


def find_field(data: Any, path: str) -> Any:
    """Return what stands in nested data under a name with full stops; `None` for nothing."""
    if isinstance(data, Mapping) and path in data:
        return data[path]
    for name in path.split("."):
        data = data.get(name) if isinstance(data, Mapping) else None
    return data


def to_text(value: Any) -> str:
    """Return a value of a service as text; "" for what is none."""
    if isinstance(value, list):
        return "\n".join(filter(None, map(to_text, value)))
    return str(value) if isinstance(value, (str, int, float)) else ""
