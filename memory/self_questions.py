"""Answer the questions of people about themselves from their facts and profile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from memory.facts.fact import Fact
from memory.facts.queries import list_facts
from memory.profile.store import load_profile
from memory.profile.traits import Trait
from text.normalization import fold_text
from text.regex import regex
from text.words import query_terms, search_words

MOST = 30
"""The most facts in an answer."""

LONGEST = 500
"""The longest question that is parsed, in characters."""

SHARED = 0.5
"""The share of a search's words that a matching note must have."""

_OF_SELF = regex(r"\b(?:i|me|my|mine|myself|you|your)\b|[我你您]", re.IGNORECASE)
"""Every question about oneself has one of these words."""

_OPENING = (
    r"^\W*(?:(?:so|and|but|ok(?:ay)?|hey|please|now|also)\b,? )*"
    r"(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:(?:tell|remind) me(?: again)?,?|do you (?:still )?(?:know|remember|recall)|i forgot)? ?"
)
_ALL = regex(
    _OPENING
    + r"(?:what (?:all |else )?(?:do|did|can|have) you (?:already )?(?:know|remember|learn(?:ed|t)?"
    r"|recall|noted?|kept|stored?) (?:about|of|on) (?:me|myself)|who am i|about (?:me|myself)"
    r"|what (?:do|did|have) i (?:ever )?(?:told|tell|said|say)(?: to)? you(?: so far)?"
    r"|what(?:'s| is) in (?:my|your) (?:memory|profile)(?: (?:of|about) me)?"
    r"|everything (?:that )?you know about me)\W*$"
    r"|^\W*(?:[关關][于於]我[,，]?)?[你您](?:都|还|還)?(?:知道|了解|[记記]得|[记記]住)(?:了)?(?:[关關][于於])?我"
    r"(?:的)?(?:什[么麼]|哪些|多少|[吗嗎]|些什[么麼]|情[况況]|事情?)*\W*$"
    r"|^\W*[关關][于於]我[,，]?\s*[你您](?:都|还|還)?(?:知道|了解|[记記]得)(?:些)?(?:什[么麼]|哪些)\W*$"
    r"|^\W*[你您][对對]我(?:了解|知道)(?:多少|些?什[么麼]|哪些)?\W*$|^\W*我是[谁誰]\W*$"
    r"|^\W*我(?:都)?[跟对對和向]?[你您]?(?:[说說][过過]|告[诉訴][过過][你您]?)(?:什[么麼]|哪些)\W*$",
    re.IGNORECASE,
)
_TOLD = regex(
    _OPENING
    + r"what (?:all )?(?:do|did|have) i (?:ever |already )?(?:told|tell|said|say|mention(?:ed)?)"
    r"(?: to)?(?: you)?,? (?:about|of|on|regarding) (?P<x>.+?)\W*$"
    r"|"
    + _OPENING
    + r"(?:anything|what|what i) (?:(?:do|did|have) )?(?:you )?(?:know|remember|recall"
    r"|(?:have )?(?:said|told you)) (?:about|of) my (?P<x2>.+?)\W*$"
    r"|^\W*(?:[关關][于於]|[对對][于於]?)(?P<x3>.+?)[,，]?\s*我(?:都)?(?:[跟对對和向][你您])?"
    r"(?:[说說][过過了]|[讲講提][过過]|告[诉訴][过過]?[你您])(?:些)?(?:什[么麼]|哪些)?\W*$"
    r"|^\W*我(?:都)?(?:[跟对對和向][你您])?(?:[说說][过過]|[讲講提][过過]|告[诉訴][过過]?[你您])"
    r"(?:[过過])?(?:的)?[关關][于於](?P<x4>.+?)(?:的)?(?:什[么麼]|哪些|事情?|[吗嗎])*\W*$",
    re.IGNORECASE,
)


class _SelfTopic(NamedTuple):
    """An attribute that people ask about, as patterns of its questions and of its facts."""

    question: re.Pattern[str]
    fact: re.Pattern[str]


