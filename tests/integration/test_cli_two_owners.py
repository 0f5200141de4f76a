"""Two people share a data folder: what one forgets or prunes, the other keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import WHO, Done, Forks, Place

pytestmark = pytest.mark.integration


def command(place: Place, forks: Forks, user: str, *words: str) -> Done:
    return forks.run(place, *words, "--json", DOSSIER_USER=user)


@pytest.mark.parametrize("pruned", [False, True])
def test_what_one_forgets_the_other_still_has(tmp_path: Path, forks: Forks, pruned: bool):
    place = Place(tmp_path)
    said, files = {}, {}
    for user in ("ann", "ben"):
        more = ["--docs", "bees", "--yes", "--out", f"out-{user}", "--thread", user]
        asked = command(place, forks, user, "ask", WHO, *more)
        assert asked.status in (0, 6), asked.err
        command(place, forks, user, "memory", "add", f"{user} keeps bees in Bergen")
        files[user] = (place.folder / f"out-{user}" / "report.md").read_text("utf-8")
        said[user] = command(place, forks, user, "pages", "list").told
    if pruned:
        command(place, forks, "ann", "runs", "prune", "--keep", "0h", "--yes")

    done = command(place, forks, "ann", "pages", "forget", "--origin", "bees", "--yes")

    assert done.status == 0, done.err
    assert (place.folder / "out-ann" / "report.md").read_text("utf-8") != files["ann"]
    assert (place.folder / "out-ben" / "report.md").read_text("utf-8") == files["ben"]
    assert command(place, forks, "ben", "pages", "list").told == said["ben"]
    assert command(place, forks, "ben", "memory", "list", "--memory", "facts").told
    assert command(place, forks, "ben", "runs", "show", "ben-1").status == 0
    assert command(place, forks, "ben", "search", "waggle dance").told
