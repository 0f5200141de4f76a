"""Recognize remarks on what the sources lack, and a writer's own inferences."""

from __future__ import annotations

import re

from text.regex import regex
from text.script import HAN

_SOURCES = (
    r"sources?|documents?|passages?|findings?|files?|texts?|pages?|articles?|materials?|excerpts?"
    r"|accounts?|records?|search(?:es)?|results?|notes|contents?|information|extracts?|snippets?"
)
_SAYS = (
    r"say|state|mention|specif|describe|give|gave|given|name|contain|address|cover|discuss"
    r"|provide|report|tell"
    r"|told|explain|includ|list|indicat|show|turn|yield|return|answer|identif|clarif|detail"
    r"|offer|silent|disclos|elaborat"
    r"|record|quantif|reveal|found|find|mean|have|had|known|available|define|document|refer"
    r"|touch|support any"
)
_NOT = (
    r"(?:\b(?:no|not|none|nothing|never|neither|nor|nowhere|without|cannot|silent|fails? to)\b"
    r"|n['’]t\b)"
)
# The first place on a line, or behind a full stop of it, has all behind it that a later one has.
_FIRST = r"(?:^|(?<=\n))(?>.*?"
_FIRST_IN_PART = r"(?:^|(?<=[.\n]))(?>[^.\n]*?"
_NOT_FOUND = regex(
    rf"{_FIRST}\b(?:neither|none|no)\b(?:\s+of)?(?:\s+\w+){{0,2}}\s+(?:{_SOURCES})\b)"
    rf"(?=.*\b(?:{_SAYS}))"
    rf"|{_FIRST}\b(?:the|these|those|this|that|any|no|your|given|available|provided|none|neither"
    rf"|both|either|all)\s+(?:\w+\s+){{0,2}}(?:{_SOURCES})\b)"
    rf"(?=.*{_NOT})(?=.*\b(?:{_SAYS}))"
    rf"|{_FIRST_IN_PART}{_NOT})(?=.*\b(?:{_SAYS}))[^.]*\b(?:the|these|those|any|your|given|available"
    rf"|provided)\s+(?:\w+\s+)?(?:{_SOURCES})\b"
    rf"|{_FIRST_IN_PART}\b(?:no|any)\s+(?:\w+\s+){{0,3}}(?:evidence|information|mention|data"
    r"|details?|figures?|sources?|statements?|answers?|indication|record|reference)\b)"
    r"[^.]*\b(?:found|available|given|provided|mentioned|located|identified|turned up)"
    r"|\b(?:there\s+(?:is|are|was|were)\s+no\s+(?:\w+\s+)?(?:mention|information|details?"
    r"|statement|reference|indication)|no\s+evidence)\b"
    r"|\bnothing\s+(?:\w+\s+){0,3}(?:found|said|mentioned|known|stated|turned\s+up|available"
    r"|came\s+up)"
    r"|\b(?:not|never|nowhere)\s+(?:be\s+|been\s+|explicitly\s+|directly\s+|further\s+"
    r"|anywhere\s+)*"
    r"(?:stated|mentioned|specified|disclosed|determined|established|verified|confirmed"
    r"|identified|answered|covered|documented)\b"
    r"|\b(?:i|we)\s+(?:(?:could|can|did|do|was|were|am|are)(?:\s*not|n['’]t)\s+\w+|found\s+(?:no"
    r"|nothing)|(?:was|were|am|are)\s+unable)"
    r"|\b(?:remains?|left|is|are|still)\s+(?:unknown|unclear|open|unanswered|uncertain"
    r"|unresolved|undetermined)\b"
    r"|\bsilent\s+(?:about|on)\b|\bnot\s+(?:known|clear)\b",
    re.IGNORECASE,
)
_ZH_SOURCES = (
    "段落|资料|資料|来源|來源|文档|文檔|文件|文献|文獻|文章|材料|原文|文中|正文|全文|页面|頁面"
    "|网页|網頁|内容|內容|段文字|文字|记载|記載|检索|檢索"
    "|搜索|搜尋|研究结果|研究結果|上述|信息|资讯|章节|章節|摘录|摘錄|报道|報道|数据|統計|统计"
    "|证据|證據|说法|答案"
)
_ZH_NOT = "没|沒|未|无(?!论|数)|無(?!論|數)|不(?!仅|但|僅|过|過|同|少)|找不到|只字"
_ZH_SAYS = (
    "提|说|說|写|寫|给|給|涉|交代|记|記|载|載|见|見|列|包含|找|查|得|答|披露|指|介绍|介紹|描述"
    "|确|確|谈|談|述|明|有关|有關|关于|關於|解释|解釋"
)
_ZH_NOT_FOUND = regex(
    f"{_FIRST}(?:{_ZH_SOURCES})).*?(?:{_ZH_NOT}).{{0,12}}?(?:{_ZH_SAYS})"
    f"|(?:{_ZH_NOT}).{{0,12}}?(?:{_ZH_SAYS}).{{0,24}}?(?:{_ZH_SOURCES})"
    "|(?:没有?|沒有?|未能?|尚未|无法|無法)(?:找到|查到|查明|检索到|檢索到|确定|確定|得知|核实"
    "|核實|证实|證實)|(?:无法|無法|未能|难以|難以)[^，。]{0,16}(?:确定|確定|判断|判斷|得知|看出|找到|查到|得出)"
    "|[找查]不到|不得而知|只字未提|隻字未提|无从得知"
)
_OWN = regex(
    r"\b(?:my|our|an?|this|the|own|reasonable)\s+(?:own\s+|cautious\s+"
    r"|tentative\s+)*(?:inferences?|assumptions?|estimates?|guess|reading|assessment"
    r"|judge?ment|interpretation|opinion|hypothesis|conjecture|speculation|view|impression"
    r"|recommendation|advice|preference|suggestion|point\s+of\s+view|mind|taste)\b"
    r"|\bas\s+(?:I|we)\s+see\s+it\b|\b(?:personally|arguably)\b|\bif\s+(?:I|we)\s+had\s+to\b"
    r"|\ba\s+matter\s+of\s+(?:taste|opinion|judge?ment)\b"
    r"|\b(?:i|we|one)\s+(?:(?:may|might|can|could|would|must|do)\s+)?(?:therefore\s+"
    r"|only\s+)?(?:infer|assume|suppose|suspect|think|believe|conclude"
    r"|estimate|guess|speculate|deduce|judge|recommend|suggest|advise|prefer|favou?r|lean|consider"
    r"|find|choose|argue|say|expect|rate|(?:would|should)\s+(?:say|argue|expect)|(?:am"
    r"|are)\s+(?:not\s+(?:sure|certain|able)|unsure|inclined)|cannot\s+(?:say|tell|be)|take\s+it)\b"
    r"|\b(?:inferred|assum(?:ed|ing)|presumabl\w*|supposedly|uncertain\w*|unclear|unknown"
    r"|not\s+(?:\w+\s+)?(?:certain|sure|clear)|caveats?|tentative\w*"
    r"|(?:with|some|due)\s+caution|to\s+be\s+confirmed|unverified|unconfirmed|inference)\b"
    r"|^\W*(?:(?:it|this|that)\s+(?:seems|appears|looks|is\s+(?:likely|possible|probable"
    r"|plausible|conceivable|unlikely))|(?:this|these|they|taken|together)\b.{0,30}\bsuggests?\b"
    r"|(?:perhaps|possibly|probably|maybe)\b)",
    re.IGNORECASE,
)
_INFER = "(?:推断|推斷|推测|推測|推论|推論|推想|推知|猜测|猜測)"
_ZH_OWN = regex(
    f"(?:我们?的?|我們的?|笔者的?|筆者的?|据此|據此|由此|可以?"
    f"|[这這此][^，。]{{0,8}}[是为為][^，。]{{0,16}}|根据[^，。]{{0,12}}|^\\W*){_INFER}"
    "|[这這此]只?是[^，。]{0,6}假[设設]|我们?(?:认为|認為|觉得|覺得)|笔者|筆者|个人(?:看法|判断"
    "|理解)|不确定|不確定"
    "|[尚并並还還]不(?:清|明|确|確|知|能确|能確|能肯)|尚未(?:查|明|确|確|清|证实|證實|找)"
    "|不能肯定|(?:无法|無法|未能)(?:证实|證實|确定|確定|核实|核實|肯定|判断|判斷)"
    "|在我看[来來]|[依照]我(?:之[见見]|看)|我[们們]?的?(?:建[议議]|看法|印象|判[断斷]|意[见見]|推荐|推薦|偏好|[倾傾]向)"
    "|我[们們]?(?:更|最|[会會]|[还還]是)?(?:[倾傾]向|推荐|推薦|主[张張]|[选選]|[说說]|喜[欢歡])|[个個]人[认認][为為]|[见見]仁[见見]智|[权權]衡之下"
    "|我的角度|可以[说說]|[这這]是判[断斷]"
    "|不清楚|存疑|仅供参考|僅供參考|需要?注意|[需应應]谨慎|^\\W*(?:看来|看來|似乎)|由此可见|据此"
    "|據此|很可能|^\\W*估[计計]"
)
_WRITTEN = (
    rf"(?:{_SOURCES}|manuals?|handbooks?|guides?|documentation|docs?|FAQs?|history|papers?"
    r"|chapters?|sections?|readmes?|books?|authors?|material|corpus|them|these|those)"
)
_TOLD = (
    r"(?:says?|said|states?|stated|mention(?:s|ed)?|specif(?:y|ies|ied)|discuss(?:es|ed)?"
    r"|describe[sd]?|address(?:es|ed)?|explain(?:s|ed)?|compare[sd]?|names?|named|tells?|told"
    r"|clarif(?:y|ies|ied)|document(?:s|ed)?|answers?|answered|reveal(?:s|ed)?|list(?:s|ed)?"
    r"|elaborate[sd]?|cover(?:s|ed)?|treat(?:s|ed)?|touch(?:es|ed)?|record(?:s|ed)?|notes?|noted)"
)
_SILENT = regex(
    r"(?:\b(?:not|never|nowhere)|n['’]t)\s+(?:\w+ly\s+|even\s+|anywhere\s+|be\s+|been\s+){0,2}"
    r"(?:said|told|named|stated|mentioned|discussed|described|addressed|explained|spelt\s+out"
    r"|spelled\s+out|elaborated)\s*(?:$|[.;,)]|(?:in|anywhere|there|here|at\s+all|either|on)\b)"
    r"|\b(?:they|both|authors?)\s+(?:\w+\s+){0,2}?(?:do|does|did)(?:\s+not|n['’]t)\s+(?:\w+\s+)?"
    rf"{_TOLD}\b"
    r"|\bit\s+(?:does|did)(?:\s+not|n['’]t)\s+(?:\w+\s+)?(?:say|state|mention|specify|explain"
    r"|discuss|elaborate)\b"
    rf"|{_FIRST}\b(?:nothing|none|nobody|no\s+one|neither|not\s+one)\s+(?:\w+\s+)?(?:in|among|of)\s+"
    rf"(?:the|this|these|those|them|it|either|both|your|all)\b)(?=.*\b{_TOLD}\b)"
    rf"|\bno(?:body|\s+one|\s+author)\s+(?:\w+\s+)?{_TOLD}\b"
    r"|\bnowhere\s+(?:to\s+be\s+(?:found|seen|read)|do(?:es)?\b|in\s+(?:the|these|those|them)\b)"
    r"|\b(?:goes|go|went|is|are|was|were|remains?|left|stays?)\s+(?:\w+\s+)?un(?:mentioned|stated|said"
    r"|named|specified|addressed|documented|discussed|answered|recorded|reported|explained|told)\b"
    r"|\b(?:do|does|did)(?:\s+not|n['’]t)\s+(?:appear|occur|feature|figure|(?:come|show|turn)\s+up)\s+"
    r"(?:anywhere|in\s+(?:the|any|either|these|those|this|them|it|both|all)\b)"
    r"|\bneither\s+(?:[\w'’-]+\s+){0,6}?(?:is|was|are|were)\s+(?:\w+\s+)?(?:among|part\s+of)\b"
    r"|\b(?:not|missing|absent|lacking)\s+(?:from|among|part\s+of|in)\s+(?:(?:the|these|those|both"
    rf"|either|all|any|every)\s+)?(?:\w+\s+){{0,2}}{_WRITTEN}\b"
    rf"|\b{_WRITTEN}\s+(?:\w+\s+)?(?:leaves?|left)\s+(?:[\w-]+\s+){{0,8}}?(?:open|unsaid|unanswered"
    r"|unclear)\b"
    r"|\b(?:this|that|it|question|point|matter|answer|rest)\s+(?:\w+\s+)?(?:stays?|remains?)\s+open\b"
    rf"|\b{_WRITTEN}\s+(?:\w+\s+)?(?:pass(?:es)?|skips?)\s+(?:\w+\s+)?over\b"
    r"|\b(?:no|not\s+a)\s+(?:single\s+)?word\s+(?:on|about|of|is\s+said)\b"
    rf"|\b{_WRITTEN}\s+(?:\w+\s+)?(?:says?|tells?|keeps?|has|have|contains?)\s+(?:nothing|little"
    r"|silent|silence)\b"
    r"|\b(?:cannot|can['’]t|can\s+not|could\s+not|couldn['’]t)\s+(?:be\s+)?(?:\w+ly\s+)?(?:conclude"
    r"|concluded|infer|inferred|deduced?|derived?|settled?|established?|determined?|judged?"
    r"|read\s+off|told)\b"
    r"|\b(?:can|could)\s+(?:\w+\s+)?be\s+(?:answered|settled|established|confirmed|judged|decided)\s+"
    r"(?:from|by|with|on)\b"
    rf"|\b{_WRITTEN}\b[^.;,]{{0,60}}\bwithout\s+(?:giving|saying|naming|stating|telling|explaining"
    r"|mentioning|specifying)\b"
    r"|\b(?:was|were|is|are)\s+(?:\w+\s+)?not\s+(?:\w+\s+)?(?:computed|worked\s+out|counted)\b"
    r"|\b(?:for|through)\s+(?:want|lack)\s+of\s+(?:data|evidence|sources|information|material)\b",
    re.IGNORECASE,
)
_ZH_WRITTEN = (
    f"(?:{_ZH_SOURCES}|手[册冊]|[书書]中|[说說]明[书書]|[论論]文|[笔筆]记|教程|[规規]范|作者)"
)
_ZH_TOLD = (
    "(?:提及|提到|[谈談][到及]|[说說](?:明|到|起)|[写寫][到明]|[记記][载載]|[讲講]到|交代|涉及|言明|注明|披露|回答"
    "|[给給]出(?:答案|[说說]明|理由|[数數]字)|[讨討][论論]|[论論]及|列[入出])"
)
_ZH_SILENT = regex(
    f"(?:[没沒]有?|[并並]未|从未|從未|[均皆都]未|[均皆都][没沒]有?|未[见見曾加作予]?|不曾){_ZH_TOLD}"
    f"|[没沒]有?(?:一|任何一?|哪一?)?[份篇个個处處页頁条條段]?(?:{_ZH_WRITTEN})[^，。]{{0,10}}(?:{_ZH_SAYS})"
    f"|{_ZH_WRITTEN}[^，。；]{{0,8}}(?:看不到|看不出|查不到|[见見]不到|[没沒]有|[无無])"
    "[^，。；]{0,8}(?:$|[，。；]|答案|[说說]明|[记記][载載])"
    "|不[详詳](?!细|細)|未[详詳]|[无無][从從](?:查|考|得知|判|比|[谈談])|[无無][据據]可|只字不提|[没沒]有(?:出[处處]|下文|答案|定[论論])"
    "|留有空白|付之[阙闕]如"
)
_COMPUTED = regex(
    r"\b(?:I|we)\s+(?:have\s+|only\s+|simply\s+)?(?:computed|calculated|work(?:ed)?\s+(?:\w+\s+)?out"
    r"|added|derived|counted|subtracted|divided|multiplied|summed|converted)\b"
    r"|\b(?:my|our|own)\s+(?:\w+\s+){0,2}?(?:arithmetic|calculations?|computations?|sums?|count"
    r"|reckoning|conversion|subtraction|addition)\b"
    r"|\bby\s+(?:these|those|both|the\s+(?:same|two|above))\s+(?:\w+\s+)?(?:numbers|figures|dates"
    r"|counts)\b"
    r"|\b(?:computed|calculated|derived|worked\s+out|added\s+up|reckoned|counted)\s+(?:\w+\s+)?from\s+"
    r"(?:these|those|them|the\s+(?:two|three|above|same|dates|figures|numbers))\b"
    r"|(?:我|[笔筆]者)(?:自己)?(?:推算|[计計]算|估算|[换換]算|算出?|相[减減]|相加)|(?:我|[笔筆]者)的(?:推算|[计計]算|估算|[换換]算)"
    "|自(?:行|己)(?:推算|[计計]算|估算|[换換]算|算)|由(?:上述|以上|[这這]|此|前述)[^，。]{0,10}(?:推算|算出|相[减減]|相加|可得)"
    "|[这這此][^，。]{0,4}(?:是|[为為])[^，。]{0,4}(?:推算|[计計]算|估算|[换換]算)",
    re.IGNORECASE,
)
_MINE = regex(
    r"\b(?:my|our|own)\s+(?:\w+\s+){0,2}?(?:conclusions?|deduction|paraphrase|summary|ranking|wording"
    r"|understanding|weighing|comparison|synthesis|generali[sz]ation|extrapolation|verdict|take"
    r"|order|sketch|example|choice|readings?|words)\b"
    r"|\b(?:is|are)\s+(?:\w+\s+)?(?:mine|my\s+own|ours|our\s+own)\b|\bof\s+(?:mine|my\s+own)\b"
    r"|\bhow\s+(?:I|we)\s+(?:read|understand|see|take)\b"
    r"|\b(?:I|we)\s+(?:have\s+)?(?:inferred|concluded|deduced|estimated|ranked|arranged|weighed"
    r"|gather(?:ed)?|reckon|understand|read\s+(?:this|it|the|that|both|them))\b"
    r"|\bnot\s+(?:a\s+(?:statement|claim|finding)\s+(?:of|in|by)|something\s+(?:the|either|any|that))\b"
    "|(?:我[们們]?|[笔筆]者|本人|自己)的?(?:[归歸][纳納]|[总總][结結]|概括|理解|解[读讀]|比[较較]|排序|整理|[综綜]合|引申|[转轉]述|排法|[结結][论論]|[评評]价)"
    f"|(?:以上|上述|前述|[这這此])[^，。]{{0,10}}(?:是|[为為]|[属屬]于?)[^，。]{{0,6}}(?:我|[笔筆]者|本人|自己|[归歸][纳納]|{_INFER})"
    f"|[属屬](?:于|於)?(?:{_INFER}|[归歸][纳納]|[个個]人|主[观觀])|^\\W*此[为為乃系]{_INFER}"
    "|是我[^，。]{0,6}的(?:$|[，。；])",
    re.IGNORECASE,
)


