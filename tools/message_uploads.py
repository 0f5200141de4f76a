"""Take the files out of messages, store them, and read them as pages of the person."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import mimetypes
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

from langchain_core.messages import AnyMessage, HumanMessage

from config.errors import Problem
from library.uploaded_files import list_uploaded_files, upload_folder
from storage.permissions import FOLDER, open_private
from text.regex import regex
from text.secret_masking import mask_secrets
from tools.files.formats import (
    HEAVY_SUFFIXES,
    MEDIA_TYPES,
    READABLE_SUFFIXES,
    FileLimits,
    explain_unread_type,
)
from tools.folder_ingestion import ingest_folder
from tools.unread_reasons import describe_unread_file

TABLES = (".csv", ".tsv", ".xlsx")
"""The types that stay on the disk once they are read: questions are computed over their cells."""

LONGEST = 100
"""The longest name of a file, in characters."""

_HOLDERS = ("file", "source", "image_url", "input_audio", "metadata", "extras")
_NAMES = ("filename", "file_name", "name", "title")
_KINDS = ("mimeType", "mime_type", "media_type")
_CONTENTS = ("base64", "data", "file_data")
_SORTS = {
    "image": "image/*",
    "image_url": "image/*",
    "input_image": "image/*",
    "audio": "audio/*",
    "input_audio": "audio/*",
    "video": "video/*",
}
_DATA_URL = regex(r"data:([^,;]*)[^,]*?(;base64)?,", re.IGNORECASE)
_STRANGE = regex(r"[\x00-\x1f\x7f/\\<>:\"|?*“”\[\]`\ud800-\udfff]+")


class Upload(NamedTuple):
    """A file of a message: what stands in the message in the place of its bytes."""

    name: str
    kind: str
    """Its media type."""
    size: int
    id: str
    """The beginning of the hash of its bytes; empty where they were not kept."""
    reason: str
    """Why they were not."""


def list_message_uploads(message: AnyMessage) -> list[Upload]:
    """Return the files of a message whose bytes were taken out of it."""
    return [_upload(block) for block in _blocks(message) if _is_taken(block)]


def list_newest_uploads(messages: Sequence[AnyMessage]) -> list[Upload]:
    """Return the files of what the person said last."""
    said = [one for one in messages if isinstance(one, HumanMessage)]
    return list_message_uploads(said[-1]) if said else []


async def extract_uploads(thread: str, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return messages in which a name, a type and a size stand in the place of each file.

    What can be read is kept in the folder of the thread until it is; a message without files is
    the very same one.
    """
    return [await _without_files(thread, one) for one in messages]


async def ingest_uploads(owner: str, thread: str, files: Sequence[Upload]) -> None:
    """Read files that were taken in, each once; what cannot be read is written down as such."""
    known = {PurePath(one.root).parent.name for one in await list_uploaded_files(owner, thread)}
    for one in files:
        path = _path(thread, one)
        if not one.id or not path.is_file():
            continue
        if one.id not in known:
            await _read(owner, path)
        elif path.suffix.lower() not in TABLES:
            # It was sent, and so kept, once more.
            await asyncio.to_thread(path.unlink, missing_ok=True)


async def list_unread_uploads(
    owner: str, thread: str, files: Sequence[Upload], language: str = "en"
) -> list[str]:
    """Return the names of the files that were not read, each with the reason."""
    rows = {PurePath(one.root).parent.name: one for one in await list_uploaded_files(owner, thread)}
    told = []
    for one in files:
        row = rows.get(one.id)
        reason = row.code and row.reason if row else one.reason or "nothing in it can be read"
        if reason:
            told.append(describe_unread_file(one.name, reason, language))
    return told


async def _without_files(thread: str, message: AnyMessage) -> AnyMessage:
    if not isinstance(message, HumanMessage) or isinstance(message.content, str):
        return message
    content = await asyncio.to_thread(replace_file_bytes, thread, message.content)
    if content is message.content:
        return message
    return message.model_copy(update={"content": content})


def replace_file_bytes(thread: str, content: list[Any], new: list[Path] | None = None) -> list[Any]:
    """Return the parts of a message with a reference in the place of each file, which is kept.

    Without files they are the very same ones.

    Args:
        thread: The thread of the message.
        content: The parts, as a client has sent them.
        new: Is told the paths of files that were not there yet.
    """
    if not any(map(_is_file, content)):
        return content
    return [_reference(_kept(thread, one, new)) if _is_file(one) else one for one in content]


