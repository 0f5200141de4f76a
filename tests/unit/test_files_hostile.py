import io
import os
import signal
import time
import zlib

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import EncodedStreamObject, NameObject, NumberObject

from library.page_metadata import to_author_names
from tests.unit.test_files_samples import (
    archive,
    docx,
    edited,
    epub,
    outcome,
    pdf,
    pptx,
    refused,
    xlsx,
)
from tools.files import sheets
from tools.files.archive import open_archive
from tools.files.extractor import extract_document
from tools.files.formats import FILE_READERS, FileContent, FileLimits, FileRefused
from tools.files.parsed_document import MAX_SECTION, DocumentPiece, arrange_sections

BOMB = b"0" * 200_000_000
LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "ha">' for n in range(10)
)
DOCTYPE = f"<!DOCTYPE x [{LAUGHS}]>"


def read(file: FileContent):
    """Play a parser that does not come back: the tests put this module in its place."""
    if b"sleep" in file.data:
        time.sleep(60)
    elif b"die" in file.data:
        os.kill(os.getpid(), signal.SIGKILL)
    elif b"hoard" in file.data:
        return bytearray(3_000_000_000)
    return {"title": "", "sections": [{"title": "", "place": "page=1", "text": "alive"}]}


@pytest.fixture
def strange_parser(monkeypatch):
    monkeypatch.setitem(FILE_READERS, ".pdf", f"{__name__}:read")


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("a.docx", "word/document.xml"),
        ("a.pptx", "ppt/slides/slide1.xml"),
        ("a.xlsx", "xl/worksheets/sheet1.xml"),
        ("a.epub", "META-INF/container.xml"),
    ],
)
async def test_an_archive_that_unpacks_to_200_megabytes_is_a_bomb(tmp_path, name, member):
    assert await refused(tmp_path, name, archive({member: BOMB})) == "file_bomb"


@pytest.mark.parametrize("size", [5_000_000, 301_000_000])
def test_a_bomb_is_known_by_its_directory_before_anything_is_unpacked(size):
    stuffing = os.urandom(4_000_000 if size > 10**8 else 100)
    data = archive({"word/document.xml": b"0" * size, "word/media": stuffing})

    with pytest.raises(FileRefused, match="it unpacks from") as caught:
        open_archive(FileContent(data, ".docx", FileLimits()))

    assert caught.value.code == "file_bomb"


async def test_a_pdf_stream_that_unpacks_to_200_megabytes_stays_within_its_limits(tmp_path):
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["Bees."]))))
    stream = EncodedStreamObject()
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    stream._data = zlib.compress(b" " * 200_000_000, level=1)
    stream[NameObject("/Length")] = NumberObject(len(stream._data))
    writer.pages[0][NameObject("/Contents")] = writer._add_object(stream)
    saved = io.BytesIO()
    writer.write(saved)

    assert await refused(tmp_path, "a.pdf", saved.getvalue()) == "file_no_text"


def laughing(data, member, root, end):
    """Return an archive in which one member begins with entities that multiply, and uses one."""
    return edited(data, member, {root: DOCTYPE + root, end: f"&l9;{end}"})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.epub", laughing(epub("<p>Bees</p>"), "book.opf", "<package", "</title>")),
        ("a.docx", laughing(docx("Bees"), "word/document.xml", "<w:document", "</w:t>")),
        ("a.pptx", laughing(pptx(("Bees", "", "")), "ppt/slides/slide1.xml", "<p:sld ", "</a:t>")),
        ("a.xlsx", laughing(xlsx(S=[("a",)]), "xl/worksheets/sheet1.xml", "<worksheet", "</sheet")),
        ("a.html", f"{DOCTYPE}<html><body><p>Bees dance. &l9;</p></body></html>".encode()),
    ],
)
async def test_entities_that_multiply_are_not_expanded(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)

    found = await outcome(path)

    assert "haha" not in found
    assert "Bees" in found or found in {"file_broken", "file_bomb", "file_no_text"}


async def test_an_outside_entity_is_not_fetched(tmp_path):
    (tmp_path / "secret.txt").write_text("the secret")
    head = f'<!DOCTYPE package [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]>'
    path = tmp_path / "a.epub"
    path.write_bytes(epub("<p>Bees dance.</p>", head=head, title="&x;"))

    assert "the secret" not in await outcome(path)


