"""What a user may upload is bounded over all their projects, also where they begin many at once."""

from __future__ import annotations

import asyncio

import pytest

from config.errors import Problem
from library.uploads import create_upload, measure_uploads
from runs.call_site import join_owner

pytestmark = pytest.mark.usefixtures("either")


async def test_uploads_that_are_begun_at_once_in_many_projects_share_the_quota(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("DOSSIER_UPLOAD_QUOTA", "1000")
    owners = [join_owner("ada", f"p{number}") for number in range(8)]

    # Each event loop writes for itself, as each process of a server does.
    begun = await asyncio.gather(
        *(asyncio.to_thread(asyncio.run, create_upload(one, "notes.txt", 300)) for one in owners),
        return_exceptions=True,
    )

    refused = [one.code for one in begun if isinstance(one, Problem)]
    assert refused == ["upload_quota"] * 5
    assert await measure_uploads(owners[0]) == 900
    assert await create_upload(join_owner("ada x", ""), "notes.txt", 300)
