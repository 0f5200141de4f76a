"""The type of answer that a question asks for, such as a date or a reason, and what has it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from text.regex import regex
from text.script import HAN
from text.sentences import split_sentences
from text.topics import strip_request_phrases
from text.words import query_terms, search_words

_COUNT_PATTERN = (
    r"\d[\d.,:/~–-]*|\b(?i:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?"
    r"|hundreds?|thousands?|millions?|billions?|half|twice|once)\b|[一二两兩三四五六七八九十百千万萬亿億半]+"
)
"""A number, in figures or in words."""

_COUNT_QUESTION_PATTERN = (
    r"\bhow (?:many|much|long|far|tall|high|big|large|often|fast|heavy|deep|wide)\b"
    r"|^\W*(?:what|give|tell|at)\b.{0,30}\b(?:percentage|number|amount)\b|多少|多[久大长長高远遠]|[几幾][个個年位次种種岁歲天名部座条條所届屆家]"
    r"|人口|面[积積]"
    r"|\b(?:what|which) (?:(?:is|was|are|were) the )?(?:[\w-]+ ){0,3}?(?:speed|height|length|width"
    r"|depth|weight|size|age|price|cost|budget|salary|fee|distance|temperature|population|capacity"
    r"|port)\b"
)
"""A question for a number."""

_COUNTED = regex(
    r"\bhow (?:many|much) (?:of the )?(?P<en>[\w-]+(?: [\w-]+)?)"
    r"|(?:多少|[几幾])(?P<zh>[^\W\d的了吗嗎呢]{1,2})",
    re.IGNORECASE,
)
_COUNT_REGEX = regex(_COUNT_PATTERN)
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
"""Questions for a unit, each with numbers in that unit."""


def _has_asked_unit(question: str, sentence: str) -> bool | None:
    """Tell whether a sentence has the unit that is asked for, or `None` if none is."""
    if re.search(f"[{HAN}]", question):
        return None
    units = [unit for asked, unit in _UNITS if asked.search(question)]
    return any(unit.search(sentence) for unit in units) if units else None


def has_asked_count(question: str, sentence: str) -> bool:
    """Tell whether a number in `sentence` has the unit or counts the things that are asked for."""
    if any(asked.search(question) and unit.search(sentence) for asked, unit in _UNITS):
        return True
    found = _COUNTED.search(question)
    if found and found["zh"]:
        return bool(re.search(rf"(?:{_COUNT_PATTERN})\s*[多余餘]?{found['zh'][0]}", sentence))
    things = set(query_terms(found["en"])) if found else set()
    following = (sentence[one.end() : one.end() + 40] for one in _COUNT_REGEX.finditer(sentence))
    return bool(things) and any(things & set(search_words(after)[:3]) for after in following)


NEAR = 40
"""The most characters between an answer and the words it must be near."""

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
"""One word for a person or a company at the start of a sentence."""
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
"""A name in quotation marks is a work and no person."""

_NO_NUMBER = regex(
    rf"{_MONTH}\.? \d{{1,2}}\b(?:, \d{{4}})?|\b\d{{1,2}} {_MONTH}(?: \d{{4}})?"
    r"|(?:\b(?:in|since|from|until|an?) |[(–-])(?:1\d|20)\d\d\b|\w\(\d\w{0,3}\)"
)
"""A day, a year or the section of a manual, as in "sysctl(8)", counts nothing."""

_ARTICLE = regex(r"\b[Aa]n? $")
_ACRONYM = regex(r"^[A-Z][a-z]+ [A-Z]{2,}$")
_ONE_OF = regex(r"one of|one another|one or|one can|one must", re.IGNORECASE)


class _AnswerType(NamedTuple):
    """Questions for a type of answer, and what such an answer looks like."""

    asked: re.Pattern[str]
    given: re.Pattern[str]
    new: bool = True
    """Whether the answer must not be in the question."""


def _answer_type(asked: str, given: str, *, new: bool = True) -> _AnswerType:
    return _AnswerType(regex(asked, re.IGNORECASE), regex(given), new)


_DATE = _answer_type(
    r"\bwhen (?=did|was|were|is|are|do|does|will|has|had|and|exactly|should|can|must)|^\W*when\b"
    r"|\bwhat (?:year|date|day|month|time|century)|\bwhich (?:year|month|century)\b|\bhow old\b"
    r"|[何][时時]|什[么麼][时時][候间間]|哪一?[年天日月]|[几幾][年月日号號]|[时時][间間]",
    rf"\b(?:1\d|20)\d\ds?\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}|\b{_MONTH}|\bcentury\b"
    r"|\d[\d.]*\s*[年月日世]|[朝世][紀纪]|[一二三四五六七八九十]+[年月日]|[春夏秋冬][天季]"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b"
    r"|\b\d\d:\d\d\b|\b(?:spring|summer|autumn|winter)\b",
)
_OCCASION = _answer_type(
    r"^\W*when (?:is|are|do|does|should|can|may|must|will)\b",
    rf"{_DATE.given.pattern}|\b(?:when|whenever|if|until|unless|while|during|after|before|once"
    r"|every|immediately|never|as soon as|each time|at (?:boot|start-?up|run ?time|login))\b",
)
"""What happens now or regularly may have a condition for its time."""
_DEFAULT = _answer_type(
    r"^\W*what(?:['’]s| is| are) .*\bdefaults?\b(?! (?:user|account|package)s?\b)",
    r"(?i:\bdefaults?\b[^.;]{0,60}? (?:is|are|to|was)\b|\bdefault(?:s| value)?: "
    r"|\bdefault of [\d\"'`/]|[(,] ?(?:the )?default\b|\bby default\b|\bdefaults? ?= ?"
    r"|\b(?:is|are) (?:the|implied) default\b)",
    new=False,
)
"""A default value."""
_NUMBER = _answer_type(_COUNT_QUESTION_PATTERN, _COUNT_PATTERN)
_PERSON = _answer_type(
    r"\b(?:who|whom|whose)\b|[谁誰]|哪一?位|何人|哪[个個]人",
    rf"(?<![\w.]){_NAME}|(?<=\bby ){_CAPITAL}\w+|{_FIRST}|[{HAN}]{{1,6}}·[{HAN}]{{1,6}}"
    rf"|(?:(?<![{HAN}])|(?<=[由为為被是和与與及])){_SURNAME}[{HAN}]{{1,2}}|[{HAN}]{{1,4}}{_STYLED}",
)
_CAUSE = _answer_type(
    r"\bwhy\b|\breasons?\b|\bcauses?\b|[为為](?:什|何(?!人))|原因|何以",
    r"\b(?:because|since(?! \d)|due to|owing to|so that|in order to|caused?|reasons?|as a result"
    r"|therefore|thanks to|led to|leads to|which is why|die[sd]? (?:of|from)"
    r"|as (?:it|they|this|that|there|these)|so (?:it|they|the|you|we|this)|(?:in|to) (?:order to"
    r"|avoid|prevent|ensure|save|make sure|keep)|for [\w-]+ reasons)\b"
    r"|因[为為]|由[于於]|原因|所以|因此|以便|[导導]致|造成|使得|死于|是?[为為]了",
    new=False,
)
_PLACE = _answer_type(
    r"\bwhere\b|哪[裡里裏兒儿]|何[處处地]|什[么麼]地方|哪[个個]?[国國省市地城]",
    rf"\b(?:in|at|near|from|of|on|to|off) (?:the )?{_CAPITAL}\w+"
    r"|(?<![\w/.])(?:~|\$\w+)?/[\w.-][^\s,;:'\"]*"
    r"|[\w.+-]+@[\w-]+\.[\w.]+"
    rf"|(?:位|坐落|在|地[处處])[于於]?[^，。]{{1,12}}|[{HAN}]{{1,6}}[省市县縣区區州國国镇鎮村乡鄉岛島山河湖路街城港湾灣洲府郡站]",
)
_DECISION = _answer_type(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|may|might|must|should|shall|will|would|has|have"
    r"|had)\b(?!.* or )|[吗嗎]\W*$|是否|能否|可否|是不是|能不能|[会會]不[会會]|有[没沒]有"
    r"|可不可以|要不要|[该該]不[该該]",
    r"\b(?:not|never|no longer|cannot|\w+n['’]t|no|only|must|may|can|allowed|forbidden|prohibited"
    r"|permitted|required|always|unless|except)\b|不|[没沒]有|未|[无無]法|禁止|必[须須]|可以|[应應][该該当當]",
    new=False,
)
_MEANING = _answer_type(
    r"^\W*(?:what(?:'s| is| are| was| were)|define|explain)\b|^\W*what do(?:es)? .+ do\W*$"
    r"|是什[么麼]|什[么麼]是|[何啥][谓謂]|指的是|定[义義]",
    r"\b(?:is|are|was|were) (?:an?|the|one|any)\b"
    r"|\b(?:means|refers to|defined as|known as)\b|是[指一对對用由]|[称稱][为為作]|指的?是|叫做",
    new=False,
)
PLURAL_PATTERN = r"(?!\w*(?:ss|us|is)\b|(?:does|has|was|this|yes)\b)\w+s"
"""A word that may be an English plural."""

_LIST = _answer_type(
    r"^\W*(?:list|name|enumerate)\b(?! of\b)"
    r"|^\W*(?:what|which) are (?!.*\b(?:reasons|causes)\b)"
    rf"(?:all )?(?:(?:of )?the|its|their|\w+['’]s) (?:[\w-]+ ){{0,3}}?{PLURAL_PATTERN}\b"
    r"|^\W*(?:what|which) (?!do\b|does\b|did\b)"
    rf"(?:[\w-]+ ){{0,3}}?(?:{PLURAL_PATTERN}|criteria)(?: [\w-]+){{0,4}}?"
    r" (?:can|could|are|may|do|does|did|have|has|had|must|should|were|will|exist)\b"
    r"|\b(?:the|which|what) (?:steps|stages|phases) (?:to|for|of|in)\b"
    r"|哪些|哪[几幾][种種个個类類项項点點步條条]|列[出举舉]|步[骤驟](?:是|有|如)|包[括含]什[么麼]",
    r"(?:\b(?:are|include[sd]?|including|were|namely|such as|one of|either|between|both|of"
    r"|takes?|has|have)\b|[:(])[^;.:]{1,60}?(?:,[^,;.:]{1,60})+,? (?:and|or)\b"
    r"|(?:[^,;.:]{1,40}, ){2,}(?:[^,;.:]{1,40} )?(?:and|or)\b|\w \| [\w-]+(?: \| [\w-]+)+"
    r"|、[^。]{1,40}(?:、|和|与|與|及|或)|[包]括|分[为為]",
    new=False,
)
_ANSWER_TYPES = (
    *(_DEFAULT, _OCCASION, _DATE, _LIST, _NUMBER),
    *(_PERSON, _CAUSE, _PLACE, _DECISION, _MEANING),
)

_WHY_TOO = regex(
    r"(?:[,;?]| and|\bor) (?:and )?why\b|\b(?:and|give) (?:the |a )?reasons?\b"
    r"|[，,；？]\s*(?:[并並以及又]*)(?:[为為]什[么麼]|[为為]何|原因|[说說]明原因|理由)|及其?原因",
    re.IGNORECASE,
)


def score_answer_type(question: str, sentence: str) -> float:
    """Return how well `sentence` has what `question` asks for, such as a date, in 0..1.5.

    A name, a place, a date or a number counts if the question does not contain it; a number of the
    things or in the unit that is asked for is worth more. A question that asks for none of the
    types scores 0. Of several lines the first that asks decides.
    """
    for line in map(strip_request_phrases, question.splitlines()):
        if kind := _find_asked_type(line):
            spans = (match[0] for match in kind.given.finditer(sentence))
            has_type = any(not kind.new or _is_new(span, line.lower()) for span in spans)
            counts = kind is _NUMBER and has_type and has_asked_count(line, sentence)
            return has_type + 0.5 * counts
    return 0.0


def _find_asked_type(line: str) -> _AnswerType | None:
    return next((kind for kind in _ANSWER_TYPES if kind.asked.search(line)), None)


def _first_line(question: str) -> str:
    return strip_request_phrases(question.split("\n")[0])


def has_answer_type_near(question: str, sentence: str, beside: Collection[str]) -> bool:
    """Tell whether a sentence has the type of answer that a question asks for, if it asks for one.

    It must be near one of the words `beside`, if the sentence has one. Almost any sentence may say
    what something means (`definitions.py` scores how well).
    """
    line = _first_line(question)
    kind = _find_asked_type(line) or _MEANING
    if kind is _MEANING:
        return True
    if kind is _NUMBER and _has_asked_unit(line, sentence) is False:
        return False
    other = _TITLE if kind is _PERSON else _NO_NUMBER if kind is _NUMBER else None
    text = other.sub(lambda match: " " * len(match[0]), sentence) if other else sentence
    answers = [
        match
        for match in kind.given.finditer(text)
        if (not kind.new or _is_new(match[0], line.lower())) and not _is_other(kind, text, match)
    ]
    around = (sentence[max(0, one.start() - NEAR) : one.end() + NEAR] for one in answers)
    near = any(not {*search_words(piece)}.isdisjoint(beside) for piece in around)
    return bool(answers) and (near or {*search_words(sentence)}.isdisjoint(beside))


def has_answer_type(question: str, sentence: str) -> bool:
    """Tell whether a sentence has the type of answer that a question asks for anywhere."""
    return has_answer_type_near(question, sentence, ())


def _is_new(span: str, question: str) -> bool:
    """Tell whether a question in lower case has no name and no number of a span.

    A path is new if any part of it is.
    """
    words = re.findall(r"[^\W_]+", span)
    if "/" in span:
        return any(word.lower() not in question for word in words)
    names = [word for word in words if not word.islower() and search_words(word)] or words
    return not any(word.lower() in question for word in names)


def _is_other(kind: _AnswerType, sentence: str, match: re.Match[str]) -> bool:
    """Tell whether a match is no person ("an English poet", "Enable LSB"), or counts nothing."""
    if kind is _PERSON:
        return bool(_ARTICLE.search(sentence[: match.start()]) or _ACRONYM.search(match[0]))
    return kind is _NUMBER and bool(_ONE_OF.match(sentence, match.start()))


def asks_answer_type(question: str) -> bool:
    """Tell whether a question asks for a type of answer that a sentence may lack."""
    return _find_asked_type(_first_line(question)) not in (None, _MEANING)


def asks_meaning(question: str) -> bool:
    """Tell whether a question asks what something is or means, and for nothing more specific."""
    return _find_asked_type(_first_line(question)) is _MEANING


def asks_list(question: str) -> bool:
    """Tell whether a question asks for several things: a list, the steps of something."""
    return _find_asked_type(_first_line(question)) is _LIST


def asks_where(question: str) -> bool:
    """Tell whether a question asks for a place first."""
    return _find_asked_type(_first_line(question)) is _PLACE


def asks_why(question: str) -> bool:
    """Tell whether a question asks for a reason."""
    return bool(_CAUSE.asked.search(question.split("\n")[0]))


def asks_why_too(question: str) -> bool:
    """Tell whether a question asks for a reason besides something else."""
    return bool(_WHY_TOO.search(question))


def gives_cause(sentence: str) -> bool:
    """Tell whether a sentence says why something is so."""
    return bool(_CAUSE.given.search(sentence))


_GOOD = (
    "best|better|nicest|nicer|worst|worse|coolest|most (?:useful|beautiful|interesting|fun"
    "|important|elegant|promising|suitable|appropriate|reliable|comfortable|enjoyable)"
    "|(?:more|less) (?:useful|suitable|beautiful|interesting|fun|elegant|reliable)"
)
_FACTUAL = regex(
    r"\bbest (?:way|practice|known|before|sell\w*|effort|case|match\w*|fit\w*)"
    r"|\bat (?:best|worst)\b|\bbest-"
    r"|\bworst[- ]case|\b(?:when|why) (?:should|is|are|was|were)\b|\bhow\b"
    r"|\bwhat happens\b",
    re.IGNORECASE,
)
_JUDGING = regex(
    r"^\W*(?:(?:which|what|who)\b.*\b(?:" + _GOOD + r")\b"
    r"|(?:is|are|was|were|would)\b.*\b(?:" + _GOOD + r"|worth)\b"
    r"|should (?:i|we|one)\b|(?:which|what|who|where)\b.*\bshould (?:i|we|one)\b"
    r"|(?:do|would|did) you (?:think|recommend|suggest|advise|prefer|say|like)\b"
    r"|(?:what|which)\b.*\b(?:do|would) you (?:think|recommend|suggest|advise|prefer)\b"
    r"|what(?:'s| is| are) your (?:opinion|view|take|favou?rite|recommendation)"
    r"|(?:recommend|suggest|advise)\b)"
    r"|\bworth (?:it|\w+ing)\W*$|\bin your opinion\b"
    r"|应该(?=.*(?:吗|还是|哪|什么|选))|[该該]不[该該]|推荐|推薦|建议(?:我|用|选)|值得|更好|最好(?!不|先|在)|哪[个個种種款].*好"
    r"|你(?:觉得|认为|怎么看|喜欢)|[好值]不[好值]",
    re.IGNORECASE,
)
_COUNTING_QUESTION = regex(
    r"\bhow many\b|\bhow often\b|\b(?:number|count) of\b"
    r"|\b(?:average|mean|median|total|sum|percentage)\b"
    r"|多少[个個次条條种種人名篇]|[几幾][个個次条條种種人名篇]|平均|总[数和共]|总计|合计",
    re.IGNORECASE,
)
_MENTIONS = regex(
    r"\bhow (?:many times|often)\b.*\b(?:mention\w*|appear\w*|occur\w*|say|says|use[ds]?"
    r"|named?|cited?|repeat\w*)\b|(?:出现|提到|提及|说了?)(?:过|了)?(?:多少|[几幾])次",
    re.IGNORECASE,
)


def classify_unquotable(question: str, text: str) -> Literal["judging", "counting", ""]:
    """Return what a question asks for that quotes cannot give; "" where they may answer it.

    A number of the counted things in the quoted `text` is an answer.
    """
    line = _first_line(question)
    if _JUDGING.search(line) and not _FACTUAL.search(line):
        return "judging"
    if _MENTIONS.search(line):
        return "counting"
    if not _COUNTING_QUESTION.search(line):
        return ""
    has_count = any(has_asked_count(line, span.text) for span in split_sentences(text))
    return "" if has_count else "counting"
