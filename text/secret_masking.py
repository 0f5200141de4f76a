"""Find and mask secrets, which must never be stored: passwords, keys, tokens, card numbers.

They are found by their form, and by the words that introduce them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from text.pattern_files import PatternFile
from text.regex import regex, replace_spans

_PATTERNS = PatternFile("text", "secret_masking.toml")

SECRET_MARK = regex(r"\[(?:password|number|key|card number) removed\]")
"""The mark that replaces a secret, by its kind."""

_RANDOM = regex(r"(?<![\w/.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{24,}")

_BYTES = 1_000
"""This many characters of Base64 in a row are bytes."""

_ENCODED = regex(rf"(?:data:[\w/.+;=-]{{0,200}},)?[A-Za-z0-9+/_-]{{{_BYTES},}}={{0,2}}\s*")
"""Bytes in Base64, such as a picture, in which a key may occur by chance."""

_UNSEEN = (
    "[\u00ad\u034f\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_INVISIBLE = regex(_UNSEEN)
"""Invisible characters that would hide a secret: joiners, marks, soft hyphens."""

_HALF_WIDTH = {
    full: full - 0xFEE0
    for first, last in ("０９", "Ａｚ", "：：", "＝＝")
    for full in range(ord(first), ord(last) + 1)
} | dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
"""Letters, digits and signs of full width, as Chinese and Japanese keyboards type them; spaces."""


class Secret(NamedTuple):
    """The kind and the place of a secret in a text."""

    kind: str
    start: int
    end: int


class _MaskedText(NamedTuple):
    """A text without its secrets, and the kinds of those that were removed, each once."""

    text: str
    kinds: tuple[str, ...]


@lru_cache(maxsize=64)
def _find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets of a text in their order, without overlaps.

    The results are cached, since a conversation is searched again whenever part of it is saved.
    """
    if len(text) >= _BYTES and _ENCODED.fullmatch(text):
        return ()
    visible = text if text.isascii() else _INVISIBLE.sub("", text)
    plain = visible if text.isascii() else visible.translate(_HALF_WIDTH)
    secrets: list[Secret] = []
    for one in sorted(_iterate_overlapping(plain), key=lambda one: (one.start, -one.end)):
        if one.start < one.end and (not secrets or one.start >= secrets[-1].end):
            secrets.append(one)
    return tuple(secrets if len(visible) == len(text) else _relocate(secrets, text))


def _relocate(secrets: list[Secret], text: str) -> list[Secret]:
    """Return the places in a text of secrets that were found without invisible characters."""
    places = [place for place, letter in enumerate(text) if not _INVISIBLE.match(letter)]
    return [Secret(one.kind, places[one.start], places[one.end - 1] + 1) for one in secrets]


def mask_secrets(text: str) -> _MaskedText:
    """Return a text with a mark in place of each secret and of each repetition of its value."""
    secrets = _find_secrets(text)
    if not secrets:
        return _MaskedText(text, ())
    masked = replace_spans(text, ((one.start, one.end, f"[{one.kind} removed]") for one in secrets))
    for one in secrets:
        value = _INVISIBLE.sub("", text[one.start : one.end])
        if len(value) > _SHORTEST:
            masked = _repetition_pattern(value).sub(f"[{one.kind} removed]", masked)
    return _MaskedText(masked, tuple(dict.fromkeys(one.kind for one in secrets)))


def _repetition_pattern(value: str) -> re.Pattern[str]:
    """Return a pattern for a value with any invisible characters inside."""
    letters = f"{_UNSEEN}*".join(map(re.escape, value))
    return regex(rf"(?<![^\W\u3040-\ud7ff]){letters}(?![^\W\u3040-\ud7ff])")


