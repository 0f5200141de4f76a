"""What the findings of this turn and of earlier ones say, and which of it holds."""

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
    Passage,
    TurnAnswer,
    entries_of_turn,
)
from graph.state import State
from prompts.data_blocks import render_block, render_finding_block, wrap_blocks
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
from text.keyword_ranking import rank_texts
from text.normalization import to_one_line
from text.regex import regex
from text.script import detect_language
from text.sentences import is_heading, split_sentences
from text.tokens import count_tokens
from text.words import search_words

PARTLY_REJECTED = ("objected", "set_right")
"""The reasons of findings that a review rejected in part, and whose other sentences hold.

Of the first something is missing; from the second, wrong sentences were taken out.
"""

_MIN_SHARED_WORDS = {"en": 3, "zh": 5}  # with a review that does not copy the statement
_DENIED = regex(
    r"(?:\b(?:not|instead\s+of|rather\s+than|never)|n['’]t|而不是|而非|并非|不是|不)\s*((?:[\w'’-]+\s*){1,4})",
    re.IGNORECASE,
)
_CORRECTS = regex(
    r"\b(?:not|correct\w*|wrong\w*|instead|rather|contradict\w*|mistaken|false|misread\w*|otherwise"
    r"|never|only)\b|n['’]t\b|而不是|而非|并非|不是|[应應][为為改是]|改[为為成]|有[误誤]|[错錯]|不符|相反|更正|[纠糾]正",
    re.IGNORECASE,
)


def is_usable_finding(finding: Finding) -> bool:
    """Tell whether what a finding says may be kept, and be used by later turns."""
    # One that was not reviewed could not be done again, and has passed the checks alone.
    passed = finding["status"] == "ok" and finding["review"] in ("passed", "")
    return bool(finding["text"]) and (passed or finding["reason"] in PARTLY_REJECTED)


def list_rejected_statements(text: str, copied: Sequence[str], feedback: str) -> list[str]:
    """Return the statements of a finding that a review holds to be wrong.

    Args:
        text: The text of the finding.
        copied: Those that the review copied.
        feedback: What it says of the finding, which tells where nothing was copied.
    """
    said = [
        one for _, part in list_prose_blocks(parse_blocks(text)) for one in list_statements(part)
    ]
    wanted = [statement_key(render_plain_text(one)) for one in copied]
    found = [
        one
        for one in said
        if any(_is_copy(statement_key(render_plain_text(one)), copy) for copy in wanted)
    ]
    if found or copied or not _CORRECTS.search(feedback):
        return found
    about, denied = (
        set(search_words(feedback)),
        set(search_words(" ".join(_DENIED.findall(feedback)))),
    )
    told = {one: set(search_words(render_plain_text(one))) for one in said}
    shared = {one: len(about & told[one]) + len(about) * bool(denied & told[one]) for one in said}
    best = max(shared, key=lambda one: shared[one], default="")
    enough = bool(best) and len(about & told[best]) >= _MIN_SHARED_WORDS[detect_language(best)]
    return [best] if enough else []


def _is_copy(statement: str, copy: str) -> bool:
    """Tell whether one of two is the other, or a long part of it."""
    short, long = sorted((statement, copy), key=len)
    return bool(short) and short in long and 2 * len(short) > len(long)


def drop_doubted(body: str, doubted: Sequence[str]) -> str:
    """Return a text without the statements, and the lines of code, that are doubted."""
    told = {statement_key(render_plain_text(one)) for one in doubted}
    parts = [*parse_blocks(body)] if told else []
    for at, part in enumerate(parts):
        if part.kind == "fence":
            lines = [one for one in part.text.split("\n") if statement_key(one) not in told]
            parts[at] = part._replace(text="\n".join(lines))
        elif part.kind in ("text", "item", "quote", "row"):
            said = [part.text] if part.kind == "row" else split_statements(part.text)
            left = "".join(
                one for one in said if statement_key(render_plain_text(one)) not in told
            ).strip()
            parts[at] = part._replace(text=left, kind=part.kind if left else "gone")
    return join_blocks(drop_removed_blocks(parts)) if told else body


def parse_quoted_sentences(told: str) -> list[str]:
    """Return the sentences that lines on doubts quote, one a line."""
    after = (line.partition("“")[2] for line in told.split("\n"))
    return [one[:-1] for one in after if len(one) > 1 and one.endswith("”")]


