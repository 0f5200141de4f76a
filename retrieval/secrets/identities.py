"""Find ID numbers of people and numbers of bank accounts."""

from __future__ import annotations

import re

from retrieval.regex import regex

_IDENTITY = regex(
    r"(?<![\w.-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"
    r"|(?<![\dA-Za-z])(?P<china>[1-8]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}"
    r"[\dXx])(?![\dA-Za-z])"
    r"|(?<![\dA-Za-z])(?P<account>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)"
    r"(?![\dA-Za-z])"
)
"""American and Chinese ID numbers, and IBAN."""


def without_identities(text: str) -> str:
    """Return a text with each such number with correct check digits replaced by a mark."""
    return _IDENTITY.sub(lambda one: "[number removed]" if _checked(one) else one[0], text)


def _checked(match: re.Match[str]) -> bool:
    if china := match["china"]:
        # ISO 7064, MOD 11-2: X stands for 10.
        last = 10 if china[-1] in "Xx" else int(china[-1])
        weighed = sum(int(digit) << (17 - at) for at, digit in enumerate(china[:-1]))
        return (weighed + last) % 11 == 1
    if account := match["account"]:
        # ISO 7064, MOD 97-10, with the first four characters moved to the end.
        turned = (account[4:] + account[:4]).replace(" ", "")
        return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1
    return True
