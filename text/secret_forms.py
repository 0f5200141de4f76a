"""Find secrets by their form, and recognize harmless values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from text.regex import regex

PLACEHOLDER = regex(
    r"^(?:[\[<{$%(*]|&(?:#|lt|gt|quot)|(?:x{3,}|\*{2,}|\.{2,}|…)"
    r"|(?:your|my|the|a|an|some|any)[ _-]|"
    r"(?:change[-_]?(?:me|it)|pass(?:word|phrase)?|passwd|secret|redacted|removed|hidden|placeholder"
    r"|example|foobar|none|null|nil|token|pass|pw|pwd|api_?key|true|false|undefined|empty|str|string"
    r"|text|bytes|int|number)\W*$|"
    r"(?:os|process|env|config|settings|self|this|args|opts|options|params|props|req|request|res|ctx"
    r"|form|data|input|event|row|user)\.|[a-z_][\w.]*[(\[]|"
    r"(?:(?:md|sha|hmac|aes|rsa|des|tls|ssl|http|utf|base|oauth|rc|x\.?|rfc|ntlm|argon|bcrypt|scrypt"
    r"|pbkdf)[-_]?\d*(?:[-_/]\w+)?)\W*$)",
    re.IGNORECASE,
)
"""A value that is no secret: a placeholder, a type, the name of a method."""

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
entropy everything nothing something anything hash hashes token tokens username user users digest
database encryption option flag argument parameter prompt biometrics passkeys fingerprints sentences
"""
HARMLESS_WORDS = frozenset(_PLAIN_WORDS.split())
_FUNCTION_WORDS = """
a an the of to in is are was be been not no too very so as it that this than then with by from
into every any all my your their has have had will would can could must never always only what how
why when where who which
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
PARTICIPLE = regex(r"^\w{2,}(?:ed|ing|able|ible|ory|ful|less)$", re.IGNORECASE)
"""Words that describe a secret and are none."""


def is_harmless(value: str) -> bool:
    """Tell whether a value is a placeholder for a secret, or a word that describes one."""
    return bool(PLACEHOLDER.match(value)) or value.lower() in HARMLESS_WORDS


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


_ASSIGNED = regex(
    r"(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access_?key|private_?key|secret_?key"
    r"|account_?key|auth_?key|(?<!max)_token|client_?secret)[\"']?"
    r"(?:\s?[:=]\s?(?:\"(?P<double>[^\"\n]{4,200})\"|'(?P<single>[^'\n]{4,200})')"
    r"|(?:\s?=|:(?=\s?\S{0,60}\d))\s?(?P<bare>[^\s\"'&;,()\[\]{}]{4,200}+)(?![(\[{]))",
    re.IGNORECASE,
)
_KEYS = regex(
    r"\b(?:[spr]k-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|gl(?:pat|ptt|dt|rt|cbt|ft|soat|imt|agent|oas)-[\w.-]{16,}|gl(?:sa|c)_[A-Za-z0-9_=]{30,}"
    r"|npm_[A-Za-z0-9]{30,}|xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"
    r"|pypi-AgE[\w-]{20,}|A[KS]IA[0-9A-Z]{16}\b|AIza[\w-]{30,}|ya29\.[\w-]{20,}"
    r"|hf_[A-Za-z]{30,}|gsk_[A-Za-z0-9]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|do[por]_v1_[a-f0-9]{32,}|tvly-[\w-]{16,}|shp(?:at|ss|ca|pa)_[a-fA-F0-9]{24,}"
    r"|lsv2_\w{2}_[a-f0-9_]{24,}|\d{8,10}:AA[\w-]{30,}|r8_[A-Za-z0-9]{30,}"
    r"|(?:pplx|xai|nvapi)-[\w-]{30,}|pcsk_\w{30,}|whsec_[A-Za-z0-9+/]{20,}"
    r"|dckr_pat_[\w-]{20,}|(?:dapi|SK)[a-f0-9]{32}\b|NRAK-[A-Z0-9]{20,}"
    r"|PMAK-[a-f0-9]{20,}-[a-f0-9]{20,}|lin_api_\w{30,}|ntn_[A-Za-z0-9]{30,}"
    r"|secret_[A-Za-z0-9]{40,}|figd_[\w-]{30,}|hv[sb]\.[\w-]{20,}|rubygems_[a-f0-9]{30,}"
    r"|AT(?:ATT|CTT|BB)[\w=-]{24,}|sbp_[a-f0-9]{30,}|GOCSPX-[\w-]{20,}|sq0[a-z]{3}-[\w-]{20,}"
    r"|key-[a-f0-9]{32}\b|[a-f0-9]{32}-us\d{1,2}\b|AGE-SECRET-KEY-1[A-Z0-9]{20,}"
    r"|fc-[a-f0-9]{32}\b|jina_\w{30,}|pscale_(?:tkn|pw)_[\w-]{20,}|sntry[su]_[\w=+/-]{20,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?)"
)
_HOOKS = regex(
    r"hooks\.slack\.com/services/(?P<slack>[A-Za-z0-9/]{20,})"
    r"|/api/webhooks/\d{15,}/(?P<discord>[\w-]{20,})"
)
_BLOCKS = regex(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"(?:.*?-{4,5} ?END [A-Z0-9 ]{0,40}KEY(?: BLOCK)? ?-{4,5}|.*)"
    r"|PuTTY-User-Key-File-\d:.*?(?:Private-MAC:[^\n]*|\Z)",
    re.DOTALL,
)
_HEADER = regex(
    r"\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+(?P<named>[^\s\"',;]{4,})"
    r"|\bbearer\s+(?P<plain>(?=[\w.~+/-]*\d)[\w.~+/-]{12,}=*)",
    re.IGNORECASE,
)
_ADDRESS = regex(
    r"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"'<>]*:(?P<value>[^\s/@\"'<>]+)@"
    r"|\bjdbc:oracle:\w+:[^\s/@]{1,60}/(?P<oracle>[^\s@/]+)@",
    re.IGNORECASE,
)
_BARE_ADDRESS = regex(
    r"(?<![\w/@.:-])[\w.-]{1,60}:(?P<value>[^\s:/@\"'<>]{4,100})"
    r"@(?:(?:tcp|unix)\(|[\w-]+(?:\.[\w-]+)+|localhost\b)"
)
_PARAMETER = regex(
    r"(?:[?&](?:key|token|sig|signature|x-amz-signature|auth|sid)|\bsession(?:_?id)?|\bsid"
    r"|\b(?:php|j)sessid|\bjsessionid|\bcsrf_?token|\bconnect\.sid)=(?P<value>[\w%.~+/-]{16,})",
    re.IGNORECASE,
)


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
_ISSUERS = regex(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}"
    r"|6(?:011|4[4-9]\d|5\d\d)\d{12}|62\d{14,17}"
)

_FORMED = regex(r"[\d:=/@|]|\s-|-{4}|[\w.+-]{13,}")
"""Matches everything that has one of these forms, and few plain questions."""


def find_formed_secrets(text: str) -> Iterator[Secret]:
    """Yield secrets by their form, in any order; they may overlap."""
    if not _FORMED.search(text):
        return
    for pattern in (_KEYS, _BLOCKS):
        yield from (Secret("key", *match.span()) for match in pattern.finditer(text))
    for pattern in (_HEADER, _HOOKS):
        yield from _grouped(pattern, "key", text)
    for pattern in (_ASSIGNED, _ADDRESS, *_COMMANDS):
        yield from _grouped(pattern, "password", text)
    for pattern, kind in ((_BARE_ADDRESS, "password"), (_PARAMETER, "key")):
        found = _grouped(pattern, kind, text)
        yield from (one for one in found if has_letters_and_digits(text[one.start : one.end], 6))
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _ISSUERS.fullmatch(digits) and _luhn(digits):
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