_RECKONED = regex(
    r"\b(?:own|my|our)\s+(?:\w+\s+)?(?:arithmetic|calculations?|estimates?|figures?|count|sums?)\b"
    r"|\b(?:calculated|computed|estimated|derived|worked\s+out|reckoned|converted)\b"
    "|推算|估算|自[行己][计計]算|我的[计計]算|[换換]算|[计計]算得出|[计計]算所得",
    re.IGNORECASE,
)
_SUGGESTS = regex(
    r"\b(?:suggest\w*|examples?|e\.g\.|for\s+instance|sketch|template|proposal|could\s+look"
    r"|(?:a|one|my)\s+possible|placeholders?|sample|(?:I|we|you)(?:\s+would|['’]d)\s+\w+)\b|例如|比如|示例|[范範]例|[样樣]例|例子|可以[这這][样樣]"
    "|我[会會][^，。]{0,12}(?:[设設]|[写寫]|配置|用|改)",
    re.IGNORECASE,
)
_WANTS_SETTINGS = regex(
    r"\b(?:how|which|what)\b[^.?!]*\b(?:should|would|can|could|must|do|to)\s+(?:(?:I|we|you|one|they"
    r"|he|she|\w+\s+\w+)\s+)?(?:set|configure|choose|limit|cap|tune|write|adjust|size|schedule)\b"
    "|(?:[应應][该該當当]?|[该該]|要|[需须須]|可以|能)?(?:如何|怎么|怎麼|怎样|怎樣|[设設][为為]多少)[^，。？]{0,6}"
    "(?:[设設]置?|配置|限制|[调調]整?|[写寫]|安排)"
    "|(?:[设設]置?|配置|[写寫])成?(?:[为為]?多少|什么|什麼|哪些|怎么|怎样)",
    re.IGNORECASE,
)


