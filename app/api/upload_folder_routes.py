"""Folders of uploads over HTTP; a question can search a whole folder."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field, StringConstraints
from starlette.responses import Response

from app.api.parameters import Name, Owner, Storable
from app.api.problem_answers import tell_problems
from app.api.router import make_router
from library.uploads import (
    UploadFolder,
    create_upload_folder,
    delete_folder_record,
    list_upload_folders,
    list_uploads,
)
from tools.upload_reading import delete_upload

router = make_router("Uploads", "/api/upload-folders")

FolderName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), Storable
]


class NewFolder(BaseModel):
    """A folder to create."""

    name: FolderName = Field(examples=["Contracts 2026"])


class FolderAnswer(BaseModel):
    """A folder of uploads."""

    id: str = Field(description="What `files` in the `context` of a question names.")
    name: str
    created: float = Field(description="In seconds since 1970.")
    files: int
    size: int = Field(description="The bytes of its files.")


FolderPath = Annotated[Name, Path(description="The id of the folder.")]


@router.get("", summary="Your folders of uploads")
async def list_api_folders(owner: Owner) -> list[FolderAnswer]:
    """Return the folders of a person, ordered by name."""
    return [_describe(one) for one in await list_upload_folders(owner)]


@router.post(
    "", summary="Make a folder", status_code=201, responses=tell_problems("upload_folder_exists")
)
async def add_api_folder(owner: Owner, new: NewFolder) -> FolderAnswer:
    """Create an empty folder."""
    return _describe(await create_upload_folder(owner, new.name))


@router.get("/{folder}", summary="A folder", responses=tell_problems("upload_folder_not_found"))
async def get_api_folder(folder: FolderPath, owner: Owner) -> FolderAnswer:
    """Return a folder; its files are listed with the uploads."""
    (found,) = await list_upload_folders(owner, folder)
    return _describe(found)


@router.delete(
    "/{folder}",
    summary="Delete a folder with its files",
    status_code=204,
    response_class=Response,
    responses=tell_problems("upload_folder_not_found"),
)
async def delete_api_folder(folder: FolderPath, owner: Owner) -> Response:
    """Delete a folder with its files and everything that was read from them."""
    await list_upload_folders(owner, folder)
    for upload in await list_uploads(owner, None, folder=folder):
        await delete_upload(upload)
    await delete_folder_record(owner, folder)
    return Response(status_code=204)


def _describe(folder: UploadFolder) -> FolderAnswer:
    return FolderAnswer(**folder._asdict())
