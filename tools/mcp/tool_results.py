"""What a call of a tool brings: pages with the provenance `tool`, which can be cited."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from config.errors import ErrorCode, Problem
from library.page_metadata import PageMetadata
from library.page_rows import NewPage, PageOrigin
from library.page_sizing import size_pages
from library.store import COMPUTED, STORE_BATCH
from prompts.prompt_injection import has_injection
from text.normalization import cut_at_word, drop_unstorable
from text.regex import regex

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock

TOOL_KIND = "tool"
"""The kind of the pages."""

MAX_CHARS = 200_000
"""The most characters of a result that are kept."""

MAX_NAMED = 80
"""The most characters of the arguments in a title."""

MIN_VALUE, HASH_SHOWN = 12, 10
"""How many characters of an argument are shown in any case, and how many of a hash."""

_HASH = regex(r"[0-9a-f]{20,}", re.IGNORECASE)
_PATH = regex(r"(?:~?[/\\]|[A-Za-z]:[/\\])[^\s]*[^\s/\\]")

LEFT_OUT = "\n[…]"


def read_result(result: CallToolResult) -> str:
    """Return the text of a result; what is no text is named in a line.

    Raises:
        Problem: `mcp_invalid` if it cannot be written as text.
    """
    text = "\n\n".join(part for one in result.content if (part := _read_block(one)).strip())
    if not text and result.structuredContent is not None:
        try:
            text = json.dumps(result.structuredContent, ensure_ascii=False, indent=1)
        except (ValueError, RecursionError) as error:
            what = "its answer has a number or a depth that no text can have"
            raise Problem(ErrorCode.MCP_INVALID, what) from error
    text = drop_unstorable(text).strip()
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + LEFT_OUT


def _read_block(block: ContentBlock) -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            return f"[{block.type}: {block.mimeType}]"
        case "resource_link":
            return f"[{block.name}: {block.uri}]"
        case "resource":
            text = getattr(block.resource, "text", None)
            return text if text is not None else f"[{block.resource.mimeType or 'data'}]"


def origin_of(server: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """Return where a result is from: server, tool and arguments, the same for the same call."""
    said = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
    # What stands behind a # would be a place in a document.
    return f"{origin_prefix(server)}{tool} {said}".replace("#", "\\u0023")


def origin_prefix(server: str) -> str:
    """Return what the origins of all results of a server begin with."""
    return f"{server}/"


def title_of(server: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the title of a result, such as `time: convert_time (time 12:00)`.

    Each argument has its share of the room, so that calls that differ in one have other titles.
    """
    values = {name: _shorten(value) for name, value in _plain(arguments)}
    short = _join(values)
    if len(short) > MAX_NAMED:
        share = MAX_NAMED // len(values)
        rooms = {name: max(share - len(f"{name} , "), MIN_VALUE) for name in values}
        short = _join({name: cut_at_word(one, rooms[name]) for name, one in values.items()})
        short = cut_at_word(short, MAX_NAMED)
    return f"{server}: {tool} ({short})" if short else f"{server}: {tool}"


def _join(values: Mapping[str, str]) -> str:
    return " ".join(", ".join(f"{name} {value}" for name, value in values.items()).split())


def _plain(arguments: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in arguments.items():
        if value not in (None, "", [], {}):
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shorten(value: str) -> str:
    """Return a hash by its first characters, and a path by its name."""
    if _HASH.fullmatch(value):
        return value[:HASH_SHOWN]
    return (
        value.rstrip("/\\").replace("\\", "/").rpartition("/")[2] if _PATH.match(value) else value
    )


async def build_result_pages(
    server: str, tool: str, arguments: Mapping[str, Any], text: str
) -> list[NewPage]:
    """Return a result as pages of a sensible size.

    Args:
        server: The name of the server.
        tool: The name of the tool.
        arguments: What it was called with, without secrets.
        text: The result.
    """
    known = PageMetadata(site=server, genre="hostile" if has_injection(text) else "")
    page = NewPage(title=title_of(server, tool, arguments), place="", text=text, metadata=known)
    made = await asyncio.to_thread(size_pages, [page])
    return made[:STORE_BATCH]


def page_origin(owner: str, run: str, origin: str, server: str) -> PageOrigin:
    """Return the origin of the pages of a result; those of a server are a group."""
    return PageOrigin(owner, TOOL_KIND, origin, f"mcp:{server}", COMPUTED, run)
