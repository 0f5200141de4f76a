"""Tell whether a sentence holds the kind of thing a question asks for."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from models.extractive.asking import bare
from models.extractive.counts import ASKED, COUNT, counted, measured
from retrieval.regex import regex
from retrieval.script import HAN
from retrieval.words import words

NEAR = 40
"""What is asked for stands at most so many characters from what is said of it."""

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_CAPITAL = "[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĢĪŁŃŇŌŐŒŘŚŠŞŢŤŪŮŰŹŻŽ]"
_NAME = (
    rf"{_CAPITAL}[\w'’.-]*"
    rf"(?: (?:(?:de|van|von|der|del|di|da|la|le|bin|al) )*{_CAPITAL}[\w'’.-]*)+"
)
_FIRST = (
    r"(?:^|(?<=[.!?] ))(?!(?:An?|The|It|In|On|At|If|As|By|To|He|She|They|This|These|You|We)\b)"
    rf"{_CAPITAL}[\w-]+(?=,? (?:who|was|is|had|has|known|\w+ed)\b)"
)
"""One word for somebody, or some company, at the beginning of a sentence."""
# The hundred most common Chinese surnames, without those that are mostly other words.
_SURNAME = (
    "[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林罗羅郑鄭梁谢謝宋唐许許邓鄧冯馮韩韓曹曾彭萧蕭蔡潘"
    "田董袁余叶葉蒋蔣杜苏蘇魏程吕呂丁沈任姚卢盧傅钟鍾姜崔谭譚廖范汪陆陸戴贾賈韦韋夏邱侯邹鄒熊孟秦江阎閻薛尹段"
    "雷史陶贺賀毛郝顾顧龚龔邵覃武钱錢严嚴莫孔汤湯诸諸欧歐]"
)
_STYLED = (
    "(?:先生|女士|小姐|博士|教授|医生|將軍|将军|皇帝|国王|國王|王后|皇后|总统|總統|爵士|法师|法師)"
)


_TITLE = regex(r'"[^"]*"|“[^“”]*”')
"""What is named in quotation marks is a work and no person."""

_NO_NUMBER = regex(
    rf"{_MONTH}\.? \d{{1,2}}\b(?:, \d{{4}})?|\b\d{{1,2}} {_MONTH}(?: \d{{4}})?"
    r"|(?:\b(?:in|since|from|until|an?) |[(–-])(?:1\d|20)\d\d\b|\w\(\d\w{0,3}\)"
)
"""A day, a year or the section of a manual, as in "sysctl(8)", is no number of anything."""

_ARTICLE = regex(r"\b[Aa]n? $")
_ACRONYM = regex(r"^[A-Z][a-z]+ [A-Z]{2,}$")
_ONE_OF = regex(r"one of|one another|one or|one can|one must", re.IGNORECASE)


class Kind(NamedTuple):
    """What asks for a kind of thing, and what such a thing looks like."""

    asked: re.Pattern[str]
    given: re.Pattern[str]
    new: bool = True
    """Whether what the question says itself is no answer."""


def _kind(asked: str, given: str, *, new: bool = True) -> Kind:
    return Kind(regex(asked, re.IGNORECASE), regex(given), new)


_DATE = _kind(
    r"\bwhen (?=did|was|were|is|are|do|does|will|has|had|and|exactly|should|can|must)|^\W*when\b"
    r"|\bwhat (?:year|date|day|month|time|century)|\bwhich (?:year|month|century)\b|\bhow old\b"
    r"|[何][时時]|什[么麼][时時][候间間]|哪一?[年天日月]|[几幾][年月日号號]|[时時][间間]",
    rf"\b(?:1\d|20)\d\ds?\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}|\b{_MONTH}|\bcentury\b"
    r"|\d[\d.]*\s*[年月日世]|[朝世][紀纪]|[一二三四五六七八九十]+[年月日]|[春夏秋冬][天季]"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b"
    r"|\b\d\d:\d\d\b|\b(?:spring|summer|autumn|winter)\b",
)
_OCCASION = _kind(
    r"^\W*when (?:is|are|do|does|should|can|may|must|will)\b",
    rf"{_DATE.given.pattern}|\b(?:when|whenever|if|until|unless|while|during|after|before|once"
    r"|every|immediately|never|as soon as|each time|at (?:boot|start-?up|run ?time|login))\b",
)
"""What is so now or again and again may have a condition for its time."""
_DEFAULT = _kind(
    r"^\W*what(?:['’]s| is| are) .*\bdefaults?\b(?! (?:user|account|package)s?\b)",
    r"(?i:\bdefaults?\b[^.;]{0,60}? (?:is|are|to|was)\b|\bdefault(?:s| value)?: "
    r"|\bdefault of [\d\"'`/]|[(,] ?(?:the )?default\b|\bby default\b|\bdefaults? ?= ?"
    r"|\b(?:is|are) (?:the|implied) default\b)",
    new=False,
)
"""What is so unless somebody says otherwise."""
_NUMBER = _kind(ASKED, COUNT)
_PERSON = _kind(
    r"\b(?:who|whom|whose)\b|[谁誰]|哪一?位|何人|哪[个個]人",
    rf"(?<![\w.]){_NAME}|(?<=\bby ){_CAPITAL}\w+|{_FIRST}|[{HAN}]{{1,6}}·[{HAN}]{{1,6}}"
    rf"|(?:(?<![{HAN}])|(?<=[由为為被是和与與及])){_SURNAME}[{HAN}]{{1,2}}|[{HAN}]{{1,4}}{_STYLED}",
)
_CAUSE = _kind(
    r"\bwhy\b|\breasons?\b|\bcauses?\b|[为為](?:什|何(?!人))|原因|何以",
    r"\b(?:because|since(?! \d)|due to|owing to|so that|in order to|caused?|reasons?|as a result"
    r"|therefore|thanks to|led to|leads to|which is why|die[sd]? (?:of|from)"
    r"|as (?:it|they|this|that|there|these)|so (?:it|they|the|you|we|this)|(?:in|to) (?:order to"
    r"|avoid|prevent|ensure|save|make sure|keep)|for [\w-]+ reasons)\b"
    r"|因[为為]|由[于於]|原因|所以|因此|以便|[导導]致|造成|使得|死于|是?[为為]了",
    new=False,
)
_PLACE = _kind(
    r"\bwhere\b|哪[裡里裏兒儿]|何[處处地]|什[么麼]地方|哪[个個]?[国國省市地城]",
    rf"\b(?:in|at|near|from|of|on|to|off) (?:the )?{_CAPITAL}\w+"
    r"|(?<![\w/.])(?:~|\$\w+)?/[\w.-][^\s,;:'\"]*"
    r"|[\w.+-]+@[\w-]+\.[\w.]+"
    rf"|(?:位|坐落|在|地[处處])[于於]?[^，。]{{1,12}}|[{HAN}]{{1,6}}[省市县縣区區州國国镇鎮村乡鄉岛島山河湖路街城港湾灣洲府郡站]",
)
_DECISION = _kind(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|may|might|must|should|shall|will|would|has|have"
    r"|had)\b(?!.* or )|[吗嗎]\W*$|是否|能否|可否|是不是|能不能|[会會]不[会會]|有[没沒]有"
    r"|可不可以|要不要|[该該]不[该該]",
    r"\b(?:not|never|no longer|cannot|\w+n['’]t|no|only|must|may|can|allowed|forbidden|prohibited"
    r"|permitted|required|always|unless|except)\b|不|[没沒]有|未|[无無]法|禁止|必[须須]|可以|[应應][该該当當]",
    new=False,
)
_MEANING = _kind(
    r"^\W*(?:what(?:'s| is| are| was| were)|define|explain)\b|^\W*what do(?:es)? .+ do\W*$"
    r"|是什[么麼]|什[么麼]是|[何啥][谓謂]|指的是|定[义義]",
    r"\b(?:is|are|was|were) (?:an?|the|one|any)\b"
    r"|\b(?:means|refers to|defined as|known as)\b|是[指一对對用由]|[称稱][为為作]|指的?是|叫做",
    new=False,
)
PLURAL = r"(?!\w*(?:ss|us|is)\b|(?:does|has|was|this|yes)\b)\w+s"
"""A word that may be an English plural."""

_LIST = _kind(
    r"^\W*(?:list|name|enumerate)\b(?! of\b)"
    r"|^\W*(?:what|which) are (?!.*\b(?:reasons|causes)\b)"
    rf"(?:all )?(?:(?:of )?the|its|their|\w+['’]s) (?:[\w-]+ ){{0,3}}?{PLURAL}\b"
    r"|^\W*(?:what|which) (?!do\b|does\b|did\b)"
    rf"(?:[\w-]+ ){{0,3}}?(?:{PLURAL}|criteria)(?: [\w-]+){{0,4}}?"
    r" (?:can|could|are|may|do|does|did|have|has|had|must|should|were|will|exist)\b"
    r"|\b(?:the|which|what) (?:steps|stages|phases) (?:to|for|of|in)\b"
    r"|哪些|哪[几幾][种種个個类類项項点點步條条]|列[出举舉]|步[骤驟](?:是|有|如)|包[括含]什[么麼]",
    r"(?:\b(?:are|include[sd]?|including|were|namely|such as|one of|either|between|both|of"
    r"|takes?|has|have)\b|[:(])[^;.:]{1,60}?(?:,[^,;.:]{1,60})+,? (?:and|or)\b"
    r"|(?:[^,;.:]{1,40}, ){2,}(?:[^,;.:]{1,40} )?(?:and|or)\b|\w \| [\w-]+(?: \| [\w-]+)+"
    r"|、[^。]{1,40}(?:、|和|与|與|及|或)|[包]括|分[为為]",
    new=False,
)
_KINDS = (_DEFAULT, _OCCASION, _DATE, _LIST, _NUMBER, _PERSON, _CAUSE, _PLACE, _DECISION, _MEANING)

_WHY_TOO = regex(
    r"(?:[,;?]| and|\bor) (?:and )?why\b|\b(?:and|give) (?:the |a )?reasons?\b"
    r"|[，,；？]\s*(?:[并並以及又]*)(?:[为為]什[么麼]|[为為]何|原因|[说說]明原因|理由)|及其?原因",
    re.IGNORECASE,
)


def answers(question: str, sentence: str) -> float:
    """Return how well `sentence` has what `question` asks for, such as a date, in 0..1.5.

    A name, a place, a date or a number counts if the question does not say it itself; a number
    of the things or in the unit that is asked for is worth more. Nothing is known to answer a
    question that asks for none of the kinds. Of several lines the first that asks decides.
    """
    for line in map(bare, question.splitlines()):
        kind = next((one for one in _KINDS if one.asked.search(line)), None)
        if kind:
            said = line.lower()
            spans = (found[0] for found in kind.given.finditer(sentence))
            found = any(not kind.new or _is_new(span, said) for span in spans)
            return found + 0.5 * (kind is _NUMBER and found and counted(line, sentence))
    return 0.0


def holds(question: str, sentence: str, beside: Collection[str]) -> bool:
    """Tell whether a sentence has the kind of thing that a question asks for, if it asks for one.

    It must stand near one of the words `beside`, if the sentence has one. Almost any sentence may
    say what something means (`meaning.py` tells how well).
    """
    line = bare(question.split("\n")[0])
    kind = next((one for one in _KINDS if one.asked.search(line)), _MEANING)
    if kind is _MEANING:
        return True
    said = line.lower()
    if kind is _NUMBER and measured(line, sentence) is False:
        return False
    other = _TITLE if kind is _PERSON else _NO_NUMBER if kind is _NUMBER else None
    told = other.sub(lambda one: " " * len(one[0]), sentence) if other else sentence
    found = [
        one
        for one in kind.given.finditer(told)
        if (not kind.new or _is_new(one[0], said)) and not _is_other(kind, told, one)
    ]
    around = (sentence[max(0, one.start() - NEAR) : one.end() + NEAR] for one in found)
    near = any(not {*words(text)}.isdisjoint(beside) for text in around)
    return bool(found) and (near or {*words(sentence)}.isdisjoint(beside))


def has_kind(question: str, sentence: str) -> bool:
    """Tell whether a sentence has anywhere the kind of thing that a question asks for."""
    return holds(question, sentence, ())


def _is_new(span: str, said: str) -> bool:
    """Tell whether no name and no number of a piece of a sentence stands in a question.

    A path is new if any part of it is.
    """
    spelt = re.findall(r"[^\W_]+", span)
    if "/" in span:
        return any(word.lower() not in said for word in spelt)
    telling = [word for word in spelt if not word.islower() and words(word)] or spelt
    return not any(word.lower() in said for word in telling)


def _is_other(kind: Kind, sentence: str, found: re.Match[str]) -> bool:
    """Tell whether it is a people and no person ("an English poet"), or counts nothing.

    "Enable LSB" is none either.
    """
    if kind is _PERSON:
        return bool(_ARTICLE.search(sentence[: found.start()]) or _ACRONYM.search(found[0]))
    return kind is _NUMBER and bool(_ONE_OF.match(sentence, found.start()))


def asks_kind(question: str) -> bool:
    """Tell whether a question asks for a kind of thing that a sentence has or has not."""
    line = bare(question.split("\n")[0])
    return next((one for one in _KINDS if one.asked.search(line)), _MEANING) is not _MEANING


def asks_meaning(question: str) -> bool:
    """Tell whether a question asks what something is or means, and for nothing more particular."""
    line = bare(question.split("\n")[0])
    return next((one for one in _KINDS if one.asked.search(line)), None) is _MEANING


def asks_list(question: str) -> bool:
    """Tell whether a question asks for several things: a list, the steps of something."""
    line = bare(question.split("\n")[0])
    return next((one for one in _KINDS if one.asked.search(line)), None) is _LIST


def asks_where(question: str) -> bool:
    """Tell whether a question asks for a place, and for nothing before that."""
    line = bare(question.split("\n")[0])
    return next((one for one in _KINDS if one.asked.search(line)), None) is _PLACE


def asks_why(question: str) -> bool:
    """Tell whether a question asks for a reason."""
    return bool(_CAUSE.asked.search(question.split("\n")[0]))


def asks_why_too(question: str) -> bool:
    """Tell whether a question asks for a reason besides something else."""
    return bool(_WHY_TOO.search(question))


def gives_cause(sentence: str) -> bool:
    """Tell whether a sentence says why something is so."""
    return bool(_CAUSE.given.search(sentence))
