"""Who is asked whether something shall be forgotten may say no in any way there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.command import DOSSIER, Forks, Place

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("typed", ["n\n", "\n", "\x04", "\x03"])
@pytest.mark.parametrize("as_json", [False, True])
def test_nothing_is_forgotten_unless_somebody_says_yes(
    tmp_path: Path, forks: Forks, typed: str, as_json: bool
):
    place = Place(tmp_path)
    fact = forks.run(place, "memory", "add", "My locker stands in hall 774102", "--json").told["id"]

    with forks.terminal(place, "memory", "forget", fact, *["--json"] * as_json) as terminal:
        terminal.wait_for("Forget 1 fact? It cannot be undone. [y/N] ")
        if typed == "\x03":
            assert terminal.interrupt() == 130
        else:
            terminal.type(typed)
            assert terminal.end() == 0
        last = terminal.screen.splitlines()[-1]

    assert "error" not in terminal.screen
    if typed != "\x03":
        nothing = {"forgotten": 0, "ids": []}
        assert (json.loads(last) == nothing) if as_json else (last == "Nothing is forgotten.")
    assert len(forks.run(place, "memory", "list", "--memory", "facts", "--json").told) == 1


def test_what_is_asked_stands_in_no_document(tmp_path: Path, forks: Forks):
    place = Place(tmp_path)
    fact = forks.run(place, "memory", "add", "My locker stands in hall 774102", "--json").told["id"]
    command = ["sh", "-c", f"exec {DOSSIER} memory forget {fact} --json > told.json"]

    with place.sit_down(command) as terminal:
        terminal.wait_for("[y/N] ")
        terminal.type("y\n")
        assert terminal.end() == 0

    assert json.loads((place.folder / "told.json").read_text())["facts"] == 1
