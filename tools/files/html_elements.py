"""What an HTML element is to a reader: a block, a sign in the line, a margin, a note, unseen."""

from __future__ import annotations

import re
from typing import Any

from text.regex import regex

_INLINE_TAGS = frozenset(["img", "math", "sub", "sup"])
"""The elements that are not written as their plain text."""

HEADING_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCK_TAGS = (
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption"
    " figure footer form head header hr html legend li main nav ol p pre section summary table"
    " tbody td tfoot th thead title tr ul"
)
_IGNORED_TAGS = "script style noscript template head title svg iframe object button select"
BLOCK_ELEMENTS = frozenset([*_BLOCK_TAGS.split(), *HEADING_LEVELS])
IGNORED_ELEMENTS = frozenset(_IGNORED_TAGS.split())
_MARGINS = frozenset(["nav", "footer"])
_MARGIN_ROLES = frozenset(["navigation", "search", "banner", "contentinfo", "complementary"])
_MARGIN_NAMES = (
    r"nav(?:bar|box|header|footer|igation|links?)?|menu|(?:sphinx)?sidebar|breadcrumbs?"
    r"|(?:site|page)?footer|cookies?|share|social|sharing|advert\w*|promo|newsletter|comments?"
    r"|related|skip|toc|catlinks|printfooter|metadata|paginat\w+"
)
_MARGIN_CLASS = regex(rf"(?:^|[\s_-])(?:{_MARGIN_NAMES})(?=$|[\s_-])", re.IGNORECASE)
_BOOK_PART = regex(r"section|sect\d|chapter|appendix|preface|article")
# The id of a section is often made of the words of its heading.
_MARGIN_ID = regex(rf"(?:{_MARGIN_NAMES})", re.IGNORECASE)
_NOTE_TAGS = frozenset(["aside", "blockquote", "div", "section", "table"])
_NOTE_CLASS = regex(
    r"(?:^|[\s_-])(?:admonition(?:block)?|note|tip|hint|caution|warning|important|danger)(?=$|[\s_-])",
    re.IGNORECASE,
)
_STRUCK = frozenset(["s", "del", "strike"])
_STRUCK_STYLE = regex(r"text-decoration(?:-line)?\s*:[^;]*line-through", re.IGNORECASE)
_HIDDEN_STYLE = regex(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PERMALINKS = frozenset(["¶", "#", "§", "🔗"])
_MAX_INLINE = 200
_MAX_STRUCK = 5_000


def is_hidden(node: Any) -> bool:
    """Tell whether readers of the page do not see an element, or see only a permalink sign."""
    if node.tag == "a":
        return not len(node) and (node.text or "").strip() in _PERMALINKS
    return (
        node.get("hidden") is not None
        or node.get("aria-hidden") == "true"
        or "mw-editsection" in node.get("class", "")
        or bool(_HIDDEN_STYLE.search(node.get("style", "")))
    )


def is_struck_out(node: Any) -> bool:
    """Tell whether text is struck out; an element that was never closed contains the whole rest."""
    if node.tag not in _STRUCK and not _STRUCK_STYLE.search(node.get("style", "")):
        return False
    is_closed = node.find(".//h1") is None and node.find(".//h2") is None
    return is_closed and len(node.text_content()) <= _MAX_STRUCK


def is_inline_element(node: Any) -> bool:
    """Tell whether an element is a sign in the line of text; not if it was never closed."""
    if node.tag not in _INLINE_TAGS:
        return False
    return node.tag == "math" or len(node.text_content()) <= _MAX_INLINE


def is_margin(node: Any) -> bool:
    """Tell whether an element is around the text of a page: a menu, a footer, a bar beside it."""
    if node.tag in _MARGINS or node.get("role") in _MARGIN_ROLES:
        return True
    if node.tag == "aside":
        # Inside an article it is a note.
        return next(node.iterancestors("article", "main"), None) is None
    if node.tag == "form":
        return not node.xpath("boolean(.//h1 | .//h2 | .//p)")
    if node.tag not in BLOCK_ELEMENTS or node.tag == "body":
        return False
    by_class = _MARGIN_CLASS.search(node.get("class", ""))
    if by_class and _is_boxed_text(node):
        return False
    return bool(by_class or _MARGIN_ID.fullmatch(node.get("id", "")))


def _is_boxed_text(node: Any) -> bool:
    """Tell whether an element is a box in the text of a book, such as DocBook's `sidebar`."""
    if node.get("class", "").split() != ["sidebar"]:
        return False
    return any(
        above.tag in ("section", "article") or _BOOK_PART.fullmatch(above.get("class", ""))
        for above in node.iterancestors()
    )


def is_note_box(node: Any) -> bool:
    """Tell whether an element sets a note or a warning apart, which may begin with a label."""
    return node.tag in _NOTE_TAGS and bool(_NOTE_CLASS.search(node.get("class", "")))
