"""What the report of a turn is made of, and what is made of it where no model can write."""

from __future__ import annotations

from html import escape

from graph.records import COMPUTED, UNCOMPUTED, Background, Finding, Passage, of_turn
from graph.state import State
from report.document import limit_reached
from report.earlier import accepted
from report.earlier import sources as cited
from retrieval.keyword import rank
from retrieval.text import heading, sentences

QUOTED = 6
"""How many sentences are quoted where nothing but a first search was done."""


def findings(state: State) -> list[Finding]:
    """Return the findings of this turn that say something."""
    found: dict[str, Finding] = of_turn(state.get("findings"), state["turn"])
    return [one for one in found.values() if one["text"]]


def settled(state: State) -> bool:
    """Tell whether the question of this turn needs no research: it is worked out, or cannot be."""
    entries: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    nothing = any(entry["reason"] == "not_remembered" for entry in entries.values())
    return nothing or (bool(_worked_out(state)) and COMPUTED not in entries)


def of_tables(state: State) -> bool:
    """Tell whether something beside the search was computed over tables, or could not be."""
    entries = of_turn(state.get("background"), state["turn"])
    return any(name.startswith((COMPUTED, UNCOMPUTED)) for name in entries)


def _worked_out(state: State) -> list[Passage]:
    """Return what was worked out for the question of this turn, or for a part of it."""
    entries: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    known = state.get("sources", {})
    every = [one for entry in entries.values() for one in entry["passages"]]
    return [one for one in every if known[one["source"]]["kind"] == "computed"]


def _computed(state: State) -> list[str]:
    """Return what was worked out, each line with its source."""
    lines = [
        (line, one["source"]) for one in _worked_out(state) for line in one["text"].split("\n")
    ]
    return [f"{line.rstrip('。.')} [{name}]." for line, name in lines]


def passages(state: State) -> list[Passage]:
    """Return what the first search found, where there is nothing better.

    Steps that looked and found nothing are better; steps that a limit kept from looking are not.
    """
    worked_out = _worked_out(state)
    looked = of_turn(state.get("findings"), state["turn"])
    if settled(state) or findings(state) or (looked and not limit_reached(state)):
        return worked_out
    entries: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    seen: dict[str, Passage] = {}
    for entry in entries.values():
        seen |= {f"{one['source']} {one['text']}": one for one in entry["passages"]}
    return list(seen.values())


def named(state: State) -> list[str]:
    """Return the ids of the sources that this turn's evidence names, and that of turns before."""
    names = cited([*findings(state), *accepted(state, state["question"])])
    names |= {passage["source"] for passage in [*passages(state), *state["knowledge"]]}
    return sorted(names)


def composed(state: State) -> str:
    """Compose a report without a model: the findings under their titles, or what fits best."""
    found = findings(state)
    if not found and not passages(state) and not of_turn(state.get("findings"), state["turn"]):
        # Nothing was looked for, since what earlier turns found was held to be enough.
        found = accepted(state, state["question"])
    if found:
        sections = [f"## {one['title']}\n\n{one['text']}" for one in found]
        return "\n\n".join([*_computed(state), *sections])
    said = [
        (passage["source"], sentence.text)
        for passage in passages(state)
        for sentence in sentences(passage["text"])
        if not heading(sentence.text)
    ]
    best = rank(state["question"], [text for _, text in said])[:QUOTED]
    quoted = [said[at] for at, _ in best]
    return "\n".join(f'- <q s="{name}">{escape(text, quote=False)}</q>' for name, text in quoted)
