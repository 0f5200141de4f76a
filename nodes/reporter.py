"""Write the report, and let nothing into it that its sources do not say."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from graph.state import Background, Finding, Passage, Removed, Report, RunStatus, State, of_turn
from models.load import model_name
from nodes.agent import Work, work
from prompts.loader import render
from prompts.marks import block, blocks, findings_block, pages_block
from report.document import document, gaps
from report.render import to_markdown
from report.verify import Checked, check, uncited
from retrieval.text import sentences
from runs.faults import bear
from runs.place import owner
from tools.evidence import texts_of

UNFINISHED = {"cut", "no_model", "budget", "composed"}
"""Notices of a report that is not what it was meant to be."""

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

    def add(self, text: str, part: Work) -> None:
        """Go on with another part; a heading or a list starts on a line of its own."""
        between = "\n\n" if text.startswith(("#", "-", "|", "*", "1.")) else " "
        self.text = f"{self.text}{between}{text}".strip()
        self.id = self.id or part.id
        if part.model.startswith("extractive:") and "extractive" not in self.notices:
            self.notices.append("extractive")


async def reporter(state: State, runtime: Runtime[Context]) -> State:
    """Write the report of this turn.

    Reads `question`, `plan`, `findings`, `background`, `sources`; writes `report`, `messages`,
    `status`. Without evidence no model is asked, and the report says what was searched.
    """
    texts = await _texts(state, owner(runtime))
    draft = await _draft(state, runtime) if texts else Draft()
    notices = draft.notices
    checked = _without_loose_numbers(check(draft.text, texts))
    if texts and not checked.cited:
        checked = check(_composed(state), texts)
        notices += [] if notices else ["composed"]
    wanted = model_name("reporter", runtime.context)
    if "extractive" in notices and not wanted.startswith("extractive"):
        notices[notices.index("extractive")] = "stood_in"
    status = _status(state, checked, notices)
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
    tongue = render(f"tongue_{runtime.context.language or 'own'}", language=state["language"])
    style = {"style": runtime.context.style, "tongue": tongue.strip()}
    system = render("reporter", language=state["language"], **style)
    said: list[AnyMessage] = [HumanMessage(_request(state))]
    draft = Draft()
    try:
        for _ in range(1 + CONTINUATIONS):
            part = await work(state, runtime, "reporter", system, said)
            text = part.text if part.complete else _whole(part.text)
            draft.add(text, part)
            if part.complete:
                break
            said += [AIMessage(text), HumanMessage(render("continue"))]
        else:
            draft.notices.append("cut")
    except Problem as problem:
        bear(problem)
        spent = "budget" if problem.code == "budget_spent" else "no_model"
        draft.notices.append("cut" if draft.text else spent)
    return draft


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


async def _texts(state: State, owner: str) -> dict[str, str]:
    """Return the full texts of the sources that this turn's evidence names."""
    named = {source for finding in _findings(state) for source in finding["sources"]}
    if not of_turn(state.get("findings"), state["turn"]):
        named |= {passage["source"] for passage in _passages(state)}
    named |= {passage["source"] for passage in state["knowledge"]}
    return await texts_of(owner, {name: state["sources"][name] for name in sorted(named)})


def _composed(state: State) -> str:
    """Compose a report without a model: the findings under their titles, or what was found."""
    findings = _findings(state)
    if findings:
        return "\n\n".join(f"## {one['title']}\n\n{one['text']}" for one in findings)
    quoted = [(one["source"], sentences(one["text"])) for one in _passages(state)]
    return "\n".join(f'- <q s="{name}">{said[-1].text}</q>' for name, said in quoted if said)


def _without_loose_numbers(checked: Checked) -> Checked:
    """Take out what states a number and names no source."""
    body, loose = checked.body, uncited(checked.body)
    for sentence in loose:
        body = body.replace(sentence, "").strip()
    removed = [Removed(text=sentence, reason="no_source") for sentence in loose]
    return checked._replace(body=body, removed=[*checked.removed, *removed])


def _status(state: State, checked: Checked, notices: list[str]) -> RunStatus:
    if not checked.cited:
        spent = any(gap["reason"] == "budget_spent" for gap in gaps(state))
        return "partial" if spent else "insufficient_evidence"
    fine = ("no_evidence", "failed")
    unfinished = [gap for gap in gaps(state) if gap["reason"] not in fine]
    return "partial" if unfinished or set(notices) & UNFINISHED else "succeeded"


def _whole(text: str) -> str:
    """Return a text that was cut off up to the end of its last whole sentence."""
    ends = max(text.rfind(mark) for mark in (". ", "? ", "! ", "。", "！", "？", "\n", "]"))
    return text[: ends + 1].rstrip() if ends > 0 else text
