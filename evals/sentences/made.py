"""Make report sentences of known truth from the pages of data sets, each in a small report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from evals.sentences.names import HAN, asked_sort, chinese_names
from retrieval.text import sentences

SETS = {
    "tuning": {"en": ["hotpotqa"], "zh": ["cmrc2018"]},
    "held-out": {"en": ["2wiki", "musique"], "zh": ["drcd", "rgb_zh_int"]},
}
"""The sets that each half of the benchmark is made from, by language."""

TRIES = 400
"""How many pages are looked at for one sentence of a kind."""


class Page(NamedTuple):
    """A page of a data set, and its sentences that can stand alone."""

    title: str
    text: str
    said: list[str]
    answers: dict[str, str]
    """Names that answer questions about it, which are whole, each with its sort."""


class Case(NamedTuple):
    """A small report, the sentence in it that counts, and its sources."""

    kind: str
    wrong: bool
    language: str
    body: str
    said: str
    """The sentence as it stands in the body."""
    texts: dict[str, str]
    titles: dict[str, str]
    right: str = ""
    """What a wrong sentence would be if it named its source."""
    question: str = ""


class Maker:
    """Makes the cases of one language and one half, the same ones for the same seed."""

    def __init__(self, data: Path, half: str, language: str, seed: int) -> None:
        self.chance = Random(f"{half} {language} {seed}")
        self.language, self.half = language, half
        self.pages = [page for name in SETS[half][language] for page in _pages(data, name)]
        self.words: dict[str, Any] = _words()[language]

    def case(self, kind: str, way: Way, *, wrong: bool) -> Case | None:
        """Make one case of a kind, or none where no page of many serves."""
        for _ in range(TRIES):
            page = self.chance.choice(self.pages)
            made = way(self, page)
            if made:
                return self._framed(kind, page, made, wrong=wrong)
        return None

    def listed(self, name: str) -> list[str]:
        """Return every other one of the sentences of a kind: each half has its own."""
        return list(self.words[name])[self.half == "held-out" :: 2]

    def other(self, page: Page) -> Page:
        """Return some other page."""
        return next(one for one in self.chance.sample(self.pages, 2) if one is not page)

    def names(self, page: Page) -> dict[str, str]:
        """Return names in a page, each with its sort; in Chinese those that are surely whole."""
        if self.language == "zh":
            return chinese_names(page.title, page.text) | page.answers
        capital = r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2}"
        found = dict.fromkeys(re.findall(capital, " ".join(page.said)), "")
        return {name: sort for name, sort in found.items() if name not in self.words["months"]}

    def cited(self, said: str, source: str = "S1") -> str:
        """Return a sentence with a citation before its full stop."""
        stop = said[-1] if said[-1] in ".。" else ""
        space = "" if self.language == "zh" else " "
        return f"{said.removesuffix(stop)}{space}[{source}]{stop or '.'}"

    def _framed(self, kind: str, page: Page, made: Made, *, wrong: bool) -> Case:
        """Put a sentence among others, in a paragraph or a list."""
        others = [made.other or self.other(page), self.other(page), self.other(page)]
        names = ["S1", *self.chance.sample(["S2", "S3", "S4"], 3)]
        texts = dict(
            zip(names, [page.text + made.more, *(one.text for one in others)], strict=True)
        )
        said = made.said.replace("[SX]", f"[{names[1]}]").replace('s="SX"', f's="{names[1]}"')
        beside = self.cited(self.chance.choice(others[1].said), names[2])
        joint = "" if self.language == "zh" else " "
        frame = made.frame or self.chance.choice(
            ["{}", "{}" + joint + beside, beside + joint + "{}", "## A\n\n- {}\n- " + beside]
        )
        titles = dict(zip(names, [page.title, *(one.title for one in others)], strict=True))
        body = frame.format(said)
        return Case(
            *(kind, wrong, made.language or self.language, body, said, texts, titles),
            *(made.right, made.about),
        )


class Made(NamedTuple):
    """A sentence of a kind; `[SX]` in it names a source that does not say it."""

    said: str
    right: str = ""
    frame: str = ""
    about: str = ""
    more: str = ""
    """What its page says besides."""
    other: Page | None = None
    language: str = ""
    """The language of the sentence, where it is not that of its page."""


Way = Callable[[Maker, Page], Made | None]


@cache
def _pages(data: Path, name: str) -> list[Page]:
    lines = (data / name / "corpus.jsonl").read_text("utf-8").splitlines()
    read = (json.loads(line) for line in lines[:4000])
    named = _answers(data / name / "queries.jsonl")
    made = (
        Page(one["title"], one["text"], list(alone(one["text"])), named.get(one["id"], {}))
        for one in read
    )
    return [page for page in made if page.said]


@cache
def _words() -> dict[str, Any]:
    file = Path(__file__).with_name("words.json")
    words: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return words


def _answers(file: Path) -> dict[str, dict[str, str]]:
    """Return by the id of each page the names that answer Chinese questions about it."""
    found: dict[str, dict[str, str]] = {}
    for one in map(json.loads, file.read_text("utf-8").splitlines()):
        sort, answer = asked_sort(one["text"]), one.get("answer")
        if sort and isinstance(answer, str) and re.fullmatch(f"{HAN}{{2,8}}", answer):
            found.setdefault(one["gold"][0], {})[answer] = sort
    return found


def alone(text: str) -> Iterator[str]:
    """Yield the sentences of a text that can stand alone."""
    for span in sentences(text):
        said = span.text
        chinese = bool(re.match("[\u4e00-\u9fff《]", said))
        fits = 14 <= len(said) <= 90 if chinese else 45 <= len(said) <= 260
        ends = (
            said[-1] == "。" if chinese else bool(re.match(r"[A-Z][a-z]", said)) and said[-1] == "."
        )
        if (
            fits
            and ends
            and not re.search(r"[\[\]*`<>|“”「」\"\n…;；&#_^~\\{}=（(]|\S\.[a-z]{2}", said)
        ):
            yield said


def picked(maker: Maker, page: Page) -> str:
    """Return one of the sentences of a page."""
    return maker.chance.choice(page.said)


def rewritten(maker: Maker, said: str) -> str:
    """Return a sentence with other words that mean the same."""
    for old, new in maker.words["synonyms"]:
        bound = r"\b" if maker.language == "en" else ""
        said = re.sub(f"{bound}{old}{bound}", new, said, count=1)
    moved = re.fullmatch(r"((?:In|During|After|Since) [^,]{4,30}), (the \w.*)\.", said)
    if moved:
        said = f"{moved[2][0].upper()}{moved[2][1:]} {moved[1][0].lower()}{moved[1][1:]}."
    return said
