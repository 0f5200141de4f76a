"""Read several small files and make their pages in one batch. A worker process can do it alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from library.page_metadata import PageMetadata, identify_language
from library.page_rows import NewPage
from library.page_sizing import prepare_pages
from report.citations import SECTION_SEPARATOR
from tools.files.file_reader import read_path
from tools.files.formats import FILE_READERS, LIGHT_FILE_BYTES, FileLimits, FileRefused, is_heavy
from tools.files.parsed_document import ParsedDocument, find_document_title

MANY = 50
"""How many files a bunch has, at most."""

ROOM = LIGHT_FILE_BYTES
"""How many bytes the files of a bunch have together, at most."""


class PendingFile(NamedTuple):
    """A file that is to be read, or why it cannot be."""

    path: Path
    size: int
    modified: int
    failure: str = ""

    @property
    def is_short(self) -> bool:
        """Whether it is read together with others: a few bytes of a light type."""
        return not self.failure and not is_heavy(self.path.suffix, self.size)


def batch_files(due: Sequence[PendingFile]) -> Iterator[list[PendingFile]]:
    """Yield the files that are read together: short ones; every other file is alone."""
    bunch: list[PendingFile] = []
    for one in due:
        if not one.is_short:
            yield [one]
            continue
        full = len(bunch) == MANY or sum(other.size for other in bunch) + one.size > ROOM
        if bunch and full:
            yield bunch
            bunch = []
        bunch.append(one)
    if bunch:
        yield bunch


class FileOutcome(NamedTuple):
    """What became of a file: its pages, or a code and a reason why it was not read."""

    pages: list[NewPage]
    code: str = ""
    reason: str = ""


def read_batch(
    files: Sequence[tuple[Path, str]], limits: FileLimits, *, in_worker: bool
) -> list[FileOutcome]:
    """Return what becomes of some files, in their order.

    Args:
        files: Where each lies, and the hash of what is in it.
        limits: What each may cost.
        in_worker: Whether this is a worker process, whose memory is limited.
    """
    return [_outcome(path, sha256, limits, apart=in_worker) for path, sha256 in files]


def _outcome(path: Path, sha256: str, limits: FileLimits, *, apart: bool) -> FileOutcome:
    try:
        reader = FILE_READERS.get(path.suffix.lower(), "")
        document = read_path(reader, path, limits, in_worker=apart)
    except FileRefused as refused:
        return FileOutcome([], refused.code, refused.what)
    named: ParsedDocument = {**document, "title": find_document_title(document, path)}
    return FileOutcome(prepare_pages(make_document_pages(named, sha256)))


def make_document_pages(document: ParsedDocument, sha256: str) -> list[NewPage]:
    """Return the pages of a document by its sections; its hash is the name of their session."""
    # A dash like this parts the title of a document from that of a section.
    title = document["title"].replace(SECTION_SEPARATOR, " – ")
    metadata = _document_metadata(document)
    return [
        NewPage(
            title=title
            if one["title"] in ("", document["title"])
            else f"{title}{SECTION_SEPARATOR}{one['title']}",
            place=one["place"],
            text=one["text"],
            session=sha256,
            metadata=metadata,
        )
        for one in document["sections"]
    ]


def _document_metadata(document: ParsedDocument) -> PageMetadata:
    """Return the metadata of a file: what it declares, or else only the language of its text."""
    if "metadata" in document:
        declared = document["metadata"]
        return declared._replace(genre=declared.genre or "file")
    text = "\n".join(section["text"] for section in document["sections"][:2])
    return PageMetadata(language=identify_language(text), genre="file")
