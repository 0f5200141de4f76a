"""Split a question where it says itself that it has parts: clauses, sides, dimensions."""

from __future__ import annotations

import re
from typing import NamedTuple

from models.extractive.asking import topical
from models.extractive.topic import key_phrase, key_terms
from retrieval.regex import regex
from retrieval.text import language, sentences

_ASKS = regex(
    r"[?？]\W*$|^\W*(?:(?:please|could you|can you|would you|i need|i want|help me)\b.*"
    r"|what|why|how|who|whom|whose|when|where|which|is|are|was|were|do|does|did|can|should"
    r"|explain|describe|compare|list|trace|analy[sz]e|summari[sz]e|discuss|evaluate|assess"
    r"|identify|outline|research|investigate|find|give|write|conduct|explore|review|examine"
    r"|recommend|provide|draft|detail|\d\))\b"
    r"|如何|怎[么麼样樣]|什[么麼]|哪|是否|能否|多少|[谁誰]|[为為]何|[吗嗎呢]|分析|[评評]估|收集|整理|[调調]研"
    r"|介[绍紹]|比[较較]|[对對]比|[预預][测測]|[总總][结結]|列[举舉]|[请請]|[给給]出|提供(?!了)",
    re.IGNORECASE,
)
_CLAUSE = regex(
    r"[;；]\s*|(?<!how)(?<!what)(?<!why),? and (?=(?:what|why|how|who|when|where|which)\b)"
    r"|[，,]\s*(?:以及|并且?|同时|同時|又)?(?=(?:如何|怎[么麼样樣]|[为為]什[么麼]|[为為]何|是否|能否"
    r"|有?哪些|什[么麼]))|(?<=[?？])\s*",
    re.IGNORECASE,
)
_SIDE = r"[^,.;:?!，。；：？！、]{1,200}?"
_SIDES = (
    r"\b(?:compar(?:e|ing)|contrast|comparison (?:of|between)"
    rf"|(?:difference|similarit)\w* (?:between|of)) (?P<a>{_SIDE}),?"
    rf" (?:and|with|to|vs\.?|versus|from) (?P<b>{_SIDE})"
    r"(?:[,:]? (?:in terms of|on|regarding|about|with respect to|concerning|for|by)"
    r" (?P<about>.+?))?[.?!]*$",
    rf"^(?:(?:how|where|why|what|on what) (?:do|does|did|are|is) )?(?P<a>{_SIDE}) and"
    rf" (?P<b>{_SIDE}) (?:(?:dis)?agree|differ|compare|say|conflict|contradict(?: each other)?)\b"
    r"(?: with each other)?(?: (?:about|on|over|in terms of|in|regarding) (?P<about>.+?))?[.?!]*$",
    rf"^(?P<about>(?:which|who|what)\b[^,]*), (?P<a>{_SIDE}),? or (?P<b>{_SIDE})[.?!]*$",
    rf"^(?P<a>{_SIDE}) (?:vs\.?|versus) (?P<b>{_SIDE})"
    r"(?:(?:,|:| for| in| on| about) (?P<about>.+?))?[.?!]*$",
    r"^(?:[请請])?(?:比[较較]|[对對]比)(?:一下)?(?P<a>[^，。？、的]{1,20}?)(?:和|与|與|跟|同)"
    r"(?P<b>[^，。？、的在]{1,20}?)(?:的(?P<about>[^，。？]+?))?[。？]?$",
    r"(?:比[较較]|[对對]比|分析)?(?:一下)?(?P<a>[^，。？、的]{1,30}?)"
    r"(?:和|与|與|跟|[对對]比|相比(?:于)?|vs\.?|VS\.?)(?P<b>[^，。？、的]{1,30}?)"
    r"(?:在(?P<about>[^，。？]+?)(?:上|方面|中))?(?:之[间間])?(?:的|有(?:什[么麼]|何|哪些))?(?:主要)?"
    r"(?:[区區][别別]|差[异異别別]|不同|[异異]同|比[较較]|[对對]比|相比|[优優]劣|[关關]系|哪[个個种種一])",
)
_EMPTY = regex(
    r"(?:the )?(?:strength|weakness|advantage|disadvantage|pros|cons|similarit|difference)",
    re.IGNORECASE,
)
_NAME = r"[A-Z][\w'-]{0,40}(?: [A-Z][\w'-]{0,40}){0,8}"
_ENGLISH_LIST = regex(
    r"\b(?:including|includes?|such as|covering|cover|considering|consider|dimensions|factors"
    r"|aspects|criteria|terms of|based on|namely)\b:? (?P<items>[^.?!:()]{1,600})"
    rf"|(?P<names>{_NAME}(?:, {_NAME}){{1,20}},? (?:and|or) {_NAME})"
)
_CHINESE_LIST = regex(
    r"(?:包括|包含|[维維]度[:：]|方面[:：])(?P<items>[^。？；：]{1,600})"
    r"|(?P<names>[^，。？；：、（）()]{2,15}(?:、[^，。？；：、（）()]{2,15})+)"
)


