"""Texts shown around a report, in English and Chinese."""

from __future__ import annotations

import re
from collections import ChainMap, Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from graph.records import (
    THE_WEB,
    WEB_UNREACHABLE,
    DoubtedSentence,
    RemovedSentence,
    SupportGrade,
)
from library.knowledge_records import UNANSWERED_PREFIX
from text.pattern_files import read_packaged_toml
from text.regex import regex

_SINGLE = regex("‘([^‘’“”]*)’(?![A-Za-z])")
_OTHER_MARKS = str.maketrans("“”\ue020\ue021", "‘’“”")


@cache
def _read_tables() -> dict[str, dict[str, Any]]:
    """Return the tables of texts, each in English and in Chinese."""
    return read_packaged_toml("report", "labels.toml")


def _find_text(table: str, name: str, language: str) -> str:
    """Return a text of a table; "" if there is none of this name."""
    both = _read_tables()[table].get(name)
    return str(both[is_chinese_tag(language)]) if both else ""


def find_label(name: str, language: str) -> str:
    """Return a label by its name; "" if there is none."""
    return _find_text("labels", name, language)


def get_label(name: str, language: str) -> str:
    """Return a label by its name; an unknown name is its own label."""
    return find_label(name, language) or name.replace("_", " ")


def name_unsearched(name: str, language: str) -> str:
    """Return how a provider of web search or a knowledge base is called."""
    base = name.removeprefix(UNANSWERED_PREFIX)
    if name == THE_WEB:
        return get_label("the_web", language)
    return name if base == name else get_label("knowledge_base", language).format(base)


def get_method_label(name: str, language: str) -> str:
    """Return a text of the section on how a report was researched; "" if there is none."""
    return _find_text("method", name, language)


def get_badge_label(name: str, language: str) -> str:
    """Return what the checks found of a citation, in a word or two."""
    return _find_text("badges", name, language)


def describe_badge(name: str, language: str) -> str:
    """Return in a sentence what it means that the checks found this of a citation."""
    return _find_text("badge_meanings", name, language)


def describe_genre(genre: str, language: str) -> str:
    """Return what kind of text a source is; "" where that is not known."""
    return _find_text("genres", genre, language)


def get_picture_label(name: str, language: str) -> str:
    """Return a text in or below a picture; "" if there is none of this name."""
    return _find_text("pictures", name, language)


def get_diff_label(name: str, language: str) -> str:
    """Return a text of the comparison of two reports; "" if there is none."""
    return _find_text("diff", name, language)


def get_later_label(name: str, language: str) -> str:
    """Return a text on what became of a report since it was delivered; "" if there is none."""
    return _find_text("later", name, language)


def list_remark_texts(language: str) -> list[str]:
    """Return every remark that may stand at a sentence, on its sources or on what became of it."""
    column = is_chinese_tag(language)
    tables = (("labels", "only_"), ("later", "at_"))
    return [
        str(both[column])
        for table, start in tables
        for name, both in _read_tables()[table].items()
        if name.startswith(start)
    ]


def format_diff_count(change: str, count: int, language: str) -> str:
    """Return how many sentences differ in one way, such as `2 sentences added`."""
    return _format_number("diff_counts", change, count, language)


def format_count(kind: str, count: int, language: str) -> str:
    """Return a number of things in words, such as `3 queries`."""
    return _format_number("counts", kind, count, language)


def _format_number(table: str, kind: str, count: int, language: str) -> str:
    one, several, chinese = _read_tables()[table][kind]
    form = chinese if is_chinese_tag(language) else one if count == 1 else several
    return str(form).format(f"{count:,}")


def format_source_count(count: int, language: str) -> str:
    """Return a number of sources in words."""
    return get_label("count_one" if count == 1 else "count", language).format(count)


def format_days(first: str, last: str, language: str) -> str:
    """Return when something was done that took from one day to another, or a single day."""
    if first == last:
        return get_label("on_day", language).format(first)
    return get_label("between_days", language).format(first, last)


def is_kind_of_place(name: str) -> bool:
    """Tell whether places of some documents are of this kind, such as `page` or `rows`."""
    return name in _read_tables()["places"]


def format_place(kind: str, value: str, language: str) -> str:
    """Return a place in a document in words; a value with a dash is several."""
    shown = value.replace("-", "–") if kind not in ("sheet", "section") else value
    one, several, chinese = _read_tables()["places"][kind]
    form = chinese if is_chinese_tag(language) else several if "–" in shown else one
    return str(form).format(shown)


def describe_role(role: str, steps: Sequence[str], language: str) -> str:
    """Return the task of a role in a run, and its steps; "" for roles without a task."""
    task = _find_text("roles", role, language)
    names = get_label("comma", language).join(filter(None, steps))
    return append_detail(task, names, language) if task else ""