MAX_EARLIER_TOKENS = 1_500
"""How many tokens the findings of earlier turns may have together."""

MAX_FINDING_TOKENS = 500
"""How many tokens are shown of one of them."""

_RANKED_CHARS = 4 * MAX_FINDING_TOKENS
MAX_RANKED_FINDINGS = 24
"""How many are looked at for what fits: a long thread has hundreds."""

_FINDING_END = regex(r"(?:\]|</q>)[.。!?！？]?(?=\s|$)|\n")  # a quotation is not cut in two
_MAX_OPEN_QUESTIONS = 6  # the newest


def select_earlier_findings(state: State, about: str) -> list[Finding]:
    """Return the findings of earlier turns that passed and are about something, oldest first.

    Of a turn without any, such as one that was answered by a single search, it is the answer.

    Args:
        state: The state of the graph.
        about: What they shall be about.
    """
    found = _passed(state)
    ranked = rank_texts(about, [f"{one['title']}\n{one['text'][:_RANKED_CHARS]}" for one in found])
    kept: dict[int, Finding] = {}
    room = MAX_EARLIER_TOKENS
    for at, _ in ranked[:MAX_RANKED_FINDINGS]:
        short = _short(found[at])
        size = count_tokens(short["text"])
        if size <= room:
            kept[at] = short
            room -= size
    return [kept[at] for at in sorted(kept)]


def list_open_questions(state: State) -> list[str]:
    """Return what earlier turns could not find out and no later one has, oldest first."""
    gaps: dict[str, str] = {}
    for turn, answer in _turns(state.get("answers")):
        if turn < state["turn"]:
            gaps |= {gap.partition(": ")[0]: gap for gap in answer["open"]}
    known = {one["title"] for one in _passed(state) if one["reason"] != "objected"}
    return [gap for title, gap in gaps.items() if title not in known][-_MAX_OPEN_QUESTIONS:]


def collect_source_ids(findings: Iterable[Finding]) -> set[str]:
    """Return the ids of the sources that findings cite."""
    return {source for finding in findings for source in finding["sources"]}


def render_earlier_block(findings: Sequence[Finding], gaps: Sequence[str] = ()) -> str:
    """Mark what is known from earlier turns for a model; nothing if nothing is."""
    marked = [render_finding_block(one, id=one["step"], title=one["title"]) for one in findings]
    return wrap_blocks("earlier", [*marked, render_block("open", "\n".join(gaps))])


def _passed(state: State) -> list[Finding]:
    found: dict[int, list[Finding]] = {}
    for name, finding in (state.get("findings") or {}).items():
        turn = int(name.partition("/")[0])
        if turn < state["turn"] and is_usable_finding(finding):
            found.setdefault(turn, []).append(_as_it_holds(finding) | {"step": name})
    for turn, answer in _turns(state.get("answers")):
        if turn < state["turn"] and turn not in found and answer["text"]:
            found[turn] = [_as_finding(turn, answer)]
    every = [finding for turn in sorted(found) for finding in found[turn]]
    known = state.get("sources") or {}
    return [one for one in every if one["text"] and known.keys() >= set(one["sources"])]


def _as_it_holds(finding: Finding) -> Finding:
    """Return a finding without the sentences that a review rejected, and without its words."""
    if finding["reason"] not in PARTLY_REJECTED:
        return finding
    return finding | {
        "text": drop_doubted(finding["text"], parse_quoted_sentences(finding.get("doubted", ""))),
        "doubted": "",
    }


def _turns(answers: dict[str, TurnAnswer] | None) -> list[tuple[int, TurnAnswer]]:
    return sorted(((int(turn), answer) for turn, answer in (answers or {}).items()), key=_turn)


def _turn(entry: tuple[int, TurnAnswer]) -> int:
    return entry[0]


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


def _short(finding: Finding) -> Finding:
    """Return a finding up to the last sentence or line that fits."""
    text = finding["text"]
    if count_tokens(text) <= MAX_FINDING_TOKENS:
        return finding
    ends = [0, *(match.end() for match in _FINDING_END.finditer(text))]
    fits = bisect_right(ends, MAX_FINDING_TOKENS, key=lambda end: count_tokens(text[:end]))
    text = text[: ends[max(fits - 1, 0)]]
    return finding | {"text": text, "sources": [one for one in finding["sources"] if one in text]}


