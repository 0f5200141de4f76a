"""Turn what was read of a person into what their profile is told, if the gate lets it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from memory.learning.extraction import Shown
from memory.learning.gate import akin, passed, refusal
from memory.learning.patterns import ANSWERS, CHANGED, NEGATED
from memory.learning.rules import SURE, TASTEFUL, Statement, clauses
from memory.learning.schema import Feature, Manner
from memory.learning.tastes import tastes, unwanted
from memory.learning.turns import Said
from memory.learning.voice import asks, quoted_in, spoken, tells
from memory.profile.shape import TASTES, Told, Trait, untold
from retrieval.text import sentences

LONGEST = 120
"""How many characters a trait may have."""

IDENTITY = ("identity", "role")
"""The kinds of statements that say who somebody is."""

MANY = ("correction", "note")
"""The kinds that may say several things, of which one is who somebody is."""


def of_statements(statements: Sequence[Statement], said: Said) -> Told:
    """Return what a person said of themselves in so many words."""
    told = untold()
    for one in statements:
        if refusal(one.content, one.quote) or len(one.value) > LONGEST:
            continue
        parts = clauses(one.content) if one.kind in MANY else [one]
        for part in parts:
            _tell(told, part, said)
        if one.wrong and any(part.kind == "identity" for part in parts):
            told["gone"].append(one.wrong)
        if one.kind in TASTEFUL:
            told["unwanted"] |= unwanted(one.content)
        for name, value in one.tastes.items():
            told["tastes"][name] = _trait(value, one.quote, SURE, said)
    return told


def _tell(told: Told, one: Statement, said: Said) -> None:
    """Tell who somebody is by a statement, or is no longer."""
    if one.kind in IDENTITY:
        told["identities"].append(_trait(one.value, one.quote, SURE, said))
        told["instead"] |= one.changed
    elif one.kind == "former":
        told["gone"].append(one.value)


def of_manner(manner: Manner, shown: Shown) -> tuple[Told, list[str]]:
    """Return what a model read of a person, and why the rest of it is not believed."""
    told, refused = untold(), []
    for name, features in (
        ("identities", manner.identities),
        ("characteristics", manner.characteristics),
    ):
        for feature in features:
            trait = _believed(feature, manner.confidence, shown.messages, own=name != "identities")
            if isinstance(trait, str):
                refused.append(trait)
            else:
                told[name].append(trait)  # type: ignore[literal-required]
    told["instead"] = any(CHANGED.search(one["quote"]) for one in told["identities"])
    told["tastes"] = _tastes(manner, shown.messages)
    named = [shown.traits[one] for one in manner.gone if one in shown.traits]
    told["gone"] = [one for one in named if _over(one, shown.messages.values())]
    return told, refused


def _believed(
    feature: Feature, confidence: float, messages: Mapping[int, Said], *, own: bool
) -> Trait | str:
    """Return a trait that the person's own words bear out, or why it is not believed."""
    said = messages.get(feature.message)
    if said is None:
        return "not_offered"
    words = passed(feature.text, feature.quote, said.text)
    if isinstance(words, str):
        return words
    if words.own and not own:
        return "not_borne_out"
    if len(words.text) > LONGEST:
        return "too_long"
    return _trait(words.text, words.quote, confidence, said, stated=not words.own)


def _tastes(manner: Manner, messages: Mapping[int, Said]) -> dict[str, Trait]:
    """Return the tastes for which a message has words about answers."""
    said = messages.get(manner.message)
    quoted = quoted_in(manner.quote, said.text) if said else []
    told = [one for one in quoted if (tells(one) and not asks(one)) or tastes(one)]
    sentence = " ".join(told)
    if said is None or not ANSWERS.search(sentence):
        return {}
    plain = tastes(sentence)
    named = ((name, str(getattr(manner, name))) for name in TASTES)
    return {
        name: _trait(value, sentence, manner.confidence, said, stated=plain.get(name) == value)
        for name, value in named
        if value and plain.get(name, value) == value
    }


def _over(trait: str, messages: Iterable[Said]) -> bool:
    """Tell whether somebody says of a trait that it holds no longer."""
    spans = (span for said in messages for span in sentences(spoken(said.text)))
    ending = (one.text for one in spans if NEGATED.search(one.text) or CHANGED.search(one.text))
    return any(tells(one) and akin(trait, one) for one in ending)


def _trait(text: str, quote: str, confidence: float, said: Said, *, stated: bool = True) -> Trait:
    return Trait(
        text=text, quote=quote, confidence=confidence, stated=stated, run=said.run, at=time.time()
    )