def mask_secrets_within(value: Any) -> Any:
    """Return plain data of any depth with every text in it masked; the same object if none is."""
    if isinstance(value, str):
        return mask_secrets(value).text
    if isinstance(value, dict):
        fields: Any = {name: mask_secrets_within(one) for name, one in value.items()}
        return value if all(fields[name] is one for name, one in value.items()) else fields
    if isinstance(value, list | tuple):
        items = [mask_secrets_within(one) for one in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    return value


def has_secret(text: str) -> bool:
    """Tell whether a text contains a secret, the mark of one, or a random token."""
    return bool(SECRET_MARK.search(text) or _RANDOM.search(text) or _find_secrets(text))


def list_secret_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets in a text, including removed ones."""
    return mask_secrets(text).kinds or list_removed_kinds(text)


def list_removed_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of secrets that were removed from a text, each once."""
    return tuple(dict.fromkeys(mark[1:].rpartition(" ")[0] for mark in SECRET_MARK.findall(text)))


_SHORTEST = 3
"""A value of this many characters or fewer occurs by chance."""

_PHRASE = 3
"""The fewest words of a passphrase, which may be adjectives."""

_AFTER = 200
"""How many characters after its name are searched for a secret."""

_LETTER, _DIGIT, _SIGN = regex(r"[^\W\d_]"), regex(r"\d"), regex(r"[!@#$%^&*+=~|?]")
_TRAILING = ".,;:!?)'\"`]}>"
_COMMANDS = (
    *("curl", "http_clients", "mysql", "zip", "sshpass", "logins", "redis", "samba", "openssl"),
    *("ldap", "htpasswd", "downloads", "chpasswd"),
)
"""The patterns for the value of a flag of some commands."""

_CARD = regex(r"(?<![\w./-])(?:\d[ -]?){12,18}\d(?![\w/-]|\.\d)")

_FORMED = regex(r"[\d:=/@|]|\s-|-{4}|[\w.+-]{13,}")
"""Matches every text with a secret of some form, and few plain questions."""


def _iterate_overlapping(text: str) -> Iterator[Secret]:
    """Yield the secrets of a text, in any order; they may overlap."""
    if _FORMED.search(text):
        yield from _find_formed(text)
    if _PATTERNS.named.search(text):
        yield from _find_worded(text)
    if _PATTERNS.foreign_named.search(text):
        yield from _find_foreign(text)


def _is_placeholder(value: str) -> bool:
    """Tell whether a value is a placeholder, a type or the name of a method, not a secret."""
    return bool(_PATTERNS.placeholder.match(value))


def _is_harmless(value: str) -> bool:
    """Tell whether a value is a placeholder for a secret, or a word that describes one."""
    return _is_placeholder(value) or value.lower() in _PATTERNS.get_words("harmless")


def _is_participle(word: str) -> bool:
    """Tell whether a word has an ending of words that describe a secret."""
    return bool(_PATTERNS.participle.match(word))


def _has_letters_and_digits(token: str, least: int) -> bool:
    """Tell whether a word of at least `least` characters has both letters and digits."""
    return len(token) >= least and bool(_LETTER.search(token) and _DIGIT.search(token))


def _is_mixed_token(token: str) -> bool:
    """Tell whether a word has digits or signs among its letters."""
    digits = bool(_DIGIT.search(token)) and len(token) > _SHORTEST
    return digits or bool(_LETTER.search(token) and _SIGN.search(token))


def _find_formed(text: str) -> Iterator[Secret]:
    """Yield secrets by their form."""
    for pattern in (_PATTERNS.keys, _PATTERNS.blocks):
        yield from (Secret("key", *match.span()) for match in pattern.finditer(text))
    for name in ("header", "hooks"):
        yield from _grouped(name, "key", text)
    for name in ("assigned", "address", *_COMMANDS):
        yield from _grouped(name, "password", text)
    for name, kind in (("bare_address", "password"), ("parameter", "key")):
        found = _grouped(name, kind, text)
        yield from (one for one in found if _has_letters_and_digits(text[one.start : one.end], 6))
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _PATTERNS.issuers.fullmatch(digits) and _luhn(digits):
            yield Secret("card number", *match.span())


def _grouped(name: str, kind: str, text: str) -> Iterator[Secret]:
    for match in _PATTERNS.get(name).finditer(text):
        group = str(match.lastgroup)
        if not _is_harmless(match[group]):
            yield Secret(kind, *match.span(group))


def _luhn(digits: str) -> bool:
    """Tell whether the last digit checks the others (ISO/IEC 7812-1, annex B)."""
    doubled = (2 * int(one) for one in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(n - 9 * (n > 9) for n in doubled)) % 10 == 0


_QUOTED = regex(r"""["“'`‘「『]([^"”'`’」』\n]{3,100})["”'`’」』]""")
_TOKEN = regex(r"[^\s，。；！？、]{1,200}")
_ASCII = regex(r"[!-~]{3,200}")
_HAN = regex(r"[\u4e00-\u9fff]{2,12}(?![\u4e00-\u9fff])")
_NUMBER = regex(r"\d(?:[ -]?\d){2,11}(?!\w)")
_CALL = regex(r"\w[(\[]")

_Place = tuple[int, int] | None
_SecretReader = Callable[[re.Match[str], str], _Place]
"""Returns the place of a secret in the text after its name, if there is one."""


def _find_worded(text: str) -> Iterator[Secret]:
    """Yield secrets introduced by English or Chinese words."""
    for match in _PATTERNS.reversed.finditer(text):
        value = match["value"].rstrip(_TRAILING)
        if not _is_harmless(value) and not _is_participle(value):
            start = match.start("value")
            yield Secret(_kind(match["noun"]), start, start + len(value))
    for match in (*_PATTERNS.used.finditer(text), *_PATTERNS.chinese_used.finditer(text)):
        if _used(match):
            place = match.span("quoted" if match["quoted"] else "value")
            yield Secret(_kind(match["noun"]), *place)
    for name, read in _READERS:
        yield from _find_after(text, _PATTERNS.get(name), read, _kind)


def _find_after(
    text: str, pattern: re.Pattern[str], read: _SecretReader, kind: Callable[[str], str]
) -> Iterator[Secret]:
    """Yield the secrets that follow their name.

    Args:
        text: The text.
        pattern: The pattern for the name.
        read: The reader of what follows.
        kind: Returns the kind of a secret by its name.
    """
    for match in pattern.finditer(text):
        if place := read(match, text[match.end() : match.end() + _AFTER]):
            start, end = (match.end() + at for at in place)
            yield Secret(kind(match["noun"] or ""), start, end)


def _used(match: re.Match[str]) -> bool:
    """Tell whether something used as a password is a value, not a way to create or store one."""
    value = match["quoted"] or match["value"]
    if _is_harmless(value) or _is_participle(value):
        return False
    if _PATTERNS.numbered.match(match["noun"]):
        return bool(_NUMBER.fullmatch(value))
    if _PATTERNS.keyed.search(match["noun"]):
        return _random(value, match["noun"])
    return bool(match["quoted"] or match["own"] or _is_mixed_token(value))


def _english(match: re.Match[str], after: str) -> _Place:
    """Return the place of a secret after its name, if there is one."""
    if match["public"] or _is_placeholder(after):
        return None
    if _PATTERNS.numbered.match(match["noun"]):
        return _number(match, after)
    quoted = _QUOTED.match(after)
    token = quoted[1] if quoted else _token(after)
    place = quoted.span(1) if quoted else (0, len(token))
    if not token or _CALL.search(token) or _is_placeholder(token):
        return None
    if quoted and _is_harmless(token):
        return None
    if _PATTERNS.keyed.search(match["noun"]):
        return place if _random(token, match["noun"]) else None
    if quoted or _is_mixed_token(token):
        return place
    end = _PATTERNS.clause.search(after)
    return _of_words(after[: end.start() if end else None], match)


def _before(match: re.Match[str], after: str) -> _Place:
    """Return the place of a secret that was replaced: "from hunter2 to kolibri7"."""
    quoted, token = _QUOTED.match(after), _token(after)
    replaced = after[len(token) :].startswith((" to ", " into "))
    if not (quoted or replaced or _is_mixed_token(token)):
        return None
    return _english(match, after if quoted else token)


def _of_words(clause: str, match: re.Match[str]) -> _Place:
    """Return the place of a secret in plain words: "swordfish", "correct horse battery"."""
    clause = clause.rstrip(f"{_TRAILING} ")
    words = clause.split()
    harmless, function = _PATTERNS.get_words("harmless"), _PATTERNS.get_words("function")
    plain = any(word.lower() in harmless or _is_participle(word) for word in words)
    phrase = len(words) >= _PHRASE and not any(word.lower() in function for word in words)
    whole = match["own"] or "phrase" in match["noun"].lower()
    if len("".join(words)) <= _SHORTEST:
        return None
    one = len(words) == 1 and (match["own"] or not _PATTERNS.many.search(match[0]))
    return (0, len(clause)) if (one and not plain) or (whole and (phrase or not plain)) else None


def _beside(match: re.Match[str], after: str) -> _Place:
    """Return the place of a secret next to its name: "with password hunter2"."""
    token, own = _token(after), match["own"].strip().lower() in ("my", "our", "with")
    if quoted := _QUOTED.match(after):
        plain = _PATTERNS.keyed.search(match["noun"]) or _is_harmless(quoted[1])
        return quoted.span(1) if own and not plain else None
    if own and _PATTERNS.numbered.match(match["noun"]):
        return _number(match, after)
    fits = _random(token, match["noun"]) and not (_is_harmless(token) or _CALL.search(token))
    return (0, len(token)) if fits else None


def _paired(match: re.Match[str], after: str) -> _Place:
    """Return the place of a password after the name of its user: "ann/kolibri"."""
    token = _token(after)
    if len(token) <= _SHORTEST or _is_harmless(token):
        return None
    likely = match["own"] or _has_letters_and_digits(token, _SHORTEST + 1)
    return (0, len(token)) if likely else None


def _chinese(match: re.Match[str], after: str) -> _Place:
    if quoted := _QUOTED.match(after):
        return None if _is_harmless(quoted[1]) else quoted.span(1)
    if ascii_ := _ASCII.match(after):
        token = ascii_[0].rstrip(_TRAILING)
        if match[0].rstrip().endswith((":", "：")) and not _is_harmless(token):
            return 0, len(_token(after))
        alone = not re.match(r"[\u4e00-\u9fff]", after[ascii_.end() :])
        plain = _is_harmless(token) or len(token) <= _SHORTEST
        return None if plain or not (alone or _is_mixed_token(token)) else (0, len(token))
    han = _HAN.match(after)
    own = _PATTERNS.own.search(match.string[max(match.start() - 14, 0) : match.start()])
    return han.span() if han and own and not _is_plain_chinese(han[0]) else None


def _mixed(match: re.Match[str], after: str) -> _Place:
    """Return the place of a word that is not a plain one: "my pass is Hortensia81"."""
    del match
    quoted, token = _QUOTED.match(after), _token(after)
    if quoted and not _is_harmless(quoted[1]):
        return quoted.span(1)
    fits = _is_mixed_token(token) or (len(token) > _SHORTEST and "-" in token.strip("-"))
    return (0, len(token)) if fits and not _is_harmless(token) else None


def _number(match: re.Match[str], after: str) -> _Place:
    """Return the place of the number that a text begins with, if it does."""
    del match
    number = _NUMBER.match(after)
    return number.span() if number else None


def _chinese_of(match: re.Match[str], after: str) -> _Place:
    """Return the place of digits after the name of a password, or of Chinese words."""
    value = _PATTERNS.chinese_value.match(after)
    if not value or not (
        _PATTERNS.chinese_end.match(after, value.end()) or (value["digits"] and match["noun"])
    ):
        return None
    # "密码：历史" may be a title, 密码1234 is not.
    titled = not (match["noun"] or match["sign"] or "口令" in match[0])
    plain = titled or _is_plain_chinese(value[0])
    return value.span() if value["digits"] or not plain else None


def _is_plain_chinese(text: str) -> bool:
    """Tell whether Chinese words describe a secret or ask for one."""
    return bool(_PATTERNS.chinese_plain.match(text)) or text[-1] in "吗嗎呢么的了"


def _token(after: str) -> str:
    token = _TOKEN.match(after)
    return token[0].rstrip(_TRAILING) if token else ""


def _random(token: str, noun: str) -> bool:
    """Tell whether a word may be a key: it has letters and digits, and is long enough."""
    least = 16 if noun.lower().startswith("key") else 8 if _PATTERNS.keyed.search(noun) else 5
    return _has_letters_and_digits(token, least)


def _kind(noun: str) -> str:
    if _PATTERNS.numbered.match(noun):
        return "number"
    return "key" if _PATTERNS.keyed.search(noun) else "password"


_READERS = (
    *(("stated", _english), ("set", _english), ("from", _before), ("beside", _beside)),
    *(("pass", _beside), ("my_pass", _mixed), ("pin", _number), ("unlocked", _number)),
    *(("chinese_of", _chinese_of), ("login", _beside), ("pair", _paired)),
    *(("chinese_beside", _beside), ("chinese", _chinese)),
    *(("chinese_from", _chinese), ("chinese_to", _chinese)),
)
"""The patterns for the name of a secret, each with the reader of what follows."""

_FOREIGN_QUOTED = regex(r"""["'“„«‹「]\s?([^"'”“»›」\n]{3,100}?)\s?["'”“»›」]""")
_FOREIGN_WORD = regex(r"[^\s,;!?。，；！？、]{1,200}")
_FOREIGN_TRAILING = f"{_TRAILING}»"
_REST = regex(r"\s*(?:$|[.,;:!?\n)])")


def _find_foreign(text: str) -> Iterator[Secret]:
    """Yield secrets introduced by words of other languages."""
    yield from _find_after(text, _PATTERNS.foreign_stated, _foreign, _foreign_kind)
    for match in _PATTERNS.foreign_used.finditer(text):
        if _has_letters_and_digits(match["value"], 5) and not _is_harmless(match["value"]):
            yield Secret(_foreign_kind(match["noun"]), *match.span("value"))
    for match in _PATTERNS.foreign_eastern.finditer(text):
        value, start = match["value"].rstrip(_FOREIGN_TRAILING), match.start("value")
        likely = _is_mixed_token(value) or match["after"] is not None
        if likely and len(value) > _SHORTEST and not _is_harmless(value):
            yield Secret(_foreign_kind(match["noun"]), start, start + len(value))


def _foreign(match: re.Match[str], after: str) -> _Place:
    """Return the place of a secret after its name, if there is one."""
    linked = bool(match["link"].strip())
    if _foreign_kind(match["noun"]) == "number":
        return _number(match, after) if match["own"] or linked else None
    if linked and (quoted := _FOREIGN_QUOTED.match(after)):
        return None if _is_harmless(quoted[1]) else quoted.span(1)
    token = _FOREIGN_WORD.match(after)
    word = token[0].rstrip(_FOREIGN_TRAILING) if token else ""
    if _is_harmless(word) or len(word) <= _SHORTEST:
        return None
    if _has_letters_and_digits(word, 5) or (_is_mixed_token(word) and linked):
        return 0, len(word)
    says = _PATTERNS.foreign_says.search(match["link"]) and match["noun"].lower() != "clave"
    is_plain = word.lower() in _PATTERNS.get_words("foreign_plain")
    plain = is_plain or _PATTERNS.foreign_participle.match(word)
    certain = (match["own"] or says) and linked and _REST.match(after[len(word) :])
    return (0, len(word)) if certain and not plain else None


def _foreign_kind(noun: str) -> str:
    return "number" if _PATTERNS.foreign_number_noun.fullmatch(noun) else "password"
