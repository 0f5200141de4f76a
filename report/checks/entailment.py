"""Tell whether sources support a statement that is worded in another way than they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain

from report.checks.caveats import is_absence_remark, is_labelled_computed, is_own_inference
from report.checks.claims import has_attribution, is_assertion, strip_transition
from report.checks.number_placement import (
    NAME_FACTOR,
    has_misplaced_number,
    has_other_bracketed_number,
    has_other_count,
    is_near_copy,
)
from report.checks.numbers import normalize_numerals, strip_file_names
from report.checks.overlap import CLAUSE_SPLIT
from report.checks.roles import has_other_chinese_role, has_other_role
from report.checks.source_text import SourceText, per_source
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
from text.pattern_files import PatternFile
from text.script import detect_language
from text.words import FRAME_WORDS, LEAST_WEIGHT, search_words, word_weight

_PATTERNS = PatternFile("report.checks", "entailment.toml", months="|".join(MONTH_NAMES))

NEAR_SHARE = 0.4
"""The share of a statement that a source has together where it may say it in other words."""

_MIN_TOPIC_WEIGHT = 0.5  # of a word that says something of its own
_MIN_NAME_WEIGHT = 0.9  # of a name that begins a sentence
_MIN_RARE_WEIGHT = 0.8  # two such words suffice where a clause has no others
_MIN_MISSING_SHARE = {"en": 0.6, "zh": 0.8}  # of the words of a clause that is not supported
_MIN_MISSING_WORDS = {"en": 3, "zh": 5}
_MIN_CLAUSE_WORDS = {"en": 2, "zh": 5}
_MIN_OWN_SHARE = 0.8  # of a statement without a source that one source has
_MIN_OWN_WORDS = 3
_MIN_PASSAGE_SHARE = {"en": 0.6, "zh": 0.5}  # of a clause that a passage says, or denies


def find_unsupported_reason(
    statement: str, sources: Sequence[SourceText], about: str, *, computes: bool = False
) -> str:
    """Return why sources do not support a statement, or nothing.

    It is `name` or `other_number` where they have one of those for something else, `negation`
    where they say the opposite, and `strange` where no source has a clause.

    Args:
        statement: The statement, without marks and quotations.
        sources: The sources that it cites, in its language.
        about: What may be named although no source names it: the question, and their titles.
        computes: Whether a number of it was computed from others, which may be from anywhere.
    """
    if is_own_inference(statement):
        return ""
    whole, *parts = _split_clauses(statement)
    titled = frozenset(search_words(about))
    claims = [
        one for one in (whole, *parts) if not (is_absence_remark(one) or is_own_inference(one))
    ]
    if not computes and _has_other_number(claims, parts, sources, about):
        return "other_number"
    denials = [one for one in claims if not parts or one != whole]
    if any(_is_denial(one, sources, titled) for one in denials) and not _is_also_denied(
        whole, sources
    ):
        return "negation"
    if any(_is_opposite(one, sources) for one in claims):
        return "negation"
    if _has_other_name(statement, claims, sources, about):
        return "name"
    reworded = [one for one in claims if not is_near_copy(one, sources)]
    if parts and reworded in ([], [whole]):
        return ""
    checked = [one for one in reworded if one == whole or len(sources) == 1]
    missing = (one for one in checked if _is_missing(one, sources, titled))
    return "strange" if any(not has_attribution(one) for one in missing) else ""


def _has_other_number(
    claims: Sequence[str], parts: Sequence[str], sources: Sequence[SourceText], about: str
) -> bool:
    """Tell whether a clause has a number that its sources have for something else."""
    exact = [_PATTERNS.about.sub(" ", one) for one in claims]
    counting = [one for one in parts if re.search(r"\d", normalize_numerals(one))]
    own = all(
        len(_list_topic_words(one)) >= _MIN_CLAUSE_WORDS[detect_language(one)] for one in counting
    )
    # A clause that says by itself what its number is of is compared without the others.
    placed = exact[1:] if parts and own else exact
    titled = frozenset(search_words(about))
    return (
        any(has_misplaced_number(one, sources, _weigh_words(one, titled), about) for one in placed)
        or any(has_other_count(one, sources, about) for one in exact)
        or any(has_swapped_number(one, sources) for one in exact)
        or any(has_swapped_number(one, sources, absent=False) for one in claims)
        or bool(claims and has_other_bracketed_number(claims[0], sources))
    )


def _has_other_name(
    statement: str, claims: Sequence[str], sources: Sequence[SourceText], about: str
) -> bool:
    """Tell whether no source has a name of a statement, or only in another role."""
    if has_unknown_name(statement, sources, about):
        return True
    if has_quotation(statement):
        return False
    titled = frozenset(search_words(about))
    parts = [one for one in claims if one == claims[0] or not is_near_copy(one, sources)]
    return (
        has_other_role(statement, sources)
        or any(has_swapped_name(one, sources) for one in claims[:1])
        or any(_has_misplaced_name(one, sources, titled) for one in parts)
        or any(has_swapped_words(one, sources) for one in claims)
        or has_other_chinese_role(statement, sources)
    )


def has_misplaced_row_number(
    row: str, sources: Sequence[SourceText], about: str, named: str = ""
) -> bool:
    """Tell whether a row, with the heads of its cells, has a number that is of something else.

    The numbers of what is `named` in it are not looked at.
    """
    weights = _weigh_words(row, frozenset(search_words(about)))
    misplaced = has_misplaced_number(row, sources, weights, f"{about}\n{named}")
    return misplaced or has_other_bracketed_number(row, sources)


def check_framing_line(part: str, sources: Sequence[SourceText], about: str) -> str:
    """Return what is wrong in a line that names what follows, or leads on to it, or nothing.

    Such a line cites nothing, and is compared with all sources: its names, and its clauses where
    it makes a claim or asks why something is so.
    """
    bare = _PATTERNS.bold.sub("", part).strip()
    # A title has a capital letter in every long word.
    titled = not _PATTERNS.hans.search(bare) and not re.search(r"(?<=\s)[a-z]{4,}", bare)
    if titled:
        return ""
    if has_unknown_name(bare, sources, about):
        return "name"
    asked = _PATTERNS.why.sub("", bare)
    question = asked == bare and bare.endswith(("?", "？"))
    claims = asked != bare or is_assertion(bare) or _PATTERNS.zh_tells.search(bare)
    own = is_absence_remark(bare) or is_own_inference(bare) or is_labelled_computed(bare)
    if question or not claims or own:
        return ""
    return "strange" if _is_missing(asked, sources, frozenset(search_words(about))) else ""


def has_most_words(statement: str, source: SourceText, least: float = _MIN_OWN_SHARE) -> bool:
    """Tell whether two neighbouring sentences have most of a statement, in whatever words."""
    strict = least >= _MIN_OWN_SHARE
    wanted = _list_topic_words(statement) if strict else [*dict.fromkeys(search_words(statement))]
    if len(wanted) < _MIN_OWN_WORDS:
        return False
    found = [find_word_sentences(word, source) for word in wanted]
    pairs = Counter(chain.from_iterable({*at, *(one - 1 for one in at)} for at in found))
    return max(pairs.values(), default=0) >= least * len(wanted)


@cache
def _framing_words() -> frozenset[str]:
    return frozenset(search_words(" ".join(_PATTERNS.get_words("framing"))))


def _is_missing(part: str, sources: Sequence[SourceText], titled: frozenset[str]) -> bool:
    """Tell whether sources have few of the words of a clause, in whatever form."""
    tongue = detect_language(part)
    wanted = _list_topic_words(part, titled)
    missing = [one for one in wanted if not any(source_has_word(one, source) for source in sources)]
    fewest = _MIN_MISSING_WORDS[tongue] + (len(sources) > 1)
    rare = all(word_weight(one) >= _MIN_RARE_WEIGHT for one in wanted)
    if tongue == "en" and missing == wanted and rare:
        fewest -= _MIN_MISSING_WORDS[tongue] - _MIN_CLAUSE_WORDS[tongue]
    return len(missing) >= max(fewest, _MIN_MISSING_SHARE[tongue] * len(wanted))


def _is_denial(part: str, sources: Sequence[SourceText], titled: frozenset[str]) -> bool:
    """Tell whether a clause denies what the passages most like it affirm."""
    lower = _PATTERNS.titled_no.sub(" ", part).lower()
    if not _PATTERNS.negation.search(lower) or _PATTERNS.any_found(part, "turn", "other_time"):
        return False
    wanted = _list_topic_words(_PATTERNS.negation.sub(" ", lower))
    close = [one for source in sources for one in _list_passages(wanted, source)]
    if len(wanted) < _MIN_CLAUSE_WORDS[detect_language(part)]:
        close = [one for one in close if all(has_word_or_synonym(word, one) for word in wanted)]
    own = set(wanted) - titled
    affirmed = not any(_says_no(one, own) or _PATTERNS.condition.search(one) for one in close)
    return len(wanted) > 1 and bool(close) and affirmed


def _is_also_denied(statement: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether the sentences most like a statement, or the next ones, deny one of its words.

    It is a word that the statement denies, or the sentence has most of its other words.
    """
    lower = statement.lower()
    denied = {
        word
        for one in _PATTERNS.denied_words.finditer(lower)
        for word in _list_topic_words(one[0]) or search_words(one[0])
    }
    wanted = _list_topic_words(_PATTERNS.negation.sub(" ", lower))
    for source in sources:
        shared = Counter(at for word in wanted for at in find_word_sentences(word, source))
        most = max(shared.values(), default=0)
        near = [at for at, share in shared.items() if share >= max(2, most - 1)]
        for at in near:
            for one in source.sentences[at : at + 2]:
                clauses = [part for part in CLAUSE_SPLIT.split(one) if _denies(part)]
                if any(has_word_or_synonym(word, part) for word in denied for part in clauses):
                    return True
            enough = shared[at] >= _MIN_PASSAGE_SHARE["en"] * len(wanted)
            own = not any(has_word_or_synonym(word, source.sentences[at]) for word in denied)
            if enough and own and _denies(source.sentences[at]):
                return True
    return False


