"""Find secrets that English or Chinese words introduce."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from text.pattern_files import PatternFile
from text.regex import regex
from text.secret_forms import (
    SHORTEST_SECRET,
    Secret,
    has_letters_and_digits,
    is_description,
    is_function_word,
    is_harmless,
    is_mixed_token,
    is_participle,
    is_placeholder,
)

_PATTERNS = PatternFile("text", "secret_phrases.toml")

_QUOTED = regex(r"""["“'`‘「『]([^"”'`’」』\n]{3,100})["”'`’」』]""")
_TOKEN = regex(r"[^\s，。；！？、]{1,200}")
_ASCII = regex(r"[!-~]{3,200}")
_HAN = regex(r"[\u4e00-\u9fff]{2,12}(?![\u4e00-\u9fff])")
_NUMBER = regex(r"\d(?:[ -]?\d){2,11}(?!\w)")
_CALL = regex(r"\w[(\[]")
_TRAILING = ".,;:!?)'\"`]}>"
PHRASE = 3
"""The fewest words of a passphrase, which may be adjectives."""

_AFTER = 200
"""How many characters after its name are searched for a secret."""


SecretReader = Callable[[re.Match[str], str], tuple[int, int] | None]
"""Returns the place of a secret in the text after its name, if there is one."""


def find_worded_secrets(text: str) -> Iterator[Secret]:
    """Yield secrets introduced by English or Chinese words, in any order; they may overlap."""
    if not _PATTERNS.named.search(text):
        return
    for match in _PATTERNS.reversed.finditer(text):
        value = match["value"].rstrip(_TRAILING)
        if not is_harmless(value) and not is_participle(value):
            start = match.start("value")
            yield Secret(_kind(match["noun"]), start, start + len(value))
    for match in (*_PATTERNS.used.finditer(text), *_PATTERNS.chinese_used.finditer(text)):
        if _used(match):
            place = match.span("quoted" if match["quoted"] else "value")
            yield Secret(_kind(match["noun"]), *place)
    readers = ((_PATTERNS.get(name), read) for name, read in _READERS)
    yield from find_secrets_after(text, readers, _kind)


def find_secrets_after(
    text: str, readers: Iterable[tuple[re.Pattern[str], SecretReader]], kind: Callable[[str], str]
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
    """Tell whether something used as a password is a value, not a way to create or store one."""
    value = match["quoted"] or match["value"]
    if is_harmless(value) or is_participle(value):
        return False
    if _PATTERNS.numbered.match(match["noun"]):
        return bool(_NUMBER.fullmatch(value))
    if _PATTERNS.keyed.search(match["noun"]):
        return _random(value, match["noun"])
    return bool(match["quoted"] or match["own"] or is_mixed_token(value))


def _english(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a secret after its name, if there is one."""
    if match["public"] or is_placeholder(after):
        return None
    quoted = _QUOTED.match(after)
    if _PATTERNS.numbered.match(match["noun"]):
        return find_number_at_start(after)
    token = quoted[1] if quoted else _token(after)
    if not token or _CALL.search(token) or is_placeholder(token):
        return None
    if quoted and is_harmless(token):
        return None
    if _PATTERNS.keyed.search(match["noun"]):
        fits = _random(token, match["noun"])
        return (quoted.span(1) if quoted else (0, len(token))) if fits else None
    if quoted:
        return quoted.span(1)
    if is_mixed_token(token):
        return 0, len(token)
    end = _PATTERNS.clause.search(after)
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
    plain = [word for word in words if is_description(word)]
    phrase = len(words) >= PHRASE and not any(map(is_function_word, words))
    whole = match["own"] or "phrase" in match["noun"].lower()
    if len("".join(words)) <= SHORTEST_SECRET:
        return None
    one = len(words) == 1 and (match["own"] or not _PATTERNS.many.search(match[0]))
    if (one and not plain) or (whole and (phrase or not plain)):
        return 0, len(clause.rstrip(f"{_TRAILING} "))
    return None


def _beside(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a secret next to its name: "with password hunter2"."""
    token, own = _token(after), match["own"].strip().lower() in ("my", "our", "with")
    if quoted := _QUOTED.match(after):
        plain = _PATTERNS.keyed.search(match["noun"]) or is_harmless(quoted[1])
        return quoted.span(1) if own and not plain else None
    if own and _PATTERNS.numbered.match(match["noun"]):
        return find_number_at_start(after)
    fits = _random(token, match["noun"]) and not (is_harmless(token) or _CALL.search(token))
    return (0, len(token)) if fits else None


def _paired(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a password after the name of its user: "ann/kolibri"."""
    token = _token(after)
    if len(token) <= SHORTEST_SECRET or is_harmless(token):
        return None
    likely = match["own"] or has_letters_and_digits(token, SHORTEST_SECRET + 1)
    return (0, len(token)) if likely else None


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
    han = _HAN.match(after)
    own = _PATTERNS.own.search(match.string[max(match.start() - 14, 0) : match.start()])
    if not han or not own or _PATTERNS.chinese_plain.match(after) or han[0][-1] in "吗嗎呢么的了":
        return None
    return han.span()


def _mixed(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a word that is not a plain one: "my pass is Hortensia81"."""
    del match
    quoted, token = _QUOTED.match(after), _token(after)
    if quoted and not is_harmless(quoted[1]):
        return quoted.span(1)
    fits = is_mixed_token(token) or (len(token) > SHORTEST_SECRET and "-" in token.strip("-"))
    return (0, len(token)) if fits and not is_harmless(token) else None


def _digits(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of a number that opens something."""
    del match
    return find_number_at_start(after)


def find_number_at_start(text: str) -> tuple[int, int] | None:
    """Return the place of the number that a text begins with, if it does."""
    number = _NUMBER.match(text)
    return number.span() if number else None


def _chinese_of(match: re.Match[str], after: str) -> tuple[int, int] | None:
    """Return the place of digits after the name of a password, or of Chinese words."""
    value = _PATTERNS.chinese_value.match(after)
    if not value or not (
        _PATTERNS.chinese_end.match(after, value.end()) or (value["digits"] and match["noun"])
    ):
        return None
    found = value[0]
    plain = _PATTERNS.chinese_plain.match(found) or found[-1] in "吗嗎呢么的了"
    # "密码：历史" may be a title, 密码1234 is not.
    words = (match["noun"] or match["sign"] or "口令" in match[0]) and not plain
    return value.span() if value["digits"] or words else None


def _token(after: str) -> str:
    token = _TOKEN.match(after)
    return token[0].rstrip(_TRAILING) if token else ""


def _random(token: str, noun: str) -> bool:
    """Tell whether a word may be a key: it has letters and digits, and is long enough."""
    least = 16 if noun.lower().startswith("key") else 8 if _PATTERNS.keyed.search(noun) else 5
    return has_letters_and_digits(token, least)


def _kind(noun: str) -> str:
    if _PATTERNS.numbered.match(noun):
        return "number"
    return "key" if _PATTERNS.keyed.search(noun) else "password"


_READERS = (
    ("stated", _english),
    ("set", _english),
    ("from", _before),
    ("beside", _beside),
    ("pass", _beside),
    ("my_pass", _mixed),
    ("pin", _digits),
    ("unlocked", _digits),
    ("chinese_of", _chinese_of),
    ("login", _beside),
    ("pair", _paired),
    ("chinese_beside", _beside),
    ("chinese", _chinese),
    ("chinese_from", _chinese),
    ("chinese_to", _chinese),
)
"""The patterns for the name of a secret, each with the reader of what follows."""
