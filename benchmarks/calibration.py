"""Measure how well the extractive model knows when it is not sure."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from langchain_core.messages import HumanMessage
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from evals.extractive import (
    OTHERS,
    PAGES,
    Corpus,
    flatten,
    index_corpus,
    make_prompt,
    read_lines,
    read_page_corpus,
)
from models.extractive.answer_confidence import (
    CONFIDENCE_MODELS,
    AnswerFeatures,
    ConfidenceModel,
    answer_likelihood,
    extract_answer_features,
)
from models.extractive.prompt_parser import PromptFinding, parse_prompt
from models.extractive.writing import choose_answer_quotes, write_finding
from report.citations import SECTION_SEPARATOR
from text.answerability import document_title
from text.script import detect_language
from tools.files.extractor import extract_document
from tools.files.formats import find_files

QUESTIONS = Path(__file__).with_name("natural.jsonl")
SEALED = Path(__file__).with_name("sealed.jsonl")
AS_ASKED = "natural"
PUT_AWAY = "natural sealed"
SETS = {"encyclopedia": ("hotpotqa", "musique"), "articles": ("2wiki",)}
"""The pages that are those of a set of questions."""


class _Folders(NamedTuple):
    """Where the pages lie."""

    data: Path
    documents: Path
    manuals: Path
    references: Path
    guides: Path
    handbooks: Path


def read_natural_questions(name: str) -> Iterator[dict[str, Any]]:
    """Yield the questions that are fitted on, or those put away."""
    yield from read_lines(SEALED if name == PUT_AWAY else QUESTIONS)


@cache
def _natural_pages(folders: _Folders, kind: str) -> Corpus:
    """Return the pages of a kind: those of some sets, or those of a folder of documents."""
    if kind in SETS:
        found = (folders.data / name / "corpus.jsonl" for name in SETS[kind])
        return index_corpus([page for one in found for page in read_lines(one)])
    folder: Path = getattr(folders, kind)
    return index_corpus([page for file in find_files(folder) for page in file_pages(file)])


def leave_out(own: Corpus, query: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the nearest pages that neither are of a document that answers nor hold an answer."""
    found = own.nearest(query["text"], 20 * PAGES)
    return [page for page in found if not _of(page, query) and not answers(query, page)][:PAGES]


def _gold(own: Corpus, query: Mapping[str, Any]) -> list[str]:
    """Return the ids of the pages that answer a question."""
    return [page["id"] for page in own.pages if _of(page, query) and answers(query, page)]


def answers(query: Mapping[str, Any], page: Mapping[str, Any]) -> bool:
    """Tell whether a page has the words of an answer."""
    return any(_plain(one) in _plain(page["text"]) for one in query["answers"])


def _plain(text: str) -> str:
    """Return a text in lower case with single spaces, wherever its lines end."""
    return " ".join(text.lower().split())


def _of(page: Mapping[str, Any], query: Mapping[str, Any]) -> bool:
    return document_title(page["title"]) in query["titles"]


