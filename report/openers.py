"""Find what only leads through a report: introductions, and the words that join its sentences."""

from __future__ import annotations

import re

from retrieval.regex import regex

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
_ASKS = regex(r"\b(?:how|what|who|when|where|why|which|whether)\b", re.IGNORECASE)
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

LONGEST = 30
"""From how many characters on a list after a colon says something itself."""


def introduces(statement: str) -> bool:
    """Tell whether a statement only says what a report goes on to tell, and how it is arranged.

    What it names after a colon are questions, or a few words.
    """
    said, _, listed = re.sub(r"^\W+", "", statement).replace("：", ":").partition(":")
    found = _INTRODUCES.match(said) or _ZH_INTRODUCES.match(said)
    short = len(listed) <= LONGEST and not re.search(r"\d", listed)
    return bool(found) and (short or bool(_ASKS.search(listed)))


def without_transition(said: str) -> str:
    """Return a statement without the words at its beginning that join it to what stands before."""
    bare = re.sub(r"^\s*[*_>-]*\s*", "", said)
    found = _TRANSITION.match(bare) or _ZH_TRANSITION.match(bare)
    return bare[found.end() :] if found else said


def points_back(said: str) -> bool:
    """Tell whether a statement begins with a word for what the one before it names."""
    bare = without_transition(re.sub(r"^[\s*_>-]+", "", said))
    if _EXPLETIVE.match(bare):
        return False
    return bool(_POINTS_BACK.match(bare) or _ZH_POINTS_BACK.match(bare))


def refers_to_all(said: str) -> bool:
    """Tell whether a statement begins with a word for all that the one before it says."""
    return bool(_REFERS_TO_ALL.match(without_transition(re.sub(r"^[\s*_>-]+", "", said))))


def sums_up(said: str) -> bool:
    """Tell whether a statement begins with words that sum up what stands before it."""
    return bool(_SUMS_UP.match(said))
