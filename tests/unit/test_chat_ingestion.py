import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from config.errors import Problem
from library import page_retrieval
from library.scope import list_namespaces
from library.tables import pages as table
from nodes.ingest import IngestedChat, ingest_chat
from storage.engine import read_rows

pytestmark = pytest.mark.usefixtures("database")

DAY = "1:56 pm on 8 May, 2023"


def line(speaker: str, text: str, **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "text": text, **more}


def write(file: Path, *lines: Any) -> Path:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return file


async def keep(file: Path, *lines: Any) -> IngestedChat:
    return await ingest_chat("me/", write(file, *lines), lambda _: None)


async def rows(kind: str) -> list[Any]:
    wanted = select(table).where(table.c.kind == kind, table.c.indexed > 0)
    return list(await read_rows(wanted.order_by(table.c.session, table.c.position)))


async def test_turns_keep_their_speaker_their_date_and_their_order(tmp_path: Path):
    said = [line("Ann", "I adopted a cat.", date=DAY, session=1), line("Ben", "Lovely!", session=1)]

    read = await keep(tmp_path / "pets.jsonl", *said)

    first, second = await rows("chat")
    assert (first.title, first.speaker, first.said) == (f"Ann, {DAY}", "Ann", "2023-05-08T13:56")
    assert (second.title, second.position, second.session) == ("Ben", 1, first.session)
    assert read[:4] == ("pets", 1, 2, 2)


async def test_a_session_is_a_page_with_an_abstract(tmp_path: Path):
    await keep(tmp_path / "pets.jsonl", line("Ann", "I adopted a cat.", date=DAY, session=1))

    (session,) = await rows("session")
    assert session.title == f"Session 1, {DAY}"
    assert session.text == "Ann: I adopted a cat."
    assert "adopted a cat" in session.abstract


async def test_a_search_finds_the_turn_and_not_its_whole_session_too(tmp_path: Path):
    await keep(tmp_path / "pets.jsonl", line("Ann", "I adopted a cat."), line("Ben", "Lovely!"))

    found = await page_retrieval.find_pages("me/", "adopted cat", 5)

    assert found[0].text == "I adopted a cat."
    assert {page.kind for page in found} == {"chat"}


async def test_a_conversation_is_a_group_of_its_own(tmp_path: Path):
    await keep(tmp_path / "pets.jsonl", line("Ann", "Hello."), line("Ben", "Hi.", conversation="b"))

    shelves = {(one.kind, one.group): one.pages for one in await list_namespaces("me/")}
    assert shelves[("chat", "pets")] == shelves[("chat", "b")] == 1


async def test_a_chat_that_is_read_again_changes_nothing(tmp_path: Path):
    said = [line("Ann", "Hello.", date=DAY), line("Ben", "Hi.", date=DAY)]
    await keep(tmp_path / "a.jsonl", *said)
    before = await rows("chat") + await rows("session")

    assert (await keep(tmp_path / "a.jsonl", *said)).added == 0
    assert await rows("chat") + await rows("session") == before


async def test_of_a_chat_that_has_grown_only_the_new_is_added(tmp_path: Path):
    said = [line("Ann", "Hello.", session=1), line("Ben", "Hi.", session=1)]
    await keep(tmp_path / "a.jsonl", *said)
    before = await rows("chat")

    more = [*said, line("Ann", "I moved to Rome.", session=1), line("Ben", "Nice!", session=2)]
    read = await keep(tmp_path / "a.jsonl", *more)

    after = await rows("chat")
    assert read.added == 2
    assert set(before) < set(after)
    assert [one.position for one in after] == [0, 1, 2, 0]
    assert any("moved to Rome" in one.text for one in await rows("session"))


async def test_what_a_killed_reading_left_out_is_added_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    said = [line("Ann", "Hello.", session=1), line("Ben", "Hi.", session=2)]

    def killed(_: str) -> None:
        raise KeyboardInterrupt

    file = write(tmp_path / "a.jsonl", *said)
    with pytest.raises(KeyboardInterrupt):
        await ingest_chat("me/", file, killed)
    read = await keep(file, *said)

    assert read.added == 1
    assert [one.text for one in await rows("chat")] == ["Hello.", "Hi."]
    assert len(await rows("session")) == 2


