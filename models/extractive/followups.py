"""Tell words that ask on about an earlier question from small talk and from a new question."""

from __future__ import annotations

import re

from models.extractive.meaning import thing
from models.extractive.topic import key_terms, names
from retrieval.regex import regex
from retrieval.text import language

_ASKS = regex(
    r"[?？]|[吗嗎呢]\W*$"
    r"|^\W*(?:(?:and|but|so|or|then|also|ok|okay),? )*(?:what|why|how|who|whom|whose|when|where"
    r"|which|is|are|was|were|does|did|do|can|could|should|will|would|more|tell|show|list|name"
    r"|compare|contrast|explain|describe|give|summari[sz]e|continue|go on|elaborate|for example"
    r"|details?)\b"
    r"|什[么麼]|[为為]何|怎[么麼样樣]|哪|多少|[几幾]|[谁誰]|是否|[继繼][续續]|更多|[详詳][细細]|比如|例如|比[较較]"
    r"|[对對]比|[总總][结結]|[说說]明|解[释釋]|列[举舉出]|[还還]有|然后",
    re.IGNORECASE,
)
_SOCIAL = regex(
    r"\b(?:you|your|yours|u|ur|yourself|dossier)\b(?! (?:sure|mean|know(?: that| this)?\W*$"
    r"|explain|tell|show|give|elaborate|compare|list|find|say|have (?:more|any|other)"
    r"|summari[sz]e|describe))"
    r"|\b(?:how|what)(?:['’]?s| is| are|re)? (?:it going|things|life|everything|up|new)\b"
    r"|\bhow (?:do you do|have you been)\b|n['’]?t (?:it|he|she|they|we)\W*$"
    r"|\b(?:joke|riddle|song)s?\b"
    r"|^\W*(?:ok|okay|yes|no|right|good|great|hello|hi|hey|thanks|thank you)\W*$"
    r"|[你您]|最近(?:怎|好|忙)|吃[过過了]?[饭飯]?了?[吗嗎]|在不?在[吗嗎]?|有人[吗嗎]",
    re.IGNORECASE,
)
_EXPLETIVE = r"(?! (?:\w+ )?(?:true|possible|allowed|necessary|legal|safe|better|worth|that|to)\b)"
_CHINESE_PRONOUN = r"[它他她][们們]?|其(?![他它中实實])"
_POINTS_BACK = regex(
    r"(?:^|[.!] )\W*(?:and|but|also|or|so|what about|how about|then|why|how come)\b"
    rf"|\b(?:its?|they|them|theirs?|he|she|him|his|hers?)\b{_EXPLETIVE}"
    r"|\bthe (?:same|former|latter|others?)\b|\bthe (?:first|second)(?: one)?\W*$"
    r"|\b(?:this|that|these|those|there)\W*$"
    r"|\b(?:this|these|those|that) (?:one|case|way|time|place|view|method|idea|effect|result)\b"
    r"|^\W*(?:is|was|are|were|does|did|do) (?:this|that|these|those)\b"
    r"|\b(?:the other|another|which|each) ones?\b"
    rf"|{_CHINESE_PRONOUN}|^\W*(?:那么?|[还還]有|而|以及|[为為]什[么麼]\W*$|再|然后)"
    r"|[这這那][个個些种種里裡]?(?!么|麼)|呢\W*$",
    re.IGNORECASE,
)
_PRONOUN = regex(
    rf"\b(?:(?P<own>its|his|their)|(?P<her>her)|it|they|them|he|she|him)\b{_EXPLETIVE}"
    rf"|(?P<zh>{_CHINESE_PRONOUN})",
    re.IGNORECASE,
)

_NEXT = regex(
    r",? (?:and|but|or) (?=(?:what|when|where|why|how|who|whom|whose|which|is|are|was|were|do|does"
    r"|did|can)\b)|[?;] ",
    re.IGNORECASE,
)
"""Where a question goes on to ask another thing."""


def asks_on(said: str) -> bool:
    """Tell whether words, said after a question, ask for more about it and are no small talk."""
    return bool(_ASKS.search(said)) and not _SOCIAL.search(said)


def points_back(question: str) -> bool:
    """Tell whether a question cannot be understood without the one before it.

    A pronoun in its second half stands for what the first half speaks of.
    """
    first = _NEXT.split(question.strip(), maxsplit=1)[0]
    if first != question.strip() and (names(first) or len(key_terms(first)) > 1):
        return bool(_POINTS_BACK.search(first))
    return bool(_POINTS_BACK.search(question)) or elliptical(question)


def elliptical(question: str) -> bool:
    """Tell whether a question is only a word or two, as in "Winter?"."""
    if not key_terms(question):
        return True
    bare = question.strip(" ?？!！.。")
    return len(bare) <= 4 if language(question) == "zh" else len(bare.split()) < 3


def subject(question: str) -> str:
    """Return the one thing that a question is about, as it is spelt there, or nothing."""
    asked = thing(question)
    named = [asked.spelt] if asked else names(question)
    if len(named) != 1 or _PRONOUN.search(named[0]):
        return ""
    name = re.escape(named[0])
    # "The lighthouse at Cape Merrin" is about the lighthouse.
    within = r"(?:[\w'’-]+ ){1,2}(?:at|in|near|on) (?:the )?"
    whole = re.search(rf"\b(?:the|an?) (?:{within})?{name}\b", question, re.IGNORECASE)
    return re.sub(r"^an? ", "the ", whole[0], flags=re.IGNORECASE) if whole else named[0]


def with_subject(question: str, subject: str) -> str:
    """Return a question with its first pronoun replaced by what it stands for; as it is if none."""
    found = _PRONOUN.search(question)
    if not found or not subject:
        return question
    if found["zh"]:
        new = f"{subject}的" if found["zh"] == "其" else subject
    else:
        owned = found["own"] or (found["her"] and question[found.end() :][:2].strip(" ?.!"))
        new = f"{subject}'s" if owned else subject
    return question[: found.start()] + new + question[found.end() :]
