"""The AGENTS.md files that people write, as a model call is told of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from config.errors import Problem
from memory.agents_md.content import LEARNED_BEGIN, LEARNED_END
from memory.agents_md.file_sources import APP_FOLDER, person_file
from memory.agents_md.memory import AgentsMdMemory
from memory.agents_md.project_trust import add_trusted_folder, project_name
from memory.protocol import Note, Query
from runs.call_site import join_owner
from tests.places import new_process

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def file(home: Path) -> Path:
    """Where the person's file lies."""
    home.mkdir(parents=True)
    return home / "AGENTS.md"


@pytest.fixture
async def hive(tmp_path: Path) -> Path:
    """A project's folder that the person has trusted."""
    folder = tmp_path / "hive"
    (folder / ".dossier").mkdir(parents=True)
    await add_trusted_folder("local", str(folder))
    return folder


async def recalled(owner: str = "local/", *files: str) -> list[Note]:
    query = Query(owner, "planner", "How do bees dance?", files=files)
    return await AgentsMdMemory().recall(query, 3_000)


async def said(owner: str = "local/", *files: str) -> list[str]:
    return [note.text for note in await recalled(owner, *files)]


def of(folder: Path, user: str = "local") -> str:
    """Return who works on the project in a folder."""
    return join_owner(user, project_name(str(folder)))


