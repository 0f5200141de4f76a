"""Tell a person's own words from what they pasted, quoted or asked."""

from __future__ import annotations

import unicodedata

from memory.learning.patterns import PHRASES, strip_matches
from text.normalization import find_quote, normalize_text
from text.pattern_files import PatternFile
from text.regex import regex
from text.sentences import split_sentences
from text.words import QUESTION_WORDS, search_words

_PATTERNS = PatternFile(__package__, "own_words.toml")

PASTED = 600
"""A paragraph this long, in characters, was pasted and not typed."""

TOPIC = 2
"""How many topic words a question has that needs no other text."""

POINTING = 4
"""How many it has if it also says "this" or "they"."""

_HIDDEN = regex("[\u00ad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_TAGS = regex("[\U000e0000-\U000e007f]")


def normalize_message(text: str) -> str:
    """Return a text in NFKC without comments and invisible characters."""
    shown = unicodedata.normalize("NFKC", _TAGS.sub("", _PATTERNS.comment.sub(" ", text)))
    return normalize_text(_HIDDEN.sub("", shown))


def extract_own_words(message: str) -> str:
    """Return what a person says in a message in their own voice.

    They end where another text may begin. A message with the layout of a mail or a table, or with a
    request about a text, has none: the text may be anywhere in it.
    """
    text = normalize_message(message)
    if _PATTERNS.layout.search(text):
        return ""
    text = mask_long_quotations(text[: _find_pasted(text)])
    sentences = split_sentences(text)
    if any(_PATTERNS.text_request.search(one.text) for one in sentences):
        return ""
    in_list = False
    for number, one in enumerate(sentences, 1):
        rest = _strip_lead(one.text)
        begins_list = _PATTERNS.item.match(one.text) and not in_list
        if begins_list or _PATTERNS.reported_speech.search(rest) or _PATTERNS.colon.search(rest):
            return text[: one.start].rstrip()
        in_list = not rest or in_list
        gap = text[one.end : sentences[number].start] if number < len(sentences) else ""
        if "\n" in gap and not (in_list or _stands_alone(one.text)):
            return text[: one.end]
    return text.rstrip()


def mask_long_quotations(text: str) -> str:
    """Return a text with "…" in place of each quotation."""
    return _PATTERNS.single.sub(" … ", _PATTERNS.quoted.sub(" … ", text))


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
    return bool(_PATTERNS.asks.search(sentence))


def is_first_person(text: str) -> bool:
    """Tell whether a text mentions the speaker."""
    return bool(_PATTERNS.first_person.search(text))


def is_about_speaker(sentence: str) -> bool:
    """Tell whether a sentence says something about the speaker.

    A question does if it names something of theirs: "Why do my bees die?"
    """
    if is_request(sentence):
        return bool(_PATTERNS.own_thing.search(sentence))
    rest = _strip_lead(sentence)
    return bool(
        _PATTERNS.subject.match(rest)
        or (_PATTERNS.instruction.match(rest) and _PATTERNS.own_thing.search(rest))
    )


def is_instruction(sentence: str) -> bool:
    """Tell whether a sentence is an instruction, a wish or a statement of the speaker."""
    return not _PATTERNS.question.search(sentence) and _begins_as_own(sentence)


def _begins_as_own(text: str) -> bool:
    patterns = (_PATTERNS.instruction, PHRASES.wish, _PATTERNS.subject)
    return any(one.match(text) for one in patterns)


def _find_pasted(text: str) -> int:
    """Return where code or a paragraph begins that is too long to have been typed."""
    code = _PATTERNS.code.search(text)
    gaps = list(_PATTERNS.gap.finditer(text))
    ends = [*(gap.start() for gap in gaps), len(text)]
    starts = [0, *(gap.end() for gap in gaps)]
    long = (start for start, end in zip(starts, ends, strict=True) if end - start >= PASTED)
    return min(code.start() if code else len(text), next(long, len(text)))


def _strip_lead(sentence: str) -> str:
    """Return a sentence without the words that only introduce it."""
    for pattern in (PHRASES.lead, PHRASES.denial, PHRASES.note):
        sentence = strip_matches(pattern, sentence)
    return sentence


def _stands_alone(sentence: str) -> bool:
    """Tell whether a sentence is the person's own, and does not announce the next line."""
    rest = strip_matches(PHRASES.lead, sentence)
    if _PATTERNS.text_noun.search(rest):
        return False
    if is_request(rest):
        topic = [word for word in search_words(rest) if word not in QUESTION_WORDS]
        return len(topic) >= (POINTING if _PATTERNS.vague.search(rest) else TOPIC)
    announced = PHRASES.note.match(rest) or PHRASES.denial.match(rest)
    return not rest or bool(announced) or _begins_as_own(rest)
