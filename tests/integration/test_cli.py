"""The installed `dossier` command: what it asks, answers, writes and lists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.command import ROOT, WHO, Done, Forks, Place

pytestmark = pytest.mark.integration

Asked = dict[str, Done]

QUESTIONS = {
    "quick": [WHO, "--docs", "bees", "--quick", "--out", "quick"],
    "yes": [WHO, "--docs", "bees", "--yes", "--json"],
    "file": [WHO, "--docs", "bees/dance.md", "--json"],
    "dash": ["--docs", "bees", "--quick", "--", "- who described\nthe waggle dance?"],
    "talk": ["Hello!", "--json", "--thread", "talk"],
    "bare": [WHO, "--json", "--thread", "bare", "--project", "bare"],
    "told": ["I am a nurse.", "--json", "--project", "told"],
    "greeted": ["Good morning!", "--json", "--project", "greeted"],
    "known": ["Where do I work?", "--json", "--project", "told"],
    "nothing": ["What is quantum chromodynamics?", "--docs", "bees", "--json", "--thread", "none"],
}
"""What is asked besides, and under which name the answer is looked at."""


@pytest.fixture(scope="module")
def asked(place: Place, forks: Forks) -> Asked:
    """How the questions were answered, the first two of them at the same time."""
    both = [WHO, "--docs", "bees", "--thread"]
    plain = forks.start(place, "ask", *both, "plain")
    asked = {"json": forks.run(place, "ask", *both, "json", "--json"), "plain": plain.ended()}
    return asked | {name: forks.run(place, "ask", *words) for name, words in QUESTIONS.items()}


@pytest.fixture(scope="module")
def listed(place: Place, forks: Forks, asked: Asked) -> Done:
    """The runs, after all the questions were answered."""
    return forks.run(place, "runs")


def test_the_last_line_of_json_is_one_object_with_the_promised_keys(asked: Asked):
    told = asked["json"].told

    assert asked["json"].status == 0
    named = {
        "run",
        "thread",
        "status",
        "report",
        "answer",
        "sources",
        "quotes",
        "doubted",
        "standing",
        "contradictions",
    }
    assert set(told) == named | {"recomputed", "second_reader"}
    assert told["second_reader"] == "no_model"
    assert "1927" in told["answer"]
    assert "##" not in told["answer"]
    assert (told["run"], told["thread"], told["status"]) == ("json-1", "json", "succeeded")
    assert all(set(source) == {"id", "title", "location", "cited"} for source in told["sources"])
    assert all(set(quote) == {"source", "text"} for quote in told["quotes"])


def test_progress_goes_to_standard_error_and_nothing_but_the_result_to_standard_output(
    asked: Asked,
):
    assert len(asked["json"].out.splitlines()) == 1
    assert "Plan made" in asked["json"].err
    assert "Report written" in asked["json"].err


def test_the_report_is_there_as_markdown_and_as_a_page(place: Place, asked: Asked):
    report = Path(asked["json"].told["report"])

    assert report == place.folder / "reports" / "json-1" / "report.md"
    assert report.read_text("utf-8").startswith(f"# {WHO}")
    assert "<html" in report.with_name("report.html").read_text("utf-8")


def test_a_source_is_named_by_its_file_and_the_place_in_it(place: Place, asked: Asked):
    cited = [source for source in asked["json"].told["sources"] if source["cited"]]

    assert f"{place.docs / 'dance.md'}#the-dance" in [source["location"] for source in cited]


def test_every_quote_stands_in_its_source_to_the_letter(asked: Asked):
    told = asked["json"].told
    files = {source["id"]: source["location"].partition("#")[0] for source in told["sources"]}

    assert any("1927" in quote["text"] for quote in told["quotes"])
    for quote in told["quotes"]:
        assert quote["text"] in Path(files[quote["source"]]).read_text("utf-8")


def test_without_json_the_report_itself_is_printed(place: Place, asked: Asked):
    report = place.folder / "reports" / "plain-1" / "report.md"

    assert asked["plain"].status == 0
    assert asked["plain"].out.strip() == report.read_text("utf-8").strip()


def test_without_a_terminal_the_plan_is_approved_and_that_is_said(asked: Asked):
    assert "No terminal to ask on: the plan is approved as it is" in asked["plain"].err


def test_who_approves_the_plan_beforehand_is_not_told_of_a_terminal(asked: Asked):
    assert "Plan made" in asked["yes"].err
    assert "terminal" not in asked["yes"].err + asked["quick"].err


def test_quick_answers_without_a_plan(asked: Asked):
    assert asked["quick"].status == 0
    assert "1927" in asked["quick"].out
    assert "Plan made" not in asked["quick"].err


def test_a_single_file_can_be_asked_about(asked: Asked):
    assert asked["file"].status == 0
    cited = [one for one in asked["file"].told["sources"] if one["cited"]]
    assert [Path(one["location"].partition("#")[0]).name for one in cited] == ["dance.md"]


def test_a_question_may_begin_with_a_dash_and_go_over_lines(asked: Asked):
    assert asked["dash"].status == 0
    assert "1927" in asked["dash"].out


def test_who_forgets_to_name_files_is_told_of_it(asked: Asked):
    assert "No files are named: what was read before is searched" in asked["talk"].err
    assert "searched" not in asked["nothing"].err


def test_a_question_to_which_nothing_can_be_searched_is_refused_before_any_work(
    asked: Asked, listed: Done
):
    assert asked["bare"].status == 4
    assert asked["bare"].told["error"]["code"] == "nothing_to_search"
    assert "--docs" in asked["bare"].problem
    assert "question" not in asked["bare"].err.lower()
    assert "bare-1" not in listed.out


def test_what_needs_no_search_is_answered_where_there_is_nothing_to_search(asked: Asked):
    assert [asked[name].status for name in ("told", "greeted")] == [0, 0]
    assert asked["known"].told["run"]


@pytest.mark.parametrize("words", [["-"], []])
def test_a_question_may_come_in_on_standard_input(place: Place, forks: Forks, words: list[str]):
    typed = place.folder / "question.txt"
    typed.write_text(f"{WHO}\n", "utf-8")
    options = ["--docs", "bees", "--quick", "--json"]

    done = forks.run(place, "ask", *words, *options, streams={0: str(typed)})

    assert done.status == 0, done.err
    assert "1927" in done.told["answer"]


def test_small_talk_is_answered_without_a_report(place: Place, asked: Asked, listed: Done):
    told = asked["talk"].told

    assert asked["talk"].status == 0
    assert (told["report"], told["status"]) == (None, "succeeded")
    assert told["reply"]
    assert not (place.folder / "reports" / "talk-1").exists()
    assert "talk-1" in listed.out


def test_without_evidence_the_run_fails_and_says_what_was_searched(asked: Asked):
    done = asked["nothing"]

    assert done.status == 1
    assert done.told["status"] == "insufficient_evidence"
    assert done.told["quotes"] == []
    report = Path(done.told["report"]).read_text("utf-8")
    assert "quantum chromodynamics" in report.split("## ")[-1]


def test_every_run_is_listed_on_a_line_of_its_own(asked: Asked, listed: Done):
    lines = listed.out.splitlines()

    # That of another project is not among them, and there is a line of headings.
    elsewhere = sum("--project" in words for words in QUESTIONS.values())
    assert len(lines) == 1 + len(asked) - elsewhere
    (mine,) = [line for line in lines if line.split()[0] == "json-1"]
    assert "succeeded" in mine
    assert WHO in mine


def test_a_run_is_shown_call_by_call(place: Place, asked: Asked, forks: Forks):
    told = forks.run(place, "runs", "show", "none-1", "--json").told

    assert (told["status"], told["code"]) == ("insufficient_evidence", "insufficient_evidence")
    roles = {call["role"] for call in told["calls"]}
    assert {"coordinator", "rewriter", "planner"} <= roles
    assert "reporter" not in roles


def test_a_second_question_knows_the_first_and_goes_on_with_its_files(
    place: Place, asked: Asked, forks: Forks
):
    done = forks.run(place, "ask", "And in winter?", "--thread", "plain", "--json")

    # No sentence of the files says who described the dance in winter, so it is not sure of one.
    assert (done.told["run"], done.status) == ("plain-2", 6)
    report = Path(done.told["report"])
    assert report.parent.name == "plain-2"
    assert "waggle dance" in report.read_text("utf-8").partition("## ")[0]
    assert done.told["quotes"]
    assert (place.folder / "reports" / "plain-1" / "report.md").exists()


def test_a_report_is_never_replaced_unasked(place: Place, asked: Asked, forks: Forks):
    report = place.folder / "quick" / "report.md"
    report.write_text("mine")
    again = ["ask", WHO, "--docs", "bees", "--quick", "--out", "quick"]

    refused = forks.run(place, *again)
    kept = report.read_text()
    forced = forks.run(place, *again, "--force")

    assert refused.status == 5
    assert refused.problem.startswith("error[output_exists]")
    assert kept == "mine"
    assert forced.status == 0
    assert "1927" in report.read_text("utf-8")


def test_chinese_works_in_a_locale_that_knows_none(
    tmp_path_factory: pytest.TempPathFactory, forks: Forks
):
    place = Place(tmp_path_factory.mktemp("zh"))
    text = "# 摇摆舞\n\n卡尔·冯·弗里希在1927年描述了摇摆舞。\n"
    (place.docs / "摇摆舞.md").write_text(text, "utf-8")

    words = ["ask", "谁描述了摇摆舞？", "--docs", "bees", "--quick"]
    plain = place.run(*words, LC_ALL="C")
    escaped = forks.run(place, *words, PYTHONIOENCODING="ascii")
    data = forks.run(place, *words, "--json", PYTHONIOENCODING="ascii")

    told = "卡尔·冯·弗里希在1927年描述了摇摆舞。"
    assert told in plain.out
    assert told.encode("ascii", "backslashreplace").decode() in escaped.out
    assert data.out.isascii()
    assert data.told["quotes"][0]["text"] == told


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_done(
    place: Place, forks: Forks
):
    locked = Place(place.folder / "locked")
    (locked.folder / "reports").write_text("a file is in the way")

    done = forks.run(locked, "ask", WHO, "--docs", "bees")

    assert done.status == 7
    assert done.problem.startswith("error[output_not_writable]")
    assert "Question taken" not in done.err


def test_a_report_whose_folder_is_taken_in_the_meantime_is_kept_and_written_elsewhere(
    place: Place, forks: Forks
):
    there = place.folder / "reports" / "kept-1"
    there.mkdir(parents=True)
    (there / "report.md").write_text("mine")

    refused = forks.run(place, "ask", WHO, "--docs", "bees", "--thread", "kept")
    written = forks.run(place, "resume", "kept-1", "--out", "elsewhere", "--json")

    assert refused.problem.startswith("error[output_exists]")
    assert "dossier resume kept-1 --out" in refused.problem
    assert (there / "report.md").read_text() == "mine"
    assert written.status == 0
    assert "1927" in (place.folder / "elsewhere" / "report.md").read_text("utf-8")


def test_a_mistake_of_ours_is_told_in_one_line_and_shown_only_when_asked_for(place: Place):
    ours = place.folder / "mistake"
    ours.mkdir()
    (ours / "sitecustomize.py").write_text(
        "from app.cli import serve\n"
        "def mistake(**options):\n"
        "    error = KeyError('gone')\n"
        "    error.add_note('During task with name x')\n"
        "    raise error\n"
        "serve.serve = mistake\n"
    )
    path = os.pathsep.join([str(ours), str(ROOT)])

    told = place.run("serve", PYTHONPATH=path)
    shown = place.run("serve", PYTHONPATH=path, DOSSIER_DEBUG="1")

    assert told.status == shown.status == 1
    assert told.err.startswith("error[internal]: KeyError: 'gone'")
    assert "--debug" in told.err
    assert len(told.err.splitlines()) == 1
    assert "Traceback" in shown.err


def loaded(folder: Path, *words: str) -> set[str]:
    """Return the packages that a command has imported when it ends."""
    code = (
        "import sys\n"
        f"sys.argv = ['dossier', *{words!r}]\n"
        "from app.cli.start import main\n"
        "try:\n    main()\nexcept SystemExit:\n    print(sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        # The fixture of the home sets a number and a switch, which are checked by pydantic.
        env=os.environ
        | {"DOSSIER_HOME": str(folder), "DOSSIER_RETRY_SECONDS": "", "DOSSIER_KEYLESS_SEARCH": ""},
        capture_output=True,
        encoding="utf-8",
    )
    return set(re.findall(r"'([\w.]+)'", done.stderr))


@pytest.mark.parametrize("words", [("ask",), ("memory", "list"), ("eval", "locomo"), ("runs",)])
def test_help_comes_without_what_only_a_run_needs(tmp_path: Path, words: tuple[str, ...]):
    found = loaded(tmp_path, *words, "--help")

    heavy = {"langchain", "langchain_core", "langgraph", "chromadb", "sqlalchemy", "httpx"}
    assert "typer" in found
    assert not found & (heavy | {"rich", "numpy", "asyncio", "storage.engine"})


HEAVY = {
    *("langchain", "langchain_core.messages", "langgraph", "langsmith", "openai", "httpx"),
    *("scipy.sparse", "scipy.cluster", "sklearn", "pandas", "chromadb", "onnxruntime"),
    *("trafilatura", "lxml", "charset_normalizer", "tiktoken", "requests"),
    *("sqlalchemy.dialects.postgresql", "sqlalchemy.orm", "sqlalchemy.ext.asyncio"),
    *("pydantic_settings", "filelock", "rich._emoji_codes"),
}
"""What takes long to import and what no look into the database needs."""


@pytest.mark.parametrize(
    "words",
    [
        *(("runs",), ("runs", "--json"), ("search", "bees")),
        *(("pages", "list"), ("pages", "stats"), ("memory", "list")),
        *(("memory", "log"), ("memory", "list", "--memory", "facts")),
    ],
    ids=" ".join,
)
def test_what_only_looks_something_up_loads_what_it_needs_for_that_alone(
    tmp_path: Path, words: tuple[str, ...]
):
    found = loaded(tmp_path, *words)

    assert "sqlalchemy" in found
    assert not found & HEAVY


def test_a_search_that_words_answer_loads_nothing_that_compares_vectors(tmp_path: Path):
    told = tmp_path / "bees.md"
    told.write_text("Bees dance.\n", "utf-8")
    loaded(tmp_path / "home", "ingest", str(told))

    found = loaded(tmp_path / "home", "search", "bees")

    assert "library.page_retrieval" in found
    assert not found & {"numpy", "rank_bm25", "models.minilm", "config.model_table", "pydantic"}


def test_what_lists_the_runs_loads_nothing_that_reads_forms_or_tries_again(tmp_path: Path):
    found = loaded(tmp_path, "runs", "--project", "bees")

    assert not found & {"pydantic", "tenacity", "dotenv", "numpy"}


def test_patterns_are_compiled_when_they_are_used_and_not_when_they_are_imported():
    code = (
        "import re._compiler as compiler\n"
        "compiled, real = [], compiler.compile\n"
        "note = lambda text: compiled.append(str(text)) or text\n"
        "compiler.compile = lambda text, flags=0: real(note(text), flags)\n"
        "import memory.self_questions, memory.learning.patterns, text.secret_masking\n"
        "long = lambda: sum('my|our' in text for text in compiled)\n"
        "before = long()\n"
        "text.secret_masking.mask_secrets('my password is Zx9_k77')\n"
        "print(before, long() > 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )

    assert done.stdout.split() == ["0", "True"]


def test_runs_are_listed_without_numbers_and_vectors(tmp_path: Path):
    assert not loaded(tmp_path, "runs") & {"numpy", "library.page_ranking", "library.vector_rows"}