_MAX_QUOTED_SENTENCES = 6  # of a first search


def list_findings(state: State) -> list[Finding]:
    """Return the findings of this turn that say something."""
    found: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    return [one for one in found.values() if one["text"]]


def needs_no_research(state: State) -> bool:
    """Tell whether the question of this turn needs no research: it is worked out, or cannot be."""
    entries: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    nothing = any(entry["reason"] == "not_remembered" for entry in entries.values())
    return nothing or (bool(_worked_out(state)) and COMPUTED_ENTRY not in entries)


def has_table_results(state: State) -> bool:
    """Tell whether something beside the search was computed over tables, or could not be."""
    entries = entries_of_turn(state.get("background"), state["turn"])
    return any(name.startswith((COMPUTED_ENTRY, UNCOMPUTED_ENTRY)) for name in entries)


def _worked_out(state: State) -> list[Passage]:
    """Return what was worked out for the question of this turn, or for a part of it."""
    entries: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    known = state.get("sources", {})
    every = [one for entry in entries.values() for one in entry["passages"]]
    return [one for one in every if known[one["source"]]["kind"] == "computed"]


def _computed(state: State) -> list[str]:
    """Return what was worked out, each line with its source."""
    lines = [
        (line, one["source"]) for one in _worked_out(state) for line in one["text"].split("\n")
    ]
    return [f"{line.rstrip('。.')} [{name}]." for line, name in lines]


def list_background_passages(state: State) -> list[Passage]:
    """Return what the first search found, where there is nothing better.

    Steps that looked and found nothing are better; steps that a limit kept from looking are not.
    """
    worked_out = _worked_out(state)
    looked = entries_of_turn(state.get("findings"), state["turn"])
    if (
        needs_no_research(state)
        or list_findings(state)
        or (looked and not find_reached_limit(state))
    ):
        return worked_out
    entries: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    seen: dict[str, Passage] = {}
    for entry in entries.values():
        seen |= {f"{one['source']} {one['text']}": one for one in entry["passages"]}
    return list(seen.values())


def list_evidence_ids(state: State) -> list[str]:
    """Return the ids of the sources that this turn's evidence names, and that of turns before."""
    names = collect_source_ids(
        [*list_findings(state), *select_earlier_findings(state, state["question"])]
    )
    names |= {
        passage["source"] for passage in [*list_background_passages(state), *state["knowledge"]]
    }
    return sorted(names)


def fallback_report(state: State) -> str:
    """Compose a report without a model: the findings under their titles, or what fits best."""
    found = list_findings(state)
    if (
        not found
        and not list_background_passages(state)
        and not entries_of_turn(state.get("findings"), state["turn"])
    ):
        # Nothing was looked for, since what earlier turns found was held to be enough.
        found = select_earlier_findings(state, state["question"])
    if found:
        sections = [f"## {one['title']}\n\n{one['text']}" for one in found]
        return "\n\n".join([*_computed(state), *sections])
    said = [
        (passage["source"], sentence.text)
        for passage in list_background_passages(state)
        for sentence in split_sentences(passage["text"])
        if not is_heading(sentence.text)
    ]
    best = rank_texts(state["question"], [text for _, text in said])[:_MAX_QUOTED_SENTENCES]
    quoted = [said[at] for at, _ in best]
    return "\n".join(f'- <q s="{name}">{escape(text, quote=False)}</q>' for name, text in quoted)


