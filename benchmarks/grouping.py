"""Compare ways of grouping insights in nearly the same words: found, wrongly joined, time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from random import Random
from typing import NamedTuple

from models.hashing_vectors import hash_texts
from prompts.methods import load_methods
from text.tfidf import group_similar_texts

METHODS, LISTS = 30, 10
"""How many different methods are in a list, with up to two rewordings of each; how many lists."""

SYNONYMS = {
    "check": "verify",
    "look": "search",
    "source": "reference",
    "report": "answer",
    "figure": "number",
    "page": "document",
    "two": "several",
    "each": "every",
    "say": "state",
}

Grouper = Callable[[Sequence[str]], Sequence[Sequence[int]]]


class Score(NamedTuple):
    """Pairs of texts that are rightly joined, wrongly joined, and missed."""

    right: int
    wrong: int
    missed: int


def reword(text: str, language: str, random: Random) -> str:
    """Return a text in slightly other words: one left out, replaced, added, or in other order."""
    words = list(text) if language == "zh" else text.split()
    place = random.randrange(1, len(words) - 1)
    rewordings = [
        [*words[:place], *words[place + 1 :]],
        [*words[place:], *words[:place]],
        [*"请务必", *words] if language == "zh" else ["Always", *words, "when", "possible"],
        [SYNONYMS.get(word.lower(), word) for word in words],
    ]
    return ("" if language == "zh" else " ").join(random.choice(rewordings))


def make_list(language: str, random: Random) -> list[tuple[int, str]]:
    """Return methods and rewordings of them in any order, each with the number of its method."""
    texts = []
    for number, method in enumerate(random.sample([*load_methods().values()], METHODS)):
        sentence = method.sentence(language)
        texts.append((number, sentence))
        for _ in range(random.choice([0, 1, 1, 2])):
            texts.append((number, reword(sentence, language, random)))
    random.shuffle(texts)
    return texts


def group_greedily(texts: Sequence[str], least: float) -> list[list[int]]:
    """Group texts with the first of them that is like them, by cosines of hashing vectors."""
    vectors = hash_texts(texts)
    pending, groups = list(range(len(texts))), []
    while pending:
        first = pending[0]
        group = [place for place in pending if vectors[first] @ vectors[place] >= least]
        pending = [place for place in pending[1:] if place not in group]
        groups.append(group)
    return groups


def score_groups(numbers: Sequence[int], groups: Sequence[Sequence[int]]) -> Score:
    """Score groups by the pairs of texts that are together."""
    joined = {pair for group in groups for pair in combinations(sorted(group), 2)}
    same = {pair for pair in combinations(range(len(numbers)), 2) if _is_same(numbers, pair)}
    return Score(len(joined & same), len(joined - same), len(same - joined))


def _is_same(numbers: Sequence[int], pair: tuple[int, int]) -> bool:
    return numbers[pair[0]] == numbers[pair[1]]


def main() -> None:
    """Print precision and recall of pairs, by language."""
    groupers: dict[str, Grouper] = {}
    for least in (0.6, 0.7, 0.8):
        groupers[f"greedy, hashing, {least}"] = partial(group_greedily, least=least)
        groupers[f"average linkage, TF-IDF, {least}"] = partial(group_similar_texts, least=least)
    print("| language | way | precision | recall | ms for a list |\n|---|---|---|---|---|")
    for language in ("en", "zh"):
        lists = [make_list(language, Random(seed)) for seed in range(LISTS)]
        for name, group in groupers.items():
            group(["a word", "a word"])
            start = time.process_time()
            scores = [
                score_groups([number for number, _ in texts], group([text for _, text in texts]))
                for texts in lists
            ]
            spent = 1000 * (time.process_time() - start) / len(lists)
            right, wrong, missed = (sum(column) for column in zip(*scores, strict=True))
            precision, recall = right / max(right + wrong, 1), right / (right + missed)
            print(f"| {language} | {name} | {precision:.3f} | {recall:.3f} | {spent:.1f} |")


if __name__ == "__main__":
    main()
