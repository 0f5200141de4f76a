from pathlib import Path

import pytest

from config.errors import Problem
from config.model_table import MODEL_ROLES, call_price, load_model_table


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write the operator's own table of models."""

    def write(text: str | bytes) -> Path:
        file = tmp_path / "mine.toml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        monkeypatch.setenv("DOSSIER_MODELS", str(file))
        return file

    return write


def test_the_table_that_ships_names_a_model_for_every_role():
    assert ":" in load_model_table().default
    assert set(load_model_table().roles) <= {*MODEL_ROLES, "default"}


def test_the_operators_table_is_read_instead(written):
    written('default = "fake:mine"\n[roles]\nplanner = "fake:other"\n')

    assert (load_model_table().default, load_model_table().roles) == (
        "fake:mine",
        {"planner": "fake:other"},
    )


def test_a_price_is_for_a_million_tokens(written):
    written('default = "a:b"\n[prices]\n"a:b" = [2.0, 8.0]\n')

    assert call_price("a:b", 1_000_000, 500_000) == 6.0
    assert call_price("a:unknown", 1_000_000, 500_000) == 0.0


def test_a_missing_file_is_told_with_its_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOSSIER_MODELS", "/nowhere/models.toml")

    with pytest.raises(Problem, match="no such file") as failure:
        load_model_table()

    assert failure.value.code == "config_not_found"
    assert failure.value.where == "/nowhere/models.toml"


def test_a_folder_is_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("DOSSIER_MODELS", str(tmp_path))

    with pytest.raises(Problem) as failure:
        load_model_table()

    assert failure.value.code == "config_not_found"


@pytest.mark.parametrize("text", ["default = \n", "[roles\n", b'default = "\xff"', '"list"'])
def test_a_file_that_is_no_toml_is_told_with_its_name(written, text: str | bytes):
    file = written(text)

    with pytest.raises(Problem) as failure:
        load_model_table()

    assert (failure.value.code, failure.value.where) == ("config_syntax", str(file))


def test_a_mistake_in_the_syntax_is_told_with_line_and_column(written):
    written('default = "a:b"\nfallback == 3\n')

    with pytest.raises(Problem, match="line 2, column 11"):
        load_model_table()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "default"),
        ("default = 3", "default"),
        ('default = "a:b"\ndefalt = "c:d"', "defalt"),
        ('default = "a:b"\nroles = ["planner"]', "roles"),
        ('default = "a:b"\n[roles]\nplanner = 5', "roles.planner"),
        ('default = "a:b"\n[prices]\n"a:b" = [1.0]', "prices.a:b"),
        ('default = "a:b"\n[prices]\n"a:b" = [nan, 1.0]', "prices.a:b.0"),
        ('default = "a:b"\n[prices]\n"a:b" = [1.0, -1.0]', "prices.a:b.1"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_its_place(written, text: str, place: str):
    file = written(text)

    with pytest.raises(Problem) as failure:
        load_model_table()

    assert failure.value.code == "config_value"
    assert failure.value.where.startswith(f"{file}: {place}")


def test_a_role_nobody_plays_is_refused_with_the_roles_there_are(written):
    written('default = "a:b"\n[roles]\nplaner = "a:b"')

    with pytest.raises(Problem, match="planer") as failure:
        load_model_table()

    assert failure.value.code == "unknown_role"
    assert "planner" in failure.value.hint
