"""Files that programs write: which of them are kept, and whether two of them show the same."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping

from text.regex import regex

MAX_FILES = 8
"""So many of the files that a program writes are kept at the most."""

MAX_FILE_BYTES = 1_000_000
"""The most bytes of one of them."""

_SIGNATURES = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<"}
"""How the figures that are kept begin, by suffix."""

_ABOUT = frozenset([b"tEXt", b"zTXt", b"iTXt", b"tIME", b"eXIf"])
"""The chunks of a PNG that say when and with what it was made."""

_ACTIVE = regex(
    r"< ?(?:[\w.-]+:)?(?:script|foreignobject|iframe|object|embed|handler|set|animate\w*)\b"
    r"|[ \"'/]on\w+ ?= ?[\"']|<!entity|<\?xml-stylesheet|@import|javascript:"
    r"|\bhref ?= ?(?![\"'] ?(?:#|data:image/(?:png|jpe?g|gif)[;,]))"
    r"|\burl\((?! ?(?:&quot;|[\"'])? ?#)|\bencoding ?= ?[\"'](?!utf-?8|us-ascii)|\0",
    re.IGNORECASE,
)
"""What an SVG has that does something, or loads something from elsewhere."""

_UNSEEN = regex(r"(?s)<\?.*?\?>|<!--.*?-->|<metadata\b.*?</metadata>")
"""What an SVG says of itself, and does not show."""

_ID = regex(r"(?<=\bid=\")[^\"]+")
_REFERENCE = regex(r"(?<=[\"(]#)[^\")]+|(?<=\bid=\")[^\"]+")


def keep_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the figures and the small tables among the files that a program wrote, in base64."""
    kept = [(name, data) for name, data in sorted(files.items()) if _is_kept(name, data)]
    return {name: base64.b64encode(data).decode() for name, data in kept[:MAX_FILES]}


def _is_kept(name: str, data: bytes) -> bool:
    suffix = _suffix(name)
    if not data or len(data) > MAX_FILE_BYTES:
        return False
    if suffix == ".svg" and not _is_still(data.decode("utf-8", "replace")):
        return False
    return suffix == ".csv" or data.lstrip().startswith(_SIGNATURES.get(suffix, b"\0\0"))


def _suffix(name: str) -> str:
    return name[name.rfind(".") :].lower()


def _is_still(svg: str) -> bool:
    """Tell whether an SVG only shows something: whoever opens it runs and loads nothing."""
    first, *others = svg.split("<!--")
    said = "".join([first, *(one.partition("-->")[2] for one in others)])
    return not _ACTIVE.search(" ".join(said.split()))


def is_figure(name: str) -> bool:
    """Tell whether a file that a program wrote is a figure."""
    return name.lower().endswith(tuple(_SIGNATURES))


def list_different_files(before: Mapping[str, bytes], after: Mapping[str, str]) -> list[str]:
    """Return the names of the files that a program does not write again as it did.

    Args:
        before: What it wrote first.
        after: What it wrote when it was run again, in base64.
    """
    names = dict.fromkeys([*before, *after])
    return [name for name in names if not _is_same(name, before.get(name), after.get(name))]


def _is_same(name: str, before: bytes | None, after: str | None) -> bool:
    if before is None or after is None:
        return False
    again = base64.b64decode(after)
    return before == again or _shown(name, before) == _shown(name, again)


def _shown(name: str, data: bytes) -> bytes | str | list[bytes]:
    """Return what of a file is seen; two that differ in nothing else show the same.

    Of a PNG, that is every chunk but those on its making; of an SVG, all but its metadata and
    comments, with its ids numbered, for which programs take random words; of a table, its lines.
    """
    match _suffix(name):
        case ".png":
            return list(_list_seen_chunks(data))
        case ".svg":
            return _number_ids(" ".join(_UNSEEN.sub("", data.decode("utf-8", "replace")).split()))
        case _:
            return data.splitlines()


def _list_seen_chunks(png: bytes) -> Iterator[bytes]:
    """Yield the chunks of a PNG that say what is seen; a broken one as a whole."""
    at = len(_SIGNATURES[".png"])
    while at < len(png):
        end = at + 12 + int.from_bytes(png[at : at + 4])
        kind, checksum = png[at + 4 : at + 8], png[end - 4 : end]
        if binascii.crc32(png[at + 4 : end - 4]) != int.from_bytes(checksum):
            yield png[at:]
            return
        if kind not in _ABOUT:
            yield png[at:end]
        at = end


def _number_ids(svg: str) -> str:
    numbers: dict[str, str] = {}
    for found in _ID.finditer(svg):
        numbers.setdefault(found[0], f"id{len(numbers)}")
    return _REFERENCE.sub(lambda found: numbers.get(found[0], found[0]), svg)