async def test_a_turn_that_was_changed_takes_the_place_of_the_old_one(tmp_path: Path):
    await keep(tmp_path / "a.jsonl", line("Ann", "Helo."), line("Ben", "Hi."))
    await keep(tmp_path / "a.jsonl", line("Ann", "Hello."), line("Ben", "Hi."))

    assert [one.text for one in await rows("chat")] == ["Hello.", "Hi."]


async def test_two_files_of_one_name_are_two_chats(tmp_path: Path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        await keep(tmp_path / folder / "chat.jsonl", line("Ann", f"Hello {folder}."))

    assert [one.text for one in await rows("chat")] == ["Hello one.", "Hello two."]


async def test_a_chat_with_a_model_is_read_too(tmp_path: Path):
    parts = [
        {"type": "text", "text": "A cat"},
        {"type": "image_url"},
        {"type": "text", "text": "?"},
    ]
    said = [{"role": "user", "content": parts}, {"role": "assistant", "content": "Yes."}]

    await keep(tmp_path / "a.jsonl", *said)

    assert [(one.speaker, one.text) for one in await rows("chat")] == [
        ("user", "A cat\n?"),
        ("assistant", "Yes."),
    ]


async def test_messages_without_a_session_belong_to_their_day(tmp_path: Path):
    said = [line("Ann", "Hello.", date="2023-05-08"), line("Ben", "Hi.", date="2023-05-09 10:00")]

    assert (await keep(tmp_path / "a.jsonl", *said)).sessions == 2
    assert [one.title for one in await rows("session")] == ["2023-05-08", "2023-05-09"]


async def test_a_session_that_is_too_long_for_a_page_becomes_several(tmp_path: Path):
    said = [
        line("Ann", f"Thing {n} happened in town {n} and was told at length. " * 3)
        for n in range(300)
    ]

    await keep(tmp_path / "a.jsonl", *said)

    sessions = await rows("session")
    assert len(sessions) > 3
    assert len({one.place for one in sessions}) == len(sessions)
    assert all(one.abstract for one in sessions)


async def test_lines_that_are_no_messages_are_told_by_their_numbers(tmp_path: Path):
    deep = "[" * 100_000
    bad = ["no JSON", "[]", line("", "Hi."), line("Ann", "  "), deep, '{"speaker": "A", "text": 1}']

    read = await keep(tmp_path / "a.jsonl", line("Ann", "Hello."), "", *bad)

    assert [(one.number, one.reason) for one in read.skipped] == [
        (3, "it is no JSON"),
        (4, "it is no JSON object"),
        (5, "it has no speaker"),
        (6, "it has no text"),
        (7, "it is no JSON"),
        (8, "it has no text"),
    ]


async def test_bytes_that_are_no_text_are_a_bad_line_and_harm_no_other(tmp_path: Path):
    file = tmp_path / "a.jsonl"
    hello = json.dumps(line("Ann", "Hel\x00lo \ud800.")).encode()
    file.write_bytes(b"\xef\xbb\xbf" + hello + b"\r\n\xff\xfe\x00\n")

    read = await ingest_chat("me/", file, lambda _: None)

    assert [one.text for one in await rows("chat")] == ["Hello ."]
    assert [one.number for one in read.skipped] == [2]


@pytest.mark.parametrize(
    ("content", "code"), [(None, "chat_not_found"), ("", "chat_empty"), ("no\n", "chat_empty")]
)
async def test_a_file_without_a_message_is_a_problem(
    tmp_path: Path, content: str | None, code: str
):
    file = tmp_path / "a.jsonl"
    if content is not None:
        file.write_text(content)

    with pytest.raises(Problem) as problem:
        await ingest_chat("me/", file, lambda _: None)

    assert problem.value.code == code


async def test_a_folder_is_no_chat(tmp_path: Path):
    with pytest.raises(Problem) as problem:
        await ingest_chat("me/", tmp_path, lambda _: None)

    assert problem.value.code == "chat_unreadable"
