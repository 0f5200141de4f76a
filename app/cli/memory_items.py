"""dossier memory list, show, search, add, edit, insights, why.

What is remembered, and what calls were told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from rich.table import Column
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import one_line, print_json
from app.cli.table import make_table, print_renderables
from memory import registry
from memory.experience.insights import Insight, has_guidance, list_insight_support, list_insights
from memory.experience.memory import NOT_RECALLED
from memory.facts.fact import NewFact
from memory.learning.learner import learn_fact
from memory.protocol import MemoryItem
from memory.registry import RecalledItem, RecallExplanation, explain_recall
from runs.lifecycle import find_run
from text.pluralization import pluralize

SHORT_ID = 12
"""So many characters of an id are listed; they are enough to name it."""


def print_item_list(
    *,
    memory: str,
    every: bool,
    limit: int,
    invocation: Invocation,
) -> int:
    """List what each memory keeps, the newest first."""
    owner = invocation.owner
    return _list(
        run_and_close(registry.list_items(owner, limit, memory, every=every)),
        limit,
        as_json=invocation.as_json,
    )


def print_item_search(
    *,
    query: str,
    memory: str,
    limit: int,
    invocation: Invocation,
) -> int:
    """Find what fits some words, in every memory."""
    owner = invocation.owner
    return _list(
        run_and_close(registry.search_items(owner, query, limit, memory)),
        limit,
        as_json=invocation.as_json,
    )


def print_item(*, id: str, invocation: Invocation) -> int:
    """Show one thing whole: a fact, an insight, a page, a report, a file or the profile.

    Raises:
        Problem: What `memory.registry.find_items` tells of.
    """
    items = run_and_close(registry.find_items(invocation.owner, id))
    if invocation.as_json:
        whole = [_item_as_dict(item) | {"more": dict(item.more)} for item in items]
        print_json(whole[0] if len(whole) == 1 else whole)
        return 0
    for item in items:
        _show(item)
    return 0


def add_stated_fact(*, text: str, category: str, invocation: Invocation) -> int:
    """Add a fact about yourself.

    Raises:
        Problem: What `memory.facts.store.add_fact` tells of.
    """
    owner = invocation.owner
    fact = run_and_close(learn_fact(owner, NewFact(text, category), "added by the person"))
    if invocation.as_json:
        print_json({"id": fact.id, "memory": "facts", "text": fact.content})
    else:
        print(f"{fact.id}  {fact.content}")
    return 0


def edit_item_text(*, id: str, text: str, invocation: Invocation) -> int:
    """Let a fact or an insight say something else.

    Raises:
        Problem: What `memory.registry.edit_item` tells of.
    """
    item = run_and_close(registry.edit_item(invocation.owner, id, text))
    if invocation.as_json:
        print_json(_item_as_dict(item))
    else:
        print(f"{item.id}  {item.text}")
    return 0


def _item_as_dict(item: MemoryItem) -> dict[str, Any]:
    """Return a thing as `--json` prints it."""
    fields = item._asdict()
    return {name: fields[name] for name in fields if name != "more"}


def _format_day(at: float) -> str:
    """Return a day as it is listed; nothing for a time that nobody knows."""
    return f"{datetime.fromtimestamp(at, UTC).astimezone():%Y-%m-%d}" if at else ""


def truncate_cell(text: str) -> Text:
    """Return a text for a column that is cut off where the line ends."""
    return Text(one_line(text), no_wrap=True, overflow="ellipsis")


def _list(found: Mapping[str, list[MemoryItem]], limit: int, *, as_json: bool) -> int:
    if as_json:
        print_json([_item_as_dict(item) for items in found.values() for item in items])
        return 0
    rows = make_table("id", "memory", "kind", Column("what it says"))
    for items in found.values():
        for item in items:
            state = f"({item.state}) " if item.state else ""
            said = item.text if item.memory in ("facts", "profile") else item.title or item.text
            # The path of a file is its name.
            id = item.id if len(item.id) <= SHORT_ID or "/" in item.id else item.id[:SHORT_ID]
            rows.add_row(
                truncate_cell(id[-24:]), item.memory, item.kind, truncate_cell(state + said)
            )
    full = [name for name, items in found.items() if len(items) == limit]
    more = f"There may be more of {', '.join(full)}: --limit N shows them." if full else ""
    some = any(found.values())
    print_renderables(
        rows if some else "Nothing yet: dossier memory add TEXT adds a fact.", *_lines(more)
    )
    return 0


def _lines(text: str) -> Iterator[Text]:
    if text:
        yield Text(text)


def _show(item: MemoryItem) -> None:
    head = Text(one_line(item.title) or item.memory, "bold")
    fields: dict[str, Any] = {"id": item.id, "memory": item.memory, "kind": item.kind}
    fields |= {"state": item.state, "since": _format_day(item.at), "provenance": item.provenance}
    fields |= {"run": item.run}
    left = {*fields, "live", "created", "profile", "learned", "valid_from"}
    fields |= {name: value for name, value in item.more.items() if name not in left}
    lines = [f"{name:13} {one_line(str(value))}" for name, value in fields.items()]
    full = [line for line in lines if not line.endswith((" ", " None", " 0"))]
    print_renderables(head, Text("\n".join(full)), "")
    print(item.text)


def print_reminders(*, run: str, invocation: Invocation) -> int:
    """Show what the calls of a run were told, and why that was chosen.

    Raises:
        Problem: `run_not_found`.
    """
    name, explanation = run_and_close(_why(invocation.owner, run))
    if invocation.as_json:
        notes = [_reminder_as_dict(one) for one in explanation.items]
        sums = {
            "calls": explanation.calls,
            "tokens": explanation.tokens,
            "estimated": explanation.estimated,
        }
        print_json({"run": name, **sums, "told": notes})
        return 0
    rows = make_table(
        "id", "memory", Column("score"), Column("told to"), *text_columns(explanation)
    )
    for one in explanation.items:
        parts = " ".join(f"{part} {value:.2g}" for part, value in one.score.items())
        where = ", ".join(f"{place} ×{count}" for place, count in one.where.items())
        head = truncate_cell(_shorten_id(one.id)), one.memory, Text(parts), Text(where)
        rows.add_row(
            *head, *(truncate_cell(says(one)) for says in text_columns(explanation).values())
        )
    print_renderables(
        *(
            [rows, Text(summarize_reminders(explanation))]
            if explanation.items
            else [f"No call of {name} was explanation anything."]
        )
    )
    return 0


def summarize_reminders(explanation: RecallExplanation) -> str:
    """Return how many calls were explanation anything, and how long that was."""
    calls = pluralize(explanation.calls, "call was", "calls were")
    about = "about " if explanation.estimated else ""
    return f"{calls} reminded, with {about}{pluralize(explanation.tokens, 'token')} in all"


async def _why(owner: str, name: str) -> tuple[str, RecallExplanation]:
    run = await find_run(owner, name)
    return run.id, await explain_recall(owner, run.id)


def _shorten_id(id: str) -> str:
    return id.rpartition("/")[2] if "/" in id else id[:SHORT_ID]


def text_columns(explanation: RecallExplanation) -> dict[str, Callable[[RecalledItem], str]]:
    """Return what is shown of each thing: what it said, and what it says now where that differs."""
    columns: dict[str, Callable[[RecalledItem], str]] = {
        "what it said": _text_then,
        "what it says now": _text_now,
    }
    return {name: says for name, says in columns.items() if any(map(says, explanation.items))}


def _text_then(one: RecalledItem) -> str:
    cut = f"({one.cut[0]:,} of {pluralize(one.cut[1], 'line')}) " if one.cut[1] else ""
    return cut + one_line(one.said or "")


def _text_now(one: RecalledItem) -> str:
    if one.item is None:
        return "(gone)"
    text = one.item.title if one.memory in ("reports", "pages") else one.item.text
    now = "" if text == one.said else one_line(text)
    return f"({one.item.state}) {now}".rstrip() if one.item.state else now


def _reminder_as_dict(one: RecalledItem) -> Mapping[str, Any]:
    fields = one._asdict()
    return {**fields, "item": _item_as_dict(one.item) if one.item else None}


OWN_WORDS = "Use dossier memory edit ID TEXT to supply your own wording."

_RatedInsight = tuple[Insight, list[tuple[str, int]]]


def print_insights(*, invocation: Invocation) -> int:
    """List what past runs teach, the best first."""
    known = run_and_close(_list_rated_insights(invocation.owner))
    if invocation.as_json:
        print_json([_insight_as_dict(one, runs) for one, runs in known])
        return 0
    rows = make_table("insight", "worth", "won", "runs", Column("what to do"))
    for one, runs in known:
        signs = [sign for _, sign in runs]
        spoken = f"+{signs.count(1)} −{signs.count(-1)}"
        state = "" if has_guidance(one) else f"({NOT_RECALLED}) "
        words = Text(state + one_line(one.content), overflow="fold")
        rows.add_row(one.id[:8], f"{one.score:.2f}", f"{one.wins}/{one.uses}", spoken, words)
    print_renderables(rows if known else "No insights yet: they come with runs.")
    if not all(has_guidance(one) for one, _ in known):
        print(f"({NOT_RECALLED}): nobody has vouched for these words. {OWN_WORDS}")
    return 0


async def _list_rated_insights(owner: str) -> list[_RatedInsight]:
    known, runs = await list_insights(owner), await list_insight_support(owner)
    return [(one, runs.get(one.id, [])) for one in known]


def _insight_as_dict(one: Insight, runs: list[tuple[str, int]]) -> dict[str, Any]:
    said = {"id": one.id, "content": one.content, "projections": dict(one.projections)}
    record = {"worth": one.score, "wins": one.wins, "uses": one.uses, "created": one.created}
    return {
        **said,
        "told": has_guidance(one),
        **record,
        "runs": [{"run": run, "sign": sign} for run, sign in runs],
    }
