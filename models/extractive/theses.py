"""Tell a sentence that states what its document holds from one that only tells a part of it."""

from __future__ import annotations

import re

from retrieval.regex import regex

_OPPOSED = regex(
    r"\b(?:disagree\w*|at odds|opposing|debate\w*|argue against|controvers\w+)\b"
    r"|分歧|矛盾|[争爭][议議论論]|[对對]立|相反|不一致|(?:[观觀][点點]|看法|主[张張]|[说說]法).*(?:不同|[区區][别別])",
    re.IGNORECASE,
)
_APART = regex(r"\b(?:differ(?:s|ed)?|contradict\w*|conflict\w*|oppose[ds]?)\b", re.IGNORECASE)
"""What things do as well as documents and people."""
_PEOPLE = regex(
    r"\b(?:scholars|historians|researchers|scientists|experts|critics|reviewers|schools|views"
    r"|opinions|theories|accounts|positions|arguments|who)\b|\b[A-Z][a-z]+ and [A-Z][a-z]+\b"
)
_DOCUMENTS = regex(
    r"\b(?P<count>two|both|three|four)? ?(?:papers|articles|documents|sources|authors|files|texts"
    r"|reports|studies|books|notes)\b"
    r"|(?P<zh>[两兩二三四])?(?:[篇个個份位本])?(?:[论論]文|文章|文[档檔件]|[资資]料|作者|[报報]告|[书書])",
    re.IGNORECASE,
)
_SPEAKING = regex(
    r"\b(?:papers|articles|documents|sources|authors|reports|studies|books|notes|texts)\b"
    r"|\b(?:two|both|three|four) files\b",
    re.IGNORECASE,
)
"""Documents that say something, as files seldom do."""
_COUNTS = {"three": 3, "four": 4, "三": 3, "四": 4}
_OWN = regex(
    r"\b(?:(?:this|the present) (?:paper|review|article|essay|study|note|report|book)|I|we|my view"
    r"|our view)\b[^.;]{0,40}\b(?:argue|conclude|claim|propose|maintain|hold|contend|show|call)"
    r"|(?:本文|笔者|筆者|我们|我們|作者|本人|我)[^，。]{0,8}(?:[认認][为為]|主[张張]|提出|[坚堅]持|相信|[证證]明)"
    r"|\b(?:they|the (?:papers|authors|views|theories)) (?:disagree|differ)"
    r"|(?:分歧|[区區][别別]|不同)[^，。]{0,4}在[于於]",
    re.IGNORECASE,
)
_CUES = regex(
    r"\b(?:argue[sd]?|conclude[sd]?|claim(?:s|ed)?|maintains?|contends?|mainly|chiefly|primarily"
    r"|in contrast|rather than|however|on the contrary|not because|instead of|is caused by"
    r"|the main (?:cause|reason|point)|overall|must|should)\b"
    r"|[认認][为為]|主[张張]|相反|而不是|[并並]非|主要|根本|[总總]之|[综綜]上|由此可[见見]|[应應][该該当當]",
    re.IGNORECASE,
)
_PLACE = regex(
    r"abstract|conclu|summary|in short|overview|introduction|thesis"
    r"|摘要|[结結][论論语語]|[总總][结結]|小[结結]|引言|[观觀][点點]",
    re.IGNORECASE,
)


def opposed(question: str) -> bool:
    """Tell whether a question asks in what documents or people disagree.

    Files that differ and changes that conflict are no documents that disagree.
    """
    if _OPPOSED.search(question):
        return True
    speak = _PEOPLE.search(question) or _SPEAKING.search(question)
    return bool(_APART.search(question) and speak)


def documents_asked(question: str) -> int:
    """Return how many documents are to be set against each other: two, if it is not said."""
    found = _DOCUMENTS.search(question)
    said = (found["count"] or found["zh"] or "") if found else ""
    return _COUNTS.get(said.lower(), 2)


def thesis(sentence: str, above: str) -> float:
    """Return how much a sentence reads like a thesis, in 0..1; `above` is the heading above it."""
    cues = min(len(_CUES.findall(sentence)), 2)
    own = 0.5 if _OWN.search(sentence) else 0.0
    return min(1.0, own + 0.2 * cues + (0.3 if _PLACE.search(above) else 0.0))
