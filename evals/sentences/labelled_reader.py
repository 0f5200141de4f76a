"""Put sentences that the checks cannot tell to be wrong before a second reader, in whole runs.

`python -m evals.sentences.labelled_reader --data ../shared/data`: of the benchmark's sentences
(`evals/sentences`), wrong ones that the checks leave unmarked and as many right ones are each
written by a scripted model in a run of its own, over the page they are about. The second reader of
the report (`nodes/checker.py`) is played by the benchmark's own labels: by one that always knows
them, by others that are mistaken at a stated rate, and by one that passes everything. This shows
that a verdict reaches the report, and what a reader of such a quality would leave; it says nothing
of how good any model is as a reader.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from config.resources import replace_resources
from evals.openai_server import Json, Rule, Server, text_answer
from evals.sentences.made import LabelledSentence
from evals.sentences.measuring import judge_sentence, make_cases, strip_markers
from graph.context import Context
from graph.session import open_session
from runs.call_site import join_owner
from tools.folder_ingestion import ingest_folder

READERS = (None, 0.0, 0.1, 0.2)
"""How often each reader says the opposite of what it knows; None passes everything."""

_ID = re.compile(r'<page id="(S\d+)"')
_NUMBER = re.compile(r'<sentence id="(\d+)"')
_MARK = re.compile(r"[\[【(]\^?S[\dX]+(?:, S\d+)*[\]】)]")


class _Told(NamedTuple):
    """What became of the sentence of one case in a whole run."""

    wrong: bool
    printed: bool
    """Whether the report says it and does not doubt it."""


def main() -> None:
    """Choose the sentences, run each before every reader, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=["tuning", "held-out"], default="tuning")
    parser.add_argument("--cases", type=int, default=20, help="wrong sentences, and right ones")
    parser.add_argument("--each", type=int, default=30, help="how many of a kind to choose from")
    options = parser.parse_args()
    chosen = _choose(options.data, options.half, options.cases, options.each)
    with tempfile.TemporaryDirectory() as home, Server() as server:
        os.environ |= {
            "DOSSIER_HOME": home,
            "DOSSIER_MODEL": "openai:gpt-4o",
            "LANGSMITH_TRACING": "false",
            "OPENAI_API_KEY": "scripted",
            "OPENAI_BASE_URL": server.url,
        }
        replace_resources().close()
        asyncio.run(_table(chosen, server, Path(home)))


async def _table(chosen: Sequence[LabelledSentence], server: Server, home: Path) -> None:
    """Print for each reader how many sentences are printed, wrong ones and right ones."""
    print("reader                   wrong printed unmarked   right printed")
    for share in READERS:
        told = await _judged(chosen, share, server, home)
        wrong = [one.printed for one in told if one.wrong]
        right = [one.printed for one in told if not one.wrong]
        name = "passes everything" if share is None else f"errs at {share:.0%}"
        print(f"{name:24} {sum(wrong):4} of {len(wrong):<16} {sum(right):4} of {len(right)}")


def _choose(data: Path, half: str, count: int, each: int) -> list[LabelledSentence]:
    """Return wrong sentences that the checks leave unmarked, and as many right ones."""
    chance = Random(1)
    cases = [case for case in make_cases(data, half, each, 1) if _is_plain(case)]
    wrong = [case for case in cases if case.wrong and judge_sentence(case).failed]
    right = [case for case in cases if not case.wrong and case.kind == "copied"]
    return [one for group in (wrong, right) for one in chance.sample(group, min(count, len(group)))]


def _is_plain(case: LabelledSentence) -> bool:
    """Tell whether a sentence is about one page."""
    return case.said.count("[") == 1 and "[S1]" in case.said


async def _judged(
    cases: Sequence[LabelledSentence], mistaken: float | None, server: Server, home: Path
) -> list[_Told]:
    """Run each case before a reader that is mistaken so often; None passes everything."""
    chance, told = Random(2), []
    for number, case in enumerate(cases):
        errs = mistaken is not None and chance.random() < mistaken
        server.replace(_rules(case, passes=mistaken is None or case.wrong == errs))
        thread = f"j{number}-{'all' if mistaken is None else round(100 * mistaken)}"
        told.append(await _run(case, _folder(case, home, thread), thread))
    return told


def _folder(case: LabelledSentence, home: Path, thread: str) -> Path:
    folder = home / thread
    folder.mkdir()
    (folder / "page.md").write_text(f"# {_title(case)}\n\n{case.texts['S1']}\n", "utf-8")
    return folder


async def _run(case: LabelledSentence, folder: Path, thread: str) -> _Told:
    # Everybody is somebody else, so that no run remembers another one.
    library = await ingest_folder(join_owner(thread, ""), folder, lambda _: None)
    context = Context(user=thread, auto_accept=True, files=[library.root])
    async with open_session(thread) as opened:
        ended = await opened.begin(f"What is said of {_title(case)}?", context, lambda _: None)
    report = ended.state["report"]
    said = strip_markers(_MARK.sub("", case.said))
    doubted = any(said in strip_markers(one["text"]) for one in report["doubted"])
    return _Told(case.wrong, said in strip_markers(report["body"]) and not doubted)


def _rules(case: LabelledSentence, *, passes: bool) -> list[Rule]:
    """Return what the model answers: step and report say the sentence, the reader judges it."""
    title, said = _title(case), _MARK.sub("[{}]", case.said)
    steps = [{"title": title, "description": f"What is said of {title}.", "queries": [title, said]}]

    def research(body: Json) -> str:
        source = _ID.search(text_answer(body["messages"][-1]))
        return said.format(source[1] if source else "S1")

    def checks(body: Json) -> dict[str, Any]:
        numbers = [int(one) for one in _NUMBER.findall(text_answer(body["messages"][-1]))]
        verdict = "supported" if passes else "contradicted"
        return {"verdicts": [{"sentence": one, "verdict": verdict} for one in numbers]}

    def report(body: Json) -> str:
        found = re.search(
            r"<finding [^>]*>\n?(.*?)</finding>", text_answer(body["messages"][-1]), re.S
        )
        return re.sub(r"<doubted>.*?</doubted>", "", found[1], flags=re.S) if found else ""

    return [
        {"schema": "Triage", "reply": {"research": True, "reply": ""}},
        {"schema": "Rewrite", "reply": {"question": f"What of {title}?", "queries": [title]}},
        {"schema": "Draft", "reply": {"title": title, "thought": "One step.", "steps": steps}},
        {"schema": "Verdict", "reply": {"passed": True}},
        {"schema": "Enough", "reply": {"enough": True, "missing": []}},
        {"schema": "Checks", "reply": checks},
        {"match": "<step", "reply": research},
        {"match": "<findings>", "reply": report},
    ]


def _title(case: LabelledSentence) -> str:
    return case.titles["S1"] or "this page"


if __name__ == "__main__":
    main()
