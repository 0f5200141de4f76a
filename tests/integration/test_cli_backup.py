"""A home is backed up by one command, and restored into another home by a second one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import WHO, Forks, Place

pytestmark = pytest.mark.integration


def test_another_home_has_everything_after_a_restore(place: Place, tmp_path: Path, forks: Forks):
    asked = forks.run(place, "ask", WHO, "--docs", "bees", "--yes", "--json")
    written = forks.run(place, "backup", "all.backup", "--json")
    file, other = str(place.folder / "all.backup"), Place(tmp_path)

    checked = forks.run(other, "restore", "--check", file)
    restored = forks.run(other, "restore", file, "--json")
    again = forks.run(other, "restore", file, "--json")

    assert written.status == 0, written.err
    assert checked.out.startswith("It is whole: ")
    assert restored.told["restored"]
    assert restored.told["rows"] == written.told["rows"] > 10
    assert (again.status, again.told["error"]["code"]) == (5, "home_not_empty")
    runs = [forks.run(one, "runs", "--json").told for one in (place, other)]
    assert runs[0] == runs[1]
    assert asked.told["run"] in str(runs[0])
    found = [forks.run(one, "search", "waggle dance", "--json").told for one in (place, other)]
    assert found[0] == found[1] != []
