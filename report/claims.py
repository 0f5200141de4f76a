"""Tell what a sentence is: a claim about the world, or a word about the report itself."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from report.caveats import is_own, not_found
from report.openers import introduces
from report.synonyms import irregular
from retrieval.regex import regex
from retrieval.script import HAN
from retrieval.words import words

Sort = Literal["claim", "unsure", "open", "none"]
"""`unsure` hedges a claim; `open` says what is not known, or that it is the writer's inference."""

WORDS = 3
"""A heading of no more words names what follows."""

LONGEST = 2_000
"""So many characters of a statement tell what it is."""

_YES = {"yes", "是的", "不是"}
_LABEL = regex(r"\s*(?:\*\*[^*\n]*[^*\n.!?。！？]\*\*|__[^_\n]*[^_\n.!?。！？]__)\s*")
_CAPTION = regex(
    r"\W*(?:(?:table|figure|fig\.|chart|listing|box)\s*\d+[a-z]?|[表图圖]\s*[\d一二三四五六七八九十]+)\b[.:：)]?"
    r"(?:\*\*)?\s*(?P<said>.*)",
    re.IGNORECASE | re.DOTALL,
)
_CLOSING = " \t\n\"'”’」』»*_)）|"

_HEDGED = regex(
    r"\b(?:may|might|could|perhaps|possibly|probably|likely|seems?|appears?\s+to)\b|可能|也许"
    r"|也許|或许|或許|大概",
    re.IGNORECASE,
)
_ANSWER = (
    r"report|answer|respon[ds]\w*|recommend\w*|research|summar\w+|conclu\w+|cit(?:e|es|ed"
    r"|ations?)|repl(?:y|ies)|sources?"
    r"|assistant|language|words|bullet\w*|format\w*|instruct\w*|conversation|question|write"
    r"|written|mention\w*|said"
)
_WISH = regex(
    rf"\b(?:the|this|our)\s+(?:user|reader|person\s+asking|asker|requester"
    rf"|human)s?\s+(?:\w+\s+){{0,2}}?"
    rf"(?:wants?|wishes|prefers?|asks?|asked|wanted|requests?|requested|requires?|would\s+like"
    rf"|instructs?|instructed|expects?|authori[sz]e[sd]?|approve[sd]?|agreed?s?|consent\w*|told"
    rf"|has\s+said|likes?)\b"
    rf"(?=.*\b(?:{_ANSWER})\b)"
    r"|(?:用户|用戶|使用者|提问者|提問者|读者|讀者)(?:本人)?(?:已经?|已經|明确|明確|一直|更"
    r"|曾)?(?:希望|想要|想|要求|偏好|喜欢|喜歡|授权|授權|同意|请求|請求|指示|批准)"
    r"(?=.*(?:报告|報告|回答|答复|答覆|回复|推荐|推薦|结论|結論|总结|總結|研究|引用|来源|來源"
    r"|语言|語言|助手|格式|写|寫|提到))",
    re.IGNORECASE,
)
_TELLS = (
    r"says?|said|states?|stated|writes?|wrote|reports?|reported|claims?|notes?|gives?|mentions?"
    r"|explains?|describes?|lists?|argues?|shows?|adds?|warns?|recommends?|calls?|puts?|puts it"
)
_WRITING = (
    r"(?:notes?|notebooks?|documentation|docs?|documents?|manuals?|papers?|articles?|guides?"
    r"|handbooks?|pages?|files?|sources?|texts?|passages?|reports?|books?|authors?|posts?"
    r"|website|site|study|studies|paragraphs?|chapters?|sections?|README)"
)
_NAMES_SOURCE = regex(
    rf"\baccording\s+to\b|\bin\s+the\s+words\s+of\b|\b{_WRITING}\b[^.;]{{0,40}}?\b(?:{_TELLS})\b"
    r"|\b(?:says|states|writes|reports|claims|notes|argues|warns|adds|mentions)\s+that\b"
)
_ZH_WRITING = (
    "(?:文[档檔件章献獻中]|笔记|筆記|手[册冊]|资料|資料|论文|論文|报告|報告|报道|報道|[页頁]面"
    "|[网網][页頁站]|指南|[说說]明|来源|來源|教程|官[网網方]|作者|原文|[书書]中|[记記][录錄])"
)
_ZH_TELLS = (
    "(?:[说說称稱写寫]|指出|[认認][为為]|提到|提及|表示|[记記][载載录錄]|[给給]出|列出|介[绍紹]"
    "|解[释釋]|[声聲][称稱]|[强強][调調]|建[议議])"
)
_ZH_NAMES_SOURCE = regex(
    f"{_ZH_WRITING}[^，。；]{{0,10}}?{_ZH_TELLS}|(?:根据|根據|依据|依據|按照?|据|據)[^，。；]{{0,16}}{_ZH_WRITING}"
)
_DESCRIBES = regex(
    rf"^\W*(?:(?:one|two|three|some|both|all|each|none|part)\s+of\s+)?"
    rf"(?:the|this|that|these|those|an?|one|another|its)\s+(?:[\w'’-]+\s+){{0,4}}?{_WRITING}\b"
    r"[^.;]{0,40}?\b(?:contains?|includes?|carr(?:y|ies)|has|have|holds?|asks?|tells?|tries|try"
    r"|attempts?|instructs?|orders?|addresses|addressed|advertis\w+|promotes?|speaks?|is|are)\b"
    r"|^\W*(?:the|its|their)\s+(?:nearest|closest|only|one|single|best|last)\s+(?:\w+\s+)?(?:statements?"
    r"|remarks?|hints?|mentions?|things?|passages?|sentences?|words?|clues?|answers?)\b"
    r"|\b(?:I|we)\s+(?:have\s+)?(?:left|leave|ignored?|disregard\w*|set|did\s+not|do\s+not"
    r"|skip\w*|exclud\w+|omit\w*|treat\w*)\b",
    re.IGNORECASE,
)
_ZH_DESCRIBES = regex(
    f"{_ZH_WRITING}[^，。；]{{0,12}}?(?:含有|包含|夹[带帶]|夾[带帶]|写给|寫給|针对|針對|要求|[试試][图圖]|指示|[有附]一段"
    "|[带帶]有|混入)|(?:我|本[报報]告|[这這][里裡])[^，。；]{0,6}(?:[没沒未不][^，。；]{0,3})?"
    "(?:采用|採用|采[纳納]|理[会會]|忽略|略去|排除)"
)
_PREFERS = regex(
    r"\b(?:users?|readers?|owners?|humans?|persons?|people|customers?|asker)\s+(?:\w+\s+){0,2}?"
    r"(?:wants?|wishes|prefers?|asks?|asked|wanted|preferred|requests?|requested|requires?|likes?"
    r"|would\s+(?:like|prefer)|instruct\w*|expects?|authori[sz]e[sd]?|approve[sd]?|agree[sd]?"
    r"|consent\w*|trusts?|chose|has\s+(?:said|chosen|asked|decided))\b"
    r"|(?:用户|用戶|使用者|提问者|提問者|读者|讀者|主人|客户|客戶|[您你])(?:本人)?(?:已经?|已經|明确|明確|一直|一向|总是|總是|更|最"
    r"|曾|都|也){0,2}(?:希望|想要|想|要求|偏好|偏爱|偏愛|喜欢|喜歡|喜[爱愛]|倾向|傾向|授权|授權|同意|请求|請求|指示"
    r"|批准|信任|[选選][择擇])",
    re.IGNORECASE,
)
_TO_MACHINES = regex(
    r"\b(?:A\.?I\.?|LLMs?|language\s+models?|chat\s?bots?|assistants?|agents?|summari[sz]ers?)\b"
    r".{0,80}?\b(?:ignore|disregard|must|should|please|tell|remember|note|instruct\w*|do\s+not)\b"
    r"|\b(?:ignore|disregard|forget)\s+(?:\w+\s+){0,2}(?:previous|prior|earlier|above|other)\s+"
    r"(?:instructions?|prompts?|rules)\b|\bnote\s+to\s+(?:\w+\s+){0,2}(?:assistants?|models?|agents?)\b"
    r"|(?:AI|人工智能|智能|语言模型|語言模型|大模型|机器人|機器人)?(?:助手|助理|模型|代理|机器人|機器人)"
    r".{0,30}?(?:忽略|无视|無視|必须|必須|应当|應當|请|請|告诉|告訴|记住|記住|不要)"
    r"|(?:忽略|无视|無視|忘记|忘記)[^。]{0,8}(?:之前|先前|此前|以上|上述|原有|其他)[^。]{0,6}(?:指令|指示|要求|提示|规则)",
    re.IGNORECASE | re.DOTALL,
)

