from pathlib import Path

import pytest

from config.errors import Problem
from config.settings import settings


def put_back(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let what a test has read from a file be gone from the environment after it."""
    for name in names:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_everything_kept_lies_in_the_home_folder(home: Path):
    set_up = settings()

    assert set_up.database == f"sqlite:///{home}/dossier.db"
    assert {set_up.checkpoints.parent, set_up.traces.parent, set_up.locks.parent} == {home}


def test_a_tilde_is_the_persons_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOSSIER_HOME", "~/kept")

    assert settings().database == f"sqlite:///{tmp_path}/kept/dossier.db"
    assert settings().traces == tmp_path / "kept" / "traces"


def test_the_url_of_another_database_wins(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOSSIER_DATABASE_URL", "postgresql://me@there/dossier")

    assert settings().database == "postgresql://me@there/dossier"


def test_the_file_of_the_home_is_read_and_the_environment_wins(
    monkeypatch: pytest.MonkeyPatch, home: Path
):
    home.mkdir()
    (home / ".env").write_text("DOSSIER_USER=file\nDOSSIER_CALL_SECONDS=7\nOTHER=1\n")
    monkeypatch.setenv("DOSSIER_USER", "shell")
    put_back(monkeypatch, "DOSSIER_CALL_SECONDS", "OTHER")

    assert (settings().user, settings().call_seconds) == ("shell", 7)


def test_settings_are_read_once():
    assert settings() is settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DOSSIER_CALL_SECONDS", "soon"),
        ("DOSSIER_CALL_SECONDS", "0"),
        ("DOSSIER_IDLE_SECONDS", "nan"),
        ("DOSSIER_RETRY_SECONDS", "-1"),
        ("DOSSIER_KEEP_MESSAGES", "1"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
):
    monkeypatch.setenv(name, value)

    with pytest.raises(Problem) as failure:
        settings()

    assert (failure.value.code, failure.value.where) == ("config_value", name)
    assert failure.value.exit_status == 2


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DOSSIER_FETCH_HOURS", "soon", "it is not a number"),
        ("DOSSIER_FETCH_HOURS", "-0.5", "it is less than 0"),
        ("DOSSIER_CONNECT_SECONDS", "0", "it is not more than 0"),
        ("DOSSIER_FACT_SIMILARITY", "inf", "it is not a finite number"),
        ("DOSSIER_IDLE_SECONDS", "86401", "it is more than 86400"),
        ("DOSSIER_MEMORY_TOKENS", "1000001", "it is more than 1000000"),
        ("DOSSIER_CALL_SECONDS", "5\udcff", "it is not UTF-8"),
        ("DOSSIER_FACT_CONFIDENCE", "1.5", "it is more than 1"),
        ("DOSSIER_CONTEXT_TOKENS", "9000.5", "it is not a whole number"),
        ("DOSSIER_ALLOW_PRIVATE_FETCH", "maybe", "it is neither true nor false"),
        ("DOSSIER_MEMORY_EDITS", "never", "it is not one of 'ask' or 'allow'"),
        ("DOSSIER_USER", "\udcff\udcfe", "it is not UTF-8"),
        ("DOSSIER_HOME", "caf\udce9", "it is not a path"),
        ("DOSSIER_DATABASE_URL", "sqlite:///caf\udce9.db", "it is not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_value_is_said_in_plain_words(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
):
    monkeypatch.setenv(name, value)

    with pytest.raises(Problem) as failure:
        settings()

    assert (failure.value.where, failure.value.what) == (name, told)


def test_two_weights_of_nothing_are_refused_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOSSIER_FACT_SIMILARITY", "0")
    monkeypatch.setenv("DOSSIER_FACT_CONFIDENCE", "0.0")

    with pytest.raises(Problem, match="both 0"):
        settings()


def test_values_are_read_as_what_they_are(monkeypatch: pytest.MonkeyPatch):
    for name, value in (
        ("FETCH_HOURS", "1e1"),
        ("CONTEXT_TOKENS", "5000.0"),
        ("ALLOW_PRIVATE_FETCH", "Yes"),
        ("SECOND_READER", "OFF"),
        ("MEMORY_EDITS", "allow"),
        ("NOT_A_SETTING", "x"),
    ):
        monkeypatch.setenv(f"DOSSIER_{name}", value)
    read = settings()

    assert (read.fetch_hours, read.context_tokens) == (10.0, 5000)
    assert (read.allow_private_fetch, read.second_reader) == (True, False)
    assert read.memory_edits == "allow"


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e308", "1e400", "-1", "ten", "0x10"])
@pytest.mark.parametrize(
    "name",
    [
        "CALL_SECONDS",
        "CONNECT_SECONDS",
        "IDLE_SECONDS",
        "RETRY_SECONDS",
        "LEARN_SECONDS",
        "FETCH_HOURS",
        "FACT_SIMILARITY",
        "CONTEXT_TOKENS",
        "KEEP_MESSAGES",
    ],
)
def test_no_number_is_endless_or_beyond_what_a_clock_can_count(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
):
    monkeypatch.setenv(f"DOSSIER_{name}", value)

    with pytest.raises(Problem) as told:
        settings()

    assert (told.value.code, told.value.where) == ("config_value", f"DOSSIER_{name}")


@pytest.mark.parametrize(
    "value",
    [
        "*",
        "https://*.example",
        "example.org",
        "https://a.example/path",
        "ftp://a.example",
        "null",
        "https://me@a.example",
        "https://a.example:none",
        "https://",
    ],
)
def test_an_origin_is_named_as_a_browser_sends_it(monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv("DOSSIER_SERVER_ORIGINS", f"http://localhost:3000,{value}")

    with pytest.raises(Problem, match="origins"):
        settings()


@pytest.mark.parametrize("value", ["*", "a.example:80", "https://a.example", "a b", "a/b"])
def test_a_host_is_named_without_a_port(monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv("DOSSIER_SERVER_HOSTS", value)

    with pytest.raises(Problem, match="host names"):
        settings()
