import io
import json
import time

import pytest
from rich.console import Console

from app.cli.ingest_command import make_ingest_bar
from app.cli.progress import EventLines, RunProgress, make_progress
from app.cli.question_run import _read
from config.errors import Problem
from runs.progress_events import EVENT_KINDS, ProgressSpending, describe_spending


@pytest.fixture
def screen():
    return io.StringIO()


@pytest.fixture
def progress(screen):
    return RunProgress(Console(file=screen, force_terminal=True, color_system=None, width=40))


def finding(**more):
    plain = {"step": "s1", "title": "The dance", "status": "ok", "reason": ""}
    return {"node": "step", "update": {"findings": {"1.s1": {**plain, **more}}}}


def told(name, step="", text="", left=None, **data):
    spent = {"calls": 3, "tokens": 1234, "cost": 0.02}
    kind, left = EVENT_KINDS[name], {"calls": left, "seconds": left}
    where = {"run": "t-1", "step": step, "text": text, "seconds": 1.5}
    return {"kind": kind, "event": name, "data": data, "spent": spent, "left": left, **where}


def test_lines_that_stood_there_before_it_moves_again_are_not_wiped_out(progress, screen):
    with progress:
        progress.on_event(told("researching", "s1", title="The dance"))
        progress.live.refresh()
    before = len(screen.getvalue())

    with progress:
        pass

    drawn = screen.getvalue()[before:].partition("Researching")
    assert drawn[1]
    assert "\x1b[1A" not in drawn[0]


def test_on_a_terminal_a_long_line_goes_on_below_its_own_beginning(progress, screen):
    progress.print_line("✓ s1: How do the two papers disagree about forgetting?")

    first, second, *_ = screen.getvalue().splitlines()
    assert first.index("✓") == second.index("disagree") == 10


def test_what_looks_like_markup_in_a_title_or_a_file_name_is_shown_as_it_stands(progress, screen):
    with progress:
        progress.on_event(told("researching", "s1", title="What is [/b]?"))
        progress.set_activity("Reading notes[/i].md (1)")
        progress.live.refresh()

    assert "s1: What is [/b]?" in screen.getvalue()
    assert "Reading notes[/i].md (1)" in screen.getvalue()


