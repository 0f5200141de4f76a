"""Say what it means that a statement has other words than the sentence it repeats."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from report.checks.numbers import TextNumber, is_known_number, widen_rounded
from text.dates import MONTH_NAMES
from text.regex import regex
from text.script import CJK, HAN
from text.words import STOPWORDS, word_weight

_WORDS_WITH_NOT = (
    "不仅|不僅|不但|不只|不过|不過|不同|不少|不久|不断|不斷|不论|不論|不管|不得不|不一定|不然"
    "|未满|未滿|未及|不到|不如|不满|不滿|不足|无论|無論|无数|無數|非常|非洲"
    "|分别|分別|特别|特別|个别|個別|区别|區別|级别|級別|类别|類別|性别|性別|别墅|別墅|别名|別名|别称|別稱"
    "|告别|告別|识别|識別|差别|差別|鉴别|鑑別|无锡|無錫|无线|無線|不丹|不列颠|不列顛|沉没|沉沒|淹没|淹沒"
    "|埋没|埋沒|出没|出沒|没落|沒落|不锈|不鏽|是非|未婚"
    "|未来|未來|没收|沒收|除非|并非|並非|没有|沒有|不是|是否|能否|有没有|有沒有|无法|無法|从不"
    "|從不|南非|北非|东非|非法|差不多"
)
_NOT = regex(
    r"not|n['’]t|never|nor|neither|cannot|no|none|nobody|nothing|without|hardly|scarcely|barely"
    "|[不没沒未无無非别]|没有|沒有|不是|并非|並非|无法|無法|从不|從不",
    re.IGNORECASE,
)
_LIKE_NOT = regex(
    r"un\w+|in(?:able|active|complete|valid|visible|dependent)\w*|dis\w+|non\w*|\w+less|fail\w*"
    r"|lack\w*"
    r"|refus\w*|except|only|little|few|rarely|seldom|forb\w+|prohibit\w*|avoid\w*|den\w+|stop\w*"
    r"|instead|off|disabled|absent|missing|out"
    "|than|yet|否|缺|拒|免|避|少|禁|停|除|只|仅|僅|异|異|反|失|差|空|零|难|難|不一定|是否|能否"
    "|有没有|有沒有|不同|不足|非法",
    re.IGNORECASE,
)
_BESIDE_NOT = regex(
    r"do|does|did|is|was|are|were|be|been|has|have|had|will|would|can|could|may|might|to|ever|any|anymore|still|longer|already"
    "|是|有|会|會|曾|已|在|于|為|为|被|将|將|就|也|都|过|過|了|能|可|以|所|以",
    re.IGNORECASE,
)
_CONDITION = regex("if|unless|whether|若|如果|除非|是否", re.IGNORECASE)
_STRONG = regex(
    r"all|every|always|never|only|exclusive(?:ly)?|certain(?:ly)?|definite(?:ly)?|undoubtedly"
    r"|proves?|proven"
    r"|must|exactly|precisely|entire(?:ly)?|complete(?:ly)?|sole(?:ly)?|guarantees?|guaranteed"
    r"|none|nobody"
    r"|everyone|everybody|everything|everywhere|clearly|obviously|invariably|will|shall|best"
    r"|impossible"
    "|所有|全部|一定|必然|肯定|总是|總是|唯一|完全|恰好|绝对|絕對|一律|必须|必須|显然|顯然|确实"
    "|確實|从不|從不|只|仅|僅",
    re.IGNORECASE,
)
_WEAK = regex(
    r"some|many|most|mostly|several|few|often|usually|sometimes|possibly|probably|may|might"
    r"|could|can|should|about|around"
    r"|approximately|roughly|nearly|almost|suggests?|suggested|indicates?|generally|rarely"
    r"|seldom|mainly|primarily|largely"
    r"|believed|thought|said|considered|reportedly|allegedly|supposedly|perhaps|likely|seems?"
    r"|appears?|partly|partially"
    r"|typically|normally|commonly|occasionally|one|among|estimated|expected|potentially|arguably"
    "|一些|部分|许多|許多|不少|大多数|大多|大部分|多数|多數|可能|或许|或許|也许|也許|通常|经常"
    "|經常|有时|有時|大约|大約|约|約|主要|几乎|幾乎"
    "|据说|據說|一般|似乎|之一|往往|左右|估计|估計|据称|據稱|疑似|可以|或",
    re.IGNORECASE,
)
_EXCEPT = regex("除|除了|除非")
_HEDGE = regex(
    r"possibly|probably|perhaps|reportedly|allegedly|supposedly|maybe|may|might|likely|seems?"
    r"|appears?|seemingly|arguably|to|be|is|was"
    "|可能|或许|或許|也许|也許|据说|據說|据称|據稱|似乎|疑似|很|会|會|是",
    re.IGNORECASE,
)
_OWN_HEDGE = regex(r"to|be|is|was|很|会|會|是", re.IGNORECASE)

_UNITS = "|".join(
    word
    for pattern in (_STRONG, _WEAK, _HEDGE)
    for word in re.findall(f"[{HAN}]{{2,}}", pattern.pattern)
)
_TOKEN = regex(
    rf"[^\W\d_{HAN}]+(?=n['’]t\b)|n['’]t\b|[^\W\d_{HAN}]+|\d+(?:st|nd|rd|th)\b|\d[\d,.]*\d|\d"
    rf"|{_WORDS_WITH_NOT}|大部分|{_UNITS}|[{HAN}]|%|《"
)

_COUNTS = {
    word: value
    for value, names in enumerate(
        (
            *(
                "zero",
                "one 一",
                "two 二 两 兩",
                "three 三",
                "four 四",
                "five 五",
                "six 六",
                "seven 七",
            ),
            *("eight 八", "nine 九", "ten 十", "eleven", "twelve"),
        )
    )
    for word in names.split()
}
_SCALE = regex(
    "hundred|thousand|million|billion|trillion|[kmgt]|bn|[kmgt]i?b|[十百千万萬亿億兆%]|dozens?",
    re.IGNORECASE,
)
_UNIT = regex("years?|months?|weeks?|days?|hours?|minutes?|seconds?|[年月日天周秒]", re.IGNORECASE)
_ABOUT = regex(
    r"about|around|roughly|approximately|nearly|almost|some|circa|over|约|約|大约|大約|近|近乎|逾|超",
    re.IGNORECASE,
)
_ORDER = {
    word: value
    for value, word in enumerate(
        (
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
        ),
        1,
    )
}
_CAPITAL = regex(rf"[^\W\d_a-zß-öø-ÿ{CJK}]")
_JOINTS = {"of", "the", "and", "de", "la", "von", "van", "for", "in"}
_DOT = regex("[·•・‧]")
_PLACE = regex("[省市县縣区區州镇鎮乡鄉村岛島国國山河江湖海港]$")
_GENERIC = regex("[他她它牠祂该該本此这這那其各]|以上|上述|前者|后者|後者")

_MAX_OTHER_WORDS = 16  # beside a changed Chinese name; with more it is a paraphrase
_MIN_NAME_WEIGHT = 0.95  # of a pair of characters
_MAX_NAME_WORDS = 8  # a longer change is another clause


class KnownNames(NamedTuple):
    """All that a statement may name."""

    text: str
    """The sources it cites, with what is in `named`."""
    named: str
    """The question, and the titles of its sources."""
    numbers: Sequence[float] = ()
    """Numbers that follow from others of its sources, sorted."""

    def has_prefix(self, start: str) -> bool:
        """Tell whether a word begins so."""
        return start in self.text and bool(re.search(rf"\b{re.escape(start)}", self.text))

    def has_word(self, word: str) -> bool:
        """Tell whether a word is there as a whole."""
        return word in self.text and bool(re.search(rf"\b{re.escape(word)}\b", self.text))


class WordChange(NamedTuple):
    """Words of a statement in place of others of the sentence it repeats."""

    ours: Sequence[str]
    theirs: Sequence[str]
    before: Sequence[str]
    """The words of the statement before them."""
    after: Sequence[str]
    beside: int = 0
    """How many other words of either are not in the other."""


def tokenize(text: str) -> list[str]:
    """Return the words, numbers and Chinese characters of a text as they are spelt."""
    return _TOKEN.findall(text)


def detect_negation(said: Sequence[str]) -> bool | None:
    """Tell whether words say no; None where one of them may say so without being a negation."""
    if _all(_LIKE_NOT, said):
        return None
    return bool(_all(_NOT, said))


def classify_changes(changes: Sequence[WordChange], known: KnownNames) -> str:
    """Return what kind of difference there is among changes that is one of meaning, or nothing."""
    for kind, told in _KINDS.items():
        compared = _unmoved(changes) if kind == "strength" else changes
        if kind == "negation" and _is_balanced(changes):
            continue
        if any(told(change, known) for change in compared):
            return kind
    return ""


def _is_balanced(changes: Sequence[WordChange]) -> bool:
    """Tell whether both sides say no equally often, or one of them on a condition."""
    said = sum(len(_all(_NOT, one.ours)) for one in changes)
    there = sum(len(_all(_NOT, one.theirs)) for one in changes)
    return said == there or any(_has(_CONDITION, one.ours or one.theirs) for one in changes)


def _unmoved(changes: Sequence[WordChange]) -> list[WordChange]:
    """Return changes without the words that only stand in another place."""
    said = {one.lower() for change in changes for one in change.ours}
    there = {one.lower() for change in changes for one in change.theirs}
    moved = said & there
    return [
        one._replace(
            ours=[word for word in one.ours if word.lower() not in moved],
            theirs=[word for word in one.theirs if word.lower() not in moved],
        )
        for one in changes
    ]


def _negation(change: WordChange, _: KnownNames) -> bool:
    """Tell whether one side says no, in few words, and the other does not."""
    said, there = _all(_NOT, change.ours), _all(_NOT, change.theirs)
    if bool(said) == bool(there) or _all(_LIKE_NOT, [*change.ours, *change.theirs]):
        return False
    if change.after and change.after[0].lower() in ("only", "仅", "僅", "只", "least"):
        return False
    side = change.ours if said else change.theirs
    other = change.theirs if said else change.ours
    more = [one for one in side if not _NOT.fullmatch(one) and not _BESIDE_NOT.fullmatch(one)]
    if more and any(len(one) > 1 and not _BESIDE_NOT.fullmatch(one) for one in other):
        # "Off" in place of "not enabled" is the same in other words.
        return False
    return len(more) <= max(1, len(other)) and len(side) <= 4 and len(other) <= 3


def _number(change: WordChange, known: KnownNames) -> bool:
    """Tell whether a number, or the word for one, stands in place of another."""
    said, there = list(map(_value, change.ours)), list(map(_value, change.theirs))
    ours = [one for one in said if one is not None]
    theirs = [one for one in there if one is not None]
    scaled = _has(_SCALE, [*change.ours, *change.theirs, *change.after[:1]])
    follows = any(is_known_number(one, known.numbers) for one in ours)
    if not ours or len(ours) != len(theirs) or scaled or follows:
        return False
    about = _has(_ABOUT, [*change.before[-1:], *change.ours])
    ours = [widen_rounded(one) for one in ours] if about else ours
    if (
        _units(change.ours)
        and _units(change.theirs)
        and _units(change.ours) != _units(change.theirs)
    ):
        return False
    exact = all(
        not is_known_number(number, sorted(other.value for other in theirs)) for number in ours
    )
    return exact and len(change.ours) <= 4 and len(change.theirs) <= 4


def _units(said: Sequence[str]) -> set[str]:
    return {one.lower().rstrip("s") for one in said if _UNIT.fullmatch(one)}


def _value(token: str) -> TextNumber | None:
    lower = token.lower()
    if lower in _COUNTS:
        return TextNumber(float(_COUNTS[lower]), 0.0)
    if lower in _ORDER:
        return TextNumber(1000.5 + _ORDER[lower], 0.0)
    if re.fullmatch(r"\d+(?:st|nd|rd|th)", lower):
        return TextNumber(1000.5 + int(lower[:-2]), 0.0)
    digits = token.replace(",", "").rstrip(".")
    if not re.fullmatch(r"\d+(?:\.\d+)?", digits):
        return None
    return TextNumber(float(digits), 10.0 ** -len(digits.partition(".")[2]) / 2)


def _date(change: WordChange, _: KnownNames) -> bool:
    said = {one.lower() for one in change.ours} & set(MONTH_NAMES)
    there = {one.lower() for one in change.theirs} & set(MONTH_NAMES)
    return bool(said and there and not said & there)


def _strength(change: WordChange, _: KnownNames) -> bool:
    """Tell whether a strong word stands in place of a weak one, or a hedge was left out."""
    said, there = change.ours, change.theirs
    strong = _strong(said) - _strong(there)
    if _has(_NOT, [*change.before[-1:], *said]) or _has(_EXCEPT, there):
        strong -= {"所有", "全部", "只", "仅", "唯一"}
    if "should" in map(str.lower, there):
        strong -= {"must"}
    if strong and (_has(_WEAK, there) or not there) and len(change.ours) <= 4:
        return bool(there) or len(strong) == len(said)
    hedges = [one for one in there if _HEDGE.fullmatch(one) and not _OWN_HEDGE.fullmatch(one)]
    return not said and bool(hedges) and all(_HEDGE.fullmatch(one) for one in there)


def _strong(words: Sequence[str]) -> set[str]:
    return {one.lower() for one in words if _STRONG.fullmatch(one)}


def _name(change: WordChange, known: KnownNames) -> bool:
    """Tell whether a name stands where there is none, or in place of another one."""
    return _latin_name(change, known) or _chinese_name(change, known)


def _latin_name(change: WordChange, known: KnownNames) -> bool:
    ours = [one for one in change.ours if _is_name(one, known)]
    theirs = [one for one in change.theirs if _is_name(one, known)]
    if max(len(change.ours), len(change.theirs)) > _MAX_NAME_WORDS:
        return False
    if not ours or _initials(ours, change.theirs) or _initials(theirs, change.ours):
        return False
    if _initials(change.before[-len(ours[0]) :], change.ours):
        return False
    new = [one for one in ours if not known.has_prefix(one[: max(4, len(one) - 3)])]
    if new and (change.before or len(ours) > 1):
        return True
    spelt = [one for one in (*change.ours, *change.theirs) if not _CAPITAL.match(one)]
    both = bool(theirs or change.before) and all(one.lower() in _JOINTS for one in spelt)
    return (
        both and bool(change.theirs) and not set(_lower(change.ours)) & set(_lower(change.theirs))
    )


def _is_name(token: str, known: KnownNames) -> bool:
    """Tell whether a word is spelt like a name and never like another word."""
    lower = token.lower()
    if not _CAPITAL.match(token) or len(token) < 2 or _SCALE.fullmatch(token):
        return False
    if lower in STOPWORDS or lower in MONTH_NAMES:
        return False
    return not known.has_word(lower)


def _initials(names: Sequence[str], words: Sequence[str]) -> bool:
    """Tell whether one of some words is made of the first letters of names: "US"."""
    first = "".join(one[0] for one in names if one[:1].isalpha()).lower()
    return len(first) > 1 and first in {one.lower() for one in words}


def _chinese_name(change: WordChange, known: KnownNames) -> bool:
    """Tell whether characters that are no usual words stand in place of others, or of a title."""
    said, there = "".join(change.ours), "".join(change.theirs)
    single = all(len(one) == 1 for one in change.ours)
    if not single or len(said) < 2 or not re.fullmatch(f"[{HAN}《]+", said):
        return False
    if not re.search(f"[{HAN}A-Za-z]", there):
        return False
    if "《" in change.before[-2:] or "《" in said:
        return True
    return change.beside <= _MAX_OTHER_WORDS and _is_other_name(said, there, change, known)


def _is_other_name(said: str, there: str, change: WordChange, known: KnownNames) -> bool:
    """Tell whether characters in place of others name something else than these do."""
    text = _DOT.sub("", known.text)
    if not change.beside and said in text and there in text:
        return len(there) > 1 and not _usual(there, _MIN_NAME_WEIGHT)
    if _GENERIC.match(said) or len(said) > _MAX_NAME_WORDS or len(there) > 2 * _MAX_NAME_WORDS:
        return False
    if len(there) > 1 and there in known.named:
        return said not in known.named
    if _usual(said) or said in text:
        return False
    return not _usual(there) or bool(_PLACE.search(said) and _PLACE.search(there))


def _usual(run: str, rare: float = 1.0) -> bool:
    """Tell whether half of the pairs of some characters are usual words."""
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    return 2 * sum(word_weight(pair) < rare for pair in pairs) >= len(pairs)


def _lower(said: Sequence[str]) -> list[str]:
    return [one.lower() for one in said]


def _all(pattern: re.Pattern[str], said: Sequence[str]) -> list[str]:
    return [one for one in said if pattern.fullmatch(one)]


def _has(pattern: re.Pattern[str], said: Sequence[str]) -> bool:
    return bool(_all(pattern, said))


_KINDS: dict[str, Callable[[WordChange, KnownNames], bool]] = {
    "negation": _negation,
    "other_number": _number,
    "date": _date,
    "name": _name,
    "strength": _strength,
}
