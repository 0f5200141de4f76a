"""Tell whether a sentence holds the kind of thing a question asks for."""

from __future__ import annotations

import re

_DATE = (
    r"\bwhen (?=did|was|were|is|are|do|does|will|has|had|and|exactly)|^\W*when\b"
    r"|\bwhat (?:year|date|day|month|time|century)|\bwhich (?:year|month|century)\b|\bhow old\b"
    r"|[何][时時]|什[么麼][时時][候间間]|哪一?[年天日月]|[几幾][年月日号號]|[时時][间間]",
    r"\b(?:1\d|20)\d\d\b|\b\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r"|\b(?:January|February|March|April|June|July|August|September|October|November|December)\b"
    r"|\d+\s*[年月日世]|century|[朝世][紀纪]",
)
_NUMBER = (
    r"\bhow (?:many|much|long|far|tall|high|big|large|often|fast|heavy|deep)\b"
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
    r"\bwhy\b|\breasons?\b|\bcauses?\b|[为為](?:什|何(?!人))|原因|何以",
    r"\b(?:because|since(?! \d)|due to|owing to|so that|in order to|caused?|reasons?|as a result"
    r"|therefore|thanks to|led to|leads to|which is why"
    r"|die[sd]? (?:of|from))\b"
    r"|因[为為]|由[于於]|原因|所以|因此|以便|[导導]致|造成|使得|死于|是?[为為]了",
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
_TIME = r"-?(?:year|month|week|day|hour|minute|second)s?|[个個]?[年月周天岁歲]|[小分秒]"
_UNITS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(rf"\d\s*(?:{unit})", re.IGNORECASE))
    for asked, unit in (
        (r"\bkg\b|kilo|weigh|heavy|千克|公斤|多重", r"kg|kilo|(?:g|t)\b|tons?|千克|公斤|克|吨"),
        (r"percent|%|share of|proportion|百分|比例|占", r"%|percent|per cent|％|成"),
        (r"how (?:long|old)|years|多久|多[长長][时時]|[几幾多少][年岁歲]", _TIME),
        (
            r"how (?:far|tall|high|deep)|distance|多[远遠高深]|距",
            r"k?m\b|cm|met|mile|feet|千?[公里米]",
        ),
        (r"cost|price|paid|多少[钱錢]|价格", r"dollars?|euros?|[€$£]|元|万|亿"),
        (r"temperature|degrees|warm|cold|温度|[几多少]度", r"°|degrees|℃|度"),
    )
)
"""What units a question asks for, and a number with one of them."""

_WHY_TOO = re.compile(
    r"(?:[,;?]| and|\bor) (?:and )?why\b|\b(?:and|give) (?:the |a )?reasons?\b"
    r"|[，,；？]\s*(?:[并並以及又]*)(?:[为為]什[么麼]|[为為]何|原因|[说說]明原因|理由)|及其?原因",
    re.IGNORECASE,
)


def answers(question: str, sentence: str) -> float:
    """Return how well `sentence` has what `question` asks for, such as a date, in 0..1.5.

    A number in a unit that is asked for is worth more than another. Nothing is known to answer
    a question that asks for none of the kinds. Of several lines the first that asks decides.
    """
    for line in question.splitlines():
        for kind, (asked, given) in enumerate(_KINDS):
            if asked.search(line):
                found = bool(given.search(sentence))
                return found + 0.5 * (kind == 1 and found and _in_unit(line, sentence))
    return 0.0


def asks_why(question: str) -> bool:
    """Tell whether a question asks for a reason."""
    return bool(re.search(_CAUSE[0], question.split("\n")[0], re.IGNORECASE))


def asks_why_too(question: str) -> bool:
    """Tell whether a question asks for a reason besides something else."""
    return bool(_WHY_TOO.search(question))


def gives_cause(sentence: str) -> bool:
    """Tell whether a sentence says why something is so."""
    return bool(re.search(_CAUSE[1], sentence))


def _in_unit(question: str, sentence: str) -> bool:
    return any(asked.search(question) and unit.search(sentence) for asked, unit in _UNITS)
