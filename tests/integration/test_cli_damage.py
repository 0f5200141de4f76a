"""Whatever happens to a file of a home, every command ends in a named error or its result."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evals.damage import COMMANDS, DAMAGES, FILES, READERS, damage, environment, furnish, judged
from tests.integration.command import Forks, Place

pytestmark = pytest.mark.integration


def told(place: Place) -> dict[str, str]:
    own = environment(place.folder)
    return {name: own[name] for name in ("DOSSIER_HOME", "DOSSIER_MODELS")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Path:
    """A folder with a home in which everything is there that can be damaged."""
    place = Place(tmp_path_factory.mktemp("whole"))
    shutil.rmtree(place.docs)
    furnish(place.folder, lambda words: forks.run(place, *words, **told(place)))
    assert all((place.folder / file).is_file() for file in FILES.values())
    return place.folder


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("file", FILES)
def test_every_command_that_reads_it_ends_in_a_named_error_or_its_result(
    tmp_path: Path, whole: Path, forks: Forks, file: str, how: str
):
    place = Place(tmp_path / "place")
    wrong = {}
    for name in READERS[file].split():
        shutil.rmtree(place.folder)
        shutil.copytree(whole, place.folder)
        damage(place.folder / FILES[file], how, seed=1)
        done = forks.run(place, *COMMANDS[name], **told(place))
        if judged(done.status, done.err).wrong:
            wrong[name] = (done.status, done.err[-500:])

    assert wrong == {}
