"""Extract files from messages, store them, and read them as pages of the person."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import mimetypes
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

from langchain_core.messages import AnyMessage, HumanMessage

from config.errors import Problem
from library.uploaded_files import list_uploaded_files, upload_folder
from storage.file_store import FileStore, FolderStore, file_store
from text.regex import regex
from text.secret_masking import mask_secrets
from tools.files.formats import (
    GRID_READERS,
    HEAVY_SUFFIXES,
    MEDIA_TYPES,
    READABLE_SUFFIXES,
    FileLimits,
    explain_unread_type,
)
from tools.folder_ingestion import FileCopy, ingest_copy, ingest_folder
from tools.unread_reasons import describe_unread_file

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
_DIRECTION = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_STRANGE = regex(rf"[\x00-\x1f\x7f/\\<>:\"|?*“”\[\]`\ud800-\udfff{_DIRECTION}]+")


class Upload(NamedTuple):
    """The reference that replaces a file's bytes in a message."""

    name: str
    kind: str
    """Its media type."""
    size: int
    id: str
    """The first 16 digits of the hash of its bytes; empty if they were not stored."""
    reason: str
    """Why its bytes were not stored."""


def list_message_uploads(message: AnyMessage) -> list[Upload]:
    """Return the files whose bytes were extracted from a message."""
    blocks = message.content if isinstance(message.content, list) else []
    return [_upload(block) for block in blocks if isinstance(block, dict) and _is_reference(block)]


def list_newest_uploads(messages: Sequence[AnyMessage]) -> list[Upload]:
    """Return the files of the person's last message."""
    sent = [message for message in messages if isinstance(message, HumanMessage)]
    return list_message_uploads(sent[-1]) if sent else []