def written(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


async def refused(owner: str = "local/") -> Problem:
    with pytest.raises(Problem) as failure:
        await recalled(owner)
    return failure.value


async def test_what_the_file_says_is_recalled_under_its_path(file):
    file.write_text("# Style\n\nUse metric units. 用中文。\n", encoding="utf-8")

    (note,) = await recalled()

    assert (note.title, note.text) == (str(file), "# Style\n\nUse metric units. 用中文。")


async def test_a_notes_id_tells_the_file_and_its_content(file):
    ids = []
    for text in ("Use metric units.", "Use imperial units.", "Use metric units."):
        file.write_text(text)
        ids += [note.id for note in await recalled()]

    assert ids[0] == ids[2] != ids[1]
    assert all(one.startswith(f"{file}@") for one in ids)


async def test_the_persons_file_comes_first_then_the_projects_private_one_then_its_root(file, hive):
    file.write_text("Be brief.")
    (hive / "AGENTS.md").write_text("Bees first.")
    (hive / ".dossier" / "AGENTS.md").write_text("My hive.")

    assert await said(of(hive)) == ["Be brief.", "My hive.", "Bees first."]


async def test_a_folder_that_nobody_trusted_is_not_read(file, tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("Obey.")

    assert await said(of(tmp_path)) == await said(join_owner("local", str(tmp_path))) == []


async def test_what_one_person_trusted_another_does_not(file, hive):
    (hive / "AGENTS.md").write_text("Bees first.")

    assert await said(of(hive, "maya")) == []


async def test_another_persons_own_file_is_not_the_installations(file, home: Path):
    file.write_text("Be brief.")
    assert await said("maya/") == await said("..%2F/") == []
    theirs = written(person_file("maya"), "Hello.")

    assert theirs.is_relative_to(home / "users")
    assert await said("maya/") == ["Hello."]
    assert await said("maya2/") == []


async def test_a_project_in_the_folder_of_the_home_reads_its_file_once(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_HOME", str(tmp_path / ".dossier"))
    new_process()
    mine = written(str(tmp_path / ".dossier" / "AGENTS.md"), "Be brief.")
    await add_trusted_folder("local", str(tmp_path))
    assert await said(of(tmp_path)) == ["Be brief."]

    mine.unlink()
    mine.symlink_to(written(str(tmp_path_factory.mktemp("dotfiles") / "mine" / "f"), "Be kind."))
    assert await said(of(tmp_path)) == ["Be kind."]


async def test_a_file_among_the_documents_under_research_is_no_memory(file, hive):
    file.write_text("Be brief.")
    (hive / "AGENTS.md").write_text("Obey the page.")

    for documents in (hive, hive.parent, hive / "AGENTS.md"):
        assert await said(of(hive), str(documents)) == ["Be brief."]
    assert len(await said(of(hive), str(hive / "papers"))) == 2


async def test_this_applications_own_rules_are_no_memory(file):
    await add_trusted_folder("local", APP_FOLDER)

    assert await said(of(Path(APP_FOLDER))) == []


async def test_a_folder_that_became_a_link_is_not_what_was_trusted(file, hive, tmp_path: Path):
    owner = of(hive)
    other = tmp_path / "other"
    other.mkdir()
    (other / "AGENTS.md").write_text("Obey.")
    (hive / ".dossier").rmdir()
    hive.rmdir()
    hive.symlink_to(other)

    assert await said(owner) == []


async def test_a_link_that_leads_out_of_the_project_is_told_with_its_path(file, hive, tmp_path):
    (tmp_path / "secret").write_text("password")
    link = hive / "AGENTS.md"
    link.symlink_to(tmp_path / "secret")

    problem = await refused(of(hive))

    assert (problem.code, problem.where) == ("memory_file_unreadable", str(link))


async def test_a_link_inside_the_project_is_followed(file, hive):
    (hive / "CLAUDE.md").write_text("Bees first.")
    (hive / "AGENTS.md").symlink_to("CLAUDE.md")

    assert await said(of(hive)) == ["Bees first."]


async def test_a_change_in_the_file_is_recalled_at_once(file):
    file.write_text("Use metric units.")
    await recalled()
    file.write_text("Use imperial units.")

    assert await said() == ["Use imperial units."]


async def test_a_file_that_is_taken_away_is_forgotten_at_once(file):
    file.write_text("Use metric units.")
    await recalled()
    file.unlink()

    assert await recalled() == []


@pytest.mark.parametrize("text", ["", " \n\t", "<!-- nothing -->", "<!-- a\nb -->\n<!--c-->"])
async def test_a_file_that_says_nothing_is_no_note(file, text: str):
    file.write_text(text)

    assert await recalled() == []


async def test_without_a_file_or_a_home_there_is_nothing_to_recall():
    assert await recalled() == []


async def test_what_agents_wrote_is_a_note_of_its_own(file):
    file.write_text(f"Be brief.\n\n{LEARNED_BEGIN}\n- Use metric units\n{LEARNED_END}\nBe kind.\n")

    mine, learned = await recalled()

    assert (mine.title, mine.text.split()) == (str(file), ["Be", "brief.", "Be", "kind."])
    assert (learned.title, learned.text) == (f"{file}#learned", "- Use metric units")


async def test_a_file_whose_marks_are_broken_is_told_whole(file):
    file.write_text(f"Be brief.\n{LEARNED_BEGIN}\n- Use metric units\n")

    (note,) = await recalled()

    assert note.text == "Be brief.\n\n- Use metric units"


async def test_a_byte_order_mark_is_no_text(file):
    file.write_bytes(b"\xef\xbb\xbfBe brief.")

    assert await said() == ["Be brief."]


async def test_a_file_that_is_no_text_is_told_with_its_path(file):
    file.write_bytes(b"Be br\xff\xfeef.")

    problem = await refused()

    assert (problem.code, problem.where) == ("memory_file_unreadable", str(file))
    assert problem.exit_status == 7


async def test_a_folder_in_its_place_is_told_with_its_path(file):
    file.mkdir()

    problem = await refused()

    assert (problem.code, problem.where) == ("memory_file_unreadable", str(file))


async def test_a_pipe_in_its_place_holds_nothing_up(file):
    os.mkfifo(file)

    assert (await refused()).code == "memory_file_unreadable"


async def test_a_file_that_would_fill_every_call_is_told_with_its_size(file):
    file.write_text("x" * 65_536)
    assert len((await said())[0]) == 65_536
    file.write_text("x" * 5_000_000)

    problem = await refused()

    assert (problem.code, problem.where) == ("memory_file_too_large", str(file))
    assert "5000000" in problem.what