def _topic(question: str, zh: str, fact: str) -> _SelfTopic:
    whole = rf"{_OPENING}(?:{question})\W*$|^\W*(?:你知道|你记得|请问)?(?:{zh})[\W吗呢呀啊]*$"
    return _SelfTopic(regex(whole, re.IGNORECASE), regex(fact, re.IGNORECASE))


_TOPICS = {
    "home": _topic(
        r"where (?:do|did) i live(?: now)?|where am i (?:living|based|from)|where do i come from"
        r"|what(?:'s| is) my (?:home ?town|city|address|home)"
        r"|(?:which|what) (?:city|town|country|place) do i live in",
        r"我(?:现在)?住在?(?:哪|什么).*|我家在哪.*|我(?:是)?从?哪里?(?:人|来的?)|我来自哪.*"
        r"|我的(?:家|住址|地址|城市)(?:是|在)哪.*",
        r"\blive[sd]?\b|\bliving\b|\bmoved\b|\bbased in\b|\bmy (?:home|house)\b"
        r"|\b(?:am|come) from\b|\bresid|住|我家|搬到|来自|來自",
    ),
    "name": _topic(
        r"what(?:'s| is) my (?:full |first |last )?name|what am i called|how am i called",
        r"我(?:的名字)?叫(?:什么|啥).*|我的名字(?:是什么|叫什么)?|我姓什么",
        r"^(?:my (?:full |first |last )?name\b|(?:you can |please )?call me\b|i(?:'m| am) called\b"
        r"|i go by\b)|^我(?:叫|的名字|姓)",
    ),
    "job": _topic(
        r"what do i do(?: for (?:a living|work|my job))?|what do i work as|what(?:'s| is) my"
        r" (?:current )?(?:job|profession|occupation|trade|work|line of work|job title)",
        r"我是(?:做|干)什么(?:工作)?的|我(?:做|从事)什么(?:工作|职业)?|我的(?:职业|工作|专业)(?:是什么)?",
        r"^i(?:'m| am| work as) an? |^i work\b|\bmy (?:job|profession|occupation)\b"
        r"|^我是(?:一?[名个位])?|从事|職業|职业|我当",
    ),
    "workplace": _topic(
        r"where do i work|who do i work for|who employs me|(?:which|what) (?:company|firm"
        r"|school|city|town|country|place) do i work (?:for|at|in)|who(?:'s| is) my employer",
        r"我在哪.*(?:工作|上班)|我的(?:公司|单位|雇主)是.*",
        r"\bwork(?:s|ing)? (?:as [\w -]+? )?(?:at|for|in|with)\b|\bemploye[rd]\b"
        r"|在.+(?:工作|上班)|公司",
    ),
    "age": _topic(
        r"how old am i|what(?:'s| is) my age",
        r"我(?:今年)?(?:多大|几岁|多少岁).*|我的年龄.*",
        r"\byears old\b|\bborn\b|\bbirthday\b|\b(?:i'm|i am) \d{1,3}\b|岁|歲|生日|出生",
    ),
    "birthday": _topic(
        r"when(?:'s| is) my birthday|when was i born",
        r"我的?生日(?:是)?(?:什么时候|哪天|几号|几月几号)?|我(?:是)?(?:什么时候|哪年|哪天)出生的?",
        r"\bbirthday\b|\bborn\b|生日|出生",
    ),
    "likes": _topic(
        r"what do i (?:like|love|enjoy|prefer)|what are my (?:preferences|tastes|hobbies"
        r"|interests|likes)",
        r"我(?:都)?(?:喜欢|喜歡|爱|偏好)(?:些)?什么|我的(?:喜好|爱好|偏好|兴趣)(?:是什么|有哪些)?",
        r"\b(?:like|love|enjoy|prefer|favou?rite)\w*|喜欢|喜歡|偏好|爱好|热爱",
    ),
}
_MINE = regex(
    _OPENING + r"(?:what|who|where|when|which)(?:'s| is| are| was| were) my (?P<x>[^?]+?)\W*$"
    r"|"
    + _OPENING
    + r"(?:which|what) (?P<x2>[^?]+?) do i (?P<v>like|love|prefer|enjoy|hate|dislike|use"
    r"|have|own|want|speak|play|drive|study|teach|eat|drink)(?: (?:most|best|more))?\W*$"
    r"|"
    + _OPENING
    + r"do i (?P<v2>like|love|prefer|enjoy|hate|dislike|have|own|speak|play|drive|eat"
    r"|drink) (?!to )(?P<x3>[^?]+?)\W*$"
    r"|^\W*我的(?P<x4>.+?)(?:是|叫|有)(?:什么|谁|哪.?|多少|几.?).*$"
    r"|^\W*我(?P<v4>最?(?:喜欢|喜爱|讨厌|常用))的(?P<x6>.+?)(?:是|叫)(?:什么|谁|哪.?).*$"
    r"|^\W*我(?P<v3>喜欢|讨厌|偏好|用|养|开|说)(?:的是)?(?:什么|哪.|几.)(?P<x5>[^吗呢?？]+).*$",
    re.IGNORECASE,
)
_LIKING = regex(r"like|love|prefer|enjoy|hate|dislike|喜欢|讨厌|偏好", re.IGNORECASE)
_SYNONYMS = [
    set(line.split())
    for line in [
        "dog 狗 犬",
        "cat 猫",
        "wife 妻子 老婆 太太",
        "husband 丈夫 老公 先生",
        "child children kid kids 孩子",
        "son 儿子",
        "daughter 女儿",
        "mother mum mom 母亲 妈妈",
        "father dad 父亲 爸爸",
        "sister 姐姐 妹妹",
        "brother 哥哥 弟弟",
        "car 车 汽车",
        "house 房子",
        "budget 预算",
        "birthday 生日",
        "trip travel 旅行",
        "allergy allergic 过敏",
        "editor 编辑器",
        "language 语言",
        "project 项目",
        "hobby 爱好",
        "school 学校",
        "boss 老板",
        "team 团队",
        "answer answers 回答 答案",
        "food 食物",
        "boat 船",
        "job work 工作",
        "pet 宠物",
    ]
]
"""Synonyms in what people say about themselves."""


