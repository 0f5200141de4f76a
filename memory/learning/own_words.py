"""Tell a person's own words from what they pasted, quoted or asked."""

from __future__ import annotations

import re
import unicodedata

from memory.learning.patterns import (
    DENIAL_PATTERN,
    LEAD_PATTERN,
    NOTE_PATTERN,
    WISH_PATTERN,
    strip_matches,
)
from text.normalization import find_quote, normalize_text
from text.regex import regex
from text.sentences import split_sentences
from text.words import QUESTION_WORDS, search_words

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
"""The layout of mails, tables and logs, which a person's own request does not have."""

TEXT_REQUEST = regex(
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
"""A request about another text, which may stand before or after it."""

REPORTED_SPEECH = regex(
    r"\b(?:says|tells|told|asked|asks|writes?(?: to (?:me|us))?(?=\s*(?:$|[:,.]|that\b))|replied"
    r"|claim(?:s|ed)(?= that| to|:)|according to|it reads|sent (?:me|us|by|to)|texted|emailed"
    r"|thinks? (?:that|i|we|you)|believes?|suggest(?:s|ed)|recommended|forwards?)\b"
    r"|(?<!\bi )(?<!\bwe )\b(?:said|wrote)\b"
    r"|\b(?:schreibt|schrieb|sagte?|meinte?|écrit|dit|dice|escribe|dijo|scrive)\b"
    r"|[写寫]道|[来來]信|收到|[声聲宣][称稱]|[说說]道|[据據][^,。]{1,6}[说說]"
    r"|(?:^|[,。;])(?![并並再也然顺順另还還帮幫能可])[^,。;我会會请請]{1,8}(?:[说說](?![话話明])|[写寫]道|[认認][为為]|表示|告[诉訴]我|要求|希望)",
    re.IGNORECASE,
)
"""Words that introduce what somebody else said."""

ITEM = regex(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s")
"""The beginning of an item of a list."""

COLON = regex(r":(?!//|\d)")

VAGUE = regex(
    r"\b(?:this|that|it|these|those|them|he|she|they|him|his|her|hers|their|here|something|someone"
    r"|somebody|stuff|following|above|below)\b|[这這那他她它]",
    re.IGNORECASE,
)
"""Words that refer to something elsewhere."""

TEXT_NOUN = regex(rf"\b(?:{_PASSED_ON}|lyrics)\b|[邮郵]件|短信|留言|帖子", re.IGNORECASE)
"""Kinds of text that people pass on."""

PASTED = 600
"""A paragraph this long, in characters, was pasted and not typed."""

QUESTION = regex(r"[?？]\s*$|[吗嗎呢]\s*+[?？。.]?\s*$")
"""The end of a question."""

TOPIC = 2
"""How many topic words a question has that needs no other text."""

POINTING = 4
"""How many it has if it also says "this" or "they"."""

INSTRUCTION = regex(
    r"^(?:always|never|do not|don['’]t|use|prefer|avoid|keep|make|answer|reply|respond|write|cite"
    r"|give|include|show|quote|call|address|start|begin|end|put|add|format|mention|convert|name"
    r"|state|leave out|omit|skip|stop|spell|round|be|limit|say|treat|mark)\b"
    r"|^(?:[请請]|不要|[别別]|勿|[总總]是|始[终終]|永[远遠]|每次|避免|[优優]先|使用|用|引用|[写寫]|[给給]出|[标標]明"
    r"|回答|[报報]告|[数數]字|日期|[单單]位)",
    re.IGNORECASE,
)
"""The start of an instruction."""

_COMMENT = regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HIDDEN = regex("[\u00ad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_TAGS = regex("[\U000e0000-\U000e007f]")
_CODE = regex(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_QUOTED = regex('["“„«「『][^"“”„«»「」『』]{12,}["”»」』]')
_SINGLE = regex(r"(?<!\w)['‘‚‹](?:[^'’‘\n]|['’](?=\w)){12,300}['’›](?!\w)")
_GAP = regex(r"\n\s*\n")

_FIRST = regex(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|[我咱俺]|本人", re.IGNORECASE)
_OWN_THING = regex(r"\b(?:my|our)\b|^(?:My|Our)\b|(?<![《〈「『])(?:[我咱俺][们們]?的|我家)")
_SUBJECT = regex(
    r"^(?:(?:yes|sure|currently|usually|sometimes|today|these days|now|recently|personally"
    r"|(?:in|at|on|for|since|with|as|because|during|after|before)\b[^.;:?!]{0,40}?),? )?"
    r"(?:i|i['’]\w+|my|we|we['’]\w+|our)\b"
    r"|^(?:(?:好的?|是的?|[对對]|嗯)[,。!]?)?(?:[现現]在|目前|平[时時]|以前|因[为為]|作[为為][^,。]{1,12},|在[^,。我]{1,8},?)?(?:[我咱俺]|本人)",
    re.IGNORECASE,
)
"""The start of a sentence whose subject is the speaker."""

_ASKS = regex(
    r"[?？]\s*$|^\W*(?:(?:please|pls|now|so|and|then|also|ok|okay|hi|hey|hello)\W+)*"
    r"(?:what(?:s)?|why|how|who|whose|when|where|which|is|are|was|were|do|does|did|can|could|would"
    r"|will|should|shall|may|tell|show|give|find|explain|describe|compare|list|write|search|look"
    r"|summari[sz]e|translate|research|analy[sz]e|help|let|check|make|read|quote|name|define"
    r"|discuss|review|outline|calculate|(?:i )?(?:want|need|wish|would like|wonder)|i'd like"
    r"|i(?:'m| am) (?:looking|trying|wondering))\b"
    r"|^\W*(?:[请請][问問]|[请請]?[帮幫为為给給]我|我想|我要|我需要|告[诉訴]我|[请請](?:解|介|比|查|找|写|說|说)"
    r"|收集|整理|分析|[调調][查研]|[评評]估|[对對]比|比[较較]|介[绍紹]|解[释釋]|[总總][结結]|研究|列出)"
    r"|[帮幫为為给給][我咱](?![们們的])|告[诉訴]我"
    r"|[吗嗎呢么麼]\s*+[?？。]?\s*$",
    re.IGNORECASE,
)


def normalize_message(text: str) -> str:
    """Return a text in NFKC without comments and invisible characters."""
    shown = unicodedata.normalize("NFKC", _TAGS.sub("", _COMMENT.sub(" ", text)))
    return normalize_text(_HIDDEN.sub("", shown))


def extract_own_words(message: str) -> str:
    """Return what a person says in a message in their own voice.

    They end where another text may begin. A message with the layout of a mail or a table, or with a
    request about a text, has none: the text may be anywhere in it.
    """
    text = normalize_message(message)
    if LAYOUT.search(text):
        return ""
    text = mask_long_quotations(text[: _find_pasted(text)])
    sentences = split_sentences(text)
    if any(TEXT_REQUEST.search(one.text) for one in sentences):
        return ""
    in_list = False
    for number, one in enumerate(sentences, 1):
        rest = _strip_lead(one.text)
        begins_list = ITEM.match(one.text) and not in_list
        if begins_list or REPORTED_SPEECH.search(rest) or COLON.search(rest):
            return text[: one.start].rstrip()
        in_list = not rest or in_list
        gap = text[one.end : sentences[number].start] if number < len(sentences) else ""
        if "\n" in gap and not (in_list or _stands_alone(one.text)):
            return text[: one.end]
    return text.rstrip()


def mask_long_quotations(text: str) -> str:
    """Return a text with "…" in place of each quotation."""
    return _SINGLE.sub(" … ", _QUOTED.sub(" … ", text))


def find_quoted_sentences(quote: str, message: str) -> list[str]:
    """Return the sentences of a person's own words that a quote is part of, if any."""
    own_words = extract_own_words(message)
    place = find_quote(normalize_message(quote), own_words)
    if place is None:
        return []
    sentences = split_sentences(own_words)
    return [one.text for one in sentences if one.start < place.end and place.start < one.end]


def is_request(sentence: str) -> bool:
    """Tell whether a sentence asks for something now."""
    return bool(_ASKS.search(sentence))


def is_first_person(text: str) -> bool:
    """Tell whether a text mentions the speaker."""
    return bool(_FIRST.search(text))


def is_about_speaker(sentence: str) -> bool:
    """Tell whether a sentence says something about the speaker.

    A question does if it names something of theirs: "Why do my bees die?"
    """
    if is_request(sentence):
        return bool(_OWN_THING.search(sentence))
    rest = _strip_lead(sentence)
    return bool(_SUBJECT.match(rest) or (INSTRUCTION.match(rest) and _OWN_THING.search(rest)))


def is_instruction(sentence: str) -> bool:
    """Tell whether a sentence is an instruction, a wish or a statement of the speaker."""
    patterns = (INSTRUCTION, WISH_PATTERN, _SUBJECT)
    return not QUESTION.search(sentence) and any(one.match(sentence) for one in patterns)


def _find_pasted(text: str) -> int:
    """Return where code or a paragraph begins that is too long to have been typed."""
    code = _CODE.search(text)
    gaps = list(_GAP.finditer(text))
    ends = [*(gap.start() for gap in gaps), len(text)]
    starts = [0, *(gap.end() for gap in gaps)]
    long = (start for start, end in zip(starts, ends, strict=True) if end - start >= PASTED)
    return min(code.start() if code else len(text), next(long, len(text)))


def _strip_lead(sentence: str) -> str:
    """Return a sentence without the words that only introduce it."""
    for pattern in (LEAD_PATTERN, DENIAL_PATTERN, NOTE_PATTERN):
        sentence = strip_matches(pattern, sentence)
    return sentence


def _stands_alone(sentence: str) -> bool:
    """Tell whether a sentence is the person's own, and does not announce the next line."""
    rest = strip_matches(LEAD_PATTERN, sentence)
    if TEXT_NOUN.search(rest):
        return False
    if is_request(rest):
        topic = [word for word in search_words(rest) if word not in QUESTION_WORDS]
        return len(topic) >= (POINTING if VAGUE.search(rest) else TOPIC)
    patterns = (NOTE_PATTERN, DENIAL_PATTERN, WISH_PATTERN, _SUBJECT, INSTRUCTION)
    return not rest or any(pattern.match(rest) for pattern in patterns)
