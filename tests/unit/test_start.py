"""What starts the command: modules are imported while the garbage collector rests."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

from app.cli import main, start
from config.garbage_collection import THRESHOLDS


@pytest.fixture
def _importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    thresholds = gc.get_threshold()
    (tmp_path / "restful.py").write_text("import gc\nrested = not gc.isenabled()\n")
    (tmp_path / "broken.py").write_text("raise KeyError('gone')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("restful", None)
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("_importable")
def test_nothing_is_collected_while_a_module_is_imported_and_it_is_spared_afterwards():
    before = gc.get_freeze_count()

    assert start.import_frozen("restful").rested
    assert gc.isenabled()
    assert gc.get_freeze_count() > before
    assert gc.get_threshold() == THRESHOLDS


@pytest.mark.usefixtures("_importable")
def test_the_collector_works_again_after_an_import_that_failed():
    with pytest.raises(KeyError):
        start.import_frozen("broken")

    assert gc.isenabled()


def test_no_plugins_of_pydantic_are_looked_for_unless_the_person_wants_some(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(main, "main", lambda: None)
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    thresholds = gc.get_threshold()
    start.main()
    ours = os.environ.pop("PYDANTIC_DISABLE_PLUGINS")
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", "logfire-plugin")
    start.main()

    assert ours == "__all__"
    assert os.environ["PYDANTIC_DISABLE_PLUGINS"] == "logfire-plugin"
    gc.unfreeze()
    gc.set_threshold(*thresholds)
