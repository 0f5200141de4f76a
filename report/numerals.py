"""Spell the numbers of a text in digits."""

from __future__ import annotations

import re
from functools import lru_cache

from retrieval.regex import regex

_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_TO_NINETY = "twenty thirty forty fifty sixty seventy eighty ninety"
_TO_TWELFTH = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ONES = {word: value for value, word in enumerate(_TO_NINETEEN.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TO_NINETY.split(), 2)}
_ORDINALS = {word: value for value, word in enumerate(_TO_TWELFTH.split(), 1)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_WORD = "|".join([*_ONES, *_TENS, *_SCALES])
_SPELT = regex(rf"(?<![\w-])(?:{_WORD})(?:(?:[\s-]|\s+and\s+)(?:{_WORD}))*(?![\w-])", re.IGNORECASE)
_ORDINAL = regex(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)
_SUFFIX = regex(r"(?<=\d)(?:st|nd|rd|th)\b")
_HAN_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_MEASURES = (
    "个個名位项項座部次场場条條种種所家间間人只隻本年月日天岁歲届屆倍分公米元篇首趟楼樓层層辆輛艘架台臺张張"
    "份套件颗顆枚株棵头頭匹群队隊组組期集章节節回话話版卷册冊页頁句字段局盘盤球票轮輪等级級班站周週时時秒刻世代"
    "寸斤吨噸克块塊片对對双雙副桩樁省市县縣区區州镇鎮国國校营營师師军軍室厅廳房床夜晚季成任员員"
)
_HAN_SPELT = regex(f"第?[{''.join([*_HAN_DIGITS, *_HAN_SCALES])}]+(?=[{_MEASURES}])")
_HAN_PERCENT = regex(f"百分之(?P<n>[{''.join([*_HAN_DIGITS, *_HAN_SCALES])}]+)")


@lru_cache(maxsize=64)
def numerals(text: str) -> str:
    """Return a text with its numbers in digits: "forty-two", "4th", "third", "七十三"."""
    text = _SPELT.sub(lambda found: str(_value(found[0])), _SUFFIX.sub("", text))
    text = _ORDINAL.sub(lambda found: str(_ORDINALS[found[0].lower()]), text)
    text = _HAN_PERCENT.sub(lambda found: f"{_han_value(found['n'])}%", text)
    return _HAN_SPELT.sub(lambda found: _han_value(found[0].lstrip("第")), text)


def _value(spelt: str) -> int:
    total = part = 0
    for word in re.findall(r"[a-z]+", spelt.lower()):
        if word in _SCALES:
            part = max(part, 1) * _SCALES[word]
            total, part = (total + part, 0) if _SCALES[word] > 100 else (total, part)
        elif word != "and":
            part += _ONES.get(word, 0) + _TENS.get(word, 0)
    return total + part


def _han_value(spelt: str) -> str:
    if not set(spelt) & set(_HAN_SCALES):
        return "".join(str(_HAN_DIGITS[sign]) for sign in spelt)
    total = part = digit = 0
    for sign in spelt:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif _HAN_SCALES[sign] >= 10**4:
            total, part, digit = (total + (part + digit or 1) * _HAN_SCALES[sign], 0, 0)
        else:
            part, digit = part + (digit or 1) * _HAN_SCALES[sign], 0
    return str(total + part + digit)
