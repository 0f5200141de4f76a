"""Find what must never be kept: passwords told in words, keys, tokens, numbers of cards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

MARK = re.compile(r"\[(?:password|number|key|card number) removed\]")
"""What stands in the place of a secret, by its kind."""


class Secret(NamedTuple):
    """Where a text holds a secret, and of what kind it is."""

    kind: str
    start: int
    end: int


class Masked(NamedTuple):
    """A text without its secrets, and the kinds of what was taken out, each once."""

    text: str
    kinds: tuple[str, ...]


_NOUNS = (
    r"pass ?words?|pass ?phrases?|pass ?codes?|passwd|pwd|pw|pin(?: ?-?code| number)?"
    r"|(?:api|access|secret|encryption|private|licen[cs]e|recovery|master|signing)[ _-]?keys?"
    r"|(?:(?:auth|access|api|bearer|session|bot|refresh)[ _-]?)?tokens?|client[ _-]secret|key"
    r"|credentials?|cvv|cvc|ssn|social security number|security code|otp|verification code"
)
_OF = r"(?: (?:for|to|of|on|at) (?:the |my |our )?[\w.@'-]{1,60}(?: [\w.@'-]{1,60}){0,2}?)?"
_WHOSE = (
    r"(?P<own>\b(?:my|our|his|her|their|your)\b(?: [\w.'-]{1,30}){0,3}? "
    r"|\b[\w-]{1,30}'s (?:[\w-]{1,30} ){0,2}?)"
)
_TOLD = re.compile(
    rf"{_WHOSE}?(?P<public>\b(?:default|example|sample|initial|dummy|public|first|last|word) )?"
    rf"(?<![^\W_])(?P<noun>{_NOUNS})\b{_OF}"
    r"(?: (?:is|was|are)(?: now| still| currently| just)?(?: set to)?\s*[:=]?|'s"
    r"|\s*(?::=|=>|[:=]))\s*",
    re.IGNORECASE,
)
_SET = re.compile(
    r"\b(?:changed?|changing|set|setting|updated?|updating|reset)\b(?: \w{1,20}){0,2}?"
    rf" (?P<own>my|our|his|her|their|the) (?:[\w.-]{{1,30}} ){{0,3}}?(?P<noun>{_NOUNS}){_OF}"
    r"(?: from \S{1,60})? (?:to|as) (?P<public>$^)?",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    rf"(?P<own>\b(?:my|our|with|and|the) |[,;:(/] ?|^)(?:[\w.-]{{1,30}} )?(?P<noun>{_NOUNS})"
    r" (?=\S{0,60}\d|[\"'“])",
    re.IGNORECASE | re.MULTILINE,
)
_REVERSED = re.compile(
    r"""(?<!\S)["'`“]?(?P<value>[^\s"'`“”]{4,100})["'`”]? (?:is|was) (?:my|our|his|her|their)"""
    rf" (?:[\w.'-]{{1,30}} ){{0,2}}?(?P<noun>{_NOUNS})"
    r"(?=\s*(?:$|[.,;:!?)]|(?:for|to|and|but|on)\b))",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"(?:password|passwd|passphrase|pwd|secret|api_?key|access_?key|private_?key|secret_?key"
    r"|(?<!max)_token|client_?secret)[\"']?"
    r"(?:\s?[:=]\s?(?:\"(?P<double>[^\"\n]{4,200})\"|'(?P<single>[^'\n]{4,200})')"
    r"|(?:\s?=|:(?=\s?\S{0,60}\d))\s?(?P<bare>[^\s\"'&;,()\[\]{}]{4,200}+)(?![(\[{]))",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?P<noun>密[码碼]|口令|密[钥鑰]|[验驗][证證][码碼]|令牌|(?i:\bpin)\s?(?:[码碼]|(?=是)))"
    r"\s*(?:现在|現在)?(?:就?[是为為]|[：:=]|[设設改換换][成为為])\s*[：:]?\s*"
)

_KEYS = re.compile(
    r"\b(?:sk|pk|rk)-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}|\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bnpm_[A-Za-z0-9]{30,}"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}|\bpypi-AgE[\w-]{20,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bhf_[A-Za-z]{30,}"
    r"|\bgsk_[A-Za-z0-9]{30,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bdop_v1_[a-f0-9]{32,}|\btvly-[\w-]{16,}"
    r"|\bshp(?:at|ss|ca|pa)_[a-fA-F0-9]{24,}|\blsv2_\w{2}_[a-f0-9_]{24,}|\b\d{8,10}:AA[\w-]{30,}"
    r"|(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}|\beyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z ]*KEY(?: BLOCK)?-----|.*)",
    re.DOTALL,
)
_HEADER = re.compile(
    r"\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+(?P<named>[^\s\"',;]{4,})"
    r"|\bbearer\s+(?P<plain>(?=[\w.~+/-]*\d)[\w.~+/-]{12,}=*)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"'<>]*:(?P<value>[^\s/@\"'<>]+)@", re.I)
_CARD = re.compile(r"(?<![\w./-])(?:\d[ -]?){12,18}\d(?![\w/-]|\.\d)")
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}"
    r"|6(?:011|4[4-9]\d|5\d\d)\d{12}|62\d{14,17}"
)
_RANDOM = re.compile(
    r"(?<![\w/.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{24,}"
)

_ENCODED = re.compile(r"(?:data:[\w/.+;=-]{0,200},)?[A-Za-z0-9+/_-]{1000,}={0,2}\s*")
"""Bytes in Base64, such as a picture: what looks like a key in them is chance."""

_QUOTED = re.compile(r"""["“'`‘「『]([^"”'`’」』\n]{3,100})["”'`’」』]""")
_CLAUSE = re.compile(
    r"[,;!?。，；！？\n]|\.(?=\s|$)|\s(?:and|but|or|for|so|because|please|when|on|at|in|if)\s|\s[–—(-]",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\s，。；！？、]{1,200}")
_ASCII = re.compile(r"[!-~]{3,200}")
_HAN = re.compile(r"[\u4e00-\u9fff]{2,12}(?![\u4e00-\u9fff])")
_NUMBER = re.compile(r"\d(?:[ -]?\d){2,11}(?!\w)")
_LETTER, _DIGIT, _SIGN = re.compile(r"[^\W\d_]"), re.compile(r"\d"), re.compile(r"[!@#$%^&*+=~|?]")
_NUMBERED = re.compile(r"pin|cv[vc]|ssn|social|security|otp|verification|[验驗]", re.IGNORECASE)
_KEYED = re.compile(r"key|token|secret|credential|密[钥鑰]|令牌", re.IGNORECASE)
_OWN = re.compile(r"[我咱他她你您][^，。；！？,;!?\s]{0,12}$")
_CALL = re.compile(r"\w[(\[]")
_MANY = re.compile(r"\bare\s*$", re.IGNORECASE)
_TRAILING = ".,;:!?)'\"`]}>"
_AFTER = 200
"""So many characters behind its name are looked at for a secret."""

_PUBLIC = re.compile(
    r"^(?:[\[<{$%(*]|(?:x{3,}|\*{2,}|\.{2,}|…)|(?:your|my|the|a|an|some|any)[ _-]|"
    r"(?:change[-_]?(?:me|it)|pass(?:word|phrase)?|passwd|secret|redacted|removed|hidden|placeholder"
    r"|example|foobar|none|null|nil|true|false|undefined|empty|str|string|text|bytes|int|number)\W*$|"
    r"(?:os|process|env|config|settings|self|args|request)\.|[a-z_][\w.]*[(\[]|"
    r"(?:(?:md|sha|hmac|aes|rsa|des|tls|ssl|http|utf|base|oauth|rc|x\.?|rfc|ntlm|argon|bcrypt|scrypt"
    r"|pbkdf)[-_]?\d*(?:[-_/]\w+)?)\W*$)",
    re.IGNORECASE,
)
"""What stands where a secret would and is none: a place for one, a type, the name of a method."""

_PLAIN_WORDS = """
a an the this that these those it its there here what which who whose where when why how not no
never always only also just too very so as in on at to of for from by with without under up out
about between or and but than then if my your his her our their one two some any each all both
more less most least much many needed required mandatory optional wrong correct right incorrect
invalid valid weak strong short long simple easy hard safe unsafe secure insecure unique common
same different new old good bad better best lost gone missing empty blank random known unknown
public private secret case-sensitive readable visible hidden plain plaintext longer shorter
stronger weaker important essential necessary useless useful working broken still now already
being been be is was are were can could will would should must may might do does did has have had
said sent set kept held made used given stored hashed salted sha part key text string field value
policy file word number sequence security authentication trivial guessable reusable temporary
permanent obsolete dead fine okay ok enough sufficient protection convenience complexity length
entropy everything nothing something anything
"""
_PLAIN = frozenset(_PLAIN_WORDS.split())
_FUNCTION_WORDS = """
a an the of to in is are was be been not no too very so as it that this than then with by from
into every any all my your their has have had will would can could must never always only what how
why when where who which
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
_PARTICIPLE = re.compile(r"^\w{2,}(?:ed|ing|able|ible|ory|ful|less)$", re.IGNORECASE)
_CHINESE_PLAIN = re.compile(
    r"^(?:什么|什麼|多少|怎|如何|不|没|沒|一|由|用|存|加|需|必|可|保|否|经|經|在|被|对|對|最|很|太|错|錯"
    r"|正|空|为|為|以|通|指|哪|谁|誰|几|幾|明文|随|隨|哈希|散列|安全|弱|强|強|默认|默認|这|這|那|是|有)"
)


_HALF_WIDTH = {
    full: full - 0xFEE0
    for first, last in ("０９", "Ａｚ", "：：", "＝＝")
    for full in range(ord(first), ord(last) + 1)
}
"""Letters, digits and signs of full width, as Chinese and Japanese keyboards type them."""


@lru_cache(maxsize=64)
def found(text: str) -> tuple[Secret, ...]:
    """Return the secrets of a text in their order; none within another.

    A conversation is looked through again whenever something of it is saved.
    """
    if _ENCODED.fullmatch(text):
        return ()
    every = sorted(_each(text.translate(_HALF_WIDTH)), key=lambda one: (one.start, -one.end))
    kept: list[Secret] = []
    for one in every:
        if one.start < one.end and (not kept or one.start >= kept[-1].end):
            kept.append(one)
    return tuple(kept)


def masked(text: str) -> Masked:
    """Return a text with a mark in the place of each secret, wherever its value stands again."""
    secrets = found(text)
    if not secrets:
        return Masked(text, ())
    parts, at = [], 0
    for one in secrets:
        parts += [text[at : one.start], f"[{one.kind} removed]"]
        at = one.end
    left = "".join([*parts, text[at:]])
    for one in secrets:
        value = text[one.start : one.end]
        if len(value) > SHORT:
            again = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
            left = again.sub(f"[{one.kind} removed]", left)
    return Masked(left, tuple(dict.fromkeys(one.kind for one in secrets)))


SHORT = 3
"""What has so few characters stands in a text by chance too."""

PHRASE = 3
"""So many words make a passphrase, even of adjectives."""


def masked_within(value: Any) -> Any:
    """Return plain data of any depth with every text in it masked; the same object if none is."""
    if isinstance(value, str):
        return masked(value).text
    if isinstance(value, dict):
        new: Any = {name: masked_within(one) for name, one in value.items()}
        return value if all(new[name] is one for name, one in value.items()) else new
    if isinstance(value, list | tuple):
        made = [masked_within(one) for one in value]
        if all(one is old for one, old in zip(made, value, strict=True)):
            return value
        return made if isinstance(value, list) else tuple(made)
    return value


def secret(text: str) -> bool:
    """Tell whether a text holds a secret, the mark of one, or letters without any sense."""
    return bool(MARK.search(text) or _RANDOM.search(text) or found(text))


def held(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets in a text, those too that were taken out of it."""
    return masked(text).kinds or removed(text)


def removed(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets that were taken out of a text, each once."""
    return tuple(dict.fromkeys(mark[1:].rpartition(" ")[0] for mark in MARK.findall(text)))


def _each(text: str) -> Iterator[Secret]:
    yield from (Secret("key", *match.span()) for match in _KEYS.finditer(text))
    yield from _grouped(_HEADER, "key", text)
    yield from _grouped(_ASSIGNED, "password", text)
    yield from _grouped(_ADDRESS, "password", text)
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _ISSUERS.fullmatch(digits) and _luhn(digits):
            yield Secret("card number", *match.span())
    yield from _in_words(text)


def _grouped(pattern: re.Pattern[str], kind: str, text: str) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        name = str(match.lastgroup)
        if not _harmless(match[name]):
            yield Secret(kind, *match.span(name))


def _in_words(text: str) -> Iterator[Secret]:
    """Yield what is said to be a secret: "my password is …", "… is my PIN", 密码是…."""
    for match in _REVERSED.finditer(text):
        value = match["value"].rstrip(_TRAILING)
        if not _harmless(value) and not _PARTICIPLE.match(value):
            start = match.start("value")
            yield Secret(_kind(match["noun"]), start, start + len(value))
    ways = ((_TOLD, _english), (_SET, _english), (_BESIDE, _beside), (_CHINESE, _chinese))
    for pattern, read in ways:
        for match in pattern.finditer(text):
            after = text[match.end() : match.end() + _AFTER]
            if place := read(match, after):
                start, end = (match.end() + at for at in place)
                yield Secret(_kind(match["noun"]), start, end)


def _english(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return where a secret stands behind its name, if one does."""
    if match["public"] or _PUBLIC.match(after):
        return None
    quoted = _QUOTED.match(after)
    if _NUMBERED.match(match["noun"]):
        number = _NUMBER.match(after)
        return number.span() if number else None
    token = quoted[1] if quoted else _token(after)
    if not token or (_harmless(token) and quoted) or _CALL.search(token) or _PUBLIC.match(token):
        return None
    if _KEYED.search(match["noun"]):
        fits = _random(token, match["noun"])
        return (quoted.span(1) if quoted else (0, len(token))) if fits else None
    if quoted:
        return quoted.span(1)
    if _mixed(token):
        return 0, len(token)
    end = _CLAUSE.search(after)
    return _of_words(after[: end.start() if end else None], match)


def _of_words(clause: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Return where a secret made of plain words stands: "swordfish", "correct horse battery"."""
    words = clause.rstrip(f"{_TRAILING} ").split()
    plain = [word for word in words if word.lower() in _PLAIN or _PARTICIPLE.match(word)]
    phrase = len(words) >= PHRASE and not {word.lower() for word in words} & _FUNCTION
    whole = match["own"] or "phrase" in match["noun"].lower()
    one = len(words) == 1 and len(words[0]) > SHORT and (match["own"] or not _MANY.search(match[0]))
    if (one and not plain) or (whole and (phrase or not plain)):
        return 0, len(clause.rstrip(f"{_TRAILING} "))
    return None


def _beside(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return where a secret stands right beside its name: "with password hunter2"."""
    token, own = _token(after), match["own"].strip().lower() in ("my", "our", "with")
    if quoted := _QUOTED.match(after):
        plain = _KEYED.search(match["noun"]) or _harmless(quoted[1])
        return quoted.span(1) if own and not plain else None
    if own and _NUMBERED.match(match["noun"]):
        number = _NUMBER.match(after)
        return number.span() if number else None
    fits = _random(token, match["noun"]) and not (_harmless(token) or _CALL.search(token))
    return (0, len(token)) if fits else None


def _chinese(match: re.Match[str], after: str) -> tuple[int, int] | None:
    if quoted := _QUOTED.match(after):
        return None if _harmless(quoted[1]) else quoted.span(1)
    if ascii_ := _ASCII.match(after):
        token = ascii_[0].rstrip(_TRAILING)
        if match[0].rstrip().endswith((":", "：")) and not _harmless(token):
            return 0, len(_token(after))
        alone = not re.match(r"[\u4e00-\u9fff]", after[ascii_.end() :])
        harmless = _harmless(token) or len(token) <= SHORT
        return None if harmless or not (alone or _mixed(token)) else (0, len(token))
    said = _HAN.match(after)
    own = _OWN.search(match.string[max(match.start() - 14, 0) : match.start()])
    if not said or not own or _CHINESE_PLAIN.match(after) or said[0][-1] in "吗嗎呢么的了":
        return None
    return said.span()


def _token(after: str) -> str:
    token = _TOKEN.match(after)
    return token[0].rstrip(_TRAILING) if token else ""


def _harmless(value: str) -> bool:
    return bool(_PUBLIC.match(value)) or value.lower() in _PLAIN


def _random(token: str, noun: str) -> bool:
    """Tell whether a word may be a key: it has letters and digits, and is long enough."""
    least = 16 if noun.lower().startswith("key") else 8 if _KEYED.search(noun) else 5
    return len(token) >= least and bool(_LETTER.search(token) and _DIGIT.search(token))


def _mixed(token: str) -> bool:
    """Tell whether a word is no plain one: it has digits, or signs, among its letters."""
    digits = bool(_DIGIT.search(token)) and len(token) > SHORT
    return digits or bool(_LETTER.search(token) and _SIGN.search(token))


def _kind(noun: str) -> str:
    if _NUMBERED.match(noun):
        return "number"
    return "key" if _KEYED.search(noun) else "password"


def _luhn(digits: str) -> bool:
    """Tell whether the last digit checks the others (ISO/IEC 7812-1, annex B)."""
    doubled = (2 * int(one) for one in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(n - 9 * (n > 9) for n in doubled)) % 10 == 0
