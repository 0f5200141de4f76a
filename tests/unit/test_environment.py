"""What is taken from a person's own file of settings, and never from a folder's."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from langchain_core.callbacks import CallbackManager
from langsmith.utils import get_env_var, tracing_is_enabled
from starlette.applications import Starlette

from app.cli import folder_settings, folder_trust
from app.http_app import server_lifespan
from config import environment
from config.environment import (
    TRACING_VARIABLES,
    is_tracing_enabled,
    load_home_env,
    normalize_tracing,
    read_folder_env,
)
from config.errors import Problem
from config.model_table import API_KEY_VARIABLES
from config.settings import settings
from tests.places import new_process
from tests.unit.test_settings import put_back

ROOT = Path(__file__).parents[2]

HOSTILE = {
    "OPENAI_BASE_URL": "http://stranger.example/v1",
    "OPENAI_API_KEY": "sk-theirs",
    "ANTHROPIC_BASE_URL": "http://stranger.example",
    "HTTPS_PROXY": "http://stranger.example:3128",
    "LANGSMITH_TRACING": "true",
    "LANGCHAIN_TRACING_V2": "true",
    "LANGSMITH_ENDPOINT": "http://stranger.example",
    "SEARXNG_URL": "http://stranger.example",
    "DOSSIER_WIKIPEDIA_URL": "http://stranger.example",
    "DOSSIER_CONTACT": "stranger@example.org",
    "SERPER_API_KEY": "theirs-1234",
    "GITHUB_TOKEN": "theirs-1234",
    "STACKEXCHANGE_KEY": "theirs-1234",
    "DOSSIER_HOME": "/tmp/theirs",
    "DOSSIER_DATABASE_URL": "sqlite:////tmp/theirs.db",
    "DOSSIER_CHROMA_URL": "http://stranger.example",
    "DOSSIER_MODEL": "openai:theirs",
    "DOSSIER_MODELS": "models.toml",
    "DOSSIER_EMBEDDINGS": "openai:theirs",
    "DOSSIER_ALLOW_PRIVATE_FETCH": "true",
    "DOSSIER_MEMORY_EDITS": "allow",
    "DOSSIER_SECOND_READER": "false",
    "DOSSIER_USER": "somebody",
    "DOSSIER_LEARN_SECONDS": "30000000",
    "DOSSIER_FACT_SIMILARITY": "0",
    "DOSSIER_FACT_CONFIDENCE": "1",
    "SSL_CERT_FILE": "theirs.pem",
    "TIKTOKEN_CACHE_DIR": "theirs",
}
"""What a stranger's folder may say of where words go, what is allowed, and what is remembered."""


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    put_back(
        monkeypatch, *TRACING_VARIABLES, *(HOSTILE.keys() - {"DOSSIER_HOME"}), "LANGCHAIN_HANDLER"
    )


