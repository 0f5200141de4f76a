"""The headers of tus 1.0 (https://tus.io), the protocol for resumable uploads."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Mapping
from email.utils import formatdate

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request

from config.errors import ErrorCode, Problem
from config.settings import settings
from library.uploads import RECEIVING, UNFINISHED_SECONDS, UploadedFile

TUS = "1.0.0"
"""The version of the protocol."""

EXTENSIONS = "creation,creation-with-upload,termination,expiration"

PART_TYPE = "application/offset+octet-stream"
"""The media type of one part of a file."""

_MAX_COUNT = 2**53
_MAX_METADATA_CHARS = 4_000


def describe_protocol() -> dict[str, str]:
    """Return the headers that describe the version, the extensions and the size limit."""
    most = str(settings().upload_bytes)
    offered = {"Tus-Version": TUS, "Tus-Extension": EXTENSIONS, "Tus-Max-Size": most}
    return {"Tus-Resumable": TUS, **offered}


def check_version(headers: Headers) -> None:
    """Make sure that a request uses this version of the protocol.

    Raises:
        Problem: `tus_version`.
    """
    said = headers.get("tus-resumable", "")
    if said != TUS:
        what, hint = f"Tus-Resumable is {said[:20]!r}", f"send Tus-Resumable: {TUS}"
        raise Problem(ErrorCode.TUS_VERSION, what, hint=hint)


def read_count(headers: Headers, name: str, least: int = 0) -> int:
    """Return the number of bytes in a header.

    Raises:
        Problem: `request_refused` if the header has no such number.
    """
    said = headers.get(name, "").strip()
    if said.isascii() and said.isdecimal() and len(said) < 20 and least <= int(said) < _MAX_COUNT:
        return int(said)
    what, hint = f"{said[:40]!r} is no number of bytes", f"send it, from {least} on"
    raise Problem(ErrorCode.REQUEST_REFUSED, what, where=name, hint=hint)


def read_metadata(headers: Headers) -> Mapping[str, str]:
    """Return the metadata of an upload: names in lower case, with their decoded values.

    Raises:
        Problem: `request_refused`.
    """
    said = headers.get("upload-metadata", "")
    try:
        if len(said) > _MAX_METADATA_CHARS:
            raise ValueError(said)
        pairs = [one.split() for one in said.split(",") if one.strip()]
        return {
            pair[0].lower(): base64.b64decode("".join(pair[1:]), validate=True).decode()
            for pair in pairs
        }
    except (binascii.Error, ValueError) as error:
        what, hint = "it is no metadata of tus", "send names, each with its value in base64"
        where = "upload-metadata"
        raise Problem(ErrorCode.REQUEST_REFUSED, what, where=where, hint=hint) from error


def is_part(headers: Headers) -> bool:
    """Say whether the body of a request is a part of a file."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == PART_TYPE


async def stream_body(request: Request) -> AsyncIterator[bytes]:
    """Yield the body of a request as it arrives; a client that disconnects ends it."""
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        return


def describe_upload_offset(upload: UploadedFile) -> dict[str, str]:
    """Return the headers with the offset of an upload, and when it expires if incomplete."""
    told = {"Tus-Resumable": TUS, "Upload-Offset": str(upload.received)}
    told |= {"Upload-Length": str(upload.size), "Cache-Control": "no-store"}
    if upload.status == RECEIVING:
        told["Upload-Expires"] = formatdate(upload.updated + UNFINISHED_SECONDS, usegmt=True)
    return told
