"""Select the usable text of findings from this turn and earlier ones."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from html import escape

from graph.records import (
    COMPUTED_ENTRY,
    UNCOMPUTED_ENTRY,
    Background,
    Finding,
    Objection,
    Passage,
    TurnAnswer,
    entries_of_turn,
)
from graph.state import State
from prompts.data_blocks import LEFT_OUT, render_block, render_finding_block, wrap_blocks
from report.checks.caveats import is_absence_remark
from report.checks.claims import classify_statement
from report.document import find_reached_limit
from report.markdown.markdown_blocks import (
    drop_removed_blocks,
    join_blocks,
    list_prose_blocks,
    list_statements,
    parse_blocks,
    split_statements,
    statement_key,
)
from report.markdown.markers import has_quotation, list_cited_ids, normalize_round_markers
from report.markdown.sanitizer import strip_framing
from report.rendering.markdown_report import render_plain_text
from report.versions import get_previous_version, list_previous_sources
from text.keyword_ranking import rank_texts
from text.normalization import to_one_line
from text.pattern_files import PatternFile
from text.script import detect_language
from text.sentences import is_heading, split_sentences
from text.tokens import estimate_tokens
from text.words import search_words

_PATTERNS = PatternFile("report", "findings.toml")

PARTLY_REJECTED = ("objected", "set_right")
"""Reasons of findings that a review rejected only in part; their other sentences are usable.

