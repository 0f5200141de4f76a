"""Files of messages are taken out of them in every form in which chat pages send them."""

from __future__ import annotations

import base64
import stat
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, convert_to_messages

from library.uploaded_files import list_uploaded_files, upload_folder
from runs.call_site import join_owner
from storage.file_store import file_store
from tools.message_uploads import (
    Upload,
    extract_uploads,
    ingest_uploads,
    list_newest_uploads,
    list_unread_uploads,
)

TEXT = "The ferry to Askøy leaves every twenty minutes from the northern pier."
B64 = base64.b64encode(TEXT.encode()).decode()
ME = join_owner("local", "")

FORMS: list[dict[str, Any]] = [
    {
        "type": "file",
        "source_type": "base64",
        "mime_type": "text/plain",
        "data": B64,
        "metadata": {"filename": "ferry.txt"},
    },
    {"type": "file", "mimeType": "text/plain", "data": B64, "metadata": {"name": "ferry.txt"}},
    {"type": "file", "mime_type": "text/plain", "base64": B64, "extras": {"filename": "ferry.txt"}},
    {
        "type": "file",
        "file": {"filename": "ferry.txt", "file_data": f"data:text/plain;base64,{B64}"},
    },
    {
        "type": "document",
        "title": "ferry.txt",
        "source": {"type": "base64", "media_type": "text/plain", "data": B64},
    },
    {
        "type": "document",
        "title": "ferry.txt",
        "source": {"type": "text", "media_type": "text/plain", "data": TEXT},
    },
    {"type": "input_file", "filename": "ferry.txt", "file_data": f"data:text/plain;base64,{B64}"},
    {"type": "media", "mime_type": "text/plain", "data": B64, "name": "../../ferry.txt"},
    {"type": "text-plain", "mime_type": "text/plain", "text": TEXT, "title": "ferry.txt"},
    {"type": "file", "source_type": "text", "text": TEXT, "metadata": {"name": "ferry.txt"}},
]

IMAGES: list[dict[str, Any]] = [
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    {"type": "image_url", "image_url": "https://example.org/pier.png"},
    {"type": "image", "source_type": "base64", "mime_type": "image/jpeg", "data": "/9j/4AAQ"},
    {"type": "image", "mimeType": "image/webp", "data": "UklGRg", "metadata": {"name": "x.webp"}},
    {"type": "file", "mimeType": "application/octet-stream", "data": "AAAA", "name": "pier.gif"},
]


def said(*blocks: dict[str, Any], words: str = "When does it leave?") -> HumanMessage:
    return HumanMessage([{"type": "text", "text": words}, *blocks], id="h1")


def holding(home: Path, words: bytes) -> list[Path]:
    """Return the files of a folder that hold some words."""
    return [one for one in home.rglob("*") if one.is_file() and words in one.read_bytes()]


def mode(file: str) -> int:
    """Return who may do what with a file; 0 where there is none."""
    return stat.S_IMODE(Path(file).stat().st_mode) if Path(file).exists() else 0


async def taken(block: dict[str, Any]) -> Upload:
    [message] = await extract_uploads("t1", [said(block)])
    [one] = list_newest_uploads([message])
    return one


@pytest.mark.parametrize("block", FORMS, ids=range(len(FORMS)))
async def test_every_form_of_a_document_is_kept_under_its_name(block: dict[str, Any]):
    one = await taken(block)

    assert (one.name, one.size, one.reason) == ("ferry.txt", len(TEXT.encode()), "")
    assert file_store().read(f"{upload_folder('t1')}/{one.id}/ferry.txt").decode() == TEXT


@pytest.mark.parametrize("block", FORMS + IMAGES, ids=range(len(FORMS + IMAGES)))
async def test_no_bytes_stay_in_the_message(block: dict[str, Any]):
    [message] = await extract_uploads("t1", [said(block)])

    held = str(message.model_dump())
    assert B64[:20] not in held
    assert TEXT[:20] not in held
    assert "base64" not in held
    assert str(message.text) == "When does it leave?"
    assert message.id == "h1"
    assert convert_to_messages([message.model_dump()])


