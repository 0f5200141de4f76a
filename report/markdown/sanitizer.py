"""Remove what a model may not write from its text, and escape any text for Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote, urlsplit

from text.normalization import normalize_text
from text.pattern_files import PatternFile
from text.regex import regex

_PATTERNS = PatternFile("report.markdown", "sanitizer.toml")

ADDRESS_PATTERN = regex(
    r"[ \t]?(?:[a-z][a-z0-9+.-]{1,20}://"
    r"|(?<![a-z0-9])(?:www\.|(?:javascript|vbscript|mailto):(?=\S)|data:(?=\w+/)))"
    r"[!#-;=?-Z_a-z~%]*[A-Za-z0-9/#=&_~%+$@-]",
    re.IGNORECASE,
)
"""A web address, or another address that a link could have."""


_RESERVED = regex(
    r"(?:.*\.)?example\.(?:com|net|org)|.*\.(?:example|test|invalid|localhost)|127(?:\.\d+){3}"
    r"|192\.0\.2\.\d+|198\.51\.100\.\d+|203\.0\.113\.\d+",
    re.IGNORECASE,
)
"""Hosts that lead nowhere, which manuals use in examples (RFC 2606, RFC 6761, RFC 5737)."""

_HOST = regex(r"(?:\w+://)(?:[^/@]*@)?(?P<host>[^/:?#\s]*)")

_MAX_PASSES = 5  # since removing markup may create other markup
_GONE = "\0"  # in place of an address or an image


def strip_markup(text: str) -> str:
    """Return `text` without addresses, links, images and HTML; the text of links remains."""
    return _PATTERNS.emptied.sub("", ADDRESS_PATTERN.sub(_GONE, _marked(text)))


def strip_code_addresses(code: str, known: Sequence[str]) -> str:
    """Return code without the addresses that nobody vouches for; no link is made of any.

    Args:
        code: Inline code, or a block of code.
        known: Texts whose addresses may be shown. One in a reserved domain, or of a host without
            a domain, always may.
    """

    def keep(found: re.Match[str]) -> str:
        address = found[0].strip()
        host = _HOST.match(address)
        if host and ("." not in host["host"] or _RESERVED.fullmatch(host["host"])):
            return found[0]
        named = any(address.rstrip("/") in text for text in known)
        return found[0] if host and named else ""

    return ADDRESS_PATTERN.sub(keep, code)


def sanitize_text(text: str) -> str:
    """Return a model's text in a form that is safe wherever Markdown is rendered.

    It loads nothing, and has no addresses and no invisible characters.
    """
    return _inert(_settled(normalize_text(text), strip_markup))


def sanitize_query(text: str) -> str:
    """Return a search query in a form that is safe to show: without images and link targets.

    A plain address remains, since a question may be about it.
    """
    unlinked = _settled(normalize_text(text), lambda one: _PATTERNS.emptied.sub("", _marked(one)))
    return _inert(unlinked)


def strip_foreign_addresses(text: str, known: str) -> str:
    """Return a text without the addresses that another text does not have."""

    def keep(found: re.Match[str]) -> str:
        return found[0] if found[0].strip().rstrip("/") in known else ""

    return ADDRESS_PATTERN.sub(keep, text).strip()


def is_link_referral(statement: str) -> bool:
    """Tell whether a statement only refers its reader to an address."""
    return bool(_PATTERNS.sends.match(statement))


def cut_link_referral(statement: str) -> str | None:
    """Return a statement without a final reference to a web address; None if it has none.

    An address in brackets, or one in the middle of a sentence, is not such a reference.
    """
    sending = _PATTERNS.sending.search(statement)
    return statement[: sending.start()] if sending else None


def get_end_mark(statement: str) -> str:
    """Return the final punctuation of a statement, with the white space after it."""
    found = re.search(r"[.!?。！？]?\s*$", statement)
    return found[0] if found else ""


def neutralize_domains(statement: str) -> str:
    """Return prose in which no bare domain can be rendered as a link.

    A domain with a path, or to which the reader is referred, is removed; any other is formatted as
    code.
    """

    def written(domain: re.Match[str]) -> str:
        before = domain.string[: domain.start()]
        return _GONE if domain["path"] or _PATTERNS.sent.search(before) else f"`{domain[0]}`"

    return _PATTERNS.emptied.sub("", _PATTERNS.domain.sub(written, statement))


def strip_framing(body: str) -> str:
    """Return the part of a model's text that is meant for the reader.

    Thoughts, a title line, link definitions and a final list of references are removed, since title
    and references are added from the registry.
    """
    body = _PATTERNS.thought_before.sub("", _PATTERNS.thought.sub("", normalize_text(body)))
    body = _PATTERNS.repeated.sub(lambda run: run[0][:80], body)
    body = _PATTERNS.definition.sub("", _PATTERNS.title.sub("", body))
    headings = list(_PATTERNS.heading.finditer(body))
    if headings and _PATTERNS.reference_lists.fullmatch(headings[-1][1].strip(" #*:：_").lower()):
        return body[: headings[-1].start()]
    return body


def _marked(text: str) -> str:
    text = _PATTERNS.line_break.sub(" ", text)
    text = _PATTERNS.link.sub(_label, _PATTERNS.image.sub(_GONE, text))
    return _PATTERNS.tag.sub("", _PATTERNS.rest_of_link.sub(_GONE, text))


def _settled(text: str, change: Callable[[str], str]) -> str:
    """Return a text with `change` applied until it has no effect, up to a limit."""
    for _ in range(_MAX_PASSES):
        before, text = text, change(text)
        if text == before:
            break
    return text


def _inert(text: str) -> str:
    """Return a text in which the remains of images, links and tags have no effect."""
    text = _PATTERNS.target_begun.sub("] ", _PATTERNS.image_begun.sub("", text))
    return _PATTERNS.tag_begun.sub("< ", text)


def _label(link: re.Match[str]) -> str:
    """Return the text of a link; a number or an id in brackets is a citation."""
    label = link[1].strip()
    if re.fullmatch(r"\^?\d{1,3}", label):
        return "[?]"
    return f"[{label}]" if re.fullmatch(r"S\d+", label) else label or _GONE


def unescape_markdown(text: str) -> str:
    """Return a text without the backslashes that `escape_markdown` puts before marks."""
    return _PATTERNS.escaped.sub(r"\1", text)


def strip_emphasis(text: str) -> str:
    """Return the words of a page without Markdown emphasis."""
    return _PATTERNS.emphasis.sub(r"\2", text)


def to_single_line(text: str) -> str:
    """Return `text` in one line, without control characters."""
    return " ".join(normalize_text(text).split())


def escape_markdown(text: str) -> str:
    """Return Markdown that shows `text` literally, in one line."""
    return _PATTERNS.special.sub(lambda special: f"\\{special[0]}", to_single_line(text))


def neutralize_markdown(markdown: str) -> str:
    """Return Markdown in which nothing is parsed as HTML, a link or a reference."""
    plain = _PATTERNS.number.sub(r"\\[\1\\]", _PATTERNS.opening.sub(r"\\\g<0>", markdown))
    return _PATTERNS.reference_definition.sub(r"\1\\:", plain)


def to_safe_url(location: str) -> str:
    """Return `location` as a safe web address, or "" if it is not one."""
    address = to_single_line(location)
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    return _PATTERNS.unsafe.sub(lambda unsafe: quote(unsafe[0]), address)
