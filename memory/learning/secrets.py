"""Find what must never be kept: keys, passwords, numbers of cards."""

from __future__ import annotations

import re

from langchain.agents.middleware.pii import detect_credit_card

_NAMED = re.compile(
    r"\b(?:pass ?word|passwd|passphrase|passcode|pin(?: code| number)?|secret|api[ _-]?key"
    r"|access[ _-]?key|private[ _-]?key|token|credentials?|cvv|ssn)\b\W{0,3}(?:is|was|=|:|are)\W*\S"
    r"|(?:密[码碼]|口令|密[钥鑰]|[验驗][证證][码碼]|令牌)\s*(?:是|为|為|:|：|=)\s*\S",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bglpat-[\w-]{16,}"
    r"|\beyJ[\w-]{10,}\.[\w-]{10,}\.|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@"
)
_RANDOM = re.compile(
    r"(?<![\w/.-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{24,}"
)


def secret(text: str) -> bool:
    """Tell whether a text holds a key, a password or the number of a card."""
    found = _NAMED.search(text) or _KEY.search(text) or _RANDOM.search(text)
    return bool(found or detect_credit_card(text))