def write(file: Path, values: dict[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{name}={value}\n" for name, value in values.items()))


def trusted(folder: Path) -> None:
    folder_trust.trust_folder(folder=folder)


@pytest.mark.parametrize("believed", [False, True])
def test_nothing_of_a_folder_says_where_words_go_or_what_is_allowed(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str], believed: bool
):
    write(tmp_path / ".env", HOSTILE)
    if believed:
        trusted(tmp_path)
    before = dict(os.environ)

    load_home_env()
    folder_settings.apply_folder_env()
    normalize_tracing()

    assert {name: os.environ.get(name) for name in HOSTILE if name not in TRACING_VARIABLES} == {
        name: before.get(name) for name in HOSTILE if name not in TRACING_VARIABLES
    }
    assert not is_tracing_enabled()
    assert (settings().home, settings().memory_edits) == (home, "ask")
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "dossier settings import" in told


def test_a_trusted_folder_sets_what_is_harmless_and_others_are_told_how(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    put_back(monkeypatch, "DOSSIER_FETCH_HOURS")
    write(tmp_path / ".env", {"DOSSIER_FETCH_HOURS": "3"})

    folder_settings.apply_folder_env()
    assert settings().fetch_hours == 24
    assert "(DOSSIER_FETCH_HOURS); if it is yours: dossier trust ." in capsys.readouterr().err

    trusted(tmp_path)
    folder_settings.apply_folder_env()
    assert settings().fetch_hours == 3
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("value", ["soon", "inf", "-1"])
def test_a_wrong_value_in_a_trusted_folder_is_told_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
):
    put_back(monkeypatch, "DOSSIER_CALL_SECONDS")
    write(tmp_path / ".env", {"DOSSIER_CALL_SECONDS": value})
    trusted(tmp_path)

    with pytest.raises(Problem) as told:
        folder_settings.apply_folder_env()

    assert told.value.code == "config_value"
    assert told.value.where == f"DOSSIER_CALL_SECONDS in {tmp_path / '.env'}"


def test_a_folder_above_and_one_that_is_not_trusted_itself_say_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    put_back(monkeypatch, "DOSSIER_FETCH_HOURS")
    write(tmp_path / ".env", {"DOSSIER_FETCH_HOURS": "3"})
    below = tmp_path / "below"
    write(below / ".env", {"DOSSIER_FETCH_HOURS": "4"})
    trusted(tmp_path)
    monkeypatch.chdir(below)

    folder_settings.apply_folder_env()

    assert settings().fetch_hours == 24


def test_a_file_of_another_program_and_one_that_says_what_is_so_are_not_worth_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    write(
        tmp_path / ".env",
        {"PORT": "80", "DATABASE_URL": "x", "STRIPE_API_KEY": "y", "OPENAI_API_KEY": "sk-mine"},
    )

    assert read_folder_env() == {}


def test_what_is_no_file_of_settings_is_neither_waited_for_nor_read(tmp_path: Path, home: Path):
    os.mkfifo(tmp_path / ".env")
    home.mkdir()
    os.mkfifo(home / ".env")

    load_home_env()
    assert read_folder_env() == {}

    (tmp_path / ".env").unlink()
    for content in (b"DOSSIER_USER=\xff", b"DOSSIER_USER=a\0b", b"DOSSIER_USER=" + b"a" * 70_000):
        (tmp_path / ".env").write_bytes(content)
        assert read_folder_env() == {}


def test_a_folders_file_that_leads_to_the_persons_own_is_their_own(tmp_path: Path, home: Path):
    write(home / ".env", {"DOSSIER_USER": "me"})
    (tmp_path / ".env").symlink_to(home / ".env")

    assert read_folder_env() == {}


def test_every_name_that_the_example_shows_is_one_that_a_folder_may_not_pass_over():
    shown = environment.read_env_file(ROOT / ".env.example")
    lines = (ROOT / ".env.example").read_text().splitlines()
    named = {line.lstrip("# ").partition("=")[0] for line in lines if "=" in line}

    assert not shown
    assert len(named) > 15
    assert all(
        map(
            environment.is_known_variable,
            {*named, *API_KEY_VARIABLES.values(), *TRACING_VARIABLES, *HOSTILE},
        )
    )


def test_a_home_is_named_by_the_environment_alone(home: Path):
    write(home / ".env", {"DOSSIER_HOME": "/elsewhere"})

    with pytest.raises(Problem) as told:
        settings()

    assert (told.value.code, told.value.where) == ("config_value", str(home / ".env"))
    assert environment.home_folder() == home


def test_a_path_in_the_own_file_does_not_begin_where_a_command_is_called(
    home: Path, tmp_path: Path
):
    write(home / ".env", {"DOSSIER_MODELS": "models.toml"})
    (tmp_path / "models.toml").write_text("default = 'openai:theirs'")

    assert settings().models == home / "models.toml"


def test_an_empty_variable_hides_the_one_of_the_file(home: Path, monkeypatch: pytest.MonkeyPatch):
    write(home / ".env", {"OPENAI_API_KEY": "sk-mine"})
    monkeypatch.setenv("OPENAI_API_KEY", "")

    settings()

    assert os.environ["OPENAI_API_KEY"] == ""


@pytest.mark.parametrize("name", TRACING_VARIABLES)
@pytest.mark.parametrize("other", TRACING_VARIABLES)
def test_a_switch_that_is_off_keeps_tracing_off_whatever_others_say(
    monkeypatch: pytest.MonkeyPatch, name: str, other: str, home: Path
):
    write(home / ".env", {other: "true"})
    monkeypatch.setenv(name, "false")

    load_home_env()
    normalize_tracing()

    assert not is_tracing_enabled()
    assert _library_says() is False


@pytest.mark.parametrize("said", ["1", "True", "yes", "false", "0", ""])
def test_what_is_not_true_switches_nothing_on_and_breaks_nothing(
    monkeypatch: pytest.MonkeyPatch, said: str
):
    for name in TRACING_VARIABLES:
        monkeypatch.setenv(name, said)

    normalize_tracing()

    assert _library_says() is False


@pytest.mark.parametrize("name", TRACING_VARIABLES)
def test_one_switch_that_is_on_is_enough(monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setenv(name, "true")

    normalize_tracing()

    assert is_tracing_enabled()
    assert _library_says() is True


def _library_says() -> bool:
    """Whether LangChain would have LangSmith told of a call."""
    get_env_var.cache_clear()
    try:
        CallbackManager.configure()  # Some mixtures of switches make it raise an error.
        return bool(tracing_is_enabled())
    finally:
        get_env_var.cache_clear()


def test_importing_shows_values_keeps_keys_apart_and_changes_what_is_there_in_nothing(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    write(home / ".env", {"DOSSIER_MODEL": "openai:mine"})
    said = {
        "OPENAI_API_KEY": "sk-it's-\\a-long-one-1234",
        "DOSSIER_MODEL": "openai:theirs",
        "DOSSIER_HOME": "/elsewhere",
        "DOSSIER_MODELS": "models.toml",
        "PORT": "80",
    }
    (tmp_path / ".env").write_text("\n".join(f"{name}={one}" for name, one in said.items()))
    asked: list[str] = []
    monkeypatch.setattr(folder_settings, "confirm", lambda *words: not asked.extend(words[2]))

    folder_settings.import_settings(file=tmp_path / ".env", yes=False)

    assert "  OPENAI_API_KEY = …1234" in asked
    assert "a-long-one" not in "".join(asked)
    assert "DOSSIER_MODEL is already set in" in capsys.readouterr().err
    assert environment.read_env_file(home / ".env") == {
        "DOSSIER_MODEL": "openai:mine",
        "OPENAI_API_KEY": said["OPENAI_API_KEY"],
        "DOSSIER_MODELS": str(tmp_path / "models.toml"),
    }
    assert (home / ".env").stat().st_mode & 0o777 == 0o600
    load_home_env()
    assert read_folder_env().keys() == {"DOSSIER_MODEL", "DOSSIER_HOME"}


def test_nothing_is_imported_unasked_and_what_would_be_is_shown(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
):
    write(tmp_path / ".env", HOSTILE)

    with pytest.raises(Problem) as told:
        folder_settings.import_settings(file=tmp_path / ".env", yes=False)

    assert told.value.code == "import_unconfirmed"
    assert "  OPENAI_BASE_URL = " in capsys.readouterr().err
    assert not (home / ".env").exists()


def test_importing_hides_passwords_in_addresses_and_shows_numbers(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
):
    said = {
        "DOSSIER_CONTEXT_TOKENS": "64000",
        "DOSSIER_DATABASE_URL": "postgresql://me@db.example/dossier?password=honey",
        "HTTPS_PROXY": "http://me:nectar@proxy.example",
    }
    (tmp_path / ".env").write_text("\n".join(f"{name}={one}" for name, one in said.items()))
    asked: list[str] = []
    monkeypatch.setattr(folder_settings, "confirm", lambda *words: asked.extend(words[2]))

    folder_settings.import_settings(file=tmp_path / ".env", yes=False)

    assert "  DOSSIER_CONTEXT_TOKENS = 64000" in asked
    assert "db.example" in "".join(asked)
    assert not {"honey", "nectar"} & set(re.findall(r"\w+", "".join(asked)))


@pytest.mark.parametrize("name", ["none", "."])
def test_a_file_that_is_not_there_is_told(tmp_path: Path, name: str):
    with pytest.raises(Problem) as told:
        folder_settings.import_settings(file=tmp_path / name, yes=True)

    assert told.value.code == "config_not_found"
    assert told.value.hint


def test_the_server_is_configured_with_no_file_of_a_folder():
    told = json.loads((ROOT / "langgraph.json").read_text())

    assert told["env"] == {}


async def test_a_server_that_was_started_without_the_command_heeds_a_switch_that_is_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write(tmp_path / ".env", {"LANGSMITH_TRACING": "true"})
    monkeypatch.setenv("LANGCHAIN_TRACING_V2", "true")
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    mask = os.umask(0o022)

    async with server_lifespan(Starlette()):
        assert _library_says() is False

    os.umask(mask)
    assert "(LANGSMITH_TRACING)" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["~nobody-of-this-name", "~nobody-of-this-name/data"])
@pytest.mark.parametrize("name", ["DOSSIER_HOME", "DOSSIER_MODELS"])
def test_a_home_folder_that_is_unknown_is_told_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, given: str
):
    monkeypatch.setenv(name, given)
    new_process()

    with pytest.raises(Problem, match="is unknown") as failure:
        settings()

    assert (failure.value.code, failure.value.where) == ("config_value", given)
    assert failure.value.hint


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3_000, "nowhere", "a\nb"])
def test_what_cannot_be_a_folder_is_not_trusted(name: str):
    with pytest.raises(Problem) as failure:
        folder_trust.trust_folder(folder=Path(name))

    assert failure.value.code == "project_not_found"
