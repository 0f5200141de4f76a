"""How text that a person passes on is introduced, framed and signed in a message."""

from __future__ import annotations

import re

from retrieval.regex import regex

_PASSED_ON = (
    "(?:e-?mail|mail|letter|text|note|message|post|tweet|article|passage|paragraph|abstract|poem"
    "|song|verse|quotation|quote|excerpt|extract|comment|ticket|transcript|prompt|injection"
    "|line|sentence|essay|statement|bio|cv|resume|résumé|snippet|draft|chat"
    "|conversation|dialogue|dialog|story|speech|advert(?:isement)?|blog|caption|slogan|newsletter"
    "|memo|press release|sms|claim|offer|review|invoice|notice|contract)s?"
)
_SHOWN = (
    rf"(?:{_PASSED_ON}|lyrics|stories|replies|reply|words|pages?|papers?|documents?|reports?"
    "|(?:web ?)?sites?)"
)
_HANDLE = (
    "(?:summari[sz]e|explain|review|check|analy[sz]e|improve|fix|edit|correct|condense|simplify"
    "|answer|classify|grade|interpret|comment on|respond to|reply to|react to|sort|rank|rate|judge"
    "|assess|evaluate|mark|label|count|compare|continue|finish|read|rewrite|translate|shorten)"
)
_REQUEST = (
    r"^\W*(?:(?:please|pls|now|so|and|then|also|ok|okay|hi|hey|hello|kindly|just|help me(?: to)?"
    r"|(?:can|could|would|will) you|i (?:need|want) (?:you )?to|i(?:'d| would) like you to"
    r"|how (?:do|would|should|can) (?:i|you|we)|to)\W+)*"
)

LAYOUT = regex(
    # Lines that separate, rows of a table, tags, times in front of a line.
    r"^[ \t]*(?:[-=_*~#•—–]{3,}|\||\[?\d{1,2}:\d{2}\b)|</?[a-z][^<>\n]*>|\[/?quote"
    r"|^(?:[ \t]{4}|\t)[ \t]*\S|^[ \t]*>"
    # The head of a mail.
    r"|^[ \t]*(?:from|to|cc|bcc|subject|date|sent|re|fwd?|von|an|betreff|gesendet|datum|de|à"
    r"|obj[e]t|para|asunto|da|oggetto|van|aan|onderwerp|от|кому|тема|[发發寄]件[人者]|收件[人者]|主[题題旨]"
    r"|日期|[发發]送[时時][间間])[ \t]*:"
    r"|\b(?:forwarded|fwd|weitergeleitet\w*|transféré\w*|reenviad\w*|inoltrat\w*|doorgestuurd\w*"
    r"|encaminhad\w*|original message|ursprüngliche nachricht|message d'origine|mensaje original)\b"
    r"|[转轉][发發寄]|原始[邮郵]件"
    r"|^[ \t]*(?:on|am|le|el|il) [^\n]{3,80}\b(?:wrote|schrieb|a écrit|escribió|ha scritto)\b"
    # How a letter begins and ends.
    r"|^[ \t]*(?:dear|sehr geehrte[rs]?|liebe[rs]?|guten (?:tag|morgen|abend)|bonjour|ch(?:er|ère)"
    r"|madame|monsieur|estimad[oa]s?|querid[oa]s?|gentile|prezad[oa]s?|beste|geachte|to whom)\b"
    r"|^[ \t]*(?:hi|hello|hey|hallo|hola|ciao|moin)[ \t]+(?!there\b|dossier\b|assistant\b)"
    r"[^\W\d_]+(?:[ \t][^\W\d_]+)?[ \t]*[,:!]?[ \t]*$"
    r"|^[ \t]*(?:best(?: regards| wishes)?|(?:kind |warm |with )?regards|yours(?: \w+)?|sincerely"
    r"|cheers|mit (?:freundlichen|besten|lieben|herzlichen)[^\n]*|(?:freundliche|beste|liebe|viele"
    r"|herzliche|schöne) grüße|gruß|mfg|lg|vg|cordialement|bien à vous|amicalement|salutations"
    r"|(?:un )?saludos?|atentamente|(?:cordiali|distinti) saluti|met vriendelijke groet"
    r"|с уважением)[ \t]*(?:,[^\n]{0,40})?[ \t]*$"
    r"|\b(?:best(?: regards| wishes)?|yours(?: \w+)?|regards|sincerely|cheers)[ \t]*,[ \t]*\w+"
    r"[ \t]*$"
    r"|^[ \t]*(?:[亲親][爱愛]的|尊敬的|敬[爱愛]的)|此致|敬[礼禮上启啟]|[谨謹][上启啟]|[顺順][颂頌]",
    re.IGNORECASE | re.MULTILINE,
)
"""What a person's own request does not have, and mails, tables and logs have."""

