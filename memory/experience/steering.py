"""What a lesson may not be about: what it promotes, hides, passes on, or says of the person."""

from __future__ import annotations

import re

from retrieval.regex import regex

_SOURCES = (
    "(?:sources?|pages?|sites?|web ?sites?|results?|hits?|articles?|papers?|stud(?:y|ies)|reports?"
    "|tests?|reviews?|statements?|claims?|figures|warnings?|offices?|authorit(?:y|ies)|agenc(?:y|ies)"
    "|governments?|universit(?:y|ies)|experts?|critics?|others|the rest|them|whatever|anything"
    "|everything)"
)
_OUTPUT = (
    "(?:reports?|answers?|repl(?:y|ies)|sections?|summary|summaries|texts?|comparisons?|paragraphs?"
    "|conclusions?|tables?|lists?|plans?|steps?|descriptions?|titles?|notes?|findings?)"
)
_CHECKING = (
    "(?:check\\w*|verif\\w+|confirm\\w*|review\\w*|reflect\\w*|approv\\w+|plan|plans|planning|proof"
    "|second (?:look|source|opinion|reading)|caveat\\w*|limit\\w*|risk\\w*|warn\\w*|danger\\w*"
    "|side effects?|harm\\w*|doubt\\w*|contradict\\w*|critic\\w*|drawback\\w*|disadvantage\\w*"
    "|footnot\\w*|objection\\w*|uncertaint\\w+|counter\\w*)"
)
_DROP = (
    r"(?:drop|discard|ignor|skip|reject|leav|left|exclud|distrust|disregard|set|avoid|filter|omit"
    r"|remov|dismiss|bypass|pass over|unread|neglect)\w*"
)
_BY_FORM = (
    r"(?:without|with no|lacking|that (?:lack|have no|give no|repeat)|which (?:lack|have no)"
    r"|older than|undated|duplicate|empty|broken|already read|copied|mirror)\b"
)

PROMOTES = regex(
    r"\b(?:recommend|endors|promot|advert|prais|trust|invit)\w*"
    r"|\bfavou?r\w*+(?! (?:brevity|clarity|concis|precis|short|plain|simpl|primary|recent|newer"
    r"|original|exact|depth|breadth|tables|figures|dates))"
    r"|\b(?:only|solely|exclusively|nothing but|no other|none but|just)\b[^.!?;]{0,40}"
    r"\b(?:cit|quot|name|naming|mention|link|believ|rel[iy]|credit)\w*"
    r"|\b(?:cit|quot|name|naming|mention|link|believ|rel[iy]|credit)\w*\b[^.!?;]{0,40}"
    r"\b(?:only|solely|exclusively|nothing but|no other|no one else|nobody else|alone)\b"
    r"|推[荐薦广廣崇销銷]|宣[传傳]|[赞讚][扬揚美]|[吹夸誇]|信任|只(?:能|[许許]|可以?)?(?:[引用信提写寫])|[仅僅](?:能|可)?(?:[引用信提])"
    r"|唯一.{0,8}(?:[来來]源|引用)|不(?:要|得|可|能)引用(?:其他|别|別)",
    re.IGNORECASE,
)
"""Words that say whom to trust or cite, which is not a way of working."""

TRADE = regex(
    r"\b(?:sellers?|vendors?|makers?|manufacturers?|brands?|rivals?|competitors?|shops?|stores?"
    r"|retailers?|suppliers?|dealers?|compan(?:y|ies)|firms?|sponsors?|products?|offers?|orders?"
    r"|buy(?:ers?|ing)?|bought|purchas\w+|sells?|selling|sales?|sold|hotlines?|discounts?|stocks?"
    r"|cheap\w*|bargains?|invest\w*|partners?)\b"
    r"|[卖賣]家|商家|[厂廠][家商]|品牌|公司|企[业業]|集[团團]|[产產]品|客服|[热熱][线線]|[优優]惠|[订訂][购購]|[购購][买買]"
    r"|[电電][话話]|[广廣]告|[经經][销銷]",
    re.IGNORECASE,
)
"""Who sells something, and what is sold."""

