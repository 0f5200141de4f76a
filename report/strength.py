"""Tell whether a statement is stronger than what its sources say."""

from __future__ import annotations

import re
from collections.abc import Sequence

from report.contrast import Text, closest, nearest
from report.quantities import other_length
from report.subjects import anchored
from retrieval.regex import regex
from retrieval.words import words

FEWEST = 6
"""From how many words on a statement is compared."""

_SURE = regex(
    r"\b(?:guarantee[sd]?|guaranteed|without\s+(?:any\s+)?exceptions?|invariably|in\s+every\s+case"
    r"|always|infallibl[ey]|under\s+all\s+circumstances|completely|entirely|absolutely)\b"
    r"|[彻徹]底|万无一失|萬無一失|一[概律]|永[远遠]|[总總]是|[绝絕][对對]|百分之百|毫无例外|毫無例外|必定|[保确確][证證保]",
    re.IGNORECASE,
)
_SURE_THERE = regex(
    r"\b(?:guarant\w*|ensur\w*|assur\w*|exceptions?|invariabl\w*|always|every\w*|each|all|any\w*|must"
    r"|complete\w*|entire\w*|absolute\w*|full\w*|total\w*|whole|throughout|certain\w*|never|no"
    r"|whenever|infallibl\w*|perfect\w*|100|regardless|unconditional\w*|permanent\w*|forever)\b"
    r"|[彻徹]底|[万萬][无無]一失|一[概律]|永|[总總是]是|[总總]会|[绝絕][对對]|百分之百|例外|必[定须須]|保[证證]|确保|確保|完全|全部|所有|任何|都|每|均|始[终終]",
    re.IGNORECASE,
)
_PROMISES = regex(r"\bguarant\w+|[保确確][证證保]|万无一失|萬無一失", re.IGNORECASE)
_PROMISED = regex(
    r"\b(?:guarant\w*|ensur\w*|assur\w*|always|never|certain\w*|promise[sd]?)\b|保[证證]|[确確]保|[总總]是|一定",
    re.IGNORECASE,
)
_NEVER = regex(
    r"\bnever\b|\b(?:not|cannot|can['’]t|n['’]t)\b[^.;]{0,60}\bat\s+all\b|\bunder\s+no\s+circumstances\b"
    r"|\bin\s+no\s+case\b|\bby\s+no\s+means\b|从不|從不|[绝絕]不|根本[不没沒无無]|完全[不没沒无無]|从未|從未|[毫绝絕][无無]|丝毫不",
    re.IGNORECASE,
)
_NEVER_THERE = regex(
    r"\b(?:not?|never|none|cannot|nor|neither|nothing|nobody|without|un(?!fortun|der|til|i[toq]|less)\w{4,}|im\w*possible|avoid\w*"
    r"|refus\w*|forbid\w*|prohibit\w*|prevent\w*|exclud\w*|fail\w*|lacks?|instead|only|ignor\w*"
    r"|disabled?|reject\w*|zero|free\s+of|rather\s+than|exempt\w*)\b|n['’]t\b|[不没沒无無未非否勿莫]|禁|[绝絕]",
    re.IGNORECASE,
)
_DENIES_SURETY = regex(
    r"\b(?:impossible|not\s+possible|cannot|can['’]t|no\s+way|not|n['’]t)\b[^.;]{0,120}?\b(?:guarant\w+"
    r"|completely|entirely|always|every|all)\b|(?:不可能|[无無]法|不能|不[保一][证證定]|未必)[^。；]{0,40}?"
    "(?:保[证證]|完全|彻底|徹底|全部|所有|[总總]是)",
    re.IGNORECASE,
)
_NOT = regex(r"\b(?:not|no|never|cannot)\b|n['’]t\b|[不没沒未无無]", re.IGNORECASE)


def goes_beyond(said: str, sources: Sequence[Text], *, alike: bool = True) -> str:
    """Return in what a statement goes beyond the passages that are most like it, or nothing.

    Args:
        said: The statement, without marks and quotations.
        sources: The sources that it cites.
        alike: Whether they are in its language, so that their words can be compared.
    """
    near = [one for text in sources for one in (nearest(said, text) if alike else text.said)]
    close = anchored(said, near) or [one for text in sources for one in closest(said, text)]
    if (alike and too_strong(said, close, near)) or denied_surety(said, near):
        return "strength"
    return "other_number" if other_length(said, [text.text for text in sources]) else ""


def too_strong(said: str, close: Sequence[str], near: Sequence[str]) -> bool:
    """Tell whether a statement says "always", "never" or "guaranteed" and no passage does.

    Args:
        said: The statement, without marks and quotations.
        close: What of its sources is most like it.
        near: That, and what stands around it.
    """
    if not near or len(set(words(said))) < FEWEST:
        return False
    there = " ".join([*close, *near])
    if _NEVER.search(said):
        return not _NEVER_THERE.search(" ".join(close)) and not _is_denied(said, near)
    if _affirmed(_PROMISES, said):
        return not _PROMISED.search(" ".join(close))
    return _affirmed(_SURE, said) and not _SURE_THERE.search(there)


def _is_denied(said: str, near: Sequence[str]) -> bool:
    """Tell whether a passage denies one of the words that a statement has behind "never"."""
    found = _NEVER.search(said)
    told = set(words(said[found.end() :])) if found else set()
    return any(_NEVER_THERE.search(one) and told & set(words(one)) for one in near)


def denied_surety(said: str, passages: Sequence[str]) -> bool:
    """Tell whether a statement is sure of what a passage calls impossible, or not sure."""
    if not _affirmed(_SURE, said):
        return False
    return any(_DENIES_SURETY.search(one) for one in passages)


def _affirmed(pattern: re.Pattern[str], said: str) -> bool:
    """Tell whether a statement says such a word and does not deny it: "does not guarantee"."""
    found = pattern.search(said)
    return found is not None and not _NOT.search(said, max(0, found.start() - 24), found.start())
