import os
import time

import pytest

from config.errors import Problem
from tests.unit.test_files_samples import archive, docx, locked_pdf, pdf, refused, xlsx
from tools.files.extractor import extract_document
from tools.files.formats import FileLimits


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.txt", b"", "file_empty"),
        ("a.pdf", b" \n", "file_empty"),
        ("a.md", "<!-- nothing -->", "file_no_text"),
        ("a.csv", "a,b\n", "file_no_text"),
        ("a.mp4", b"....", "file_type"),
        ("a.txt", b"%PDF-1.7\n", "file_type_mismatch"),
        ("a.md", b"\x89PNG\r\n\x1a\n", "file_type_mismatch"),
        ("a.pdf", b"hello, I am a text", "file_type_mismatch"),
        ("a.docx", b"hello, I am a text", "file_type_mismatch"),
        ("a.docx", xlsx(Sheet=[("a", "b")]), "file_type_mismatch"),
        ("a.xlsx", pdf(["I am a PDF."]), "file_type_mismatch"),
        ("a.txt", bytes(range(256)) * 9, "file_not_text"),
        ("a.txt", b"\xff\xfe" + b"\x00\xd8" * 100, "file_not_text"),
        ("a.csv", b"a,b\n\x00\xff\xfe\x01\x02\x03\n" * 9, "file_not_text"),
        ("a.pdf", b"%PDF-1.7\nand nothing more", "file_broken"),
        ("a.pdf", pdf(["Bees dance on the comb."] * 30)[:900], "file_broken"),
        ("a.docx", docx("Bees dance.")[:5000], "file_broken"),
        ("a.docx", archive({"word/document.xml": "<w"}), "file_broken"),
        ("a.pptx", archive({"ppt/presentation.xml": "<p"}), "file_broken"),
        ("a.xlsx", archive({"xl/workbook.xml": "<x"}), "file_broken"),
        ("a.epub", archive({"META-INF/container.xml": "<c"}), "file_broken"),
        ("a.epub", archive({"META-INF/container.xml": "<c/>"}), "file_broken"),
        (
            "a.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "file_encrypted",
        ),
        ("a.pdf", locked_pdf("secret"), "file_encrypted"),
        ("a.pdf", pdf([]), "file_no_text"),
        ("a.docx", docx(), "file_no_text"),
    ],
)
async def test_a_bad_file_is_refused_with_its_code(tmp_path, name, content, code):
    assert await refused(tmp_path, name, content) == code


async def test_a_pdf_with_an_owner_password_only_can_be_read(tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(locked_pdf(""))

    assert "secret line" in (await extract_document(path))["sections"][0]["text"]


async def test_a_file_that_is_not_there_is_told_so(tmp_path):
    with pytest.raises(Problem) as caught:
        await extract_document(tmp_path / "a.md")

    assert caught.value.code == "file_not_found"


async def test_a_folder_or_a_pipe_is_not_a_file(tmp_path):
    (tmp_path / "a.md").mkdir()
    os.mkfifo(tmp_path / "b.md")

    for name in ("a.md", "b.md"):
        with pytest.raises(Problem) as caught:
            await extract_document(tmp_path / name)
        assert caught.value.code == "file_type"


async def test_a_file_that_cannot_be_opened_is_told_so(tmp_path):
    (tmp_path / "a.md").symlink_to(tmp_path / "a.md")

    with pytest.raises(Problem) as caught:
        await extract_document(tmp_path / "a.md")

    assert caught.value.code == "file_unreadable"


@pytest.mark.parametrize(
    ("content", "limits"),
    [
        ("a" * 1001, FileLimits(size=1000)),
        ("a" * 1001, FileLimits(text=1000)),
    ],
)
async def test_a_file_over_a_limit_is_too_large(tmp_path, content, limits):
    assert await refused(tmp_path, "a.txt", content, limits) == "file_too_large"


async def test_a_huge_file_is_refused_without_being_read(tmp_path):
    path = tmp_path / "a.pdf"
    with path.open("wb") as stream:
        stream.truncate(1_000_000_000_000)
    start = time.perf_counter()

    with pytest.raises(Problem) as caught:
        await extract_document(path)

    assert caught.value.code == "file_too_large"
    assert time.perf_counter() - start < 30


async def test_a_pdf_with_too_many_pages_is_too_large(tmp_path):
    content = pdf(*[["Bees dance."]] * 5)

    assert await refused(tmp_path, "a.pdf", content, FileLimits(pages=4)) == "file_too_large"


async def test_a_sheet_with_too_much_text_is_too_large(tmp_path):
    content = xlsx(Sheet=[("a" * 500, "b")] * 10)

    assert await refused(tmp_path, "a.xlsx", content, FileLimits(text=3000)) == "file_too_large"


async def test_what_a_parser_says_does_not_reach_the_terminal(tmp_path, capfd):
    path = tmp_path / "a.pdf"
    path.write_bytes(
        b"junk\n" + pdf(["Bees dance on the comb."] * 30).replace(b"xref\n0", b"xref\n9")
    )

    document = await extract_document(path)

    assert "Bees dance on the comb." in document["sections"][0]["text"]
    assert capfd.readouterr() == ("", "")


async def test_control_characters_do_not_come_through(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("bees \x1b[31m dance \u202e here \ufeff", encoding="utf-8")

    text = (await extract_document(path))["sections"][0]["text"]

    assert not set(text) & {"\x1b", "\u202e", "\ufeff"}