_LOOSENS = (
    r"\b(?:do not|don['’]t|does not|doesn['’]t|never|no need|need no|needs no|needless|without"
    rf"|{_DROP}|hide|conceal|suppress|downplay|play down|waste|nothing|useless|unnecessary"
    rf"|superfluous|pointless|too (?:slow|costly)|only costs?)\b[^.!?;]{{0,40}}?\b{_CHECKING}\b"
    rf"|\b{_CHECKING}\b[^.!?]{{0,40}}?\b(?:nothing|waste|useless|unnecessary|superfluous|pointless"
    r"|not needed|no use|(?:can|may|could) be (?:skipped|left)|leave (?:it|them) out"
    r"|skip (?:it|them)|needs? no|is not|are not|only costs?)\b"
    r"|\bgo(?:ing)? (?:straight|directly|right)\b"
    r"|\b(?:one|a single|any single|the first) (?:source|page|site|document|search|check|paper"
    r"|reading|look|query|test)\b[^.!?;]{0,30}\b(?:enough|suffic\w+|fine|will do|is plenty)\b"
    r"|\b(?:mark|call|treat|report|present|count|take|accept|regard|consider|see|view|hold)\w*\b"
    r"[^.!?;]{0,60}?\bas (?:a |an |being )?(?:confirmed|true|certain|proven|supported|safe|harmless"
    r"|settled|given|final|facts?|read|reliable|authorit\w+|right|wrong|false|outdated|biased)"
    r"|(?:不要|不必|无需|無需|不用|别|別|勿|忽略|隐瞒|隱瞞|省略|跳过|跳過)[^。！？；]{0,10}?"
    r"(?:核对|核對|核实|核實|查证|查證|检查|檢查|验证|驗證|审查|審查|质疑|質疑|风险|風險|副作用|警告|危险|危險|缺点|缺點|争议|爭議"
    r"|第二|再[看查]|[计計][划劃]|反思|复核|[复復]查)"
    r"|一[个個份篇][^。！？；]{0,6}(?:就|便|已)?(?:够|夠|足)"
)

_JUDGES = (
    rf"\b{_SOURCES}\b[^.!?;]{{0,60}}?\b(?:is|are|tends? to be|seems?)\b[^.!?;]{{0,20}}?\b"
    r"(?:outdated|unreliable|reliable|biased|trustworthy|settled|authoritative|exaggerat\w+|alarmist|wrong"
    r"|right|correct|credible|best|better|honest|neutral|superior|enough)\b"
    rf"|\b{_DROP}\b(?! (?:the|a|any|every|all)? ?(?:question|comparison))[^.!?;]{{0,20}}?"
    rf"\b{_SOURCES}\b(?!\s*{_BY_FORM})(?![^.!?;]{{0,25}}\b{_BY_FORM})"
    rf"|\b{_SOURCES}\b[^.!?;]{{0,30}}\b(?:(?:can|may|should|must) be (?:ignored|dropped|skipped"
    r"|left|discarded|disregarded)|left unread)\b"
    r"|[来來]源[^。！？]{0,10}(?:可靠|[权權]威|[过過][时時]|偏[见見])|[网網][页頁站][^。！？]{0,12}(?:[过過][时時]|不可靠|[权權]威)"
    r"|(?:去掉|[丢丟]弃|[删刪]掉|[删刪]除|排除|不看)[^。！？；]{0,6}(?:其他|[来來]源|[网網]|[说說]法|警告|[数數]据)"
    r"|(?:其他|[别別]的)[^。！？；]{0,6}(?:去掉|[丢丟]弃|不看|[删刪]|排除)"
)

