"""Export and import everything that is remembered, as one JSON document."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import StreamingResponse

from app.api.parameters import Owner
from app.api.problem_answers import tell_problems
from app.api.router import make_router
from config.user_files import MAX_PIPE_BYTES
from privacy.exporter import ExportDocument, export_memory
from privacy.importer import import_exported_memory, parse_export

router = make_router("Memory", "/api")


class ImportedCounts(BaseModel):
    """How many entries of a document were new."""

    facts: int
    pages: int
    insights: int
    events: int
    files: int
    profile: bool
    watches: int = Field(description="They are paused.")
    left: list[str] = Field(description="Memory files that differ here, and stay as they are.")
    unvouched: list[str] = Field(description="Parts that were left out: they would speak for you.")


@router.get(
    "/memory-export",
    summary="Everything that is remembered",
    response_class=StreamingResponse,
    responses={200: {"description": "The document.", "content": {"application/json": {}}}},
)
async def export_api_memory(owner: Owner) -> StreamingResponse:
    """Return everything that is remembered of a person, as `dossier memory export` writes it."""
    document = await export_memory(owner)
    headers = {
        "Content-Disposition": 'attachment; filename="dossier-memory.json"',
        "Cache-Control": "no-store",
    }
    return StreamingResponse(_write(document), headers=headers, media_type="application/json")


@router.post(
    "/memory-import",
    summary="Add what another home has exported",
    responses=tell_problems("export_invalid"),
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "What the export of a memory returns.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    },
    max_body_size=MAX_PIPE_BYTES,
)
async def import_api_memory(
    request: Request,
    owner: Owner,
    vouch: Annotated[
        bool, Query(description="The document is yours: let it speak for you.")
    ] = False,
) -> ImportedCounts:
    """Add what is not known yet; what is known already stays as it is.

    The sources of files are dropped: a document must not name files of this server.
    """
    text = (await request.body()).decode("utf-8", "replace")
    document = await asyncio.to_thread(parse_export, text, "body")
    moved = document.model_copy(update={"documents": []})
    result = await import_exported_memory(owner, moved, vouched=vouch)
    return ImportedCounts(**result._asdict())


def _write(document: ExportDocument) -> Iterator[str]:
    """Yield a document as JSON, in chunks of one entry."""
    yield "{"
    for number, name in enumerate(ExportDocument.model_fields):
        yield f'{"," if number else ""}"{name}":'
        value = getattr(document, name)
        if isinstance(value, list):
            yield "["
            for place, one in enumerate(value):
                yield f"{',' if place else ''}{one.model_dump_json()}"
            yield "]"
        else:
            yield _dump(document, name)
    yield "}\n"


def _dump(document: ExportDocument, name: str) -> str:
    """Return one field of a document as JSON."""
    whole = document.model_dump_json(include={name})
    return whole.removeprefix(f'{{"{name}":').removesuffix("}")
