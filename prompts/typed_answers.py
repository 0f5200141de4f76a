"""What a model is told of a typed answer in its own language.

Its fields, and what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MAX_FIELD_ERRORS = 8
"""So many mistakes are named; with them mended, the others are seen the next time."""

WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "cut": "The answer was cut off at the limit. Give a shorter answer.",
        "no_object": "There is no JSON object in it.",
        "too_deep": "Its JSON is nested too deep.",
        "json_invalid": "Its JSON cannot be read.",
        "missing": "is missing",
        "text": "has to be text",
        "list": "has to be a list",
        "object": "has to be an object",
        "int": "has to be a whole number",
        "number": "has to be a number",
        "bool": "has to be true or false",
        "literal": "has to be one of {expected}",
        "other": "has a value that is not allowed",
        "whole": "the answer",
        "field": "`{field}` {wrong}.",
    },
    "zh": {
        "cut": "回答因达到长度上限而被截断，请写得更短。",
        "no_object": "其中没有 JSON 对象。",
        "too_deep": "其中的 JSON 嵌套过深。",
        "json_invalid": "其中的 JSON 无法读取。",
        "missing": "缺失",
        "text": "必须是文本",
        "list": "必须是列表",
        "object": "必须是对象",
        "int": "必须是整数",
        "number": "必须是数字",
        "bool": "必须是 true 或 false",
        "literal": "必须是以下之一：{expected}",
        "other": "的值不符合要求",
        "whole": "回答",
        "field": "`{field}` {wrong}。",
    },
}

_KINDS = {
    "missing": "missing",
    **dict.fromkeys(("string_type",), "text"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "list"),
    **dict.fromkeys(("model_type", "dict_type", "model_attributes_type"), "object"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "int"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "bool"),
    **dict.fromkeys(("literal_error", "enum"), "literal"),
}
"""What the kinds of pydantic's errors are called here; any other is `other`."""


def describe_answer_error(name: str, tongue: str) -> str:
    """Return what is wrong with a whole answer: `cut`, `no_object`, `too_deep`, `json_invalid`."""
    return _words(tongue)[name]


def describe_field_errors(errors: Sequence[Mapping[str, Any]], tongue: str) -> str:
    """Return what is wrong with the fields of an answer, a line each.

    Args:
        errors: Mistakes as pydantic tells them: a place, a kind, and what was expected.
        tongue: The language of the prompt.
    """
    return "\n".join(dict.fromkeys(_line(one, _words(tongue)) for one in errors[:MAX_FIELD_ERRORS]))


def _line(error: Mapping[str, Any], words: Mapping[str, str]) -> str:
    if error["type"] == "json_invalid":
        return words["json_invalid"]
    field = ".".join(map(str, error["loc"])) or words["whole"]
    expected = (error.get("ctx") or {}).get("expected", "")
    expected = expected.replace(" or ", ", ")
    wrong = words[_KINDS.get(error["type"], "other")].format(expected=expected)
    return words["field"].format(field=field, wrong=wrong)


def _words(tongue: str) -> Mapping[str, str]:
    return WORDS["zh" if tongue == "zh" else "en"]


CHINESE_DESCRIPTIONS: Mapping[str, str] = {
    "the number of the sentence": "句子的编号",
    "the id of the source that says it": "这样说的来源的编号",
    "what the source says instead, a few words copied exactly": "来源实际的说法，逐字照抄几个字",
    "where only a part is wrong, that part, copied exactly": "只有一部分有误时，逐字照抄这一部分",
    "the wrong sentences of the finding, word for word": "其中有误的句子，逐字照抄",
    "numbers of contested sentences": "存疑或被删的句子中没有问题的编号",
    "what no step looks for of what the question needs": "问题需要而没有任何步骤查找的内容",
    "what is still to be found out": "仍需查明的内容",
    "what must be known, one thing each": "必须知道的事，每条一件",
    "searches by the words that pages hold": "按页面上的字词查找",
    "searches by meaning, whole sentences": "按意思查找，每条一个完整的句子",
    "ids of pages shown that are to be read": "应当阅读的页面编号",
    "true unless it is only small talk": "只是寒暄时为 false，否则为 true",
    "the answer to small talk, else empty": "对寒暄的回答，否则留空",
    "one paragraph": "一段话",
    "the question in a form that needs no conversation": "不看对话也能读懂的问题",
    "different search queries for it": "针对它的几条不同的检索词",
    "what to search for, one or two": "检索词，一两条",
    "numbers of earlier steps it builds on": "所依赖的前面步骤的编号",
    "true if the pages already answer the question completely": "页面已经完整回答了问题时为 true",
    "the name of the method to add": "要添加的方法的名称",
    "the number of the insight it is about": "所涉及的经验的编号",
    "numbers of insights that say the same": "意思相同的各条经验的编号",
    "how sure it is, from 0 to 1": "把握大小，从 0 到 1",
    "the words of the message that say so, copied exactly": "消息中说明这一点的原话，逐字照抄",
    "the number of the message that the quote stands in": "引文所在消息的编号",
    "one short statement, in the person's own words": "一句简短的陈述，用本人的原词",
    "true if it will still hold in a month": "一个月后仍然成立时为 true",
    "true if it is about the person themselves": "说的是本人时为 true",
    "false if it orders something to be done now": "要求眼下做某事时为 false",
    "the number of the known fact it ends": "因此不再成立的已知内容的编号",
    "a few words, such as the name of an occupation": "几个字，例如职业名称",
    "who they say they are": "本人所说的身份",
    "what marks them": "本人的特点",
    "the words that show detail, depth or format": "表明详略、深度或格式的原话",
    "the number of the message that quote stands in": "这段原话所在消息的编号",
    "numbers of known traits that hold no longer": "不再成立的已知特征的编号",
    "true if the messages could not be read": "无法读取消息时为 true",
}


def translate_schema(schema: Any) -> Any:
    """Return a JSON schema with its descriptions in Chinese, without those that have none."""
    if isinstance(schema, list):
        return [translate_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    translated = {name: translate_schema(one) for name, one in schema.items()}
    told = schema.get("description")
    if isinstance(told, str):
        del translated["description"]
        translated |= (
            {"description": CHINESE_DESCRIPTIONS[told]} if told in CHINESE_DESCRIPTIONS else {}
        )
    return translated
