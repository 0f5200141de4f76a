"""Know what stands where a secret would and is none: a place for one, a type, a plain word."""

from __future__ import annotations

import re

from retrieval.regex import regex

PUBLIC = regex(
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
entropy everything nothing something anything hash hashes token tokens username user users digest
database encryption option flag argument parameter prompt biometrics passkeys fingerprints sentences
"""
PLAIN = frozenset(_PLAIN_WORDS.split())
_FUNCTION_WORDS = """
a an the of to in is are was be been not no too very so as it that this than then with by from
into every any all my your their has have had will would can could must never always only what how
why when where who which
"""
FUNCTION = frozenset(_FUNCTION_WORDS.split())
PARTICIPLE = regex(r"^\w{2,}(?:ed|ing|able|ible|ory|ful|less)$", re.IGNORECASE)
"""Words that say how something is, not what it is."""


def harmless(value: str) -> bool:
    """Tell whether a value is only a place for a secret, or a word that describes one."""
    return bool(PUBLIC.match(value)) or value.lower() in PLAIN


def keyed(token: str, least: int) -> bool:
    """Tell whether a word of at least so many characters has both letters and digits."""
    return len(token) >= least and bool(_LETTER.search(token) and _DIGIT.search(token))


def mixed(token: str) -> bool:
    """Tell whether a word is no plain one: it has digits, or signs, among its letters."""
    digits = bool(_DIGIT.search(token)) and len(token) > SHORT
    return digits or bool(_LETTER.search(token) and _SIGN.search(token))


SHORT = 3
"""What has so few characters stands in a text by chance too."""

_LETTER, _DIGIT, _SIGN = regex(r"[^\W\d_]"), regex(r"\d"), regex(r"[!@#$%^&*+=~|?]")
