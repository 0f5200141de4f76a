"""Tell how many words, and which subject, a statement shares with its sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from report.checks.caveats import is_absence_remark, is_own_inference
from report.checks.claims import strip_transition
from report.checks.numbers import strip_file_names
from report.checks.source_text import MAX_PLACES, SourceText
from report.checks.synonyms import get_base_form
from report.checks.word_changes import tokenize
from report.markdown.markers import MARKER
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import HAN, detect_language
from text.words import GRAMMAR_CHARACTERS, STOPWORDS, search_words, word_weight

_PATTERNS = PatternFile("report.checks", "overlap.toml")

_WORD = regex(r"[A-Z][\w+#-]*(?:\.[A-Za-z]\w*)*", re.ASCII)
_MIN_NAME_WEIGHT = 0.95  # of a word in small letters that may be a name
_FIRST = regex(rf"(?:(?!{MARKER.pattern}).)*(?:{MARKER.pattern})*", re.DOTALL)


def _subject(statement: str) -> str:
    """Return the name that a statement begins with, as that of what it is about, or nothing."""
    bare = strip_transition(statement)
    found = _PATTERNS.subject.match(bare) or _PATTERNS.zh_subject.match(bare)
    names = _names(found["name"]) if found else []
    return names[0] if names and names[0].lower() not in STOPWORDS else ""


def cut_at_first_citation(statement: str) -> str:
    """Return a statement up to the end of its first citations."""
    found = _FIRST.match(statement)
    return found[0] if found else ""


def filter_by_other_names(statement: str, passages: Sequence[str]) -> list[str]:
    """Return the passages that name something of a statement besides its subject."""
    about = _subject(statement)
    named = [one for one in _names(statement) if one != about]
    return [one for one in passages if any(_has(name, [one]) for name in named)]


def has_other_subject(
    statement: str, passages: Sequence[str], titles: Sequence[str], others: Sequence[str]
) -> bool:
    """Tell whether a statement begins with the name of what only other sources are about.

    Args:
        statement: The statement, without marks.
        passages: What of its sources is most like it.
        titles: The titles of its sources.
        others: Those of the other sources.
    """
    name = _subject(statement) or _titled(statement, others)
    if name and _begins_only(name, statement, [*passages, *titles, *others]):
        return False
    if not name or _has(name, [*passages, *titles]) or not _has(name, others):
        return False
    return any(map(_words, titles)) and not _has_part(name, titles)


def _begins_only(name: str, statement: str, texts: Sequence[str]) -> bool:
    """Tell whether a word is no name, and has a capital letter since it begins a sentence."""
    if not name[1:].islower() or statement.count(name) > 1:
        return False
    small = re.compile(rf"(?<![\w.-]){name.lower()}(?![\w-])")
    inside = re.compile(rf"[\w,;]\s+{name}\b")
    return any(map(small.search, texts)) and not any(map(inside.search, texts))


def _titled(statement: str, titles: Sequence[str]) -> str:
    """Return the uncommon word of some titles that a statement begins with, or nothing."""
    bare = _PATTERNS.before.sub("", strip_transition(statement), count=1)
    latin = re.match(r"[a-z][a-z0-9_.+-]{3,}(?![\w'’])", bare, re.ASCII)
    if latin and latin[0] in {word for title in titles for word in _words(title)}:
        weight = min(map(word_weight, search_words(latin[0])), default=0.0)
        return latin[0] if weight >= _MIN_NAME_WEIGHT else ""
    lengths = range(min(8, len(bare)), 2, -1)
    runs = (bare[:length] for length in lengths if re.fullmatch(f"[{HAN}]+", bare[:length]))
    return next((run for run in runs if any(run in title for title in titles)), "")


def _words(title: str) -> list[str]:
    return re.findall(f"[a-z][a-z0-9_.+-]{{3,}}|{_WORD.pattern}|[{HAN}]{{3,}}", title, re.ASCII)


def _names(text: str) -> list[str]:
    return [
        one for one in _WORD.findall(text) if not _PATTERNS.no_name.fullmatch(one) and len(one) > 1
    ]


def _has(name: str, texts: Sequence[str]) -> bool:
    start = re.escape(name[: max(4, len(name) - 2)]) if name[0].isupper() else re.escape(name)
    return any(re.search(rf"(?<![A-Za-z]){start}", text, re.IGNORECASE) for text in texts)


def _has_part(name: str, titles: Sequence[str]) -> bool:
    """Tell whether a title has a word that the name is a form of, or that is a form of it."""
    first = name.split(".")[0].lower()
    found = (word.lower() for title in titles for word in re.findall(r"\w+", title))
    return any(len(one) > 2 and (first.startswith(one) or one.startswith(first)) for one in found)


MIN_UNRELATED_WORDS = {"en": 5, "zh": 8}
"""A shorter sentence is never called unrelated to its sources."""

_MAX_UNRELATED_SHARE = {"en": 0.25, "zh": 0.2}  # of its words that the sources have
_MIN_RARE_WORDS = {"en": 2, "zh": 0}  # that the sources lack, and one more of a whole sentence


CLAUSE_SPLIT = regex(
    r"(?:,(?!\d)|(?<!\d),|[;，；]|[：:](?!\d))\s*(?:(?:and|while|but|whereas|which|并且|而且|而|但)\s*)?|\s(?:and|while|but"
    r"|whereas)\s"
)
"""Where the clauses of a sentence are cut."""


def is_unrelated(
    statement: str, sources: Sequence[SourceText], about: str, *, whole: bool = False
) -> bool:
    """Tell whether sources have hardly a word of what is said, or of one of its clauses.

    A clause that says what was not found, or what is the writer's own, is let be; where only the
    `whole` counts, so are all of them.
    """
    tongue = detect_language(statement)
    bare = strip_file_names(strip_transition(statement))
    known = set(search_words(about))
    clauses = () if whole else CLAUSE_SPLIT.split(bare)
    compared = (one for one in clauses if not (is_absence_remark(one) or is_own_inference(one)))
    for part in (bare, *compared):
        words = {word for word in search_words(part) if not word[:1].isdigit()} - known
        missing = {word for word in words if not any(word in one.positions for one in sources)}
        rare = sum(word_weight(word) >= _MIN_NAME_WEIGHT for word in missing) - whole
        enough = len(words) >= MIN_UNRELATED_WORDS[tongue] and rare >= _MIN_RARE_WORDS[tongue]
        if enough and len(words) - len(missing) <= _MAX_UNRELATED_SHARE[tongue] * len(words):
            return True
    return False


def compute_share(words: set[str], places: Mapping[str, Sequence[int]]) -> float:
    """Return the share of some words that the best two neighbouring sentences have."""
    found = [places[word] for word in words if word in places]
    pairs = Counter(chain.from_iterable({*at, *(one - 1 for one in at)} for at in found))
    return max(pairs.values(), default=0) / max(len(words), 1)


_MAX_LEFT_OUT = {"en": 6, "zh": 2}  # words, or Chinese characters, in one place of a copy
_NEGATED_WORDS = 3  # after a negation

_CUT = regex(rf"{CLAUSE_SPLIT.pattern}|\s*\|\s*")
# Words without a topic that change what a sentence says.
_RELATION_WORDS = (
    "before after above below under over until against only more most less least all some any"
    " each both few"
)
_RELATIONS = frozenset(_RELATION_WORDS.split())
_ATTRIBUTING = frozenset(
    [*search_words("said says tells reads states according account"), "据说", "據說"]
)


class _Word(NamedTuple):
    """A word that counts: its stem, its place, and whether it is a name or a number."""

    stem: str
    at: int
    named: bool


def has_all_words(statement: str, source: SourceText, named: str) -> bool:
    """Tell whether two neighbouring sentences of a source have all words of a statement.

    They have those of each clause in the same order, negate nothing that the clause does not, and
    leave out no name or number beside one of the clause.

    Args:
        statement: The statement, without marks and quotations.
        source: The source.
        named: What the statement may name although the sentences do not: the title of the source.
    """
    gap = _MAX_LEFT_OUT[detect_language(statement)]
    known = _ATTRIBUTING.union(search_words(named))
    clauses = [_list_stems(one) for one in _CUT.split(strip_transition(statement)) if one]
    shared = source.count_words(dict.fromkeys(search_words(statement)))
    near = {start for at, _ in shared.most_common(MAX_PLACES) for start in (at - 1, at)}
    windows = (" ".join(source.sentences[at : at + 2]) for at in sorted(near) if at >= 0)
    return any(
        all(_has_clause(clause, window, known, gap) for clause in clauses)
        for window in map(_list_stems, windows)
    )


def _list_stems(text: str) -> list[_Word]:
    """Return the words of a text that say something, in order."""
    tokens = (
        (at, one, _stem(one)) for at, one in enumerate(tokenize(_PATTERNS.about.sub("", text)))
    )
    return [
        _Word(stem, at, bool(_PATTERNS.named.fullmatch(one))) for at, one, stem in tokens if stem
    ]


def _stem(word: str) -> str:
    lower = word.lower()
    if _PATTERNS.no.fullmatch(lower):
        return "NOT"
    if lower in _RELATIONS or lower in GRAMMAR_CHARACTERS:
        return lower if lower in _RELATIONS else ""
    return "" if lower in STOPWORDS else get_base_form((search_words(word) or [lower])[0])


def _has_clause(
    clause: Sequence[_Word], window: Sequence[_Word], known: frozenset[str], gap: int
) -> bool:
    """Tell whether a window of a source has the words of a clause in their order."""
    stems = {word.stem for word in window}
    wanted = [word for word in clause if word.stem in stems or word.stem not in known]
    starts = (at for at, word in enumerate(window) if wanted and word.stem == wanted[0].stem)
    return not wanted or any(_runs_from(at, wanted, window, gap) for at in starts)


def _runs_from(start: int, wanted: Sequence[_Word], window: Sequence[_Word], gap: int) -> bool:
    """Tell whether a window has some words in order from one place on, with little between."""
    at = start
    before = window[max(0, at - _NEGATED_WORDS) : at]
    near = (word for word in before if window[at].at - word.at <= _NEGATED_WORDS)
    if wanted[0].stem != "NOT" and any(word.stem == "NOT" for word in near):
        return False
    for word in wanted[1:]:
        following = range(at + 1, min(at + 2 + gap, len(window)))
        found = next((n for n in following if window[n].stem == word.stem), None)
        if found is None or not _may_leave_out(window[at : found + 1]):
            return False
        at = found
    return True


def _may_leave_out(run: Sequence[_Word]) -> bool:
    """Tell whether what is between the first and the last of some words may be left out."""
    beside_name = run[0].named or run[-1].named
    return not any(word.stem == "NOT" or (beside_name and word.named) for word in run[1:-1])
