"""What every kind of knowledge base can do, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field

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


def unavailable(what: str, where: str = "", hint: str = "") -> Problem:
    """Return the problem that a base cannot be searched."""
    return Problem(ErrorCode.KNOWLEDGE_UNAVAILABLE, what, where=where, hint=hint)


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
