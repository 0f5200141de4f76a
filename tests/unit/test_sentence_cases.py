"""Sentences of one's own can be put before the checks of a report, and before a second reader."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evals.openai_server import Server, text_answer
from evals.sentences import measuring, read_again

PAGE = "Ada Lind built the first mill on the river Oker in 1804. Tomas Brandt sold it to the town."
TRUE = "Ada Lind put up the first mill on the Oker in 1804 [S1]."
SWAPPED = "Tomas Brandt built the first mill on the river Oker in 1804 [S1]."
PARAPHRASED = "Having come into the hands of Brandt, it passed to municipal ownership [S1]."


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file of two right sentences and a wrong one."""
    file = tmp_path / "cases.jsonl"
    lines = [_case("right", False, TRUE), _case("names", True, SWAPPED)]
    lines.append(_case("reworded", False, PARAPHRASED))
    file.write_text("\n".join(lines), "utf-8")
    return file


def _case(kind: str, wrong: bool, said: str) -> str:
    same = {"texts": {"S1": PAGE}, "titles": {"S1": "The mills of the Oker"}, "language": "en"}
    return json.dumps({"kind": kind, "wrong": wrong, "body": said, "said": said, **same})


def test_the_table_counts_sentences_of_ones_own(own: Path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["sentences", "--cases", str(own), "--json"])
    measuring.main()
    kinds = json.loads(capsys.readouterr().out)["kinds"]
    assert [(one["kind"], one["all"]) for one in kinds] == [
        ("right", 1),
        ("names", 1),
        ("reworded", 1),
    ]


def test_a_reader_judges_each_report_in_one_call(own: Path, monkeypatch, capsys):
    with Server([{"schema": "Checks", "reply": _fair}]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "scripted")
        monkeypatch.setenv("DOSSIER_MODEL", "openai:gpt-4o")
        monkeypatch.setattr("sys.argv", ["read_again", "--cases", str(own)])
        read_again.main()
        assert len(server.log) == 1
    rows = {line[:24].strip(): line.split()[-1] for line in capsys.readouterr().out.splitlines()}
    assert rows["wrong, unmarked"] == "0"
    assert rows["right, marked or removed"] == "0"


def _fair(body: dict[str, Any]) -> dict[str, Any]:
    """Uphold what is right, and contradict the swapped name."""
    shown = re.findall(
        r'<sentence id="(\d+)"[^>]*>\s*(.*?)\s*</sentence>', text_answer(body["messages"][-1])
    )
    wrong = SWAPPED.split(" [")[0]
    return {
        "verdicts": [
            {"sentence": int(number), "verdict": "contradicted" if wrong in said else "supported"}
            for number, said in shown
        ]
    }
