"""Describe how a report was researched: steps, queries, what was read, failed and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from config.model_table import is_extractive
from graph.pauses import list_asked
from graph.records import (
    EMPTY_PLAN,
    Background,
    BaseSearches,
    Finding,
    Report,
    ResearchLog,
    Source,
    entries_of_turn,
)
from graph.state import State
from prompts.prompt_injection import cut_injections
from report.checks.claims import is_requester_wish
from report.citations import get_document_key, to_whole_document
from report.computed_results import list_recomputed
from report.labels import (
    append_detail,
    describe_reason,
    format_count,
    format_source_count,
    get_label,
    get_method_label,
    is_explained,
    name_unsearched,
)
from report.markdown.sanitizer import strip_foreign_addresses
from text.normalization import to_one_line

_MAX_ITEMS = 8
"""How many steps, queries and sources are named; of the rest their number."""

_MAX_ITEM_CHARS = 140

_MAX_QUERY_CHARS = 60
"""The most characters of a query that is quoted beside others."""


class MethodPart(TypedDict):
    """A list of what was done, of one kind, in words."""

    heading: str
    items: list[str]
    rest: NotRequired[str]
    """How many further items there are, in words."""


class ResearchMethod(TypedDict):
    """How a report was researched, in words."""

    summary: str
    parts: list[MethodPart]


def describe_method(state: State, report: Report, created: str) -> ResearchMethod:
    """Return how the report of this turn was researched, in a bounded number of words.

    Args:
        state: The state of the graph.
        report: The checked report.
        created: The day, as an ISO date; may be empty.
    """
    language = report["language"]
    lists = {
        "steps": _list_steps(state, language),
        "asked": _list_answers(state, report),
        "queries": _list_queries(state, report),
        "knowledge": _list_bases(state, report),
        "unused": _list_unused_titles(state, report),
        "skipped": _list_skipped(state, report),
        "unread": _list_unread(state, report, language),
        "hostile": _list_hostile(state),
        "withheld": _list_withheld(state, report, language),
        "checks": _list_checks(report, language),
        "again": list_recomputed(report.get("recomputed", []), state.get("sources", {}), language),
    }
    parts = [_to_part(name, items, language) for name, items in lists.items() if items]
    return ResearchMethod(summary=_summarize(state, report, created), parts=parts)


def _list_answers(state: State, report: Report) -> list[str]:
    """Return what the person was asked and answered; only addresses of their own are shown."""
    template = get_method_label("asked_one", report["language"])
    told = (template.format(question, answer) for question, answer in list_asked(state))
    own = "\n".join(answer for _, answer in list_asked(state))
    return [strip_foreign_addresses(one, f"{state['question']}\n{own}") for one in told]


def list_searched_queries(state: State) -> list[str]:
    """Return the queries of this turn as they were sent, in order, without repetition."""
    searches: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    queries = [entry["query"] for name, entry in searches.items() if name.isdecimal()]
    queries += [query for finding in findings.values() for query in finding["queries"]]
    return list(dict.fromkeys(filter(None, queries)))


def _list_queries(state: State, report: Report) -> list[str]:
    """Return the queries of this turn as a report may show them."""
    plain = [_to_plain_query(one, state, report) for one in list_searched_queries(state)]
    return list(dict.fromkeys(filter(None, plain)))


def _to_plain_query(query: str, state: State, report: Report) -> str:
    """Return a query without addresses that the question does not name; "" for none of its own.

    A page may have made a model write them, or words about the person that only they can say.
    """
    asked = f"{state['question']}\n{report.get('asked', '')}"
    return "" if is_requester_wish(query) else strip_foreign_addresses(query, asked)


def list_read_documents(state: State) -> list[Source]:
    """Return the documents of which this turn showed a passage to a model, in order, each once."""
    searches: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    names = [one["source"] for entry in searches.values() for one in entry["passages"]]
    names += [passage["source"] for passage in state.get("knowledge", [])]
    names += [
        name
        for finding in findings.values()
        for name in (*finding.get("read", []), *finding["sources"])
    ]
    return _to_documents(names, state.get("sources", {}))


def _to_documents(names: Iterable[str], sources: dict[str, Source]) -> list[Source]:
    """Return the documents of some ids of sources, each once."""
    documents: dict[str, Source] = {}
    for source in (sources[name] for name in names if name in sources):
        documents.setdefault(get_document_key(source), to_whole_document(source))
    return list(documents.values())


def _summarize(state: State, report: Report, created: str) -> str:
    """Return the numbers of what was done, in one sentence."""
    language, comma = report["language"], get_label("clause", report["language"])
    log = report.get("research")
    counts = {
        "steps": len(entries_of_turn(state.get("findings"), state["turn"])),
        "queries": len(list_searched_queries(state)),
        "searches": log["web_searches"] if log else 0,
    }
    told = [format_count(name, count, language) for name, count in counts.items() if count]
    told += _count_documents(state, report)
    told += [_count_calls(log, language)] if log and log["calls"] else []
    day = created or report.get("created", "")
    summary = get_method_label("summary", language).format(day=day, counts=comma.join(told))
    return summary.lstrip(":： ") if told else ""


def _count_documents(state: State, report: Report) -> list[str]:
    """Return how many documents were read, of which kinds, and how many of them are cited."""
    language, comma = report["language"], get_label("comma", report["language"])
    read = list_read_documents(state)
    cited = _to_documents(report["cited"], state.get("sources", {}))
    known = {get_document_key(one) for one in read}
    read += [one for one in cited if get_document_key(one) not in known]
    if not read:
        return []
    kinds = Counter(one["kind"] for one in read)
    named = comma.join(format_count(kind, count, language) for kind, count in kinds.items())
    total = append_detail(format_count("sources", len(read), language), named, language)
    return [total, get_method_label("cited", language).format(len(cited))]


def _count_calls(log: ResearchLog, language: str) -> str:
    """Return how many calls of models were made, and of which."""
    names = [
        get_label("extractive_name", language) if is_extractive(one) else one
        for one in log["calls"]
    ]
    total = format_count("calls", sum(log["calls"].values()), language)
    return append_detail(total, get_label("comma", language).join(filter(None, names)), language)


def _list_steps(state: State, language: str) -> list[str]:
    """Return the title of each step and how it ended."""
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    colon, sources = get_label("colon", language), state.get("sources", {})
    return [
        f"{one['title'].rstrip('?？ ')}{colon}{_describe_outcome(one, sources, language)}"
        for one in findings.values()
    ]


def _describe_outcome(finding: Finding, sources: dict[str, Source], language: str) -> str:
    """Return in words how a step ended, with the number of documents that its finding names."""
    if finding["status"] == "ok" and finding["review"] != "failed":
        whole = finding.get("outcome") != "exhausted"
        words, count = get_method_label("answered" if whole else "exhausted", language), ""
        if cited := len(_to_documents(finding["sources"], sources)):
            count = format_source_count(cited, language)
        return append_detail(words, count, language)
    return describe_reason(finding["reason"] or finding["review"], finding["status"], language)


def _list_bases(state: State, report: Report) -> list[str]:
    """Return the knowledge bases of the plan: for what each was searched, and what was read."""
    language, log = report["language"], report.get("research")
    searched = log.get("bases", {}) if log else {}
    seen = Counter((one["kind"], one.get("site", "")) for one in list_read_documents(state))
    items = []
    for name in state.get("plan", EMPTY_PLAN).get("knowledge", []):
        read, computed = seen["knowledge", name], seen["computed", name]
        told = [
            _describe_base_searches(searched[name], state, report) if name in searched else "",
            format_count("sources", read, language) if read or not computed else "",
            format_count("computed", computed, language) if computed else "",
        ]
        detail = get_label("comma", language).join(filter(None, told))
        items.append(append_detail(name, detail, language))
    return items


def _describe_base_searches(searches: BaseSearches, state: State, report: Report) -> str:
    """Return how many passages a base had for what; one of several queries is quoted."""
    language = report["language"]
    plain = (_to_plain_query(one, state, report) for one in searches["queries"])
    shown = [to_one_line(one, _MAX_QUERY_CHARS) for one in plain if one]
    passages = format_count("passages", searches["passages"], language)
    if not shown:
        return passages
    others = format_count("other_queries", len(searches["queries"]) - 1, language)
    wording = "passages_for" if len(searches["queries"]) == 1 else "passages_for_several"
    return get_method_label(wording, language).format(passages, shown[0], others)


def _list_unused_titles(state: State, report: Report) -> list[str]:
    """Return the titles of the documents that were read and are not cited."""
    cited = _to_documents(report["cited"], state.get("sources", {}))
    known = {get_document_key(one) for one in cited}
    unused = [one for one in list_read_documents(state) if get_document_key(one) not in known]
    return [one["title"] or one["location"] for one in unused]


def _list_skipped(state: State, report: Report) -> list[str]:
    """Return the titles of the documents that steps found and nobody read or cited."""
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    known = [*list_read_documents(state), *_to_documents(report["cited"], state.get("sources", {}))]
    read = {one["title"] for one in known}
    titles = (title for finding in findings.values() for title in finding.get("skipped", []))
    return [title for title in dict.fromkeys(titles) if title not in read]


def _list_hostile(state: State) -> list[str]:
    """Return the titles of what was read and tries to instruct models, the person's own too."""
    every = state.get("sources", {}).values()
    hostile = {get_document_key(one) for one in every if one.get("genre") == "hostile"}
    read = [one for one in list_read_documents(state) if get_document_key(one) in hostile]
    return [cut_injections(one["title"] or one["location"]) for one in read]


