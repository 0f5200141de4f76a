"""The topic of a question: its weighted terms and names, and how much of them a text covers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from text.regex import regex
from text.script import detect_language
from text.words import LEAST_WEIGHT, query_terms, spelled_query_terms, word_weight

_KNOW = r"(?:know|understand|learn|find out|hear|see|ask(?: you)?|be told)"
_TELL = (
    r"(?:(?:tell|show|teach|give)(?: (?:me|us))?|let me know|explain(?: to (?:me|us))?|help me"
    rf"(?: (?:to )?{_KNOW})?|look up|find out|say)"
)
_POLITE = regex(
    r"^\W*(?:"
    r"(?:hi|hello|hey|dear \w+|thanks|thank you|good (?:morning|evening|afternoon))\b(?: there)?"
    r"[,.!;:]+"
    r"|(?:please|kindly)\b,?"
    rf"|(?:can|could|would|will) you (?:please |kindly |maybe |also )?{_TELL}\b"
    r"|(?:can|could|would|will) you (?:please )?(?=(?:provide|write|prepare|draft|give|make|list"
    r"|compare|describe|summari[sz]e|analy[sz]e|outline)\b)"
    r"|do you (?:know|have any idea)\b|(?:i )?(?:wonder|am wondering|was wondering)\b|any idea\b"
    r"|(?:i|we)(?:['’]d| would)? (?:like|love|want|need|wish|have|am trying|are trying)(?: you)? to"
    rf" {_KNOW}\b"
    r"|(?:i['’]?m|i am|we are) (?:interested in|curious (?:about|to know)"
    r"|looking for (?:information|details) on)\b"
    r"|(?:my|the|here is my) question is\b[,:]?|question:"
    rf"|{_TELL}(?= (?:what|why|how|who|when|where|which|if|whether)\b)"
    r"|(?:tell me|something|anything|everything|more|information)(?: you know)? (?:more )?about\b"
    r"|[你您]好[，,！!。]|[请請][问問]?(?:[你您])?|麻[烦煩][你您]?"
    r"|[你您]?(?:能不能|能否|可不可以|可否|可以)(?=[告帮幫给給为為])|[你您]能(?=[告帮幫给給为為])"
    r"|我(?:很)?想(?:知道|了解|[问問]一?下?|[请請]教)(?:一下)?|告[诉訴]我(?:一下)?"
    r"|[帮幫][我忙](?:查|看|找|了解|解[释釋]|[说說])?(?:一下|查|看)?"
    r"|[给給为為]我(?=提供|[写寫]|做|列)|(?:[给給为為]我)?(?:介[绍紹]|[讲講]|[说說])一?下"
    r")\s*",
    re.IGNORECASE,
)
_TONGUE = r"(?:english|chinese|german|french|spanish|italian|japanese|korean|russian|portuguese)"
_COUNT = r"(?:(?:\d+|one|two|three|four|five|six|seven|eight|ten|a few|several|short|single|a) )"
_FORM = (
    rf"(?:in (?:at most |no more than |under |about |around |only |just )?{_COUNT}{{0,3}}"
    r"(?:bullet points?|bullets|points?|words?|sentences?|paragraphs?|lines?)"
    r"|as (?:an? )?(?:\w+ )?(?:list|table|bullet points?|bullets)"
    r"|(?:in )?(?:brief|short|detail|a nutshell|(?:plain|simple|easy) (?:words|terms|language))"
    rf"|briefly|shortly|concisely|in (?:plain |simple )?{_TONGUE})"
)
_NUMERAL = "[一二两兩三四五六七八九十百\\d]"
_MANNER = regex(
    rf"^\W*{_FORM}(?: please)?\s*[,:]\s*"
    rf"|[,;]\s*{_FORM}(?:,? please)?(?=\W*$)|\s{_FORM}(?:,? please)?(?=[.!]*$)"
    r"|(?:(?<=[.!?？。！])|^)\s*(?:please )?"
    r"(?:(?:answer|reply|respond|write|summari[sz]e)(?: it| this| me)?"
    rf"(?: only)? {_FORM}|(?:keep|make) (?:it|the answer|your answer) \w+(?: and \w+)?"
    rf"|(?:use|give me) (?:at most |only |no more than )?{_COUNT}{{1,2}}"
    r"(?:bullet points?|bullets|words|sentences?|lines)"
    rf"|(?:at most|no more than|only|max\.?|just)? ?{_COUNT}"
    r"(?:words?|sentences?|lines|bullet points?)"
    r"(?: only| max(?:imum)?| at most)?)(?: please)?\s*[.!:]*(?=\s|$)"
    r"|(?:[请請]?(?:[用以][简簡繁]?[体體]?(?:中文|英文|[汉漢][语語]|英[语語]|[德法日][语語文])|[简簡][短洁潔要单單]地?)"
    r"(?:[来來]?(?:回答|回[复復]|作答|[写寫]))?[：:，,]?|(?:[，,。；]\s*|(?<!\s)\s*)[请請]?(?:[用分以]成?"
    rf"{_NUMERAL}+[点點条條句段行]话?(?:[来來]?(?:回答|[说說]明|概括|作答|列出|[总總][结結]))?"
    rf"|[不别別][超][过過]{_NUMERAL}+[个個]?字|(?<!{_NUMERAL}){_NUMERAL}+字以[内內]))(?=[。！!]*$|(?<=[：:，,]))",
    re.IGNORECASE,
)
"""A request about the answer itself: its language, its form, its length."""
_WORKS = (
    "(?:haikus?|poems?|songs?|lyrics|sonnets?|limericks?|ballads?|rhymes?|raps?|story|stories|tales?"
    "|jokes?|slogans?|letters?|e-?mails?|tweets?|code|programs?|scripts?|functions?|regex)"
)
_GENERATIVE = regex(
    r"^\W*(?:(?:write|compose|create|make(?: up)?|invent|generate|draft|tell|give)(?: (?:me|us))?"
    rf" (?:an?|another|some) (?:[\w-]+ ){{0,2}}?{_WORKS}|(?:write|compose) {_WORKS})\b"
    r"|^\W*(?:translate|draw|paint|sing|play|pretend|imagine)\b"
    r"|\b(?:in|into) (?:french|german|spanish|chinese|italian|latin|english)\W*$"
    r"|^\W*+(?:what(?:['’]s| is)|calculate|compute|how much is|solve)?[\s(-]*+"
    r"\d[\d\s.,()-]*[+*/×÷^=][-\d\s.,+*/×÷^()=?？]*$|\d\s*[加减減乘除]以?\s*\d"
    r"|^\W*(?:把.*)?(?:翻[译譯]|[译譯]成)(?![了过過的])|^\W*[画畫唱]一"
    r"|^\W*[写寫作编編]一?[首篇段个個封].{0,20}(?:[诗詩歌词詞曲信]|故事|小[说說]|笑[话話]|[邮郵]件|代[码碼])",
    re.IGNORECASE,
)


def is_generative_request(question: str) -> bool:
    """Tell whether a question asks for what no quote can give: a poem, a translation, a sum."""
    return bool(_GENERATIVE.search(strip_request_phrases(question)))


def strip_format_requests(question: str) -> str:
    """Return a question without requests about the language, form or length of the answer.

    A question that is nothing else is returned unchanged.
    """
    text = question.strip()
    while (shorter := _MANNER.sub("", text, count=1).strip()) != text:
        if not re.search(r"\w\w", shorter):
            break
        text = shorter
    return text


@lru_cache(maxsize=1024)
def strip_request_phrases(question: str) -> str:
    """Return a question without the words around it: "Please tell me what X is" is "what X is".

    A question that is nothing else is returned unchanged.
    """
    text = strip_format_requests(question)
    while (shorter := _POLITE.sub("", text, count=1)) != text and re.search(r"\w\w", shorter):
        text = shorter
    return text


NAME_TERM_WEIGHT = 2.0
"""How much more a name, a number or quoted words weigh than another term."""

_NAME_OR_NUMBER = regex(
    r"(?<![A-Za-z])[A-Z][a-zA-Z0-9'’-]*|\d[\d.,:/-]*\d"
    r"|《([^《》]+)》|「([^「」]+)」|『([^『』]+)』|“([^“”]+)”|\"([^\"]+)\""
)
_NAME = regex(
    r"(?<![A-Za-z.])[A-Z][\w'’.-]*\b(?:(?: (?:of|the|de|van|von|&))* [A-Z0-9][\w'’.-]*\b)*"
    r"|《([^《》]+)》|「([^「」]+)」|『([^『』]+)』|“([^“”]+)”|\"([^\"]+)\""
)
_BOUND = regex(
    r"\b(?:than|over|under|above|below|at least|at most|exceed(?:s|ing)?) +[$€£]?(\d[\d.,]*)"
    r"|(?:超[过過]|多[于於]|少[于於]|高[于於]|低[于於]|大[于於]|小[于於]|不到) *(\d[\d.,]*)",
    re.IGNORECASE,
)
STREWN = 0.5
"""The share of its weight that a name loses where its words are apart."""

_LIGHT = frozenset(
    re.findall(
        r"\w+",
        "allow bring come exist get go kind make often possibl put requir sort take thing type"
        " use way",
    )
)
"""Stems of words that belong to the grammar of a question rather than to its topic."""

_LATIN = regex(r"(?=.*[a-z])[a-z0-9][a-z0-9._+#-]+")

_TASK = regex(
    r"\b(?:(?:my|our|your|the|any|that|this) )*(?:earlier|previous|prior|past|last)"
    r" (?:research(?:es)?|reports?|runs?|work|findings?|results?)"
    r"(?: (?:find|found|say|said|show|shown|conclude|concluded))?\b"
    r"|\b(?:overview|background|introduction|summar(?:y|i[sz]e|ies)|reports?|research|investigat\w+"
    r"|compar(?:e|es|ed|ing|isons?)|analy[sz](?:e|es|ing|is)|discuss(?:ion)?|evaluat(?:e|es|ing)"
    r"|assess(?:ment)?|review|outline|elaborate|provide|write|draft|conduct"
    r"|(?:dis)?agree(?:s|d|ments?)?|contradict(?:s|ed|ions?)?|differ(?:s|ed|ent|ences?)?"
    r"|(?:(?:the|these|those|both|two|three|my|our|all|several) )+"
    r"(?:papers?|articles?|documents?|sources?|authors?|files?|texts?|notes))\b"
    r"|[这這那]?[两兩这這那几幾各][篇个個些份](?:[论論]文|文章|文[档檔件]|[资資]料)|分歧"
    r"|(?:收集整理|整理|收集|研究)一?下|收集整理|整理|收集|[調调]研|分析|[評评]估|[撰編编]?[寫写]一[份篇]|[報报][告]|[對对]比|比[較较]|介[紹绍]"
    r"|[總总][結结]|概述|[說说]明|解[釋释]|[詳详][細细]|列[舉举]|相[關关][資资]料",
    re.IGNORECASE,
)


class Topic(NamedTuple):
    """Terms and adjacent pairs of terms, each with its weight."""

    terms: dict[str, float]
    pairs: dict[tuple[str, str], float]
    names: Sequence[Sequence[str]] = ()
    """The terms of each name of several words."""

    @property
    def total_weight(self) -> float:
        """The weight of all terms together."""
        return sum(self.terms.values())


def extract_topic(*texts: str) -> Topic:
    """Return what the texts are about; each text weighs half of the one before it."""
    weights: dict[str, float] = {}
    pairs: dict[tuple[str, str], float] = {}
    for number, text in enumerate(texts):
        terms = key_terms(text)
        named, parts = named_terms(text), _parts(terms) | _bounds(text)
        for term in terms:
            is_light = term in parts or (term in _LIGHT and term not in named)
            weight = LEAST_WEIGHT if is_light else word_weight(term)
            weight *= NAME_TERM_WEIGHT if term in named else 1.0
            weights.setdefault(term, weight * 0.5**number)
        if number == 0:
            pairs = {pair: weights[pair[0]] + weights[pair[1]] for pair in pairwise(terms)}
    names = [query_terms(name) for name in extract_names(texts[0])] if texts else []
    joint = [name for name in names if 1 < len(name) < 4 and set(name) <= weights.keys()]
    return Topic(weights, pairs, [name for name in joint if " ".join(name).isascii()])


def extract_cross_language_topic(question: str) -> Topic:
    """Return the part of a topic that a text in another language shares: names, technical terms.

    In a Chinese question those are the terms in Latin letters.
    """
    topic, named = extract_topic(question), named_terms(question)
    chinese = detect_language(question) == "zh"
    terms = {
        term: weight
        for term, weight in topic.terms.items()
        if _LATIN.fullmatch(term) and (chinese or term in named)
    }
    pairs = {pair: weight for pair, weight in topic.pairs.items() if terms.keys() >= {*pair}}
    return Topic(terms, pairs, [name for name in topic.names if terms.keys() >= {*name}])


def key_terms(text: str) -> list[str]:
    """Return the terms of a question or a title without words for the work itself."""
    return query_terms(_TASK.sub(" ", strip_request_phrases(text))) or query_terms(text)


def key_phrase(text: str, most: int = 8) -> str:
    """Return the words of a question that name its topic, as they are spelt there, for a search."""
    found = spelled_query_terms(_TASK.sub(" ", strip_request_phrases(text))) or spelled_query_terms(
        text
    )
    if len(found) > most:
        own = named_terms(text)
        worth = {one: _worth(one, at / len(found), own) for at, one in enumerate(found)}
        best = set(sorted(found, key=worth.__getitem__)[-most:])
        found = [one for one in found if one in best]
    return " ".join(found)


def _worth(phrase: str, place: float, own: set[str]) -> float:
    """Return how much a phrase says about a question; more if its place (0..1) is early.

    `own` has the terms of the names in the question.
    """
    terms = set(query_terms(phrase))
    factor = NAME_TERM_WEIGHT if terms & own else 1.0
    return max(map(word_weight, terms), default=0.0) * factor * (1 - place / 2)


def named_terms(text: str) -> set[str]:
    """Return the terms of names, numbers and quoted words."""
    return {
        term for name in _NAME_OR_NUMBER.finditer(text) for term in query_terms(name[0])
    } - _bounds(text)


def _bounds(text: str) -> set[str]:
    """Return the numbers that a question compares with; an answer need not contain them."""
    bounds = (next(filter(None, match.groups())) for match in _BOUND.finditer(text))
    return {term for bound in bounds for term in query_terms(bound)}


def extract_names(text: str) -> list[str]:
    """Return the names and quoted words of a question, as they are spelt there, each once."""
    found = (
        next(filter(None, match.groups()), "") or _named_only(match[0].split(" "))
        for match in _NAME.finditer(text)
    )
    return [name for name in dict.fromkeys(found) if query_terms(name)]


def _named_only(spelt: list[str]) -> str:
    """Return a name without the words before it that only begin a sentence."""
    while spelt and not query_terms(spelt[0]):
        spelt = spelt[1:]
    return " ".join(spelt)


def topic_coverage(topic: Topic, text: Sequence[str]) -> float:
    """Return how much of a topic the words of a text cover, in 0..1.5.

    The weighted share of the terms, and half of the weighted share of the pairs of terms that
    are also adjacent in the text (with at most one word between): a shared phrase says more than
    its words strewn over a paragraph. A name that is strewn counts half.
    """
    there = set(text)
    covered = sum(part for term, part in topic.terms.items() if term in there)
    near = {*pairwise(text), *zip(text, text[2:], strict=False)}
    covered -= STREWN * sum(
        topic.terms[term]
        for name in topic.names
        if there.issuperset(name) and not near.issuperset(pairwise(name))
        for term in name
    )
    together = sum(part for pair, part in topic.pairs.items() if pair in near)
    alone = covered / topic.total_weight if topic.total_weight else 0.0
    phrases = together / sum(topic.pairs.values()) if topic.pairs else alone
    return alone + phrases / 2


def _parts(found: Sequence[str]) -> set[str]:
    """Return the terms that are only parts of others: the year of a date, the "6" of "H6"."""
    dates = [term for term in found if re.search(r"\d[,:/-]\d", term)]
    codes = [term for term in found if re.fullmatch(r"[a-z]\d+|\d+[a-z]", term)]
    parts = {part for term in dates for part in re.split(r"[,:/-]", term)}
    return parts | {part for term in codes for part in re.findall(r"[a-z]|\d+", term)}
