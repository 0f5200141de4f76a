"""Find what differs between two versions of a report, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import NamedTuple

from graph.records import Report, TurnAnswer, VersionChanges
from graph.state import State
from report.markdown.markdown_blocks import (
    list_prose_blocks,
    list_statements,
    parse_blocks,
    statement_key,
)
from report.markdown.markers import MARKER
from report.rendering.markdown_report import render_plain_text
from text.regex import regex
from text.script import detect_language
from text.words import search_words

REWORDED = 0.5
"""Two sentences are the same one reworded if they share so many of their words (Dice)."""

_CITATION = regex(rf"[^\S\n]*{MARKER.pattern}")
_HEADING = regex(r"^##[ \t]+(?P<title>\S.*?)[ \t]*#*$")


def list_section_titles(body: str) -> list[str]:
    """Return the titles of the sections of a report, its `## ` headings, in order."""
    blocks = [block for block in parse_blocks(body) if block.kind == "heading"]
    found = (_HEADING.match(f"{block.lead}{block.text}") for block in blocks)
    return [render_plain_text(strip_citations(one["title"])).strip() for one in found if one]


def strip_citations(text: str) -> str:
    """Return a text without the markers of its sources and the spaces before them."""
    return _CITATION.sub("", text)


def get_previous_version(state: State) -> TurnAnswer | None:
    """Return the version that the report of this turn revises; None if it is a first one."""
    revision = state.get("revision")
    return (state.get("answers") or {}).get(str(revision["turn"])) if revision else None


def list_previous_sources(state: State) -> list[str]:
    """Return the ids of the sources that the earlier version cites and that are as they were."""
    previous, revision = get_previous_version(state), state.get("revision")
    if not previous or not revision:
        return []
    stale = revision.get("stale", [])
    return [name for name in previous["sources"] if name not in stale]


def find_version_changes(state: State, report: Report) -> VersionChanges | None:
    """Return what a report changes in the version that it revises.

    None if it is a first one, or a translation, which has no sentence of the version before.
    """
    previous = get_previous_version(state)
    if previous is None or detect_language(previous["text"]) != detect_language(report["body"]):
        return None
    return compare_versions(previous["text"], report["body"])


def compare_versions(old: str, new: str) -> VersionChanges:
    """Return what differs between the bodies of two versions.

    Headings, citations and the order of sentences make no difference.
    """
    before, after = _sentences(old), _sentences(new)
    gone = [text for key, text in before.items() if key not in after]
    come = [text for key, text in after.items() if key not in before]
    pairs = pair_reworded(gone, come)
    return VersionChanges(
        added=[text for at, text in enumerate(come) if at not in pairs.values()],
        removed=[text for at, text in enumerate(gone) if at not in pairs],
        changed=[(gone[old_at], come[new_at]) for old_at, new_at in pairs.items()],
    )


def is_unchanged(changes: VersionChanges) -> bool:
    """Tell whether two versions say the same."""
    return not (changes["added"] or changes["removed"] or changes["changed"])


def _sentences(body: str) -> dict[str, str]:
    """Return the statements of a body as a reader sees them, by their letters and numbers."""
    blocks = parse_blocks(body)
    code = [block.text.split("\n")[1:-1] for block in blocks if block.kind == "fence"]
    prose = (one for _, block in list_prose_blocks(blocks) for one in list_statements(block))
    plain = (render_plain_text(strip_citations(one)) for one in prose)
    texts = (" ".join(text.split()) for text in chain(plain, *code))
    return {key: text for text in texts if (key := statement_key(text))}


def pair_reworded(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Return the positions of sentences and of what they were reworded to, the likest first."""
    said, said_now = ([_Words.of(text) for text in texts] for texts in (old, new))
    scored = sorted(
        (
            (_share(one, other), -at, -other_at)
            for at, one in enumerate(said)
            for other_at, other in enumerate(said_now)
        ),
        reverse=True,
    )
    pairs: dict[int, int] = {}
    for score, at, other_at in scored:
        if score < REWORDED:
            break
        if -at not in pairs and -other_at not in pairs.values():
            pairs[-at] = -other_at
    return dict(sorted(pairs.items()))


class _Words(NamedTuple):
    """The search words of a sentence, in order and each once."""

    row: list[str]
    known: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Words:
        """Return the words of a text."""
        row = search_words(text)
        return cls(row, frozenset(row))


def _share(one: _Words, other: _Words) -> float:
    """Return the share of words that two sentences have in common and in the same order."""
    # An upper bound first, since the exact measure takes far longer.
    most = 2 * len(one.known & other.known) / ((len(one.known) + len(other.known)) or 1)
    if most < REWORDED:
        return 0.0
    return SequenceMatcher(None, one.row, other.row, autojunk=False).ratio()
