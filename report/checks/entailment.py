"""Tell whether sources support a statement that is worded in another way than they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from report.checks.caveats import is_absence_remark, is_labelled_computed, is_own_inference
from report.checks.claims import has_attribution, is_assertion, strip_transition
from report.checks.contrast import SourceText, per_source
from report.checks.number_placement import (
    NAME_FACTOR,
    has_misplaced_number,
    has_other_bracketed_number,
    has_other_count,
    is_near_copy,
)
from report.checks.numbers import FILE_NAME, normalize_numerals
from report.checks.overlap import CLAUSE_SPLIT
from report.checks.roles import has_other_chinese_role, has_other_role
from report.checks.substitutions import has_swapped_name, has_swapped_number, has_swapped_words
from report.checks.synonyms import (
    find_word_sentences,
    has_opposite_size,
    has_word_form,
    has_word_or_synonym,
    list_opposites,
    source_has_word,
)
from report.markdown.markers import has_quotation
from text.dates import MONTH_NAMES
from text.regex import regex
from text.script import HAN, detect_language
from text.words import FRAME_WORDS, LEAST_WEIGHT, search_words, word_weight

TOPICAL = 0.5
"""From which weight on a word says something of its own."""

MISSING = {"en": 0.6, "zh": 0.8}
"""A clause is not borne out where more of its words are in no source."""

FEWEST = {"en": 2, "zh": 5}
"""So many words of it at least."""

RARE = 0.8
"""From which weight on two words are enough, where they are all that a clause says."""

STRANGE = {"en": 3, "zh": 5}
"""So many words at least of a clause that is not borne out are in no source."""

MOST = 0.8
"""The least part of a statement without a source that one has, where it is its own."""

LEAST_SAID = 3
"""So many words at least has a statement that is known by them in whatever form."""

NEAR_SHARE = 0.4
"""A statement is near a source with so much of it together, which may say it in other words."""

LEAST_DENIED = 2
"""So many words at least has what is denied."""

ALIKE = {"en": 0.6, "zh": 0.5}
"""A passage says what a statement says, or the opposite, if it has so many of its words."""


_NOT = regex(
    r"\b(?:not|never|none|no|neither|nor|nobody|nothing|cannot|without|no\s+longer"
    r"|(?:refus|fail|declin)(?:e[sd]?|s|ed)\s+to|(?:left|ruled)\s+out|turned\s+down|called\s+off)\b"
    r"|n['’]t\b"
    r"|不(?![仅僅但只过過同少久断斷论論管足满滿到如])|没有?|沒有?|未(?![来來婚])|并非|並非|从无|無|无(?![论論数數锡錫线線])"
)
_LIKE_NOT = regex(
    r"\b(?:un(?!der|til|i[ofqtv])\w{4,}|in(?:able|valid|complete|active)\w*"
    r"|dis(?!tri|cov|cus|pla|tan|tin|cip|ease|course)\w{4,}|\w+less|fail\w*|lack\w*|refus\w*|except"
    r"|only|(?<!\ba )(?:few|little)|rarely|seldom|hardly|forb\w+|prohibit\w*|avoid\w*"
    r"|den(?:y|ies|ied)|stop\w*|instead|reject\w*|declin\w*|absent|missing|alone|until|before"
    r"|neither|nor|no|not|never|none|without|cannot|nothing|nobody)\b|n['’]t\b"
    r"|[不没沒未无無别勿拒缺禁免]|非(?!常|物质)",
    re.IGNORECASE,
)
_TITLED_NO = regex(r"(?<=\w )(?:No|Not|Never|Nothing|Nobody|Without)\b")
_OTHER_TIME = regex(
    r"\b(?:other|others|else|another|longer|originally|initially|yet|any\s*more)\b", re.IGNORECASE
)
"""What is denied of another thing or time than the one that a passage speaks of."""
_TURN = regex(
    r"\b(?:but|although|though|while|whereas|if|unless|until|except|only|rather|instead|than)\b"
    r"|但|不过|虽然|雖然|除了|而是|如果|(?:并非|不是)(?:所有|全部|都|一定)|不都|不一定|未必"
)
_DOTTED = regex(rf"([{HAN}]{{2}})[·•・‧](?:[{HAN}]+[·•・‧])*([{HAN}]{{2}})")
HANS = regex(f"[{HAN}]")
_SHORT_FORM = regex(
    rf"\b(?:(?-i:[A-Z]{{2,}}s?)|(?:(?-i:[A-Z])\.){{2,}}|e\.g\.|(?:{'|'.join(MONTH_NAMES)})\b\.?)",
    re.IGNORECASE,
)
_ABOUT = regex(
    r"\b(?:part|step|chapter|section|table|figure|page|item|point|no\.)\s+\d+\b|(?:\b(?:about|around|roughly|approximately|nearly|almost|some|circa|ca\.|over|than)|[≈~～]|大?[约約]|[将將]?近|[超逾])"
    r"[有为為]?\s*\d[\d,.]*\s*[万萬亿億千百]?",
    re.IGNORECASE,
)
_FRAMING = frozenset(
    search_words(
        "according account article page text author source writes note reads number two apart"
        " follow describes tells says report example instance moreover however finally also see"
        " called said though although however roughly almost nearly about approximately late later"
        " early enough already only just still well quite rather very twice both such whole"
        " one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty"
        " century decade year month week day hour minute th st nd rd"
    )
)
_CODE = regex(r"(?<!\S)\S*(?<=[A-Za-z0-9])[_=/.\\](?=[A-Za-z0-9])\S*|(?<!\w)--?\w\S*")
_IF = regex(r"\b(?:if|unless|when|whether)\b|如果|若|除非", re.IGNORECASE)
_BOLD = regex(r"\*\*|__|^[|\s]+|[|\s:：]+$")
_ZH_TELLS = regex("[了着]|可以|必[须須]|[被把给給]|由(?!来|於|于)")
_WHY = regex(
    r"^\W*(?:(?:so|but|and)\s+)?(?:why|how\s+(?:did|does|do|was|were|has|could)|did\s+you\s+know(?:\s+that)?)\b"
    r"|^为什么|^為什麼|^为何|^為何",
    re.IGNORECASE,
)
_NO_NAME = regex(
    rf"(?:(?-i:[A-Z]{{2,}}s?)|{'|'.join(MONTH_NAMES)}|first|second|third|fourth|fifth|world|war|part|chapter"
    r"|section|figure|table|step|note|century|middle|ages|north|south|east|west|internet|web|god|sir|lord|lady|mrs?|dr|saint|monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday|not|yes|sources?|page|the|this|that|if"
    r"|when|where|what|how|why|who|there|here|then|thus|however|i|we|you)",
    re.IGNORECASE,
)
_PRONOUN = regex(
    r"\W*(?:he|she|it|they|his|her|its|their|this|these|that|those)\b|[他她它该該其此]",
    re.IGNORECASE,
)


def find_unsupported_reason(
    said: str, sources: Sequence[SourceText], about: str, *, computes: bool = False
) -> str:
    """Return why sources do not bear out what is said, or nothing.

    It is `name` or `other_number` where one of a source stands with what it is not said of there,
    `negation` where the opposite is said, `strange` where a clause is in no source.

    Args:
        said: The statement, without marks and quotations.
        sources: The sources that it cites, in its language.
        about: What may be named although no source names it: the question, and their titles.
        computes: Whether a number of it was computed from others, which may be from anywhere.
    """
    if is_own_inference(said):
        return ""
    whole, *parts = _clauses(said)
    titled = frozenset(search_words(about))
    claims = [
        one for one in (whole, *parts) if not (is_absence_remark(one) or is_own_inference(one))
    ]
    told = [one for one in claims if not is_near_copy(one, sources)]
    if parts and not set(told) - {whole}:
        told = []
    if not computes and _has_other_number(claims, parts, sources, about):
        return "other_number"
    if any(_denies(one, sources, titled) for one in claims if not parts or one != whole):
        return "negation"
    if any(_opposes(one, sources) for one in claims):
        return "negation"
    if _has_other_name(said, claims, sources, about):
        return "name"
    parted = told if len(sources) == 1 else [one for one in told if one == whole]
    missing = (one for one in parted if _is_missing(one, sources, titled))
    return "strange" if any(not has_attribution(one) for one in missing) else ""


def _has_other_number(
    claims: Sequence[str], parts: Sequence[str], sources: Sequence[SourceText], about: str
) -> bool:
    """Tell whether a clause has a number that its sources have for something else."""
    exact = [_ABOUT.sub(" ", one) for one in claims]
    titled = frozenset(search_words(about))
    bound = exact[1:] if parts and _bind(parts) else exact
    return (
        any(has_misplaced_number(one, sources, _weighted(one, titled), about) for one in bound)
        or any(has_other_count(one, sources) or has_swapped_number(one, sources) for one in exact)
        or any(has_swapped_number(one, sources, absent=False) for one in claims)
        or bool(claims and has_other_bracketed_number(claims[0], sources))
    )


def _has_other_name(
    said: str, claims: Sequence[str], sources: Sequence[SourceText], about: str
) -> bool:
    """Tell whether a name of a statement is in no source, or stands there in another role."""
    if has_unknown_name(said, sources, about):
        return True
    if has_quotation(said):
        return False
    titled = frozenset(search_words(about))
    parts = [one for one in claims if one == claims[0] or not is_near_copy(one, sources)]
    return (
        has_other_role(said, sources)
        or any(has_swapped_name(one, sources) for one in claims[:1])
        or any(_has_misplaced_name(one, sources, titled) for one in parts)
        or any(has_swapped_words(one, sources) for one in claims)
        or has_other_chinese_role(said, sources)
    )


def has_misplaced_row_number(row: str, sources: Sequence[SourceText], about: str) -> bool:
    """Tell whether a row, with the heads of its cells, has a number that is of something else."""
    wanted = _weighted(row, frozenset(search_words(about)))
    return has_misplaced_number(row, sources, wanted, about) or has_other_bracketed_number(
        row, sources
    )


def check_framing_line(part: str, sources: Sequence[SourceText], about: str) -> str:
    """Return what is wrong in a line that names what follows, or leads on to it, or nothing.

    Such a line cites nothing, and is compared with all sources: its names, and its clauses where
    it makes a claim or asks why something is so.
    """
    bare = _BOLD.sub("", part).strip()
    titled = _is_titled(bare)
    if not titled and has_unknown_name(bare, sources, about):
        return "name"
    told = _WHY.sub("", bare)
    claims = told != bare or (not bare.endswith(("?", "？")) and _makes_claim(bare))
    if (
        not claims
        or titled
        or is_absence_remark(bare)
        or is_own_inference(bare)
        or is_labelled_computed(bare)
    ):
        return ""
    return "strange" if _is_missing(told, sources, frozenset(search_words(about))) else ""


def _makes_claim(said: str) -> bool:
    return is_assertion(said) or bool(_ZH_TELLS.search(said))


def _is_titled(said: str) -> bool:
    """Tell whether a line is spelt like a title, with a capital letter for every word."""
    return not HANS.search(said) and not re.search(r"(?<=\s)[a-z]{4,}", said)


def has_most_words(said: str, source: SourceText, least: float = MOST) -> bool:
    """Tell whether two neighbouring sentences have most of what is said, in whatever words."""
    wanted = (
        _wanted(said, frozenset()) if least >= MOST else list(dict.fromkeys(search_words(said)))
    )
    if len(wanted) < LEAST_SAID:
        return False
    found = [find_word_sentences(one, source) for one in wanted]
    pairs = Counter(chain.from_iterable({*at, *(one - 1 for one in at)} for at in found))
    return max(pairs.values(), default=0) >= least * len(wanted)


def _is_missing(part: str, sources: Sequence[SourceText], titled: frozenset[str]) -> bool:
    """Tell whether sources have few of the words of a clause, in whatever form."""
    tongue = detect_language(part)
    wanted = _wanted(part, titled)
    missing = [one for one in wanted if not any(source_has_word(one, source) for source in sources)]
    fewest = STRANGE[tongue] + (len(sources) > 1)
    if tongue == "en" and missing == wanted and all(word_weight(one) >= RARE for one in wanted):
        fewest -= STRANGE[tongue] - FEWEST[tongue]
    return len(missing) >= max(fewest, MISSING[tongue] * len(wanted))


def _denies(part: str, sources: Sequence[SourceText], titled: frozenset[str]) -> bool:
    """Tell whether a clause denies what the passages most like it affirm."""
    lower = _TITLED_NO.sub(" ", part).lower()
    if not _NOT.search(lower) or _TURN.search(part) or _OTHER_TIME.search(part):
        return False
    wanted = _wanted(_NOT.sub(" ", lower), frozenset())
    close = [one for source in sources for one in _alike(wanted, source)]
    if len(wanted) < FEWEST[detect_language(part)]:
        close = [one for one in close if all(has_word_or_synonym(word, one) for word in wanted)]
    own = set(wanted) - titled
    return (
        len(wanted) > 1
        and bool(close)
        and not any(_says_no(one, own) or _IF.search(one) for one in close)
    )


def _opposes(part: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a clause has the opposite of a word of the passages most like it."""
    if has_opposite_size(part, sources):
        return True
    if _LIKE_NOT.search(part):
        return False
    for one, other in list_opposites(part):
        wanted = [word for word in _wanted(part, frozenset()) if word not in search_words(one)]
        alike = [said for source in sources for said in _alike(wanted, source)]
        close = [
            part
            for said in alike
            for part in (_nearest_clauses(wanted, said) if has_word_form(one, said) else [said])
        ]
        contrary = any(has_word_form(other, said) and not _NOT.search(said) for said in close)
        if contrary and not any(has_word_form(one, said) for said in close):
            return True
    return False