class SelfQuestion(NamedTuple):
    """A question of a person about themselves."""

    kind: Literal["all", "told", "attribute", "mine"]
    name: str = ""
    """The attribute, or the words of the topic."""
    verb: str = ""

    @property
    def is_certain(self) -> bool:
        """Whether it can only be about the person, so that no research could answer it."""
        return self.kind != "mine"


class PersonalNote(NamedTuple):
    """A fact or trait that answers, with its memory and its id in `dossier memory`."""

    memory: Literal["facts", "profile"]
    id: str
    text: str
    quote: str
    at: float


class PersonalAnswer(NamedTuple):
    """The notes on a question, and whether they answer it or are only related."""

    notes: list[PersonalNote]
    is_exact: bool


def parse_self_question(question: str) -> SelfQuestion | None:
    """Parse a question about the person who asks it; return `None` for any other question."""
    if len(question) > LONGEST:
        return None
    text = fold_text(" ".join(question.split()))
    if not _OF_SELF.search(text):
        return None
    if _ALL.search(text):
        return SelfQuestion("all")
    for name, topic in _TOPICS.items():
        if topic.question.search(text):
            return SelfQuestion("attribute", name)
    told = _TOLD.search(text)
    found = told or _MINE.search(text)
    if found is None:
        return None
    groups = {key: value for key, value in found.groupdict().items() if value}
    subject = next(value for key, value in groups.items() if key[0] == "x")
    verb = next((value for key, value in groups.items() if key[0] == "v"), "")
    return SelfQuestion("told" if told else "mine", subject, verb)


async def answer_self_question(owner: str, asked: SelfQuestion) -> PersonalAnswer:
    """Return the notes of an owner that answer a question about them, the newest first."""
    facts = [fact for fact in await list_facts(owner) if fact.content][::-1]
    traits = await _traits(owner)
    if asked.kind == "all":
        notes = [_note(fact) for fact in facts]
        return PersonalAnswer([*notes[:MOST], *_unquoted_traits(traits, notes)], True)
    if asked.kind == "attribute":
        matches = _facts_on(asked.name, facts, traits)
    else:
        matches = [fact for fact in facts if _is_about(f"{fact.content} {fact.quote}", asked.name)]
    is_exact = bool(matches) or asked.kind == "attribute" or not _LIKING.search(asked.verb)
    if not is_exact:
        matches = [fact for fact in facts if _TOPICS["likes"].fact.search(fact.content)]
    return PersonalAnswer([_note(fact) for fact in matches[:MOST]], is_exact)


