"""Parse citation marks, `[S3]` and `<q s="S3">…</q>`, in the ways in which models spell them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from prompts.data_blocks import QUOTATION_BODY
from report.markdown.code import InlineCode, map_inline_code, mask_code, unmask_code
from report.markdown.sanitizer import ADDRESS_PATTERN, strip_markup
from text.regex import regex
from text.script import CJK

MARKER = regex(r"\[(S[1-9]\d*|\?)\]")
"""A marker in its normal spelling; `[?]` is one that names no source."""

QUOTE = regex(rf'<q s="(S[1-9]\d*)?">({QUOTATION_BODY})</q>')
"""A marked quotation in its normal spelling: its source, and its words, escaped for HTML."""

QUOTED_WORDS = regex(
    "“(?P<a>[^“”]{1,2000})”|„(?P<b>[^„“”]{1,2000})[“”]|«(?P<c>[^«»]{1,2000})»"
    "|「(?P<d>[^「」]{1,2000})」|『(?P<e>[^『』]{1,2000})』|＂(?P<f>[^＂]{1,2000})＂"
    r'|(?<![A-Za-z0-9"])"(?=\S)(?P<g>[^"]{1,2000})(?<=\S)"(?![A-Za-z0-9"])'
)
"""Words between quotation marks."""

_OPEN, _CLOSE = r"<\s*q(?:uote)?\b[^<>]*>", r"<\s*/\s*q(?:uote)?\s*>"
_TAGS = regex(f"({_OPEN}|{_CLOSE})", re.IGNORECASE)
_SENTENCE = regex(r".*?(?:[.!?]+(?=\s|\[|$)|[。！？]+|(?=\s*\[S\d)|\n|$)", re.DOTALL)
_WRAPPED = regex(r'["“„«「『＂`]{1,3}(<q s="[^"]*">[^<>]*</q>)["”“»」』＂`]{1,3}', re.DOTALL)
_CLOSED = regex(f"{_OPEN}.*?{_CLOSE}", re.DOTALL | re.IGNORECASE)
_CLOSING_TAG = regex(_CLOSE, re.IGNORECASE)
_CODED = regex(r"</?q\b|(?<![\w\])])\[S\d", re.IGNORECASE)
_TWICE = regex(
    r"&(?:amp;)*lt;q s=(?:&(?:amp;)*(?:quot|#34|#39);|[\"'])?(S\d+)(?:&(?:amp;)*(?:quot|#34"
    r"|#39);|[\"'])?"
    r"&(?:amp;)*gt;(.*?)&(?:amp;)*lt;/q&(?:amp;)*gt;",
    re.DOTALL,
)
_TWICE_CLOSE = regex(r"&(?:amp;)*lt;/q&(?:amp;)*gt;")

_ID, _AND = r"\^?[Ss]\d{1,6}", r"\s*(?:[-–—,;，；、/&+]|and\b|和|与|\s)\s*"
_IDS = f"{_ID}(?:{_AND}{_ID})*"
_NAMED = r"(?:\s*(?:[Ss]ources?|来源|资料)\s*[:：]?)?\s*"
_PLACE = r"\s*(?:[,;:，：†|@]\s*[^\[\]［］【】\n]{0,40})?"
_BRACKETED = regex(rf"\\?[\[［【]{{1,2}}{_NAMED}({_IDS}){_PLACE}\\?[\]］】]{{1,2}}")
_ROUND = regex(rf"[(（]{_NAMED}({_IDS})\s*[)）](?=\s*(?:[.,;:!?。，；：！？|]|$))", re.MULTILINE)
_NUMBERED = regex(r"\\?[\[［【]\^?\d{1,3}(?:\s*[-–,，、;]\s*\d{1,3})*\\?[\]］】](?!\()")
_ITEM = regex(r"([-–—]\s*)?\^?([Ss])0*(\d+)")
_ROUND_MARKERS = regex(r"[(（]\s*((?:\[(?:S\d+|\?)\][\s,;，；、]*)+)[)）]")
_BETWEEN = regex(r"(?<=\])(?:\s*[,;，；、]\s*| )(?=\[(?:S\d+|\?)\])")
_DOUBLE = regex(r"(\[(?:S\d+|\?)\])\1+")

_BARE_ID = regex(r"S[1-9]\d{0,3}")
_BARE = regex(
    r"(?P<lead>(?:\b(?:[Ss]ources?|[Dd]ocuments?|[Pp]assages?)|来源|來源|资料|資料|文档|文献"
    r"|文獻|(?<=[Aa]ccording to )|(?<=[据據]))\s*)?"
    r"(?<![\w\[\]/.(（\-])(?P<ids>S[1-9]\d{0,3}(?:(?:\s*(?:,|、|和|与|and"
    r"|&)\s*)+S[1-9]\d{0,3}(?![\w\]\-]))*)(?![A-Za-z0-9_\]\-]|\.\d)"
    r"(?P<verb>(?=\s*(?:also\s+|both\s+|only\s+)?(?:claims?|says?|said|states?|reports?|argues?"
    r"|notes?|writes?|shows?|suggests?|describes?|mentions?|agrees?|disagrees?|gives?|puts?"
    r"|adds?|lists?|confirms?|指出|认为|認為|称|稱|说|說|写|寫|提到|提及|表示|显示|顯示|记载"
    r"|記載|声称|聲稱)))?"
)

_CLOSING = " \t\n\"'”’」』»*_)）|"
_STOPS = ".!?。！？…；"
_UNSPACED = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef“”‘’…]")

_MAX_RANGE = 20  # a longer range is read as its two ends


def normalize_marks(text: str) -> str:
    """Return a block of a model's text with normalized marks and without other markup.

    An unclosed quotation ends with its sentence; a nested one ends the outer one. One that was
    copied with the escaping of a prompt is a quotation, too. Inline code is unchanged except for
    addresses, and for marks that a model formatted as code.
    """
    done, end = _closed(text), _last(_TWICE_CLOSE, text)
    read = _TWICE.sub(
        lambda one: one[0] if _within(one.span(), done) else _unescaped(one), text[:end]
    )
    text = read + text[end:]
    quoted = _closed(text)
    bare, kept = mask_code(map_inline_code(text, lambda code: _uncoded(code, quoted)))
    spelt = map_outside_quotations(_WRAPPED.sub(r"\1", "".join(_parts(bare))), _plain)
    return unmask_code(spelt, [ADDRESS_PATTERN.sub("", one) for one in kept])


def _closed(text: str) -> list[tuple[int, int]]:
    """Return the spans of the closed quotations."""
    return [one.span() for one in _CLOSED.finditer(text, 0, _last(_CLOSING_TAG, text))]


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
    mixed = bool(_BRACKETED.search(body) or _TAGS.search(body))

    def spelt(found: re.Match[str]) -> str:
        named = mixed and any(_is_word(one, known) for one in _names(found[1]))
        return found[0] if named else _known_markers(found, known)

    return _ROUND.sub(spelt, body)


def mark_bare_ids(text: str, known: Mapping[str, str]) -> str:
    """Return `text` with each bare id of a source, as in "S3 says", replaced by a marker.

    An "S3" that the sources themselves use is a name, unless the text calls it a source or says
    what it states. An unknown id becomes a marker without a source.

    Args:
        text: A block without other marks than those of one spelling.
        known: The text of each source by its id.
    """

    def marked(found: re.Match[str]) -> str:
        names = _BARE_ID.findall(found["ids"])
        spoken = found["lead"] is not None or found["verb"] is not None
        if set(names) <= known.keys():
            plain = spoken or not any(_is_word(name, known) for name in names)
            ids = _BARE_ID.sub(lambda one: f"[{one[0]}]", found["ids"])
            return ids if plain else found[0]
        return "[?]" if spoken else found[0]

    bare, kept = mask_code(text)
    return unmask_code(map_outside_quotations(bare, lambda part: _BARE.sub(marked, part)), kept)


def _is_word(name: str, known: Mapping[str, str]) -> bool:
    return any(re.search(rf"\b{name}\b", text) for text in known.values())


def blank_quotations(text: str) -> str:
    """Return `text` with each marked quotation replaced by as many NUL characters."""
    return QUOTE.sub(lambda quote: "\0" * len(quote[0]), text)


def map_outside_quotations(text: str, change: Callable[[str], str]) -> str:
    """Return `text` with `change` applied to everything but its marked quotations."""
    parts: list[str] = []
    done = 0
    for quote in QUOTE.finditer(text):
        parts += [change(text[done : quote.start()]), quote[0]]
        done = quote.end()
    return "".join([*parts, change(text[done:])])


def list_cited_ids(text: str) -> list[str]:
    """Return the ids that the markers and quotations of a text cite, in order, with repetitions."""
    both = re.finditer(f"{QUOTE.pattern}|{MARKER.pattern}", text, re.DOTALL)
    return [use[1] or use[3] for use in both if use[1] or use[3]]


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
    whole = _within((code.start, code.end), quoted) or not _CODED.search(code.inside)
    return code.string if whole else code.inside


def _within(place: tuple[int, int], quoted: Sequence[tuple[int, int]]) -> bool:
    return any(start < place[0] and place[1] < end for start, end in quoted)


def _parts(text: str) -> Iterator[str]:
    """Yield the normalized quotations of a text and the text between them."""
    source: str | None = None
    words = ""
    for part in _TAGS.split(text):
        opens = bool(re.match(_OPEN, part, re.IGNORECASE))
        if not opens and not _TAGS.match(part):
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
    first = _SENTENCE.match(words)
    end = first.end() if first else 0
    yield _quote(source, words[:end])
    yield words[end:]


def _quote(source: str, words: str) -> str:
    if any(character.isalnum() for character in words):
        return f'<q s="{source}">{words}</q>'
    return f"[{source}]" if source else ""


def _plain(text: str) -> str:
    text = _BRACKETED.sub(_markers, text)
    text = re.sub(f"{QUOTED_WORDS.pattern}|(?P<number>{_NUMBERED.pattern})", _unknown, text)
    text = _ROUND_MARKERS.sub(r"\1", strip_markup(text))
    return _DOUBLE.sub(r"\1", _BETWEEN.sub("", text))


def _unknown(found: re.Match[str]) -> str:
    return "[?]" if found["number"] else found[0]


def _markers(group: re.Match[str]) -> str:
    return "".join(f"[{name}]" for name in _names(group[1]))


def _known_markers(group: re.Match[str], known: Collection[str]) -> str:
    names = list(_names(group[1]))
    return "".join(f"[{name}]" for name in names) if set(names) <= set(known) else group[0]


def _names(ids: str) -> Iterator[str]:
    """Yield the ids of a group; an id with a lower-case letter is that of a step."""
    last = 0
    for item in _ITEM.finditer(ids):
        number = int(item[3])
        first = last + 1 if item[1] and 0 <= number - last <= _MAX_RANGE else number
        for each in range(first, number + 1):
            yield f"S{each}" if item[2] == "S" and each else "?"
        last = number


def add_marker(statement: str, name: str) -> str:
    """Return a statement with a marker before its final punctuation."""
    said = statement.rstrip(_CLOSING).rstrip(_STOPS)
    space = "" if _UNSPACED.match(said[-1:]) else " "
    return f"{said}{space}[{name}]{statement[len(said) :]}"


def replace_markers(statement: str, name: str) -> str:
    """Return a statement with one marker in place of all its markers."""
    first = MARKER.search(statement)
    bare = MARKER.sub("", statement[first.end() :]) if first else ""
    return f"{statement[: first.start()]}[{name}]{bare}" if first else add_marker(statement, name)
