"""The files in deploy/ name what is there: roles, settings, units and each other."""

from __future__ import annotations

import configparser
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.aegra_server import ROLES
from app.cli.command_table import COMMANDS

FOLDER = Path(__file__).parents[2] / "deploy"
UNITS = sorted((FOLDER / "systemd").glob("*.service"))
KNOWN = "".join(
    (FOLDER.parent / name).read_text()
    for name in (".env.example", "docs/configuration.md", "docs/deployment.md")
)


def compose() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text())


def check_command(words: list[str]) -> None:
    program, first = Path(words[0]).name, words[1]
    assert first in (ROLES if program == "dossier-server" else COMMANDS), words


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_starts_a_command_that_there_is_as_its_own_user(unit: Path):
    read = configparser.RawConfigParser(strict=False)
    read.optionxform = str  # type: ignore[method-assign,assignment]
    read.read_string(unit.read_text())
    service = read["Service"]

    check_command(shlex.split(service["ExecStart"]))
    assert service["User"] == "dossier"
    assert service["EnvironmentFile"] == "/etc/dossier/dossier.env"


def test_the_services_of_compose_start_commands_that_there_are():
    ours = [one for one in compose()["services"].values() if one["image"] == "dossier"]

    assert len(ours) == 4
    for one in ours:
        check_command([*one.get("entrypoint", ["dossier-server"]), *one["command"]])


def test_what_compose_waits_for_and_stores_is_defined():
    read = compose()
    for one in read["services"].values():
        for name, needed in one.get("depends_on", {}).items():
            asked = read["services"][name]
            assert needed["condition"] != "service_healthy" or "healthcheck" in asked
        for volume in one.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in read["volumes"] or (FOLDER / source).exists()


def test_the_variables_of_the_example_are_documented():
    example = (FOLDER / "dossier.env.example").read_text()
    named = re.findall(r"^(?:# )?([A-Z][A-Z_]+)=", example, re.M)

    assert "DOSSIER_AUTH" in named
    for name in named:
        assert name in KNOWN, name


def test_the_proxy_is_given_what_its_file_asks_for():
    asked = set(re.findall(r"\{\$([A-Z_]+)\}", (FOLDER / "Caddyfile").read_text()))

    assert asked == set(compose()["services"]["proxy"]["environment"])
