"""Tell whether a sentence counts or measures what a question asks the number of."""

from __future__ import annotations

import re

from retrieval.regex import regex
from retrieval.script import HAN
from retrieval.words import terms, words

COUNT = (
    r"\d[\d.,:/~–-]*|\b(?i:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?"
    r"|hundreds?|thousands?|millions?|billions?|half|twice|once)\b|[一二两兩三四五六七八九十百千万萬亿億半]+"
)
"""A number, in figures or in words."""

ASKED = (
    r"\bhow (?:many|much|long|far|tall|high|big|large|often|fast|heavy|deep|wide)\b"
    r"|^\W*(?:what|give|tell|at)\b.{0,30}\b(?:percentage|number|amount)\b|多少|多[久大长長高远遠]|[几幾][个個年位次种種岁歲天名部座条條所届屆家]"
    r"|人口|面[积積]"
    r"|\b(?:what|which) (?:(?:is|was|are|were) the )?(?:[\w-]+ ){0,3}?(?:speed|height|length|width"
    r"|depth|weight|size|age|price|cost|budget|salary|fee|distance|temperature|population|capacity"
    r"|port)\b"
)
"""What asks for a number."""

_COUNTED = regex(
    r"\bhow (?:many|much) (?:of the )?(?P<en>[\w-]+(?: [\w-]+)?)"
    r"|(?:多少|[几幾])(?P<zh>[^\W\d的了吗嗎呢]{1,2})",
    re.IGNORECASE,
)
_NUMBER = regex(COUNT)
_SOME = (
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozens?|hundred|thousand|million"
    r"|half an?|an?))[\s-]*"
)
_TIME = r"-?(?:year|month|week|day|hour|minute|second)s?|[个個]?[年月周天岁歲]|[小分秒]"
_UNITS = tuple(
    (regex(asked, re.IGNORECASE), regex(unit.replace(r"\d\s*", _SOME), re.IGNORECASE))
    for asked, unit in (
        (
            r"\bkg\b|kilo|weigh|heavy|千克|公斤|多重",
            r"\d\s*(?:kg|kilo|(?:g|t)\b|tons?|ounces|pounds|lb|千克|公斤|克|吨)",
        ),
        (
            r"\bhow much (?!do|did|does|is|was|are|were|more|less|long|of|\w+er\b)\w",
            r"\d\s*(?:kg|kilo|g\b|grams?|tons?|t\b|m?l\b|lit(?:er|re)s?|pounds?|gallons?|cups?)",
        ),
        (r"percent|%|share of|proportion|百分|比例|占", r"\d\s*(?:%|percent|per cent|％|成)"),
        (r"how often|多久一次", r"\bevery\b|\b(?:dai|week|month|year)ly\b|\btimes\b|每|次"),
        (
            r"how (?:long|old)|years|多久|多[长長][时時]|[几幾多少][年岁歲]",
            rf"\d\s*(?:{_TIME}|k?m\b|cm|met|mile|feet|\w*bytes|characters)",
        ),
        (
            r"how (?:far|tall|high|deep|wide)|distance|多[远遠高深]|距",
            r"\d\s*(?:k?m\b|cm|met|mile|feet|千?[公里米])",
        ),
        (r"cost|price|paid|多少[钱錢]|价格", r"\d\s*(?:dollars?|euros?|元|万|亿)|[€$£]\s?\d"),
        (r"temperature|degrees|warm|cold|温度|[几多少]度", r"\d\s*(?:°|degrees|℃|度)"),
    )
)
"""What asks for a unit, and a number with such a unit."""


def measured(question: str, sentence: str) -> bool | None:
    """Tell whether a sentence has the unit that is asked for, or `None` if none is."""
    if re.search(f"[{HAN}]", question):
        return None
    units = [unit for asked, unit in _UNITS if asked.search(question)]
    return any(unit.search(sentence) for unit in units) if units else None


def counted(question: str, sentence: str) -> bool:
    """Tell whether a number in `sentence` has the unit or counts the things that are asked for."""
    if any(asked.search(question) and unit.search(sentence) for asked, unit in _UNITS):
        return True
    found = _COUNTED.search(question)
    if found and found["zh"]:
        return bool(re.search(rf"(?:{COUNT})\s*[多余餘]?{found['zh'][0]}", sentence))
    things = set(terms(found["en"])) if found else set()
    following = (sentence[one.end() : one.end() + 40] for one in _NUMBER.finditer(sentence))
    return bool(things) and any(things & set(words(after)[:3]) for after in following)