`objected`: something is missing. `set_right`: wrong sentences were removed.
"""

_MIN_SHARED_WORDS = {"en": 3, "zh": 5}  # when the review does not copy the statement


def is_usable_finding(finding: Finding) -> bool:
    """Tell whether the text of a finding may be used, also by later turns."""
    # An unreviewed finding has passed the checks only.
    passed = finding["status"] == "ok" and finding["review"] in ("passed", "")
    return bool(finding["text"]) and (passed or finding["reason"] in PARTLY_REJECTED)


def list_rejected_statements(text: str, copied: Sequence[str], feedback: str) -> list[str]:
    """Return the statements of a finding that a review calls wrong.

    If the review copied none, the one statement closest to its feedback is returned, provided the
    feedback corrects something.

    Args:
        text: The text of the finding.
        copied: The statements that the review copied.
        feedback: The review's comment on the finding.
    """
    statements = _list_statements(text)
    copies = [_plain_key(copy) for copy in copied]
    found = [
        statement
        for statement in statements
        if any(_is_copy(_plain_key(statement), copy) for copy in copies)
    ]
    if found or copied or not _PATTERNS.corrects.search(feedback):
        return found
    mentioned = set(search_words(feedback))
    denied = set(search_words(" ".join(_PATTERNS.denied.findall(feedback))))
    words = {one: set(search_words(render_plain_text(one))) for one in statements}

    def score(statement: str) -> int:
        """Return how many words are shared; one that the feedback denies outweighs all others."""
        shared = words[statement]
        return len(mentioned & shared) + len(mentioned) * bool(denied & shared)

    best = max(words, key=score, default="")
    enough = best and len(mentioned & words[best]) >= _MIN_SHARED_WORDS[detect_language(best)]
    return [best] if enough else []


def list_finding_sources(finding: Finding) -> list[str]:
    """Return the ids that a finding cites, in its text and in what its sources disagree about."""
    said = "\n\n".join([finding["text"], *finding.get("disagreements", [])])
    return list(dict.fromkeys(list_cited_ids(said)))


def list_unchanged_rejections(text: str, objection: Objection) -> list[str]:
    """Return the statements that a review calls wrong and that were not put in other words since.

    Args:
        text: The text of the finding, which was written again after the review.
        objection: What the review held against the text before.
    """
    before = set(map(_plain_key, _list_statements(objection["text"])))
    # A whole statement that has more words than its copy was put in other words.
    copies = {key for copy in objection["wrong"] if (key := _plain_key(copy))} - before
    rejected = list_rejected_statements(text, objection["wrong"], objection["feedback"])
    keys = ((one, _plain_key(one)) for one in rejected)
    return [one for one, key in keys if key in before or any(copy in key for copy in copies)]


def _list_statements(text: str) -> list[str]:
    return [
        statement
        for _, block in list_prose_blocks(parse_blocks(text))
        for statement in list_statements(block)
    ]


def _plain_key(statement: str) -> str:
    return statement_key(render_plain_text(statement))


def _is_copy(statement: str, copy: str) -> bool:
    """Tell whether one of two texts contains the other and is less than twice as long."""
    short, long = sorted((statement, copy), key=len)
    return bool(short) and short in long and 2 * len(short) > len(long)


def drop_doubted(body: str, doubted: Sequence[str]) -> str:
    """Return a text without its doubted statements and lines of code."""
    if not doubted:
        return body
    keys = {_plain_key(statement) for statement in doubted}
    blocks = [*parse_blocks(body)]
    for at, block in enumerate(blocks):
        if block.kind == "fence":
            lines = [line for line in block.text.split("\n") if statement_key(line) not in keys]
            blocks[at] = block._replace(text="\n".join(lines))
        elif block.kind in ("text", "item", "quote", "row"):
            statements = list_statements(block)
            rest = "".join(one for one in statements if _plain_key(one) not in keys).strip()
            blocks[at] = block._replace(text=rest, kind=block.kind if rest else "gone")
    return join_blocks(drop_removed_blocks(blocks))


def parse_quoted_sentences(told: str) -> list[str]:
    """Return the sentences quoted in lines about doubts, at most one per line."""
    tails = (line.partition("“")[2] for line in told.split("\n"))
    return [tail[:-1] for tail in tails if len(tail) > 1 and tail.endswith("”")]


MAX_EARLIER_TOKENS = 6_000
"""Limit of the findings of earlier turns together, in tokens."""

MAX_FINDING_TOKENS = 1_800
"""Limit of one finding of an earlier turn, in tokens."""

_RANKED_CHARS = 4 * MAX_FINDING_TOKENS
MAX_RANKED_FINDINGS = 24
"""How many of the best findings are tried for size: a long thread has hundreds."""

_MAX_OPEN_QUESTIONS = 6  # the newest


def select_earlier_findings(state: State, about: str) -> list[Finding]:
    """Return the usable findings of earlier turns on a subject, oldest first.

    A turn without findings, such as one answered by a single search, contributes its answer.

    Args:
        state: The state of the graph.
        about: The subject.
    """
    findings = _list_earlier_findings(state)
    texts = [f"{one['title']}\n{one['text'][:_RANKED_CHARS]}" for one in findings]
    selected: dict[int, Finding] = {}
    budget = MAX_EARLIER_TOKENS
    for at, _ in rank_texts(about, texts)[:MAX_RANKED_FINDINGS]:
        finding = _shorten(findings[at])
        size = estimate_tokens(finding["text"])
        if size <= budget:
            selected[at] = finding
            budget -= size
    return [selected[at] for at in sorted(selected)]


def list_open_questions(state: State) -> list[str]:
    """Return the gaps of earlier turns that no finding has closed since, oldest first."""
    gaps: dict[str, str] = {}
    for turn, answer in _sort_answers(state.get("answers")):
        if turn < state["turn"]:
            gaps |= {gap.partition(": ")[0]: gap for gap in answer["open"]}
    findings = _list_earlier_findings(state)
    closed = {one["title"] for one in findings if one["reason"] != "objected"}
    return [gap for title, gap in gaps.items() if title not in closed][-_MAX_OPEN_QUESTIONS:]


def collect_source_ids(findings: Iterable[Finding]) -> set[str]:
    """Return the ids of the sources that findings cite."""
    return {source for finding in findings for source in finding["sources"]}


def render_earlier_block(findings: Sequence[Finding], gaps: Sequence[str] = ()) -> str:
    """Return the prompt block of findings and gaps from earlier turns; empty without any."""
    marked = [render_finding_block(one, id=one["step"], title=one["title"]) for one in findings]
    return wrap_blocks("earlier", [*marked, render_block("open", "\n".join(gaps))])


def render_open_block(findings: Iterable[Finding]) -> str:
    """Return the prompt block of what the reviews of findings left open; empty without any."""
    points = (point for one in findings for point in one.get("open", []))
    return render_block("open", "\n".join(dict.fromkeys(points)))


def _list_earlier_findings(state: State) -> list[Finding]:
    """Return the usable findings of earlier turns whose sources the thread still has."""
    found: dict[int, list[Finding]] = {}
    for name, finding in (state.get("findings") or {}).items():
        turn = int(name.partition("/")[0])
        if turn < state["turn"] and is_usable_finding(finding):
            found.setdefault(turn, []).append(_without_rejected(finding) | {"step": name})
    for turn, answer in _sort_answers(state.get("answers")):
        if turn < state["turn"] and turn not in found and _is_told(answer):
            found[turn] = [_as_finding(turn, answer)]
    revision = state.get("revision")
    stale = set(revision.get("stale", [])) if revision else set[str]()
    known = (state.get("sources") or {}).keys() - stale
    return [
        finding
        for turn in sorted(found)
        for finding in found[turn]
        if finding["text"] and known >= set(finding["sources"])
    ]


def _is_told(answer: TurnAnswer) -> bool:
    """Tell whether an answer tells later turns something: it has words, and is not refreshed."""
    return bool(answer["text"]) and not answer.get("replaced")


def _without_rejected(finding: Finding) -> Finding:
    """Return a finding without the sentences that its review rejected, and without the doubts."""
    if finding["reason"] not in PARTLY_REJECTED:
        return finding
    rejected = parse_quoted_sentences(finding.get("doubted", ""))
    return finding | {"text": drop_doubted(finding["text"], rejected), "doubted": ""}


def _sort_answers(answers: dict[str, TurnAnswer] | None) -> list[tuple[int, TurnAnswer]]:
    """Return turns and their answers, oldest first."""
    turns = {int(turn): answer for turn, answer in (answers or {}).items()}
    return [(turn, turns[turn]) for turn in sorted(turns)]


def _as_finding(turn: int, answer: TurnAnswer) -> Finding:
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


def _shorten(finding: Finding) -> Finding:
    """Return a finding cut after the last sentence or line that fits, and marked as cut."""
    text = finding["text"]
    if estimate_tokens(text) <= MAX_FINDING_TOKENS:
        return finding
    ends = [0, *(match.end() for match in _PATTERNS.finding_end.finditer(text))]
    fits = bisect_right(ends, MAX_FINDING_TOKENS, key=lambda end: estimate_tokens(text[:end]))
    text = text[: ends[max(fits - 1, 0)]]
    sources = [name for name in finding["sources"] if name in text]
    return finding | {"text": f"{text.rstrip()} {LEFT_OUT}", "sources": sources}


_MAX_QUOTED_SENTENCES = 6  # in a report composed from the first search


def list_findings(state: State) -> list[Finding]:
    """Return the findings of this turn that have a text."""
    found: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    return [one for one in found.values() if one["text"]]


def needs_no_research(state: State) -> bool:
    """Tell whether the question of this turn is computed already, or asks what nobody recorded."""
    entries: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    if any(entry["reason"] == "not_remembered" for entry in entries.values()):
        return True
    return bool(_list_computed_passages(state)) and COMPUTED_ENTRY not in entries


def has_table_results(state: State) -> bool:
    """Tell whether a computation over tables was tried beside the search."""
    entries = entries_of_turn(state.get("background"), state["turn"])
    return any(name.startswith((COMPUTED_ENTRY, UNCOMPUTED_ENTRY)) for name in entries)


def _list_computed_passages(state: State) -> list[Passage]:
    """Return the results computed for the question of this turn, or for a part of it."""
    entries: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    sources = state.get("sources", {})
    return [
        passage
        for entry in entries.values()
        for passage in entry["passages"]
        if sources[passage["source"]]["kind"] == "computed"
    ]


def list_background_passages(state: State) -> list[Passage]:
    """Return the passages of the first search; only computed ones if steps supersede them.

    Steps that searched without success supersede the first search; steps that a limit stopped do
    not.
    """
    steps = entries_of_turn(state.get("findings"), state["turn"])
    searched = bool(steps) and not find_reached_limit(state)
    if searched or needs_no_research(state) or list_findings(state):
        return _list_computed_passages(state)
    entries: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    seen: dict[str, Passage] = {}
    for entry in entries.values():
        seen |= {f"{one['source']} {one['text']}": one for one in entry["passages"]}
    return [*seen.values()]


def list_evidence_ids(state: State) -> list[str]:
    """Return the ids of the sources in the evidence of this turn and of earlier ones."""
    findings = [*list_findings(state), *select_earlier_findings(state, state["question"])]
    passages = [*list_background_passages(state), *state["knowledge"]]
    cited = collect_source_ids(findings) | {passage["source"] for passage in passages}
    return sorted(cited | set(list_previous_sources(state)))


def fallback_report(state: State) -> str:
    """Compose a report without a model: findings under their titles, or the best quotations."""
    found = list_findings(state)
    steps = entries_of_turn(state.get("findings"), state["turn"])
    if not found and (previous := get_previous_version(state)):
        return previous["text"]
    if not (found or steps or list_background_passages(state)):
        # No search was made because the findings of earlier turns sufficed.
        found = select_earlier_findings(state, state["question"])
    if found:
        sections = [f"## {one['title']}\n\n{one['text']}" for one in found]
        computed = (
            f"{line.rstrip('。.')} [{passage['source']}]."
            for passage in _list_computed_passages(state)
            for line in passage["text"].split("\n")
        )
        return "\n\n".join([*computed, *sections])
    sentences = [
        (passage["source"], sentence.text)
        for passage in list_background_passages(state)
        for sentence in split_sentences(passage["text"])
        if not is_heading(sentence.text)
    ]
    best = rank_texts(state["question"], [text for _, text in sentences])[:_MAX_QUOTED_SENTENCES]
    quoted = [sentences[at] for at, _ in best]
    return "\n".join(f'- <q s="{name}">{escape(text, quote=False)}</q>' for name, text in quoted)


_MAX_CLIPPED_CHARS = 80


def _is_refusal(statement: str) -> bool:
    return _PATTERNS.any_found(statement, "declines", "zh_declines")


def is_empty_answer(text: str, known: Collection[str]) -> bool:
    """Tell whether a text neither cites nor quotes a source, nor reports what was not found.

    Args:
        text: Markdown as a model wrote it.
        known: The ids of the sources it may cite.
    """
    body = normalize_round_markers(strip_framing(text), dict.fromkeys(known, ""))
    if list_cited_ids(body):
        return False
    if _PATTERNS.error.match(text):
        return True
    statements = [one for line in body.splitlines() for one in split_statements(line)]
    # A refusal that names no source has a reason outside them.
    names_source = _PATTERNS.names_sources.search
    others = [one for one in statements if not _is_refusal(one) or names_source(one)]
    if len(others) < len(statements):
        return not any(map(_reports_absence, others))
    return not has_quotation(body) and not any(
        classify_statement(one) == "open" or _reports_absence(one) for one in statements
    )


def _reports_absence(statement: str) -> bool:
    """Tell whether a statement says that the sources lack something."""
    nothing = bool(_PATTERNS.nothing.match(statement))
    return nothing or is_absence_remark(statement) or _is_refusal(statement)


def clip_answer(text: str) -> str:
    """Return the beginning of an answer in one line, without its tags."""
    return to_one_line(re.sub(r"<[^<>]*>", " ", text), _MAX_CLIPPED_CHARS)