def file_pages(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the sections of a file as the program keeps them."""
    read = asyncio.run(extract_document(file))
    title = read["title"].replace(SECTION_SEPARATOR, " – ")
    for number, part in enumerate(read["sections"]):
        named = part["title"] in ("", read["title"])
        whole = title if named else f"{title}{SECTION_SEPARATOR}{part['title']}"
        yield {"id": f"{file}:{number}", "title": whole, "text": part["text"]}


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


class _Case(NamedTuple):
    """What came of one question."""

    name: str
    """The set."""
    tongue: str
    way: str
    signs: AnswerFeatures | None
    """None where nothing was quoted."""
    right: bool
    question: str
    kind: str
    """The set, or manuals or articles where it has both."""
    folder: str = ""
    """The set, or the folder that its pages lie in."""


def cases(data: Path, name: str, picked: slice) -> Iterator[_Case]:
    """Ask the picked questions of a set in each of the `WAYS`."""
    pages = SINGLE.get(name, name)
    own, other = (read_page_corpus(data / one / "corpus.jsonl") for one in (pages, OTHERS[pages]))
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


def _natural_cases(folders: _Folders, name: str) -> Iterator[_Case]:
    """Ask the natural questions of a set of all pages and of those that do not answer them."""
    for one in read_natural_questions(name):
        own = _natural_pages(folders, one["pages"])
        asked = {**one, "gold": _gold(own, one)}
        wanted = {_plain(text) for text in one["answers"]}
        near = {"own": own.nearest(one["text"])}
        if wanted:
            near["removed"] = leave_out(own, one)
        yield from (_case(name, asked, way, near[way], wanted, own) for way in near)


def _case(
    name: str,
    query: Mapping[str, Any],
    way: str,
    pages: Sequence[Mapping[str, Any]],
    wanted: set[str],
    own: Corpus,
) -> _Case:
    question, folder = query["text"], query.get("pages", name)
    kind = KINDS.get(folder, name)
    prompt = parse_prompt([HumanMessage(make_prompt(question, pages))])
    quotes = PromptFinding("s1", question, "ok", write_finding(prompt).text).quotes
    if not quotes:
        return _Case(name, detect_language(question), way, None, False, question, kind, folder)
    lead = choose_answer_quotes(question, [(question, quotes)], {})
    shown = [*lead, *(one for one in quotes if one not in lead)]
    titles = {page["title"] for page in own.pages if page["id"] in query["gold"]}
    named = {f"S{number}": page for number, page in enumerate(pages, start=1)}
    right = way != "other" and any(
        (named[one.source]["id"] in query["gold"] or named[one.source]["title"] in titles - {""})
        and _about(query, f"{named[one.source]['title']} {one.text}")
        and any(_holds(_plain(part), text) for part in one.parts for text in wanted)
        for one in lead
    )
    seen = extract_answer_features(question, prompt.pages, shown, len(lead))
    return _Case(name, detect_language(question), way, seen, right, question, kind, folder)


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
    queries = read_lines(data / SINGLE.get(name, name) / "queries.jsonl")
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
    return flatten([query.get(name) or [] for name in ("answers", "answer", "answer_aliases")])


FITTED = {"en": (AS_ASKED, "2wiki facts"), "zh": ("cmrc2018", "drcd")}
CHECKED = {
    "en": (PUT_AWAY, "musique hops", "hotpotqa", "2wiki", "musique"),
    "zh": ("cmrc2018 sealed", "drcd sealed", "rgb_zh_int"),
}
UNSEEN = slice(2000, 2300)
"""The questions of a sealed set: of the same pages, and none that was asked for fitting."""

THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
FOLDS, REPEATS = 10, 5
STRENGTH = 0.3
"""The inverse of how strongly weights are kept small: what is unseen is in other folders."""

TWICE = AS_ASKED
"""The set that weighs twice as much as its size says."""
WRONG = 0.04
"""The share of wrong ones among what is called an answer must not be higher when it is fitted.

The aim is 5 % of what is unseen; whoever mends the signs has seen the errors that are counted here.
"""
SURENESS = 1.96
"""Of what chance does to a share, so many standard deviations are allowed for: 95 % of it."""


def main() -> None:
    """Print the curve of each set, and the weights that fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=Path, required=True)
    parser.add_argument("--manuals", type=Path, required=True)
    parser.add_argument("--references", type=Path, required=True)
    parser.add_argument("--guides", type=Path, required=True)
    parser.add_argument("--handbooks", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--languages", nargs="*", default=list(FITTED), choices=list(FITTED))
    parser.add_argument("--fit", action="store_true", help="fit first, and print the weights")
    chosen = parser.parse_args()
    folders = _Folders(
        chosen.data,
        chosen.documents,
        chosen.manuals,
        chosen.references,
        chosen.guides,
        chosen.handbooks,
    )
    told = {
        name: list(_cases(folders, name, chosen.limit))
        for sets in (FITTED, CHECKED)
        for tongue in chosen.languages
        for name in sets[tongue]
    }
    for tongue in chosen.languages:
        if chosen.fit:
            _fit(tongue, [one for name in FITTED[tongue] for one in told[name]])
        for what, sets in (("fitted", FITTED), ("checked", CHECKED)):
            for name in sets[tongue]:
                _print(f"{name} ({tongue}, {what})", tongue, told[name])
                for kind in sorted({one.kind for one in told[name]} - {name}):
                    of_kind = [one for one in told[name] if one.kind == kind]
                    _print(f"{name}: {kind} ({tongue}, {what})", tongue, of_kind)
            every = [one for name in sets[tongue] for one in told[name]]
            _print(f"all {what} ({tongue})", tongue, every)


def _cases(folders: _Folders, name: str, limit: int) -> Iterator[_Case]:
    if name in (AS_ASKED, PUT_AWAY):
        return _natural_cases(folders, name)
    if name.endswith(" sealed"):
        return cases(folders.data, name.removesuffix(" sealed"), UNSEEN)
    return cases(folders.data, name, slice(limit))


def _fit(tongue: str, given: Sequence[_Case]) -> None:
    """Fit the weights and the threshold of a language and print them; the rest uses them."""
    told = [one for one in given if one.signs and not one.signs.disqualified]
    each = Counter(one.name for one in told)
    rows = np.array([one.signs for one in told])
    right = np.array([one.right for one in told])
    share = np.array([(1 + (one.name == TWICE)) * each[one.name] ** -0.5 for one in told])
    share /= share.mean()
    model = LogisticRegression(max_iter=1000, C=STRENGTH)
    asked = np.array([one.question for one in told])
    folder = np.array([one.folder for one in told])
    likely, apart = np.zeros((REPEATS, len(told))), np.zeros((1, len(told)))
    for seed in range(REPEATS):
        folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
        for some, rest in folds.split(rows, right, asked):
            model.fit(rows[some], right[some], sample_weight=share[some])
            likely[seed, rest] = model.predict_proba(rows[rest])[:, 1]
    for name in sorted(set(folder)):
        some = folder != name
        if some.any():
            model.fit(rows[some], right[some], sample_weight=share[some])
            apart[0, ~some] = model.predict_proba(rows[~some])[:, 1]
    model.fit(rows, right, sample_weight=share)
    parts = AnswerFeatures(*(round(float(one), 2) for one in model.coef_[0]))
    bias = round(float(model.intercept_[0]), 2)
    made = ~np.isin([one.kind for one in told], list(KINDS.values()))
    least = max(
        _least(seen[:, which], right[which], asked[which], sure)
        for seen, which, sure in ((likely, made, 0.0), (apart, ~made, SURENESS))
        if which.any()
    )
    CONFIDENCE_MODELS[tongue] = ConfidenceModel(bias, parts, least)
    print(f"weights {tongue}: {CONFIDENCE_MODELS[tongue]}")


def _least(
    likely: NDArray[np.float64],
    right: NDArray[np.bool_],
    asked: NDArray[np.str_],
    sure: float = SURENESS,
) -> float:
    """Return the lowest threshold in hundredths at which few enough answers are surely wrong.

    `likely` has a row for each time that the questions were parted. What was `asked` twice, of all
    pages and of those that do not answer it, counts once: one error is behind both.
    """
    for hundredth in range(50, 100):
        called = likely >= hundredth / 100
        wrong, every = _asked(called & ~right, asked), _asked(called, asked)
        if every and _bound(wrong, every, sure) <= WRONG:
            return hundredth / 100
    return 1.0


def _asked(which: NDArray[np.bool_], asked: NDArray[np.str_]) -> float:
    """Return how many different questions were asked, on average over the rows."""
    return float(np.mean([len(set(asked[row])) for row in which]))


def _bound(wrong: float, called: float, sure: float) -> float:
    """Return the upper bound of a share by Wilson's score, `sure` standard deviations above it."""
    share, spread = wrong / called, sure**2 / called
    middle = share + spread / 2
    return (middle + sqrt(spread * (share * (1 - share) + spread / 4))) / (1 + spread)


def _print(title: str, tongue: str, given: Sequence[_Case]) -> None:
    quoted = [one for one in given if one.signs]
    right = sum(one.right for one in quoted)
    print(f"\n{title}: {len(given)} asked, {len(quoted)} quoted, {right} right")
    print(
        "threshold  answered  wrong   of the right ones kept   answered by way: " + ", ".join(WAYS)
    )
    for least in sorted({*THRESHOLDS, CONFIDENCE_MODELS[tongue].threshold}):
        called = [
            one for one in quoted if one.signs and answer_likelihood(one.signs, tongue) >= least
        ]
        wrong, kept = _share(not one.right for one in called), sum(one.right for one in called)
        ways = " ".join(f"{sum(one.way == way for one in called):4}" for way in WAYS)
        mark = "*" if least == CONFIDENCE_MODELS[tongue].threshold else " "
        print(
            f"{least:8.2f}{mark} {len(called):5} {len(called) / len(given):5.1%} {wrong:6.1%}"
            f" {kept / max(right, 1):12.1%} {ways:>30}"
        )


def _share(found: Iterable[bool]) -> float:
    told = list(found)
    return sum(told) / len(told) if told else 0.0


if __name__ == "__main__":
    main()
