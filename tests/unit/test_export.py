import os
from pathlib import Path

import pytest

from config.errors import Problem
from graph.records import Source
from report.computed_results import ReportComputation, make_figure
from report.export import (
    check_report_folder,
    digest_report_files,
    is_report_in_folder,
    render_report_files,
    resolve_report_folder,
    write_report_files,
)
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown
from tests.unit.test_render import document

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def files(body: str = "") -> dict[str, bytes]:
    """Return the files of a report."""
    return render_report_files(document(body) if body else document())


async def test_both_files_are_written_into_a_new_folder(tmp_path):
    paths = await write_report_files(files(), tmp_path / "a" / "b")

    assert paths == {
        "md": tmp_path / "a" / "b" / "report.md",
        "html": tmp_path / "a" / "b" / "report.html",
    }
    assert paths["md"].read_text("utf-8") == render_markdown(document())
    assert paths["html"].read_text("utf-8") == render_html(document())
    assert sorted(path.name for path in paths["md"].parent.iterdir()) == [
        "report.html",
        "report.md",
    ]


async def test_the_paths_are_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    paths = await write_report_files(files(), Path("here"))

    assert paths["md"] == tmp_path / "here" / "report.md"


async def test_the_same_report_may_be_written_again(tmp_path):
    await write_report_files(files(), tmp_path)

    assert await write_report_files(files(), tmp_path)


async def test_another_report_is_not_replaced_unasked(tmp_path):
    await write_report_files(files("Old [S1]."), tmp_path)

    with pytest.raises(Problem) as problem:
        await write_report_files(files("New [S1]."), tmp_path)

    assert problem.value.code == "output_exists"
    assert "--force" in problem.value.hint
    assert problem.value.exit_status == 5
    assert "Old" in (tmp_path / "report.md").read_text("utf-8")
    assert "Old" in (tmp_path / "report.html").read_text("utf-8")


async def test_another_report_is_replaced_when_asked(tmp_path):
    await write_report_files(files("Old [S1]."), tmp_path)

    await write_report_files(files("New [S1]."), tmp_path, force=True)

    assert "New" in (tmp_path / "report.md").read_text("utf-8")


async def test_a_report_is_put_in_place_at_once(tmp_path):
    await write_report_files(files("Old [S1]."), tmp_path)
    (tmp_path / "opened").hardlink_to(tmp_path / "report.md")

    await write_report_files(files("New [S1]."), tmp_path, force=True)

    assert "Old" in (tmp_path / "opened").read_text("utf-8")


async def test_a_file_is_not_taken_for_a_folder(tmp_path):
    (tmp_path / "report").write_text("mine")

    for folder in (tmp_path / "report", tmp_path / "report" / "below"):
        with pytest.raises(Problem) as problem:
            await write_report_files(files(), folder, force=True)
        assert problem.value.code in ("output_exists", "output_not_writable")
    assert (tmp_path / "report").read_text() == "mine"


async def test_a_full_disk_is_told_and_leaves_the_old_report(tmp_path, monkeypatch):
    await write_report_files(files("Old [S1]."), tmp_path)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Problem) as problem:
        await write_report_files(files("New [S1]."), tmp_path, force=True)

    assert problem.value.code == "output_not_writable"
    assert "No space left" in problem.value.what
    assert "Old" in (tmp_path / "report.md").read_text("utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.md"]


async def test_a_folder_in_the_place_of_a_file_is_told(tmp_path):
    (tmp_path / "report.md").mkdir()

    with pytest.raises(Problem) as problem:
        await write_report_files(files(), tmp_path, force=True)

    assert problem.value.code == "output_not_writable"


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
async def test_a_folder_without_permission_is_told(tmp_path):
    tmp_path.chmod(0o500)

    with pytest.raises(Problem) as problem:
        await write_report_files(files(), tmp_path / "report")
    with pytest.raises(Problem):
        check_report_folder(tmp_path / "report", force=False)

    assert problem.value.code == "output_not_writable"


def test_a_folder_that_can_be_written_is_accepted_before_the_run(tmp_path):
    check_report_folder(tmp_path / "a" / "b", force=False)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["report.md", "report.html"])
def test_a_report_that_is_there_is_seen_before_the_run(tmp_path, there):
    (tmp_path / there).write_text("old")

    with pytest.raises(Problem, match="a report already") as problem:
        check_report_folder(tmp_path, force=False)
    check_report_folder(tmp_path, force=True)

    assert problem.value.code == "output_exists"