def test_the_bar_of_a_folder_shows_its_name_as_it_stands(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")

    with make_ingest_bar() as bar:
        bar.add_task("notes[/b]", total=1)
        bar.refresh()

    assert "notes[/b]" in capsys.readouterr().err


def test_elsewhere_a_line_is_one_line(screen):
    RunProgress(Console(file=screen, width=40)).print_line("A long line about bees " * 5)

    assert len(screen.getvalue().splitlines()) == 1


def test_why_a_step_failed_is_said_in_words(progress, screen):
    progress.console.width = 100

    progress.on_event(finding(status="failed", reason="no_evidence"))

    assert "✗ s1: The dance: nothing was found that answers it" in screen.getvalue()


@pytest.mark.parametrize(
    ("update", "said"),
    [
        ({"decision": "approve"}, "Plan approved"),
        ({"decision": "edit", "plan": {}}, "Plan approved"),
        ({"decision": "reject", "feedback": "no", "revisions": 1}, "Plan sent back"),
        ({"note": "error[plan_cycle]"}, "Plan sent back"),
    ],
)
def test_what_came_of_a_review_is_said(progress, screen, update, said):
    progress.on_event({"node": "human_feedback", "update": update})

    assert said in screen.getvalue()


def test_a_plan_is_said_to_be_made_each_time_and_a_search_once(progress, screen):
    for node in ("background", "background", "planner", "planner"):
        progress.on_event({"node": node, "update": {"plan": {}}})

    assert screen.getvalue().count("First search done") == 1
    assert screen.getvalue().count("Plan made") == 2


def test_without_a_terminal_a_long_silence_is_broken_by_what_is_being_done(screen, monkeypatch):
    monkeypatch.setattr("app.cli.progress.SILENCE", 0.05)
    progress = RunProgress(Console(file=screen, width=80))
    progress.set_activity("Reading dance.md (3 of 321)")

    until = time.monotonic() + 30
    with progress:
        while not screen.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    said = screen.getvalue()
    time.sleep(0.1)

    assert "Reading dance.md (3 of 321) …" in said
    assert screen.getvalue() == said


def test_the_clock_counts_from_the_start_of_the_command(screen, monkeypatch):
    monkeypatch.setattr("app.cli.dispatch.started_at", time.monotonic() - 100)

    RunProgress(Console(file=screen, width=80)).print_line("Read")

    assert " 100." in screen.getvalue()


async def test_reading_says_how_many_files_there_are(screen, tmp_path, database, monkeypatch):
    for name in ("a.md", "b.md"):
        (tmp_path / "docs" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(f"# {name}\n\nBees dance.")
    progress = RunProgress(Console(file=screen, width=80))

    doing: list[str] = []
    monkeypatch.setattr(progress, "set_activity", doing.append)

    await _read("local", tmp_path / "docs", progress)

    assert doing[-2].endswith("(2 of 2)")
    assert "Reading" not in doing[-1]


def test_it_is_said_which_steps_are_at_work_and_how_many_are_done(progress):
    plan = {"steps": [{"id": name} for name in ("s1", "s2", "s3")]}
    progress.on_event({"node": "planner", "update": {"plan": plan}})
    for name in ("s1", "s2"):
        progress.on_event(told("researching", name, title="Bees"))
    both = progress.activity
    progress.on_event(finding())
    one = progress.activity
    progress.on_event(finding(step="s2"))

    assert both == "Researching s1, s2 (0 of 3 done)"
    assert one == "Researching s2 (1 of 3 done)"
    assert progress.activity == "Seeing whether anything is missing"


def test_what_is_being_done_is_never_what_has_ended(progress):
    progress.set_activity("Reading dance.md (3 of 3)")
    now = []
    for node in ("profile", "coordinator", "rewrite", "background"):
        progress.on_event({"node": node, "update": {}})
        now.append(progress.activity)

    assert now == ["Understanding the question", "Searching", "Searching", "Planning"]


def test_what_a_node_says_of_itself_is_what_is_being_done(progress):
    now = []
    progress.on_event({"node": "background", "update": {}})
    for event in ("writing", "comparing"):
        progress.on_event(told(event))
        now.append(progress.activity)

    assert now == ["Writing the report", "Reading the report again beside its sources"]


def test_what_begins_anew_has_a_clock_of_its_own(screen, monkeypatch):
    monkeypatch.setattr("app.cli.dispatch.started_at", time.monotonic() - 300)
    progress = RunProgress(Console(file=screen, width=80))

    progress.restart_clock("Learning from it")
    progress.print_line("Learning from it")

    assert screen.getvalue().strip().startswith("0.0 s")


def test_a_terminal_shows_what_each_step_does_what_was_spent_and_how_long_it_takes(
    progress, screen
):
    progress.console.width = 100
    with progress:
        progress.on_event(told("researching", "s1", title="The dance"))
        progress.on_event(told("searching", "s1", "Searching: waggle"))
        progress.on_event(told("reading", "s1", "Reading: example.org", left=[70, 130]))
        progress.live.refresh()

    shown = screen.getvalue()
    assert "s1: The dance" in shown
    assert "Reading: example.org" in shown.rpartition("s1: The dance")[2]
    assert "3 calls, 1,234 tokens · $0.02 · about 1–3 min left" in shown
    assert "1 search · 1 page read · 0 citations checked · 0 sentences removed" in shown


def test_one_call_is_no_calls():
    spent = ProgressSpending(calls=1, tokens=1234, cost=0)
    assert describe_spending(spent, "en") == "1 call, 1,234 tokens"
    assert describe_spending({**spent, "calls": 2}, "en") == "2 calls, 1,234 tokens"


def test_the_words_of_a_report_are_read_along_until_it_is_checked(progress, screen):
    with progress:
        progress.on_event({"draft": "*Draft*\n\n"})
        progress.on_event({"draft": "Bees dance. " * 30})
        progress.on_event({"draft": "The last words."})
        progress.live.refresh()
        during = screen.getvalue()
        progress.on_event({"node": "reporter", "update": {}})
        progress.live.refresh()

    assert "Draft, not checked yet:" in during
    assert "The last words." in during
    assert during.count("Bees dance. Bees dance.") <= 8
    before, now, _ = screen.getvalue().rpartition("Delivering the report")
    last_frame = before.rpartition("\x1b[2K")[2]
    assert now
    assert "Draft" not in last_frame


def test_without_a_terminal_searches_and_pages_are_lines(screen):
    progress = RunProgress(Console(file=screen, width=80))

    progress.on_event(told("searching", text="Searching: waggle"))
    progress.on_event(told("removed", "s1", "Removed: sentences: 2", count=2))
    progress.on_event(told("called", text="reporter: a model has answered"))

    first, second = screen.getvalue().splitlines()
    assert first.endswith("s  Searching: waggle")
    assert second.endswith("s  s1: Removed: sentences: 2")


def test_programs_get_the_events_themselves_a_line_each(screen):
    progress = EventLines(Console(file=screen, width=20))
    event = told("searching", "s1", "Searching: waggle dance of bees", query="waggle")

    with progress:
        progress.print_line("Read 3 files")
        progress.on_event(event)
        progress.on_event({"node": "planner", "update": {}})
        progress.on_event({"draft": "Bees"})

    note, line = map(json.loads, screen.getvalue().splitlines())
    assert (note["kind"], note["text"]) == ("note", "Read 3 files")
    assert {**line, "seconds": event["seconds"]} == event


def test_the_seconds_of_a_command_never_fall(screen):
    progress = EventLines(Console(file=screen, width=20))
    progress.started_at -= 15

    progress.print_line("Read 3 files")
    progress.on_event(told("searching", "s1", "Searching: bees", query="bees"))
    progress.restart_clock("Learning from it")
    progress.print_line("Learnt")

    seconds = [json.loads(line)["seconds"] for line in screen.getvalue().splitlines()]
    assert seconds[0] >= 15
    assert seconds == sorted(seconds)


def test_progress_can_be_shown_plainly_or_not_at_all(capsys):
    make_progress("off").print_line("one")
    make_progress("plain").print_line("two")

    assert capsys.readouterr().err.split()[-1] == "two"
    with pytest.raises(Problem, match="usage"):
        make_progress("loud")