def has_unknown_name(said: str, sources: Sequence[SourceText], about: str) -> bool:
    """Tell whether a statement has a name that no source has in any form.

    In Chinese that is a foreign name with a dot in it.
    """
    if detect_language(said) != "en":
        dotted = _DOTTED.findall(said)
        known = [about, *(source.text for source in sources)]
        return any(not any(part in text for part in name for text in known) for name in dotted)
    stems = ((name, search_words(name)) for name in _names(said) if not _NO_NAME.fullmatch(name))
    strange = ((name, stem[0]) for name, stem in stems if stem and not _names_it(name, stem, about))
    return any(
        not any(
            source_has_word(stem, one) or name.lower() in one.memoize(_lower) for one in sources
        )
        for name, stem in strange
    )


def _names_it(name: str, stem: Sequence[str], about: str) -> bool:
    return has_word_or_synonym(stem[0], about) or name.lower() in about.lower()


@per_source
def _lower(source: SourceText) -> str:
    return source.text.lower()


def _has_misplaced_name(part: str, sources: Sequence[SourceText], titled: frozenset[str]) -> bool:
    """Tell whether a passage says of another name all that a clause says of one."""
    if detect_language(part) != "en":
        return False
    runs = [one for one in _runs_of_names(part) if not set(search_words(one)) & titled]
    return any(_is_misplaced_name(run, part, sources) for run in runs)