_SCOPE = regex(
    r"\bas\s+far\s+as\s+(?:(?:I|we|one)\s+(?:can|could|know)\b|(?:these|those|the|this|that|my|your)\s+"
    rf"(?:\w+\s+)?{_WRITTEN}\s+(?:shows?|goe?s?|says?|tells?|reach(?:es)?|covers?|are\s+concerned)\b)"
    rf"|\b(?:going|judging)\s+by\s+(?:these|those|the)\s+(?:\w+\s+)?{_WRITTEN}\b"
    r"|\bto\s+(?:my|our)\s+knowledge\b|\bso\s+far\s+as\s+(?:I|we|one)\s+(?:can|could|know)\b"
    r"|\b(?:I|we)(?:\s+(?:would|should|shall)|['’]d)\s+(?!have\b)(?:\w+ly\s+|not\s+|rather\s+|also\s+)?\w+"
    f"|就[^，。]{{0,8}}{_ZH_WRITTEN}[^，。]{{0,6}}(?:来看|來看|而言|所[见見示及])|[据據就]我(?:所[知见見]|看到)"
    f"|[从從][^，。]{{0,8}}{_ZH_WRITTEN}[^，。]{{0,4}}(?:来看|來看|看)|我[们們]?(?:就|也|还|還|宁愿|寧願)?[会會](?!议|議|计|計)",
    re.IGNORECASE,
)
_NONE_FOUND = regex(
    r"\bthere\s+(?:is|are|was|were)\s+(?:no|not\s+an?y?)\b[^.;]{0,60}?\b(?:among|in|on|within|anywhere)\s+"
    rf"(?:the|these|those|any\s+of\s+(?:the|these))\s+(?:\w+\s+)?{_WRITTEN}\b"
    r"|^\W*(?:whether|how|why|when|where|which|what|who)\b[^.;]*\b(?:could|can|was|is|were|are)"
    r"(?:\s+not|\s*n['’]t|not)\s+(?:to\s+)?(?:be\s+)?(?:\w+ly\s+)?(?:found|told|learn(?:t|ed)|seen|shown"
    r"|established|said|known|named|given|stated|settled|determined|answered|explained|clear)\b"
    "|(?:是否|能否|如何|多[久少长長]|[为為]什么|怎[样樣么])[^，。；]{0,40}(?:[没沒]有?|未能?|[无無]法|不能|[尚还還]未)(?:被)?"
    "(?:找到|查到|得知|看出|[确確]定|[说說]明|[写寫]明|交代|提到)",
    re.IGNORECASE,
)


