"""What the command line sets up before any command."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from app.cli import serve
from app.cli.command_table import COMMANDS
from app.cli.dispatch import CommandEntry, Invocation
from app.cli.help_examples import COMMAND_EXAMPLES, PLAN_EXAMPLE
from app.cli.main import LazyCommand, _disable_telemetry, load_command, main
from config.environment import TRACING_VARIABLES
from graph.context import Context
from graph.plan import parse_plan
from tests.cases import each_case


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that says nothing of tracing; what a test sets there is gone after it."""
    for name in (*TRACING_VARIABLES, "ANONYMIZED_TELEMETRY", "ORT_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment that the server is started with."""
    seen: dict[str, str] = {}

    def become(program: str, command: list[str], environment: dict[str, str]) -> None:
        seen.update(environment)

    monkeypatch.setattr(os, "execve", become)
    monkeypatch.setattr(os, "umask", lambda mask: seen.update(umask=f"{mask:o}"))
    serve.serve(host="127.0.0.1", port=8123, jobs=32)
    return seen


def test_unasked_nobody_is_told_of_a_run(monkeypatch: pytest.MonkeyPatch):
    _disable_telemetry()

    environment = started(monkeypatch)
    assert environment["LANGSMITH_TRACING"] == "false"
    assert environment["ANONYMIZED_TELEMETRY"] == "False"
    assert environment["ORT_DISABLE_TELEMETRY"] == os.environ["ORT_DISABLE_TELEMETRY"] == "1"


def test_what_the_server_keeps_is_for_nobody_else(monkeypatch: pytest.MonkeyPatch):
    assert started(monkeypatch)["umask"] == "77"


@pytest.mark.parametrize("name", TRACING_VARIABLES)
def test_tracing_that_the_person_has_switched_on_stays_on(
    monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setenv(name, "true")
    _disable_telemetry()

    environment = started(monkeypatch)
    assert environment[name] == "true"
    assert environment.get("LANGSMITH_TRACING", "true") == "true"


def test_tracing_that_is_switched_on_in_the_file_of_settings_stays_on(
    monkeypatch: pytest.MonkeyPatch, home: Path
):
    home.mkdir()
    (home / ".env").write_text("LANGSMITH_TRACING=true\n")
    _disable_telemetry()

    assert started(monkeypatch)["LANGSMITH_TRACING"] == "true"


def test_a_file_of_settings_that_cannot_be_read_is_left_to_the_settings(home: Path):
    home.mkdir()
    (home / ".env").write_bytes(b"\xff\xfe")

    _disable_telemetry()

    assert os.environ["LANGSMITH_TRACING"] == "false"


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that call it."""
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below.load(), (*path, name))


ALL = dict(commands(load_command()))


@each_case(ALL)
def test_help_shows_no_types_of_the_program_and_fits_its_width(path: tuple[str, ...]):
    with ALL[path].make_context("dossier", [], resilient_parsing=True) as context:
        told = ALL[path].get_help(context)

    assert not re.search(
        r"<[a-z]+(\[\w+\])?>|Path\b(?!s)|\[\[|\.\.\.\.", told.replace("NAME|DIR", "")
    )
    assert "{" not in told.splitlines()[0]
    assert not re.search(r"<=|>=|\bpydantic\b|\b[a-z]+_[a-z]+\.[a-z]|[A-Z][a-z]+Error", told)


@each_case([path for path, one in ALL.items() if path and one.params])
def test_every_command_shows_examples_and_explains_every_option(path: tuple[str, ...]):
    command, words = ALL[path], " ".join(path)
    with command.make_context("dossier", [], resilient_parsing=True) as context:
        told = command.get_help(context)

    group = getattr(command, "commands", {}) and path != ("runs",)
    assert group or f"dossier {words}" in told.partition("Examples:")[2]
    for one in command.params:
        assert len((getattr(one, "help", "") or "").split()) > 2, one.name
        assert not (one.help or "").endswith("..."), one.name


@pytest.mark.parametrize("line", [line for some in COMMAND_EXAMPLES.values() for line in some])
def test_every_example_of_the_help_can_be_called(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    called: list[str] = []
    monkeypatch.setattr(
        "app.cli.dispatch.run_command", lambda command, _: called.append(command.help)
    )
    monkeypatch.setattr("sys.argv", shlex.split(line.partition(" <")[0]))
    monkeypatch.setattr("app.cli.output.prepare_streams", lambda: None)
    monkeypatch.setattr("app.cli.output.hide_tracebacks", lambda as_json: None)

    with pytest.raises(SystemExit) as ended:
        main()

    assert not ended.value.code, capsys.readouterr().err
    assert called


@each_case([path for path in ALL if path])
def test_a_list_of_commands_says_of_each_what_its_own_help_says(path: tuple[str, ...]):
    listed, own = COMMANDS[" ".join(path)].summary, ALL[path].help

    assert own.split("\n\n")[0].replace("\n", " ") == listed


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_imports_no_function_of_a_command(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    imported: list[str] = []
    monkeypatch.setattr("app.cli.dispatch.import_frozen", imported.append)

    command = load_command(" ".join(path))
    with command.make_context("dossier", [], resilient_parsing=True) as context:
        assert command.get_help(context)

    assert all(isinstance(one, LazyCommand) for one in getattr(command, "commands", {}).values())
    assert not imported


def keywords(command: CommandEntry) -> dict[str, Any]:
    """What a command gives to its function, by its name, with the type of each."""
    types = {one.name: get_args(one.annotation)[0] for one in command.options}
    if "as_json" not in types:
        return types
    for name in ("project", "trust", "as_json"):
        types.pop(name, None)
    return types | {"invocation": Invocation}


@each_case([path for path, one in COMMANDS.items() if one.function])
def test_the_function_of_a_command_takes_its_options(path: str):
    function = COMMANDS[path].load()

    taken = get_type_hints(function)
    assert taken.pop("return") in (int, type(None))
    assert taken == keywords(COMMANDS[path])
    parameters = inspect.signature(function).parameters.values()
    assert all(one.kind is one.KEYWORD_ONLY for one in parameters)
    assert all(one.default is one.empty for one in parameters)


def test_a_mistyped_command_is_told_which_one_was_meant(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.argv", ["dossier", "recal", "bees"])
    monkeypatch.setattr("app.cli.output.prepare_streams", lambda: None)
    monkeypatch.setattr("app.cli.output.hide_tracebacks", lambda as_json: None)

    with pytest.raises(SystemExit):
        main()

    assert "'recall'" in capsys.readouterr().err


def test_the_help_of_ask_names_every_choice_with_what_it_takes():
    with ALL["ask",].make_context("ask", [], resilient_parsing=True) as context:
        told = ALL["ask",].get_help(context)

    assert "max_steps=1..50" in told
    assert "language=en|zh" in told
    names = {one.name for one in fields(Context)} - {"files", "user"}
    assert all(f"  {name}=" in told for name in names)


def test_the_plan_that_the_help_of_resume_shows_can_be_read():
    plan = parse_plan(textwrap.dedent(PLAN_EXAMPLE.partition("\n")[2]))

    assert [step["needs"] for step in plan["steps"]] == [[], ["s1"]]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["serve", "--port", "soon"], "'--port' cannot be 'soon': it is not a whole number"),
        (["serve", "--port", "70000"], "'--port' cannot be '70000': it is more than 65535"),
        (["search", "x", "--limit", "0"], "'--limit' cannot be '0': it is less than 1"),
        (["memory", "diff", "last"], "'EVENT' cannot be 'last': it is not a whole number"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_in_plain_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], told: str
):
    monkeypatch.setattr("sys.argv", ["dossier", *words])
    monkeypatch.setattr("app.cli.output.prepare_streams", lambda: None)
    monkeypatch.setattr("app.cli.output.hide_tracebacks", lambda as_json: None)

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def complete(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shell: str, line: str
) -> str:
    """What a shell is told to complete a line with."""
    monkeypatch.setattr("sys.argv", ["dossier"])
    monkeypatch.setattr("app.cli.output.prepare_streams", lambda: None)
    monkeypatch.setattr("app.cli.output.hide_tracebacks", lambda as_json: None)
    for name, value in {
        "_DOSSIER_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SystemExit):
        main()
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "offered", "left"),
    [
        ("dossier reca", ["recall"], "runs"),
        ("dossier ask x --set max_", ["max_steps=", "max_cost="], "style="),
        ("dossier ask x --set guide=", ["guide=every", "guide=none"], "language"),
        ("dossier ask x --set depth=d", ["depth=deep"], "quick"),
        ("dossier ask x --set auto_accept=t", ["auto_accept=true"], "false"),
        ("dossier ask x --set kn", ["knowledge="], "files"),
    ],
)
def test_completion_offers_commands_and_the_choices_of_a_run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    shell: str,
    line: str,
    offered: list[str],
    left: str,
):
    out = complete(monkeypatch, capsys, shell, line)

    assert all(one in out for one in offered)
    assert left not in out


@pytest.mark.parametrize("group", ["memory", "pages", "eval"])
def test_a_group_without_a_command_shows_its_help(group: str, capsys: pytest.CaptureFixture[str]):
    load_command()([group], "dossier", standalone_mode=False)

    shown = capsys.readouterr()
    assert f"Usage: dossier {group}" in shown.out
    assert "Commands:\n" in shown.out
    assert not shown.err
