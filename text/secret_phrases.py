"""Find secrets that are told in English or Chinese words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from text.regex import regex
from text.secret_forms import (
    FUNCTION_WORDS,
    HARMLESS_WORDS,
    PARTICIPLE,
    PLACEHOLDER,
    SHORTEST_SECRET,
    Secret,
    has_letters_and_digits,
    is_harmless,
    is_mixed_token,
)

_OPENING = (
    r"(?:alarm|door|gate|garage|safe|locker|entrance|keypad|unlock|entry|access) code"
    r"|code (?:for|to|of|on) (?:(?:the|my|our|his|her|their) )?(?:[a-z]{1,12} )?"
    r"(?:door|gate|alarm|safe|locks?|locker|garage|keypad|entrance|shed|vault|suitcase|phone)"
)
"""A code that opens something."""
_NOUNS = (
    r"p[a@][s$]{2} ?w[o0]rds?|pass ?phrases?|pass ?codes?|passwd|pswd|psw|pwd|pw"
    r"|(?:seed|recovery) phrase|pin(?: ?-?code| number)?"
    r"|(?:api|access|secret|encryption|private|licen[cs]e|recovery|master|signing|wi-?fi"
    r"|wlan|network|vpn)[ _-]?keys?|psk"
    r"|(?:(?:auth|access|api|bearer|session|bot|refresh)[ _-]?)?tokens?|client[ _-]secret|key"
    r"|credentials?|cvv|cvc|ssn|social security number|security code|otp|verification code"
    rf"|{_OPENING}|(?:recovery|backup) codes?"
)
_CHINESE_NOUNS = "密[码碼]|口令|密[钥鑰]|[验驗][证證][码碼]|令牌"
_NAMED = regex(
    f"{_NOUNS}|pass|log-?in|sign-?in|combination|open|unlock|disarm|{_CHINESE_NOUNS}|暗[号號]",
    re.IGNORECASE,
)
"""Matches every text that tells a secret, and few others."""
_OF = r"(?: (?:for|to|of|on|at) (?:the |my |our )?[\w.@'-]{1,60}(?: [\w.@'-]{1,60}){0,2}?)?"
_WHOSE = (
    r"(?P<own>\b(?:my|our|his|her|their|your)\b(?: [\w.'-]{1,30}){0,3}? "
    r"|\b[\w-]{1,30}'s (?:[\w-]{1,30} ){0,2}?)"
)
_TOLD = regex(
    rf"{_WHOSE}?(?P<public>\b(?:default|example|sample|initial|dummy|public|first|last|word) )?"
    rf"(?<![^\W_])(?P<noun>{_NOUNS})\b{_OF}"
    r"(?:(?: here| there)? (?:is|was|are|(?:has|had|have|will|shall|is going to) be(?:en)?)"
    r"(?: now| still| currently| just)?(?: set to| called)?\s*[:=]?|'s"
    r"|\s*(?::=|[-=~]>|[→⇒⟶➜]|[:=]))\s*",
    re.IGNORECASE,
)
_SET = regex(
    r"\b(?:changed?|changing|switch(?:ed)?|set(?:ting)?|updated?|updating|reset)\b"
    r"(?: \w{1,20}){0,2}?"
    rf" (?P<own>my|our|his|her|their|the) (?:[\w.-]{{1,30}} ){{0,3}}?(?P<noun>{_NOUNS}){_OF}"
    r"(?! from (?P<again>\w+) to (?P=again)\b)"
    r"(?: from (?:[\"'“‘][^\"'”’\n]{1,60}[\"'”’]|\S{1,60}))? (?:to|as) (?P<public>$^)?",
    re.IGNORECASE,
)
_FROM = regex(
    r"\b(?:chang(?:ed?|ing)|switch(?:ed|ing)?|updat(?:ed?|ing)|reset|moved?)\b(?: \w{1,20}){0,2}?"
    rf" (?P<own>my|our|his|her|their|the) (?:[\w.-]{{1,30}} ){{0,3}}?(?P<noun>{_NOUNS}){_OF}"
    r" from (?P<public>$^)?(?!(?P<again>\w+) to (?P=again)\b)",
    re.IGNORECASE,
)
_CHINESE_FROM = regex(rf"(?P<noun>{_CHINESE_NOUNS})\s*[从從由]\s*(?=[!-~]{{4}})")
_CHINESE_TO = regex(
    rf"(?P<noun>{_CHINESE_NOUNS})\s*[从從由]\s*[!-~]{{4,60}}\s*(?:改|[换換]|[变變]|更新)[成为為到]?\s*"
)
_BESIDE = regex(
    rf"(?P<own>\b(?:my|our|with|and|the) |[,;:(/] ?|^)(?:[\w.-]{{1,30}} )?(?P<noun>{_NOUNS})"
    r"(?: [-–—(] ?| |\? (?:it(?:'s| is)|that's) )(?=\S{0,60}\d|[\"'“])",
    re.IGNORECASE | re.MULTILINE,
)
_PASS = regex(
    r"(?:^|(?<=[\s,;(/]))(?P<noun>pass)\s*(?:[-=]>|[→:=])\s*(?P<own>)", re.IGNORECASE | re.MULTILINE
)
_MY_PASS = regex(
    r"(?P<own>\b(?:(?:my|our|his|her|their) |(?:wi-?fi|wlan|log-?in|e?mail|router|vpn) ){1,2})"
    rf"(?P<noun>pass)\b{_OF}(?: (?:is|was)\b| ?[:=]) ?",
    re.IGNORECASE,
)
_PIN = regex(
    r"(?<![\w-])(?P<noun>pin):? (?=\d{4}(?:\d\d)?\s*(?:$|[.,;!?)\n]))(?P<own>)(?P<public>$^)?",
    re.IGNORECASE,
)
_UNLOCKED = regex(
    r"\b(?P<noun>combination) (?:is|was) (?=\d{1,2}(?:-\d{1,2}){2})(?P<public>$^)?"
    r"|\b(?:door|gate|alarm|safe|lock|locker|garage|phone|iphone|ipad|laptop|tablet|suitcase|vault)"
    r" (?:opens|unlocks|is (?:opened|unlocked|disarmed)) (?:with|by) (?:the (?:number|code) )?"
    r"(?=\d[\d -]{2})",
    re.IGNORECASE,
)
_LOGIN = regex(
    r"\b(?:user(?:name)?|login|account)[: ]\s?\S{1,60}?[ ,/;]+"
    rf"(?P<noun>pass|{_NOUNS})[: ]\s?(?P<own>)",
    re.IGNORECASE,
)
_PAIR = regex(
    r"(?P<own>\b(?:my|our|his|her|their) (?:[\w.-]{1,30} ){0,2})?\b(?P<noun>log-?in|sign-?in)s?"
    r"(?: data| details)?(?: (?:is|are|was)|\s?[:=])\s*[\w.@+-]{1,60} ?[/|:] ?(?=[^\s/])",
    re.IGNORECASE,
)
_VALUE = r"""(?:["'`“](?P<quoted>[^"'`”\n]{3,100})["'`”]|(?P<value>[^\s"'`“”]{4,100}))"""
_ENDS = (
    r"(?=\s*(?:$|[.,;:!?)]|(?:for|to|on|of|in|at|and|but|with|everywhere|again|too|now|there|here"
    r"|because|so|since|please|when)\b))"
)
_USED = regex(
    r"\b(?:us(?:es?|ed|ing)|takes?|took|choose|chose|picked?|pick|sets?|puts?|enter(?:ed)?|typed?"
    rf"|with|ma[dk]e) {_VALUE}(?: as| for|(?<=\d)) (?:(?P<own>my|our|his|her|their) |the |a )?"
    rf"(?:[\w.'-]{{1,30}} ){{0,2}}?(?P<noun>{_NOUNS}){_ENDS}",
    re.IGNORECASE,
)
_CHINESE_USED = regex(
    r"[用以把将將][「“\"']?(?P<value>[!-~]{4,100}?)[」”\"']?\s*(?:作为?|作為|当作?|當作?|做|设为|設為)"
    r"(?P<own>[我咱他她你您])?[^，。；！？,;!?\s]{0,8}?(?P<noun>密[码碼]|口令|密[钥鑰]|令牌)(?P<quoted>$^)?"
    r"(?=\s*(?:$|[，。；！？,.;!?吧了]))"
)
_REVERSED = regex(
    r"""(?<!\S)["'`“]?(?P<value>[^\s"'`“”]{4,100})["'`”]? (?:is|was) (?:my|our|his|her|their)"""
    rf" (?:[\w.'-]{{1,30}} ){{0,2}}?(?P<noun>{_NOUNS})"
    r"(?=\s*(?:$|[.,;:!?)]|(?:for|to|and|but|on)\b))",
    re.IGNORECASE,
)
_CHINESE = regex(
    rf"(?P<noun>{_CHINESE_NOUNS}|(?i:\bpin)\s?(?:[码碼]|(?=是)))"
    r"\s*(?:现在|現在)?(?:就?[是为為]|[：:=]|[设設改換换][成为為])\s*[：:]?\s*"
)
_CHINESE_BESIDE = regex(
    r"(?:(?<=[我咱]的)|(?<![\w，。]))(?:[\u4e00-\u9fff]{0,6})"
    r"(?P<noun>密[码碼]|口令)(?P<own>)\s+(?!(?i:win|iphone|ipad|ios|mac|office|android|mysql|excel|web)"
    r"[a-z]*\d)"
)
_CHINESE_THINGS = (
    "登[录錄陆陸]|[开開]机|支付|[银銀]行卡?|信用卡|取款|[门門](?:禁|[锁鎖])?|[无無][线線]|[邮郵]箱|[账帳賬][号戶户號]|[锁鎖]屏|解[锁鎖]"
    "|手机|手機|[电電][脑腦]|保[险險][柜箱櫃]|微信|(?i:wi-?fi)"
)
_CHINESE_OF = regex(
    rf"(?:(?:{_CHINESE_THINGS})的?(?P<noun>密[码碼]|口令)|(?<![\u4e00-\u9fff])(?P<bare>密[码碼]|(?:通[关關])?口令)"
    r"|(?P<sign>暗[号號]|通[关關]口令))\s*(?:[：:=]|[是为為]|(?=[\s\d]))\s*"
)
"""A password of something, or one that a message begins with."""
_CHINESE_VALUE = regex(r"(?P<digits>\d{4,12}#?)(?![\w%])|[\u4e00-\u9fff]{2,10}")
_CHINESE_END = regex(r"\s*(?:$|[，。；！,.;!\n])")

_QUOTED = regex(r"""["“'`‘「『]([^"”'`’」』\n]{3,100})["”'`’」』]""")
_CLAUSE = regex(
    r"[,;!?。，；！？\n]|\.(?=\s|$)|\s(?:and|but|or|for|so|because|please|when|on|at|in|if)\s|\s[–—(-]",
    re.IGNORECASE,
)
_TOKEN = regex(r"[^\s，。；！？、]{1,200}")
_ASCII = regex(r"[!-~]{3,200}")
_HAN = regex(r"[\u4e00-\u9fff]{2,12}(?![\u4e00-\u9fff])")
_NUMBER = regex(r"\d(?:[ -]?\d){2,11}(?!\w)")
_NUMBERED = regex(
    rf"pin|cv[vc]|ssn|social|security|otp|verification|[验驗]|{_OPENING}", re.IGNORECASE
)
_KEYED = regex(r"key|token|secret|credential|(?:recovery|backup) code|密[钥鑰]|令牌", re.IGNORECASE)
_OWN = regex(r"[我咱他她你您][^，。；！？,;!?\s]{0,12}$")
_CALL = regex(r"\w[(\[]")
_MANY = regex(r"\bare\s*$", re.IGNORECASE)
_TRAILING = ".,;:!?)'\"`]}>"
PHRASE = 3
"""How many words make a passphrase, even of adjectives."""

_AFTER = 200
"""How many characters after its name are searched for a secret."""

_CHINESE_PLAIN = regex(
    r"^(?:什么|什麼|多少|怎|如何|不|没|沒|一|由|用|存|加|需|必|可|保|否|经|經|在|被|对|對|最|很|太|错|錯"
    r"|正|空|为|為|以|通|指|哪|谁|誰|几|幾|明文|随|隨|哈希|散列|安全|弱|强|強|默认|默認|这|這|那|是|有)"
)


SecretReader = Callable[[re.Match[str], str], tuple[int, int] | None]
"""Returns the place of a secret in the text after its name, if there is one."""


def find_worded_secrets(text: str) -> Iterator[Secret]:
    """Yield secrets told in English or Chinese words, in any order; they may overlap."""
    if not _NAMED.search(text):
        return
    for match in _REVERSED.finditer(text):
        value = match["value"].rstrip(_TRAILING)
        if not is_harmless(value) and not PARTICIPLE.match(value):
            start = match.start("value")
            yield Secret(_kind(match["noun"]), start, start + len(value))
    for match in (*_USED.finditer(text), *_CHINESE_USED.finditer(text)):
        if _used(match):
            place = match.span("quoted" if match["quoted"] else "value")
            yield Secret(_kind(match["noun"]), *place)
    yield from find_secrets_after(text, _READERS, _kind)


def find_secrets_after(
    text: str,
    readers: Iterable[tuple[re.Pattern[str], SecretReader]],
    kind: Callable[[str], str],
) -> Iterator[Secret]:
    """Yield the secrets that follow their name.

    Args:
        text: The text.
        readers: Patterns for the name, each with the reader of what follows.
        kind: Returns the kind of a secret by its name.
    """
    for pattern, read in readers:
        for match in pattern.finditer(text):
            if place := read(match, text[match.end() : match.end() + _AFTER]):
                start, end = (match.end() + at for at in place)
                yield Secret(kind(match["noun"] or ""), start, end)


def _used(match: re.Match[str]) -> bool:
    """Tell whether what is used as a password is one, and not a way to create or store one."""
    value = match["quoted"] or match["value"]
    if is_harmless(value) or PARTICIPLE.match(value):
        return False
    if _NUMBERED.match(match["noun"]):
        return bool(_NUMBER.fullmatch(value))
    if _KEYED.search(match["noun"]):
        return _random(value, match["noun"])
    return bool(match["quoted"] or match["own"] or is_mixed_token(value))


def _english(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a secret after its name, if there is one."""
    if match["public"] or PLACEHOLDER.match(after):
        return None
    quoted = _QUOTED.match(after)
    if _NUMBERED.match(match["noun"]):
        number = _NUMBER.match(after)
        return number.span() if number else None
    token = quoted[1] if quoted else _token(after)
    if not token or _CALL.search(token) or PLACEHOLDER.match(token):
        return None
    if quoted and is_harmless(token):
        return None
    if _KEYED.search(match["noun"]):
        fits = _random(token, match["noun"])
        return (quoted.span(1) if quoted else (0, len(token))) if fits else None
    if quoted:
        return quoted.span(1)
    if is_mixed_token(token):
        return 0, len(token)
    end = _CLAUSE.search(after)
    return _of_words(after[: end.start() if end else None], match)


def _before(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a secret that was replaced: "from hunter2 to kolibri7"."""
    quoted, token = _QUOTED.match(after), _token(after)
    replaced = after[len(token) :].startswith((" to ", " into "))
    if not (quoted or replaced or is_mixed_token(token)):
        return None
    return _english(match, after if quoted else token)


def _of_words(clause: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a secret in plain words: "swordfish", "correct horse battery"."""
    words = clause.rstrip(f"{_TRAILING} ").split()
    plain = [word for word in words if word.lower() in HARMLESS_WORDS or PARTICIPLE.match(word)]
    phrase = len(words) >= PHRASE and not {word.lower() for word in words} & FUNCTION_WORDS
    whole = match["own"] or "phrase" in match["noun"].lower()
    if len("".join(words)) <= SHORTEST_SECRET:
        return None
    one = len(words) == 1 and (match["own"] or not _MANY.search(match[0]))
    if (one and not plain) or (whole and (phrase or not plain)):
        return 0, len(clause.rstrip(f"{_TRAILING} "))
    return None


def _beside(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a secret right beside its name: "with password hunter2"."""
    token, own = _token(after), match["own"].strip().lower() in ("my", "our", "with")
    if quoted := _QUOTED.match(after):
        plain = _KEYED.search(match["noun"]) or is_harmless(quoted[1])
        return quoted.span(1) if own and not plain else None
    if own and _NUMBERED.match(match["noun"]):
        number = _NUMBER.match(after)
        return number.span() if number else None
    fits = _random(token, match["noun"]) and not (is_harmless(token) or _CALL.search(token))
    return (0, len(token)) if fits else None


def _paired(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a password after the name of its user: "ann/kolibri"."""
    token = _token(after)
    if len(token) <= SHORTEST_SECRET or is_harmless(token):
        return None
    told = match["own"] or has_letters_and_digits(token, SHORTEST_SECRET + 1)
    return (0, len(token)) if told else None


def _chinese(match: re.Match[str], after: str) -> tuple[int, int] | None:
    if quoted := _QUOTED.match(after):
        return None if is_harmless(quoted[1]) else quoted.span(1)
    if ascii_ := _ASCII.match(after):
        token = ascii_[0].rstrip(_TRAILING)
        if match[0].rstrip().endswith((":", "：")) and not is_harmless(token):
            return 0, len(_token(after))
        alone = not re.match(r"[\u4e00-\u9fff]", after[ascii_.end() :])
        plain = is_harmless(token) or len(token) <= SHORTEST_SECRET
        return None if plain or not (alone or is_mixed_token(token)) else (0, len(token))
    said = _HAN.match(after)
    own = _OWN.search(match.string[max(match.start() - 14, 0) : match.start()])
    if not said or not own or _CHINESE_PLAIN.match(after) or said[0][-1] in "吗嗎呢么的了":
        return None
    return said.span()


def _mixed(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a word that is no plain one: "my pass is Hortensia81"."""
    del match
    quoted, token = _QUOTED.match(after), _token(after)
    if quoted and not is_harmless(quoted[1]):
        return quoted.span(1)
    fits = is_mixed_token(token) or (len(token) > SHORTEST_SECRET and "-" in token.strip("-"))
    return (0, len(token)) if fits and not is_harmless(token) else None


def _digits(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a number that opens something."""
    del match
    number = _NUMBER.match(after)
    return number.span() if number else None


def _chinese_of(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of digits after the name of a password, or of Chinese words."""
    value = _CHINESE_VALUE.match(after)
    if not value or not (
        _CHINESE_END.match(after, value.end()) or (value["digits"] and match["noun"])
    ):
        return None
    said = value[0]
    plain = _CHINESE_PLAIN.match(said) or said[-1] in "吗嗎呢么的了"
    # "密码：历史" may be a title; 密码1234 is none.
    words = (match["noun"] or match["sign"] or "口令" in match[0]) and not plain
    return value.span() if value["digits"] or words else None


def _token(after: str) -> str:
    token = _TOKEN.match(after)
    return token[0].rstrip(_TRAILING) if token else ""


def _random(token: str, noun: str) -> bool:
    """Tell whether a word may be a key: it has letters and digits, and is long enough."""
    least = 16 if noun.lower().startswith("key") else 8 if _KEYED.search(noun) else 5
    return has_letters_and_digits(token, least)


def _kind(noun: str) -> str:
    if _NUMBERED.match(noun):
        return "number"
    return "key" if _KEYED.search(noun) else "password"


_READERS = (
    (_TOLD, _english),
    (_SET, _english),
    (_FROM, _before),
    (_BESIDE, _beside),
    (_PASS, _beside),
    (_MY_PASS, _mixed),
    (_PIN, _digits),
    (_UNLOCKED, _digits),
    (_CHINESE_OF, _chinese_of),
    (_LOGIN, _beside),
    (_PAIR, _paired),
    (_CHINESE_BESIDE, _beside),
    (_CHINESE, _chinese),
    (_CHINESE_FROM, _chinese),
    (_CHINESE_TO, _chinese),
)
"""Patterns for the name of a secret, each with the reader of what follows."""
