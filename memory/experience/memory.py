"""Tell each role what past runs teach it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import pairwise
from textwrap import shorten
from typing import NamedTuple

from config.settings import settings
from memory.base import Note, Query
from memory.experience.insights import guidance
from memory.experience.recalling import Candidate, Learnt, learnt, prepared
from memory.experience.utterances import PERSON, Utterance, spoken
from prompts.loader import render
from prompts.methods import methods
from retrieval.regex import regex
from retrieval.script import CJK, western
from retrieval.text import language
from retrieval.words import words
from runs.place import thread_of

INSIGHT = "insight"
"""The title of the notes whose ids are those of insights."""

ASKED = 150
"""How much of the question that taught an insight is told, in characters."""

INSIGHTS = 3
"""So many insights a call is told at the most."""

EXAMPLES = 2
"""Of so many earlier runs a call is told the key steps."""

ROLES = ("planner", "researcher", "coder", "reflector", "reporter")
"""Those who are told of past runs."""

SEARCHING = ("researcher", "coder")
"""Those who are shown what was done in their role; who judges or writes, what a person rejected."""

WORTH = 0.5
"""Insights are told that are worth at least this part of what the best one is."""

LOOK_IN = "in_"
"""How the names of the methods begin that say where to look."""

ANSWERED = "how a similar question was answered"
REJECTED = "what the person said against the plan of an earlier question of this conversation"
"""What key steps are to a run: what others did, or what its own thread does not say elsewhere."""

LONGEST = 300
"""How many characters of a step are told."""

_DATA = regex(r"(?:```\w*\s*)?[\[{]")
_SCRAP = regex(r"wrote \d+ words$|\w+\(\{.*")
"""What the program notes of who wrote, and calls of tools, which are steps of their own."""

_WORD = regex(f"[{CJK}]+|[^\\W{CJK}]+")
_GAPS = regex(r"…(?:[^\w…]*…)+")
"""Words that are left out, with nothing but signs between them."""

_TITLES = regex(r'"title"\s*:\s*"((?:[^"\\]|\\.)+)"')

RUNS = 64
"""What so many runs were told is held in memory."""


Key = tuple[str, str, str, int]
"""The database, the owner, the run, and the newest event of the owner."""


class Example(NamedTuple):
    """An earlier run, its key steps, and what they are to the run that is told of them."""

    past: Candidate
    steps: Sequence[Utterance]
    what: str


class Told(NamedTuple):
    """What a run can learn: worked out once, when its first call asks."""

    insights: Sequence[Learnt]
    examples: Sequence[Example]


class Experience:
    """What past runs teach: insights in the words for a role, and key steps of runs like this."""

    name = "experience"
    share = 0.13

    def __init__(self) -> None:
        self.told: OrderedDict[Key, Told] = OrderedDict()

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return the insights for the role, the best first, and then the key steps."""
        del budget
        if query.role not in ROLES or not query.run:
            return []
        told = await self._told((settings().database, query.owner, query.run, query.revision))
        notes = [*_insights(told, query.role), *_examples(told, query.role)]
        # They are told best first, so none of them is newer than the others.
        at = max((note.revision for note in notes), default=0)
        return [note._replace(revision=at) for note in notes]

    async def _told(self, key: Key) -> Told:
        known = self.told.get(key)
        if known is None:
            _, owner, run, _ = key
            known = await _worked_out(owner, run)
            if known.insights or known.examples:
                self.told[key] = known
                while len(self.told) > RUNS:
                    self.told.popitem(last=False)
        return known


async def _worked_out(owner: str, run: str) -> Told:
    """Return what other threads teach; of its own thread, what its history does not tell."""
    candidates, thread = await prepared(owner, run), thread_of(run)
    own = [one for one in candidates if thread_of(one.past.run) == thread]
    others = [one for one in candidates if thread_of(one.past.run) != thread]
    examples = [
        Example(one, await spoken(owner, one.past.run, main=True), ANSWERED)
        for one in _resolved(others)[:EXAMPLES]
    ]
    for one in own:
        said = await spoken(owner, one.past.run, main=True)
        examples.append(Example(one, [step for step in said if step.who == PERSON], REJECTED))
    return Told(await learnt(owner, others), [one for one in examples if one.steps])


