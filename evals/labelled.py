"""Questions with known answers, put to pages that hold the answer and to pages that do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage

from evals.extractive import OTHERS, PAGES, Corpus, corpus, flat, lines, prompt_of
from evals.natural import Folders, gold, natural, natural_pages, plain, without
from models.extractive.blocks import Found, read
from models.extractive.choice import answer
from models.extractive.signs import Signs, signs
from models.extractive.writing import finding
from retrieval.text import language

WAYS = ("own", "removed", "other")
"""The nearest pages of the set; the same without those of the answer; those of another set."""

ALIKE = 0.65
"""A quote holds an answer in words if it has this part of it in one piece."""

ASKING = {
    "director": "Who is the director of {}?",
    "date of birth": "When was {} born?",
    "publication date": "When was {} released?",
    "date of death": "When did {} die?",
    "country of citizenship": "What is the nationality of {}?",
    "father": "Who is the father of {}?",
    "place of birth": "Where was {} born?",
    "spouse": "Who is the spouse of {}?",
    "place of death": "Where did {} die?",
    "mother": "Who is the mother of {}?",
    "inception": "When was {} founded?",
    "country": "Which country is {} in?",
    "performer": "Who performed {}?",
    "producer": "Who produced {}?",
    "composer": "Who composed {}?",
    "educated at": "Where was {} educated?",
}
"""What asks for one of the facts that a question of 2WikiMultihopQA is made of."""

SINGLE = {"2wiki facts": "2wiki", "musique hops": "musique"}
"""Questions for one fact, made of a set whose questions need several."""


KINDS = {
    "encyclopedia": "articles",
    "articles": "articles",
    "documents": "manuals",
    "manuals": "manuals",
    "references": "manuals",
    "guides": "manuals",
    "handbooks": "manuals",
}
"""By the pages of a natural question."""


class Case(NamedTuple):
    """What came of one question."""

    name: str
    """The set."""
    tongue: str
    way: str
    signs: Signs | None
    """None where nothing was quoted."""
    right: bool
    question: str
    kind: str
    """The set, or manuals or articles where it has both."""
    folder: str = ""
    """The set, or the folder that its pages lie in."""


def cases(data: Path, name: str, picked: slice) -> Iterator[Case]:
    """Ask the picked questions of a set in each of the `WAYS`."""
    pages = SINGLE.get(name, name)
    own, other = (corpus(data / one / "corpus.jsonl") for one in (pages, OTHERS[pages]))
    asked = list(_questions(data, name, own))
    Random(1).shuffle(asked)
    for one in asked[picked]:
        if wanted := {text.lower() for text in _answers(one)} - {"yes", "no"}:
            near = {
                "own": own.nearest(one["text"]),
                "removed": _without(own, one["text"], set(one["gold"])),
                "other": other.nearest(one["text"]),
            }
            yield from (_case(name, one, way, near[way], wanted, own) for way in WAYS)


def natural_cases(folders: Folders, name: str) -> Iterator[Case]:
    """Ask the natural questions of a set of all pages and of those that do not answer them."""
    for one in natural(name):
        own = natural_pages(folders, one["pages"])
        asked = {**one, "gold": gold(own, one)}
        wanted = {plain(text) for text in one["answers"]}
        near = {"own": own.nearest(one["text"])}
        if wanted:
            near["removed"] = without(own, one)
        yield from (_case(name, asked, way, near[way], wanted, own) for way in near)


def _case(
    name: str,
    query: Mapping[str, Any],
    way: str,
    pages: Sequence[Mapping[str, Any]],
    wanted: set[str],
    own: Corpus,
) -> Case:
    question, folder = query["text"], query.get("pages", name)
    kind = KINDS.get(folder, name)
    prompt = read([HumanMessage(prompt_of(question, pages))])
    quotes = Found("s1", question, "ok", finding(prompt).text).quotes
    if not quotes:
        return Case(name, language(question), way, None, False, question, kind, folder)
    lead = answer(question, [(question, quotes)], {})
    shown = [*lead, *(one for one in quotes if one not in lead)]
    titles = {page["title"] for page in own.pages if page["id"] in query["gold"]}
    named = {f"S{number}": page for number, page in enumerate(pages, start=1)}
    right = way != "other" and any(
        (named[one.source]["id"] in query["gold"] or named[one.source]["title"] in titles - {""})
        and _about(query, f"{named[one.source]['title']} {one.text}")
        and any(_holds(plain(part), text) for part in one.parts for text in wanted)
        for one in lead
    )
    seen = signs(question, prompt.pages, shown, len(lead))
    return Case(name, language(question), way, seen, right, question, kind, folder)


def _about(query: Mapping[str, Any], quoted: str) -> bool:
    return query.get("subject", "").lower() in quoted.lower()


def _holds(text: str, answer: str) -> bool:
    """Tell whether a text has an answer, one in words of at least three characters mostly."""
    if answer in text or len(answer) < 3 or re.search(r"\d", answer):
        return answer in text
    found = SequenceMatcher(None, answer, text, autojunk=False).find_longest_match()
    return found.size >= max(3, ALIKE * len(answer))


def _without(own: Corpus, question: str, gold: set[str]) -> list[dict[str, Any]]:
    found = own.nearest(question, PAGES + len(gold))
    return [page for page in found if page["id"] not in gold][:PAGES]


def _questions(data: Path, name: str, own: Corpus) -> Iterator[dict[str, Any]]:
    queries = lines(data / SINGLE.get(name, name) / "queries.jsonl")
    if name == "2wiki facts":
        facts = {(s, what): (o, one["gold"]) for one in queries for s, what, o in one["evidences"]}
        titles = Counter(re.sub(r" \(.*", "", page["title"]).lower() for page in own.pages)
        for (subject, what), (fact, gold) in facts.items():
            if what in ASKING and titles[subject.lower()] == 1:
                text = ASKING[what].format(subject)
                yield {"text": text, "answer": fact, "gold": gold, "subject": subject}
    elif name == "musique hops":
        pages = {page["id"]: page for page in own.pages}
        yield from (hop for one in queries if (hop := _first_hop(one, pages)))
    else:
        yield from queries


def _first_hop(query: Mapping[str, Any], pages: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first question of several with its answer: the page that the next one is about."""
    text = query["decomposition"][0]
    gold = [pages[one] for one in query["gold"]]
    found = [re.sub(r" \(.*", "", page["title"]) for page in gold]
    linked = [
        title
        for title in found
        if title.lower() not in text.lower()
        and any(title.lower() in page["text"].lower() and page["title"] != title for page in gold)
    ]
    written = ">>" not in text and "#" not in text
    return {"text": text, "answers": linked, "gold": query["gold"]} if written and linked else {}


def _answers(query: Mapping[str, Any]) -> list[str]:
    return flat([query.get(name) or [] for name in ("answers", "answer", "answer_aliases")])
