"""One name says which pages are meant."""

from __future__ import annotations

import pytest

from config.errors import Problem
from library.page_rows import NewPage
from library.scope import Scope, find_origin_pages, parse_scope, resolve_scope
from library.store import store_pages

pytestmark = pytest.mark.usefixtures("database")

ME = "me/"


def page(text: str) -> NewPage:
    return NewPage(title="", place="", text=text)


def test_names_of_kinds_and_of_groups_are_told_apart():
    assert parse_scope([]) == Scope(None, None)
    assert parse_scope(["web", "ann", "chat"]) == Scope(["web", "chat"], ["ann"])


async def test_a_kind_is_meant_whether_it_has_pages_or_not():
    for kind in ("web", "session"):
        assert await resolve_scope(ME, kind) == parse_scope([kind]) == Scope(kinds=[kind])


async def test_a_conversation_is_meant_by_its_name():
    await store_pages(ME, "chat", "talk", [page("Hello there.")], group="Ann and Bob")

    assert await resolve_scope(ME, "Ann and Bob") == Scope(groups=["Ann and Bob"])


async def test_no_name_means_everything():
    assert await resolve_scope(ME, "") == Scope()


async def test_a_name_that_means_nothing_is_told_with_the_closest_one():
    await store_pages(ME, "chat", "talk", [page("Hello there.")], group="Ann and Bob")

    with pytest.raises(Problem) as told:
        await resolve_scope(ME, "Ann and Bo")

    assert told.value.code == "namespace_not_found"
    assert "did you mean Ann and Bob?" in told.value.hint


async def test_what_is_anothers_is_not_there():
    await store_pages("you/", "chat", "talk", [page("Hello there.")], group="yours")

    with pytest.raises(Problem, match="there are no pages in 'yours'"):
        await resolve_scope(ME, "yours")


async def test_the_pages_of_an_address_are_found_also_those_it_had():
    old = await store_pages(ME, "web", "https://example.org/", [page("It was so.")])
    new = await store_pages(ME, "web", "https://example.org/", [page("It is so.")])
    await store_pages("you/", "web", "https://example.org/", [page("It is so.")])

    assert (await find_origin_pages(ME, "https://example.org/")).ids == [*old, *new]