async def extract_uploads(thread: str, messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return messages with each file replaced by its name, type and size.

    Readable files are stored in the folder of the thread until they are read. A message without
    files is returned as the same object.
    """
    return [await _without_files(thread, message) for message in messages]


async def ingest_uploads(owner: str, thread: str, files: Sequence[Upload]) -> None:
    """Read stored files, each once; a file that cannot be read is recorded with the reason."""
    known = {PurePath(one.root).parent.name for one in await list_uploaded_files(owner, thread)}
    store = file_store()
    for one in files:
        name = _stored_name(thread, one)
        if not one.id or not await asyncio.to_thread(store.exists, name):
            continue
        if one.id not in known:
            await _read(owner, name)
        elif PurePath(name).suffix.lower() not in GRID_READERS:
            # A file that is sent again is stored again.
            await asyncio.to_thread(store.remove, name)


async def list_unread_uploads(
    owner: str, thread: str, files: Sequence[Upload], language: str = "en"
) -> list[str]:
    """Return the names of the files that were not read, with the reasons."""
    rows = {PurePath(one.root).parent.name: one for one in await list_uploaded_files(owner, thread)}
    unread = []
    for one in files:
        row = rows.get(one.id)
        reason = row.code and row.reason if row else one.reason or "nothing in it can be read"
        if reason:
            unread.append(describe_unread_file(one.name, reason, language))
    return unread


async def _without_files(thread: str, message: AnyMessage) -> AnyMessage:
    if not isinstance(message, HumanMessage) or isinstance(message.content, str):
        return message
    content = await asyncio.to_thread(replace_file_bytes, thread, message.content)
    is_same = content is message.content
    return message if is_same else message.model_copy(update={"content": content})


def replace_file_bytes(thread: str, content: list[Any], new: list[str] | None = None) -> list[Any]:
    """Store the files of a message, and return its parts with references to them.

    Parts without files are returned as the same object.

    Args:
        thread: The thread of the message.
        content: The parts as sent by a client.
        new: The names of files that were not in the file store yet are added here.
    """
    if not any(map(_is_file, content)):
        return content
    return [_reference(_store(thread, part, new)) if _is_file(part) else part for part in content]


def _is_file(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") != "text" and not _is_reference(block)


def _is_reference(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("upload"), dict)


def _reference(one: Upload) -> dict[str, Any]:
    """Return the part of a message that replaces a file; chat pages show its name and type."""
    shown = {"filename": one.name, "name": one.name, "size": one.size}
    stored = {"id": one.id, "reason": one.reason}
    return {"type": "file", "mimeType": one.kind, "metadata": shown, "upload": stored}


def _upload(block: Mapping[str, Any]) -> Upload:
    """Parse a reference, which a client may have forged."""
    shown, stored = block.get("metadata"), block["upload"]
    shown = shown if isinstance(shown, dict) else {}
    size = shown.get("size")
    return Upload(
        name=safe_file_name(str(shown.get("filename", "")), ""),
        kind=str(block.get("mimeType", ""))[:LONGEST],
        size=size if isinstance(size, int) else 0,
        id=str(stored["id"]) if re.fullmatch("[0-9a-f]{16}", str(stored.get("id"))) else "",
        reason=str(stored.get("reason", ""))[:LONGEST],
    )


def _store(thread: str, block: Mapping[str, Any], new: list[str] | None = None) -> Upload:
    """Store the bytes of a readable file until they are read."""
    parts = [block, *(part for part in map(block.get, _HOLDERS) if isinstance(part, dict))]
    kind, content = _kind_and_content(parts, block)
    name = safe_file_name(_first(parts, _NAMES) or _name_in_url(parts, block), kind)
    kind = kind or mimetypes.guess_type(name)[0] or _SORTS.get(str(block.get("type")), "")
    reason = _refusal(name, kind, content)
    data = b"" if reason else _decoded(content)
    if not reason and not data.strip():
        reason = "its content did not arrive whole" if content else "it is empty"
    size = len(data) or len(content) * 3 // 4
    if reason:
        return Upload(name, kind, size, "", reason)
    if PurePath(name).suffix.lower() not in HEAVY_SUFFIXES:
        data = _masked(data)
    one = Upload(name, kind, size, hashlib.sha256(data).hexdigest()[:16], "")
    stored, store = _stored_name(thread, one), file_store()
    if new is not None and not store.exists(stored):
        new.append(stored)
    store.write(stored, data)
    return one


def _kind_and_content(
    parts: Sequence[Mapping[str, Any]], block: Mapping[str, Any]
) -> tuple[str, str | bytes]:
    """Return the media type of a file and its content, as base64 text or as bytes."""
    kind = _first(parts, _KINDS)
    kind = "" if kind.endswith("/octet-stream") else kind
    urls = [block.get("image_url"), _first(parts, ("url", "file_data", "data", "base64"))]
    for url in urls:
        if isinstance(url, str) and (header := _DATA_URL.match(url)):
            rest = url[header.end() :]
            return kind or header[1], rest if header[2] else unquote_to_bytes(rest)
    text = _first(parts, ("text",))
    content = _first(parts, _CONTENTS)
    if text or any(part.get("type") == "text" for part in parts[1:]):
        return kind or "text/plain", (text or content).encode()
    return kind, content


def _name_in_url(parts: Sequence[Mapping[str, Any]], block: Mapping[str, Any]) -> str:
    urls = [block.get("image_url"), _first(parts, ("url",))]
    web = (url for url in urls if isinstance(url, str) and url.startswith(("https:", "http:")))
    return PurePath(urlsplit(next(web, "")).path).name


def _first(parts: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Return the first text that is not blank under one of the names."""
    values = (part.get(name) for part in parts for name in names)
    return next((value for value in values if isinstance(value, str) and value.strip()), "")


def safe_file_name(given: str, kind: str = "") -> str:
    """Return a safe file name: one path component, without secrets, with a suffix."""
    last = re.split(r"[/\\]", given)[-1]
    stem, suffix = os.path.splitext(last)
    # Only a readable type is taken for a suffix; anything else may be the end of a password.
    if suffix.lower() not in READABLE_SUFFIXES:
        stem, suffix = last, ""
    name = _STRANGE.sub("_", mask_secrets(stem).text + suffix).strip(" ._")
    stem, suffix = os.path.splitext(name)
    if not suffix and kind:
        suffix = mimetypes.guess_extension(kind) or (".txt" if kind.startswith("text/") else "")
    fallback = kind.partition("/")[0] if kind else ""
    return f"{stem[:LONGEST] or fallback or 'file'}{suffix[:20]}"


def _refusal(name: str, kind: str, content: str | bytes) -> str:
    """Return why a file is refused; empty if it is accepted."""
    is_readable = PurePath(name).suffix.lower() in READABLE_SUFFIXES
    if kind.partition("/")[0] in MEDIA_TYPES or not is_readable:
        return explain_unread_type(name, kind)
    if not content:
        return "only its address or its name was sent"
    if len(content) * (3 if isinstance(content, str) else 4) // 4 > FileLimits().size:
        return f"it has more than {FileLimits().size} bytes"
    return ""


def _decoded(content: str | bytes) -> bytes:
    """Decode base64 text; return no bytes if it is invalid."""
    if isinstance(content, bytes):
        return content
    letters = "".join(content.split()).translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _masked(data: bytes) -> bytes:
    """Mask the secrets of a UTF-8 text; return anything else unchanged."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    return mask_secrets(text).text.encode()


def _stored_name(thread: str, one: Upload) -> str:
    return f"{upload_folder(thread)}/{one.id or 'none'}/{one.name}"


async def _read(owner: str, name: str) -> None:
    """Read a file; keep it only if it is a table in which nothing was masked.

    Questions are computed over the cells of tables.
    """
    found: list[str] = []

    def clean(text: str) -> str:
        """Mask the secrets of a text, and note their kinds."""
        safe = mask_secrets(text)
        found.extend(safe.kinds)
        return safe.text

    store = file_store()
    try:
        if isinstance(store, FolderStore):
            await ingest_folder(owner, store.path(name), lambda _: None, clean=clean)
        else:
            await _read_copy(owner, store, name, clean)
    except Problem as problem:
        if not problem.code.startswith("docs_"):
            raise
    if PurePath(name).suffix.lower() not in GRID_READERS or found:
        await asyncio.to_thread(store.remove, name)


async def _read_copy(owner: str, store: FileStore, name: str, clean: Callable[[str], str]) -> None:
    """Read a file of a bucket, whose content never changes, since its name holds its hash."""
    copy = await asyncio.to_thread(store.local_copy, name)
    file = FileCopy(store.address(name), copy.stat().st_size, 0, copy)
    await ingest_copy(owner, file.path, file, FileLimits(), clean)
