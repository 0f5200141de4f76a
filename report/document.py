"""Put together what a finished run has to show."""

from __future__ import annotations

from graph.state import Background, Finding, Report, RunStatus, Source, State, of_turn
from report.render import Document, Gap


def document(state: State, report: Report, status: RunStatus, created: str) -> Document:
    """Return the document of the turn that `state` is in.

    Args:
        state: The state of the graph.
        report: The checked report.
        status: How the run came out.
        created: The day, as an ISO date.
    """
    sources: dict[str, Source] = state.get("sources", {})
    return Document(
        title=report["title"],
        question="" if state["question"] == report["title"] else state["question"],
        status=status,
        notices=report["notices"],
        body=report["body"],
        gaps=gaps(state),
        searched=searched(state),
        sources=list(sources.values()),
        removed=report["removed"],
        language=report["language"],
        created=created,
    )


def gaps(state: State) -> list[Gap]:
    """Return the steps of this turn that did not come out well."""
    findings: dict[str, Finding] = of_turn(state.get("findings"), state["turn"])
    return [
        Gap(title=one["title"], status=one["status"], reason=one["reason"] or one["review"])
        for one in findings.values()
        if one["status"] != "ok" or one["review"] in ("failed", "unverified")
    ]


def searched(state: State) -> list[str]:
    """Return every query of this turn, in order, once."""
    looked: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    findings: dict[str, Finding] = of_turn(state.get("findings"), state["turn"])
    queries = [entry["query"] for entry in looked.values()]
    queries += [query for finding in findings.values() for query in finding["queries"]]
    return list(dict.fromkeys(queries))
