from typing import Any

import pytest
from sqlalchemy import select

from library.tables import documents
from storage.engine import commit_statements, read_rows
from storage.upsert import upsert

pytestmark = pytest.mark.usefixtures("either")


def named(path: str = "a.txt") -> dict[str, Any]:
    return {"owner": "me/", "root": "/docs", "path": path}


def seen(**more: Any) -> dict[str, Any]:
    return {"size": 1, "modified": 2, "sha256": "ab", "reader": 1, "code": "", "reason": ""} | more


async def put(name: dict[str, Any], row: dict[str, Any]) -> None:
    await commit_statements((upsert(documents, name, row), None))


async def rows() -> list[Any]:
    return list((await read_rows(select(documents).order_by(documents.c.path))).all())


async def test_a_new_row_is_written():
    await put(named(), seen(size=7))

    assert [(row.path, row.size, row.sha256) for row in await rows()] == [("a.txt", 7, "ab")]


async def test_a_row_that_is_there_gets_the_new_values_and_stays_one():
    await put(named(), seen(size=7, code="file_broken"))
    await put(named(), seen(size=8))

    assert [(row.size, row.code) for row in await rows()] == [(8, "")]


async def test_rows_under_other_keys_stay_as_they_are():
    await put(named("a.txt"), seen(size=7))
    await put(named("b.txt"), seen(size=8))
    await put(named("b.txt"), seen(size=9))

    assert [(row.path, row.size) for row in await rows()] == [("a.txt", 7), ("b.txt", 9)]
