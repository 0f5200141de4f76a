"""Open zip archives that strangers made."""

from __future__ import annotations

import io
from zipfile import BadZipFile, ZipFile

from tools.files.kinds import ARCHIVES
from tools.files.shapes import File, Refused

_WIDEST_RATIO = 100
_SMALL = 1_000_000


def unpack(file: File) -> ZipFile:
    """Return the archive, once its contents are known to be neither a bomb nor another format.

    Members cannot be larger than the directory says: `zipfile` reads no further than that.

    Raises:
        Refused: `file_broken`, `file_bomb`, `file_encrypted` or `file_type_mismatch`.
    """
    try:
        archive = ZipFile(io.BytesIO(file.data))
    except BadZipFile as error:
        raise Refused("file_broken", "it is cut off or damaged") from error
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if total > 10 * file.limits.size or total > max(_SMALL, _WIDEST_RATIO * len(file.data)):
        raise Refused("file_bomb", f"it unpacks from {len(file.data)} to {total} bytes")
    if any(member.flag_bits & 1 for member in members):
        raise Refused("file_encrypted", "it is locked with a password")
    if not any(member.filename.startswith(ARCHIVES[file.suffix]) for member in members):
        raise Refused("file_type_mismatch", f"it is a zip archive, but not a {file.suffix} file")
    return archive
