"""What of a folder is not for reading."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.folder_ingestion import ingest_folder

pytestmark = pytest.mark.usefixtures("database")


async def test_a_name_that_is_no_text_does_not_keep_the_others_from_being_read(tmp_path: Path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nBees dance.")
    os.close(os.open(os.fsencode(folder) + b"/bad\xff.md", os.O_CREAT))

    library = await ingest_folder("me/", folder, lambda _: None)

    assert library.files == 1


async def test_a_report_of_ours_does_not_become_a_source(tmp_path: Path):
    folder = tmp_path / "docs"
    (folder / "reports" / "r1").mkdir(parents=True)
    (folder / "pond.md").write_text("# Pond\n\nThe pond has nine carp.")
    (folder / "reports" / "r1" / "report.md").write_text("# Carp\n\nThe pond has nine carp.")
    (folder / "reports" / "r1" / "report.html").write_text("<p>The pond has nine carp.</p>")

    library = await ingest_folder("me/", folder, lambda _: None)

    assert library.files == 1