_BEHIND = regex(
    r"\s*(?<!&amp)(?<!&lt)(?<!&gt);\s*|\s*—\s*|\s+[-–]{1,2}\s+(?=(?-i:[a-z]))|,?\s+so\s+(?:that\s+)?(?!far\b)(?=[\w'’-]+\s)"
    r"|,\s*(?:and\s+|but\s+)?(?:hence|thus|therefore|consequently|but|although|though|yet|since"
    r"|because|while|whereas|meaning(?:\s+that)?"
    r"|(?:which|and\s+this|this)\s+(?:\w+\s+)?(?:means|shows?|proves?|implies|suggests?|makes)(?:\s+that)?"
    r"|and(?=\s+[\w'’-]+(?:\s+[\w'’-]+){2,}))\s+"
    "|[；：]|——|，(?=(?:因此|因而|所以|故|从而|從而|[说說]明|可[见見]|由此|[这這][说說表]明|但是?|不[过過]|然而|而且|而|并且|並且"
    "|[这這]意味))",
    re.IGNORECASE,
)
_ZH_LINK = regex(
    "(?:因此|因而|所以|故而?|从而|從而|由此可[见見]|可[见見]|[这這]?[说說表]明|[这這]意味着?|但是?|不[过過]|然而|而且?|并且|並且)"
)
_NEXT = regex(
    r"\b(?:check(?:ed|ing)?|verif\w+|ask(?:ed|ing)?|consult\w*|confirm\w*|look(?:ed|ing)?|search\w*"
    r"|needed|further|open|missing|compare[ds]?|comparison|answer(?:ed|s)?|conclu\w+|unanswered"
    r"|question|sources?|documents?|pages?|files?|texts?|passages?|report|would|catalogue"
    r"|omitted|left|skip\w*|instead\s+of\s+guess\w+|guess\w*|known|described?s?|mention\w*|stated?s?"
    r"|says?|said|tells?|gives?|given|names?|names\s+only|covers?|lists?)\b"
    r"|[查核问問询詢]|回答|比[较較]|判断|判斷|[结結][论論]|[来來]源|[资資]料|文[中章件档檔]|需要?|[尚仍][待需]|提[到及]|[说說][到明了]|省略|[给給]出",
    re.IGNORECASE,
)
_MIN_CLAIM_WORDS = 3  # or twice as many Chinese characters


