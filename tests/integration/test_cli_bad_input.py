"""Whatever is wrong with what a person gives is told in one line, and nothing is lost."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.integration.command import DOSSIER, WHO, Done, Forks, Place

pytestmark = pytest.mark.integration

DEEP = "[" * 100_000


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Place:
    """A folder with everything that is wrong in it, and a run that waits for a review."""
    place = Place(tmp_path_factory.mktemp("bad"))
    asked = forks.run(place, "ask", WHO, "--docs", "bees", "--review", "--thread", "waits")
    assert asked.status == 0, asked.err
    finished = forks.run(place, "ask", WHO, "--docs", "bees", "--thread", "over", "--out", "there")
    assert finished.status == 0, finished.err
    (place.folder / "empty").mkdir()
    (place.folder / "junk").mkdir()
    (place.folder / "junk" / "a.pdf").write_bytes(bytes(range(256)))
    (place.folder / "file").write_text("not a folder")
    (place.folder / "loop").symlink_to("loop")
    _configure(place.folder)
    _plan(place.folder)
    return place


def _configure(folder: Path) -> None:
    (folder / "syntax.toml").write_text('default = "extractive:"\nroles = [\n')
    (folder / "unknown.toml").write_text('default = "extractive:"\ncolour = "red"\n')
    (folder / "latin.toml").write_bytes('default = "extractivé:"'.encode("latin-1"))
    for name in ("garbage", "steps", "newer"):
        (folder / name).mkdir()
    (folder / "garbage" / "dossier.db").write_bytes(b"no database " * 1000)
    (folder / "steps" / "checkpoints.db").write_bytes(b"no database " * 1000)
    with sqlite3.connect(folder / "newer" / "dossier.db") as newer:
        newer.execute("CREATE TABLE schema (version INTEGER PRIMARY KEY)")
        newer.execute("INSERT INTO schema VALUES (99)")
    newer.close()


def _plan(folder: Path) -> None:
    def step(name: str, *needs: str) -> dict[str, object]:
        return {"id": name, "title": f"Step {name}", "needs": needs}

    plans: dict[str, object] = {
        "cycle": {"steps": [step("a", "b"), step("b", "a")]},
        "twins": {"steps": [step("a"), step("a")]},
        "long": {"steps": [step(f"s{number}") for number in range(51)]},
        "untitled": {"steps": [{"id": "a"}]},
        "stepless": {"title": "Nothing", "steps": []},
        "strange": {"steps": [step("a")], "colour": "red"},
        "list": ["a", "b"],
    }
    for name, plan in plans.items():
        (folder / f"{name}.json").write_text(json.dumps(plan))
    (folder / "deep.json").write_text(DEEP)
    (folder / "half.json").write_text('{"steps": [{"id": "a", "title": "\\ud800"}]}')
    (folder / "torn.json").write_text('{"steps": [')
    (folder / "latin.json").write_bytes(b'{"title": "\xe9"}')


def ask(*words: str) -> list[str]:
    return ["ask", WHO, "--docs", "bees", *words]


def choose(choice: str) -> list[str]:
    return ask("--set", choice)


def edited(name: str) -> list[str]:
    return ["resume", "waits-1", "--plan", name]


QUESTIONS = [
    ("question_empty", ["ask"]),
    ("question_empty", ["ask", ""]),
    ("question_empty", ["ask", " \t\n "]),
    ("question_empty", ["ask", "\x01\x02\x7f\x9f"]),
    ("question_empty", ["ask", "\u200b\u200d\ufeff"]),
    ("question_empty", ["ask", " \u00ad\u2060\u3164\u2800\u0301 "]),
    ("question_empty", ["recall", "\u200c"]),
    ("question_empty", ["search", "\U000e0041"]),
    ("usage", ["memory", "search", "\u200b"]),
    ("fact_empty", ["memory", "add", "\u2060\u3164"]),
    ("usage", ["memory", "undo", str(2**63)]),
    ("usage", ["memory", "diff", "9" * 4_000]),
    ("question_too_long", ["ask", "x" * 20_001]),
    ("usage", ["ask", "-5 degrees: what happens?"]),
    ("usage", ["ask", "Who", "described", "it?"]),
    ("usage", ["ask", os.fsdecode(b"Qu\xe9?")]),
    ("docs_not_found", ["ask", WHO, "--docs", "nowhere"]),
    ("docs_not_found", ["ask", WHO, "--docs", "~nobody-of-this-name/bees"]),
    ("docs_not_found", ["ask", WHO, "--docs", "loop"]),
    ("docs_not_found", ["ask", WHO, "--docs", "x" * 300]),
    ("docs_not_found", ["ask", WHO, "--docs", "/dev/null"]),
    ("usage", ["ask", WHO, "--docs", ""]),
    ("usage", ["ask", WHO, "--docs", " "]),
    ("usage", ask("--out", "")),
    ("usage", ask("--yes", "--review")),
    ("docs_empty", ["ask", WHO, "--docs", "empty"]),
    ("docs_empty", ["ask", WHO, "--docs", "junk"]),
    ("bad_thread_id", ask("--thread", "")),
    ("bad_thread_id", ask("--thread", "../x")),
    ("bad_thread_id", ask("--thread", "a\x01")),
    ("bad_thread_id", ask("--thread", "a\n")),
    ("bad_thread_id", ask("--thread", "x" * 65)),
    ("bad_thread_id", ask("--thread", "gr\u00fcn")),
    ("thread_not_found", ask("--thread", "over", "--project", "somebody-elses")),
    ("waiting_review", ask("--thread", "waits")),
    ("output_exists", ask("--out", "there")),
    ("output_exists", ask("--out", "file")),
    ("output_not_writable", ask("--out", "file/below")),
    ("usage", ["ask", WHO, "--dox", "bees"]),
    ("usage", ["asc", WHO]),
]

CHOICES = [
    ("unknown_model", choose('models={"default": "foo:bar"}')),
    ("unknown_model", choose('models={"default": "foo"}')),
    ("unknown_role", choose('models={"poet": "extractive:"}')),
    ("model_key_missing", choose('models={"default": "openai:gpt-4o"}')),
    ("bad_choice", choose("models=extractive:")),
    ("bad_choice", choose('models={"default": 1}')),
    ("bad_choice", choose("search=3")),
    ("bad_choice", choose('search=["\\ud800"]')),
    ("bad_choice", choose("depth=deeper")),
    ("bad_choice", choose("guide=often")),
    ("bad_choice", choose("guide=3")),
    ("unknown_provider", choose('search=["altavista"]')),
    ("bad_choice", choose("max_steps")),
    ("knowledge_unknown", choose('knowledge=["papers"]')),
    ("bad_choice", choose('knowledge=["none", "papers"]')),
    ("bad_locale", choose("language=tlh")),
    ("unknown_field", choose("max_stps=3")),
    *[("out_of_range", choose(f"max_steps={value}")) for value in ("0", "-1", "1e9", "3.5")],
    *[("out_of_range", choose(f"max_steps={value}")) for value in ('"3"', "true", "NaN", DEEP)],
]

DECISIONS = [
    ("run_not_found", ["resume", "nowhere"]),
    ("run_not_found", ["resume", ""]),
    ("run_not_found", ["runs", "show", "../x"]),
    ("run_not_found", ["runs", "show", ""]),
    ("report_not_found", ["export", "waits-1", "--format", "md"]),
    ("run_not_found", ["export", "nowhere", "--format", "md"]),
    ("unknown_format", ["export", "over-1", "--format", "odt"]),
    ("usage", ["export", "over-1"]),
    ("output_exists", ["export", "over-1", "--format", "md", "--out", "file"]),
    ("output_not_writable", ["export", "over-1", "--format", "md", "--out", "file/below"]),
    ("output_not_writable", ["export", "over-1", "--format", "md", "--out", "bees", "--force"]),
    ("usage", ["runs", "waits-1"]),
    ("usage", ["resume"]),
    ("usage", edited("")),
    ("not_waiting", ["resume", "over-1"]),
    ("not_waiting", ["resume", "over-1", "--approve"]),
    ("decision_missing", ["resume", "waits-1"]),
    ("run_not_found", ["feedback", "nowhere-1", "up"]),
    ("run_not_found", ["feedback", "../x", "too long"]),
    ("run_not_found", ["feedback", "over-1", "up", "--project", "somebody-elses"]),
    ("feedback_empty", ["feedback", "over-1", " "]),
    ("feedback_refused", ["feedback", "over-1", "my password is hunter2"]),
    ("usage", ["feedback", "over-1"]),
    ("bad_feedback", ["resume", "waits-1", "--approve", "--reject", "no"]),
    ("bad_feedback", ["resume", "waits-1", "--reject", " "]),
    ("bad_feedback", ["resume", "waits-1", "--reject", "--json"]),
    ("bad_feedback", ["resume", "waits-1", "--reject", "x" * 20_001]),
    ("plan_cycle", edited("cycle.json")),
    ("plan_duplicate_id", edited("twins.json")),
    ("plan_too_long", edited("long.json")),
    ("plan_field", edited("untitled.json")),
    ("plan_field", edited("stepless.json")),
    ("plan_field", edited("strange.json")),
    ("plan_field", edited("list.json")),
    ("plan_field", edited("deep.json")),
    ("plan_field", edited("torn.json")),
    ("plan_file", edited("latin.json")),
    ("plan_file", edited("/dev/zero")),
    ("plan_field", edited("half.json")),
    ("file_not_found", edited("nowhere.json")),
    ("plan_file", edited("bees")),
]

SETTINGS = [
    ("storage_unavailable", {"DOSSIER_HOME": "/proc/nowhere"}),
    ("storage_unavailable", {"DOSSIER_HOME": "file"}),
    ("storage_corrupt", {"DOSSIER_HOME": "garbage"}),
    ("storage_corrupt", {"DOSSIER_HOME": "steps"}),
    ("schema_newer", {"DOSSIER_HOME": "newer"}),
    ("storage_unavailable", {"DOSSIER_DATABASE_URL": "mysql://localhost/dossier"}),
    ("config_value", {"DOSSIER_DATABASE_URL": "::"}),
    ("config_not_found", {"DOSSIER_MODELS": "nowhere.toml"}),
    ("config_not_found", {"DOSSIER_MODELS": "bees"}),
    ("config_syntax", {"DOSSIER_MODELS": "syntax.toml"}),
    ("config_syntax", {"DOSSIER_MODELS": "latin.toml"}),
    ("config_value", {"DOSSIER_MODELS": "unknown.toml"}),
    ("config_value", {"DOSSIER_CALL_SECONDS": "-1"}),
    ("config_value", {"DOSSIER_LEARN_SECONDS": "-1"}),
    ("config_value", {"DOSSIER_KEEP_MESSAGES": "many"}),
    ("unknown_model", {"DOSSIER_MODEL": "foo:bar"}),
]

STATUS = {
    "config_not_found": 4,
    "decision_missing": 2,
    "docs_not_found": 4,
    "feedback_refused": 3,
    "file_not_found": 4,
    "knowledge_unknown": 4,
    "model_key_missing": 7,
    "not_waiting": 5,
    "output_exists": 5,
    "output_not_writable": 7,
    "report_not_found": 4,
    "run_not_found": 4,
    "schema_newer": 7,
    "storage_corrupt": 7,
    "storage_unavailable": 7,
    "thread_not_found": 4,
    "waiting_review": 5,
}
"""The exit status of each code that is not simply wrong usage, which is 2."""


def check(done: Done, code: str) -> None:
    """Make sure that a problem was told as promised, and nothing besides."""
    assert done.problem.startswith(f"error[{code}]: "), done.err
    assert done.err.count("error[") == 1
    assert "Traceback" not in done.err
    assert "During task" not in done.err
    assert done.status == STATUS.get(code, 2)
    assert done.told["error"].keys() == {"code", "detail", "where", "hint"}
    assert done.told["error"]["code"] == code
    assert len(done.out.splitlines()) == 1


def named(cases: list[tuple[str, list[str]]]) -> list[object]:
    return [
        pytest.param(code, words, id=f"{code}-{'_'.join(words[-2:])[:30]}") for code, words in cases
    ]


@pytest.mark.parametrize(("code", "words"), named(QUESTIONS))
def test_a_question_that_cannot_be_asked(forks: Forks, place: Place, code: str, words: list[str]):
    check(forks.run(place, *words, "--json"), code)


@pytest.mark.parametrize(("code", "words"), named(CHOICES))
def test_a_choice_that_does_not_exist(forks: Forks, place: Place, code: str, words: list[str]):
    check(forks.run(place, *words, "--json"), code)


@pytest.mark.parametrize(("code", "words"), named(DECISIONS))
def test_a_decision_that_cannot_be_taken(forks: Forks, place: Place, code: str, words: list[str]):
    check(forks.run(place, *words, "--json"), code)


@pytest.mark.parametrize(("code", "settings"), SETTINGS)
def test_an_installation_that_is_set_up_wrongly(
    forks: Forks, place: Place, code: str, settings: dict[str, str]
):
    check(forks.run(place, *ask("--json"), **settings), code)


def test_a_file_of_settings_that_is_not_utf8(
    forks: Forks, tmp_path_factory: pytest.TempPathFactory
):
    place = Place(tmp_path_factory.mktemp("dotenv"))
    place.home.mkdir()
    (place.home / ".env").write_bytes(b"DOSSIER_USER=Ren\xe9\n")

    check(forks.run(place, *ask("--json")), "config_syntax")


def test_a_wrong_name_is_answered_with_the_closest_right_one(forks: Forks, place: Place):
    assert "max_steps" in forks.run(place, *choose("max_stps=3")).problem


def test_a_number_out_of_range_is_answered_with_the_range(forks: Forks, place: Place):
    assert "1..50" in forks.run(place, *choose("max_steps=51")).problem


def test_a_cycle_is_shown(forks: Forks, place: Place):
    problem = forks.run(place, *edited("cycle.json")).problem

    assert "a->b->a" in problem or "b->a->b" in problem


def test_a_missing_key_is_named_and_no_other_is_shown(forks: Forks, place: Place):
    models = 'models={"default": "openai:gpt-4o"}'

    problem = forks.run(place, *choose(models), ANTHROPIC_API_KEY="canary").problem

    assert "OPENAI_API_KEY" in problem
    assert "canary" not in problem


def test_an_option_with_a_wrong_value_is_named(forks: Forks, place: Place):
    assert "'--docs': the path is empty" in forks.run(place, "ask", WHO, "--docs", "").problem


def test_who_forgets_the_quotes_around_a_question_is_told_of_them(forks: Forks, place: Place):
    assert "in quotes" in forks.run(place, "ask", "Who", "described", "it?").problem
    assert "after --" in forks.run(place, "ask", "-5 degrees: what happens?").problem


def test_a_current_folder_that_is_gone_is_told(forks: Forks, place: Place):
    gone = Place(place.folder / "gone")
    words = ["sh", "-c", f'rm -r "$PWD" && exec {DOSSIER} ask "{WHO}" --docs {place.docs}']

    done = subprocess.run(
        words, cwd=gone.folder, env=gone.environment(), capture_output=True, encoding="utf-8"
    )

    assert done.returncode == 2
    assert done.stderr.startswith("error[usage]: no current folder")
    assert len(done.stderr.splitlines()) == 1


def test_a_port_that_no_machine_has_is_refused(forks: Forks, place: Place):
    done = forks.run(place, "serve", "--port", "65536")

    assert done.status == 2
    assert done.problem.startswith("error[usage]")
    assert "65535" in done.problem


def test_without_json_nothing_is_said_on_standard_output(forks: Forks, place: Place):
    assert forks.run(place, "ask", "").out == ""


def test_after_all_this_the_review_still_waits_and_can_be_decided(forks: Forks, place: Place):
    before = {row["run"]: row["status"] for row in forks.run(place, "runs", "--json").told}

    done = forks.run(place, "resume", "waits-1", "--approve", "--json")

    assert before == {"waits-1": "waiting_review", "over-1": "succeeded"}
    assert done.told["status"] == "succeeded"


def test_a_database_that_cannot_be_read_is_left_as_it_is(forks: Forks, place: Place):
    for name in ("garbage/dossier.db", "steps/checkpoints.db"):
        assert (place.folder / name).read_bytes() == b"no database " * 1000
