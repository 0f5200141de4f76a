"""How people say plainly what should be known of them, in English and in Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping

_ANSWERS = "(?:answers?|reports?|replies|responses|summaries|texts|explanations)"
_SHORT = r"short|shorter|brief|briefer|concise|succinct|terse|to the point|简[短洁潔明]|簡[短潔明]|精[炼煉简簡]|短一[点點些]"
_LONG = r"detailed|comprehensive|thorough|in[- ]depth|exhaustive|long|longer|[详詳][细細尽盡]|全面|深入|完整"


def _pattern(*ways: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{way})" for way in ways), re.IGNORECASE)


LEAD = _pattern(
    r"^\W+",
    r"^(?:hi|hello|hey|also|so|well|and|but|oh|ok|okay|thanks|thank you|by the way|btw|fyi|please)\b[\s,.!:]*",
    r"^(?:你好|您好|嗨|另外|还有|還有|对了|對了|顺便说一下|順便說一下|那个|谢谢|謝謝)[\s,.!:。]*",
)
"""Words before what is said; they may come one after the other."""

NOTE = _pattern(
    r"^(?:please )?(?:remember|note|keep in mind|bear in mind|don't forget|do not forget)\b"
    r"(?:,? please,?)?(?: that\b[\s,:]*|[:,]\s*| (?=(?:i|i'm|my|we|our)\b))",
    r"^[请請]?(?:你|您)?(?:要|一定要|务必|帮我|替我)?(?:记住|記住|记下|記下|注意|别忘了|別忘了|不要忘记|不要忘記)[\s,:。]*",
)
"""What asks that the words behind it be remembered."""

DENIED = _pattern(
    r"^(?:no|nope|actually|wrong|correction|not quite)\b[\s,.:;!-]*",
    r"^(?:that|this|it)(?:'s| is| was) (?:wrong|incorrect|not (?:right|correct|true|so))\b[\s,.:;!-]*",
    r"^you(?:'re| are| were) (?:wrong|mistaken)\b[\s,.:;!-]*",
    r"^(?:不[对對]|(?:你|您)?(?:[搞弄说說记記写寫])?[错錯]了|不是[这這]样|不是[这這]樣|更正|[纠糾]正)(?:一下)?[\s,.:;!。]*",
)
"""What says that something is wrong."""

RIGHT = _pattern(
    r"^(?P<right3>.*\bnot (?P<wrong2>.+?),? but .+)$",
    r"^(?P<right>.+?\b(?:is|are|was|were|am|be|means?|it's|that's|i'm|live|work|in|on|at)\b.*?)[,;]?"
    r" (?:and |but )?not (?P<wrong>.+)$",
    r"^(?P<right2>.*\bshould (?:be|read|say)\b.+)$",
    r"^(?P<right4>.*?[应應][该該]?是.+)$",
    r"^(?P<right5>.*?不是(?P<wrong3>.+?)[,，\s]*而?是.+)$",
    r"^(?P<right6>.*?是.+?)[,，\s]*而?不是(?P<wrong4>.+)$",
)
"""What says what is right instead, and maybe what is not."""

CONTRAST = _pattern(
    r"^(?:it|that)(?:'s| is| was| should be) .+, not .+$",
    r"^(?:是|那是|[这這]是).+[,，]\s*(?:而)?不是.+$",
)
"""A correction that needs no word before it."""

WISHES = _pattern(
    rf"^(?:do not|don't|never|avoid|no)\b.{{2,120}}\b(?:in|for|from)(?: your| my| the| any| all| future| every| each)*"
    rf" {_ANSWERS}$",
    r"^(?:always|never) (?:answer|write|reply|respond|cite|use|give|include|show|quote|call|address"
    r"|start|begin|end|put|add|format|keep|mention|explain|convert|translate|avoid|be)\b.{2,}$",
    r"^(?:from now on|from here on|henceforth|going forward)\b.{4,}$",
    r"^.{4,}\bfrom now on$",
    rf"^(?:keep|make) (?:your |my |the |all )*{_ANSWERS} .+$",
    r"^(?:以后|以後|今后|今後|[从從][现現]在[起开開]始?|[从從]今以[后後]|每次|[总總]是|始[终終]|永[远遠])[\s,]*(?:都|也|[请請])?.{2,}$",
    r"^(?:不要|[别別]|勿|切勿)再?(?:用|使用|[写寫]|[给給]|引用|加|出[现現]|包含|提|放|列|[说說]|叫).{1,60}$",
    r"^(?:回答|[报報]告|答案|回[复復]).{0,6}(?:要|用|不要|[请請]).{1,60}$",
)
"""A wish for every answer."""

STATED: Mapping[str, re.Pattern[str]] = {
    "name": _pattern(
        r"^(?:just |you (?:can|may) )?call me (?P<value>[^\s,;]+(?: [A-Z][^\s,;]*)?)$",
        r"^my (?:first |last )?name(?:'s| is) (?P<value2>[^,;]{1,60})$",
        r"^(?:[请請]?(?:以[后後])?(?:你|您)?(?:可以)?(?:叫|[称稱]呼)我(?P<value3>[^\s,;的]{1,20}))$",
        r"^我(?:的名字)?(?:叫|是叫)(?:做)?(?P<value4>[^\s,;]{1,20})$",
        r"^我的名字是(?P<value5>[^\s,;]{1,20})$",
    ),
    "former": _pattern(
        r"^i(?:'m| am) (?:no longer|not) (?:an? |the )?(?P<value>[^,;]{2,80}?)(?: any ?(?:more|longer))?$",
        r"^i (?:no longer|don't|do not) work as (?:an? )?(?P<value2>[^,;]{2,80}?)(?: any ?(?:more|longer))?$",
        r"^我(?:[现現]在)?(?:不再是|已[经經]不是|不是)(?:一?[名个個位])?(?P<value3>[^,;]{1,40}?)了?$",
    ),
    "identity": _pattern(
        r"^i(?:'m| am)(?: now| currently| also| still| actually| myself)* (?:an?|the) (?!bit\b|little\b|lot\b|few\b|(?:big |huge |great )?fan\b)(?P<value>[^,;]{2,80})$",
        r"^i(?:'m| am)? ?(?:now |currently )?work(?:ing)?(?: now)? as (?:an? |the )?(?P<value2>[^,;]{2,80})$",
        r"^i(?:'ve| have)? (?:became|become|just became) (?:an? )?(?P<value4>[^,;]{2,80})$",
        r"^我(?:[现現]在|目前|也|[还還]|已[经經])*是(?:一?[名个個位])?(?![说說想问問不否在怎谁誰指])(?P<value5>[^,;]{1,40}?)了?$",
    ),
    "role": _pattern(
        r"^(?:speaking )?as an? (?P<value>[^,;]{2,60})$",
        r"^作[为為](?:一?[名个個位])?(?P<value2>[^,;]{1,40})$",
    ),
    "home": _pattern(
        r"^i(?:'ve| have)?(?: now| currently| just)? (?:live|moved|am living|am based|'m based) (?:in|to|near|at) (?P<value>[^,;]{2,80})$",
        r"^i(?:'m| am)(?: now)? (?:living|based) (?:in|near|at) (?P<value2>[^,;]{2,80})$",
        r"^我(?:[现現]在|目前|家)*(?:住在|搬到了?|定居在?)(?P<value3>[^,;]{1,30}?)了?$",
    ),
    "work": _pattern(
        r"^i(?:'m)?(?: now| currently)? work(?:ing)? (?:in|at|for|with|on) (?P<value>[^;]{2,100})$",
        r"^i(?: now| currently)? (?:study|teach|run|own|manage|keep|speak) (?!to\b|into\b|out\b|\w+ing\b)(?P<value2>[^;]{2,100})$",
        r"^i have (?:an?|two|three|four|five|six|\d+|several|many|some) (?!questions?\b|problems?\b|doubts?\b|idea|look\b)(?P<value4>[^;]{2,100})$",
        r"^我(?:[现現]在|目前)*(?:在.{1,30}(?:工作|上班|[读讀][书書]|上[学學]|任教)|[从從]事|[负負][责責]|[养養]了?|[经經][营營])(?P<value3>.{0,40})$",
    ),
    "preference": _pattern(
        r"^(?:i|we)(?: really| much| usually| generally| always| strongly| also| now)* (?:prefer|dislike|hate|love"
        r"|(?:do not|don't) (?:like|want|use|eat|need)|like|can't stand|always use|never use|only use"
        r"|would rather|'d rather)\b (?!(?:this|that|it|you|your|to know|to see)\b)(?P<value>.{3,160})$",
        r"^i(?:'m| am) (?:a )?(?:big |huge |great )?fan of (?P<value5>.{3,160})$",
        r"^i'd rather\b (?P<value2>.{3,160})$",
        r"^my (?:favou?rite|preferred) (?P<value3>.{3,160})$",
        r"^我(?:比[较較]|更|最|很|非常|一直|特[别別]|不太|不|一般|通常|也|[还還]是)*(?:喜[欢歡]|偏好|[爱愛](?:用|看|吃)|[讨討][厌厭]|[习習][惯慣]|[倾傾]向(?:于|於)?|只用|不用|不吃|不喝)(?![你您这這])(?P<value4>.{1,80})$",
    ),
}
"""Statements about oneself by what they say; of a name, a home, a person has one."""

TASTES: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "detail": {
        "concise": _pattern(_SHORT),
        "balanced": _pattern(r"balanced|medium[- ]length|适中|適中"),
        "comprehensive": _pattern(_LONG),
    },
    "depth": {
        "overview": _pattern(r"overviews?|high[- ]level|big picture|概[览覽述要]|大[概致]"),
        "practical": _pattern(r"practical|hands[- ]on|actionable|how[- ]to|[实實][用践踐]|可操作"),
        "conceptual": _pattern(r"conceptual|theor(?:y|etical)|principles|原理|理[论論]|概念"),
    },
    "format": {
        "bullets": _pattern(r"bullets?|bullet points|lists|列表|[要条條][点點目]"),
        "tables": _pattern(r"tables|表格"),
        "prose": _pattern(r"prose|paragraphs|running text|段落|[连連][贯貫]的?文字"),
        "examples": _pattern(r"examples|例子|[举舉]例|示例"),
    },
}
"""The words for how somebody likes answers, by field and value of a profile."""

OF_ANSWERS = _pattern(_ANSWERS, "回答|[报報]告|答案|回[复復]|解[释釋]", "^i prefer|^我(?:更|比[较較])?(?:喜[欢歡]|偏好)")
"""What a taste must be about, else it is a taste for something else."""

NEGATED = _pattern(r"\b(?:no|not|don't|never|avoid|without|dislike|hate|can't)\b|不|[别別]|勿|[讨討][厌厭]")

NOT_NOW = _pattern(
    r"\b(?:this (?:time|once|report|answer|question|one)|today|tonight|right now|for now|at the moment"
    r"|just now|here|yesterday|tomorrow)\b",
    "[这這](?:次|一次|[个個][问問][题題]|份[报報]告|[个個]回答)|今天|今晚|明天|昨天|[刚剛]才|[暂暫][时時]|此刻",
)
"""Words of what holds only for the moment."""

CHANGED = _pattern(r"\b(?:now|these days|became|become|no longer|moved|switched|changed)\b|[现現]在|不再|改[行为為]|搬")
"""Words that say it was different before."""

ACK = _pattern(
    r"(?:ok|okay|k|yes|yep|yeah|no|nope|sure|fine|great|good|nice|cool|perfect|thanks|thank you|thx|ty|got it|go on"
    r"|continue|hi|hello|hey|bye|goodbye|please)[\s,!.]*",
    "(?:好的?|嗯+|是的?|不|可以|行|[谢謝]{1,2}你?|多[谢謝]|知道了|明白了?|[继繼][续續]|你好|您好|再[见見]|收到)[\\s,!.。啊呀吧]*",
)
"""Whole sentences that say nothing of anybody."""