async def search_personal_notes(owner: str, query: str, limit: int) -> list[PersonalNote]:
    """Return the notes of an owner that match a search, the best matches first."""
    if asked := parse_self_question(query):
        return (await answer_self_question(owner, asked)).notes[:limit]
    terms = query_terms(query)
    notes = [_note(fact) for fact in (await list_facts(owner))[::-1] if fact.content]
    notes += _unquoted_traits(await _traits(owner), notes)
    scored = [(_shared_part(terms, f"{note.text} {note.quote}"), note) for note in notes]
    matches = sorted((pair for pair in scored if pair[0] >= SHARED), key=lambda pair: -pair[0])
    return [note for _, note in matches[:limit]]


def _unquoted_traits(
    traits: Sequence[PersonalNote], notes: Sequence[PersonalNote]
) -> list[PersonalNote]:
    """Return the traits with a quote that no note has, one for each quote."""
    known = {note.quote or note.text for note in notes}
    return list({trait.quote: trait for trait in traits if trait.quote not in known}.values())


def _shared_part(terms: Sequence[str], text: str) -> float:
    words = set(search_words(text))
    return sum(term in words for term in terms) / len(terms) if terms else 0.0


def _facts_on(name: str, facts: Sequence[Fact], traits: Sequence[PersonalNote]) -> list[Fact]:
    matches = [fact for fact in facts if _TOPICS[name].fact.search(fact.content)]
    if name == "job":
        # "I am a ..." states a profession only where the profile lists it as an identity.
        quotes = {trait.quote for trait in traits if trait.id == "identities"}
        matches = [fact for fact in matches if fact.quote in quotes] or matches
    return matches


async def _traits(owner: str) -> list[PersonalNote]:
    profile = (await load_profile(owner)).profile
    lists: list[tuple[str, list[Trait]]] = [
        ("identities", profile["identities"]),
        ("characteristics", profile["characteristics"]),
        ("tastes", list(profile["tastes"].values())),
    ]
    return [
        PersonalNote("profile", name, trait["text"], trait["quote"], trait["at"])
        for name, traits in lists
        for trait in traits
    ]


def _note(fact: Fact) -> PersonalNote:
    return PersonalNote("facts", fact.id, fact.content, fact.quote, fact.created)


def _is_about(text: str, topic: str) -> bool:
    """Return whether a text has at least half of the words of a topic, in either language."""
    bare = topic.removeprefix("我的")
    if re.fullmatch(r"[\u4e00-\u9fff]", bare):
        words = [bare]
    else:
        words = search_words(re.sub(r"^(?:my|the|我的?)\s*", "", topic))
    lowered, known = text.lower(), set(search_words(text))
    shared = [word for word in words if word in known or _has_synonym(word, lowered, known)]
    return bool(shared) and 2 * len(shared) >= len(words)


def _has_synonym(word: str, text: str, words: set[str]) -> bool:
    for synonyms in _SYNONYMS:
        stems = {stem for name in synonyms for stem in search_words(name)} | synonyms
        if word in stems:
            chinese = [name for name in synonyms if not name.isascii()]
            return bool(stems & words) or any(name in text for name in chinese)
    return False


def render_personal_note(note: PersonalNote, language: str) -> str:
    """Return a note as a sentence with the day it was said and where it is stored."""
    day = datetime.fromtimestamp(note.at, UTC).astimezone().date().isoformat()
    text = note.quote or note.text
    where = f"fact {note.id[:8]}" if note.memory == "facts" else "profile"
    if language == "zh":
        where = f"事实 {note.id[:8]}" if note.memory == "facts" else "个人资料"
        return f"你在 {day} 说过：“{text}”（{where}）。"
    return f"You said on {day}: “{text}” ({where})."
