"""Leave out of what a person says the words that only ask for it politely."""

from __future__ import annotations

import re
from functools import lru_cache

from retrieval.regex import regex

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
"""What is said of the answer itself: its language, its form, its length."""
_WORKS = (
    "(?:haikus?|poems?|songs?|lyrics|sonnets?|limericks?|ballads?|rhymes?|raps?|story|stories|tales?"
    "|jokes?|slogans?|letters?|e-?mails?|tweets?|code|programs?|scripts?|functions?|regex)"
)
_BEYOND = regex(
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


def beyond_quoting(said: str) -> bool:
    """Tell whether a person wants what no quote can give: a poem, a translation, a sum."""
    return bool(_BEYOND.search(bare(said)))


def topical(said: str) -> str:
    """Return a question without what it says of the answer: its language, form or length.

    What consists of such words only stays as it is.
    """
    left = said.strip()
    while (less := _MANNER.sub("", left, count=1).strip()) != left and re.search(r"\w\w", less):
        left = less
    return left


@lru_cache(maxsize=1024)
def bare(said: str) -> str:
    """Return a question without the words around it: "Please tell me what X is" is "what X is".

    What consists of such words only stays as it is.
    """
    left = topical(said)
    while True:
        less = _POLITE.sub("", left, count=1)
        if less == left or not re.search(r"\w\w", less):
            return left
        left = less