_ASKS = regex(
    r"\W*(?:\d[\d.)]*\s*)?(?:how|what|when|where|which|who|whose|why|whether)\b"
    "|.*(?:如何|怎[么麼样樣]|什么|什麼|哪[些里裡个個种種]|是否|[为為]何|多[久少]|[吗嗎])",
    re.IGNORECASE,
)
_ENDING = regex(r"(?<!\W)\W+$")
_EXPLAINED = regex(rf"[^:：—–]+(?:[:：]|\s[—–]|——)\s*(?P<said>\S+\s+\S+\s+\S.*|.*[{HAN}]{{4}}.*)")
_VERB = regex(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|could|will|would|must|may|might|should"
    r"|never|always|not|\w+n['’]t)\b"
    r"|(?<=\w )(?!its\b)[a-z]{2,}(?<![sui])s(?!\s+(?:of|and|or|that|which|between|vs?)\b)(?=\s+\w)"
    r"|(?<=\w )[a-z]{3,}ed(?=\s+\w)",
    re.IGNORECASE,
)
_ZH_VERB = regex(
    "[是為为會会能不沒没無无可須须必要應应需由被把將将使讓让總总只都仍停]|等[于於]|超[过過]|自[动動]|始[终終]|了(?!解)|着(?![陆陸色])"
)


