"""What earlier questions of a thread have found out, and what they left open."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from graph.records import Answer, Finding
from graph.state import State
from prompts.marks import block, finding_block, wrap
from report.keeping import OBJECTED, quoted, sound, stands
from retrieval.keyword import rank
from retrieval.regex import regex
from retrieval.tokens import count

MOST = 1_500
"""How many tokens the findings of earlier turns may have together."""

LONGEST = 500
"""How many tokens are shown of one of them."""

READ = 4 * LONGEST
"""How many characters of one say what it is about: about those that are shown."""

CLOSEST = 24
"""How many are looked at for what fits: a long thread has hundreds."""

END = regex(r"(?:\]|</q>)[.。!?！？]?(?=\s|$)|\n")
"""Where a finding may end: a quotation that is cut in two is none."""

OPEN = 6
"""How many open questions are shown, the newest."""


def accepted(state: State, about: str) -> list[Finding]:
    """Return the findings of earlier turns that passed and are about something, oldest first.

    Of a turn without any, such as one that was answered by a single search, it is the answer.

    Args:
        state: The state of the graph.
        about: What they shall be about.
    """
    found = _passed(state)
    ranked = rank(about, [f"{one['title']}\n{one['text'][:READ]}" for one in found])
    kept: dict[int, Finding] = {}
    room = MOST
    for at, _ in ranked[:CLOSEST]:
        short = _short(found[at])
        size = count(short["text"])
        if size <= room:
            kept[at] = short
            room -= size
    return [kept[at] for at in sorted(kept)]


def left_open(state: State) -> list[str]:
    """Return what earlier turns could not find out and no later one has, oldest first."""
    gaps: dict[str, str] = {}
    for turn, answer in _turns(state.get("answers")):
        if turn < state["turn"]:
            gaps |= {gap.partition(": ")[0]: gap for gap in answer["open"]}
    known = {one["title"] for one in _passed(state) if one["reason"] != "objected"}
    return [gap for title, gap in gaps.items() if title not in known][-OPEN:]


def sources(findings: Iterable[Finding]) -> set[str]:
    """Return the ids of the sources that findings cite."""
    return {source for finding in findings for source in finding["sources"]}


def earlier_block(findings: Sequence[Finding], gaps: Sequence[str] = ()) -> str:
    """Mark what is known from earlier turns for a model; nothing if nothing is."""
    marked = [finding_block(one, id=one["step"], title=one["title"]) for one in findings]
    return wrap("earlier", [*marked, block("open", "\n".join(gaps))])


def _passed(state: State) -> list[Finding]:
    found: dict[int, list[Finding]] = {}
    for name, finding in (state.get("findings") or {}).items():
        turn = int(name.partition("/")[0])
        if turn < state["turn"] and stands(finding):
            found.setdefault(turn, []).append(_as_it_holds(finding) | {"step": name})
    for turn, answer in _turns(state.get("answers")):
        if turn < state["turn"] and turn not in found and answer["text"]:
            found[turn] = [_as_finding(turn, answer)]
    every = [finding for turn in sorted(found) for finding in found[turn]]
    known = state.get("sources") or {}
    return [one for one in every if one["text"] and known.keys() >= set(one["sources"])]


def _as_it_holds(finding: Finding) -> Finding:
    """Return a finding without the sentences that a review rejected, and without its words."""
    if finding["reason"] not in OBJECTED:
        return finding
    return finding | {
        "text": sound(finding["text"], quoted(finding.get("doubted", ""))),
        "doubted": "",
    }


def _turns(answers: dict[str, Answer] | None) -> list[tuple[int, Answer]]:
    return sorted(((int(turn), answer) for turn, answer in (answers or {}).items()), key=_turn)


def _turn(entry: tuple[int, Answer]) -> int:
    return entry[0]


def _as_finding(turn: int, answer: Answer) -> Finding:
    return Finding(
        step=str(turn),
        title=answer["question"],
        status="ok",
        reason="",
        text=answer["text"],
        sources=answer["sources"],
        queries=[],
        attempts=0,
        review="passed",
    )


def _short(finding: Finding) -> Finding:
    """Return a finding up to the last sentence or line that fits."""
    text = finding["text"]
    if count(text) <= LONGEST:
        return finding
    ends = [0, *(match.end() for match in END.finditer(text))]
    fits = bisect_right(ends, LONGEST, key=lambda end: count(text[:end]))
    text = text[: ends[max(fits - 1, 0)]]
    return finding | {"text": text, "sources": [one for one in finding["sources"] if one in text]}
