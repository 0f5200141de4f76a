"""Every module that defines tables is registered by name."""

from __future__ import annotations

import re
from pathlib import Path

from storage.tables import TABLE_MODULES

ROOT = Path(__file__).parents[2]
OUTSIDE = frozenset(["tests", "benchmarks", "build", "dist"])


def test_every_module_that_defines_tables_is_registered():
    defining = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for room in ROOT.iterdir()
        if room.is_dir() and room.name not in OUTSIDE and not room.name.startswith(".")
        for path in room.rglob("*.py")
        if re.search(r"^\w+ = (?:sa\.)?Table\($", path.read_text("utf-8"), re.MULTILINE)
    }

    assert defining == {*TABLE_MODULES, "storage.tables"}
