"""dossier memory list, show, search, add, edit, insights, why.

What is remembered, and what calls were told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.table import Column
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line, print_json
from app.cli.table import (
    SHORT_ID,
    describe_fields,
    local_time,
    make_table,
    print_renderables,
    shorten_id,
    truncate_cell,
)
from memory import registry
from memory.experience.insights import Insight, has_guidance, list_insight_support, list_insights
from memory.experience.memory import NOT_RECALLED
from memory.facts.fact import NewFact
from memory.learning.learner import learn_fact
from memory.protocol import MemoryItem
from memory.registry import RecalledItem, RecallExplanation, explain_recall
from runs.lifecycle import find_run
from text.pluralization import pluralize


async def print_item_list(*, memory: str, every: bool, limit: int, invocation: Invocation) -> None:
    """List what each memory keeps, the newest first."""
    items = await registry.list_items(invocation.owner, limit, memory, every=every)
    nothing = "Nothing yet: dossier memory add TEXT adds a fact."
    _print_items(items, limit, nothing, invocation)


async def print_item_search(*, query: str, memory: str, limit: int, invocation: Invocation) -> int:
    """Find what fits some words, in every memory; the status is 1 if nothing does."""
    items = await registry.search_items(invocation.owner, query, limit, memory)
    _print_items(items, limit, "Nothing found.", invocation)
    return 0 if any(items.values()) else 1


async def print_item(*, id: str, invocation: Invocation) -> None:
    """Show one thing whole: a fact, an insight, a page, a report, a file or the profile.

    Raises:
        Problem: What `memory.registry.find_items` tells of.
    """
    items = await registry.find_items(invocation.owner, id)
    if invocation.as_json:
        whole = [item_as_dict(item) | {"more": dict(item.more)} for item in items]
        print_json(whole[0] if len(whole) == 1 else whole)
        return
    for item in items:
        _show(item)


async def add_stated_fact(*, text: str, category: str, invocation: Invocation) -> None:
    """Add a fact about yourself.

    Raises:
        Problem: What `memory.facts.store.add_fact` tells of.
    """
    stated = NewFact(text, category)
    fact = await learn_fact(invocation.owner, stated, "added by the person")
    data = {"id": fact.id, "memory": "facts", "text": fact.content}
    invocation.print_result(data, f"{fact.id}  {fact.content}")


async def edit_item_text(*, id: str, text: str, invocation: Invocation) -> None:
    """Let a fact or an insight say something else.

    Raises:
        Problem: What `memory.registry.edit_item` tells of.
    """
    item = await registry.edit_item(invocation.owner, id, text)
    invocation.print_result(item_as_dict(item), f"{item.id}  {item.text}")


def item_as_dict(item: MemoryItem) -> dict[str, Any]:
    """Return a thing as `--json` prints it."""
    fields = item._asdict()
    del fields["more"]
    return fields


def _print_items(
    found: Mapping[str, list[MemoryItem]], limit: int, nothing: str, invocation: Invocation
) -> None:
    every = [item for items in found.values() for item in items]
    rows = make_table("id", "memory", "kind", Column("what it says"))
    for item in every:
        state = f"({item.state}) " if item.state else ""
        text = item.text if item.memory in ("facts", "profile") else item.title or item.text
        # The path of a file is its name.
        id = item.id if "/" in item.id else item.id[:SHORT_ID]
        rows.add_row(truncate_cell(id[-24:]), item.memory, item.kind, truncate_cell(state + text))
    full = [name for name, items in found.items() if len(items) == limit]
    more = f"There may be more of {', '.join(full)}: --limit N shows them."
    data = [item_as_dict(item) for item in every]
    invocation.print_result(data, rows if every else nothing, *[Text(more)] * bool(full))


def _show(item: MemoryItem) -> None:
    head = Text(one_line(item.title) or item.memory, "bold")
    fields: dict[str, Any] = {"id": item.id, "memory": item.memory, "kind": item.kind}
    since = f"{local_time(item.at):%Y-%m-%d}" if item.at else ""
    fields |= {"state": item.state, "since": since, "provenance": item.provenance}
    fields |= {"run": item.run}
    hidden = {*fields, "live", "created", "profile", "learned", "valid_from"}
    fields |= {name: value for name, value in item.more.items() if name not in hidden}
    print_renderables(head, describe_fields(fields, ("", "None", "0")), "")
    print(item.text)


async def print_recall_explanation(*, run: str, invocation: Invocation) -> None:
    """Show what the calls of a run were told, and why that was chosen.

    Raises:
        Problem: `run_not_found`.
    """
    name = (await find_run(invocation.owner, run)).id
    explanation = await explain_recall(invocation.owner, name)
    texts = text_columns(explanation)
    rows = make_table("id", "memory", Column("score"), Column("told to"), *texts)
    for one in explanation.items:
        parts = " ".join(f"{part} {value:.2g}" for part, value in one.score.items())
        where = ", ".join(f"{place} ×{count}" for place, count in one.where.items())
        cells = (truncate_cell(describe(one)) for describe in texts.values())
        rows.add_row(
            truncate_cell(shorten_id(one.id)), one.memory, Text(parts), Text(where), *cells
        )
    data = {"run": name, **explanation._asdict()}
    data["told"] = [
        one._asdict() | {"item": one.item and item_as_dict(one.item)} for one in data.pop("items")
    ]
    shown = [rows, Text(summarize_recalled_notes(explanation))]
    nothing = f"No call of {name} was told anything."
    invocation.print_result(data, *(shown if explanation.items else [nothing]))


def summarize_recalled_notes(explanation: RecallExplanation) -> str:
    """Return how many calls were told anything, and how long that was."""
    calls = pluralize(explanation.calls, "call was", "calls were")
    about = "about " if explanation.estimated else ""
    return f"{calls} reminded, with {about}{pluralize(explanation.tokens, 'token')} in all"


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


OWN_WORDS = "Use dossier memory edit ID TEXT to supply your own wording."


async def print_insights(*, invocation: Invocation) -> None:
    """List what past runs teach, the best first."""
    insights = await list_insights(invocation.owner)
    support = await list_insight_support(invocation.owner)
    data = []
    rows = make_table("insight", "worth", "won", "runs", Column("what to do"))
    for one in insights:
        runs = support.get(one.id, [])
        data.append(_insight_as_dict(one, runs))
        signs = [sign for _, sign in runs]
        votes = f"+{signs.count(1)} −{signs.count(-1)}"
        state = "" if has_guidance(one) else f"({NOT_RECALLED}) "
        words = Text(state + one_line(one.content), overflow="fold")
        rows.add_row(one.id[:8], f"{one.score:.2f}", f"{one.wins}/{one.uses}", votes, words)
    invocation.print_result(data, rows if insights else "No insights yet: they come with runs.")
    if not invocation.as_json and not all(map(has_guidance, insights)):
        print(f"({NOT_RECALLED}): nobody has vouched for these words. {OWN_WORDS}")


def _insight_as_dict(one: Insight, runs: list[tuple[str, int]]) -> dict[str, Any]:
    text = {"id": one.id, "content": one.content, "projections": dict(one.projections)}
    record = {"worth": one.score, "wins": one.wins, "uses": one.uses, "created": one.created}
    signs = [{"run": run, "sign": sign} for run, sign in runs]
    return {**text, "told": has_guidance(one), **record, "runs": signs}
