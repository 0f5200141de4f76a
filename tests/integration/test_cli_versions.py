"""Every round of a conversation keeps the report of the one before, and any two are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import WHO, Forks, Place

pytestmark = pytest.mark.integration

ROUNDS = (WHO, "And how much honey does a winter cluster eat?", "shorten", "go deeper")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Place:
    """A folder with a conversation of four rounds; each report is copied when it is written."""
    place = Place(tmp_path_factory.mktemp("versions"))
    for at, said in enumerate(ROUNDS, start=1):
        done = forks.run(place, "ask", said, "--docs", "bees", "--thread", "one", "--yes")
        assert done.status in (0, 6), done.err
        for kind in ("md", "html"):
            content = _report(place, at, kind).read_bytes()
            (place.folder / f"{at}.{kind}").write_bytes(content)
    return place


def _report(place: Place, turn: int, kind: str) -> Path:
    return place.folder / "reports" / f"one-{turn}" / f"report.{kind}"


def _without_notice(text: str) -> str:
    """Return a report without what became of it since."""
    head, mark, rest = text.partition("> Since this report:")
    return head + rest.partition("\n>\n")[2] if mark else text


@pytest.mark.parametrize("turn", [1, 2, 3, 4])
def test_every_round_keeps_the_report_of_the_one_before(place: Place, forks: Forks, turn: int):
    before = (place.folder / f"{turn}.md").read_text("utf-8")
    for kind in ("md", "html"):
        assert (
            _report(place, turn, kind).read_bytes()
            == (place.folder / f"{turn}.{kind}").read_bytes()
        )

    shown = forks.run(place, "runs", "show", f"one-{turn}", "--report", "--json").told["report"]
    done = forks.run(
        place, "export", f"one-{turn}", "--format", "md", "--out", f"out-{turn}.md", "--force"
    )
    exported = (place.folder / f"out-{turn}.md").read_text("utf-8")

    assert done.status == 0, done.err
    assert shown == exported
    assert _without_notice(exported) == before
    assert ("there is a later version, one-4" in exported) == (turn in (2, 3))
    assert str(_report(place, turn, "md")) in forks.run(place, "runs", "show", f"one-{turn}").out


@pytest.mark.parametrize("words", [["diff"], ["runs", "diff"]])
def test_two_rounds_are_compared_in_the_terminal_and_as_data(
    place: Place, forks: Forks, words: list[str]
):
    shown = forks.run(place, *words, "one-1", "one-2")
    told = forks.run(place, *words, "one-1", "one-2", "--json").told

    assert shown.status == 0, shown.err
    assert shown.out.startswith("--- one-1  ")
    assert (told["before"], told["after"]) == ("one-1", "one-2")
    gone = [*told["removed"], *(old for old, _ in told["changed"])]
    assert any("1927" in one for one in gone)
    assert any("20 kilograms" in one for one in told["added"]) or told["changed"]
    assert "- " in shown.out
    assert forks.run(place, *words, "one-1", "one-1").out.endswith("The reports say the same.\n")


def test_a_page_of_the_differences_is_written_once(place: Place, forks: Forks):
    done = forks.run(place, "diff", "one-1", "one-2", "--html", "changes.html", "--json")
    again = forks.run(place, "diff", "one-1", "one-2", "--html", "changes.html")
    page = (place.folder / "changes.html").read_text("utf-8")

    assert done.told["file"] == str(place.folder / "changes.html")
    assert "<del>" in page
    assert "Content-Security-Policy" in page
    assert again.status == 5
    assert "output_exists" in again.problem


def test_what_is_no_run_or_has_no_report_says_so(place: Place, forks: Forks):
    done = forks.run(place, "diff", "one-1", "one-9")
    assert done.status == 4
    assert "run_not_found" in done.problem

    both = forks.run(place, "runs", "show", "one-1", "--report", "--removed", "--json")
    assert both.status == 2
    assert "usage" in both.out + both.err