def is_absence_remark(statement: str) -> bool:
    """Tell whether a statement says that the sources lack something."""
    patterns = (_NOT_FOUND, _ZH_NOT_FOUND, _SILENT, _ZH_SILENT, _NONE_FOUND)
    return any(pattern.search(statement) for pattern in patterns)


def list_carried_claims(statement: str) -> list[str]:
    """Return the claims in a statement beside its remark that something was not found.

    "No source names a price, so it is free" has one; a clause about next steps is not a claim.
    """
    parts = [one.strip(" ,，。.") for one in _BEHIND.split(statement)]
    if len(parts) < 2 or not is_absence_remark(statement) or is_own_inference(statement):
        return []
    parts = [_ZH_LINK.sub("", one, count=1) if at else one for at, one in enumerate(parts)]
    return [one for one in parts if _claims(one)]


def _claims(clause: str) -> bool:
    words, signs = len(clause.split()), len(re.findall(f"[{HAN}]", clause))
    return max(words, signs // 2) >= _MIN_CLAIM_WORDS and not (
        is_absence_remark(clause) or is_own_inference(clause) or _NEXT.search(clause)
    )


def is_stated_computation(statement: str) -> bool:
    """Tell whether a statement says that its writer computed a number in it."""
    return bool(_COMPUTED.search(statement))


def is_own_inference(statement: str) -> bool:
    """Tell whether a statement calls itself its writer's inference, judgement or arithmetic."""
    patterns = (_OWN, _ZH_OWN, _MINE, _SCOPE)
    return is_stated_computation(statement) or any(
        pattern.search(statement) for pattern in patterns
    )


def is_suggestion(lead: str) -> bool:
    """Tell whether the introduction to a block of code calls it an example or a suggestion."""
    return bool(_SUGGESTS.search(lead)) or is_own_inference(lead)


def asks_for_settings(question: str) -> bool:
    """Tell whether a question asks for settings, so that values in its answer are advice."""
    return bool(_WANTS_SETTINGS.search(question))


def is_labelled_computed(heading: str) -> bool:
    """Tell whether the head of a column or the introduction to a table says it is computed."""
    return is_stated_computation(heading) or bool(_RECKONED.search(heading))
