"""Recognise pages that answer 200 and have nothing to say: gone, or behind a wall."""

from __future__ import annotations

import re

from retrieval.regex import regex

_LETTERS = 20
_SHORT = 700
_LONG = 2_000
_START = 400

_GONE_TITLE = regex(
    r"\b404\b|\bnot found\b|no longer (?:available|exists)|does(?:n['’]t| not) exist"
    r"|页面不存在|找不到(?:该)?(?:页面|网页)|页面未找到|内容不存在|已被删除|見つかりません"
    r"|nicht gefunden|introuvable|no encontrad[ao]|не найден",
    re.IGNORECASE,
)
_GONE_TEXT = regex(
    r"\b(?:error )?404\b|\b(?:page|file|article|url|link)\b[^.]{0,60}?\b(?:not (?:be )?found"
    r"|(?:does(?:n['’]t| not)|no longer) exists?|no longer available|been (?:moved or )?(?:deleted"
    r"|removed))|页面不存在|找不到(?:该)?(?:页面|网页)|页面未找到|内容不存在|已被删除"
    r"|ページ[^。]{0,20}見つかりません|seite[^.]{0,30}nicht gefunden|page[^.]{0,20}introuvable"
    r"|página[^.]{0,20}no encontrada|страниц[аы] не найден",
    re.IGNORECASE,
)
_WALL = regex(
    r"\b(?:accept|allow|consent to|agree to|(?:we|site) use|site uses)\b[^.]{0,40}\bcookies\b"
    r"|\benable (?:javascript|js|cookies)\b|\bjavascript is (?:disabled|required)\b"
    r"|\bverif\w+ (?:that )?you are (?:a )?(?:human|not a robot)|\bare you (?:a robot|human)\b"
    r"|\bchecking your browser\b|^just a moment|\baccess denied\b|\bunusual traffic\b"
    r"|\b(?:log|sign) ?in to (?:continue|read|view)\b|\bsubscribe to (?:continue|read)\b"
    r"|请(?:先)?登录|(?:启用|开启)\s?javascript|安全验证|人机验证|同意[^。]{0,20}cookie",
    re.IGNORECASE | re.MULTILINE,
)


def nothing_in(title: str, text: str) -> str:
    """Return why a page is no source, or an empty string if it is one.

    A word such as "404" or "cookies" counts only where there is little else: a page about them is
    long.
    """
    if sum(sign.isalnum() for sign in text[:_START]) < _LETTERS:
        return "there is no text on it"
    start = f"{title}\n{text[:_START]}"
    gone = len(text) < _LONG and _GONE_TITLE.search(title)
    if gone or (len(text) < _SHORT and _GONE_TEXT.search(start)):
        return "it says that the page does not exist"
    if len(text) < _SHORT and _WALL.search(start):
        return "it asks for consent, a login or a browser instead of showing a text"
    return ""
