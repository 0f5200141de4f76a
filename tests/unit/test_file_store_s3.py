"""Files in a bucket of S3, over its own protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from config.errors import Problem
from storage.file_store import FileStore, open_file_store
from tests.loopback import serving
from tests.s3_server import S3


class Opened(NamedTuple):
    """A store, and the bucket behind it."""

    store: FileStore
    bucket: S3


@pytest.fixture
async def opened(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Opened]:
    """A store in a bucket that is named as an operator names one."""
    pytest.importorskip("obstore", reason="the extra for buckets is not installed")
    bucket = S3("dossier", {})
    async with serving(bucket) as server:
        keys = {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret", "REGION": "us-east-1"}
        keys |= {"ENDPOINT": server.url, "ALLOW_HTTP": "true"}
        for name, value in keys.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield Opened(open_file_store("s3://dossier/team"), bucket)


def _use(store: FileStore) -> None:
    """Use a store as uploads and reports do."""
    assert not store.exists("reports/r1/report.md")
    store.write("reports/r1/report.md", b"# Bees")
    store.write("reports/r1/figures/a.svg", b"<svg/>")
    assert store.exists("reports/r1/report.md")
    assert not store.exists("reports/r1")
    assert (store.size("reports/r1/report.md"), store.read("reports/r1/report.md")) == (
        6,
        b"# Bees",
    )
    assert store.list("reports") == ["reports/r1/figures/a.svg", "reports/r1/report.md"]
    assert store.local_copy("reports/r1/figures/a.svg").read_bytes() == b"<svg/>"
    store.move("reports/r1/report.md", "reports/r1/old.md")
    store.write("reports/r1/old.md", b"# Wasps")
    assert store.read("reports/r1/old.md") == b"# Wasps"
    with pytest.raises(FileNotFoundError):
        store.open("reports/r1/report.md")
    store.remove("reports/none")


async def test_files_are_written_found_moved_and_removed(opened: Opened):
    await asyncio.to_thread(_use, opened.store)
    assert set(opened.bucket.objects) == {
        "team/reports/r1/figures/a.svg",
        "team/reports/r1/old.md",
    }

    await asyncio.to_thread(opened.store.remove, "reports")

    assert opened.bucket.objects == {}


async def test_a_bucket_that_refuses_is_no_bucket_without_the_file(opened: Opened):
    opened.bucket.status = "403 Forbidden"

    with pytest.raises(Problem) as failure:
        await asyncio.to_thread(opened.store.exists, "ready")

    assert failure.value.code == "storage_unavailable"
    assert "AccessDenied" not in str(failure.value)
