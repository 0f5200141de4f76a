"""Let fsspec open the addresses of object stores, such as `s3://bucket`, by means of obstore."""

from __future__ import annotations

from config.errors import ErrorCode, Problem

OBJECT_STORES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss")
"""The schemes of object stores."""


def register_object_store(scheme: str) -> None:
    """Let obstore open the addresses of a scheme.

    Raises:
        Problem: `package_missing` if it is not installed.
    """
    try:
        from obstore.fsspec import register  # noqa: PLC0415
    except ImportError as error:
        hint = "pip install 'dossier[buckets]'"
        what = f"{scheme}:// needs the package obstore"
        raise Problem(ErrorCode.PACKAGE_MISSING, what, hint=hint) from error
    register(scheme)
