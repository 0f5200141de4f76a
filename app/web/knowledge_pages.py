"""Knowledge bases in the console: list them, make one of files, add files, refresh, remove."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import Path, Query
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from app.api.knowledge_routes import (
    NewKnowledgeBase,
    RefreshedBase,
    add_api_base,
    refresh_api_base,
    remove_api_base,
)
from app.api.parameters import Caller, Name, Owner
from app.api.upload_folder_routes import delete_api_folder
from app.web.console_gate import CONSOLE
from app.web.console_route import CheckedForm, make_console_router
from app.web.page_rendering import go_to, render_console_page
from config.errors import ErrorCode, Problem
from library.uploads import create_upload, create_upload_folder, list_uploads
from tools.files.formats import READABLE_SUFFIXES
from tools.knowledge.catalog import find_bases, list_bases
from tools.knowledge.kinds import UPLOADS_KIND
from tools.message_uploads import safe_file_name
from tools.upload_reading import receive_part, wait_for_reading

router = make_console_router()

_READ_SECONDS = 60.0
_CHUNK = 1_000_000
_NOTHING_SENT: Mapping[str, str] = {"name": "", "about": ""}

BaseName = Annotated[Name, Path()]
Told = Annotated[str, Query(max_length=20)]


@router.get("/knowledge")
async def show_bases(request: Request, owner: Owner, told: Told = "") -> Response:
    """List the knowledge bases that a person may search."""
    return await _render(request, owner, told=told)


async def _render(
    request: Request,
    owner: str,
    *,
    told: str = "",
    problem: Problem | None = None,
    sent: Mapping[str, str] = _NOTHING_SENT,
    read: RefreshedBase | None = None,
) -> Response:
    bases = await list_bases(owner)
    files = {
        base.name: len(await list_uploads(owner, None, folder=base.location))
        for base in bases
        if base.kind == UPLOADS_KIND and not base.is_shared
    }
    values: dict[str, Any] = {
        "bases": bases,
        "files": files,
        "told": told,
        "problem": problem,
        "read": read,
        "sent": sent,
        "uploads": UPLOADS_KIND,
        "suffixes": ",".join(sorted(READABLE_SUFFIXES)),
    }
    status = problem.error.http_status if problem else 200
    return render_console_page(request, "knowledge", values, status)


@router.post("/knowledge")
async def make_console_base(request: Request, owner: Owner, form: CheckedForm) -> Response:
    """Make a knowledge base of the files of a form."""
    files = form.files("files")
    try:
        if not files:
            what, hint = "there is no file", "choose the files of the knowledge base"
            raise Problem(ErrorCode.KNOWLEDGE_INVALID, what, hint=hint)
        name = form.words("name")
        folder = (await create_upload_folder(owner, name[:100] or "files")).id
        try:
            for one in files:
                await _store(owner, folder, one)
            new = NewKnowledgeBase(name=name, about=form.words("about"), folder=folder)
            read = await add_api_base(owner, new)
        except Problem:
            await delete_api_folder(folder, owner)
            raise
    except Problem as problem:
        sent = {name: form.text(name) for name in _NOTHING_SENT}
        return await _render(request, owner, problem=problem, sent=sent)
    return await _render(request, owner, told="made", read=read)


@router.post("/knowledge/{name}/files")
async def add_files(
    request: Request, owner: Owner, caller: Caller, name: BaseName, form: CheckedForm
) -> Response:
    """Add files to a knowledge base that was made of files."""
    (base,) = await find_bases(owner, [name])
    if base.is_shared or base.kind != UPLOADS_KIND:
        what = f"{name!r} was not made of files of yours"
        raise Problem(ErrorCode.KNOWLEDGE_INVALID, what, hint="make a new one of the files")
    for one in form.files("files"):
        await _store(owner, base.location, one)
    read = await refresh_api_base(name, owner, caller)
    return await _render(request, owner, told="refreshed", read=read)


@router.post("/knowledge/{name}/refresh")
async def refresh_console_base(
    request: Request, owner: Owner, caller: Caller, name: BaseName, form: CheckedForm
) -> Response:
    """Read a knowledge base anew."""
    del form
    read = await refresh_api_base(name, owner, caller)
    return await _render(request, owner, told="refreshed", read=read)


@router.post("/knowledge/{name}/remove")
async def remove_console_base(owner: Owner, name: BaseName, form: CheckedForm) -> Response:
    """Erase a knowledge base with all that was read in of it, and its files."""
    del form
    (base,) = await find_bases(owner, [name])
    await remove_api_base(name, owner)
    if base.kind == UPLOADS_KIND:
        await delete_api_folder(base.location, owner)
    return go_to(f"{CONSOLE}/knowledge?told=removed")


async def _store(owner: str, folder: str, file: UploadFile) -> None:
    """Store a file of a form and wait until it is read.

    Raises:
        Problem: Why it cannot be taken.
    """
    name = safe_file_name(file.filename or "", file.content_type or "")
    new = await create_upload(owner, name, file.size or 0, folder)
    await wait_for_reading(await receive_part(new, _stream(file)), _READ_SECONDS)


async def _stream(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(_CHUNK):
        yield chunk
