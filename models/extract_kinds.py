"""Tell whether a sentence holds the kind of thing a question asks for."""

from __future__ import annotations

import re

_DATE = (
    r"\b(?:when|what (?:year|date|day|month|time|century)|which year|how old)\b"
    r"|[何][时時]|什[么麼][时時][候间間]|哪一?[年天日月]|[几幾][月年日号號]|[时時][间間]",
    r"\b(?:1\d|20)\d\d\b|\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r"|\d+\s*[年月日世]|century|[朝世][紀纪]",
)
_NUMBER = (
    r"\bhow (?:many|much|long|far|tall|high|big|large|often|fast)\b"
    r"|\b(?:percentage|number|amount)\b|多少|多[久大长長高远遠]|[几幾][个個年位次种種岁歲天名部座条條所届屆]|人口|面[积積]",
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozens?|hundreds?|thousands?"
    r"|millions?|billions?)\b"
    r"|[一二两兩三四五六七八九十百千万萬亿億]+[个個年位次种種岁歲天名部座条條所届屆公平米]",
)
_PERSON = (
    r"\b(?:who|whom|whose)\b|[谁誰]|哪一?位|何人|哪[个個]人",
    r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+ (?:[A-Z][\w.]* )*[A-Z][a-z]+|[人者家王帝父母子女員员手·]",
)
_CAUSE = (
    r"\bwhy\b|\breasons?\b|\bcauses?\b|[为為][什何]|原因|何以",
    r"\b(?:because|since|due to|owing to|so that|in order to|caused|reason|as a result)\b"
    r"|因[为為]|由[于於]|原因|所以|因此|以便|[导導]致|是[为為]了",
)
_PLACE = (
    r"\bwhere\b|哪[裡里裏兒儿]|何[处處地]|什[么麼]地方|哪[个個]?[国國省市地城]",
    r"\b(?:in|at|near|from|of) (?:the )?[A-Z]|位[于於]"
    r"|[在於于].{1,12}[省市县縣区區国國州城山河岛島]",
)
_MEANING = (
    r"^\W*(?:what(?:'s| is| are| was| were)|define|explain)\b"
    r"|是什[么麼]|什[么麼]是|[何啥][谓謂]|指的是|定[义義]",
    r"\b(?:is|are|was|were) (?:an?|the|one|any)\b"
    r"|\b(?:means|refers to|defined as|known as)\b|是[指一对對用由]|[称稱][为為作]|指的?是|叫做",
)
_KINDS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(given))
    for asked, given in (_DATE, _NUMBER, _PERSON, _CAUSE, _PLACE, _MEANING)
)


def answers(question: str, sentence: str) -> bool:
    """Tell whether `sentence` has what `question` asks for, such as a date, a number or a cause.

    Nothing is known to answer a question that asks for none of the kinds.
    """
    for asked, given in _KINDS:
        if asked.search(question):
            return bool(given.search(sentence))
    return False
