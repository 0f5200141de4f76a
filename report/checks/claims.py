"""Classify sentences: claims about the world, remarks about the report, references back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

from report.checks.caveats import is_absence_remark, is_own_inference
from report.checks.synonyms import list_irregular_forms
from report.markdown.markdown_blocks import parse_blocks, split_statements, statement_key
from report.markdown.markers import MARKER
from text.regex import regex
from text.script import HAN
from text.words import search_words

_COUNT = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|several|some|a\s+few|many|both|\d{1,2}"
    r"|a\s+(?:couple|number)\s+of|various|different|certain)"
)
_POINTS = (
    r"(?:points?|aspects?|things?|questions?|issues?|topics?|areas?|themes?|steps?|parts?|sections?"
    r"|groups?|categories|kinds|findings?|differences|similarities|observations|remarks|notes"
    r"|considerations|trade-?offs|options|answers?|conclusions?|results)"
)
_MATTER = (
    r"(?:matter|follow|stand|deserve|need|have|are|is|should|must|can|arise|emerge|remain|call|merit"
    r"|bear|seem|count|come)s?"
)
_OF_REPORT = (
    r"(?:report|section|answer|chapter|overview|summary|comparison|table|list|part|paragraphs?"
    r"|figure|chart|sections)"
)
_DOES = (
    r"(?:looks?|covers?|compares?|describes?|summari[sz]es?|sums?|deals?|examines?|begins?|starts?"
    r"|turns?|answers?|explains?|lists?|considers?|address(?:es)?|focus(?:es)?|gives?|sets?|collects?"
    r"|shows?|takes?|discuss(?:es)?|outlines?|reviews?|presents?|traces?|follows?|first"
    r"|(?:is|are)\s+(?:organi[sz]ed|divided|arranged|structured|in|taken|given|listed|summed))"
)
_INTRODUCES = regex(
    r"please\s+(?:say|tell|name|let|give|choose|state)\b|"
    rf"(?:the\s+(?:following\s+)?|these\s+|(?:here|there)\s+are\s+)?{_COUNT}\s+(?:\w+\s+)?{_POINTS}"
    rf"\s+(?:\w+\s+){{0,2}}?(?:{_MATTER}|to\s+\w+)\b"
    rf"|the\s+following\s+(?:\w+\s+)?{_POINTS}\s"
    rf"|(?:this|the\s+next|the\s+rest\s+of\s+(?:this|the)|the\s+following|each|the)\s+{_OF_REPORT}"
    rf"(?:\s+(?:below|above|here|that\s+follows?))?\s+(?:also\s+|then\s+|first\s+)?{_DOES}\b"
    r"|(?:in\s+what\s+follows|below|what\s+follows|here)\s*(?:,|\bis\b|\bare\b)"
    rf"|the\s+(?:short|brief|long|direct|main|key|full|overall)\s+(?:answer|{_POINTS})\s+"
    r"(?:is\s+this|are\s+(?:these|as\s+follows)|comes?\s+first|follows?|is\s+as\s+follows)"
    rf"|the\s+(?:sources?|answers?|findings?|results|evidence|material|question)\s+(?:can\s+be\s+)?"
    rf"(?:falls?|fits?|is|are|has|have|divided?|splits?|grouped)\s+(?:in|into|divided|grouped)?\s*"
    rf"(?:\w+\s+)?{_COUNT}\s+(?:\w+\s+)?{_POINTS}\b"
    r"|to\s+(?:answer|see|understand|judge)\s+(?:this|the\s+question|why|how)\b[^.]*\b(?:helps?|must"
    r"|has|have|is|needs?|worth|look)\b",
    re.IGNORECASE,
)
_ZH_COUNT = "(?:[一二三四五六七八九十两兩几幾数數多]|\\d{1,2})"
_ZH_POINTS = (
    "(?:个?方面|個?方面|[点點]|部分|[类類]|[种種]|[个個]?[问問][题題]|[个個]层面|[个個]步[骤驟]|[条條]"
    "|项|項|组|組|层)"
)
_ZH_INTRODUCES = regex(
    "[请請](?:[说說]明|告[诉訴]|指[明出]|[选選][择擇])|"
    "(?:本|下|以下|上|[这這此])(?:[报報]告|[节節]|文|表|[图圖]|部分|章|篇)[^，。]{0,12}"
    "(?:[介绍紹比较較]|[总總][结結]|[汇匯]|列|分|[说說]|[讨討]|[谈談]|[叙敘敍述]|概括|梳理|回答|涉及|[关關]注|按)"
    f"|(?:有|以下|下列|其中)?{_ZH_COUNT}{_ZH_POINTS}[^，。：]{{0,6}}(?:值得|需要?|要|如下|比[较較]|重要|[关關][键鍵])"
    f"|(?:[这這]里|[这這]裡|首先|先)?(?:要|需要?)(?:[区區]分|回答|[说說]明|注意|看)[^。]{{0,12}}{_ZH_COUNT}{_ZH_POINTS}"
    f"|(?:答案|[资資]料|[来來]源|[结結][论論]|[发發][现現]|要[点點])[^，。：]{{0,4}}(?:包括|分[为為]|可分|有|分成|[归歸]){_ZH_COUNT}"
    "|(?:以下|下面|下文|接下[来來]|[这這][里裡]|先|首先)[^。：]{0,16}"
    "(?:[说說]明|介[绍紹]|[谈談]|[叙敘敍]述|[给給]出|列出?|比[较較]|分析|[讨討][论論]|使用|[来來]看|回答|值得|如下)"
    "|(?:主要)?(?:[结結][论論]|[发發][现現]|要[点點]|[内內]容|答案)[^，。：]{0,4}如下"
    "|要(?:回答|理解|弄清)[^。]{0,10}(?:[问問][题題]|[这這]一[点點])"
)
_ASKING = regex(r"\b(?:how|what|who|when|where|why|which|whether)\b", re.IGNORECASE)
_TRANSITION = regex(
    r"(?:by\s+(?:contrast|comparison)|in\s+(?:contrast|addition|short|sum|summary|brief|practice"
    r"|general|particular|fact|other\s+words|conclusion|the\s+end|this\s+respect)|on\s+the\s+(?:one"
    r"|other)\s+(?:hand|side)|at\s+the\s+same\s+time|put\s+(?:differently|simply)|more\s+precisely"
    r"|above\s+all|as\s+for\s+\w+(?:\s+\w+)?|overall|to\s+sum\s+up|all\s+in\s+all|note\s+that"
    r"|here,?\s+too|however|moreover|furthermore|likewise|similarly|conversely|instead|meanwhile"
    r"|nevertheless|nonetheless|therefore|hence|thus|consequently|accordingly|finally|for\s+(?:example"
    r"|instance))\s*[,:]?\s+",
    re.IGNORECASE,
)
_ZH_TRANSITION = regex(
    "(?:相比之下|相[较較]之下|与此相反|與此相反|此外|另外|另一方面|一方面|[总總]的[来來][说說看]|[总總]之|[总總]体而言"
    "|[总總][体體][来來]看|换句话说|換句話說|换言之|換言之|与此同时|與此同時|同[时時]|[具详詳][体體細细][来來][说說]|值得注意的是"
    "|[简簡]而言之|[简簡]言之|就[^，。]{1,6}而言|首先|其次|再次|最后|最後|[综綜]上(?:所述)?|因此|所以|不[过過]|然而|但是|由此可[见見]"
    "|例如|比如|另[据據]|[实實][际際]上|事[实實]上|一般[来來][说說])[，,：:]\\s*"
)

_SUMS_UP = regex(
    r"\W*(?:in\s+(?:short|sum|summary|brief|conclusion|the\s+end|other\s+words|effect)|overall|to\s+sum"
    r"\s+up|all\s+in\s+all|altogether|taken\s+together|put\s+(?:differently|simply)|thus|therefore|hence"
    r"|[总總]的[来來][说說看]|[总總]之|[总總][体體]|[换換]句?[话話言]|[简簡]而?言之|[综綜]上|因此|所以|由此可[见見]|[可足]见|一言以蔽之)",
    re.IGNORECASE,
)
_POINTS_BACK = regex(
    r"(?:and|but|so|yet|if|when|since|because|as|though|although|with|for|in|then)?,?\s*"
    r"(?:(?:it|its|they|their|them|he|she|his|her|both|neither|that\s+one)\b|(?:this|these|those|such)\s)",
    re.IGNORECASE,
)
_REFERS_TO_ALL = regex(
    r"(?:and|but|so|yet|because)?,?\s*(?:(?:this|that)\s+(?:is|was|holds|applies|means|follows|makes|gives"
    r"|leaves|explains|rule|rate|figure|sum|number|value|limit|default)\b|from\s+(?:this|that)\b)"
    "|(?:但是?|因此|所以)?(?:[这這](?:是|[一条條种種个個]|意味|[说說]明|适用|適用|表明|只)|此[规規]|由此|据此|據此)",
    re.IGNORECASE,
)
_EXPLETIVE = regex(
    r"it\s+(?:\w+\s+){1,2}?(?:that|to|possible|likely|clear|worth|not\s+(?:clear|known|certain))\b",
    re.IGNORECASE,
)
_ZH_POINTS_BACK = regex(
    "(?:但是?|因此|所以|如果|若|而且?|并且?)?(?:它[们們]?|其(?!中|[实實]|他|它|余|餘|次)|[该該此]|[这這]|[他她]|[两兩]者|[前后後]者|二者)"
)

_MAX_LISTED_CHARS = 30  # a longer list after a colon is a claim


def is_introduction(statement: str) -> bool:
    """Tell whether a statement only announces what follows in a report, or its structure.

    After a colon, it may have only questions or a few words.
    """
    said, _, listed = re.sub(r"^\W+", "", statement).replace("：", ":").partition(":")
    found = _INTRODUCES.match(said) or _ZH_INTRODUCES.match(said)
    short = len(listed) <= _MAX_LISTED_CHARS and not re.search(r"\d", listed)
    return bool(found) and (short or bool(_ASKING.search(listed)))


def strip_transition(said: str) -> str:
    """Return a statement without the transition at its beginning."""
    bare = re.sub(r"^\s*[*_>-]*\s*", "", said)
    found = _TRANSITION.match(bare) or _ZH_TRANSITION.match(bare)
    return bare[found.end() :] if found else said


def has_back_reference(said: str) -> bool:
    """Tell whether a statement begins with a pronoun for something named before it."""
    bare = strip_transition(re.sub(r"^[\s*_>-]+", "", said))
    if _EXPLETIVE.match(bare):
        return False
    return bool(_POINTS_BACK.match(bare) or _ZH_POINTS_BACK.match(bare))


def has_summary_reference(said: str) -> bool:
    """Tell whether a statement begins with a reference to the whole statement before it."""
    return bool(_REFERS_TO_ALL.match(strip_transition(re.sub(r"^[\s*_>-]+", "", said))))


def is_summary_opener(said: str) -> bool:
    """Tell whether a statement begins with words that introduce a summary."""
    return bool(_SUMS_UP.match(said))


StatementKind = Literal["claim", "unsure", "open", "none"]
"""`unsure` is a hedged claim; `open` says what is unknown, or marks the writer's inference."""

