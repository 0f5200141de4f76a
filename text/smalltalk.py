"""Recognize small talk by the themes of its words, and answer it."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib import resources

from text.question_parts import is_follow_up
from text.regex import regex
from text.script import CJK, detect_language
from text.words import QUESTION_WORDS, STOPWORDS

_NO_TOPIC_WORDS = STOPWORDS | QUESTION_WORDS
"""Words that carry no topic at all."""


def _latin_words(text: str) -> list[str]:
    """Return the words of letters in a text, lower-cased, contractions in one ("im", "whats")."""
    return re.findall(f"[^\\W\\d_{CJK}]+", text.lower().replace("'", "").replace("’", ""))


def _word_themes(word: str) -> frozenset[str]:
    """Return the themes of a word, also of one drawn out like "hellooo"."""
    spelt = (word, *(re.sub(r"(.)\1{2,}", short, word) for short in (r"\1\1", r"\1")))
    if not _NO_TOPIC_WORDS.isdisjoint(spelt):
        return frozenset(["stop"])
    vocabulary = _smalltalk_vocabulary()
    return next((vocabulary[one] for one in spelt if one in vocabulary), frozenset())


@cache
def _smalltalk_vocabulary() -> dict[str, frozenset[str]]:
    """Return the words of small talk, each with its themes; a Chinese theme is named `zh-`."""
    text = (resources.files(__package__) / "small_talk.txt").read_text(encoding="utf-8")
    themes: dict[str, frozenset[str]] = {}
    for line in filter(None, text.splitlines()):
        theme, _, words = line.partition(":")
        for word in words.split():
            themes[word] = themes.get(word, frozenset()) | {theme.removeprefix("zh-")}
    return themes


@cache
def _chinese_phrases() -> re.Pattern[str]:
    """Return a pattern for the Chinese phrases of small talk, the longest first."""
    phrases = [word for word in _smalltalk_vocabulary() if re.search(f"[{CJK}]", word)]
    return re.compile("|".join(sorted(map(re.escape, phrases), key=len, reverse=True)))


_REPLIES = {
    "greeting": ("Hello! {do}", "你好！{do}"),
    "thanks": ("You're welcome! {do}", "不客气！{do}"),
    "goodbye": ("Goodbye! Come back whenever there is something to find out. {do}", "再见！{do}"),
    "sorry": ("No problem at all. {do}", "没关系！{do}"),
    "self": (
        "I am Dossier, a research agent that remembers. {do}",
        "我是 Dossier，一个有记忆的研究助手。{do}",
    ),
    "plain": ("I'm all ears. {do}", "我在听。{do}"),
}
_DO = (
    "Ask me a question, and I research it in your files, on the web and in what I remember, and "
    "write a report in which every sentence names its source.",
    "向我提一个问题，我会在你的文件、网络和我的记忆里研究，写出一份句句有出处的报告。",
)

_ASKS = regex(
    r"^\W*(?:what|whats|why|how|who|whose|when|where|which|explain|describe|is|are|does|did|can"
    r"|should)\b",
    re.IGNORECASE,
)
_IDIOM = regex(
    r"\b(?:how|what)(?:(?: i|')?s| was) (?:life|your|everything)\b|\bwhat a\b"
    r"|knock knock|\bhow (?:do|did) you (?:feel|do|work|know|like|learn|think|sleep)\b",
    re.IGNORECASE,
)
_BEST = regex(r"^\W*(?:the )?(?:best|top|worst)\b(?!.*\bever\b)", re.IGNORECASE)
_PERSONS = regex(r"\b(?:you|your|yours|yourself|u|ur|me|my|i|im|lets|let's)\b", re.IGNORECASE)
_ANYBODY = regex(
    r"\bhow (?:do|can|would|should|could) (?:you|i|we)\b|\babout\b(?! (?:you|me|your))",
    re.IGNORECASE,
)
_ABOUT_YOU = regex(
    r"^\W*(?:(?:so|and|but|hey|hi|well),? )?(?:(?:are|were|aren't) you\b(?! able)"
    r"|(?:do|did|don't) you (?:like|love|hate|dream|sleep|eat|drink|feel|get|speak|enjoy|prefer"
    r"|live|ever|have an?y? (?:name|feeling|friend|famil|hobb|pet|kid|emotion|birthday))"
    r"|(?:will|would) you (?:marry|be my|go out|like to|love)\b"
    r"|have you (?:ever|had|been|eaten|slept)\b)"
    r"|\b(?:what(?:'?s| is| are)|tell me) your\b|\b(?:where|who|what|how old) are you\b"
    r"|^\W*(?:[嗨嘿那]\W*)?[你您](?:[是叫会會能有爱愛住吃睡累忙怕]|喜[欢歡]|[来來]自|多大"
    r"|[几幾][岁歲])",
    re.IGNORECASE,
)
_ABOUT_ME = regex(
    r"^\W*(?:(?:oh|well|hey|hi|hello|haha|lol|ok|so|wow),? )?(?:i|i'm|im|i've|i'll|you're|youre"
    r"|you are|my (?:day|cat|dog|wife|husband|kids?|mom|mum|dad|boss|friend|weekend|head|back))\b"
    r"|^\W*(?:我(?!想|需要|要|国|國|们|們)|[你您](?:真|好|很|太)|今天|昨天|[刚剛])",
    re.IGNORECASE,
)
_WANTS = regex(
    r"\b(?:need|want|look\w*|wonder\w*|try\w*|research\w*|interest\w*|question|know|about|help"
    r"|whether|think|believe|heard|read|claim\w*|explain|describe|find|compare|list|write|search"
    r"|summari[sz]e|recommend|suggest|provide|translate|calculate|analy[sz]e|evidence|data"
    r"|sources?|papers?)\b|[问問]|想知道|了解|需要|查|研究|[请請帮幫]|解[释釋]|告[诉訴]|分析|[写寫]"
    r"|翻[译譯]|[总總][结結]|搜|知道|介[绍紹]|推[荐薦]|算|比[较較]|[认認][为為]",
    re.IGNORECASE,
)
_INTRODUCED = regex(
    r"(?i:\b(?:hello|hi|hey),? (?:world|there)|\bguten? (?:tag|morgen|abend|nacht)"
    r"|\bbuen[oa]s (?:d[ií]as|tardes|noches))\b"
    r"|(?:\b[Mm]y name is|\bI am|\b[Ii]'?m|\b[Cc]all me|\b[Tt]his is|^\W*(?:[Hh]i|[Hh]ello|[Hh]ey"
    r"|[Tt]hanks|[Tt]hank you|[Bb]ye|[Gg]ood (?:morning|evening|night)),?) [A-Z][\w'-]+"
    r"(?: [A-Z][\w'-]+)?(?=[,.!?]|$)|我(?:的名字)?[叫是]\w{2,4}$"
)
_TOPIC_ZH = regex(
    r"[^你您这這那它他她\W]是什[么麼]|什[么麼]是[^你您这這那]|[为為]什[么麼](?![\W你您我]|$)"
    r"|天[气氣].{0,3}(?:怎[么麼]|如何)|下[雨雪][吗嗎]"
)
_CLOCK = regex(r"\bwhat(?:['’]?s| is)? (?:the )?(?:time|day|date)\b", re.IGNORECASE)
_SUM = regex(r"\d\s*[-+*/×÷=^]\s*\d")


def reply_to_smalltalk(said: str, *, earlier: bool = False) -> str:
    """Return the answer to small talk, in its language, or nothing if it is something to research.

    `earlier` says that something was asked before, so that "How much?" asks for more of it.
    """
    text = unicodedata.normalize("NFKC", said).strip()
    if (earlier and is_follow_up(text)) or not _is_small_talk(_INTRODUCED.sub(" ", text)):
        return ""
    which = detect_language(text) == "zh"
    return _REPLIES[_theme(text)][which].format(do=_DO[which])


def _is_small_talk(text: str) -> bool:
    short = len(text.split()) <= 8 and len(text) <= (70 if detect_language(text) == "en" else 16)
    told = _ABOUT_ME.search(text) and not re.search("[?？]", text)
    if short and not _WANTS.search(text) and (told or _ABOUT_YOU.search(text)):
        return True
    return not _has_content(text) and not _is_topical(text)


def _has_content(text: str) -> bool:
    """Tell whether a text has a word that small talk does not have."""
    strange = [word for word in _latin_words(text) if not _word_themes(word)]
    left = re.sub(f"[^{CJK}]", "", _chinese_phrases().sub("", text))
    return bool(strange or left or _SUM.search(text))


def _is_topical(text: str) -> bool:
    """Tell whether a question is about words that also occur in small talk."""
    if _TOPIC_ZH.search(text) or _CLOCK.search(text):
        return True
    told = {word for word in _latin_words(text) if word not in _NO_TOPIC_WORDS}
    topics = {word for word in told if "topic" in _word_themes(word)}
    if topics and _BEST.match(text):
        return True
    if not topics or _IDIOM.search(text):
        return False
    to_person = _PERSONS.search(text) and not _ANYBODY.search(text)
    asked = _ASKS.match(text) or _ANYBODY.search(text)
    return not to_person and bool(asked or (topics == told and len(topics) > 1))


def _theme(text: str) -> str:
    """Return the theme that an answer should take up."""
    if _ABOUT_YOU.search(text) or re.search(r"\bwho (?:are|made) you\b", text, re.IGNORECASE):
        return "self"
    phrases = (_smalltalk_vocabulary()[phrase] for phrase in _chinese_phrases().findall(text))
    themes = frozenset[str]().union(*map(_word_themes, _latin_words(text)), *phrases)
    order = ("sorry", "goodbye", "thanks", "self", "greeting")
    return next((theme for theme in order if theme in themes), "plain")
