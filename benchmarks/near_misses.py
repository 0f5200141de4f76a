"""Measure how often something is called an answer to a question that a manual only nearly answers.

Run `python -m benchmarks.near_misses FOLDER…` over folders of manual pages as plain text
(`MANWIDTH=100 man --nh --nj PAGE | col -bx`). From the entries and sentences of each manual it
makes questions that it does not answer: the option of another command (of a sibling, where there is
one), an option of several commands without a command, an option or a setting that is spelt nearly
so, a default that is nowhere given, another verb, what something does not do, a program that is
only mentioned. Each is put to the nearest pages of its folder. All that is called an answer is
printed: most of it is wrong, and some stands elsewhere. "As it stands" asks for the entries
themselves, and shows how many of those are called answers; what these say has to be read.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage

from benchmarks.calibration import file_pages
from evals.extractive import Corpus, index_corpus, make_prompt
from models.extractive.manual_answers import split_term_names
from models.extractive.prompt_parser import PromptFinding, SourceQuote, parse_prompt
from models.extractive.writing import write_finding
from text.manuals import OPTION_PATTERN, find_manual_entries
from text.sentences import split_sentences
from tools.files.formats import find_files

BEGINS = 25
"""An answer is right if it begins with so many characters of the entry."""

SIBLING = 3
"""The names of siblings begin with so many equal letters."""

_NAMED = re.compile(r"(?P<names>[\w.+:-]+(?:, [\w.+:-]+)*) [-–—] ")
"""The title of a manual page: its names, and what it is for."""
_SETTING = re.compile(r"[A-Za-z]{2,}(?:[_-][A-Za-z]+)+$|[A-Z][a-z]+(?:[A-Z][a-z]+)+$")
_PART = re.compile(r"[_-]|(?<=[a-z])(?=[A-Z])")
_SEEN = re.compile(r"\b([a-z][\w.-]{2,})\(\d\w?\)")
_DOES = re.compile(r"^(?:The )?(?P<thing>[\w-]+) (?P<verb>[a-z]{3,}(?<!s)s) (?:the|an?|all)\b")
_VERBS = ("encrypt", "compress", "rename", "download", "schedule", "replace", "cost", "require")


class _Manual(NamedTuple):
    """The pages of one manual, its names, and the terms of its entries with what is said first."""

    names: list[str]
    text: str
    terms: dict[str, str]

    @property
    def said(self) -> frozenset[str]:
        """All that is spelt in one piece in the text, in lower case."""
        return _said(self.text)


class _Miss(NamedTuple):
    """A question that nearly asks for what a manual says, and where an answer would begin."""

    kind: str
    question: str
    answer: str = ""


def main() -> None:
    """Print how many of each kind are called answers, and which."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=40, help="questions of a kind in a folder")
    chosen = parser.parse_args()
    asked, called, wrong = Counter[str](), Counter[str](), Counter[str]()
    for folder in chosen.folders:
        pages = [page for file in find_files(folder) for page in file_pages(file)]
        own = index_corpus(pages)
        for miss in pick_manuals(make_misses(read_manuals(pages)), chosen.limit):
            quotes = _sure(own, miss.question)
            asked[miss.kind] += 1
            called[miss.kind] += bool(quotes)
            if quotes and not (miss.answer and _plain(quotes[0].text).startswith(miss.answer)):
                wrong[miss.kind] += 1
                print(
                    f"{miss.kind}: {miss.question} => {quotes[0].section}: {quotes[0].text[:200]}"
                )
    for kind, every in asked.items():
        print(f"{kind:22} {every:5} asked {called[kind]:5} called {wrong[kind]:4} wrong")


def read_manuals(pages: Iterable[dict[str, Any]]) -> list[_Manual]:
    """Return the manuals whose title names what they are about."""
    found: dict[str, _Manual] = {}
    for page in pages:
        if title := _NAMED.match(page["title"]):
            file = page["id"].rpartition(":")[0]
            before = found.get(file, _Manual(title["names"].split(", "), "", {}))
            for one in find_manual_entries(page["text"]):
                for head in split_term_names(one.term):
                    before.terms.setdefault(head, page["text"][one.body_start : one.end])
            found[file] = before._replace(text=f"{before.text}\n{page['text']}")
    return list(found.values())


