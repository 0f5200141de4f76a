"""Several processes edit one AGENTS.md at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.memory_file_writer import EditCounts, kill_editors, side_by_side

pytestmark = pytest.mark.integration

GOOD = EditCounts(lost=0, doubled=0, torn=False)


def test_of_eight_processes_that_edit_one_file_none_loses_an_edit(tmp_path: Path):
    assert side_by_side(tmp_path, writers=8, edits=10) == GOOD


def test_a_kill_costs_no_edit_that_was_told_of_and_tears_no_file(tmp_path: Path):
    assert kill_editors(tmp_path, kills=5) == GOOD
