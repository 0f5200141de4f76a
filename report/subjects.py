"""Tell whether a statement is about one thing and its sources are about another."""

from __future__ import annotations

import re
from collections.abc import Sequence

from report.marks import MARKER
from report.openers import without_transition
from retrieval.common import weight
from retrieval.regex import regex
from retrieval.script import HAN
from retrieval.words import words

_NAME = r"[A-Z][\w+#-]*(?:\.[A-Za-z]\w*)*(?:\s+[A-Z][\w+#-]*){0,2}"
_SUBJECT = regex(
    rf"\W*(?:(?:in|for|under|with|on|by|from|at|unlike)\s+)?(?:the\s+)?(?P<name>{_NAME})(?=['’]s\b|\W|$)",
)
_ZH_SUBJECT = regex(rf"\W*(?:[在对對由于於就从從按用]+|关于|關於)?\s*(?P<name>{_NAME})", re.ASCII)
_WORD = regex(r"[A-Z][\w+#-]*(?:\.[A-Za-z]\w*)*", re.ASCII)
RARE = 0.95
"""From which weight on a word in small letters may be a name."""

_BEFORE = regex(r"\W*(?:(?:in|for|under|with|on|by)\s+|在|[对對]于?|[关關]于)?\s*", re.IGNORECASE)
_FIRST = regex(rf"(?:(?!{MARKER.pattern}).)*(?:{MARKER.pattern})*", re.DOTALL)
_NO_NAME = regex(
    r"(?:The|This|That|These|Those|It|Its|They|Their|He|She|We|I|You|Both|All|Each|Every|Some|Many|Most"
    r"|No|None|Neither|Not|Only|One|Two|Three|If|When|Where|While|Because|Since|After|Before|During"
    r"|As|At|By|For|From|In|On|Of|To|With|Under|Over|An?|And|But|Or|So|There|Here|How|What|Who|Why"
    r"|Use|Set|See|Note|Step|Chapter|Section|Part|Manual|Guide|History|Introduction|Overview"
    r"|Appendix|Reference|FAQ|Brief|User|Users)",
)


def subject(said: str) -> str:
    """Return the name that a statement begins with, as that of what it is about, or nothing."""
    bare = without_transition(said)
    found = _SUBJECT.match(bare) or _ZH_SUBJECT.match(bare)
    names = _names(found["name"]) if found else []
    return names[0] if names else ""


def first_cited(statement: str) -> str:
    """Return a statement up to the end of its first citations."""
    found = _FIRST.match(statement)
    return found[0] if found else ""


def anchored(said: str, passages: Sequence[str]) -> list[str]:
    """Return the passages with a name that a statement has besides its subject."""
    about = subject(said)
    named = [one for one in _names(said) if one != about]
    return [one for one in passages if any(_has(name, [one]) for name in named)]


def other_subject(
    said: str, passages: Sequence[str], titles: Sequence[str], others: Sequence[str]
) -> bool:
    """Tell whether a statement begins with the name of what only other sources are about.

    Args:
        said: The statement, without marks.
        passages: What of its sources is most like it.
        titles: The titles of its sources.
        others: Those of the other sources.
    """
    name = subject(said) or _titled(said, others)
    if name and _begins_only(name, said, [*passages, *titles, *others]):
        return False
    if not name or _has(name, [*passages, *titles]) or not _has(name, others):
        return False
    return any(map(_words, titles)) and not _has_part(name, titles)


def _begins_only(name: str, said: str, texts: Sequence[str]) -> bool:
    """Tell whether a word is no name, and has a capital letter since it begins a sentence."""
    if not name[1:].islower() or said.count(name) > 1:
        return False
    small = re.compile(rf"(?<![\w.-]){name.lower()}(?![\w-])")
    inside = re.compile(rf"[\w,;]\s+{name}\b")
    return any(map(small.search, texts)) and not any(map(inside.search, texts))


def _titled(said: str, titles: Sequence[str]) -> str:
    """Return the uncommon word of some titles that a statement begins with, or nothing."""
    bare = _BEFORE.sub("", without_transition(said), count=1)
    latin = re.match(r"[a-z][a-z0-9_.+-]{3,}(?![\w'’])", bare, re.ASCII)
    if latin and latin[0] in {word for title in titles for word in _words(title)}:
        return latin[0] if min(map(weight, words(latin[0])), default=0.0) >= RARE else ""
    lengths = range(min(8, len(bare)), 2, -1)
    runs = (bare[:length] for length in lengths if re.fullmatch(f"[{HAN}]+", bare[:length]))
    return next((run for run in runs if any(run in title for title in titles)), "")


def _words(title: str) -> list[str]:
    return re.findall(f"[a-z][a-z0-9_.+-]{{3,}}|{_WORD.pattern}|[{HAN}]{{3,}}", title, re.ASCII)


def _names(text: str) -> list[str]:
    return [one for one in _WORD.findall(text) if not _NO_NAME.fullmatch(one) and len(one) > 1]


def _has(name: str, texts: Sequence[str]) -> bool:
    start = re.escape(name[: max(4, len(name) - 2)]) if name[0].isupper() else re.escape(name)
    return any(re.search(rf"(?<![A-Za-z]){start}", text, re.IGNORECASE) for text in texts)


def _has_part(name: str, titles: Sequence[str]) -> bool:
    """Tell whether a title has a word that the name is a form of, or that is a form of it."""
    first = name.split(".")[0].lower()
    found = (word.lower() for title in titles for word in re.findall(r"\w+", title))
    return any(
        len(word) > 2 and (first.startswith(word) or word.startswith(first)) for word in found
    )