def _denies(text: str) -> bool:
    return bool(_PATTERNS.negation.search(text.lower()))


def _is_opposite(part: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a clause has the opposite of a word of the passages most like it."""
    if has_opposite_size(part, sources):
        return True
    if _PATTERNS.like_not.search(part):
        return False
    for word, opposite in list_opposites(part):
        wanted = [one for one in _list_topic_words(part) if one not in search_words(word)]
        passages = [one for source in sources for one in _list_passages(wanted, source)]
        close = [
            clause
            for one in passages
            for clause in (_nearest_clauses(wanted, one) if has_word_form(word, one) else [one])
        ]
        contrary = any(
            has_word_form(opposite, one) and not _PATTERNS.negation.search(one) for one in close
        )
        if contrary and not any(has_word_form(word, one) for one in close):
            return True
    return False


def has_unknown_name(statement: str, sources: Sequence[SourceText], about: str) -> bool:
    """Tell whether a statement has a name that no source has in any form.

    In Chinese that is a foreign name with a dot in it.
    """
    if detect_language(statement) != "en":
        texts = [about, *(source.text for source in sources)]
        dotted = _PATTERNS.dotted.findall(statement)
        return any(not any(part in text for part in name for text in texts) for name in dotted)
    names = (name for name in _list_names(statement) if not _PATTERNS.no_name.fullmatch(name))
    stems = ((name.lower(), stem[0]) for name in names if (stem := search_words(name)))
    return any(
        not has_word_or_synonym(stem, about)
        and name not in about.lower()
        and not any(source_has_word(stem, one) or name in _to_lower(one) for one in sources)
        for name, stem in stems
    )


_to_lower = per_source(lambda source: source.text.lower())


def _has_misplaced_name(part: str, sources: Sequence[SourceText], titled: frozenset[str]) -> bool:
    """Tell whether a passage says of another name all that a clause says of one."""
    if detect_language(part) != "en":
        return False
    known = _list_names(part)
    runs = re.findall(r"[A-Z][\w-]+(?:\s+[A-Z][\w-]+)*", part)
    names = (one for one in runs if set(one.split()) & known and not _PATTERNS.no_name.match(one))
    return any(
        _is_misplaced_name(name, part, sources)
        for name in names
        if titled.isdisjoint(search_words(name))
    )


def _is_misplaced_name(name: str, part: str, sources: Sequence[SourceText]) -> bool:
    wanted = [one for one in _list_topic_words(part) if one not in search_words(name)]
    if len(wanted) <= _MIN_CLAUSE_WORDS["en"]:
        return False
    found = [one for source in sources for one in _list_complete(wanted, source)]
    if not found or any(word in one for one in found for word in name.split()):
        return False
    return all(
        _list_names(one) - _list_names(part) and not _PATTERNS.pronoun.match(one) for one in found
    )


def _list_complete(wanted: Sequence[str], source: SourceText) -> list[str]:
    """Return the sentences of a source that have all of some words, each once."""
    first, *rest = (find_word_sentences(word, source) for word in wanted)
    return [*dict.fromkeys(source.sentences[at] for at in sorted(first.intersection(*rest)))]


def _split_clauses(statement: str) -> list[str]:
    bare = strip_file_names(strip_transition(statement))
    return list(dict.fromkeys([bare, *filter(str.strip, CLAUSE_SPLIT.split(bare))]))


def _list_topic_words(part: str, titled: frozenset[str] = frozenset()) -> list[str]:
    """Return the words of a clause that say something of their own."""
    if detect_language(part) == "zh":
        words = dict.fromkeys(search_words(part))
        return [one for one in words if word_weight(one) > LEAST_WEIGHT and one not in titled]
    spelt = search_words(_PATTERNS.code.sub(" ", _PATTERNS.short_form.sub(" ", part)))
    words = dict.fromkeys(one for one in spelt if one.isalpha() and len(one) > 1)
    idle = titled | FRAME_WORDS | _framing_words()
    return [one for one in words if one not in idle and word_weight(one) >= _MIN_TOPIC_WEIGHT]


def _weigh_words(part: str, titled: frozenset[str]) -> dict[str, int]:
    names = set(search_words(" ".join(_list_names(part))))
    return {one: NAME_FACTOR if one in names else 1 for one in _list_topic_words(part, titled)}


def _list_passages(wanted: Sequence[str], source: SourceText) -> list[str]:
    """Return the sentences of a source that have most of some words, each once."""
    tongue = "zh" if any(_PATTERNS.hans.search(one) for one in wanted) else "en"
    shares = Counter(at for word in wanted for at in find_word_sentences(word, source))
    best = max(shares.values(), default=0)
    if best < _MIN_PASSAGE_SHARE[tongue] * len(wanted):
        return []
    places = sorted(at for at, share in shares.items() if share == best)
    return [*dict.fromkeys(source.sentences[at] for at in places)]


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
    near = [one for one in clauses if any(has_word_or_synonym(word, one) for word in wanted)]
    return any(_PATTERNS.like_not.search(one) or _denies(one) for one in near or [sentence])


def _list_names(text: str) -> set[str]:
    """Return the words with a capital letter that do not begin a text, or begin it with a name."""
    first, _, rest = text.strip().partition(" ")
    names = set(re.findall(r"(?<![\w'’])[A-Z][\w-]{2,}", rest))
    begins = re.match(r"[A-Z][\w-]{2,}", first)
    if begins and re.match(r"[A-Z][a-z]+[A-Z]", first):
        return {*names, begins[0]}
    stems = search_words(begins[0]) if begins and re.match(r"[A-Z](?![a-z]+[A-Z])", rest) else []
    rare = bool(stems) and word_weight(stems[0]) >= _MIN_NAME_WEIGHT
    return {*names, begins[0]} if begins and rare else names