HANDLED = regex(
    rf"\b(?:this|these|those|(?:the )?(?:following|above|below|attached|enclosed|pasted|preceding"
    rf"|foregoing|previous))(?: [\w'’-]+){{0,2}}? {_SHOWN}\b"
    r"|\bthe (?:above|following)\b|\b(?:above|below)\W*$"
    rf"|(?<!remember )(?<!note )(?<!mind )\bthat (?:\w+ )?{_PASSED_ON}\b"
    rf"|\b{_SHOWN} (?:[\w'’-]+ ){{0,4}}(?:above|below|attached|enclosed)\b"
    rf"|\b(?:an?|the|his|her|their|\w+['’]s) (?:\w+ ){{0,2}}{_PASSED_ON} (?:[\w'’-]+ ){{0,3}}"
    r"(?:from|by|that i|i got|i received|says|reads)\b"
    rf"|{_REQUEST}{_HANDLE}\b(?:[^.?!\n:]{{0,30}}\b{_PASSED_ON}\b"
    r"| (?:me |to |please )?(?:this|that|it|these|those|them|him|her)\b)"
    rf"|{_REQUEST}(?:translat\w*|proof-?read|paraphrase|rewrite|reword|rephrase|transcribe"
    r"|spell-?check|shorten|polish|tl;?dr|decode|critique|annotate|fass|fasse|übersetz\w*"
    r"|erklär\w*|korrigier\w*|traduis\w*|tradui[rs]\w*|résum\w*|expliqu\w*|corrig\w*|traduc\w*"
    r"|resum[aei]\w*|riassum\w*|spiega\w*)\b"
    r"|\bwhat (?:does|do|did|is|was) (?:this|that|it|he|she|they|the \w+)\b[^.!?]{0,30}?"
    r"\b(?:mean|meant|want|about|saying|imply)\b|\bmeant by\b"
    r"|\b(?:is|are|was|were) (?:this|that|it|he|she|they|these)\b[^.!?]{0,20}?\b(?:spam|scam"
    r"|phishing|true|correct|right|wrong|fraud\w*|fake|genuine|legit\w*|grammatical|polite|rude"
    r"|plausible|serious|a joke)\b"
    r"|\bwho(?:ever)? (?:sang|sings?|said|says|wrote|writes|spoke|recorded|coined)\b"
    r"|\b(?:which|what) (?:song|film|movie|book|poem|novel|play|show|band|singer|poet|author"
    r"|opera|speech)\b|\blyrics\b|\b(?:which|what) language (?:is|was)\b"
    r"|\bi(?:'ve| have)? (?:just )?(?:got|received|found|saw|copied|pasted|read)\b[^.!?]{0,15}"
    r"\b(?:this|that|these|following)\b|\bhere(?:'s| is| are)\b|\bprompt injection\b"
    "|[翻繙][译譯]|[译譯][成为為]|[润潤]色|改[写寫]|校[对對]|[缩縮扩擴仿][写寫]"
    "|[以下][下面列述][^,。?!]{0,6}[邮郵信消留帖文话話句段诗詩歌网網内内笔筆便通公广廣摘论論说說]"
    "|[这這那该該此][封段篇句条條首则則张張份个個些](?:[^,。?!我]{0,4})(?:[邮郵]件|信|消息|留言|帖子|文章|文字"
    "|[话話]|句子|段落|[诗詩]|歌|文本|[内內]容|[评評][论論]|新[闻聞]|[网網][页頁]|[笔筆][记記]|便[条條]|通知|公告"
    "|[广廣]告|摘要|[论論]文|文件|[说說]法)|上面|上述|上文|下面|下述|下文|以下|附件|原文|全文"
    "|[谁誰](?:[说說写寫唱])|哪首歌|哪部(?:[电電]影|小[说說])|歌[词詞]|出自|什[么麼]意思"
    "|(?:[总總][结結]|概括|[归歸][纳納]|解[释釋]|[检檢][查]|回[复復覆]|[帮幫]我看)[^,。?!]{0,8}"
    "(?:[邮郵]件|信|消息|留言|帖子|文章|文字|[话話]|段|文本|[内內]容|[笔筆][记記]|通知|摘要)",
    re.IGNORECASE,
)
"""A request that has another text for its object, which may stand before or behind it."""

TOLD = regex(
    r"\b(?:says|tells|told|asked|asks|writes?(?: to (?:me|us))?(?=\s*(?:$|[:,.]|that\b))|replied"
    r"|claim(?:s|ed)(?= that| to|:)|according to|it reads|sent (?:me|us|by|to)|texted|emailed"
    r"|thinks? (?:that|i|we|you)|believes?|suggest(?:s|ed)|recommended|forwards?)\b"
    r"|(?<!\bi )(?<!\bwe )\b(?:said|wrote)\b"
    r"|\b(?:schreibt|schrieb|sagte?|meinte?|écrit|dit|dice|escribe|dijo|scrive)\b"
    r"|[写寫]道|[来來]信|收到|[声聲宣][称稱]|[说說]道|[据據][^,。]{1,6}[说說]"
    r"|(?:^|[,。;])(?![并並再也然顺順另还還帮幫能可])[^,。;我会會请請]{1,8}(?:[说說](?![话話明])|[写寫]道|[认認][为為]|表示|告[诉訴]我|要求|希望)",
    re.IGNORECASE,
)
"""What says that somebody else has said something."""

ITEM = regex(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s")
"""The beginning of an item of a list."""

COLON = regex(r":(?!//|\d)")

VAGUE = regex(
    r"\b(?:this|that|it|these|those|them|he|she|they|him|his|her|hers|their|here|something|someone"
    r"|somebody|stuff|following|above|below)\b|[这這那他她它]",
    re.IGNORECASE,
)
"""Words that point to what stands elsewhere."""

NOUN = regex(rf"\b(?:{_PASSED_ON}|lyrics)\b|[邮郵]件|短信|留言|帖子", re.IGNORECASE)
"""What may be passed on."""
