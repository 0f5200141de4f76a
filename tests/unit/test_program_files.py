"""Which files of programs are kept, and when two of them show the same."""

from __future__ import annotations

import base64
import zlib

import pytest

from tools.program_files import keep_files, list_different_files


@pytest.mark.parametrize(
    "within",
    [
        "<script>alert(1)</script>",
        '<g xmlns:x="http://www.w3.org/2000/svg"><x:script/></g>',
        '<image href="https://evil.test/seen.png"/>',
        '<a xlink:href="java&#115;cript:alert(1)"/>',
        '<rect style="fill:url(https://evil.test/)"/>',
        '<g onload = "alert(1)"/>',
        "<foreignObject/>",
    ],
)
def test_a_figure_that_runs_or_loads_something_is_not_kept(within: str):
    assert not keep_files({"a.svg": f"<svg>{within}</svg>".encode()})


def test_a_figure_that_only_shows_something_is_kept():
    drawn = b"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
        <svg><!-- only = "a" <script --><use xlink:href="#m"/><g clip-path="url(#c)"/>
        <image xlink:href="data:image/png;base64,iVBO"/><text>set on = 3</text></svg>"""

    assert [*keep_files({"a.svg": drawn})] == ["a.svg"]


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return a chunk of a PNG."""
    return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)


def png(pixels: bytes, made: bytes) -> bytes:
    head = chunk(b"IHDR", bytes([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]))
    about = chunk(b"tEXt", b"Creation Time\0" + made) + chunk(b"tIME", made[:7].ljust(7))
    drawn = chunk(b"IDAT", zlib.compress(pixels))
    return b"\x89PNG\r\n\x1a\n" + head + about + drawn + chunk(b"IEND", b"")


def svg(made: str, name: str, height: int) -> bytes:
    return f"""<?xml version="1.0" encoding="utf-8"?>
        <svg><!-- made {made} --><metadata><date>{made}</date></metadata>
        <defs><path id="{name}" d="M 0 0"/><clipPath id="c{name}"/></defs>
        <use xlink:href="#{name}" y="{height}" clip-path="url(#c{name})"/></svg>""".encode()


@pytest.mark.parametrize(
    ("name", "before", "after", "same"),
    [
        ("a.png", png(b"\0a", b"Monday"), png(b"\0a", b"Tuesday"), True),
        ("a.png", png(b"\0a", b"Monday"), png(b"\0b", b"Monday"), False),
        ("a.png", png(b"\0a", b"Monday"), png(b"\0a", b"Monday")[:-20], False),
        ("a.svg", svg("Monday", "m1a", 12), svg("Tuesday", "m9f", 12), True),
        ("a.svg", svg("Monday", "m1a", 12), svg("Monday", "m1a", 13), False),
        ("a.svg", svg("Monday", "m12", 12), svg("Monday", "m1a", 12) + b"m12", False),
        ("a.csv", b"x,y\n1,2\n", b"x,y\r\n1,2\r\n", True),
        ("a.csv", b"x,y\n1,2\n", b"x,y\n1,3\n", False),
    ],
)
def test_files_that_differ_in_nothing_that_is_seen_are_the_same(
    name: str, before: bytes, after: bytes, *, same: bool
):
    again = {name: base64.b64encode(after).decode()}

    assert list_different_files({name: before}, again) == ([] if same else [name])


def test_a_file_that_is_missing_or_new_is_a_change():
    assert list_different_files({"a.csv": b"x"}, {}) == ["a.csv"]
    assert list_different_files({}, {"b.csv": "eA=="}) == ["b.csv"]
