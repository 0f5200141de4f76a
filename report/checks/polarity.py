"""Tell whether a statement affirms what its sources deny, or is surer than they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from report.checks.contrast import (
    SourceText,
    is_copied,
    list_closest_sentences,
    list_nearest_sentences,
)
from report.checks.overlap import CLAUSE_SPLIT, filter_by_other_names
from report.checks.quantities import has_other_duration
from report.checks.word_changes import detect_negation, tokenize
from text.regex import regex
from text.script import HAN, detect_language
from text.words import STOPWORDS, search_words

_MIN_CLAUSE_WORDS = {"en": 4, "zh": 4}
_MIN_PASSAGE_SHARE = 0.5  # of the words of a clause
_MIN_SHARED_WORDS = 3  # that the denying clause of a passage has
_NEGATED_WORDS = 4  # after a negation
_NOT = frozenset(["not", "never", "cannot", "n't", "n’t", "no"])
_NOT_ALL = (
    *("only", "necessarily", "always", "all", "every", "just", "merely", "much", "even", "yet"),
    *("longer", "more", "less", "matter", "doubt", "one", "other", "later", "fewer", "exactly"),
    *("solely", "simply", "quite", "enough", "such"),
)
_BETWEEN = STOPWORDS | {"actually", "really"}
_TURN = regex(
    r"\b(?:unless|until|except|only|otherwise|without|if|whether|although|though|while|whereas|but"
    r"|except|instead|rather)\b|除非|否则|否則|如果|只有|才能|虽然|雖然|但|不过|不過|而是",
    re.IGNORECASE,
)
_ZH_NOT = (
    "(?:(?:并|並|还|還|也|都|均|从|從|绝|絕|切|不会|不會)?(?:不(?![仅僅但只过過同少久断斷论論管足满滿到如然])|未(?![来來婚及])"
    "|没有|沒有|勿|并非|並非))"
)
_ZH_BETWEEN = "(?:会|會|能|要|可以?|再|应该?|應該?|应当|應當|直接|太|很|推|必|得|被|曾|是)*"
_ZH_DENIED = regex(f"{_ZH_NOT}{_ZH_BETWEEN}([{HAN}]{{2}})")


def is_denied_by_sources(said: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a clause of a statement affirms what its sources only deny.

    Args:
        said: The statement, without marks and quotations.
        sources: The sources that it cites, in its language.
    """
    parts = dict.fromkeys([said, *CLAUSE_SPLIT.split(said)])
    return any(_is_clause_denied(part, sources) for part in parts if not _TURN.search(part))


def _is_clause_denied(part: str, sources: Sequence[SourceText]) -> bool:
    wanted = sorted(set(search_words(part)))
    if any(_is_clause_copied(part, source) for source in sources):
        return False
    if (
        len(wanted) < _MIN_CLAUSE_WORDS[detect_language(part)]
        or detect_negation(tokenize(part)) is not False
    ):
        return False
    close = [one for source in sources for one in _close(wanted, source)]
    return any(_only_denied(word, close) for word in wanted)


def _is_clause_copied(part: str, source: SourceText) -> bool:
    """Tell whether a source has a clause word for word where it denies nothing."""
    if not is_copied(part, source.text):
        return False
    bare = part.strip(" \n-*>|.。!?！？")
    return any(bare in one and not any(_denials(one)) for one in source.sentences)


def _only_denied(word: str, close: Sequence[str]) -> bool:
    """Tell whether all of some clauses that have a word deny it."""
    having = [one for one in close if word in search_words(one)]
    return bool(having) and all(word in set(_denials(one)) for one in having)


def _close(wanted: Collection[str], source: SourceText) -> Iterator[str]:
    """Yield the clauses of a source that have most of some words, and no condition beside."""
    least = max(_MIN_SHARED_WORDS, _MIN_PASSAGE_SHARE * len(wanted))
    found = Counter(at for word in wanted for at in source.positions.get(word, ()))
    for passage in (source.sentences[at] for at, count in found.items() if count > least):
        if not _TURN.search(passage):
            clauses = CLAUSE_SPLIT.split(passage)
            yield from (
                one
                for one in clauses
                if len(set(search_words(one)) & set(wanted)) >= _MIN_SHARED_WORDS
            )


def _denials(text: str) -> Iterator[str]:
    """Yield the words of a text that it denies, as `text.words` cuts them."""
    said = [one.lower() for one in tokenize(text)]
    for at, one in enumerate(said):
        after = said[at + 1 : at + 1 + _NEGATED_WORDS]
        if one in _NOT and not set(_NOT_ALL) & set(after[:1]):
            told = (word for word in after if word not in _BETWEEN and not word.endswith("ly"))
            yield from search_words(next(told, ""))
    yield from _ZH_DENIED.findall(text)


_MIN_STATEMENT_WORDS = 6
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
_SURETY_NEGATION = regex(r"\b(?:not|no|never|cannot)\b|n['’]t\b|[不没沒未无無]", re.IGNORECASE)


def find_overstatement(said: str, sources: Sequence[SourceText], *, alike: bool = True) -> str:
    """Return in what a statement goes beyond the passages that are most like it, or nothing.

    Args:
        said: The statement, without marks and quotations.
        sources: The sources that it cites.
        alike: Whether they are in its language, so that their words can be compared.
    """
    near = [
        one
        for text in sources
        for one in (list_nearest_sentences(said, text) if alike else text.sentences)
    ]
    close = filter_by_other_names(said, near) or [
        one for text in sources for one in list_closest_sentences(said, text)
    ]
    if (alike and _is_too_strong(said, close, near)) or _is_surety_denied(said, near):
        return "strength"
    return "other_number" if has_other_duration(said, [text.text for text in sources]) else ""


def _is_too_strong(said: str, close: Sequence[str], near: Sequence[str]) -> bool:
    """Tell whether a statement says "always", "never" or "guaranteed" and no passage does.

    Args:
        said: The statement, without marks and quotations.
        close: What of its sources is most like it.
        near: That, and what stands around it.
    """
    if not near or len(set(search_words(said))) < _MIN_STATEMENT_WORDS:
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
    told = set(search_words(said[found.end() :])) if found else set()
    return any(_NEVER_THERE.search(one) and told & set(search_words(one)) for one in near)


def _is_surety_denied(said: str, passages: Sequence[str]) -> bool:
    """Tell whether a statement is sure of what a passage calls impossible, or not sure."""
    if not _affirmed(_SURE, said):
        return False
    return any(_DENIES_SURETY.search(one) for one in passages)


def _affirmed(pattern: re.Pattern[str], said: str) -> bool:
    """Tell whether a statement says such a word and does not deny it: "does not guarantee"."""
    found = pattern.search(said)
    return found is not None and not _SURETY_NEGATION.search(
        said, max(0, found.start() - 24), found.start()
    )
