"""An old report says what became of it: corrected, its sources changed or forgotten, rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.forget import redraw_reports
from graph.session import open_session
from library.undo import remove_pages
from memory.learning.run_feedback import record_feedback
from nodes.finished_report import load_exported_report
from privacy.service import execute_erasure, plan_erasure, resolve_erasure_target
from report.exports.export_formats import ExportedReport
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown
from runs.lifecycle import find_run
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet
from tools.folder_ingestion import ingest_folder

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks", "Lessons"
)

ME = "local/"
DANCE = "The waggle dance tells other bees the direction of food."
REPORT = f'<q s="S1">{DANCE}</q> [S1]\n\n## Who\n\nFrisch described the waggle dance in 1927 [S1].'


async def ask(question: str, choices: dict[str, object]) -> str:
    async with open_session("t1") as opened:
        return str((await opened.begin(question, make(choices), quiet)).state["run"])


async def load(run: str) -> ExportedReport:
    return await load_exported_report(await find_run(ME, run))


def change(folder: str, old: str, new: str) -> None:
    """Change the file about the dance."""
    file = Path(folder) / "dance.md"
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")


@pytest.fixture
async def asked(choices: dict[str, object], script: Script) -> str:
    script.on("reporter", REPORT)
    run = await ask("How do bees dance?", choices)
    before = render_markdown((await load(run)).document)
    assert "Since this report" not in before
    return run


async def test_a_correction_stands_at_the_top_and_at_its_sentence(asked: str):
    await record_feedback(await find_run(ME, asked), "up")
    await record_feedback(
        await find_run(ME, asked), "Frisch described the waggle dance in 1923, not in 1927."
    )

    text = render_markdown((await load(asked)).document)
    notice = next(line for line in text.splitlines() if "Since this report" in line)
    assert "you said of it “Frisch described the waggle dance in 1923, not in 1927.”" in notice
    assert text.count("(you corrected this later)") == 1
    assert "1927 [1] *(you corrected this later)*" in text.replace(", lines 1–6", "")


async def test_what_the_person_said_of_it_and_had_forgotten_never_comes_back(asked: str):
    fact = await record_feedback(
        await find_run(ME, asked), "Frisch described the waggle dance in 1923, not in 1927."
    )
    assert fact
    plan = await plan_erasure(await resolve_erasure_target(ME, [fact.id]))
    await execute_erasure(plan, lambda states: redraw_reports(ME, states))

    document = (await load(asked)).document
    for text in (render_markdown(document), render_html(document)):
        assert "1923" not in text
        assert "you said what was wrong with it" in text


async def test_a_source_that_says_something_else_now_marks_the_sentences_on_it(
    asked: str, bees: str
):
    change(bees, "1927", "1923")
    await ingest_folder(ME, bees, quiet)

    document = (await load(asked)).document
    text, page = render_markdown(document), render_html(document)
    assert "has changed (read again on" in text
    marked = [line for line in text.splitlines() if "(its source has changed since)" in line]
    assert len(marked) == 1
    assert "1927" in marked[0]
    assert DANCE not in marked[0]
    assert "changed since" in text.partition("## Sources")[2]
    assert '<span class="standing">(its source has changed since)</span>' in page


async def test_a_source_whose_cited_words_stand_as_before_marks_nothing(asked: str, bees: str):
    change(bees, "1927.", "1927. Drones do not dance.")
    await ingest_folder(ME, bees, quiet)

    assert "later" not in (await load(asked)).document


async def test_a_source_that_was_removed_is_told_of(asked: str):
    document = (await load(asked)).document
    await remove_pages(ME, [one["page"] for one in document["sources"]], "", "by the person")

    text = render_markdown((await load(asked)).document)
    assert "is not kept any more" in text
    assert text.count("(its source is not kept any more)") == 2


async def test_a_later_version_with_other_numbers_marks_what_it_sets_right(
    asked: str, choices: dict[str, object], script: Script
):
    script.on("reporter", REPORT.replace("1927", "1923"))
    later = await ask("Please add where he lived to the report", choices)

    old, new = (await load(asked)).document, (await load(later)).document
    text = render_markdown(old)
    assert f"there is a later version, {later}" in text
    assert text.count("(set right in a later version)") == 1
    assert "1927" in next(line for line in text.splitlines() if "(set right" in line)
    assert "later" not in new


async def test_a_correction_that_made_a_later_version_stands_at_the_top_of_the_earlier_one(
    asked: str, choices: dict[str, object], script: Script
):
    said = "that is wrong: Frisch described the waggle dance in 1923"
    later = await ask(said, choices)

    changes = (await load(asked)).document["later"]
    assert [(one["kind"], one["words"]) for one in changes] == [
        ("corrected", said),
        ("version", later),
    ]
    assert len(changes[0]["sentences"]) == 1
    assert "1927" in changes[0]["sentences"][0]
    assert f"you said of it “{said}”" in render_markdown((await load(asked)).document)


async def test_another_form_of_a_report_sets_nothing_right(
    asked: str, choices: dict[str, object], script: Script
):
    script.on("reporter", f'<q s="S1">{DANCE}</q> [S1]')
    later = await ask("make it shorter", choices)

    changes = (await load(asked)).document["later"]
    assert [(one["kind"], one["words"], one["sentences"]) for one in changes] == [
        ("version", later, [])
    ]