def asserts(heading: str) -> bool:
    """Tell whether a heading makes a claim, and does not only name what follows or ask for it."""
    ending = _ENDING.search(heading)
    if _ASKS.match(heading) or (ending and not set("?？:：").isdisjoint(ending[0])):
        return False
    if re.search(f"[{HAN}]", heading):
        said = re.findall(f"[{HAN}]{{1,2}}|[A-Za-z0-9_.=-]+", heading)
        return len(said) > WORDS and bool(_ZH_VERB.search(heading))
    said = heading.lower().split()
    return len(said) > WORDS and bool(_VERB.search(heading) or _past().intersection(said[1:-1]))


@cache
def _past() -> frozenset[str]:
    """Return the forms of irregular verbs that are hardly ever nouns."""
    return frozenset(irregular()) - {"cast", "cut", "hit", "left", "ground", "found", "saw"}


def asserts_before_colon(line: str) -> bool:
    """Tell whether a line that leads on to a list makes a claim itself."""
    said = line.rstrip(_CLOSING)
    return said.endswith((":", "：")) and not introduces(line) and asserts(said.rstrip(":： "))


def explains(heading: str) -> bool:
    """Tell whether a heading says behind a colon or a dash what the thing is that it names."""
    explained = _EXPLAINED.fullmatch(heading)
    if not explained or heading.rstrip().endswith(("?", "？")):
        return False
    return not _ASKS.match(heading) and not _ASKS.match(explained["said"])


def sort(statement: str) -> Sort:
    """Return what a statement without a source is."""
    caption = _CAPTION.fullmatch(statement)
    if caption and not asserts(caption["said"]):
        return "none"
    if _LABEL.fullmatch(statement) or statement.rstrip(_CLOSING).endswith((":", "：", "?", "？")):
        return "none"
    statement = statement[:LONGEST]
    if not_found(statement) or is_own(statement):
        return "open"
    if introduces(statement) or not set(words(statement)) - _YES:
        return "none"
    return "unsure" if _HEDGED.search(statement) else "claim"


def without_label(statement: str) -> str:
    """Return what a caption says behind its number; any other line as it is."""
    caption = _CAPTION.fullmatch(statement)
    return caption["said"] if caption else statement


def wish(statement: str) -> bool:
    """Tell whether a statement says what the person who asked wants of the report.

    A person says so in their own words, and no page can.
    """
    return bool(_WISH.search(statement))


def preference(statement: str) -> bool:
    """Tell whether a statement says what some user wants or likes, whatever it is."""
    return bool(_PREFERS.search(statement))


def speaks_to_machines(text: str) -> bool:
    """Tell whether a text gives orders to the model that reads it."""
    return bool(_TO_MACHINES.search(text))


def names_source(said: str) -> bool:
    """Tell whether a sentence says whose words it tells: "the manual says", "官方文档说"."""
    return bool(_NAMES_SOURCE.search(said) or _ZH_NAMES_SOURCE.search(said))


def describes_source(said: str) -> bool:
    """Tell whether a sentence is about a source itself, or about what became of it."""
    return bool(_DESCRIBES.search(said) or _ZH_DESCRIBES.search(said))