_MAX_TOPIC_WORDS = 3  # a heading with no more words is a topic
_MAX_CLASSIFIED_CHARS = 2_000
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


def is_assertion(heading: str) -> bool:
    """Tell whether a heading makes a claim, rather than naming a topic or asking a question."""
    ending = _ENDING.search(heading)
    if _ASKS.match(heading) or (ending and not set("?？:：").isdisjoint(ending[0])):
        return False
    if re.search(f"[{HAN}]", heading):
        said = re.findall(f"[{HAN}]{{1,2}}|[A-Za-z0-9_.=-]+", heading)
        return len(said) > _MAX_TOPIC_WORDS and bool(_ZH_VERB.search(heading))
    said = heading.lower().split()
    return len(said) > _MAX_TOPIC_WORDS and bool(
        _VERB.search(heading) or _irregular_forms().intersection(said[1:-1])
    )


@cache
def _irregular_forms() -> frozenset[str]:
    """Return the forms of irregular verbs that are rarely nouns."""
    nouns = {"cast", "cut", "hit", "left", "ground", "found", "saw"}
    return frozenset(list_irregular_forms()) - nouns


def is_assertive_lead(line: str) -> bool:
    """Tell whether a line that introduces a list makes a claim itself."""
    said = line.rstrip(_CLOSING)
    return (
        said.endswith((":", "："))
        and not is_introduction(line)
        and is_assertion(said.rstrip(":： "))
    )


