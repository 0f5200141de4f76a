"""Write the report, and let nothing into it that its sources do not say."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from graph.state import Background, Finding, Passage, Report, RunStatus, State, of_turn
from memory import pages
from nodes.agent import Work, work
from prompts.loader import render
from prompts.marks import block, blocks, findings_block, pages_block
from report.document import document, gaps
from report.render import to_markdown
from report.verify import Checked, check
from runs.faults import FATAL

CONTINUATIONS = 3
"""How often a report that was cut off is continued."""


@dataclass
class Draft:
    """What the model wrote, what a reader must be told about it, and the id it was streamed with.

    The finished report takes that id, so that it replaces what was streamed.
    """

    text: str = ""
    notices: list[str] = field(default_factory=list)
    id: str | None = None


async def reporter(state: State, runtime: Runtime[Context]) -> State:
    """Write the report of this turn.

    Reads `question`, `plan`, `findings`, `background`, `sources`; writes `report`, `messages`,
    `status`. Without evidence no model is asked, and the report says what was searched.
    """
    texts = await _texts(state)
    draft = await _draft(state, runtime) if texts else Draft()
    notices = draft.notices
    checked = check(draft.text, texts)
    if texts and not checked.cited:
        checked = check(_from_findings(state), texts)
        notices.append("composed")
    status = _status(state, checked)
    report = Report(
        title=state["plan"]["title"] or state["question"][:120],
        body=checked.body,
        cited=checked.cited,
        quotes=checked.quotes,
        removed=checked.removed,
        notices=[render(f"notice_{name}", language=state["language"]).strip() for name in notices],
        language=state["language"],
    )
    today = datetime.now(UTC).date().isoformat()
    shown = to_markdown(document(state, report, status, today))
    return State(report=report, status=status, messages=[AIMessage(shown, id=draft.id)])


async def _draft(state: State, runtime: Runtime[Context]) -> Draft:
    """Have the model write, going on where it was cut off."""
    system = render("reporter", language=state["language"], style=runtime.context.style)
    said: list[AnyMessage] = [HumanMessage(_request(state))]
    parts: list[Work] = []
    try:
        for _ in range(1 + CONTINUATIONS):
            parts.append(await work(state, runtime, "reporter", system, said))
            if parts[-1].complete:
                break
            said += [AIMessage(parts[-1].text), HumanMessage(render("continue"))]
    except Problem as problem:
        if problem.code in FATAL:
            raise
        return Draft(notices=["no_model"])
    notices = [] if parts[-1].complete else ["cut"]
    if parts[-1].model.startswith("extractive:"):
        notices.append("extractive")
    return Draft(" ".join(part.text for part in parts), notices, parts[0].id)


def _request(state: State) -> str:
    findings = _findings(state)
    passages = [] if findings else _passages(state)
    told = [f"{gap['title']}: {gap['reason']}" for gap in gaps(state)]
    return blocks(
        block("question", state["question"]),
        block("plan", state["plan"]) if findings else "",
        findings_block(findings),
        pages_block([*passages, *state["knowledge"]], state.get("sources", {})),
        block("gaps", "\n".join(told)),
    )


def _findings(state: State) -> list[Finding]:
    found: dict[str, Finding] = of_turn(state.get("findings"), state["turn"])
    return [one for one in found.values() if one["text"]]


def _passages(state: State) -> list[Passage]:
    entries: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    seen: dict[str, Passage] = {}
    for entry in entries.values():
        seen |= {f"{one['source']} {one['text']}": one for one in entry["passages"]}
    return list(seen.values())


async def _texts(state: State) -> dict[str, str]:
    """Return the full texts of the sources that this turn's evidence names."""
    named = {source for finding in _findings(state) for source in finding["sources"]}
    if not of_turn(state.get("findings"), state["turn"]):
        named |= {passage["source"] for passage in _passages(state)}
    named |= {passage["source"] for passage in state["knowledge"]}
    sources = state.get("sources", {})
    stored = await pages.texts([sources[name]["page"] for name in named])
    return {name: stored[sources[name]["page"]] for name in sorted(named)}


def _from_findings(state: State) -> str:
    """Compose a report without a model: the findings, under the titles of their steps."""
    return "\n\n".join(f"## {one['title']}\n\n{one['text']}" for one in _findings(state))


def _status(state: State, checked: Checked) -> RunStatus:
    if not checked.cited:
        return "insufficient_evidence"
    unfinished = [
        gap for gap in gaps(state) if gap["reason"] not in ("no_evidence", "failed", "unverified")
    ]
    return "partial" if unfinished else "succeeded"
