"""Knowledge bases over HTTP: list, make one of a folder of uploads, refresh, search, remove."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from app.api.parameters import Caller, Name, Owner, Words
from app.api.problem_answers import tell_problems
from app.api.router import make_router
from app.api.server_paths import load_path_filter
from config.errors import ErrorCode, Problem
from library.knowledge_records import KnowledgeBase
from library.uploads import list_upload_folders
from tools.knowledge.catalog import find_bases, list_bases
from tools.knowledge.creation import add_new_base
from tools.knowledge.kinds import UPLOADS_KIND, make_base, open_base
from tools.knowledge.knowledge_source import RefreshResult
from tools.knowledge.removal import remove_base

router = make_router("Knowledge bases", "/api/knowledge-bases")


class KnowledgeBaseAnswer(BaseModel):
    """A knowledge base that a person may search."""

    name: str
    about: str = Field(description="What it answers, by which it is chosen for a question.")
    kind: str
    folder: str = Field(description="The id of its folder of uploads; empty for another kind.")
    shared: bool = Field(description="Whether it is the operator's, and so everybody's.")


class NewKnowledgeBase(BaseModel):
    """A knowledge base to be made of a folder of uploads."""

    name: Name = Field(examples=["handbook"])
    about: Words = Field(examples=["How our machines are operated and repaired"])
    folder: Name = Field(description="The id of a folder of uploads.")


class LeftOutFile(BaseModel):
    """A file that could not be read."""

    name: str
    code: str
    reason: str


class RefreshedBase(BaseModel):
    """The result of refreshing a knowledge base."""

    name: str
    files: int
    read: int
    known: int = Field(description="How many files had been read before.")
    skipped: list[LeftOutFile]


class RemovedBase(BaseModel):
    """What was erased with a knowledge base, and what was kept."""

    name: str
    documents: int
    passages: int
    cited: list[str] = Field(description="The pages that stay as sources of conversations.")
    threads: list[str] = Field(description="Those conversations.")


class FoundPassageAnswer(BaseModel):
    """A passage from a document of a knowledge base."""

    title: str
    location: str
    place: str
    text: str


BaseName = Annotated[Name, Path(description="The name of the knowledge base.")]
_UNKNOWN = tell_problems("knowledge_unknown", "knowledge_unavailable")


@router.get("", summary="The knowledge bases you may search")
async def list_api_bases(owner: Owner) -> list[KnowledgeBaseAnswer]:
    """Return the person's knowledge bases and the operator's, ordered by name."""
    return [_describe(base) for base in await list_bases(owner)]


@router.post(
    "",
    status_code=201,
    summary="Make a knowledge base of a folder of uploads",
    responses=tell_problems(
        *("knowledge_exists", "knowledge_invalid", "knowledge_unavailable"),
        "upload_folder_not_found",
    ),
)
async def add_api_base(owner: Owner, new: NewKnowledgeBase) -> RefreshedBase:
    """Read the files of a folder into an index of its own, which runs search separately."""
    await list_upload_folders(owner, new.folder)
    base = make_base(new.name, new.about, new.folder, {}, kind=UPLOADS_KIND, owner=owner)
    return _describe_refresh(base, await add_new_base(base, _refresh))


@router.get("/{name}", summary="A knowledge base", responses=_UNKNOWN)
async def get_api_base(name: BaseName, owner: Owner) -> KnowledgeBaseAnswer:
    """Return what a knowledge base is about."""
    (base,) = await find_bases(owner, [name])
    return _describe(base)


@router.post(
    "/{name}/refresh",
    summary="Read what is new or has changed",
    responses={**_UNKNOWN, **tell_problems("operator_only")},
)
async def refresh_api_base(name: BaseName, owner: Owner, caller: Caller) -> RefreshedBase:
    """Read what is new or changed; only operators refresh a shared knowledge base."""
    (base,) = await find_bases(owner, [name])
    if base.is_shared and not caller.is_operator:
        what = f"{name!r} is the operator's"
        raise Problem(ErrorCode.OPERATOR_ONLY, what, where="name")
    return _describe_refresh(base, await _refresh(base))


@router.get("/{name}/search", summary="Search a knowledge base", responses=_UNKNOWN)
async def search_api_base(
    name: BaseName,
    owner: Owner,
    q: Annotated[Words, Query(min_length=1, description="What is looked for.")],
    limit: Annotated[int, Query(ge=1, le=50, description="The most passages.")] = 10,
) -> list[FoundPassageAnswer]:
    """Return the passages of a knowledge base that match a query best."""
    (base,) = await find_bases(owner, [name])
    found = await open_base(base).search(q, limit)
    paths = await load_path_filter(base.index_owner)
    return [
        FoundPassageAnswer(
            title=one.title, location=paths.hide(one.location), place=one.place, text=one.text
        )
        for one in found
    ]


@router.delete(
    "/{name}",
    summary="Remove a knowledge base",
    responses={**_UNKNOWN, **tell_problems("knowledge_shared")},
)
async def remove_api_base(name: BaseName, owner: Owner) -> RemovedBase:
    """Erase a knowledge base with everything that was read into it; the uploads stay."""
    (base,) = await find_bases(owner, [name])
    if base.is_shared:
        raise Problem(ErrorCode.KNOWLEDGE_SHARED, f"{name!r} is the operator's", where="name")
    gone = await remove_base(owner, base)
    return RemovedBase(
        name=name,
        documents=gone.documents,
        passages=gone.passages,
        cited=list(gone.cited),
        threads=list(gone.threads),
    )


async def _refresh(base: KnowledgeBase) -> RefreshResult:
    return await open_base(base).refresh(lambda _: None)


def _describe(base: KnowledgeBase) -> KnowledgeBaseAnswer:
    return KnowledgeBaseAnswer(
        name=base.name,
        about=base.about,
        kind=base.kind,
        folder=base.location if base.kind == UPLOADS_KIND else "",
        shared=base.is_shared,
    )


def _describe_refresh(base: KnowledgeBase, read: RefreshResult) -> RefreshedBase:
    skipped: list[Any] = [
        LeftOutFile(name=one.path.rpartition("/")[2], code=one.code, reason=one.reason)
        for one in read.skipped
    ]
    counts = {"files": read.files, "read": read.read, "known": read.known}
    return RefreshedBase(name=base.name, skipped=skipped, **counts)
