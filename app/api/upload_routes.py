"""Uploads over HTTP: in one request or in parts (tus); list, download and delete them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import quote

from fastapi import Path, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from app.api.listings import Cursor, Limit, Listing, make_listing, read_cursor, write_cursor
from app.api.parameters import Name, Owner, ProjectName
from app.api.problem_answers import tell_problems
from app.api.router import make_router
from app.api.tus_requests import (
    TUS,
    check_version,
    describe_protocol,
    describe_upload_offset,
    is_part,
    read_count,
    read_metadata,
    stream_body,
)
from config.errors import ErrorCode, Problem
from config.settings import settings
from library.uploads import (
    RECEIVING,
    UploadedFile,
    create_upload,
    find_upload,
    list_uploads,
    measure_uploads,
    move_upload,
)
from storage.file_store import FileStore, file_store
from tools.message_uploads import safe_file_name
from tools.upload_reading import (
    delete_upload,
    receive_part,
    refresh_upload,
    sweep_uploads,
    wait_for_reading,
)

router = make_router("Uploads", "/api/uploads", most_bytes=None)
limits_router = make_router("Uploads", "/api")

READ_SECONDS = 10.0
"""How long an upload in one request waits for the file to be read."""

_CHUNK = 1_000_000


class UploadAnswer(BaseModel):
    """An upload, complete or not."""

    id: str = Field(description="What `files` in the `context` of a question names.")
    name: str
    folder: str = Field(description="The id of its folder; empty for none.")
    size: int = Field(description="The bytes that it has, or will have.")
    received: int
    status: str = Field(
        description="Bytes are missing, it is being read, it can be searched, or it cannot.",
        examples=["receiving", "reading", "ready", "unread"],
    )
    code: str = Field(description="Why it cannot be searched; empty if it can.")
    reason: str
    created: float = Field(description="In seconds since 1970.")
    updated: float


class UploadLimits(BaseModel):
    """How much a person may upload."""

    largest: int = Field(description="The most bytes of a file.")
    quota: int = Field(description="The most bytes of all files together.")
    used: int


class ChosenFolder(BaseModel):
    """The folder of an upload."""

    folder: Name = Field(description="The id of a folder; empty for none.")


UploadId = Annotated[Name, Path(description="The id of the upload.")]
FileName = Annotated[Name, Query(description="The name of a file that is sent at once.")]
FolderId = Annotated[Name, Query(description="The id of a folder of uploads; empty for none.")]

_REFUSED = tell_problems(
    *("upload_too_large", "upload_quota", "upload_type", "upload_folder_not_found"),
    *("upload_conflict", "tus_version"),
)
_BYTES = {
    "requestBody": {
        "description": "The bytes of the file.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.options("", summary="How uploads work here", status_code=204, response_class=Response)
async def describe_uploads() -> Response:
    """Return the version of tus, its extensions, and the most bytes of a file."""
    return Response(status_code=204, headers=describe_protocol())


@router.post(
    "",
    summary="Upload a file",
    status_code=201,
    response_model=None,
    openapi_extra=_BYTES,
    responses={201: {"model": UploadAnswer, "description": "The upload."}, **_REFUSED},
)
async def add_upload(
    request: Request,
    owner: Owner,
    name: FileName = "",
    folder: FolderId = "",
    project: ProjectName = "",
) -> Response:
    """Store the body as a file, or begin an upload by tus, whose parts follow."""
    await sweep_uploads(owner)
    if "tus-resumable" in request.headers:
        return await _begin(request, owner, project)
    if request.headers.get("content-type", "").lower().startswith("multipart/"):
        what, hint = "the body is a form, not the file itself", "send the file as the body: curl -T"
        raise Problem(ErrorCode.UPLOAD_TYPE, what, where="content-type", hint=hint)
    size = read_count(request.headers, "content-length", least=1)
    new = await create_upload(owner, safe_file_name(name), size, folder)
    upload = await receive_part(new, stream_body(request))
    if upload.status == RECEIVING:
        await delete_upload(upload)
        raise Problem(ErrorCode.UPLOAD_CONFLICT, "the file did not arrive whole", hint="repeat it")
    told = describe_upload(await wait_for_reading(upload, READ_SECONDS))
    return JSONResponse(told.model_dump(), 201, {"Location": _address(request, upload, project)})


async def _begin(request: Request, owner: str, project: str) -> Response:
    """Begin an upload by tus; the request may bring the first part."""
    check_version(request.headers)
    size = read_count(request.headers, "upload-length", least=1)
    said = read_metadata(request.headers)
    name = safe_file_name(said.get("filename") or said.get("name", ""), said.get("filetype", ""))
    upload = await create_upload(owner, name, size, said.get("folder", ""))
    if is_part(request.headers):
        upload = await receive_part(upload, stream_body(request))
    headers = {**describe_upload_offset(upload), "Location": _address(request, upload, project)}
    return Response(status_code=201, headers=headers)


@router.head(
    "/{upload}",
    summary="The offset of an upload",
    response_class=Response,
    responses=tell_problems("upload_not_found", "tus_version"),
)
async def get_upload_offset(upload: UploadId, owner: Owner, request: Request) -> Response:
    """Return the number of bytes received as `Upload-Offset`."""
    check_version(request.headers)
    return Response(headers=describe_upload_offset(await find_upload(owner, upload)))


@router.patch(
    "/{upload}",
    summary="Send the next part of a file",
    status_code=204,
    response_class=Response,
    openapi_extra=_BYTES,
    responses={**_REFUSED, **tell_problems("upload_not_found")},
)
async def continue_upload(upload: UploadId, owner: Owner, request: Request) -> Response:
    """Append bytes at `Upload-Offset`; the file is read once it is complete."""
    check_version(request.headers)
    if not is_part(request.headers):
        what, hint = "it is no part of a file", "send Content-Type: application/offset+octet-stream"
        raise Problem(ErrorCode.UPLOAD_TYPE, what, where="content-type", hint=hint)
    found = await find_upload(owner, upload)
    offset = read_count(request.headers, "upload-offset")
    if offset != found.received:
        what = f"the next part begins at {found.received}, and not at {offset}"
        hint = "ask with HEAD where the upload stands"
        raise Problem(ErrorCode.UPLOAD_CONFLICT, what, where="upload-offset", hint=hint)
    after = await receive_part(found, stream_body(request))
    return Response(status_code=204, headers=describe_upload_offset(after))


@router.delete(
    "/{upload}",
    summary="Delete an upload",
    status_code=204,
    response_class=Response,
    responses=tell_problems("upload_not_found"),
)
async def delete_api_upload(upload: UploadId, owner: Owner) -> Response:
    """Delete a file with everything that was read from it; reports keep their quotations."""
    await delete_upload(await find_upload(owner, upload))
    return Response(status_code=204, headers={"Tus-Resumable": TUS})


@router.get("", summary="Your uploads, the newest first", responses=tell_problems("bad_cursor"))
async def list_api_uploads(
    owner: Owner, limit: Limit = 50, cursor: Cursor = "", folder: FolderId = ""
) -> Listing[UploadAnswer]:
    """Return the uploads of a person, one page at a time."""
    given = read_cursor(cursor, float, str)
    before = (given[0], given[1]) if given else None
    found = await list_uploads(owner, limit + 1, folder=folder, before=before)
    last = found[limit - 1] if len(found) > limit else None
    more = write_cursor(last.created, last.id) if last else ""
    return make_listing([describe_upload(one) for one in found], limit, more)


@router.get("/{upload}", summary="An upload", responses=tell_problems("upload_not_found"))
async def get_api_upload(
    upload: UploadId,
    owner: Owner,
    wait: Annotated[
        float, Query(ge=0, le=60, description="Seconds to wait for a file that is being read.")
    ] = 0,
) -> UploadAnswer:
    """Return an upload, after waiting for its reading if asked to."""
    found = await refresh_upload(await find_upload(owner, upload))
    return describe_upload(await wait_for_reading(found, wait))


@router.get(
    "/{upload}/content",
    summary="The file itself",
    response_class=StreamingResponse,
    responses={
        200: {"description": "The bytes.", "content": {"application/octet-stream": {}}},
        **tell_problems("upload_not_found", "upload_unready"),
    },
)
async def get_upload_content(upload: UploadId, owner: Owner) -> StreamingResponse:
    """Return the content of a file as an attachment, which no browser renders."""
    found = await find_upload(owner, upload)
    if found.status == RECEIVING:
        raise Problem(ErrorCode.UPLOAD_UNREADY, "bytes of it are missing", where=found.id)
    store = await asyncio.to_thread(file_store)
    if not await asyncio.to_thread(store.exists, found.stored_name):
        raise Problem(ErrorCode.UPLOAD_NOT_FOUND, "its bytes are gone", where=found.id)
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, '')}",
        "Content-Length": str(found.size),
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
    }
    return StreamingResponse(
        _stream_file(store, found.stored_name),
        headers=headers,
        media_type="application/octet-stream",
    )


@router.put(
    "/{upload}/folder",
    summary="Put an upload into a folder",
    responses=tell_problems("upload_not_found", "upload_folder_not_found"),
)
async def move_api_upload(upload: UploadId, owner: Owner, chosen: ChosenFolder) -> UploadAnswer:
    """Move an upload into a folder, or out of any."""
    return describe_upload(await move_upload(await find_upload(owner, upload), chosen.folder))


@limits_router.get("/upload-limits", summary="How much you may upload")
async def get_upload_limits(owner: Owner) -> UploadLimits:
    """Return the limits on uploads, and how many bytes are in use."""
    used = await measure_uploads(owner)
    chosen = settings()
    return UploadLimits(largest=chosen.upload_bytes, quota=chosen.upload_quota, used=used)


def describe_upload(upload: UploadedFile) -> UploadAnswer:
    """Return an upload as it is told to its owner."""
    fields = upload._asdict()
    return UploadAnswer(**{name: fields[name] for name in UploadAnswer.model_fields})


async def _stream_file(store: FileStore, name: str) -> AsyncIterator[bytes]:
    """Yield a file in chunks; it is not kept open between them, as clients may disconnect."""
    at = 0
    while chunk := await asyncio.to_thread(_read_chunk, store, name, at):
        at += len(chunk)
        yield chunk


def _read_chunk(store: FileStore, name: str, at: int) -> bytes:
    with store.open(name) as opened:
        opened.seek(at)
        return opened.read(_CHUNK)


def _address(request: Request, upload: UploadedFile, project: str) -> str:
    """Return the path of an upload at this server."""
    before = request.scope.get("root_path", "").rstrip("/")
    asked = f"?project={quote(project, '')}" if project else ""
    return f"{before}/api/uploads/{upload.id}{asked}"