_MAX_CLIPPED_CHARS = 80
_ERROR = regex(
    r"\W*(?:<!doctype\b|<html\b|<\?xml\b|\{\s*[\"'](?:error|detail|message)\b"
    r"|(?:\w+\s+){0,2}(?:error|exception)\b\s*(?:\d{3}\b\s*)?[:：]|[45]\d\d\s+[A-Z]"
    r"|(?:[错錯][误誤]|[异異]常|出[错錯])\s*[:：])",
    re.IGNORECASE,
)
_DOES = (
    r"(?:assist|help|comply|fulfil\w*|engage|participate|continue|proceed|provide|offer|share"
    r"|answer|respond|discuss|complete|process|generate|create|produce|write|support|do)"
)
_DECLINES = regex(
    r"\b(?:I|we)\s*(?:\s(?:can|could|will|would|do|am|are)|['’](?:m|re|d))?\s*"
    r"(?:not\b|n?['’]t|\bwon['’]t|\bunable(?=\s+to))\s+(?:\w+ly\s+)?"
    rf"(?:(?:be\s+)?(?:(?:able|allowed|permitted|going|here)\s+)?to\s+)?{_DOES}\b"
    r"|\b(?:I|we)\s+won['’]t\s+be\s+able\s+to\b"
    r"|\b(?:I|we)(?:\s+(?:must|have\s+to|will|would|am|are)|['’](?:d|m|ll))?\s+(?:rather\s+not\b"
    r"|(?:respectfully\s+)?(?:decline|refuse)\b)"
    r"|\bas\s+an?\s+(?:AI|artificial|large|language)\b",
    re.IGNORECASE,
)
_ZH_DECLINES = regex(
    "(?:我|本模型|本助手|作[为為][^，。]{0,8}(?:AI|人工智能|模型|助手)[^。]{0,6}?)[^，。]{0,8}?"
    "(?:[无無]法|不能|不便|不[会會]|不可以|[没沒]有?[办辦]法|不被允[许許])[^，。]{0,6}?"
    "(?:[协協]助|[帮幫]|提供|回答|作答|答[复覆]|回[应應复復]|[满滿]足|[处處]理|完成|[讨討][论論]|[继繼][续續]|生成|[执執]行)"
    "|(?:我|必[须須]|只能)[^，。]{0,4}(?:拒[绝絕]|婉拒)"
    "|(?:抱歉|[对對]不起|很[遗遺]憾)[^。]{0,6}(?:[无無]法|不能|不便)[^，。]{0,6}?"
    "(?:[协協]助|[帮幫]|提供|回答|作答|答[复覆]|回[应應复復]|[满滿]足|[处處]理|完成|[讨討][论論]|[继繼][续續]|生成|[执執]行)"
)
_NAMES_SOURCES = regex(
    r"\b(?:sources?|documents?|passages?|pages?|files?|articles?|excerpts?|extracts?|snippets?"
    r"|findings?|notes|search(?:es)?)\b|段落|[资資]料|[来來]源|文[档檔件章献獻中]|[页頁]面|[网網][页頁]|材料|原文|[检檢]索|搜[索尋]|摘[录錄]",
    re.IGNORECASE,
)

_NOTHING = regex(
    r"\W*(?:nothing\b|none\b|no\s+(?:\w+\s+)?(?:answer|result|information|evidence|match)"
    r"|[沒没]有|[无無](?![法论論]))",
    re.IGNORECASE,
)


def _declines(statement: str) -> bool:
    """Tell whether a statement says that its writer will not answer, whatever the sources say."""
    return _unable(statement) and not _NAMES_SOURCES.search(statement)


def _unable(statement: str) -> bool:
    return bool(_DECLINES.search(statement) or _ZH_DECLINES.search(statement))


def is_empty_answer(text: str, known: Collection[str]) -> bool:
    """Tell whether a text neither cites nor quotes a source, nor says what was not found.

    Args:
        text: Markdown as a model wrote it.
        known: The ids of the sources that it may cite.
    """
    body = normalize_round_markers(strip_framing(text), dict.fromkeys(known, ""))
    if list_cited_ids(body):
        return False
    if _ERROR.match(text):
        return True
    said = [one for line in body.splitlines() for one in split_statements(line)]
    left = [one for one in said if not _declines(one)]
    if len(left) < len(said):
        return not any(map(_silence, left))
    return not (
        has_quotation(body)
        or any(classify_statement(one) == "open" or _silence(one) for one in said)
    )


def _silence(statement: str) -> bool:
    """Tell whether a statement says that the sources do not say something."""
    return bool(_NOTHING.match(statement)) or is_absence_remark(statement) or _unable(statement)


def clip_answer(text: str) -> str:
    """Return the beginning of such an answer in one line, without its tags."""
    return to_one_line(re.sub(r"<[^<>]*>", " ", text), _MAX_CLIPPED_CHARS)