def is_explanatory_heading(heading: str) -> bool:
    """Tell whether a heading explains its topic after a colon or a dash."""
    explained = _EXPLAINED.fullmatch(heading)
    if not explained or heading.rstrip().endswith(("?", "？")):
        return False
    return not _ASKS.match(heading) and not _ASKS.match(explained["said"])


def classify_statement(statement: str) -> StatementKind:
    """Return the kind of a statement without a source."""
    caption = _CAPTION.fullmatch(statement)
    if caption and not is_assertion(caption["said"]):
        return "none"
    if _LABEL.fullmatch(statement) or statement.rstrip(_CLOSING).endswith((":", "：", "?", "？")):
        return "none"
    statement = statement[:_MAX_CLASSIFIED_CHARS]
    if is_absence_remark(statement) or is_own_inference(statement):
        return "open"
    if is_introduction(statement) or not set(search_words(statement)) - _YES:
        return "none"
    return "unsure" if _HEDGED.search(statement) else "claim"


def strip_caption_label(statement: str) -> str:
    """Return a caption without its label and number; any other line unchanged."""
    caption = _CAPTION.fullmatch(statement)
    return caption["said"] if caption else statement


def is_requester_wish(statement: str) -> bool:
    """Tell whether a statement says what the user wants from the report.

    Only the user can say this; no page can.
    """
    return bool(_WISH.search(statement))


