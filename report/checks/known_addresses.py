"""Keep the addresses that trusted sources name readable in a text, as code and never as links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graph.records import Source
from report.citations import get_origin
from report.markdown.code import mask_code, unmask_code
from report.markdown.markdown_blocks import map_code
from report.markdown.markers import map_outside_quotations
from report.markdown.sanitizer import strip_code_addresses
from text.regex import regex

TRUSTED_GENRES = ("documentation", "paper", "encyclopedia")
"""The genres of web pages whose addresses are passed on; a stranger's page may name any."""

_ADDRESS = regex(
    r"(?<![\w@./:`(-])(?:https?://)?(?P<host>(?>(?:[a-z0-9-]+\.)+[a-z]{2,}))/?(?![\w/?#-]|\.\w)"
)


def list_trusted_texts(sources: Mapping[str, Source], texts: Mapping[str, str]) -> list[str]:
    """Return the texts of files of the person, and of web pages of a trusted genre.

    The address of such a page is known, too.
    """
    trusted = {
        name: source
        for name, source in sources.items()
        if name in texts and (get_origin(source) == "file" or source.get("genre") in TRUSTED_GENRES)
    }
    pages = {one["location"] for one in trusted.values() if get_origin(one) == "web"}
    return [*(texts[name] for name in trusted), *sorted(filter(None, pages))]


def keep_known_addresses(text: str, trusted: Sequence[str]) -> str:
    """Return a text with the addresses that trusted texts name as code, and others in no code.

    Without that the checks take addresses out, and leave a sentence or a command with a hole. In
    prose only the host stays.

    Args:
        text: Markdown as a model wrote it.
        trusted: The texts of sources.
    """

    def keep(found: re.Match[str]) -> str:
        host = found["host"]
        named = "." in host and any(f"//{host}" in one or f"//www.{host}" in one for one in trusted)
        return f"`{host}`" if named else found[0]

    text = map_code(text, lambda code: strip_code_addresses(code, trusted))
    masked, codes = mask_code(text)
    return unmask_code(
        map_outside_quotations(masked, lambda prose: _ADDRESS.sub(keep, prose)), codes
    )
