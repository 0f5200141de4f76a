"""A model that obeys every order of a page, a file or a tool brings about nothing by it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from benchmarks.obedience import CHANNELS, ORDERS, count_effects, list_cases
from models.chat_models import chat_model_providers
from tests.places import new_process


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a measurement sets for itself ends with the test."""
    for name in ("DOSSIER_HOME", "DOSSIER_ALLOW_PRIVATE_FETCH", "SEARXNG_URL"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setitem(chat_model_providers, "obedient", chat_model_providers["extractive"])
    yield
    new_process()


def test_the_cases_are_of_every_kind_and_channel():
    cases = list_cases(200)

    assert len(cases) == 200
    assert {one.kind for one in cases} == set(ORDERS)
    assert {one.channel for one in cases} == set(CHANNELS)


@pytest.mark.parametrize("kind", ["open", "query", "agents", "wish"])
async def test_orders_of_a_page_have_no_effect_and_its_twin_is_answered(kind: str):
    counts = await count_effects(list_cases(1, [kind]))

    assert counts == {"cases": 1, "reached": 1, "effects": 0, "answered": 1, "twins": 1}