def is_user_preference(statement: str) -> bool:
    """Tell whether a statement says what some user wants or likes."""
    return bool(_PREFERS.search(statement))


def has_model_instructions(text: str) -> bool:
    """Tell whether a text gives instructions to the model that reads it."""
    return bool(_TO_MACHINES.search(text))


def has_attribution(said: str) -> bool:
    """Tell whether a sentence attributes its words: "the manual says", "官方文档说"."""
    return bool(_NAMES_SOURCE.search(said) or _ZH_NAMES_SOURCE.search(said))


def is_about_source(said: str) -> bool:
    """Tell whether a sentence is about a source itself, or about how it was used."""
    return bool(_DESCRIBES.search(said) or _ZH_DESCRIBES.search(said))


_LEADING_CODE = regex(r"\W*?(?:the\s+)?`([^`]+)`", re.IGNORECASE)


def list_dangling_statements(body: str, gone: Sequence[str]) -> list[str]:
    """Return the statements of a text that refer back to a removed statement.

    A removed statement that refers back itself leaves its referent in place, as does one that
    begins with the same subject as the statement kept before it.
    """
    removed = set(map(statement_key, gone))
    dangling: list[str] = []
    for part in parse_blocks(body):
        kept = ""
        for before, after in pairwise(split_statements(part.text)):
            if statement_key(before) not in removed:
                kept = before
            elif has_back_reference(after) and not (
                has_back_reference(before) or _same_subject(kept, before)
            ):
                dangling.append(after)
    return dangling


def _same_subject(one: str, other: str) -> bool:
    """Tell whether two sentences begin with the same code or the same content word."""
    first, second = _leading_term(one), _leading_term(other)
    return bool(first) and first == second


def _leading_term(said: str) -> str:
    bare = strip_transition(MARKER.sub("", said))
    code = _LEADING_CODE.match(bare)
    return code[1] if code else next(iter(search_words(bare)), "")
