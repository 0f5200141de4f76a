"""Accept only ways of working as insights, and nothing that a stranger's text asks for.

Other runs follow insights as guidance. The model that writes them has seen what runs planned and
wrote after reading pages and files, and such a text may have told it to pass on its words.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import select

from memory.experience.insights import FOREIGN
from memory.experience.utterances import said_by_person
from memory.learning.gate import borne_out
from memory.learning.voice import spoken
from retrieval.common import is_common, weight
from retrieval.private_words import Material, vocabulary
from retrieval.redaction import redacted
from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.secrets import held
from retrieval.text import sentences
from retrieval.words import STOPWORDS, words
from runs.ledger import hits_in
from runs.place import thread_of
from storage.engine import read_rows
from storage.tables import calls, pages, sources
from storage.tables import runs as table

ENGLISH = 0.15
"""The least share of English words; in other languages capitals are no sign of a name."""

_ADDRESS = regex(r"\w@\w|https?:|www\.|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b", re.IGNORECASE)
"""An address of the web or of a person."""

_NAME = regex(r"(?<![.!?:…\"“(-] )(?<!^)(?<![\w'-])[A-Z][\w&'-]*|\b\w+[a-z][A-Z]\w*", re.MULTILINE)
"""A capitalised word within a sentence, or a word with a capital in the middle."""

_TITLE = regex(r"(?<![.!?:…\"“(-] )(?<!^)(?<![\w'-])[A-Z][\w&'-]+(?: [A-Z][\w&'-]+)+", re.MULTILINE)
"""Several such words in a row, which are a name even if each of them is common."""

_COMPANY = regex(f"([{CJK}]{{2}})(?:公司|集[团團]|品牌|企[业業]|有限)")
"""What stands in front of the word for a company in a Chinese name."""

_FORM_WORDS = """
api arxiv ascii biorxiv csv doi faq gdp gnu html http https i iso isbn json ocr ok pdf rfc rss sql
tsv tv ui unicode uri url utf utc xml yaml zip monday tuesday wednesday thursday friday saturday
sunday pubmed wikipedia wikidata crossref openalex scholar
"""
_FORMS = frozenset(_FORM_WORDS.split())
"""Capitalised words that promote nobody: formats, and public registers."""

_OF_THE_PERSON = regex(
    r"\b(?:user|person|reader|client|customer|asker|owner|boss|they)s?\b[^.!?]{0,40}?\b(?:want|wish"
    r"|prefer|like|love|ask|need|trust|expect|said|say|told|tell|request|demand|insist|agree)\w*"
    r"|\b(?:as|per) (?:the )?(?:user|person|client)"
    r"|(?:用户|用戶|读者|讀者|客户|客戶|提问者|提問者|使用者|主人)[^。！？]{0,15}?(?:希望|想|要求|喜欢|喜歡|信任|需要|说|說|认为|認為|指定)",
    re.IGNORECASE,
)
_PROMOTES = regex(
    r"\b(?:recommend|endors|promot|advert|prais|favou?r|trust)\w*"
    r"|\b(?:only|solely|exclusively|nothing but|no other|none but|just)\b[^.!?;]{0,40}"
    r"\b(?:cit|quot|name|naming|mention|link|believ|rel[iy]|credit)\w*"
    r"|\b(?:cit|quot|name|naming|mention|link|believ|rel[iy]|credit)\w*\b[^.!?;]{0,40}"
    r"\b(?:only|solely|exclusively|nothing but|no other|no one else|nobody else|alone)\b"
    r"|推[荐薦广廣崇销銷]|宣[传傳]|[赞讚][扬揚美]|[吹夸誇]|信任|只(?:能|[许許]|可以?)?(?:[引用信提写寫])|[仅僅](?:能|可)?(?:[引用信提])"
    r"|唯一.{0,8}(?:[来來]源|引用)|不(?:要|得|可|能)引用(?:其他|别|別)",
    re.IGNORECASE,
)
"""Words that say whom to trust or cite, which is not a way of working."""

_LOOSENS = regex(
    r"\b(?:do not|don['’]t|never|no need to|without|leave out|omit|hide|conceal|suppress|ignore"
    r"|downplay|play down)\b[^.!?;]{0,30}?\b(?:check|verif|confirm|review|doubt|risk|warn|danger"
    r"|side effects?|harm|caveat|limitation|contradict|critic|drawback|disadvantage)\w*"
    r"|\b(?:mark|call|treat|report|present|count)\w*\b[^.!?;]{0,30}?\b(?:all|every\w*|any\w*)\b"
    r"[^.!?;]{0,30}?\bas (?:confirmed|true|certain|proven|supported|safe|harmless)"
    r"|(?:不要|不必|无需|無需|不用|别|別|勿|忽略|隐瞒|隱瞞|省略|跳过|跳過)[^。！？；]{0,10}?"
    r"(?:核对|核對|核实|核實|查证|查證|检查|檢查|验证|驗證|审查|審查|质疑|質疑|风险|風險|副作用|警告|危险|危險|缺点|缺點|争议|爭議)",
    re.IGNORECASE,
)
"""What has a run check less, or tell less of what speaks against something."""


class Heard(NamedTuple):
    """What a lesson may be based on: what the person said, and what was read."""

    said: Sequence[str] = ()
    read: Sequence[str] = ()
    foreign: bool = False
    """Whether any of what was read is from the web or a tool."""

    @property
    def provenance(self) -> str:
        """Return the trust of a lesson: the least of what it is based on."""
        return "web" if self.foreign else "model"


async def heard_in(owner: str, runs: Iterable[str]) -> Heard:
    """Return what was said and read in the threads of some runs."""
    names = [*runs]
    threads = [*dict.fromkeys(map(thread_of, names))]
    shown = select(sources.c.page).where(sources.c.thread.in_(threads))
    mine = pages.c.id.in_(shown) | pages.c.run.in_(names)
    columns = (pages.c.title, pages.c.text, pages.c.provenance)
    rows = (await read_rows(select(*columns).where(pages.c.owner == owner, mine))).all()
    own = select(table.c.id).where(table.c.owner == owner, table.c.id.in_(names))
    searched = (calls.c.run.in_(own), calls.c.kind == "search")
    results = (await read_rows(select(calls.c.result).where(*searched))).scalars().all()
    hits = [json.dumps(hits_in(json.loads(one))) for one in results]
    read = [*(f"{row.title}\n{row.text}" for row in rows), *hits]
    foreign = bool(hits) or any(row.provenance in FOREIGN for row in rows)
    return Heard(await said_by_person(owner, threads), read, foreign)


async def refusal(texts: Sequence[str], heard: Heard) -> str:
    """Return why a lesson may not be kept; "" if it may.

    Args:
        texts: All that it says.
        heard: What it may be based on.
    """
    return await asyncio.to_thread(_refusal, [one for one in texts if one.strip()], heard)


def steers(text: str) -> bool:
    """Tell whether a text says whom to trust or cite."""
    return bool(_PROMOTES.search(text))


def _refusal(texts: Sequence[str], heard: Heard) -> str:
    own = Material([vocabulary(one) for one in heard.said], [], [], [])
    if any(held(one) for one in texts):
        return "secret"
    if any(_speaks_for(one, heard.said) for one in texts):
        return "not_of_the_person"
    if any(_names(one, own) for one in texts):
        return "name"
    if any(_harms(one) and not _borne(one, heard.said) for one in texts):
        return "claim"
    read = Material(own.own, [], [], [vocabulary(one) for one in heard.read])
    return "read" if any(redacted(one, read).dropped for one in texts) else ""


def _harms(text: str) -> bool:
    return bool(_PROMOTES.search(text) or _LOOSENS.search(text))


def _speaks_for(text: str, said: Sequence[str]) -> bool:
    return bool(_OF_THE_PERSON.search(text)) and not _borne(text, said)


def _borne(text: str, said: Sequence[str]) -> bool:
    """Tell whether each sentence of a text is one of the person's own."""
    own = [one.text for message in said for one in sentences(spoken(message))]
    return all(any(borne_out(part.text, one) for one in own) for part in sentences(text))


def _names(text: str, own: Material) -> bool:
    """Tell whether a text names somebody or some place that the person has not."""
    addresses = (match[0] for match in _ADDRESS.finditer(text))
    if any(not all(map(own.free, words(one))) for one in addresses):
        return True
    if any(weight(one[1]) == 1 and not own.free(one[1]) for one in _COMPANY.finditer(text)):
        return True
    letters = [word.lower() for word in re.findall(r"[A-Za-z]+", text)]
    share = sum(word in STOPWORDS for word in letters) / len(letters) if letters else 0.0
    if share < ENGLISH and not regex(f"[{CJK}]").search(text):
        return False
    if any(not all(map(own.free, words(one[0]))) for one in _TITLE.finditer(text)):
        return True
    return any(not _usual(match[0], own) for match in _NAME.finditer(text))


def _usual(name: str, own: Material) -> bool:
    lower = name.lower().strip("'-")
    if lower in STOPWORDS or lower in _FORMS or is_common(lower):
        return True
    cut = words(name)
    return all(own.free(word) or word in _FORMS or weight(word) < 1 for word in cut)
