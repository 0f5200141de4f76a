"""What became of a report since it was delivered, and how an old version tells of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from typing_extensions import TypedDict

from graph.records import Source
from report.labels import get_label, get_later_label, is_chinese_tag

LaterKind = Literal["corrected", "rejected", "changed", "gone", "version"]
"""`corrected`, `rejected`: the person said so; `changed`, `gone`: a source says something else, or
is not found any more; `version`: a later version of the report."""

MAX_QUOTED = 200
"""How many characters of what the person said are shown at most."""


class LaterChange(TypedDict):
    """Something that concerns a report and was not so when it was delivered."""

    kind: LaterKind
    day: str
    """As an ISO date; empty if nobody knows."""
    words: str
    """What the person said, the title of the source, or the run of the later version."""
    sentences: list[str]
    """The sentences of the report that it is about, in plain text."""


def describe_later_changes(changes: Sequence[LaterChange], language: str) -> list[str]:
    """Return the notice that tells what became of a report since; none without changes."""
    if not changes:
        return []
    separator = "；" if is_chinese_tag(language) else "; "
    told = separator.join(_describe(one, language) for one in changes)
    return [get_later_label("since", language).format(told)]


def _describe(change: LaterChange, language: str) -> str:
    wordless = "" if change["words"] else "_wordless"
    text = get_later_label(f"{change['kind']}{wordless}", language)
    words = change["words"]
    shown = f"{words[:MAX_QUOTED]}…" if len(words) > MAX_QUOTED else words
    told = text.format(day=change["day"], words=shown)
    count = len(change["sentences"])
    if not count:
        return told
    marked = get_later_label("marked_one" if count == 1 else "marked", language)
    return f"{told}{'' if is_chinese_tag(language) else ' '}{marked.format(count)}"


def list_later_remarks(changes: Iterable[LaterChange], language: str) -> dict[str, str]:
    """Return the remark at each sentence that a change is about, by the sentence."""
    remarks: dict[str, list[str]] = {}
    for change in changes:
        for sentence in change["sentences"]:
            remarks.setdefault(sentence, []).append(
                get_later_label(f"at_{change['kind']}", language)
            )
    comma = get_label("comma", language)
    return {one: comma.join(dict.fromkeys(told)) for one, told in remarks.items()}


def mark_sources(
    sources: Iterable[Source], kinds: dict[str, LaterKind], language: str
) -> list[Source]:
    """Return sources with what became of them since, in words.

    Args:
        sources: The sources.
        kinds: What became of some, by their ids.
        language: The language of the words.
    """
    return [
        {**one, "since": get_later_label(f"source_{kinds[one['id']]}", language)}
        if one["id"] in kinds
        else one
        for one in sources
    ]
