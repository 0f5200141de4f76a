"""Write an archive whose bytes depend on its content alone."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

_TIME = (1980, 1, 1, 0, 0, 0)  # the first that an archive can have


def write_zip(files: Mapping[str, bytes], stored: str = "") -> bytes:
    """Return an archive of some files, in their order and without times.

    Args:
        files: The contents by name.
        stored: The name of a file that is not compressed.
    """
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_STORED if name == stored else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return written.getvalue()
