"""Remove private words from a query: words that occur in private texts and in no public one.

A private word is also recognized if a model was instructed to disguise it: spelled out, reversed,
shifted, encoded or split. A paraphrase is not recognized.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from text.disguises import (
    comparison_form,
    decode_base85,
    decode_data,
    decode_escapes,
    decode_spelled_letters,
    decode_symbols,
    digits_to_letters,
    drop_invisible,
    letter_variants,
    strip_endings,
    strip_vowels,
    undisguise_word,
    unify_characters,
)
from text.numerals import find_amounts, find_known_numbers, find_numeral_runs, mask_identity_numbers
from text.private_words import (
    GROUPED_NUMBER,
    HAN_CHARACTER,
    PIECE,
    WHOLE,
    WORD_ATOM,
    YEAR_NUMBER,
    RedactionMaterial,
    extract_digits,
    find_telltale_words,
    is_filler,
)
from text.regex import regex
from text.script import CJK
from text.secret_masking import SECRET_MARK, mask_secrets
from text.words import NON_TOPIC_WORDS, query_terms, search_words, word_weight

OPAQUE = 20
"""A run of this many letters and digits is opaque data."""

INITIALS = 6
"""The fewest initials of words in a row that do not spell a private word by chance."""

MOST = 40
"""The longest word that is recognised if it is split, in characters."""

LONGEST = 120
"""The longest data that is recognised if it is split, in characters."""

_CHUNK = regex(rf"[^\s{CJK}]+")
_DATA = regex(r"[A-Za-z0-9+/]+={0,6}")
_SURNAMES = frozenset(
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅"
    "沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎閻余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧侯"
    "邵孟龙龍万萬段雷钱錢汤湯尹黎易常武乔喬贺賀赖賴龚龔文"
)


class RedactedQuery(NamedTuple):
    """A query without its private words, and those words as they were written."""

    text: str
    dropped: tuple[str, ...] = ()

    @property
    def searchable(self) -> bool:
        """Tell whether the rest names a topic."""
        return any(not is_filler(word) for word in query_terms(self.text))


def redact_private_words(query: str, material: RedactionMaterial) -> RedactedQuery:
    """Return a query without its secrets and private words.

    Args:
        query: The query as it was written.
        material: The private texts and the public ones.
    """
    masked = mask_identity_numbers(mask_secrets(decode_escapes(query)).text)
    secrets = SECRET_MARK.findall(masked)
    text = " ".join(SECRET_MARK.sub(" ", masked).split())
    private = set[int]().union(*(find(text, material) for find in _FINDERS))
    if not private and not secrets:
        # A query that is only written in an unusual way is sent as it is.
        return RedactedQuery(" ".join(drop_invisible(query).split()))
    public = "".join(" " if at in private else letter for at, letter in enumerate(text))
    words = (word for word in public.split() if not private or any(map(str.isalnum, word)))
    removed = "".join(letter if at in private else "\n" for at, letter in enumerate(text))
    dropped = tuple(one for part in removed.split("\n") if (one := part.strip()))
    return RedactedQuery(" ".join(words), (*secrets, *dropped))


def _find_private_chunks(text: str, material: RedactionMaterial) -> set[int]:
    """Return the places of the chunks between spaces that contain a private word in any form."""
    return _places(match.span() for match in _CHUNK.finditer(text) if _betrays(match[0], material))


def _places(spans: Iterable[tuple[int, int]]) -> set[int]:
    return {place for span in spans for place in range(*span)}


def _betrays(chunk: str, material: RedactionMaterial) -> bool:
    if any(map(material.secret, search_words(chunk))):
        return True
    if any(_names(one, material) for one in (*decode_base85(chunk), *decode_data(chunk[::-1]))):
        return True
    strange = [one for one in WORD_ATOM.findall(comparison_form(chunk)) if _strange(one, material)]
    if any(_disguised(one, material) for one in strange):
        return True
    return bool(strange) and any(_tells(one, material) for one in decode_data(chunk))


def _strange(atom: str, material: RedactionMaterial) -> bool:
    """Tell whether a word is neither common nor known to be public."""
    if atom.isdecimal() or atom in NON_TOPIC_WORDS:
        return False
    words = search_words(atom)
    return not all(material.free(one) or is_filler(one) or word_weight(one) < 1 for one in words)


def _disguised(atom: str, material: RedactionMaterial) -> bool:
    """Tell whether an unknown word is a private one in another form, or a piece of one."""
    if len(atom) >= OPAQUE and (len(atom) > MOST or any(map(str.isdigit, atom))):
        return True
    if len(atom) < PIECE:
        return False
    if not material.hidden.isdisjoint(undisguise_word(atom)):
        return True
    if (read := digits_to_letters(atom)) and _misspelt(read, material):
        return True
    return any(
        (len(one) >= WHOLE and one in atom) or (len(one) > len(atom) and _piece(atom, one))
        for one in material.hidden
    )


def _misspelt(atom: str, material: RedactionMaterial) -> bool:
    """Tell whether a word is a private one in another form, or with other letters."""
    if len(atom) < WHOLE:
        return False
    return (
        not material.variants.isdisjoint(letter_variants(atom))
        or not material.stems.isdisjoint(strip_endings(atom))
        or (len(strip_vowels(atom)) >= INITIALS and strip_vowels(atom) in material.variants)
    )


def _piece(atom: str, whole: str) -> bool:
    """Tell whether a word is the beginning or the end of a longer one, but not a form of it."""
    return whole.startswith(atom) or whole.endswith(atom)


def _tells(text: str, material: RedactionMaterial) -> bool:
    """Tell whether a decoded text contains something private, or is readable text."""
    if any(map(material.secret, search_words(text))) or _find_numbers(text, material):
        return True
    letters = sum(map(str.isalpha, text))
    return letters >= WHOLE and letters > len(text) / 2


def _names(text: str, material: RedactionMaterial) -> bool:
    """Tell whether a decoded text contains a private word that is not just an abbreviation."""
    return any(len(one) >= PIECE and material.secret(one) for one in search_words(text))


def _find_split_data(text: str, material: RedactionMaterial) -> set[int]:
    """Return the places of pieces of data that contain a private word when they are joined."""
    pieces = [(*one.span(), one[0]) for one in _DATA.finditer(text)]
    odd = {one: len(one) == 1 or _strange(comparison_form(one), material) for *_, one in pieces}
    private: set[int] = set()
    before = len(text)
    for first in range(len(pieces) - 1, -1, -1):
        end = _end_of_private_data(pieces[first:], odd, material)
        # Words before or after the data do not belong to it.
        if 0 < end < before:
            before = end
            private.update(range(pieces[first][0], end))
    return private


def _end_of_private_data(
    pieces: Sequence[tuple[int, int, str]], odd: Mapping[str, bool], material: RedactionMaterial
) -> int:
    """Return where the shortest run of pieces ends that contains a private word, or 0."""
    joined, strange = "", 0
    for number, (_, end, piece) in enumerate(pieces, start=1):
        joined += piece
        strange += odd[piece]
        if len(joined) > LONGEST:
            break
        if 2 * strange > number and any(_names(one, material) for one in decode_data(joined)):
            return end
    return 0


def _find_split_words(text: str, material: RedactionMaterial) -> set[int]:
    """Return the places of words that are private when they are joined."""
    atoms = [(one.start(), one.end(), comparison_form(one[0])) for one in WORD_ATOM.finditer(text)]
    odd = {atom: len(atom) == 1 or _strange(atom, material) for atom in {one for *_, one in atoms}}
    # There may be common words between the pieces of a word.
    pieces = [one for one in atoms if odd[one[2]]]
    return _find_adjacent(atoms, odd, material) | _find_scattered(pieces, material)


def _find_scattered(atoms: Sequence[tuple[int, int, str]], material: RedactionMaterial) -> set[int]:
    """Return the places of pieces that make a private word, whatever is between them."""
    private: set[int] = set()
    for first in range(len(atoms)):
        joined = ""
        for last in range(first, len(atoms)):
            joined += atoms[last][2]
            if len(joined) > MOST:
                break
            if last > first and len(joined) >= WHOLE and joined in material.hidden:
                private.update(at for one in atoms[first : last + 1] for at in range(*one[:2]))
    return private


def _find_adjacent(
    atoms: Sequence[tuple[int, int, str]], odd: Mapping[str, bool], material: RedactionMaterial
) -> set[int]:
    """Return the places of words in a row that are private when they are joined."""
    private: set[int] = set()
    for first, (start, _, _) in enumerate(atoms):
        joined, strange, codes = "", False, []
        for _, end, atom in atoms[first:]:
            joined += atom
            codes.append(atom)
            if len(joined) > MOST:
                break
            strange = strange or odd[atom]
            if len(codes) > 1 and _is_private_when_joined(joined, codes, strange, material):
                private.update(range(start, end))
    return private


def _is_private_when_joined(
    joined: str, parts: Sequence[str], strange: bool, material: RedactionMaterial
) -> bool:
    in_bytes = all(len(one) == 2 for one in parts)
    if len(joined) < PIECE or not (strange or in_bytes or joined.isdecimal()):
        return False
    if {joined, joined[::-1], "".join(one[::-1] for one in parts)} & material.hidden:
        return True
    single = all(len(one) == 1 for one in parts)
    if single and not joined.isdecimal():
        return _disguised(joined, material) or bool(set(undisguise_word(joined)) & material.hidden)
    if len(parts) < PIECE:
        return False
    if not material.hidden.isdisjoint(decode_spelled_letters(parts)):
        return True
    coded = all(one.isdecimal() for one in parts) or all(one.startswith("0x") for one in parts)
    data = [*([" ".join(parts)] if coded else []), *([joined] if in_bytes else [])]
    return any(_tells(text, material) for one in data for text in decode_data(one))


def _find_acronyms(text: str, material: RedactionMaterial) -> set[int]:
    """Return the places of words whose first letters make a private word."""
    atoms = [(*one.span(), comparison_form(one[0])[:1]) for one in WORD_ATOM.finditer(text)]
    initials = "".join(letter for _, _, letter in atoms)
    private: set[int] = set()
    for start in range(len(atoms)):
        for end in range(start + INITIALS, min(len(atoms), start + MOST) + 1):
            if initials[start:end] in material.hidden:
                private.update(range(atoms[start][0], atoms[end - 1][1]))
    return private


def _find_symbols(text: str, material: RedactionMaterial) -> set[int]:
    """Return the places of Morse code and runs of symbols, which no search engine understands."""
    del material
    return _places(decode_symbols(text))


def _find_numbers(text: str, material: RedactionMaterial) -> set[int]:
    """Return the places of private numbers, and of parts of them."""
    private = find_known_numbers(text, material.identities)
    for match in GROUPED_NUMBER.finditer(text):
        public = all(map(material.free, search_words(match[0])))
        if _private_number(extract_digits(match[0]), material, public=public):
            private.update(range(*match.span()))
    for run in find_numeral_runs(text):
        if any(_private_number(one, material) for one in run.readings):
            private.update(range(run.start, run.end))
    for amount in find_amounts(text):
        if not material.numbers.keys().isdisjoint(amount.readings):
            private.update(range(amount.start, amount.end))
    return private


def _private_number(digits: str, material: RedactionMaterial, *, public: bool = False) -> bool:
    """Tell whether digits are a private number or a part of one."""
    if len(digits) < PIECE:
        return False
    if public or YEAR_NUMBER.fullmatch(digits):
        return any(_piece_of(digits, one, PIECE) for one in material.identities)
    return any(_piece_of(digits, *whole) for whole in material.numbers.items())


def _piece_of(digits: str, whole: str, least: int) -> bool:
    # The beginning or the end of a number is a more likely piece of it than its middle.
    return any(
        _piece(one, whole) or (len(one) >= least and (one in whole or whole in one))
        for one in (digits, digits[::-1])
    )


def _find_chinese(text: str, material: RedactionMaterial) -> set[int]:
    """Return the places of private pairs of Chinese characters, whatever is between them."""
    places = [at for at, letter in enumerate(text) if HAN_CHARACTER.match(letter)]
    letters = "".join(unify_characters(text[at])[:1] or text[at] for at in places)
    if len(letters) < 2:
        return set()
    pairs = [letters[at : at + 2] for at in range(len(letters) - 1)]
    written = [f"{text[one]}{text[other]}" for one, other in pairwise(places)]
    free = [
        _free_pair(one, material) or _free_pair(pair, material)
        for one, pair in zip(written, pairs, strict=True)
    ]
    covered = {at + n for at, one in enumerate(free) if one for n in (0, 1)}
    near = {*places}
    alone = [not {place - 1, place + 1} & near for place in places]
    gone: set[int] = set()
    for at, pair in enumerate(pairs):
        apart = places[at + 1] - places[at] > 1 and not (alone[at] and alone[at + 1])
        if {at, at + 1} <= covered or free[at] or apart:
            continue
        around = [letters[max(at - 1, 0) : at + 2], letters[at : at + 3]]
        if _private_pair(pair, around, material) or _private_pair(
            pair[::-1], [one[::-1] for one in around], material
        ):
            gone.update((places[at], places[at + 1]))
    return gone


def _free_pair(pair: str, material: RedactionMaterial) -> bool:
    if is_filler(pair) or material.free(pair) or word_weight(pair) < 1:
        return True
    return any(pair in one.run for one in (*material.own, *material.public))


def _private_pair(pair: str, around: Sequence[str], material: RedactionMaterial) -> bool:
    if any(pair in one.run for one in material.memory):
        return True
    runs = [one.run for one in material.files if pair in one.run]
    if not runs:
        return False
    longer = [one for one in around if len(one) > 2]
    return pair[0] in _SURNAMES or not longer or any(one in run for run in runs for one in longer)


def _find_telltale(text: str, material: RedactionMaterial) -> set[int]:
    """Return the places of words that occur together only in a private sentence."""
    words = find_telltale_words(text, material)
    if not words:
        return set()
    chunks = (one for one in _CHUNK.finditer(text) if not words.isdisjoint(search_words(one[0])))
    pairs = ((at, at + 2) for at in range(len(text) - 1) if text[at : at + 2] in words)
    return _places([*(chunk.span() for chunk in chunks), *pairs])


_FINDERS = (
    *(_find_private_chunks, _find_split_words, _find_split_data, _find_acronyms),
    *(_find_symbols, _find_numbers, _find_chinese, _find_telltale),
)
"""The functions that find private places of a query, each in its own way."""
