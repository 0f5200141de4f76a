"""Measure whether the passages that a step is given hold the paragraph that answers it, whole.

Run `python -m benchmarks.prompt_passages --documents /usr/share/doc`. `passages.jsonl` names
paragraphs of manuals by how they begin, each with a step and a query that it answers; the manuals
are those of the Debian packages bc, bzip2-doc, fontconfig, libexpat1-dev, ninja-build, nodejs,
python3, shared-mime-info, time and xtrans-dev. A label whose document is not there is left out.
`single` searches for the query of a step, `vague` for its description, and `wide` for the titles of
four steps of one document at once.

`passages_open.jsonl` and `passages_sealed.jsonl` are labelled paragraphs of more manuals, in
English and Chinese: of the Debian packages debian-reference-zh-cn, git-doc, maint-guide-zh-cn,
nettle-dev, postgresql-doc-15, rsyslog-doc, sqlite3-doc and valgrind, which need not be installed,
only unpacked below a folder. Nothing is fitted to the sealed ones. `--embeddings` names an
embedder.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import select

from config.resources import replace_resources
from evals.extractive import read_lines
from graph.context import Context
from library.tables import documents, pages
from prompts.data_blocks import render_pages_block
from runs.call_site import CallSite
from storage.engine import close_database, read_rows
from text.tokens import count_tokens
from tools.evidence import gather_evidence
from tools.folder_ingestion import ingest_folder

LABELS = Path(__file__).with_name("passages.jsonl")
OWNER = "eval/"
WIDE = 4
MODES = ("single", "vague", "wide")


class _Label(NamedTuple):
    """A step, and the paragraph of a document that answers it."""

    document: str
    title: str
    description: str
    query: str
    paragraph: str


class _Result(NamedTuple):
    """What became of the steps of a mode."""

    whole: int
    cut: int
    labels: int
    tokens: float
    """For each step."""
    off: float
    """The share of tokens on other documents."""


def main() -> None:
    """Print a row for each mode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--embeddings", default="none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"DOSSIER_HOME": home, "DOSSIER_EMBEDDINGS": options.embeddings}
        replace_resources().close()
        results = asyncio.run(_measure(options.documents, options.labels))
    print("mode    labels  whole    cut  tokens  off the document")
    for mode, one in results.items():
        shares = f"{one.whole / one.labels:6.1%} {one.cut / one.labels:6.1%}"
        print(f"{mode:8}{one.labels:6} {shares} {one.tokens:7.0f} {one.off:10.1%}")


async def _measure(folder: Path, labels: Path) -> dict[str, _Result]:
    """Read the documents of the labels and measure every mode."""
    wanted = [one for one in read_lines(labels) if (folder / one["document"]).is_file()]
    roots = {}
    for name in dict.fromkeys(one["document"] for one in wanted):
        roots[name] = (await ingest_folder(OWNER, folder / name, lambda _: None)).root
    texts = await _texts()
    found = [_label(one, paragraph) for one in wanted for paragraph in _of(one, folder, texts)]
    try:
        return {mode: await _mode(mode, found, roots) for mode in MODES}
    finally:
        await close_database()


def _label(one: Mapping[str, str], paragraph: str) -> _Label:
    return _Label(one["document"], one["title"], one["description"], one["query"], paragraph)


async def _texts() -> dict[str, list[str]]:
    """Return the texts of the pages of each file by its path."""
    both = select(documents.c.path, pages.c.text).where(pages.c.origin == documents.c.sha256)
    texts = defaultdict(list)
    for row in await read_rows(both):
        texts[row.path].append(row.text)
    return texts


def _of(one: Mapping[str, str], folder: Path, texts: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the paragraph of a label, without what stands before its beginning."""
    its = texts.get(str((folder / one["document"]).resolve()), [])
    paragraphs = (_flat(part) for text in its for part in re.split(r"\n\s*\n", text))
    begins = _flat(one["begins"])
    return [part[part.index(begins) :] for part in paragraphs if begins in part][:1]


async def _mode(mode: str, labels: Sequence[_Label], roots: Mapping[str, str]) -> _Result:
    whole = cut = tokens = off = 0
    steps = [*_steps(mode, labels)]
    for number, step in enumerate(steps):
        about = "\n".join(f"{one.title}: {one.description}" for one in step)
        asked = {"single": step[0].query, "vague": step[0].description}
        queries = [asked[mode]] if mode in asked else [one.title for one in step]
        place = CallSite(OWNER, f"{mode}{number}", f"{mode}{number}-1", "s1", "0")
        context = Context(files=sorted(roots.values()))
        found = await gather_evidence(place, context, queries, about=about, web=False)
        shown = render_pages_block(found.passages, found.sources)
        tokens += count_tokens(shown)
        off += sum(
            count_tokens(one["text"])
            for one in found.passages
            if not found.sources[one["source"]]["location"].startswith(roots[step[0].document])
        )
        states = [_state(_flat(shown), one.paragraph) for one in step]
        whole += states.count("whole")
        cut += states.count("cut")
    return _Result(whole, cut, len(labels), tokens / len(steps), off / tokens)


def _steps(mode: str, labels: Sequence[_Label]) -> Iterator[list[_Label]]:
    """Yield the labels that one step is about."""
    size = WIDE if mode == "wide" else 1
    for name in dict.fromkeys(one.document for one in labels):
        its = [one for one in labels if one.document == name]
        yield from (its[at : at + size] for at in range(0, len(its), size))


def _state(shown: str, paragraph: str) -> str:
    """Tell whether a paragraph is shown whole, cut, or not at all."""
    if paragraph in shown:
        return "whole"
    sentences = re.split(r"(?<=[.!?:])\s", paragraph)
    return "cut" if any(len(one) > 25 and one in shown for one in sentences) else "missing"


def _flat(text: str) -> str:
    return " ".join(text.replace("**", "").split())


if __name__ == "__main__":
    main()