def test_a_file_in_the_place_of_the_folder_is_seen_before_the_run(tmp_path):
    (tmp_path / "file").write_text("old")

    for folder, code in [("file", "output_exists"), ("file/below", "output_not_writable")]:
        with pytest.raises(Problem) as problem:
            check_report_folder(tmp_path / folder, force=True)
        assert problem.value.code == code


async def test_a_report_of_the_same_run_is_no_other_report_whatever_changed(tmp_path):
    await write_report_files(files("Of yesterday [S1]."), tmp_path)
    own = digest_report_files(files("Of yesterday [S1]."))

    check_report_folder(tmp_path, force=False, own=own)
    await write_report_files(files("Of today [S1]."), tmp_path, own=own)

    assert "Of today" in (tmp_path / "report.md").read_text("utf-8")
    with pytest.raises(Problem, match="a report already"):
        check_report_folder(tmp_path, force=False, own=own)


@pytest.mark.parametrize("name", ["/proc/1/report", "/dev/null/report", "x" * 300, "a/" * 3000])
def test_a_folder_that_cannot_be_made_is_seen_before_the_run_and_by_root_too(tmp_path, name):
    with pytest.raises(Problem) as problem:
        check_report_folder(tmp_path / name, force=True)

    assert problem.value.code == "output_not_writable"
    assert problem.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_place_of_a_file_is_seen_before_the_run(tmp_path):
    (tmp_path / "report.html").mkdir()

    with pytest.raises(Problem) as problem:
        check_report_folder(tmp_path, force=True)

    assert problem.value.code == "output_not_writable"


@pytest.mark.parametrize("name", ["reports", "reports/run-1"])
def test_no_report_goes_through_a_link_to_another_place_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    (tmp_path / "here" / name).parent.mkdir(parents=True)
    (tmp_path / "there").mkdir()
    (tmp_path / "here" / name).symlink_to(tmp_path / "there")
    monkeypatch.chdir(tmp_path / "here")

    with pytest.raises(Problem) as problem:
        resolve_report_folder(None, "run-1")

    assert problem.value.code == "output_not_writable"
    assert str(tmp_path / "there") in problem.value.what
    assert resolve_report_folder(Path(name), "run-1") == tmp_path / "here" / name


def test_a_link_within_the_folder_and_a_folder_that_is_reached_by_a_link_are_as_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "real" / "kept").mkdir(parents=True)
    (tmp_path / "real" / "reports").symlink_to("kept")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "link")

    assert resolve_report_folder(None, "run-1").name == "run-1"


def drawn(*figures: bytes) -> dict[str, bytes]:
    where = Source(id="S1", page="p", title="Fee", location="computation 1", kind="computed")
    program = ReportComputation(
        source=where,
        code="plt.title('Fees by boat')\nplt.savefig('fee.png')",
        inputs=[],
        sha256="f" * 64,
        outcome="same",
        figures=[make_figure("fee.png", one) for one in figures],
    )
    return render_report_files({**document(), "computations": [program]})


async def test_figures_are_files_beside_the_text_and_data_in_the_page(tmp_path):
    written = await write_report_files(drawn(b"one", b"two"), tmp_path)

    text = written["md"].read_text("utf-8")
    assert "[figure-1]: report-figure-1.png\n[figure-2]: report-figure-2.png\n" in text
    assert "![Fees by boat (fee.png)][figure-1]" in text
    assert "base64" not in text
    assert (tmp_path / "report-figure-2.png").read_bytes() == b"two"
    assert "data:image/png;base64," in written["html"].read_text("utf-8")
    assert written.keys() == {"md", "html"}


async def test_figures_of_a_report_that_is_replaced_are_removed(tmp_path):
    await write_report_files(drawn(b"one", b"two"), tmp_path)
    (tmp_path / "figure.png").write_bytes(b"mine")

    await write_report_files(drawn(b"new"), tmp_path, force=True)

    assert is_report_in_folder(drawn(b"new"), tmp_path)
    names = ["figure.png", "report-figure-1.png", "report.html", "report.md"]
    assert sorted(one.name for one in tmp_path.iterdir()) == names
    with pytest.raises(Problem, match="a report already"):
        check_report_folder(tmp_path, force=False, own=digest_report_files(files()))
