import json
import time
from pathlib import Path

import anyio
import pytest

from config.errors import Problem
from tools.files.extractor import extract_document
from tools.files.formats import find_files, find_unreadable_files

EXAMPLES = Path(__file__).parents[2] / "examples"


def make(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Bees dance.")


def names(paths, folder):
    return [path.relative_to(folder).as_posix() for path in paths]


def test_documents_are_found_in_all_folders_in_order(tmp_path):
    make(tmp_path, "b.md", "a/z.txt", "a/B.PDF", "蜜蜂.html")

    assert names(find_files(tmp_path), tmp_path) == ["a/B.PDF", "a/z.txt", "b.md", "蜜蜂.html"]


def test_hidden_and_made_files_are_not_documents(tmp_path):
    hidden = [".git/a.md", ".venv/a.md", "x/node_modules/a.md", "__pycache__/a.txt"]
    make(tmp_path, *hidden, ".a.md", "~$open.docx", "a.md")

    assert names(find_files(tmp_path), tmp_path) == ["a.md"]
    assert find_unreadable_files(tmp_path) == []


def test_files_of_other_types_are_told_apart(tmp_path):
    make(tmp_path, "a.md", "film.mp4", "b/old.doc", "README")

    assert names(find_files(tmp_path), tmp_path) == ["a.md"]
    assert names(find_unreadable_files(tmp_path), tmp_path) == ["README", "b/old.doc", "film.mp4"]


def test_links_that_lead_out_of_the_folder_are_passed_over(tmp_path):
    make(tmp_path, "outside/secret.md", "in/a.md")
    folder = tmp_path / "in"
    (folder / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (folder / "linked").symlink_to(tmp_path / "outside")
    (folder / "inside.md").symlink_to(folder / "a.md")
    (folder / "loop.md").symlink_to(folder / "loop.md")

    assert names(find_files(folder), folder) == ["a.md", "inside.md"]


def test_a_single_file_is_found_as_it_is(tmp_path):
    make(tmp_path, "film.mp4")

    assert find_files(tmp_path / "film.mp4") == [tmp_path / "film.mp4"]


def test_a_folder_that_is_not_there_is_told_so(tmp_path):
    with pytest.raises(Problem) as caught:
        find_files(tmp_path / "nowhere")

    assert caught.value.code == "file_not_found"


async def test_two_hundred_small_files_take_less_than_five_seconds_of_processor(tmp_path):
    make(tmp_path, *(f"{number}.md" for number in range(200)))
    start = time.process_time()

    documents = [await extract_document(path) for path in find_files(tmp_path)]

    assert len(documents) == 200
    assert time.process_time() - start < 5


async def test_every_example_document_is_read(tmp_path):
    paths = find_files(EXAMPLES / "docs")

    documents = [await extract_document(path) for path in paths]

    assert len(documents) >= 12
    assert len({path.suffix for path in paths}) >= 6
    assert all(section["text"] for document in documents for section in document["sections"])


async def test_the_passages_of_the_example_questions_stand_word_for_word_in_their_files():
    questions = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))
    passages = [passage for question in questions for passage in question["passages"]]
    read = {}
    for name in {passage["file"] for passage in passages}:
        read[name] = [
            section["text"] for section in (await extract_document(EXAMPLES / name))["sections"]
        ]

    assert len(questions) == 3
    for passage in passages:
        assert any(passage["text"] in text for text in read[passage["file"]]), passage["text"]


async def test_many_documents_can_be_read_at_once():
    paths = find_files(EXAMPLES / "docs")
    titles = []

    async def read(path):
        titles.append((await extract_document(path))["title"])

    async with anyio.create_task_group() as group:
        for path in paths * 2:
            group.start_soon(read, path)

    assert len(titles) == 2 * len(paths)
