"""Change a plan as a person says, understanding the few ways in which people say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from models.extractive.blocks import Page
from models.extractive.steps import DraftStep, query, step
from models.extractive.topic import key_phrase, key_terms
from retrieval.regex import regex
from retrieval.text import heading, sentences
from retrieval.words import terms, words

SUBJECT = 4
"""So many words of the question tell what a step is about that a person asks for."""

_CLAUSES = regex(
    r"[.;!。；！\n]+\s*|[,，]?\s*\b(?:but|then)\b\s*|[,，]?\s*(?:但是?|然后)"
    r"|(?:[,，]|,? and)\s*(?=(?:please )?(?:also|add|include|drop|remove|skip|only|just|nothing"
    r"|without|no |not"
    r"|one (?:on|about)|don't|do not|leave|focus|cover|look))"
    r"|[，,](?=只|不|别|別|去|[删刪]|加|[补補]|增|再|[还還]|也)",
    re.IGNORECASE,
)
_ONLY = regex(
    r"\b(?:only|just|solely|exclusively|nothing but)\b"
    r"|只(?:要|看|需要?|[关關]注|研究|保留|[讨討][论論])?|[仅僅]",
    re.IGNORECASE,
)
_DROP = regex(
    r"\b(?:nothing (?:on|about|of|from)|without|skip|remove|drop|delete"
    r"|exclude|omit|ignore|leave (?:out|away|(?=[^.;]{1,80} (?:out|away)\b))|get rid of|cut"
    r"|no(?: need (?:for|to))?|not|don't|do not|doesn't|never)\b"
    r"|不要|不用|不需要|不必|不看|不包括|去掉|[删刪][除掉去]?|排除|跳[过過]|省略|[别別](?!人)",
    re.IGNORECASE,
)
_UNWANTED = regex(
    r"\b(?:nothing (?:on|about|of|from)|without|skip|remove|drop|delete|exclude|omit|ignore"
    r"|leave (?:out|away|(?=[^.;]{1,80} (?:out|away)\b))|get rid of|not interested in"
    r"|(?:don['’]t|do not|never) (?:want|need|include|cover|mention|discuss|report|write|talk|tell"
    r"|go into|care|bother)(?: me)?(?: (?:any|anything|about|on|with|for))*)\b"
    r"|^\W*(?:(?:and|but|please),? )*(?:no|not)(?: need (?:for|to))?(?: (?:about|on|any|the))*\b"
    r"|不要|不用|不需要|不必|不看|不包括|去掉|[删刪][除掉去]?|排除|跳[过過]|省略|^[别別](?!人)",
    re.IGNORECASE,
)
"""What says that something is not wanted; "it does not cover X" says that X is."""
_SWAPS = (
    regex(r"^(?>.*?\b(?:replace|swap) )(?P<old>.+?) (?:with|by|for) (?P<new>.+)", re.IGNORECASE),
    regex(r"\binstead of (?P<old>[^,]+), (?P<new>.+)", re.IGNORECASE),
    regex(r"^(?P<new>.+?),? (?:instead of|rather than) (?P<old>.+)", re.IGNORECASE),
    regex(r"^(?>.*?把)(?P<old>.+?)(?:[换換改]成|[改替][换換]?[为為])(?P<new>.+)"),
    regex(r"^(?P<new>.+?)，?而不是(?P<old>.+)"),
)
_FEWER = regex(
    r"\b(?:fewer|less|shorter|simpler|too (?:long|many))\b|太[长長多]|少一?[点點些]|[简簡][单單化]",
    re.IGNORECASE,
)
_STEP = regex(
    r"\bsteps?\s*(?P<digits>\d+(?:\s*(?:,|and|&|or|to)\s*\d+)*)"
    r"|\b(?P<word>first|second|third|fourth|fifth|last)\b(?: step| one)"
    r"|第(?P<sign>[一二三四五六\d])[步个個]|步[骤驟](?P<bare>[一二三四五六\d])|(?P<end>最后一)[步个個]",
    re.IGNORECASE,
)
_SPACES = regex(r"[^\S\n]{2,}")
_ORDER = dict(zip("一二三四五六", range(1, 7), strict=True)) | {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5,
}  # fmt: skip
_LEAD = regex(
    r"^\W*(?:(?:please|also|and|add|include|consider|cover|research|look|at|into|what about"
    r"|how about|more|about|on|focus|i|we|want|need|care|would|like|to|know|see|should|must|you|it"
    r"|there|be|a|an|the|new|one|steps?|for|something|can|could|keep|do|have|with|mention)\b\s*"
    r"|[请請]|[还還]|也|再|另外|[应應][该該]|需要|要|增加|加上|加入|添加|[补補]充|考[虑慮]|[关關]注"
    r"|研究|一[个個下]|[关關][于於]|包括|加|看看?)+",
    re.IGNORECASE,
)
_TAIL = regex(
    r"(?:(?<![\s,])[\s,]*\b(?:too|as well|please|also|instead|out|away|steps?|part|section)\b"
    r"|的?(?:[内內]容|步[骤驟]|方面|部分))+\W*$",
    re.IGNORECASE,
)


def revised(
    steps: Sequence[DraftStep], feedback: str, question: str, limit: int
) -> list[DraftStep]:
    """Return the steps after a person's words about them; at most `limit`.

    Numbers and words name steps to keep or to drop; what names none becomes a step of its own.
    """
    kept, added = set(range(1, len(steps) + 1)), list[str]()
    for clause in _clauses(feedback):
        meant = _meant(steps, clause)
        if _DROP.search(clause):
            kept -= meant
        elif _ONLY.search(clause):
            kept &= _closest(steps, meant)
            added += [] if meant else [_ONLY.sub(" ", clause)]
        elif _FEWER.search(clause):
            kept = set(sorted(kept)[: (len(kept) + 1) // 2])
        elif not _STEP.search(clause):
            added.append(clause)
    new = [_made(words, question) for words in added if key_terms(_wanted(words))]
    new = [one for one in new if not _told(one, steps, kept)]
    stay = sorted(kept)[: max(limit - len(new), 0)]
    return _joined(_apart(steps, stay), stay, new) or list(steps)


def _apart(steps: Sequence[DraftStep], stay: Sequence[int]) -> list[DraftStep]:
    """Return the steps with queries that ask for nothing of what only dropped steps are about."""
    told = [set(terms(step["title"])) for step in steps]
    wanted = set[str]().union(*(told[number - 1] for number in stay))
    dropped = (said for number, said in enumerate(told, start=1) if number not in stay)
    gone = set[str]().union(*dropped) - wanted
    return [
        DraftStep({**step, "queries": [_rid(query, gone) or query for query in step["queries"]]})
        for step in steps
    ]


def _rid(query: str, gone: set[str]) -> str:
    return " ".join(word for word in query.split() if gone.isdisjoint(terms(word)))


def without(pages: Sequence[Page], wishes: Sequence[str], question: str) -> list[Page]:
    """Return passages without the sentences and sections on what a person does not want.

    Args:
        pages: The passages.
        wishes: What the person said against plans.
        question: What is asked; its own subject is never left out.
    """
    unwanted = _unwanted(wishes, set(key_terms(question)))
    if not unwanted:
        return list(pages)
    left = [one if one.computed else _left(one, unwanted) for one in pages]
    return [one for one in left if one.text.strip()]


def _unwanted(wishes: Sequence[str], asked: set[str]) -> list[set[str]]:
    """Return the terms of each thing that is not wanted, apart from those that are asked about."""
    clauses = (clause for wish in wishes for clause in _clauses(wish))
    dropped = (one for one in clauses if _UNWANTED.search(one) and not _STEP.search(one))
    named = (set(key_terms(_wanted(_UNWANTED.sub(" ", one)))) - asked for one in dropped)
    return [terms for terms in named if terms]


def _left(page: Page, unwanted: Sequence[set[str]]) -> Page:
    """Return a passage with gaps where sentences and sections stood that are not wanted."""
    text, below = page.text, _is_on(page.title.partition(" — ")[2], unwanted)
    for span in sentences(page.text):
        headed = heading(span.text)
        below = _is_on(span.text, unwanted) if headed else below
        if below or _is_on(span.text, unwanted):
            text = text[: span.start] + "\n" * len(span.text) + text[span.end :]
    return page._replace(text=text)


def _is_on(text: str, unwanted: Sequence[set[str]]) -> bool:
    said = set(words(text))
    return any(terms <= said for terms in unwanted)


def _clauses(feedback: str) -> Iterator[str]:
    """Yield what a person says, one wish at a time; a swap is a wish to drop and one to add."""
    for clause in _CLAUSES.split(_SPACES.sub(" ", feedback)):
        swap = next((found for one in _SWAPS if (found := one.search(clause))), None)
        if swap:
            yield f"drop {swap['old']}"
            yield swap["new"]
        elif clause.strip():
            yield clause


def _meant(steps: Sequence[DraftStep], clause: str) -> set[int]:
    """Return the numbers of the steps that a wish names, by number or by their words."""
    named = {number for found in _STEP.finditer(clause) for number in _numbers(found, len(steps))}
    if named:
        return named
    if re.search("compar|比[较較]|[对對]比", clause, re.IGNORECASE):
        return {number for number, one in enumerate(steps, start=1) if len(one["needs"]) > 1}
    wanted = set(key_terms(_wanted(_DROP.sub(" ", _ONLY.sub(" ", clause)))))
    titles = [set(key_terms(step["title"])) for step in steps]
    return {
        number
        for number, title in enumerate(titles, start=1)
        if wanted and 2 * len(wanted & title) >= len(wanted)
    }


def _closest(steps: Sequence[DraftStep], meant: set[int]) -> set[int]:
    """Return the steps among those meant that are about little else."""
    sizes = {number: len(key_terms(steps[number - 1]["title"])) for number in meant}
    return {number for number, size in sizes.items() if size <= 2 * min(sizes.values())}


def _numbers(found: re.Match[str], count: int) -> list[int]:
    if found["digits"]:
        return [int(digits) for digits in re.findall(r"\d+", found["digits"])]
    if found["end"] or (found["word"] or "").lower() == "last":
        return [count]
    sign = (found["word"] or found["sign"] or found["bare"]).lower()
    return [int(sign) if sign.isdigit() else _ORDER[sign]]


def _wanted(clause: str) -> str:
    """Return what a wish is about, without the words of wishing."""
    return _TAIL.sub("", _LEAD.sub("", clause)).strip(" ,，:：\"'")


def _made(words: str, question: str) -> DraftStep:
    wanted = _wanted(words)
    about = key_phrase(question, SUBJECT)
    return step(
        wanted, query(wanted, question), f"{about} {wanted}", description=f"{wanted} ({about})"
    )


def _told(new: DraftStep, steps: Sequence[DraftStep], kept: set[int]) -> bool:
    """Tell whether a step that stays already asks for all of a new one."""
    wanted = set(key_terms(new["title"]))
    return any(wanted <= set(key_terms(steps[number - 1]["title"])) for number in kept)


def _joined(
    steps: Sequence[DraftStep], kept: Sequence[int], new: Sequence[DraftStep]
) -> list[DraftStep]:
    """Return the kept and the new steps, their needs renumbered."""
    numbers = {old: now for now, old in enumerate(kept, start=1)}
    stay = []
    for old in kept:
        needs = [numbers[need] for need in steps[old - 1]["needs"] if need in numbers]
        stay.append(DraftStep({**steps[old - 1], "needs": needs}))
    return [*stay, *new]