def _resolved(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [one for one in candidates if one.past.status == "resolved"]


def _insights(told: Told, role: str) -> list[Note]:
    for_role = [one for one in told.insights if guidance(one.insight, role)]
    least = WORTH * for_role[0].worth if for_role else 0.0
    return [_insight(one, role) for one in for_role[:INSIGHTS] if one.worth >= least]


def _insight(learnt: Learnt, role: str) -> Note:
    """Return what an insight says to a role, with the question of which it is known to hold."""
    one, said = learnt.insight, guidance(learnt.insight, role)
    asked = shorten(" ".join(learnt.question.split()), ASKED, placeholder=" …")
    score = {"worth": learnt.worth, "wins": one.wins, "uses": one.uses}
    text = render("insight", language=language(said), said=said, asked=asked).strip()
    return Note(INSIGHT, text, id=one.id, revision=one.revision, score=score)


def _examples(told: Told, role: str) -> list[Note]:
    done = [
        (one, lines((step for step in one.steps if _concerns(step, role)), one.past.past.question))
        for one in told.examples
    ]
    return [_example(one, text) for one, text in done if text]


def _example(example: Example, text: str) -> Note:
    one = example.past
    return Note(
        f"{example.what}: {one.past.question}",
        text,
        id=one.past.run,
        revision=one.past.revision,
        score={"rating": one.rating, "similarity": one.similarity, "outcome": one.past.outcome},
    )


def _concerns(step: Utterance, role: str) -> bool:
    if role == "planner" or step.who == PERSON:
        return True
    return role in SEARCHING and step.who in (role, "web", "files")


def lines(steps: Iterable[Utterance], question: str | None = None) -> str:
    """Return what was done in key steps, each on a line of its own; the same is said once."""
    return "\n".join(dict.fromkeys(told for step in steps if (told := line(step, question))))


def line(step: Utterance, question: str | None = None) -> str:
    """Return what a colleague would want to know of a key step, as one line; "" for the rest.

    That is what was planned, searched and read, and what the person said against a plan. Notes of
    the program to itself, such as a verdict as JSON, are left out; so is what was seen or written
    there, which may be the words of any page.

    Args:
        step: The step.
        question: What its run asked, where other runs are told: of a model's words they are told
            those of `plain`.
    """
    action = " ".join(step.action.split())
    if step.who == PERSON:
        return _told(f"{PERSON}, against a plan", action)
    if step.who == "planner" and _DATA.match(action):
        # The first title is that of the plan.
        titles = _TITLES.findall(action)[1:]
    else:
        titles = [] if _DATA.match(action) or _SCRAP.match(action) else [action]
    if question is not None:
        titles = [plain(one, question) for one in titles]
    return _told(step.who, " | ".join(filter(None, titles)))


def _told(who: str, said: str) -> str:
    return f"{who}: {shorten(said, LONGEST, placeholder=' …')}" if said else ""


def plain(text: str, question: str) -> str:
    """Return a model's words with "…" for each that is not the question's and no kind of source.

    A model that obeyed a page may have put the page's words into a plan or a query. "" where only
    words are left that name nothing.
    """
    own = {*words(question), *_kinds_of_sources()}
    kept = _WORD.sub(lambda word: _kept(word[0], own), text)
    return _GAPS.sub("…", kept) if own.intersection(words(kept)) else ""


def _kept(word: str, own: AbstractSet[str]) -> str:
    if not western(word):
        pairs = [word[at : at + 2] in own for at in range(len(word) - 1)]
        known = [one or other for one, other in pairwise([False, *pairs, False])]
        return "".join(char if held else "…" for char, held in zip(word, known, strict=True))
    return word if own >= {*words(word)} else "…"


@cache
def _kinds_of_sources() -> frozenset[str]:
    """Return the words of the methods that say where to look."""
    known = (one for name, one in methods().items() if name.startswith(LOOK_IN))
    return frozenset(word for one in known for word in words(f"{one.english} {one.chinese}"))