def _is_file(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") != "text" and not _is_taken(block)


def _blocks(message: AnyMessage) -> Iterator[Mapping[str, Any]]:
    content = message.content if isinstance(message.content, list) else []
    return (block for block in content if isinstance(block, dict))


def _is_taken(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("upload"), dict)


def _reference(one: Upload) -> dict[str, Any]:
    """Return what stands in a message for a file; chat pages show its name and its type."""
    shown = {"filename": one.name, "name": one.name, "size": one.size}
    kept = {"id": one.id, "reason": one.reason}
    return {"type": "file", "mimeType": one.kind, "metadata": shown, "upload": kept}


def _upload(block: Mapping[str, Any]) -> Upload:
    """Return what a reference says; a client may have written it."""
    shown, kept = block.get("metadata"), block["upload"]
    shown = shown if isinstance(shown, dict) else {}
    size = shown.get("size")
    return Upload(
        name=_safe_name(str(shown.get("filename", "")), ""),
        kind=str(block.get("mimeType", ""))[:LONGEST],
        size=size if isinstance(size, int) else 0,
        id=str(kept.get("id", "")) if re.fullmatch("[0-9a-f]{16}", str(kept.get("id"))) else "",
        reason=str(kept.get("reason", ""))[:LONGEST],
    )


def _kept(thread: str, block: Mapping[str, Any], new: list[Path] | None = None) -> Upload:
    """Keep the bytes of a file on the disk until they are read, if they can be."""
    told = [block, *(part for part in map(block.get, _HOLDERS) if isinstance(part, dict))]
    kind, content = _kind_and_content(told, block)
    name = _safe_name(_first(told, _NAMES) or _named_in_address(told, block), kind)
    kind = kind or mimetypes.guess_type(name)[0] or _SORTS.get(str(block.get("type")), "")
    reason = _refused(name, kind, content)
    data = b"" if reason else _decoded(content)
    if not reason and not data.strip():
        reason = "its content did not arrive whole" if content else "it is empty"
    size = len(data) or len(content) * 3 // 4
    if reason:
        return Upload(name, kind, size, "", reason)
    if PurePath(name).suffix.lower() not in HEAVY_SUFFIXES:
        data = _masked(data)
    one = Upload(name, kind, size, hashlib.sha256(data).hexdigest()[:16], "")
    path = _path(thread, one)
    if new is not None and not path.exists():
        new.append(path)
    _write(path, data)
    return one


def _kind_and_content(
    told: Sequence[Mapping[str, Any]], block: Mapping[str, Any]
) -> tuple[str, str | bytes]:
    """Return the media type of a file and its bytes, as text in base 64 or as they are."""
    kind = _first(told, _KINDS)
    kind = "" if kind.endswith("/octet-stream") else kind
    urls = [block.get("image_url"), _first(told, ("url", "file_data", "data", "base64"))]
    for url in urls:
        given = _DATA_URL.match(url) if isinstance(url, str) else None
        if given and isinstance(url, str):
            rest = url[given.end() :]
            return kind or given[1], rest if given[2] else unquote_to_bytes(rest)
    written = _first(told, ("text",))
    content = _first(told, _CONTENTS)
    source = next((one.get("type") for one in told[1:] if one.get("type") == "text"), "")
    if written or source:
        return kind or "text/plain", (written or content).encode()
    return kind, content


def _named_in_address(told: Sequence[Mapping[str, Any]], block: Mapping[str, Any]) -> str:
    given = [block.get("image_url"), _first(told, ("url",))]
    web = (one for one in given if isinstance(one, str) and one.startswith(("https:", "http:")))
    return PurePath(urlsplit(next(web, "")).path).name


def _first(told: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    given = (one.get(name) for one in told for name in names)
    return next((one for one in given if isinstance(one, str) and one.strip()), "")


def _safe_name(given: str, kind: str) -> str:
    """Return a name for a file: one part of a path, without secrets, with a suffix that fits."""
    last = re.split(r"[/\\]", given)[-1]
    stem, type_ = os.path.splitext(last)
    # The sign at the end of a password and the type of a file are told apart by the types.
    safe = (
        mask_secrets(stem).text + type_
        if type_.lower() in READABLE_SUFFIXES
        else mask_secrets(last).text
    )
    name = _STRANGE.sub("_", safe).strip(" ._")
    stem, suffix = os.path.splitext(name)
    if not suffix and kind:
        suffix = mimetypes.guess_extension(kind) or (".txt" if kind.startswith("text/") else "")
    fallback = kind.partition("/")[0] if kind else ""
    return f"{stem[:LONGEST] or fallback or 'file'}{suffix[:20]}"


def _refused(name: str, kind: str, content: str | bytes) -> str:
    """Return why a file is not even tried; empty where it is."""
    if (
        kind.partition("/")[0] in MEDIA_TYPES
        or PurePath(name).suffix.lower() not in READABLE_SUFFIXES
    ):
        return explain_unread_type(name, kind)
    if not content:
        return "only its address or its name was sent"
    if len(content) * (3 if isinstance(content, str) else 4) // 4 > FileLimits().size:
        return f"it has more than {FileLimits().size} bytes"
    return ""


def _decoded(content: str | bytes) -> bytes:
    """Return the bytes that a text in base 64 stands for; none of one that is broken."""
    if isinstance(content, bytes):
        return content
    letters = "".join(content.split()).translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _masked(data: bytes) -> bytes:
    """Return a text file without secrets; one that is no UTF-8 as it is."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    return mask_secrets(text).text.encode()


def _path(thread: str, one: Upload) -> Path:
    return upload_folder(thread) / (one.id or "none") / one.name


def _write(path: Path, data: bytes) -> None:
    home = path.parents[3]
    for folder in (home, *reversed(path.parents[:3])):
        folder.mkdir(mode=FOLDER, exist_ok=True, parents=folder == home)
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with open(part, "xb", opener=open_private) as opened:
        opened.write(data)
    part.replace(path)


async def _read(owner: str, path: Path) -> None:
    """Read a file; it is kept if questions may be computed over it, and nothing was masked."""
    found: list[str] = []

    def clean(text: str) -> str:
        safe = mask_secrets(text)
        found.extend(safe.kinds)
        return safe.text

    try:
        await ingest_folder(owner, path, lambda _: None, clean=clean)
    except Problem as problem:
        if not problem.code.startswith("docs_"):
            raise
    if path.suffix.lower() not in TABLES or found:
        await asyncio.to_thread(path.unlink, missing_ok=True)
