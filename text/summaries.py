"""Summarize a text: an abstract of its own sentences (SumBasic), and a short title."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from text.boilerplate import is_boilerplate
from text.keyword_ranking import iterate_diverse
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import detect_language
from text.sentences import is_heading, split_sentences
from text.topics import key_phrase, strip_request_phrases
from text.words import LEAST_WEIGHT, query_terms, search_words, word_weight

_PATTERNS = PatternFile("text", "summaries.toml")

_COMMENTED = regex(r"^\s*(?:#(?!include|define|if|else|end|pragma)|//|--\s|/?\*|;;|%|\"\"\"|''')")
_DOCSTRING = regex(
    r"(?:\"\"\"|''')(?P<python>.*?)(?:\"\"\"|''')|/\*+(?P<c>.*?)\*/"
    r"|(?P<lines>(?:^[ \t]*(?:#(?!!|include|define|if|else|end|pragma)|//+!?|--(?=\s)|;;+|%+)"
    r"[^\n]*\n?)+)",
    re.DOTALL | re.MULTILINE,
)
_APART = "\0"

CODE_SHARE = 0.4
"""The share of its lines, comments aside, that are certainly code in source code."""

SHOWN_CODE_NAMES = 12
"""How many names describe code that has no comments."""


def is_source_code(text: str) -> bool:
    """Tell whether a text is source code."""
    lines = [line for line in text.splitlines() if line.strip() and not _COMMENTED.match(line)]
    coded = sum(bool(_PATTERNS.coded.search(line)) for line in lines)
    return len(lines) >= 3 and coded >= CODE_SHARE * len(lines)


def describe_source_code(text: str) -> str:
    """Return the comments of source code, or else the names that it defines."""
    matches = _DOCSTRING.finditer(_disable_unclosed_comments(text))
    comments = [_clean_comment(match[match.lastgroup or 0]) for match in matches]
    names = dict.fromkeys(match["name"] for match in _PATTERNS.named.finditer(text))
    return "\n\n".join(filter(None, comments)) or ", ".join([*names][:SHOWN_CODE_NAMES])


def _disable_unclosed_comments(text: str) -> str:
    """Return a text without comments that do not end; each would be searched to the end."""
    head, end, rest = text.rpartition("*/")
    return head + end + rest.replace("/*", f"/{_APART}*")


def _clean_comment(comment: str) -> str:
    """Return the sentences of a comment, without signs, rules and boilerplate."""
    paragraphs = re.split(r"\n\s*\n", _PATTERNS.sign.sub("", comment.replace(_APART, "")))
    lines = (" ".join(one.split()) for one in paragraphs)
    worded = (one for one in lines if len(re.findall(r"[^\W\d_]+", one)) > 2)
    return "\n\n".join(one for one in worded if not is_boilerplate(one))


LONGEST_ABSTRACT = {"en": 300, "zh": 150}
"""The longest abstract, in characters."""

LOOKED_AT = 12_000
"""How many characters of a text are read."""

REFRAIN = 0.2
"""A word in a larger share of the sentences does not distinguish them,"""

FEW = 8
"""unless it is only in this many of them."""

MOST = 20
"""How many of the best sentences are considered."""

FIRST = 0.5
"""The bonus of the first sentence; that of the second is half of it, and so on."""


def extract_abstract(text: str, beside: Sequence[str] = ()) -> str:
    """Return the sentences with the words that matter most in a text, in its order.

    What a text `beside` it has too, such as the header of every page of a document, is left out
    where there is anything else.

    A sentence scores by the frequency of its words in the text, as in SumBasic (Nenkova and
    Vanderwende 2005), less for words found in any text, more near the beginning; the choice is
    spread by maximal marginal relevance.
    """
    text = text[:LOOKED_AT].strip()
    text = (describe_source_code(text) if is_source_code(text) else "") or text
    text = _own(text, beside) if beside else text
    most = LONGEST_ABSTRACT[detect_language(text)]
    short = [span.text for span in split_sentences(text) if span.end - span.start <= most]
    prose = [one for one in short if not is_heading(one)]
    sentences = [one for one in prose if not is_boilerplate(one)] or prose
    bags = _without_refrain([query_terms(one) for one in sentences])
    counts = Counter(word for bag in bags for word in bag)
    worth = {word: word_weight(word) * math.log1p(times) for word, times in counts.items()}
    scores = [(at, _sentence_worth(bag, at, worth)) for at, bag in enumerate(bags) if bag]
    best = sorted(scores, key=lambda one: -one[1])[:MOST]
    chosen = _fitting(best, sentences, most)
    return " ".join(sentences[at] for at in sorted(chosen)) or text[:most]


def _own(text: str, beside: Sequence[str]) -> str:
    """Return the lines and sentences of a text that its neighbours lack, or else all of it."""
    others = [" ".join(one[:LOOKED_AT].split()) for one in beside]
    lines = {_folded(line) for one in beside for line in one[:LOOKED_AT].split("\n")} - {""}
    own = "\n".join(line for line in text.split("\n") if _folded(line) not in lines)
    for span in reversed(split_sentences(own)):
        if any(" ".join(span.text.split()) in one for one in others):
            own = own[: span.start] + own[span.end :]
    rest = own.strip()
    return rest if any(not is_heading(span.text) for span in split_sentences(rest)) else text


def _folded(line: str) -> str:
    """Return a line for comparison; the headers of two pages may differ in a number."""
    return _PATTERNS.digits.sub("0", " ".join(line.split()).casefold())


def _fitting(best: Sequence[tuple[int, float]], sentences: Sequence[str], most: int) -> list[int]:
    """Return the places of good sentences that differ from each other and fit together."""
    shortest = min((len(sentences[at]) for at, _ in best), default=0)
    chosen: list[int] = []
    room = most
    for at, _ in iterate_diverse(best, sentences):
        if len(sentences[at]) <= room:
            chosen.append(at)
            room -= len(sentences[at]) + 1
            if room < shortest:
                break
    return chosen


def _without_refrain(bags: list[list[str]]) -> list[list[str]]:
    """Return bags without words of many sentences, such as the speakers of a dialogue."""
    counts = Counter(word for bag in bags for word in bag)
    most = max(REFRAIN * len(bags), FEW)
    return [[word for word in bag if counts[word] <= most] for bag in bags]


def _sentence_worth(bag: list[str], at: int, worth: Mapping[str, float]) -> float:
    return sum(worth[word] for word in bag) / math.sqrt(len(bag) + 2) * (1 + FIRST / (1 + at))


LONGEST_TITLE = 80
"""The longest title, in characters; half of that in Chinese."""

_TRIED = 8
"""How many sentences of a long text are tried as a title."""

LATER, POOR = 0.15, 0.5
"""The penalty of a title for each sentence before its own, and for each flaw."""


_FRAMES = {"en": "On “{}”", "zh": "关于“{}”"}


def make_title(text: str, most: int = LONGEST_TITLE) -> str:
    """Return `text` as a short title: what is asked, capitalized, and cut at a good end.

    A long text is titled by the sentence that covers most of its topic.
    """
    first, _, rest = text.strip().partition("\n")
    most = most // 2 if detect_language(text) == "zh" else most
    ends_in_word = first.rstrip(" )）”’\"'")[-1:].isalnum()
    alone = rest.strip() and len(first) <= most * 5 // 4 and ends_in_word
    line = _asked(" ".join((first if alone else text).split()))
    if len(line) > most:
        line = _best(line, most)
    return line[:1].upper() + line[1:]


def localize_title(title: str, tongue: Literal["zh", "en"]) -> str:
    """Return a title for a text in `tongue`, quoted if it is in another language."""
    if detect_language(title) == tongue:
        return title
    about = key_phrase(title) or title
    about = about.replace(" ", "") if detect_language(title) == "zh" else about
    return _FRAMES[tongue].format(about)


def _best(text: str, most: int) -> str:
    """Return the best title of a long text among its first sentences, each cut at a good end."""
    sentences = [span.text for span in split_sentences(text)][:_TRIED]
    about = Counter(word for word in search_words(text) if word_weight(word) > LEAST_WEIGHT)
    titles = [_short(_without_task_words(one, most), most) for one in sentences]
    worth = [_title_worth(one, about) - LATER * at for at, one in enumerate(titles)]
    return titles[worth.index(max(worth))]


def _title_worth(title: str, about: Counter[str]) -> float:
    """Return how much of a text a title covers, in 0..1, less where it cannot stand alone."""
    most = sum(count for _, count in about.most_common(10)) or 1
    coverage = min(1.0, sum(about[word] for word in set(search_words(title))) / most)
    flaws = title.endswith("…"), _PATTERNS.points.search(title), not _PATTERNS.asks.search(title)
    return coverage - POOR * sum(map(bool, flaws))


def _asked(line: str) -> str:
    return _PATTERNS.order.sub("", strip_request_phrases(line)).strip(" ,，、;；")


def _without_task_words(line: str, most: int) -> str:
    """Return a line without words for the task and asides, if it is too long with them."""
    line = _asked(line)
    for unneeded in (_PATTERNS.work, _PATTERNS.aside, _PATTERNS.work):
        line = unneeded.sub("", line) if len(line) > most else line
    return line


def _short(sentence: str, most: int) -> str:
    """Return a sentence up to the last clause that fits, or a phrase, or else the last word."""
    sentence = sentence.rstrip(" .。")
    if len(sentence) <= most * 5 // 4:
        return sentence
    for end, least in ((_PATTERNS.clause_end, most // 3), (_PATTERNS.phrase_end, most // 2)):
        ends = [found.start() for found in end.finditer(sentence) if found.start() <= most]
        if ends and ends[-1] >= least:
            return _PATTERNS.dangling.sub("", _PATTERNS.participle.sub("", sentence[: ends[-1]]))
    cut = sentence[: most - 1]
    cut = cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut
    return f"{_PATTERNS.dangling.sub('', cut)}…"