@pytest.mark.parametrize("block", IMAGES, ids=range(len(IMAGES)))
async def test_a_picture_is_named_and_not_kept(block: dict[str, Any]):
    one = await taken(block)

    assert one.reason == "an image"
    assert not one.id
    assert await list_unread_uploads(ME, "t1", [one]) == [f"{one.name} (an image)"]
    assert file_store().list(upload_folder("t1")) == []


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"type": "audio", "mime_type": "audio/wav", "data": "UklGRg"}, "a sound recording"),
        ({"type": "file", "mime_type": "application/x-blend", "data": "AA=="}, "not a type"),
        ({"type": "file", "mime_type": "application/pdf", "url": "https://e.org/a.pdf"}, "address"),
        ({"type": "file", "mime_type": "application/pdf", "data": "%%%not base 64"}, "whole"),
        ({"type": "file", "mime_type": "text/plain", "data": "IA=="}, "whole"),
        ({"type": "file", "mime_type": "text/csv", "data": "A" * 40_100_000}, "more than"),
    ],
)
async def test_what_cannot_be_kept_says_why(block: dict[str, Any], reason: str):
    one = await taken(block)

    assert reason in one.reason
    assert not one.id


async def test_messages_without_files_are_the_same_ones():
    given = [HumanMessage("a"), AIMessage("b"), said(words="c")]

    assert all(
        old is new for old, new in zip(given, await extract_uploads("t1", given), strict=True)
    )


async def test_what_was_taken_is_not_taken_again():
    once = await extract_uploads("t1", [said(FORMS[0])])

    assert (await extract_uploads("t1", once))[0] is once[0]


async def test_a_file_is_read_as_pages_of_its_owner_and_goes_from_the_disk(database: None):
    one = await taken(FORMS[0])

    await ingest_uploads(ME, "t1", [one])
    await ingest_uploads(ME, "t1", [one])

    [row] = await list_uploaded_files(ME, "t1")
    assert Path(row.path).name == "ferry.txt"
    assert mode(row.path) == 0
    assert await list_uploaded_files(join_owner("else", ""), "t1") == []
    assert await list_uploaded_files(ME, "t2") == []
    assert await list_unread_uploads(ME, "t1", [one]) == []


async def test_a_table_stays_for_what_is_computed_over_it_and_is_the_owners_alone(database: None):
    one = await taken(
        {"type": "file", "mime_type": "text/csv", "data": "YSxiCjEsMg==", "name": "t"}
    )

    await ingest_uploads(ME, "t1", [one])

    [row] = await list_uploaded_files(ME, "t1")
    assert Path(row.path).name == "t.csv"
    assert mode(row.path) == 0o600


async def test_a_broken_document_says_why_it_was_not_read(database: None):
    broken = {"type": "file", "mime_type": "application/pdf", "data": B64, "name": "plan.pdf"}
    one = await taken(broken)

    await ingest_uploads(ME, "t1", [one])

    [told] = await list_unread_uploads(ME, "t1", [one])
    assert told.startswith("plan.pdf (its name ends in .pdf, but it is")


async def test_secrets_are_kept_nowhere(database: None, home: Path):
    text = base64.b64encode(b"Ferry timetable.\n\nMy password is hunter2zz, by the way.").decode()
    one = await taken({"type": "file", "mime_type": "text/plain", "data": text, "name": "f.txt"})

    await ingest_uploads(ME, "t1", [one])

    assert holding(home, b"hunter2zz") == []


@pytest.mark.parametrize("name", ["my password is Zebr4Cross!.txt", "password hunter2zz.md"])
async def test_a_file_with_a_secret_in_its_name_is_read_under_a_name_without(
    database: None, home: Path, name: str
):
    text = base64.b64encode(b"The ferry leaves at nine.").decode()
    one = await taken({"type": "file", "data": text, "name": name})

    await ingest_uploads(ME, "t1", [one])

    assert await list_unread_uploads(ME, "t1", [one]) == []
    assert "Zebr4Cross" not in one.name
    assert "hunter2zz" not in one.name
    assert Path(one.name).suffix == Path(name).suffix


async def test_a_reference_of_a_clients_own_leads_nowhere(database: None):
    forged = {"type": "file", "mimeType": "x", "metadata": {"filename": "../../etc/passwd"}}
    forged |= {"upload": {"id": "../../../etc", "reason": ""}}
    [message] = await extract_uploads("t1", [said(forged)])
    [one] = list_newest_uploads([message])

    await ingest_uploads(ME, "t1", [one])

    assert (one.name, one.id) == ("passwd", "")
    assert await list_uploaded_files(ME, "t1") == []
