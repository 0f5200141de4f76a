"""A step whose first prompt is too long for its model is read again within what the model reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.session import ThreadSession
from runs.call_site import join_owner
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.model_calls import TOO_LONG
from tools.folder_ingestion import ingest_folder

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Enough", "Checks", "Verdict")


async def test_a_step_that_was_too_long_for_its_model_reads_less(
    thread: ThreadSession, choices: dict[str, object], script: Script, tmp_path: Path
):
    docs = tmp_path / "harbour"
    docs.mkdir()
    tides = "\n\n".join(f"Tide {n} is told of in the book of the harbour." for n in range(1_500))
    (docs / "tides.md").write_text(f"# Tides\n\n{tides}")
    await ingest_folder(join_owner("local", ""), docs, quiet)
    script.on("Draft", draft("tides of the harbour"))
    script.on("researcher", TOO_LONG, "Tide 7 is told of in the book [S1].")
    script.on("reporter", "Tide 7 is told of in the book [S1].")

    outcome = await thread.begin(
        "Where is tide 7 told of?", make(choices, files=[str(docs)], max_reflections=0), quiet
    )

    first, second, *_ = [str(talk) for name, talk in script.asked if name == "researcher"]
    assert len(second) < 0.7 * len(first)
    assert "Tide 7 is told of" in str(outcome.state["messages"][-1].text)