def _list_unread(state: State, report: Report, language: str) -> list[str]:
    """Return what could not be searched or read, with the reasons in words."""
    unsearched: dict[str, str] = entries_of_turn(state.get("unsearched"), state["turn"])
    log = report.get("research")
    unanswered = log.get("unanswered", {}) if log else {}
    names = {**dict.fromkeys(unsearched, 1), **unanswered}
    failed = [
        append_detail(
            name_unsearched(name, language),
            _describe_failure(unsearched.get(name, ""), language),
            language,
        )
        + (f" ×{count}" if count > 1 else "")
        for name, count in names.items()
    ]
    sites = Counter((one["site"], one["reason"]) for one in (log["unread"] if log else []))
    pages = [
        append_detail(site, describe_reason(reason, "failed", language), language)
        + (f" ×{count}" if count > 1 else "")
        for (site, reason), count in sites.items()
    ]
    return failed + pages


def _describe_failure(why: str, language: str) -> str:
    """Return in words why a tool of an MCP server, or a search, gave nothing."""
    reason = why if is_explained(why) else "search_unavailable"
    return describe_reason(reason, "failed", language)


def _list_checks(report: Report, language: str) -> list[str]:
    """Return how the text was checked, and with which result."""
    if not report["body"]:
        return []
    second = get_method_label(f"second_{report.get('second_reader', '')}", language)
    counts = {"removed": len(report["removed"]), "doubted": len(report.get("doubted", []))}
    results = [
        get_method_label(name, language).format(format_count("sentences", count, language))
        for name, count in counts.items()
        if count
    ]
    return list(filter(None, [get_method_label("by_words", language), second, *results]))


def list_part_items(part: MethodPart) -> list[str]:
    """Return what a part names, and how much more there is."""
    return [*part["items"], *filter(None, [part.get("rest", "")])]


def _list_withheld(state: State, report: Report, language: str) -> list[str]:
    """Return what of private words was kept back: the searches as sent, and those not sent."""
    log = report.get("research")
    kept = log.get("withheld", []) if log else []
    lines: dict[str, None] = {}
    for one in kept:
        sent = _to_plain_query(one["sent"], state, report)
        name = "withheld_tool" if one["to"] else "withheld_part" if sent else "withheld_whole"
        lines[get_method_label(name, language).format(one["to"] or sent)] = None
    return list(lines)


def _to_part(name: str, items: Sequence[str], language: str) -> MethodPart:
    shown = [to_one_line(one, _MAX_ITEM_CHARS) for one in items[:_MAX_ITEMS]]
    part = MethodPart(heading=get_method_label(name, language), items=shown)
    if more := len(items) - len(shown):
        part["rest"] = get_method_label("rest", language).format(more)
    return part
