"""The file of a report is read as what it is, and what is no report is told."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from config.errors import Problem
from report.verify.all_checks import VerifiedFile
from tools import given_report
from tools.given_report import read_given_report


def make_archive() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("report.md", "text")
    return data.getvalue()


REFUSED: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.md", b"", "empty"),
    "blank": ("a.html", b" \r\n\t\n", "empty"),
    "empty JSON": ("a.json", b"", "empty"),
    "an archive": ("a.md", make_archive(), "a zip archive"),
    "an archive as a page": ("a.html", make_archive(), "a zip archive"),
    "a PDF": ("a.pdf", b"%PDF-1.7\n...", "a PDF"),
    "noise": ("a.md", bytes(range(256)) * 8, "not text"),
    "half a character": ("a.txt", b"\xff\xfe{", "not text"),
    "a page of a script": ("a.html", b"<html><script>go()</script></html>", "without text"),
}


@pytest.mark.parametrize(("name", "data", "what"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_report_is_refused(tmp_path: Path, name: str, data: bytes, what: str):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Problem, match=what) as told:
        read_given_report(tmp_path / name)
    assert told.value.code == "file_unreadable"
    assert told.value.hint


JSON = {
    "of this name": ("a.json", b"\xff\xfe{"),
    "an archive": ("b.json", make_archive()),
    "an object": ("a.md", b'{"title": "Mill"}'),
    "behind a mark": ("a.txt", b'\xef\xbb\xbf {"title": "Mill"}'),
    "a list": ("a.html", b"[1, 2]"),
    "deeper than anything is read": ("b.md", b"[" * 200_000),
}


@pytest.mark.parametrize(("name", "data"), JSON.values(), ids=JSON)
def test_json_is_a_bundle_or_nothing(tmp_path: Path, name: str, data: bytes):
    (tmp_path / name).write_bytes(data)
    assert read_given_report(tmp_path / name) == data


TEXT = """\
# 磨坊

这座磨坊建于1687年，是岛上最古老的建筑[1]。它在风暴中两次失去翼板，现在是一座博物馆。
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_report_may_have_any_encoding(tmp_path: Path, encoding: str):
    (tmp_path / "a.md").write_bytes(TEXT.encode(encoding))
    read = read_given_report(tmp_path / "a.md")
    assert isinstance(read, VerifiedFile)
    assert read.text == TEXT


PAGES = {
    "of Office": "<html><body><![if !mso]><p>It [1].</p><![endif]><![odd</body></html>",
    "of XHTML": '<?xml version="1.0"?>\n<!DOCTYPE html><html><p>It [1].</p></html>',
    "of a fragment": "<p>It [1].</p>",
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_is_read_as_its_text(tmp_path: Path, page: str):
    (tmp_path / "a.html").write_text(page, "utf-8")
    read = read_given_report(tmp_path / "a.html")
    assert isinstance(read, VerifiedFile)
    assert (read.text.strip(), read.page) == ("It [1].", page)


def test_a_text_that_begins_like_json_is_a_text(tmp_path: Path):
    (tmp_path / "a.md").write_text("[1] says so. {It} is a mill.", "utf-8")
    assert isinstance(read_given_report(tmp_path / "a.md"), VerifiedFile)


def test_a_report_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(given_report, "_MAX_BYTES", 9)
    (tmp_path / "a.md").write_text("1234567890", "utf-8")
    with pytest.raises(Problem, match="at most 9 bytes"):
        read_given_report(tmp_path / "a.md")


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path):
    with pytest.raises(Problem, match="cannot be opened"):
        read_given_report(tmp_path)