async def test_a_parser_that_does_not_end_is_stopped(tmp_path, strange_parser):
    start = time.perf_counter()

    assert await refused(tmp_path, "a.pdf", b"%PDF-sleep", FileLimits(seconds=2)) == "file_timeout"
    assert time.perf_counter() - start < 30


async def test_a_parser_that_dies_makes_the_file_broken(tmp_path, strange_parser):
    assert await refused(tmp_path, "a.pdf", b"%PDF-die") == "file_broken"


async def test_a_parser_that_takes_too_much_memory_makes_the_file_a_bomb(tmp_path, strange_parser):
    assert await refused(tmp_path, "a.pdf", b"%PDF-hoard") == "file_bomb"


async def test_the_next_file_is_read_after_one_that_stopped_its_parser(tmp_path, strange_parser):
    await refused(tmp_path, "a.pdf", b"%PDF-sleep", FileLimits(seconds=2))
    (tmp_path / "b.pdf").write_bytes(b"%PDF-")

    assert (await extract_document(tmp_path / "b.pdf"))["sections"][0]["text"] == "alive"


async def test_deeply_nested_pages_are_read_or_refused_in_time(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("<div>" * 300_000 + "Bees dance.")
    start = time.perf_counter()

    assert "Bees" in (found := await outcome(path)) or found.startswith("file_")
    assert time.perf_counter() - start < 60


async def test_a_long_file_has_more_time_than_a_short_one(tmp_path, monkeypatch):
    given: list[float] = []

    async def watched(call, seconds):
        given.append(seconds)
        return call()

    monkeypatch.setattr("tools.files.extractor.run_in_worker", watched)
    for size in (200_000, 2_000_000):
        (tmp_path / "a.txt").write_text("Bees dance on the comb.\n" * (size // 24))
        await extract_document(tmp_path / "a.txt", FileLimits(seconds=2), in_worker=True)

    assert given[1] - given[0] > 10


async def test_marks_that_lead_nowhere_do_not_hold_up_a_paragraph(tmp_path):
    (tmp_path / "a.md").write_text(f"{'[a](' * 10_000}\n\n{'*_' * 50_000}\n\nThe *bees* dance.\n")

    started = time.monotonic()
    document = await extract_document(tmp_path / "a.md", FileLimits())

    assert time.monotonic() - started < 10
    assert "The bees dance." in str(document["sections"])


async def test_bytes_of_no_encoding_behind_a_mark_of_utf_16_are_no_text(tmp_path):
    noise = os.urandom(200_000)

    assert await refused(tmp_path, "a.txt", b"\xff\xfe" + noise) == "file_not_text"
    (tmp_path / "b.txt").write_bytes("蜜蜂 مرحبا bees".encode("utf-16"))
    assert "مرحبا" in await outcome(tmp_path / "b.txt")


@pytest.mark.parametrize("text", ["# " + "bees " * 20_000, "bees " * 20_000 + "\n===="])
async def test_a_heading_as_long_as_a_book_does_not_stand_on_each_page_of_it(tmp_path, text):
    (tmp_path / "a.md").write_text(f"{text}\n\n" + "Bees dance on the comb.\n\n" * 2_000)

    document = await extract_document(tmp_path / "a.md")

    sections = document["sections"]
    named = [document["title"], *(one["title"] + one["place"] for one in sections)]
    assert max(map(len, named)) < 1_000
    assert sum(one["text"].count("bees") for one in sections) == 20_000
    assert len({one["place"] for one in sections}) == len(sections)


def test_a_workbook_with_too_much_text_is_refused_before_the_rest_is_read():
    file = FileContent(xlsx(S=[("bees " * 500,)] * 200), ".xlsx", FileLimits(text=10_000))

    with pytest.raises(FileRefused) as refusal:
        sheets.read_workbook(file)

    assert refusal.value.code == "file_too_large"


def test_a_long_list_of_authors_is_not_joined_again_for_each():
    started = time.process_time()

    assert to_author_names("Ada Lovelace;" * 50_000).startswith("Ada Lovelace")
    assert time.process_time() - started < 2


def test_a_text_without_sentences_is_cut_between_words_and_nothing_is_lost():
    text = "bees " * 100_000
    piece = DocumentPiece("Bees", "1", "1", text)

    sections = arrange_sections([piece], lambda first, last: first)

    assert "".join(one["text"] + " " for one in sections) == text
    assert max(len(one["text"]) for one in sections) <= MAX_SECTION
