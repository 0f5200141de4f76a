"""Find secrets by their form, and recognize harmless values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from text.pattern_files import PatternFile
from text.regex import regex

_PATTERNS = PatternFile("text", "secret_forms.toml")


def is_placeholder(value: str) -> bool:
    """Tell whether a value is a placeholder, a type or the name of a method, not a secret."""
    return bool(_PATTERNS.placeholder.match(value))


def is_harmless(value: str) -> bool:
    """Tell whether a value is a placeholder for a secret, or a word that describes one."""
    return is_placeholder(value) or value.lower() in _PATTERNS.get_words("harmless")


def is_participle(word: str) -> bool:
    """Tell whether a word has an ending of words that describe a secret."""
    return bool(_PATTERNS.participle.match(word))


def is_description(word: str) -> bool:
    """Tell whether a word may describe a secret, so that it is not one."""
    return word.lower() in _PATTERNS.get_words("harmless") or is_participle(word)


def is_function_word(word: str) -> bool:
    """Tell whether a word is a function word, which a passphrase does not have."""
    return word.lower() in _PATTERNS.get_words("function")


def has_letters_and_digits(token: str, least: int) -> bool:
    """Tell whether a word of at least `least` characters has both letters and digits."""
    return len(token) >= least and bool(_LETTER.search(token) and _DIGIT.search(token))


def is_mixed_token(token: str) -> bool:
    """Tell whether a word has digits or signs among its letters."""
    digits = bool(_DIGIT.search(token)) and len(token) > SHORTEST_SECRET
    return digits or bool(_LETTER.search(token) and _SIGN.search(token))


SHORTEST_SECRET = 3
"""A value of this many characters or fewer occurs by chance."""

_LETTER, _DIGIT, _SIGN = regex(r"[^\W\d_]"), regex(r"\d"), regex(r"[!@#$%^&*+=~|?]")


class Secret(NamedTuple):
    """The kind and the place of a secret in a text."""

    kind: str
    start: int
    end: int


def _command(names: str, flags: str, before: str = "") -> re.Pattern[str]:
    """Return a pattern for the value of a flag of some commands.

    Args:
        names: The commands.
        flags: The flags, with what separates them from the value.
        before: What precedes the value, such as a user and a colon.
    """
    return regex(
        rf"\b(?:{names})\b[^\n|;]{{0,200}}?\s(?:{flags})[\"']?{before}"
        r"(?P<value>[^\s\"'$<|;-][^\s\"'|;]{2,200})"
    )


_USER = r"[^\s:\"'$<%/]{1,60}"
_COMMANDS = (
    _command("curl", r"-[a-zA-Z]{0,8}[uU]\s?|--(?:proxy-)?user[ =]", rf"{_USER}:"),
    _command("https?|xh|hurl", r"-a\s?|--auth[ =]", rf"{_USER}:"),
    _command(r"(?:mysql|mariadb)\w*", "-p"),
    _command("(?:un)?zip|sqlcmd|bcp|ipmitool|mosquitto_(?:pub|sub)", r"-P\s?"),
    _command("sshpass", r"-p\s?"),
    _command("(?:docker|podman|helm|oras|skopeo|buildah|az|nerdctl)(?: registry)? login", "-p "),
    _command("redis-cli", "-a |--pass "),
    _command("smbclient|mount|rpcclient", r"-U\s?|--user[= ]", f"{_USER}%"),
    _command("openssl", r"-(?:pass|passin|passout) ", "pass:"),
    _command(r"ldap\w+", r"-w\s?"),
    _command("htpasswd", rf"-[a-zA-Z]*b[a-zA-Z]* \S{{1,100}} {_USER} "),
    _command(r"wget|aria2c|svn|mongo\w*|cqlsh|az|vault|lftp", r"--?(?:\w+-)?pass(?:word|wd)? "),
    regex(rf"[\"']{_USER}:(?P<value>[^\s\"']{{3,200}})[\"']?\s*\|\s*(?:sudo )?chpasswd\b"),
)
_CARD = regex(r"(?<![\w./-])(?:\d[ -]?){12,18}\d(?![\w/-]|\.\d)")

_FORMED = regex(r"[\d:=/@|]|\s-|-{4}|[\w.+-]{13,}")
"""Matches every text with one of these forms, and few plain questions."""


def find_formed_secrets(text: str) -> Iterator[Secret]:
    """Yield secrets by their form, in any order; they may overlap."""
    if not _FORMED.search(text):
        return
    for pattern in (_PATTERNS.keys, _PATTERNS.blocks):
        yield from (Secret("key", *match.span()) for match in pattern.finditer(text))
    for pattern in (_PATTERNS.header, _PATTERNS.hooks):
        yield from _grouped(pattern, "key", text)
    for pattern in (_PATTERNS.assigned, _PATTERNS.address, *_COMMANDS):
        yield from _grouped(pattern, "password", text)
    for pattern, kind in ((_PATTERNS.bare_address, "password"), (_PATTERNS.parameter, "key")):
        found = _grouped(pattern, kind, text)
        yield from (one for one in found if has_letters_and_digits(text[one.start : one.end], 6))
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _PATTERNS.issuers.fullmatch(digits) and _luhn(digits):
            yield Secret("card number", *match.span())


def _grouped(pattern: re.Pattern[str], kind: str, text: str) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        name = str(match.lastgroup)
        if not is_harmless(match[name]):
            yield Secret(kind, *match.span(name))


def _luhn(digits: str) -> bool:
    """Tell whether the last digit checks the others (ISO/IEC 7812-1, annex B)."""
    doubled = (2 * int(one) for one in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(n - 9 * (n > 9) for n in doubled)) % 10 == 0
