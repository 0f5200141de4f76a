"""What a run searches, as its prompts are told."""

from __future__ import annotations

import pytest

from graph.context import Context
from library import store
from library.document_outline import DocumentOutline
from library.documents import ReadDocument, store_files
from library.page_rows import NewPage
from library.scope import PAGE_KINDS
from library.uploaded_files import upload_address
from runs.call_site import CallSite
from tools.scope_outline import outline_scope, render_outline_block

OWNER = "me/"
HERE = CallSite(OWNER, "t1", "t1-1", "", "0")


async def keep(root: str, name: str) -> None:
    page = NewPage(title=name, place="", text=f"The {name} is here.")
    row = {"size": 9, "modified": 9, "sha256": name, "reader": 1, "code": "", "reason": ""}
    await store_files(OWNER, root, [ReadDocument(f"{root}/{name}.txt", [page], row)])


async def told(**choices: object) -> str:
    return (await outline_scope(HERE, Context(**choices), "here")).text  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
async def everything() -> None:
    await keep("/docs", "hive")
    await keep("/else", "pond")
    new = [NewPage(title="Mill", place="", text="The mill is here.")]
    await store.store_pages(OWNER, "web", "https://a.org/x", new, group="a.org")


async def test_files_of_the_run_and_uploads_of_the_thread_are_told():
    await keep(f"{upload_address('t1')}/1", "upload")

    text = await told(files=["/docs"])

    assert "- hive.txt" in text
    assert "- upload.txt" in text
    assert "pond" not in text
    assert "Mill" not in text


async def test_memory_is_told_where_a_run_has_no_files():
    text = await told()

    assert text.startswith("3 documents")
    assert "- a.org: Mill" in text


async def test_memory_is_not_told_where_the_web_is_searched():
    assert await told(search=["duckduckgo"]) == ""


async def test_only_the_chosen_parts_of_memory_are_told():
    assert "pond" not in await told(memory=["web"])


@pytest.mark.parametrize("kind", PAGE_KINDS)
async def test_every_kind_of_page_is_told_by_a_name_in_both_languages(kind: str):
    new = [NewPage(title="Ebb", place="", text="The gate is here.")]
    await store.store_pages(OWNER, kind, "of x", new)
    chosen = Context(memory=[kind])

    english = (await outline_scope(HERE, chosen, "gate")).text
    chinese = (await outline_scope(HERE, chosen, "gate", "zh")).text

    assert ": Ebb (" in english
    assert "：Ebb (" in chinese
    assert f"- {kind}：" not in chinese


async def test_a_kind_that_only_an_import_has_is_told_by_its_own_name():
    new = [NewPage(title="Ebb", place="", text="The gate is here.")]
    await store.store_pages(OWNER, "letter", "of x", new)

    assert "- letter: Ebb" in await told()


def test_the_block_names_the_languages_and_there_is_none_for_nothing():
    outline = DocumentOutline("1 document", ("en", "zh"), 1)

    assert render_outline_block(outline) == ('<outline languages="en zh">\n1 document\n</outline>')
    assert render_outline_block(DocumentOutline()) == ""