def make_misses(found: Sequence[_Manual]) -> Iterator[_Miss]:
    """Yield the questions that are nearly answered, and those for the entries themselves."""
    mixed, said = Random(1), frozenset[str]().union(*(one.said for one in found))
    for manual in found:
        name, siblings = manual.names[0], _siblings(manual, found)
        for head, text in manual.terms.items():
            if OPTION_PATTERN.fullmatch(head) or _SETTING.match(head):
                kind = "option" if OPTION_PATTERN.fullmatch(head) else "setting"
                asked = f"the {head} {kind} of {name}"
                yield _Miss("as it stands", f"What does {asked} do?", _plain(text)[:BEGINS])
                yield from _of_another(head, kind, mixed.choice(siblings))
                yield from _of_several(head, found)
                yield from _nearly(head, asked, said)
                yield from _otherwise(asked, text, mixed)
        yield from _of_sentences(manual, found, mixed)


def _siblings(manual: _Manual, found: Sequence[_Manual]) -> list[_Manual]:
    """Return the manuals with a name that begins alike, or else all others."""
    start = manual.names[0][:SIBLING].lower()
    others = [one for one in found if one is not manual]
    return [one for one in others if one.names[0].lower().startswith(start)] or others or [manual]


def _of_another(head: str, kind: str, other: _Manual) -> Iterator[_Miss]:
    if head.lower() not in other.said:
        name = other.names[0]
        yield _Miss("another owner", f"What does the {head} {kind} of {name} do?")
        yield _Miss("another owner", f"What does {name} {head} do?")
        yield _Miss("another owner's default", f"What is the default {head} of {name}?")


def _of_several(head: str, found: Sequence[_Manual]) -> Iterator[_Miss]:
    told = {_plain(one.terms[head])[:BEGINS] for one in found if head in one.terms}
    if len(told) > 1:
        yield _Miss("several owners", f"What does {head} do?")


def _nearly(head: str, asked: str, said: frozenset[str]) -> Iterator[_Miss]:
    """Yield questions for what is spelt nearly so: with one part more or fewer, or denied."""
    bare, parts = head.lstrip("-"), _PART.split(head.lstrip("-"))
    mark, between = head[: len(head) - len(bare)], next((one for one in "_-" if one in bare), "")
    longer = [[*parts, parts[0]], ["no", *parts]] if mark != "-" else []
    for near in [parts[1:], parts[:-1], *longer]:
        spelt = mark + between.join(near)
        if len(spelt) > len(mark) + 2 and spelt.lower() not in said:
            yield _Miss("nearly so spelt", f"What does {asked.replace(head, spelt)} do?")
            yield _Miss("nearly so spelt", f"What does {spelt} do?")


def _otherwise(asked: str, text: str, mixed: Random) -> Iterator[_Miss]:
    """Yield questions for what an entry does not say of its term."""
    verb = mixed.choice(_VERBS)
    yield _Miss("not", f"What does {asked} not do?")
    if verb not in text.lower():
        yield _Miss("another verb", f"What does {asked} {verb}?")
    if "default" not in text.lower():
        yield _Miss("no default", f"What is the default of {asked}?")


def _of_sentences(manual: _Manual, found: Sequence[_Manual], mixed: Random) -> Iterator[_Miss]:
    """Yield questions for programs that are only mentioned, and for the deeds of something else."""
    known = {each.lower() for one in found for each in one.names}
    for seen in sorted(set(_SEEN.findall(manual.text)) - known):
        yield _Miss("only mentioned", f"What does {seen} do?")
        yield _Miss("only mentioned", f"What is {seen}?")
    lines = (_plain(one.text) for one in split_sentences(manual.text))
    deeds = [(one["thing"], one["verb"]) for line in lines if (one := _DOES.match(line))]
    for thing, verb in deeds:
        other = mixed.choice(deeds)[1]
        if (thing, other) not in deeds and other != verb:
            yield _Miss("another deed", f"What does {thing} {other.removesuffix('s')}?")


def pick_manuals(found: Iterable[_Miss], limit: int) -> list[_Miss]:
    """Return at most so many questions of each kind, mixed."""
    every = sorted(set(found))
    Random(1).shuffle(every)
    seen, kept = Counter[str](), []
    for one in every:
        seen[one.kind] += 1
        if seen[one.kind] <= limit:
            kept.append(one)
    return kept


def _sure(own: Corpus, question: str) -> list[SourceQuote]:
    """Return the quotes that are called an answer to a question, if they are."""
    prompt = parse_prompt([HumanMessage(make_prompt(question, own.nearest(question)))])
    written = write_finding(prompt)
    return (
        PromptFinding("s1", question, "ok", written.text).quotes if written.unsure is None else []
    )


def _plain(text: str) -> str:
    """Return a text with single spaces, wherever its lines end."""
    return " ".join(text.split())


@cache
def _said(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"(?<![\w-])-{0,2}\w[\w-]*", text.lower()))


if __name__ == "__main__":
    main()