def _is_misplaced_name(run: str, part: str, sources: Sequence[SourceText]) -> bool:
    wanted = [one for one in _wanted(part, frozenset()) if one not in search_words(run)]
    if len(wanted) <= FEWEST["en"]:
        return False
    having = [one for source in sources for one in _having_all(wanted, source)]
    if not having or any(name in one for one in having for name in run.split()):
        return False
    return all(_names(one) - _names(part) and not _PRONOUN.match(one) for one in having)


def _having_all(wanted: Sequence[str], source: SourceText) -> list[str]:
    """Return the sentences of a source that have all of some words, each once."""
    first, *rest = (find_word_sentences(one, source) for one in wanted)
    return [*dict.fromkeys(source.sentences[at] for at in sorted(first.intersection(*rest)))]


def _runs_of_names(part: str) -> list[str]:
    """Return the names of a clause, each with all of its words."""
    known = _names(part)
    found = re.findall(r"[A-Z][\w-]+(?:\s+[A-Z][\w-]+)*", part)
    return [one for one in found if set(one.split()) & known and not _NO_NAME.match(one)]


def _clauses(said: str) -> list[str]:
    bare = FILE_NAME.sub(" ", strip_transition(said))
    return list(dict.fromkeys([bare, *(one for one in CLAUSE_SPLIT.split(bare) if one.strip())]))


