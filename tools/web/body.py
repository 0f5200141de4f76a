"""Read the body of an answer and unpack it, but never more than was asked for."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from config.errors import Problem

PACKING = "gzip"
"""What a request may accept; brotli and zstd cannot be unpacked in pieces of a known size here."""

_PIECE = 65_536
_RATIO = 100
_RATIO_FROM = 1_000_000
# Adding 32 to the window size lets zlib read both a gzip and a zlib header.
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


async def read_body(chunks: AsyncIterator[bytes], headers: Mapping[str, str], most: int) -> bytes:
    """Return a body, unpacked.

    Args:
        chunks: The body as it comes over the line.
        headers: The headers of the answer, with names in lower case.
        most: How many bytes it may have, packed or unpacked.

    Raises:
        Problem: `url_too_large` if it is longer, or a hundred times longer than what was sent;
            `page_unavailable` if it is damaged, cut off or packed in an unknown way.
    """
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most:
        raise too_large(most)
    inflate = _inflate(headers.get("content-encoding", ""))
    body, received = bytearray(), 0
    async for chunk in chunks:
        received += len(chunk)
        for piece in _pieces(inflate, chunk) if inflate else [chunk]:
            body += piece
            if len(body) > most or len(body) > max(_RATIO_FROM, received * _RATIO):
                raise too_large(most)
        if received > most:
            raise too_large(most)
    if inflate and not inflate.eof:
        raise Problem("page_unavailable", "what the server sent is cut off")
    return bytes(body)


def too_large(most: int) -> Problem:
    """Return the problem that a body is longer than `most` bytes."""
    what = f"it has more than {most / 1e6:g} MB"
    return Problem("url_too_large", what, hint="download it yourself and read it as a file")


def _inflate(packing: str) -> Any | None:
    """Return what unpacks a content encoding, or None where nothing is packed."""
    name = packing.strip().lower()
    if name in {"", "identity"}:
        return None
    if name in {"gzip", "x-gzip", "deflate"}:
        return zlib.decompressobj(_GZIP_OR_ZLIB)
    raise Problem("page_unavailable", "the server packs it in a way that was not asked for")


def _pieces(inflate: Any, chunk: bytes) -> Iterator[bytes]:
    try:
        while chunk and not inflate.eof:
            yield inflate.decompress(chunk, _PIECE)
            chunk = inflate.unconsumed_tail
    except zlib.error as error:
        raise Problem("page_unavailable", "what the server sent is damaged") from error