_FACT = regex(
    r"^\W*(?:[\w']+ ){0,2}(?:who|whom|whose|when|where|how (?:many|much|long|old|far|tall))\b"
    r"|[谁誰]|何[时時]|什[么麼][时時]|哪[里裡年]|多少|[几幾][个個]",
    re.IGNORECASE,
)


class Sides(NamedTuple):
    """What a question compares, and in what respect."""

    names: list[str]
    about: str


def parts(question: str) -> list[str]:
    """Return the sub-questions of a question; one that has none is its only part.

    Sentences that only tell the background are left out where others ask.
    """
    question = topical(question)
    spoken = [span.text for span in sentences(question)]
    asking = [text for text in spoken if _ASKS.search(text)] or spoken
    clauses = [clause.strip(" ,，、。.") for text in asking for clause in _CLAUSE.split(text)]
    least = 6 if language(question) == "zh" else 12
    kept = [one for one in clauses if _ASKS.search(one) and key_terms(one) and len(one) >= least]
    return [one.strip("?？ ") for one in kept] if len(kept) > 1 else [question.strip()]


def is_part(text: str, question: str) -> bool:
    """Tell whether a text asks for a part of what a question asks, and for nothing else."""
    own, whole = set(key_terms(text)), set(key_terms(question))
    return bool(own) and own <= whole and len(text) < len(question) and bool(_ASKS.search(text))


def sides(question: str) -> Sides | None:
    """Return the two sides of a comparison and what they are compared in, if it is one."""
    for pattern in _SIDES:
        found = re.search(pattern, question.strip(), re.IGNORECASE)
        if found:
            names = [_bare(found["a"]), _bare(found["b"])]
            about = (found["about"] or "").strip(" ,，")
            sound = all(key_terms(name) and not _EMPTY.match(name) for name in names)
            return Sides(names, about) if sound else None
    return None


def dimensions(question: str) -> list[str]:
    """Return the things a question lists, if it lists three or more."""
    chinese = language(question) == "zh"
    mark = r"[、，]|以及|及(?!其)|和" if chinese else r", (?:and |or )?|; | and "
    lists: list[list[str]] = [[]]
    for found in (_CHINESE_LIST if chinese else _ENGLISH_LIST).finditer(question):
        items = re.split(mark, found["items"] or found["names"])
        lists.append([_item(item) for item in items if key_terms(_item(item))])
    longest = max(lists, key=len)
    fitting = all(len(item) <= (15 if chinese else 60) for item in longest)
    return longest if fitting and len(longest) > 2 else []


def _item(text: str) -> str:
    """Return an item of a list without the words before the first and after the last."""
    text = re.sub(r"等[^、，]*$|^.*(?:其|[这這]些|包括|[从從])|^.*的(?=.{2})", "", text)
    return re.sub(
        r"^(?:criteria such as |the |their |its |横向|比[较較]|[对對]比|分析|[评評]估)+",
        "",
        text.strip(" ,.'\""),
    )


def is_simple(question: str) -> bool:
    """Tell whether a question asks for one fact or one thing, so that one step answers it."""
    if len(parts(question)) > 1 or sides(question) or dimensions(question):
        return False
    if _FACT.search(question):
        return True
    return len(question) <= (25 if language(question) == "zh" else 80)


def _bare(name: str) -> str:
    """Return the side of a comparison without the words that only introduce it."""
    bare = re.sub(
        r"^(?:the |both |what is |请|請|比[较較]|[对對]比|分析)+", "", name.strip(), flags=re.I
    )
    return bare if language(name) == "en" else (key_phrase(bare) or bare)
