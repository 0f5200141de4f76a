"""What one document holds that takes memory from one home to another; checked before it is used."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from memory.facts.fact import Category
from memory.pages.rows import Provenance, storable
from memory.profile.shape import Profile, Trait

Text = Annotated[str, AfterValidator(storable)]


def on_one_line(text: str) -> str:
    """Return a text with spaces in the place of its line breaks."""
    return " ".join(text.split())


Line = Annotated[Text, AfterValidator(on_one_line)]
Id = Annotated[str, Field(max_length=32)]
Run = Annotated[str, Field(max_length=80)]
Time = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class Strict(BaseModel):
    """Part of the document: a name that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid")


class FactLine(Strict):
    """A fact that is known, or was; what a tool or a web page said is none."""

    id: Id = Field(min_length=1)
    content: Line = Field(min_length=1)
    category: Category
    confidence: Share
    quote: Line
    thread: str = Field(max_length=64)
    run: Run
    message: Text
    provenance: Literal["user", "model"]
    created: Time
    valid_from: Time
    valid_to: Time | None
    superseded_by: Id
    live: bool


class PageLine(Strict):
    """A page; what was read on the web says so."""

    id: Id = Field(min_length=1)
    kind: str = Field(min_length=1, max_length=16)
    origin: Text
    groups: list[Text]
    place: Text
    session: Text
    position: Count
    title: Text
    abstract: Text
    text: Text
    speaker: Text
    said: str = Field(max_length=40)
    links: list[str]
    provenance: Provenance
    run: Run
    created: Time
    expires: Time | None
    superseded_by: Id
    found: bool
    """Whether searches find it still."""

    @model_validator(mode="after")
    def _stays_web(self) -> PageLine:
        if self.kind == "web" and self.provenance != "web":
            msg = f"a page of the web is not by {self.provenance}"
            raise ValueError(msg)
        return self


class DocumentLine(Strict):
    """Where a file lay that pages are from."""

    root: Text
    path: Text
    size: Count
    modified: int
    sha256: str = Field(max_length=64)
    reader: int
    code: str = Field(max_length=64)
    reason: Text


class FileLine(Strict):
    """A memory file: `person`, or its path in the project's folder."""

    name: Literal["person", "AGENTS.md", ".dossier/AGENTS.md"]
    text: Text


class EventLine(Strict):
    """A line of the log."""

    id: int
    run: Run
    step: str = Field(max_length=32)
    name: str = Field(min_length=1, max_length=64)
    item: Text = Field(max_length=200)
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    provenance: str = Field(max_length=8)
    why: Text
    at: Time


class InsightLine(Strict):
    """What past runs teach, and which of them speak for it (1) or against it (-1)."""

    id: Id = Field(min_length=1)
    content: Text = Field(min_length=1)
    projections: dict[str, Text]
    provenance: Provenance
    wins: Count
    uses: Count
    live: bool
    merged_into: Id
    created: Time
    runs: dict[Run, Literal[1, -1]]


Stranger = TypeVar("Stranger", PageLine, InsightLine)


def _on_lines(profile: Profile) -> Profile:
    """Return a profile whose traits and the words they rest on are on one line each."""
    return Profile(
        identities=[_on_line(one) for one in profile["identities"]],
        characteristics=[_on_line(one) for one in profile["characteristics"]],
        tastes={name: _on_line(one) for name, one in profile["tastes"].items()},
    )


def _on_line(trait: Trait) -> Trait:
    folded = {name: on_one_line(trait[name]) for name in ("text", "quote")}
    return Trait(**{**trait, **folded})  # type: ignore[typeddict-item]


class Moved(Strict):
    """Everything that is remembered for one person and project."""

    format: Literal["dossier memory"] = "dossier memory"
    version: Literal[1] = 1
    user: str
    project: str
    at: Time
    facts: list[FactLine]
    profile: Annotated[Profile, AfterValidator(_on_lines)] | None
    files: list[FileLine]
    pages: list[PageLine]
    documents: list[DocumentLine]
    events: list[EventLine]
    insights: list[InsightLine]

    def claims(self) -> list[str]:
        """Return the parts that speak for the person."""
        parts = ("facts", "profile", "files", "events")
        own = any(one.provenance == "user" for one in self.insights)
        return [*(name for name in parts if getattr(self, name)), *(["insights"] if own else [])]

    def unvouched(self) -> Moved:
        """Return what remains where nobody vouches for it: pages, and insights of a stranger."""
        pages = [_strange(one) for one in self.pages]
        insights = [_strange(one) for one in self.insights]
        left: dict[str, Any] = {"facts": [], "profile": None, "files": [], "events": []}
        return self.model_copy(update={**left, "pages": pages, "insights": insights})

    def counts(self) -> dict[str, int]:
        """Return how much there is of each."""
        names = ("facts", "pages", "insights", "events", "files")
        return {name: len(getattr(self, name)) for name in names}


def _strange(line: Stranger) -> Stranger:
    """Return a line that is trusted no more than what a tool says."""
    foreign = line.provenance in ("tool", "web")
    return line if foreign else line.model_copy(update={"provenance": "tool"})