def describe_missing_words(words: str, language: str) -> str:
    """Return a sentence that names the words of a question that the sources lack, or ""."""
    return get_label("lacking", language).format(words) if words else ""


def describe_reason(given: str, status: str, language: str) -> str:
    """Return in words why a step failed; a reason that is no code is returned unchanged."""
    return append_detail(*split_reason(given, status, language), language)


def split_reason(given: str, status: str, language: str) -> tuple[str, str]:
    """Return in words why a step failed, and a detail, which may be empty."""
    code, _, more = given.partition(": ")
    if code == "unsure" and more:
        more = get_label("lacks", language).format(more)
    if code == "failed":  # Threads of earlier versions have a reviewer's words behind it.
        more = ""
    if reason := _find_text("reasons", code, language):
        return reason, more
    if given and not re.fullmatch(r"[a-z]+(?:_[a-z]+)*", given):
        return given, ""
    ended = _find_text("status", status, language) or _find_text("status", "failed", language)
    return ended, given.replace("_", " ")


def is_explained(why: str) -> bool:
    """Tell whether a code says why something gave nothing, without which a report can be whole.

    So it is with a tool of a server that failed, and with the web where there is no network.
    """
    return why.startswith("mcp_") or why == WEB_UNREACHABLE


def append_detail(words: str, more: str, language: str) -> str:
    """Return words followed by a detail in brackets, if there is one."""
    brackets = "（{}）" if is_chinese_tag(language) else " ({})"
    return words + brackets.format(more) if more else words


def summarize_removals(sentences: Sequence[RemovedSentence], language: str) -> str:
    """Return one line with the number of removed sentences by reason."""
    counted = sorted(Counter(one["reason"] for one in sentences).items())
    if is_chinese_tag(language):
        reasons = [(_removal(code, language), count) for code, count in counted]
        parts = [f"{why}（{count} 句）" if len(reasons) > 1 else why for why, count in reasons]
        return get_label("removed", language).format(len(sentences), "，".join(parts))
    parts = [
        _removal(code, language).format(f"{count} sentence{'s' * (count > 1)}")
        for code, count in counted
    ]
    return get_label("removed", language).format(", ".join(parts))


def describe_removal(reason: str, language: str) -> str:
    """Return in a few words why a sentence was removed."""
    return _removal(reason, language).format("a sentence")


def _removal(reason: str, language: str) -> str:
    found = _find_text("removed", reason, language)
    return found or _find_text("removed", "other", language)


def render_check_results(
    removed: Sequence[RemovedSentence], doubted: Sequence[DoubtedSentence], language: str
) -> str:
    """Return one line for each removed or doubted sentence, with the reason."""
    colon = get_label("colon", language)
    removals = [
        f"- {describe_removal(one['reason'], language)}{colon}{one['text']}" for one in removed
    ]
    doubts = [f"- {describe_doubted_sentence(one, language)}" for one in doubted]
    return "\n".join([*removals, *doubts])


def grade_reason(reason: str) -> SupportGrade:
    """Return the grade of a sentence that is doubted for a reason; "" is supported.

    A sentence is contradicted if its sources say something else, weak if they say less or if it
    refers to a removed sentence, and not found otherwise.
    """
    if not reason:
        return "supported"
    doubts = _read_tables()["doubted"]
    if reason in doubts["contradicted"]:
        return "contradicted"
    return "weak" if reason in doubts["weak"] else "not_found"


def describe_doubt(reason: str, language: str) -> str:
    """Return in a few words why a sentence is doubted, or was removed for lack of a source."""
    line = describe_doubted_sentence(DoubtedSentence(text="", reason=reason), language)
    return line.rstrip("“”:： ")


def describe_doubted_sentence(one: DoubtedSentence, language: str) -> str:
    """Return the reason of a doubt with the sentence and the part that is wrong."""
    reasons = ChainMap(*_read_tables()["doubted"].values())
    both: list[str] = reasons.get(one["reason"], reasons["number"])
    line = both[is_chinese_tag(language)].format(_swap_quotes(one["text"]))
    wrong = _swap_quotes(one.get("part", ""))
    return line + get_label("wrong_part", language).format(wrong) if wrong else line


def _swap_quotes(text: str) -> str:
    """Return a text for use in quotation marks, with double marks made single and vice versa."""
    inner = _SINGLE.sub("\ue020\\1\ue021", text.replace("`", ""))
    return inner.translate(_OTHER_MARKS)


def is_chinese_tag(language: str) -> bool:
    """Tell whether a language tag, such as `zh-CN`, is Chinese."""
    return language.lower().startswith("zh")
