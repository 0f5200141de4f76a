"""Which knowledge bases there are, how they are named, and which fit a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.errors import Problem
from library.knowledge_records import KnowledgeBase, delete_base, save_base
from runs.call_site import join_owner
from tests.places import new_process
from tools.knowledge.catalog import check_base_names, find_bases, list_bases
from tools.knowledge.kinds import make_base
from tools.knowledge.selection import choose_by_description

pytestmark = pytest.mark.usefixtures("database")

ADA, BOB = join_owner("ada", ""), join_owner("bob", "")


def folder(name: str, about: str = "bees", owner: str = ADA) -> KnowledgeBase:
    return make_base(name, about, f"/docs/{name}", {}, owner=owner)


def operate(home: Path, text: str) -> Path:
    home.mkdir(exist_ok=True)
    file = home / "knowledge.toml"
    file.write_text(text, encoding="utf-8")
    return file


async def names(owner: str) -> list[str]:
    return [base.name for base in await list_bases(owner)]


async def test_bases_of_one_name_and_two_owners_are_two_bases():
    await save_base(folder("hives", "of Ada"))
    await save_base(folder("hives", "of Bob", BOB))

    (hers,), (his,) = await list_bases(ADA), await list_bases(BOB)

    assert (hers.about, his.about) == ("of Ada", "of Bob")
    assert hers.index_owner != his.index_owner
    await delete_base(ADA, "hives")
    assert (await names(ADA), await names(BOB)) == ([], ["hives"])


def test_no_owner_of_anything_else_is_called_like_that_of_an_index():
    made = {folder("b", owner=join_owner(*one)).index_owner for one in (("a", "x"), ("a", ""))}

    assert len(made) == 2
    assert not any("/" in name for name in made)
    assert "/" in join_owner("knowledge:x", "")


async def test_a_base_of_the_operator_without_a_description_is_told_what_to_write(home: Path):
    operate(home, '[wiki]\nlocation = "/srv/wiki"\n')

    with pytest.raises(Problem) as told:
        await names(ADA)

    assert told.value.hint == 'write about = "what it answers"'


async def test_everybody_sees_the_bases_of_the_operator_beside_their_own(home: Path):
    operate(home, '[wiki]\nabout = "How we work"\nlocation = "/srv/wiki"\nhyde = true\n')
    await save_base(folder("hives"))

    assert await names(ADA) == ["hives", "wiki"]
    (wiki,) = await list_bases(BOB)
    assert (wiki.is_shared, wiki.kind, wiki.options) == (True, "folder", {"hyde": True})


async def test_a_file_of_the_operator_that_changes_is_read_again(home: Path):
    operate(home, '[wiki]\nabout = "How we work"\nlocation = "/srv/wiki"\n')
    assert await names(ADA) == ["wiki"]

    operate(home, '[laws]\nabout = "What the law says"\nlocation = "/srv/laws"\n')

    assert await names(ADA) == ["laws"]


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("[wiki", "config_syntax", "knowledge.toml"),
        ("wiki = 3", "knowledge_invalid", "wiki"),
        ('[wiki]\nlocation = "/x"\n', "knowledge_invalid", "wiki: about"),
        ('[wiki]\nabout = "x"\n', "knowledge_invalid", "wiki: location"),
        ('[wiki]\nabout = 3\nlocation = "/x"\n', "knowledge_invalid", "wiki.about"),
        ('[wiki]\nabout = "x"\nlocation = "/x"\nhide = true\n', "knowledge_invalid", "hide"),
        ('[wiki]\nabout = "x"\nlocation = "/x"\nkind = "oracle"\n', "knowledge_invalid", "wiki"),
        ('[none]\nabout = "x"\nlocation = "/x"\n', "knowledge_invalid", "none"),
    ],
)
async def test_what_is_wrong_in_the_operators_file_is_told_with_its_place(
    home: Path, text: str, code: str, where: str
):
    operate(home, text)

    with pytest.raises(Problem) as told:
        await list_bases(ADA)

    assert told.value.code == code
    assert "knowledge.toml" in told.value.where
    assert where in told.value.where


async def test_a_file_that_a_setting_names_has_to_exist(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("DOSSIER_KNOWLEDGE", str(tmp_path / "gone.toml"))
    new_process()

    with pytest.raises(Problem) as told:
        await list_bases(ADA)

    assert (told.value.code, "DOSSIER_KNOWLEDGE" in told.value.hint) == ("config_not_found", True)


async def test_an_unknown_name_is_refused_with_the_one_that_comes_closest():
    await save_base(folder("hives"))
    await save_base(folder("hives-of-bob", owner=BOB))

    with pytest.raises(Problem) as told:
        await find_bases(ADA, ["hives", "hivs"])
    with pytest.raises(Problem) as others:
        await find_bases(ADA, ["hives-of-bob"])

    assert (told.value.code, told.value.exit_status) == ("knowledge_unknown", 4)
    assert "'hivs'" in told.value.what
    assert "did you mean hives?" in told.value.hint
    assert "hives-of-bob" not in others.value.hint


async def test_none_stands_alone_among_the_choices_of_a_run():
    await check_base_names(ADA, ["none"])
    with pytest.raises(Problem) as told:
        await check_base_names(ADA, ["none", "hives"])

    assert told.value.code == "bad_choice"


@pytest.mark.parametrize(
    ("kind", "location", "options", "told"),
    [
        ("dify", "/docs", {"dataset": "x"}, "https://"),
        ("dify", "https://me:secret@dify.example/v1", {"dataset": "x"}, "neither user nor"),
        ("dify", "https://dify.example/v1", {}, "missing"),
        ("dify", "https://dify.example/v1", {"dataset": "../x"}, "characters"),
        ("ragflow", "https://rag.example", {"datasets": []}, "fewer than 1"),
        ("elasticsearch", "https://es.example", {"index": "_all/_search"}, "characters"),
        ("bucket", "gopher://x", {}, "no address of files"),
        ("folder", "s3://x", {}, "by its path"),
        ("folder", "/docs", {"key": "sk-123"}, "no such field"),
    ],
)
def test_a_base_that_cannot_be_is_refused_in_plain_words(
    kind: str, location: str, options: dict[str, Any], told: str
):
    with pytest.raises(Problem) as failed:
        make_base("b", "x", location, options, kind=kind)

    assert failed.value.code == "knowledge_invalid"
    assert told in f"{failed.value.what} {failed.value.hint}"
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    ("kind", "given", "kept"),
    [
        (
            "elasticsearch",
            {"index": "bees", "fields": "title, text", "hyde": "true"},
            {"index": "bees", "fields": ["title", "text"], "hyde": True},
        ),
        ("ragflow", {"datasets": "12e5"}, {"datasets": ["12e5"]}),
        ("ragflow", {"datasets": '["a", "b"]', "threshold": "0.3"}, None),
    ],
)
def test_options_of_a_command_line_are_texts_and_kept_as_what_they_stand_for(
    kind: str, given: dict[str, Any], kept: dict[str, Any] | None
):
    base = make_base("b", "x", "https://bees.example", given, kind=kind)

    assert base.options == (kept or {"datasets": ["a", "b"], "threshold": 0.3})


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 65, "all", "Files", "甲\n"])
def test_a_name_that_no_choice_could_say_is_refused(name: str):
    with pytest.raises(Problem, match="cannot be the name"):
        make_base(name, "x", "/docs", {})


BASES = [
    folder("hives", "Our hives: what they weigh, their queens and their yields"),
    folder("travel", "Who pays for trips of employees, and when"),
    folder("law", "德国的养蜂法规和许可"),
]


@pytest.mark.parametrize(
    ("questions", "chosen"),
    [
        (["What does the Aurora hive weigh?"], ["hives"]),
        (["When are my trips paid?"], ["travel"]),
        (["养蜂需要什么许可？"], ["law"]),
        (["Which queens?", "养蜂法规"], ["hives", "law"]),
        (["How does a diesel engine work?"], []),
        ([""], []),
    ],
)
async def test_bases_are_chosen_by_what_they_are_about(
    monkeypatch: pytest.MonkeyPatch, questions: list[str], chosen: list[str]
):
    monkeypatch.setenv("DOSSIER_EMBEDDINGS", "none")
    new_process()

    assert sorted(await choose_by_description(questions, BASES)) == sorted(chosen)
