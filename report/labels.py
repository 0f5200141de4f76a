"""Texts shown around a report, in English and Chinese."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from graph.records import DoubtedSentence, RemovedSentence
from text.regex import regex

ENGLISH_LABELS = {
    "missing": "What is missing",
    "searched": "What was searched",
    "unsent": "A search query with private words",
    "sources": "Sources",
    "cited": "Cited passages",
    "same_place": "A number alone stands for the place that was last named with it.",
    "researched": "Researched as: {}",
    "near": "the nearest part of the page",
    "nothing": "No source that could be read says anything that answers this question.",
    "unconfirmed": "No answer was found that the sources confirm.",
    "removed": "Removed by the checks: {}.",
    "listed": "They are listed by: {}",
    "more_doubted": "More sentences in which something is doubtful: {}.",
    "doubts": "To be checked",
    "to_check": "{} to check",
    "told_doubted": "Sentences marked ⚠ could not be confirmed, or their sources say something "
    "different; see “To be checked” below.",
    "unreviewed": "Not reviewed a second time: {} of the results.",
    "told_partial": "Partial: not everything could be done.",
    "told_failed": "The run failed before the report was complete.",
    "told_cancelled": "The run was cancelled before the report was complete.",
    "extractive": "The built-in extractive model, which quotes the sources and adds nothing,",
    "lacking": " They do not say: {}.",
    "gone": "a file that is no longer there",
    "beginning": "beginning",
    "back": "Back to the text",
    "instead": " — the source says:",
    "wrong_part": ", wrong in it: “{}”",
    "weak": "Weak",
    "not_found": "Not found",
    "contradicted": "Contradicted",
    "count": "{} sources",
    "count_one": "1 source",
    "colon": ": ",
    "comma": ", ",
    "succeeded": "complete",
    "partial": "partial",
    "insufficient_evidence": "not enough evidence",
    "failed": "failed",
    "cancelled": "cancelled",
    "paused": "paused",
    "waiting_review": "waiting for review",
    "running": "running",
}
CHINESE_LABELS = {
    "missing": "尚缺的内容",
    "searched": "检索过的内容",
    "unsent": "一条含有私人词语的检索词",
    "sources": "来源",
    "cited": "引用的原文",
    "same_place": "只有编号、没有位置的引用，指该来源上一次注明的位置。",
    "researched": "据此研究的问题：{}",
    "near": "页面中最接近的部分",
    "nothing": "能读到的来源中，没有任何内容可以回答这个问题。",
    "unconfirmed": "没有找到能由来源证实的答案。",
    "removed": "核对时删去 {} 句：{}。",
    "listed": "查看被删去的句子：{}",
    "more_doubted": "另有 {} 句存疑。",
    "doubts": "待核实",
    "to_check": "{} 处待核实",
    "told_doubted": "标有 ⚠ 的句子未能在来源中核实，或与来源说法不同，原因见下文“待核实”。",
    "unreviewed": "未经复核的结果：{} 个。",
    "told_partial": "不完整：未能完成全部内容。",
    "told_failed": "运行失败，报告没有完成。",
    "told_cancelled": "运行已取消，报告没有完成。",
    "extractive": "内置的摘录模型（只引用原文，不作补充）",
    "lacking": "其中没有提到：{}。",
    "gone": "原文件已不存在",
    "beginning": "开头",
    "back": "回到正文",
    "instead": "——来源的原文是：",
    "wrong_part": "，有误之处：“{}”",
    "weak": "依据不足",
    "not_found": "未找到依据",
    "contradicted": "与来源矛盾",
    "count": "{} 个来源",
    "count_one": "1 个来源",
    "colon": "：",
    "comma": "、",
    "succeeded": "已完成",
    "partial": "不完整",
    "insufficient_evidence": "证据不足",
    "failed": "失败",
    "cancelled": "已取消",
    "paused": "已暂停",
    "waiting_review": "等待审阅",
    "running": "进行中",
}
_REASONS = {
    "no_evidence": ("no source says anything about it", "没有来源谈到这一点"),
    "failed": ("no confirmed answer was found", "没有得到证实的答案"),
    "objected": ("not all of it could be confirmed", "其中一部分没有得到证实"),
    "set_right": ("what the review rejected was left out", "复核否定的内容没有采用"),
    "not_computed": ("not computed", "没有计算"),
    "ambiguous": ("it can be understood in several ways", "问题可以有几种理解"),
    "unsure": (
        "what was found is near it, and may not answer it",
        "找到的内容与此相关，但未必能回答",
    ),
    "not_remembered": ("you have not told it, as far as is remembered", "记忆中没有你说过这一点"),
    "answer_cut": ("the model's answer was cut off", "模型的回答被截断"),
    "answer_empty": ("the model gave no answer", "模型没有作答"),
    "answer_invalid": ("the model's answer could not be read", "模型的回答无法读取"),
    "budget_spent": ("a limit of the run was reached", "已达到本次运行的上限"),
    "answer_too_long": ("the model's answer was cut off", "模型的回答被截断"),
    "answer_unusable": (
        "the model declined, sent an error, or named no source",
        "模型拒绝作答、返回了错误，或没有注明来源",
    ),
    "internal": ("an internal error occurred", "程序出错"),
    "model_key_missing": ("no key for the model is set", "没有设置模型的密钥"),
    "model_quota": (
        "the account with the model's server has no credit left",
        "模型服务的账户额度已用完",
    ),
    "tool_limit": (
        "the model only used its tools and wrote no result",
        "模型只使用工具，没有写出结果",
    ),
    "unknown_model": ("the model's server has no such model", "模型服务没有这个模型"),
    "model_auth": ("the model did not accept the key", "模型服务拒绝了密钥"),
    "model_context": ("the material was too long for the model", "材料超出模型的长度上限"),
    "model_refused": ("the model declined to answer", "模型拒绝作答"),
    "model_rejected": ("the model's server rejected the request", "模型服务拒绝了请求"),
    "model_timeout": ("the model took too long", "模型响应超时"),
    "model_unavailable": (
        "the model's server could not be reached, or failed",
        "模型服务无法连接或出错",
    ),
    "not_used": ("the report cites none of its sources", "报告没有引用它的来源"),
    "page_unavailable": ("a page could not be fetched", "有网页无法获取"),
    "query_withheld": (
        "the web was not searched for it: it contains words of your files or memory, or a secret",
        "没有为此检索网络：其中含有您的文件或记忆中的词语，或者密码等机密",
    ),
    "rate_limited": ("the model's server was too busy", "模型服务繁忙"),
    "search_unavailable": ("the search could not be reached", "无法进行检索"),
}
_ROLES = {
    "coordinator": ("distinguishing small talk from a question", "分辨闲聊与提问"),
    "rewriter": ("the search queries", "检索词"),
    "planner": ("the plan", "研究计划"),
    "researcher": ("the research", "研究"),
    "reflector": ("the review of the findings", "研究结果的复核"),
    "judge": ("the search for gaps", "检查缺漏"),
    "reporter": ("the report", "报告"),
    "recall": ("the search of the memory", "查阅记忆"),
}
_STATUS = {
    "failed": ("it failed", "失败"),
    "partial": ("it was only found out in part", "只查明了一部分"),
    "skipped": ("it was left out", "未进行"),
}
_REMOVED = {
    "quote_not_found": (
        "{} with a quotation that no source has",
        "引文在来源中找不到",
    ),
    "unknown_source": ("{} that named no known source", "所注的来源不存在"),
    "no_source": ("{} that no source bears out", "没有来源可以证实"),
    "address": ("{} that only named an address", "只有网址"),
    "wish": (
        "{} about what the person who asked wants, which no page can know",
        "说的是提问者的意愿，而来源无从知道",
    ),
}
_DOUBTED = {
    "calculation": ("A calculation in it does not come out: “{}”", "其中的计算不成立：“{}”"),
    "carried": (
        "No source supports what it adds to the remark that something was not found: “{}”",
        "除了没有找到的内容外，其中还有来源没有说过的话：“{}”",
    ),
    "contradicted": (
        "A second reading found that its sources say otherwise: “{}”",
        "经再次对照，所引来源的说法不同：“{}”",
    ),
    "date": ("Its sources give another date: “{}”", "所引来源中的日期不同：“{}”"),
    "hanging": (
        "What it refers to stood in a sentence that was removed: “{}”",
        "其中所指的内容原在一句被删去的话里：“{}”",
    ),
    "name": ("Its sources give another name: “{}”", "所引来源中的名称不同：“{}”"),
    "negation": ("Its sources seem to say the opposite: “{}”", "所引来源的说法似乎相反：“{}”"),
    "no_source": ("No source is named for it: “{}”", "没有注明来源：“{}”"),
    "not_said": (
        "A second reading did not find it in its sources: “{}”",
        "经再次对照，所引来源中没有这样说：“{}”",
    ),
    "number": (
        "A number in it stands in none of the sources that it cites: “{}”",
        "所引来源中没有其中的数字：“{}”",
    ),
    "disputed": (
        "A second reading found it supported, but its sources do not have a number in it: “{}”",
        "再次对照认为有依据，但所引来源中没有其中的数字：“{}”",
    ),
    "other_number": ("Its sources have another number there: “{}”", "所引来源中的数字不同：“{}”"),
    # Reports that earlier versions wrote still have this one.
    "other_source": (
        "It cited a source that does not say it, and was given the one that does: “{}”",
        "原先所引来源没有这样说，已改注为这样说的来源：“{}”",
    ),
    "review": ("The review of this result says: {}", "复核意见：{}"),
    "strange": (
        "The sources that it cites say hardly a word of it, or of a part of it: “{}”",
        "所引来源几乎没有谈到其内容或其中一部分：“{}”",
    ),
    "subject": (
        "The sources that it cites are about something else than it: “{}”",
        "所引来源谈的是另一对象：“{}”",
    ),
    "unknown": (
        "A name in it stands on none of the pages that are cited: “{}”",
        "引用的页面上都没有其中的名称：“{}”",
    ),
    "strength": ("It says more than its sources: “{}”", "所说超出所引来源：“{}”"),
}
_SINGLE = regex("‘([^‘’“”]*)’(?![A-Za-z])")
_OTHER_MARKS = str.maketrans("“”\ue020\ue021", "‘’“”")
_OTHER = ("{} for other reasons", "其他原因")


def get_label(name: str, language: str) -> str:
    """Return a label by its name; an unknown name is its own label."""
    table = CHINESE_LABELS if is_chinese_tag(language) else ENGLISH_LABELS
    return table.get(name, name.replace("_", " "))


def describe_role(role: str, steps: Sequence[str], language: str) -> str:
    """Return the task of a role in a run, and its steps; "" for roles without a task."""
    if role not in _ROLES:
        return ""
    names = get_label("comma", language).join(filter(None, steps))
    return append_detail(_ROLES[role][is_chinese_tag(language)], names, language)


def describe_missing_words(words: str, language: str) -> str:
    """Return a sentence that names the words of a question that the sources lack, or ""."""
    return get_label("lacking", language).format(words) if words else ""


_LACKS = ("it does not say: {}", "其中没有提到：{}")
"""The detail of a step whose answer is uncertain."""


def describe_reason(given: str, status: str, language: str) -> str:
    """Return in words why a step failed; a reason that is no code is returned unchanged."""
    return append_detail(*split_reason(given, status, language), language)


def split_reason(given: str, status: str, language: str) -> tuple[str, str]:
    """Return in words why a step failed, and a detail, which may be empty."""
    chinese = is_chinese_tag(language)
    code, _, more = given.partition(": ")
    if code == "unsure" and more:
        more = _LACKS[chinese].format(more)
    if code == "failed":  # Threads of earlier versions have a reviewer's words behind it.
        more = ""
    if code in _REASONS:
        return _REASONS[code][chinese], more
    if given and not re.fullmatch(r"[a-z]+(?:_[a-z]+)*", given):
        return given, ""
    return _STATUS.get(status, _STATUS["failed"])[chinese], given.replace("_", " ")


def append_detail(words: str, more: str, language: str) -> str:
    """Return words followed by a detail in brackets, if there is one."""
    brackets = "（{}）" if is_chinese_tag(language) else " ({})"
    return words + brackets.format(more) if more else words


def summarize_removals(sentences: Sequence[RemovedSentence], language: str) -> str:
    """Return one line with the number of removed sentences by reason."""
    counted = sorted(Counter(one["reason"] for one in sentences).items())
    if is_chinese_tag(language):
        reasons = [(_REMOVED.get(code, _OTHER)[1], count) for code, count in counted]
        parts = [f"{why}（{count} 句）" if len(reasons) > 1 else why for why, count in reasons]
        return get_label("removed", language).format(len(sentences), "，".join(parts))
    parts = [
        _REMOVED.get(code, _OTHER)[0].format(f"{count} sentence{'s' * (count > 1)}")
        for code, count in counted
    ]
    return get_label("removed", language).format(", ".join(parts))


def describe_removal(reason: str, language: str) -> str:
    """Return in a few words why a sentence was removed."""
    return _REMOVED.get(reason, _OTHER)[is_chinese_tag(language)].format("a sentence")


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


def describe_doubt(reason: str, language: str) -> str:
    """Return in a few words why a sentence is doubted, or was removed for lack of a source."""
    line = describe_doubted_sentence(DoubtedSentence(text="", reason=reason), language)
    return line.rstrip("“”:： ")


def describe_doubted_sentence(one: DoubtedSentence, language: str) -> str:
    """Return the reason of a doubt with the sentence and the part that is wrong."""
    template = _DOUBTED.get(one["reason"], _DOUBTED["number"])
    line = template[is_chinese_tag(language)].format(_swap_quotes(one["text"]))
    wrong = _swap_quotes(one.get("part", ""))
    return line + get_label("wrong_part", language).format(wrong) if wrong else line


def _swap_quotes(text: str) -> str:
    """Return a text for use in quotation marks, with double marks made single and vice versa."""
    inner = _SINGLE.sub("\ue020\\1\ue021", text.replace("`", ""))
    return inner.translate(_OTHER_MARKS)


def is_chinese_tag(language: str) -> bool:
    """Tell whether a language tag, such as `zh-CN`, is Chinese."""
    return language.lower().startswith("zh")
