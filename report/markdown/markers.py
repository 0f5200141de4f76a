"""Parse citation marks, `[S3]` and `<q s="S3">…</q>`, in the ways in which models spell them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from prompts.data_blocks import QUOTATION_BODY
from report.markdown.code import InlineCode, map_inline_code, mask_code, unmask_code
from report.markdown.sanitizer import strip_markup
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import CJK

MARKER = regex(r"\[(S[1-9]\d*|\?)\]")
"""A marker in its normal spelling; `[?]` is one that names no source."""

QUOTE = regex(rf'<q s="(S[1-9]\d*)?">({QUOTATION_BODY})</q>')
"""A marked quotation in its normal spelling: its source, and its words, escaped for HTML."""

_CITING = regex(f"{QUOTE.pattern}|{MARKER.pattern}", re.DOTALL)

QUOTED_WORDS = regex(
    "“(?P<a>[^“”]{1,2000})”|„(?P<b>[^„“”]{1,2000})[“”]|«(?P<c>[^«»]{1,2000})»"
    "|「(?P<d>[^「」]{1,2000})」|『(?P<e>[^『』]{1,2000})』|＂(?P<f>[^＂]{1,2000})＂"
    r'|(?<![A-Za-z0-9"])"(?=\S)(?P<g>[^"]{1,2000})(?<=\S)"(?![A-Za-z0-9"])'
)
"""Words between quotation marks."""


_PATTERNS = PatternFile("report.markdown", "markers.toml", quoted_words=QUOTED_WORDS.pattern)


_CLOSING = " \t\n\"'”’」』»*_)）|"
_STOPS = ".!?。！？…；"

_MAX_RANGE = 20  # a longer range is read as its two ends


# The checks of a text, its claims and its rendering ask for the same blocks.
@lru_cache(maxsize=512)
def normalize_marks(text: str) -> str:
    """Return a block of a model's text with normalized marks and without other markup.

    An unclosed quotation ends with its sentence; a nested one ends the outer one. One that was
    copied with the escaping of a prompt is a quotation, too. Inline code is unchanged except for
    marks that a model formatted as code.
    """
    done, end = _closed(text), _last(_PATTERNS.twice_close, text)
    read = _PATTERNS.twice.sub(
        lambda one: one[0] if _within(one.span(), done) else _unescaped(one), text[:end]
    )
    text = read + text[end:]
    quoted = _closed(text)
    bare, kept = mask_code(map_inline_code(text, lambda code: _uncoded(code, quoted)))
    spelt = map_outside_quotations(_PATTERNS.wrapped.sub(r"\1", "".join(_parts(bare))), _plain)
    return unmask_code(spelt, kept)


def _closed(text: str) -> list[tuple[int, int]]:
    """Return the spans of the closed quotations."""
    return [
        one.span() for one in _PATTERNS.closed.finditer(text, 0, _last(_PATTERNS.closing_tag, text))
    ]


def _last(mark: re.Pattern[str], text: str) -> int:
    """Return the end of the last closing mark; quotations opened after it are not closed."""
    return max((one.end() for one in mark.finditer(text)), default=0)


def normalize_round_markers(body: str, known: Mapping[str, str]) -> str:
    """Return `body` with `(S3)` replaced by `[S3]`.

    If the text also has marks of another kind, "S3" is left as a name if the sources use it as one.

    Args:
        body: Markdown as a model wrote it.
        known: The text of each source by its id.
    """
    mixed = bool(_PATTERNS.bracketed.search(body) or _PATTERNS.tags.search(body))

    def spelt(found: re.Match[str]) -> str:
        """Return known ids as markers unless one may be a word of the text."""
        names = set(_names(found[1]))
        named = mixed and any(_is_word(one, known) for one in names)
        return found[0] if named or not names <= known.keys() else _to_markers(found)

    return _PATTERNS.round.sub(spelt, body)


def mark_bare_ids(text: str, known: Mapping[str, str]) -> str:
    """Return `text` with each bare id of a source, as in "S3 says", replaced by a marker.

    An "S3" that the sources themselves use is a name, unless the text calls it a source or says
    what it states. An unknown id becomes a marker without a source.

    Args:
        text: A block without other marks than those of one spelling.
        known: The text of each source by its id.
    """

    def marked(found: re.Match[str]) -> str:
        """Return known ids as markers, and `[?]` for unknown ones that are cited."""
        names = _PATTERNS.bare_id.findall(found["ids"])
        spoken = found["lead"] is not None or found["verb"] is not None
        if set(names) <= known.keys():
            plain = spoken or not any(_is_word(name, known) for name in names)
            ids = _PATTERNS.bare_id.sub(lambda one: f"[{one[0]}]", found["ids"])
            return ids if plain else found[0]
        return "[?]" if spoken else found[0]

    bare, kept = mask_code(text)
    return unmask_code(
        map_outside_quotations(bare, lambda part: _PATTERNS.bare.sub(marked, part)), kept
    )


def _is_word(name: str, known: Mapping[str, str]) -> bool:
    return any(re.search(rf"\b{name}\b", text) for text in known.values())


def blank_quotations(text: str) -> str:
    """Return `text` with each marked quotation replaced by as many NUL characters."""
    return QUOTE.sub(lambda quote: "\0" * len(quote[0]), text)


def map_outside_quotations(text: str, change: Callable[[str], str]) -> str:
    """Return `text` with `change` applied to everything but its marked quotations."""
    return map_matches(QUOTE, text, lambda quote: quote[0], change)


def map_matches(
    pattern: re.Pattern[str],
    text: str,
    inside: Callable[[re.Match[str]], str],
    outside: Callable[[str], str],
) -> str:
    """Return `text` with one change applied to the matches of a pattern, another to the rest."""
    parts: list[str] = []
    done = 0
    for match in pattern.finditer(text):
        parts += [outside(text[done : match.start()]), inside(match)]
        done = match.end()
    return "".join([*parts, outside(text[done:])])


def list_cited_ids(text: str) -> list[str]:
    """Return the ids that the markers and quotations of a text cite, in order, with repetitions."""
    return [use[1] or use[3] for use in _CITING.finditer(text) if use[1] or use[3]]


def is_quotation_length(words: str) -> bool:
    """Tell whether words in quotation marks are long enough for a quotation."""
    return len(words.strip()) >= 12 or len(re.findall(f"[{CJK}]", words)) >= 6


def has_quotation(text: str) -> bool:
    """Tell whether a text has words in quotation marks that are long enough for a quotation."""
    spoken = QUOTED_WORDS.finditer(text)
    return any(is_quotation_length(one[one.lastgroup or 0]) for one in spoken)


def _unescaped(quote: re.Match[str]) -> str:
    """Return a quotation whose mark was escaped, with its words escaped once."""
    words = html.escape(html.unescape(html.unescape(quote[2])), quote=False)
    return f'<q s="{quote[1]}">{words}</q>'


def _uncoded(code: InlineCode, quoted: Sequence[tuple[int, int]]) -> str:
    """Return inline code, or its content if that is a mark rather than code."""
    whole = _within((code.start, code.end), quoted) or not _PATTERNS.coded.search(code.inside)
    return code.string if whole else code.inside


def _within(place: tuple[int, int], quoted: Sequence[tuple[int, int]]) -> bool:
    return any(start < place[0] and place[1] < end for start, end in quoted)


def _parts(text: str) -> Iterator[str]:
    """Yield the normalized quotations of a text and the text between them."""
    source: str | None = None
    words = ""
    for part in _PATTERNS.tags.split(text):
        opens = bool(_PATTERNS.opening.match(part))
        if not opens and not _PATTERNS.tags.match(part):
            if source is None:
                yield part
            words = part
            continue
        if source is not None:
            yield from _unclosed(source, words) if opens else [_quote(source, words)]
        found = re.search(r"S0*([1-9]\d*)", part)
        source = (f"S{found[1]}" if found else "") if opens else None
        words = ""
    if source is not None:
        yield from _unclosed(source, words)


def _unclosed(source: str, words: str) -> Iterator[str]:
    first = _PATTERNS.sentence.match(words)
    end = first.end() if first else 0
    yield _quote(source, words[:end])
    yield words[end:]


def _quote(source: str, words: str) -> str:
    if any(character.isalnum() for character in words):
        return f'<q s="{source}">{words}</q>'
    return f"[{source}]" if source else ""


def _plain(text: str) -> str:
    text = _PATTERNS.bracketed.sub(_to_markers, text)
    text = _PATTERNS.quoted_or_numbered.sub(
        lambda found: "[?]" if found["number"] else found[0], text
    )
    text = _PATTERNS.round_markers.sub(r"\1", strip_markup(text))
    return _PATTERNS.double.sub(r"\1", _PATTERNS.between.sub("", text))


def _to_markers(group: re.Match[str]) -> str:
    return "".join(f"[{name}]" for name in _names(group[1]))


def _names(ids: str) -> Iterator[str]:
    """Yield the ids of a group; an id with a lower-case letter is that of a step."""
    last = 0
    for item in _PATTERNS.item.finditer(ids):
        number = int(item[3])
        first = last + 1 if item[1] and 0 <= number - last <= _MAX_RANGE else number
        for each in range(first, number + 1):
            yield f"S{each}" if item[2] == "S" and each else "?"
        last = number


def add_marker(statement: str, name: str) -> str:
    """Return a statement with a marker before its final punctuation."""
    said = statement.rstrip(_CLOSING).rstrip(_STOPS)
    space = "" if _PATTERNS.unspaced.match(said[-1:]) else " "
    return f"{said}{space}[{name}]{statement[len(said) :]}"


def replace_markers(statement: str, name: str) -> str:
    """Return a statement with one marker in place of all its markers."""
    first = MARKER.search(statement)
    bare = MARKER.sub("", statement[first.end() :]) if first else ""
    return f"{statement[: first.start()]}[{name}]{bare}" if first else add_marker(statement, name)
