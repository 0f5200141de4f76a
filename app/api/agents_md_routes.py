"""The AGENTS.md files of a person over HTTP: read them all, and write their own."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Annotated, Any

from fastapi import Body, Header, Path
from pydantic import BaseModel, Field, StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from app.api.etags import answer_with_etag
from app.api.parameters import Name, Owner, Storable
from app.api.problem_answers import tell_problems
from app.api.router import make_router
from config.errors import ErrorCode, Problem
from memory.agents_md.backends import change_file
from memory.agents_md.content import decode_file
from memory.agents_md.file_sources import PERSON_FILE, FileSource, list_exportable_files
from memory.agents_md.proposals import EDIT_EVENT, ITEM_CHARS
from storage.engine import run_write
from storage.events import Event, log_event
from text.secret_masking import mask_secrets

router = make_router("Memory", "/api/agents-md")

MAX_CHARS = 200_000

_NAMES = {PERSON_FILE: "person", "AGENTS.md": "project", ".dossier/AGENTS.md": "project-private"}
"""The names of files in paths, by their names in exports."""


class AgentsMdFile(BaseModel):
    """An AGENTS.md file that agents read."""

    name: str = Field(examples=["person", "project", "project-private"])
    text: str
    exists: bool


class WrittenText(BaseModel):
    """The whole new text of the file."""

    text: Annotated[str, StringConstraints(max_length=MAX_CHARS), Storable]


FileName = Annotated[Name, Path(description="`person`, `project` or `project-private`.")]

_TEXT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The text as Markdown, with an ETag of it.",
        "content": {"text/markdown": {}},
    },
    304: {"description": "The text is the one that the client has."},
    **tell_problems("memory_file_unknown", "memory_file_unreadable"),
}


@router.get("", summary="Your AGENTS.md files", responses=tell_problems("memory_file_unreadable"))
async def list_agents_md(owner: Owner) -> list[AgentsMdFile]:
    """Return the person's own file, and those of the project's folder if it is trusted."""
    shown = []
    for name, source in (await list_exportable_files(owner)).items():
        data = await source.files.read(source.path)
        text = decode_file(data or b"", source.path)
        shown.append(AgentsMdFile(name=_NAMES[name], text=text, exists=data is not None))
    return shown


@router.get("/{name}", summary="An AGENTS.md", response_class=Response, responses=_TEXT)
async def get_agents_md(request: Request, name: FileName, owner: Owner) -> Response:
    """Return the text of a file; empty if there is none yet."""
    source = await _find_source(owner, name)
    data = await source.files.read(source.path) or b""
    return answer_with_etag(request, _tag(data), data, "text/markdown", {})


@router.put(
    "/person",
    summary="Write your own AGENTS.md",
    responses=tell_problems("memory_file_unwritable", "memory_file_changed"),
)
async def write_agents_md(
    owner: Owner,
    written: Annotated[WrittenText, Body()],
    if_match: Annotated[
        str, Header(max_length=100, description="The ETag of the text that is replaced.")
    ] = "",
) -> AgentsMdFile:
    """Replace the person's own file; with `If-Match` only if it is still what the client read."""
    source = await _find_source(owner, "person")
    text = mask_secrets(written.text).text

    def replace(before: bytes | None) -> bytes:
        """Return the new content, unless somebody has changed the file since it was read."""
        if if_match and if_match.strip('"') != _tag(before or b""):
            what, hint = "the file has changed since it was read", "read it again"
            raise Problem(ErrorCode.MEMORY_FILE_CHANGED, what, hint=hint)
        return text.encode()

    changed = await change_file(source.files, source.path, replace)
    if changed.after != (changed.before or b""):
        before = changed.before and _side(source, decode_file(changed.before, source.path))
        item = source.path[-ITEM_CHARS:]
        event = Event(owner, EDIT_EVENT, item, before or None, _side(source, text), "user")
        await run_write(partial(log_event, event=event))
    return AgentsMdFile(name="person", text=text, exists=True)


def _side(source: FileSource, text: str) -> dict[str, str]:
    return {"path": source.path, "text": text}


def _tag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def _find_source(owner: str, name: str) -> FileSource:
    """Return a file by its name in the path.

    Raises:
        Problem: `memory_file_unknown`.
    """
    for known, source in (await list_exportable_files(owner)).items():
        if _NAMES[known] == name:
            return source
    what, hint = "there is no such file", f"one of {', '.join(_NAMES.values())}"
    raise Problem(ErrorCode.MEMORY_FILE_UNKNOWN, what, where=name, hint=hint)