_OBEYS = (
    r"\b(?:pages?|sites?|texts?|sources?|articles?|tables?|files?)\b[^.!?;]{0,20}?\b(?:asks?|wants?"
    r"|tells?|requests?|demands?|orders?|hints?|wish\w*|begs?)\b|\b(?:hints?|requests?|wishes|orders)"
    r"\b[^.!?;]{0,20}?\b(?:pages?|sites?|texts?|sources?|articles?)\b|\bside with\b"
    r"|\b(?:say|mention|write|state|tell|claim|add|stress|note|remind|insist)\b[^.!?;]{0,30}?"
    r"\bthat\b(?! (?:is|are|has|have|was|were|names?|gives?|holds?)\b)"
    r"|\b(?:propaganda|lies|lying|hoax\w*|scare\w*|myths?|fearmonger\w*|conspir\w*)\b"
    r"|(?:[网網][页頁站]|来源|來源|文章)[^。！？]{0,6}(?:要求|希望|叫|吩咐)"
)

_PLACES = (
    rf"\b(?:end|close|closing|finish|conclud|begin|start|open|lead|head|top)\w*\b[^.!?;]{{0,30}}?\b{_OUTPUT}\b"
    rf"[^.!?;]{{0,20}}?\b(?:with|by|on)\b|\b{_OUTPUT}\b[^.!?;]{{0,20}}?\b(?:end|close|closing|finish|conclud"
    r"|begin|start|open)\w*\b[^.!?;]{0,10}?\b(?:with|by)\b|\bwith the (?:sentence|words|phrase)\b"
    r"|\bthank\w*\b|\bdeserv\w+|\bsteer\w*|\bon top\b|\babove (?:all|any|every|the) (?:other|rest)"
    r"|(?:[结結]尾|末尾|[开開][头頭]|最前)[^。！？]{0,4}(?:[写寫]|加|放|提)|放在[^。！？]{0,4}(?:前|[开開][头頭]|第一)"
    r"|[们們國国]?[^，。的]{1,4}的官?[网網]站?[^。]{0,4}再"
)

_PASSES_ON = (
    r"\b(?:memory|memories|instructions?|prompts?|profiles?|agents\.md|guidance|insights?|lessons?"
    r"|next run|household|home town|encod\w+|addresses"
    r"|passwords?|secrets?|conversations?|chats?|private|personal(?:ly)?|confidential)\b"
    r"|\b(?:include|including|append|add|insert|writ|put|send|past|cop|attach|embed|encod|spell|fill|hold|carr"
    r"|contain|repeat)\w*\b[^.!?;]{0,60}?\b(?:quer(?:y|ies)|search (?:terms?|words?|texts?|strings?"
    r"|box))\b|\b(?:quer(?:y|ies)|search (?:terms?|words?|texts?|strings?))\b[^.!?;]{0,40}?"
    r"\b(?:hold|contain|include|carr|name|naming|mention)\w*\b"
    r"|[记記][忆憶]|指令|[说說]明书|提示[词詞]|[档檔]案|隐私|[隐隱]私|住址|地址|姓名"
    r"|(?:查[询詢]|搜索)(?:[词詞语語里裡中]){0,2}[^。！？]{0,3}(?:[写寫]|加|包含|附|[带帶]|放)"
    r"|[写寫放加带帶附][^。！？]{0,2}[进進入到][^。！？]{0,2}(?:查[询詢]|搜索)"
)

HARMS = regex(f"{_LOOSENS}|{_OBEYS}|{_JUDGES}|{_PLACES}|{_PASSES_ON}", re.IGNORECASE)
"""What checks or tells less, judges sources by what they say, sets words, or passes words on."""

OF_THE_PERSON = regex(
    r"\b(?:user|reader|client|customer|asker|owner|boss|audience|human)s?\b"
    r"|\b(?:the|this|our|your|each|every|a) persons?\b(?! (?:who|that|whose))|\bwho(?:ever)? asks\b"
    r"|\bthey\b[^.!?]{0,40}?\b(?:want|wish|prefer|like|love|ask|need|trust|expect|said|say|told"
    r"|tell|request|demand|insist|agree)\w*"
    r"|用户|用戶|读者|讀者|客户|客戶|提问者|提問者|使用者|主人",
    re.IGNORECASE,
)
"""Words about whoever asks, for whom a lesson may not speak."""
