"""One name says which pages are meant."""

from __future__ import annotations

import pytest

from config.errors import Problem
from memory.pages.store import NewPage, keep
from memory.pages.within import Scope, from_origin, scope, within

pytestmark = pytest.mark.usefixtures("database")

ME = "me/"


def page(text: str) -> NewPage:
    return NewPage(title="", place="", text=text)


def test_names_of_kinds_and_of_groups_are_told_apart():
    assert scope([]) == Scope(None, None)
    assert scope(["web", "ann", "chat"]) == Scope(["web", "chat"], ["ann"])


async def test_a_kind_is_meant_whether_it_has_pages_or_not():
    for kind in ("web", "session"):
        assert await within(ME, kind) == scope([kind]) == Scope(kinds=[kind])


async def test_a_conversation_is_meant_by_its_name():
    await keep(ME, "chat", "talk", [page("Hello there.")], group="Ann and Bob")

    assert await within(ME, "Ann and Bob") == Scope(groups=["Ann and Bob"])


async def test_no_name_means_everything():
    assert await within(ME, "") == Scope()


async def test_a_name_that_means_nothing_is_told_with_the_closest_one():
    await keep(ME, "chat", "talk", [page("Hello there.")], group="Ann and Bob")

    with pytest.raises(Problem) as told:
        await within(ME, "Ann and Bo")

    assert told.value.code == "namespace_not_found"
    assert "did you mean Ann and Bob?" in told.value.hint


async def test_what_is_anothers_is_not_there():
    await keep("you/", "chat", "talk", [page("Hello there.")], group="yours")

    with pytest.raises(Problem, match="there are no pages in 'yours'"):
        await within(ME, "yours")


async def test_the_pages_of_an_address_are_found_also_those_it_had():
    old = await keep(ME, "web", "https://example.org/", [page("It was so.")])
    new = await keep(ME, "web", "https://example.org/", [page("It is so.")])
    await keep("you/", "web", "https://example.org/", [page("It is so.")])

    assert (await from_origin(ME, "https://example.org/")).ids == [*old, *new]
