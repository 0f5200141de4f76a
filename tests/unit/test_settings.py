from pathlib import Path

import pytest

from config.errors import Problem
from config.settings import settings


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


def test_a_file_named_env_is_read_and_the_environment_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / ".env").write_text("DOSSIER_USER=file\nDOSSIER_CALL_SECONDS=7\nOTHER=1\n")
    monkeypatch.setenv("DOSSIER_USER", "shell")

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
