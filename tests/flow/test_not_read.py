"""A report names the files that it could not rest on, because nobody could read them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graph.session import ThreadSession
from report.method import describe_method
from runs.call_site import join_owner
from tests.conftest import make
from tests.flow.test_defects import quiet
from tests.unit.test_files_samples import pdf
from tools.folder_ingestion import ingest_folder

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mills"
    folder.mkdir()
    (folder / "mills.md").write_text("# Mills\n\nThe tide mill at Eling grinds wheat by the sea.")
    (folder / "empty.pdf").write_bytes(pdf([]))
    (folder / "wheel.jpg").write_bytes(b"\xff\xd8\xff")
    (folder / "wheel.blend").write_bytes(b"\x00\x01")
    await ingest_folder(join_owner("local", ""), folder, quiet)
    return folder


@pytest.mark.parametrize(
    ("language", "said", "reasons"),
    [
        ("en", "Not read: ", ("it has no text", "an image", "not a type that is read")),
        ("zh", "未读取：", ("没有文字", "图片", "不支持的类型")),
    ],
)
async def test_what_could_not_be_read_is_named_in_the_report_with_the_reason(
    thread: ThreadSession,
    folder: Path,
    choices: dict[str, object],
    language: str,
    said: str,
    reasons: tuple[str, ...],
):
    context = make(choices, files=[str(folder)], language=language)

    outcome = await thread.begin("What grinds wheat at Eling?", context, quiet)

    told = [one for one in outcome.state["report"]["notices"] if one.startswith(said)]
    assert len(told) == 1
    for name, reason in zip(("empty.pdf", "wheel.jpg", "wheel.blend"), reasons, strict=True):
        assert re.search(f"{name} ?[(（]{reason}[)）]", told[0])
    assert "> " + said in str(outcome.state["messages"][-1].text)
    assert outcome.state["status"] == "succeeded"


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "the web (it could not be reached"), ("zh", "网络（从这台机器无法访问）")],
)
async def test_a_web_that_cannot_be_reached_is_named_and_leaves_the_report_whole(
    thread: ThreadSession, folder: Path, choices: dict[str, object], language: str, said: str
):
    context = make(choices, files=[str(folder)], web="unreachable", language=language)

    outcome = await thread.begin("What grinds wheat at Eling?", context, quiet)

    method = describe_method(outcome.state, outcome.state["report"], "")
    assert any(said in item for part in method["parts"] for item in part["items"])
    assert outcome.state["status"] == "succeeded"


@pytest.mark.parametrize(("language", "said"), [("en", "it was not read in"), ("zh", "尚未读入")])
async def test_a_path_that_was_never_read_in_is_named_and_not_looked_into(
    thread: ThreadSession,
    folder: Path,
    tmp_path: Path,
    choices: dict[str, object],
    language: str,
    said: str,
):
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "secret.jpg").write_bytes(b"\xff\xd8\xff")
    files = [str(folder), str(strange), "/nowhere/notes.md"]

    outcome = await thread.begin(
        "What grinds wheat at Eling?", make(choices, files=files, language=language), quiet
    )

    (told,) = [one for one in outcome.state["report"]["notices"] if "/nowhere/notes.md" in one]
    assert re.search(f"/nowhere/notes.md ?[(（]{said}[)）]", told)
    assert re.search(f"{strange} ?[(（]{said}[)）]", told)
    assert "secret.jpg" not in told


async def test_many_files_are_counted(
    thread: ThreadSession, folder: Path, choices: dict[str, object]
):
    for number in range(20):
        (folder / f"wheel{number}.jpg").write_bytes(b"\xff\xd8\xff")

    outcome = await thread.begin(
        "What grinds wheat at Eling?", make(choices, files=[str(folder)]), quiet
    )

    assert outcome.state["report"]["notices"][-1].endswith("; and 15 more.")


async def test_where_everything_was_read_nothing_is_said(
    thread: ThreadSession, choices: dict[str, object]
):
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    assert not [one for one in outcome.state["report"]["notices"] if "Not read" in one]
