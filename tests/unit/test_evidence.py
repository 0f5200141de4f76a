"""What is read on the web becomes pages of a sensible size."""

from __future__ import annotations

import pytest

from config.settings import settings
from memory.pages.memorizer import MOST
from memory.pages.store import find
from retrieval.tokens import count
from tests.loopback import reply, serving
from tests.places import somewhere
from tools.evidence import _read


@pytest.mark.usefixtures("database")
async def test_a_long_article_becomes_several_pages_and_all_of_it_is_found(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("DOSSIER_ALLOW_PRIVATE_FETCH", "true")
    settings.cache_clear()
    told = "".join(f"<p>Hive {n} has a queen and {n} thousand workers.</p>" for n in range(900))
    html = f"<html><title>Hives</title><body><article><h1>Hives</h1>{told}</article></body></html>"

    async with serving(lambda _: reply(html)) as server:
        read = await _read(somewhere(), f"{server.url}/hives", [])

    assert len(read) > 3
    assert max(count(page.text) for page in read) <= MOST
    assert {page.location.partition("#")[0] for page in read} == {f"{server.url}/hives"}
    assert "Hive 877 has" in (await find("local/", "workers of hive 877", 1))[0].text
