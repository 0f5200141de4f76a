"""What the installation check says."""

from __future__ import annotations

import pytest

from app.cli import doctor
from tests.meaning import use


@pytest.mark.parametrize(
    ("name", "ok", "says"),
    [
        ("hashing", True, "hashing"),
        ("none", True, "none: pages are found by their words only"),
        ("crystal", False, "embedder_unknown"),
    ],
)
async def test_it_says_what_makes_vectors(
    monkeypatch: pytest.MonkeyPatch, name: str, ok: bool, says: str
):
    use(monkeypatch, name)

    (row,) = [row for row in await doctor._checks() if row[0] == "embeddings"]

    assert row[1] is ok
    assert says in row[2]
