"""Measure how well code finds contradictions between sources.

Run `python -m evals.source_contradictions FOLDER …`.
Each folder has a `corpus.jsonl` and a `queries.jsonl` as `dossier eval retrieval` reads them. Gold
paragraphs of one question and paragraphs with one title do not contradict each other, so that what
is found between them is a false alarm. Then a number, a year or a negation is changed by code in a
copy of a paragraph, once word for word and once with other words around it; what of that is found
is the recall.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from evals.datasets import CorpusEntry, read_corpus, read_questions
from graph.records import Source, SourceContradiction
from report.contradictions import find_contradictions
from text.regex import regex
from text.sentences import split_sentences

WINDOW = 40
"""How many paragraphs are compared at once, as many as a run may cite."""

MOST_TITLED = 8
"""How many paragraphs of one title are compared."""

_YEAR = regex(r"(?<![\d.,/-])(1[0-9]\d\d|20\d\d)(?![\d,/-]*\d|\.\d|%)")
_NUMBER = regex(r"(?<![\w.,/:-])(\d{2,3})(?= (?!century)[a-z]{3,}|[%米人公個个座名家])")
_VERB = regex(r"\b(is|was|are|were)\b(?! not)|(?<=[^不])是(?!否)")
_OTHER_WORDS = {
    "built": "constructed",
    "located": "situated",
    "began": "started",
    "made": "produced",
    "also": "",
    "however": "",
    "very": "",
    "large": "big",
    "famous": "well-known",
    "best known": "known",
    "which": "that",
    "位於": "坐落於",
    "位于": "坐落于",
    "著名": "知名",
}
_PARENTHESIS = regex(r"\s?[(（][^()（）]{0,120}[)）]")


class Figures(NamedTuple):
    """What was found in one collection."""

    name: str
    pairs: int
    false_alarms: int
    planted: dict[str, list[int]]
    """By kind: how many contradictions were planted, and how many of them were found."""


def list_groups(folder: Path) -> list[list[CorpusEntry]]:
    """Return the paragraphs that are compared: those of a question, of a title, and of a window."""
    corpus = read_corpus(folder / "corpus.jsonl")
    questions = read_questions(folder / "queries.jsonl", corpus)
    by_id = {entry.id: entry for entry in corpus}
    titled: dict[str, list[CorpusEntry]] = defaultdict(list)
    for entry in corpus:
        titled[entry.title].append(entry)
    groups = [[by_id[name] for name in dict.fromkeys(one.gold)] for one in questions]
    groups += [entries[:MOST_TITLED] for entries in titled.values()]
    groups += [corpus[at : at + WINDOW] for at in range(0, len(corpus), WINDOW)]
    different = {frozenset(entry.id for entry in group): group for group in groups}
    return [group for group in different.values() if len(group) > 1]


def compare_entries(entries: Sequence[CorpusEntry]) -> list[SourceContradiction]:
    """Return the contradictions between paragraphs, each taken for a document of its own."""
    sources = {
        entry.id: Source(
            id=entry.id,
            page=entry.id,
            title=entry.title,
            location=f"https://{at}.example/{entry.id}",
            kind="web",
        )
        for at, entry in enumerate(entries)
    }
    return find_contradictions({entry.id: entry.text for entry in entries}, sources)


def plant(entry: CorpusEntry, beside: CorpusEntry) -> Iterator[tuple[str, CorpusEntry]]:
    """Yield copies of a paragraph with one contradiction each, among sentences of another one."""
    done: set[str] = set()
    for sentence in (one.text for one in split_sentences(entry.text)):
        for kind, changed in _contradict(sentence):
            if kind in done:
                continue
            done.add(kind)
            copy = entry.text.replace(sentence, changed)
            yield kind, entry._replace(id="planted", text=copy)
            reworded = f"{_reword(changed)}\n\n{beside.text}"
            yield f"{kind}, reworded", entry._replace(id="planted", text=reworded)


def _contradict(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield a sentence with one value changed, or denied, by the kind of the change."""
    years = _YEAR.findall(sentence)
    if len(set(years)) == 1:
        yield "year", sentence.replace(years[0], str(int(years[0]) - 7))
    if number := _NUMBER.search(sentence):
        changed = str(int(number[1]) + 23)
        yield "number", sentence[: number.start(1)] + changed + sentence[number.end(1) :]
    if verb := _VERB.search(sentence):
        denied = f"{verb[0]} not" if verb[0].isascii() else "不是"
        yield "negation", sentence[: verb.start()] + denied + sentence[verb.end() :]


def _reword(sentence: str) -> str:
    sentence = _PARENTHESIS.sub("", sentence)
    for word, other in _OTHER_WORDS.items():
        bounds = r"\b" if word.isascii() else ""
        sentence = re.sub(rf"{bounds}{word}{bounds}", other, sentence)
    return " ".join(sentence.split())


def measure(folder: Path, *, show: bool = False) -> Figures:
    """Return the figures of one collection."""
    pairs: set[frozenset[str]] = set()
    alarms: dict[frozenset[str], SourceContradiction] = {}
    for group in list_groups(folder):
        pairs |= {frozenset(pair) for pair in combinations([entry.id for entry in group], 2)}
        for found in compare_entries(group):
            alarms.setdefault(frozenset((found["one_says"], found["other_says"])), found)
    if show:
        _show(alarms.values())
    return Figures(folder.name, len(pairs), len(alarms), _measure_planted(folder, show=show))


def _measure_planted(folder: Path, *, show: bool) -> dict[str, list[int]]:
    corpus = read_corpus(folder / "corpus.jsonl")
    planted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for at, entry in enumerate(corpus[:1000]):
        beside = corpus[-1 - at]
        for kind, copy in plant(entry, beside):
            found = compare_entries([entry, copy])
            planted[kind][0] += 1
            planted[kind][1] += bool(found)
            if show and not found and at < 60:
                sys.stdout.write(f"missed {kind}: {entry.text[:150]}\n    {copy.text[:150]}\n")
    return dict(planted)


def _show(alarms: Iterable[SourceContradiction]) -> None:
    for one in alarms:
        says = f"{one['one_says']}\n    {one['other_says']}"
        sys.stdout.write(f"false {one['reason']} ({one['about']}): {says}\n")


def render_figures(figures: Sequence[Figures]) -> str:
    """Return the figures as lines of text."""
    lines = []
    for one in figures:
        lines.append(f"{one.name}: {one.false_alarms} false alarms in {one.pairs} pairs")
        for kind, (planted, found) in sorted(one.planted.items()):
            lines.append(f"  {kind}: {found} of {planted} found ({found / planted:.0%})")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Print the figures of the folders; with `--show` also what was found and missed."""
    show = "--show" in arguments
    folders = [Path(one) for one in arguments if one != "--show"]
    sys.stdout.write(render_figures([measure(one, show=show) for one in folders]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
