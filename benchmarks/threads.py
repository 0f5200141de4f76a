"""Measure a long thread: many questions in one conversation, four steps and 10 KB of report each.

`python -m benchmarks.threads --turns 41`: for each turn the megabytes that the checkpoints have
more than before, the size of their file, the largest request to a model, the seconds of processor
time and how many checkpoints there are. The model answers at once with sentences of the pages that
it is shown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from config.resources import replace_resources
from config.settings import settings
from graph.context import Context
from graph.session import open_session
from models.chat_models import chat_model_providers
from runs.call_site import join_owner
from tools.folder_ingestion import ingest_folder

STEPS = 4
PLACES = 60
SIDES = ("climate", "harbour", "railway", "market", "library", "festival", "bridge", "school")

SIZES: list[int] = []
"""How many bytes each request of a turn has."""

_SENTENCE = re.compile(r"In the town of Place\d+ [^.\n]*\.")
_CITED = re.compile(r"(In the town of Place\d+ [^.\n\[]*) (\[S\d+\])\.")
_SIDE = re.compile(r"<step.*?The (\w+) of Place", re.DOTALL)
_PAGE = re.compile(r'<page id="(S\d+)".*?</page>', re.DOTALL)

PRAGMAS = ("page_count", "freelist_count", "page_size")


class _Turn(NamedTuple):
    """What one question left, and what it took."""

    more: float
    """The megabytes in use that the checkpoints have more than before."""
    file: float
    """The megabytes of their file."""
    request: float
    """The kilobytes of the largest request to a model."""
    seconds: float
    """The seconds of processor time."""
    report: float
    """The kilobytes of the answer."""
    saved: int
    """How many checkpoints there are."""


class _Writer(BaseChatModel):
    """Answers every role at once, at length where a text is asked for."""

    @property
    def _llm_type(self) -> str:
        return "writer"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Take the tools and use none."""
        return self.bind(**kwargs)

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        SIZES.append(sum(len(str(message.text).encode()) for message in messages))
        form = kwargs.get("response_format", {}).get("json_schema", {}).get("name")
        said = json.dumps(_structured(form, messages)) if form else _prose(str(messages[-1].text))
        message = AIMessage(said, response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=message)])


def _structured(form: str, messages: list[BaseMessage]) -> dict[str, Any]:
    """Return what the model answers where a form is asked for."""
    places = re.findall(r"Place\d+", str(messages[-1].text)) or ["Place1"]
    place = places[-1]
    steps = [
        {
            "title": f"The {side} of {place}",
            "description": f"Find out about the {side}.",
            "queries": [f"{side} {place}", f"counted {side} {place}"],
        }
        for side in SIDES[:STEPS]
    ]
    forms: dict[str, dict[str, Any]] = {
        "Triage": {"research": True, "reply": ""},
        "Rewrite": {"question": f"What is known of {place}?", "queries": [place, f"{place} town"]},
        "Draft": {"title": place, "thought": "By side.", "steps": steps},
        "Verdict": {"passed": True, "feedback": "", "queries": []},
        "Enough": {"enough": True, "missing": []},
        "Checks": {"verdicts": []},
    }
    return forms.get(form, {})


def _prose(prompt: str) -> str:
    """Return the sentences of the pages or findings of a prompt with what they are from."""
    if "<step" not in prompt and "<findings>" in prompt:
        findings = prompt.split("<findings>")[1].split("</findings>")[0]
        cited = [f"{one} {id}." for one, id in _CITED.findall(findings)]
    else:
        pages = [(page[1], page[0]) for page in _PAGE.finditer(prompt)]
        cited = [f"{one[:-1]} [{id}]." for id, page in pages for one in _SENTENCE.findall(page)]
    side = _SIDE.search(prompt)
    kept = [one for one in dict.fromkeys(cited) if side is None or f"the {side[1]} was" in one]
    return "\n\n".join(" ".join(kept[at : at + 5]) for at in range(0, len(kept), 5)) or "Unknown."


def main() -> None:
    """Print a line for each turn and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=41)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DOSSIER_HOME": f"{folder}/home", "LANGSMITH_TRACING": "false"}
        replace_resources().close()
        made = asyncio.run(_asked(Path(folder, "docs"), turns))
    print("turn  MB more  MB file  request kB  cpu s  report kB  checkpoints")
    for number, turn in enumerate(made, start=1):
        print(
            f"{number:4} {turn.more:8.3f} {turn.file:8.2f} {turn.request:11.1f} {turn.seconds:6.2f}"
            f" {turn.report:10.1f} {turn.saved:12}"
        )
    print(f"all  {sum(turn.more for turn in made):8.3f} MB of checkpoints")


async def _asked(folder: Path, turns: int) -> list[_Turn]:
    _write(folder)
    library = await ingest_folder(join_owner("local", ""), folder, lambda _: None)
    chat_model_providers["writer"] = lambda _: _Writer()
    context = Context(auto_accept=True, models={"default": "writer:any"}, files=[library.root])
    made: list[_Turn] = []
    before = 0.0
    for number in range(1, turns + 1):
        SIZES.clear()
        begun = time.process_time()
        async with open_session("long") as thread:
            asked = f"And what is known of Place{number}, compared with the ones before?"
            outcome = await thread.begin(asked, context, lambda _: None)
        spent = time.process_time() - begun
        live, file, saved = _sizes(settings().checkpoints)
        report = len(str(outcome.state["messages"][-1].text)) / 1e3
        made.append(_Turn(live - before, file, max(SIZES) / 1e3, spent, report, saved))
        before = live
    return made


def _write(folder: Path) -> None:
    """Write a document for each place, of about a thousand words."""
    folder.mkdir()
    for number in range(1, PLACES + 1):
        lines = [f"# Place{number}\n"]
        for at, side in enumerate(SIDES):
            lines.append(f"\n## The {side}\n")
            lines += [
                f"In the town of Place{number} the {side} was counted {n * number + at} times in "
                f"the year {1900 + n}, which the people of the {side} wrote down in a book."
                for n in range(1, 10)
            ]
        (folder / f"place{number}.md").write_text("\n".join(lines), encoding="utf-8")


def _sizes(file: Path) -> tuple[float, float, int]:
    """Return the megabytes in use, those of the file, and the number of checkpoints."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, free, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in PRAGMAS)
        saved = connection.execute("SELECT COUNT(*) FROM checkpoints").fetchone()[0]
    return (pages - free) * size / 1e6, pages * size / 1e6, saved


if __name__ == "__main__":
    main()
