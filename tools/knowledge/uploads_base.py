"""A folder of uploads, read into an index of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from config.settings import settings
from library.documents import list_stored_files, unlist_document
from library.knowledge_records import KnowledgeBase
from library.uploads import RECEIVING, UploadedFile, list_upload_folders, list_uploads
from storage.file_store import FileStore, file_store
from tools.files.formats import FileLimits
from tools.folder_ingestion import FileCopy, SkippedFile, find_changed_copies, ingest_copy
from tools.knowledge.folder import describe_index, erase_unlisted, search_index
from tools.knowledge.knowledge_source import BaseOptions, BasePassage, Progress, RefreshResult


class UploadsOptions(BaseOptions):
    """A folder of uploads has no options of its own."""


class UploadsBase:
    """A folder of the uploads of the base's owner; its location is the id of the folder."""

    is_remote = False

    def __init__(self, base: KnowledgeBase, options: BaseOptions) -> None:
        self.base, self.options = base, options

    async def search(self, query: str, limit: int) -> list[BasePassage]:
        """Return the best pages of its own index."""
        await describe_index(self.base)
        return await search_index(self.base, query, limit)

    async def refresh(self, progress: Progress) -> RefreshResult:
        """Read uploads that are new, and leave out those that were deleted or moved away."""
        await list_upload_folders(self.base.owner, self.base.location)
        uploads = await list_uploads(self.base.owner, None, folder=self.base.location)
        store = await asyncio.to_thread(file_store)
        files = {store.address(one.stored_name): one for one in uploads if one.status != RECEIVING}
        owner, root = self.base.index_owner, self.base.location
        copies = [FileCopy(address, one.size, 0) for address, one in files.items()]
        due, gone = await find_changed_copies(owner, root, copies)
        skipped: list[SkippedFile] = []
        for one in due:
            skipped += await self._read(store, one, files[one.path])
            progress(files[one.path].name)
        for path in gone:
            await unlist_document(owner, root, path)
        await erase_unlisted(self.base)
        unread = await self._list_unread(files)
        return RefreshResult(len(files), len(due) - len(skipped), tuple(unread))

    async def _read(
        self, store: FileStore, file: FileCopy, upload: UploadedFile
    ) -> Sequence[SkippedFile]:
        copy = await asyncio.to_thread(store.local_copy, upload.stored_name)
        limits = FileLimits(size=settings().upload_bytes)
        owner, root = self.base.index_owner, self.base.location
        unread = await ingest_copy(owner, root, file._replace(copy=copy), limits)
        return [unread] if unread else []

    async def _list_unread(self, files: dict[str, UploadedFile]) -> list[SkippedFile]:
        """Return the files that could not be read by their names, with the reasons."""
        stored = await list_stored_files(self.base.index_owner)
        return [
            SkippedFile(files[one.path].name, one.code, one.reason)
            for one in stored
            if one.code and one.path in files
        ]

    async def check(self) -> str:
        """Tell how many files were read, if the folder is still there."""
        await list_upload_folders(self.base.owner, self.base.location)
        return await describe_index(self.base)