def _bind(parts: Sequence[str]) -> bool:
    """Tell whether each clause with a number says by itself of what it is."""
    counting = [one for one in parts if re.search(r"\d", normalize_numerals(one))]
    return all(len(_wanted(one, frozenset())) >= FEWEST[detect_language(one)] for one in counting)


def _wanted(part: str, titled: frozenset[str]) -> list[str]:
    """Return the words of a clause that say something of their own."""
    if detect_language(part) == "zh":
        found = dict.fromkeys(search_words(part))
        return [one for one in found if word_weight(one) > LEAST_WEIGHT and one not in titled]
    spelt = search_words(_CODE.sub(" ", _SHORT_FORM.sub(" ", part)))
    found = dict.fromkeys(one for one in spelt if one.isalpha() and len(one) > 1)
    return [
        one
        for one in found
        if one not in titled | FRAME_WORDS | _FRAMING and word_weight(one) >= TOPICAL
    ]


def _weighted(part: str, titled: frozenset[str]) -> dict[str, int]:
    names = set(search_words(" ".join(_names(part))))
    return {one: NAME_FACTOR if one in names else 1 for one in _wanted(part, titled)}


def _alike(wanted: Sequence[str], source: SourceText) -> list[str]:
    """Return the sentences of a source that have most of some words, each once."""
    tongue = "zh" if any(HANS.search(one) for one in wanted) else "en"
    least = ALIKE[tongue] * len(wanted)
    shares = Counter(at for word in wanted for at in find_word_sentences(word, source))
    best = max(shares.values(), default=0)
    found = sorted(at for at, share in shares.items() if share == best >= least)
    return [*dict.fromkeys(source.sentences[at] for at in found)]


def _nearest_clauses(wanted: Sequence[str], sentence: str) -> list[str]:
    """Return the clauses of a sentence that have most of some words."""
    shares = [
        (sum(has_word_or_synonym(word, one) for word in wanted), one)
        for one in CLAUSE_SPLIT.split(sentence)
    ]
    best = max(share for share, _ in shares)
    return [one for share, one in shares if share == best]


def _says_no(sentence: str, wanted: set[str]) -> bool:
    """Tell whether a clause of a sentence that has one of some words says no in any way."""
    clauses = CLAUSE_SPLIT.split(sentence)
    near = [one for one in clauses if any(has_word_or_synonym(word, one) for word in wanted)] or [
        sentence
    ]
    return any(_LIKE_NOT.search(one) for one in near)


def _names(text: str) -> set[str]:
    """Return the words with a capital letter that do not begin a text."""
    first, _, rest = text.strip().partition(" ")
    found = set(re.findall(r"(?<![\w'’])[A-Z][\w-]{2,}", rest))
    begins = re.match(r"[A-Z][\w-]{2,}", first)
    if (
        begins
        and word_weight((search_words(begins[0]) or [""])[0]) >= 0.9
        and re.match(r"[A-Z]", rest)
    ):
        found.add(begins[0])
    return found
