"""Recognize small talk by the themes of its words, and answer it."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from text.pattern_files import PatternFile, read_packaged_text, read_packaged_toml
from text.question_parts import is_follow_up
from text.script import CJK, detect_language
from text.words import NON_TOPIC_WORDS

_PATTERNS = PatternFile("text", "smalltalk.toml")


def _latin_words(text: str) -> list[str]:
    """Return the lower-cased words of letters in a text, with joined contractions ("im")."""
    return re.findall(f"[^\\W\\d_{CJK}]+", text.lower().replace("'", "").replace("’", ""))


def _word_themes(word: str) -> frozenset[str]:
    """Return the themes of a word, even if it is drawn out like "hellooo"."""
    spellings = (word, *(re.sub(r"(.)\1{2,}", short, word) for short in (r"\1\1", r"\1")))
    if not NON_TOPIC_WORDS.isdisjoint(spellings):
        return frozenset(["stop"])
    vocabulary = _smalltalk_vocabulary()
    return next((vocabulary[one] for one in spellings if one in vocabulary), frozenset())


@cache
def _smalltalk_vocabulary() -> dict[str, frozenset[str]]:
    """Return the words of small talk, each with its themes; a Chinese theme is named `zh-`."""
    themes: dict[str, frozenset[str]] = {}
    for line in filter(None, read_packaged_text("text", "small_talk.txt").splitlines()):
        theme, _, words = line.partition(":")
        for word in words.split():
            themes[word] = themes.get(word, frozenset()) | {theme.removeprefix("zh-")}
    return themes


@cache
def _chinese_phrases() -> re.Pattern[str]:
    """Return a pattern for the Chinese phrases of small talk, the longest first."""
    phrases = [word for word in _smalltalk_vocabulary() if re.search(f"[{CJK}]", word)]
    return re.compile("|".join(sorted(map(re.escape, phrases), key=len, reverse=True)))


@cache
def _replies() -> dict[str, list[str]]:
    """Return the replies to each theme in English and in Chinese, and what Dossier does."""
    return read_packaged_toml("text", "smalltalk_replies.toml")


def reply_to_smalltalk(message: str, *, earlier: bool = False) -> str:
    """Return the answer to small talk, in its language, or "" if it is something to research.

    `earlier` says that there was a question before, so that "How much?" is a follow-up.
    """
    text = unicodedata.normalize("NFKC", message).strip()
    if (earlier and is_follow_up(text)) or not _is_small_talk(_PATTERNS.introduced.sub(" ", text)):
        return ""
    chinese = detect_language(text) == "zh"
    return _replies()[_theme(text)][chinese].format(do=_replies()["do"][chinese])


def _is_small_talk(text: str) -> bool:
    short = len(text.split()) <= 8 and len(text) <= (70 if detect_language(text) == "en" else 16)
    own = _PATTERNS.about_me.search(text) and not re.search("[?？]", text)
    if short and not _PATTERNS.wants.search(text) and (own or _PATTERNS.about_you.search(text)):
        return True
    return not _has_content(text) and not _is_topical(text)


def _has_content(text: str) -> bool:
    """Tell whether a text has a word that small talk does not have."""
    strange = [word for word in _latin_words(text) if not _word_themes(word)]
    left = re.sub(f"[^{CJK}]", "", _chinese_phrases().sub("", text))
    return bool(strange or left or _PATTERNS.sum.search(text))


def _is_topical(text: str) -> bool:
    """Tell whether a question is about words that also occur in small talk."""
    if _PATTERNS.topic_zh.search(text) or _PATTERNS.clock.search(text):
        return True
    words = {word for word in _latin_words(text) if word not in NON_TOPIC_WORDS}
    topics = {word for word in words if "topic" in _word_themes(word)}
    if topics and _PATTERNS.best.match(text):
        return True
    if not topics or _PATTERNS.idiom.search(text):
        return False
    to_person = _PATTERNS.persons.search(text) and not _PATTERNS.anybody.search(text)
    asked = _PATTERNS.asks.match(text) or _PATTERNS.anybody.search(text)
    return not to_person and bool(asked or (topics == words and len(topics) > 1))


def _theme(text: str) -> str:
    """Return the theme that an answer should address."""
    if _PATTERNS.any_found(text, "about_you", "who_you_are"):
        return "self"
    phrases = (_smalltalk_vocabulary()[phrase] for phrase in _chinese_phrases().findall(text))
    themes = frozenset[str]().union(*map(_word_themes, _latin_words(text)), *phrases)
    order = ("sorry", "goodbye", "thanks", "self", "greeting")
    return next((theme for theme in order if theme in themes), "plain")
