import io
import os
import signal
import time
import zlib
from zipfile import ZipFile

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import EncodedStreamObject, NameObject, NumberObject

from config.errors import Problem
from tests.unit.test_files_samples import archive, docx, epub, locked_pdf, pdf, xlsx
from tools.files import Limits, extract
from tools.files.archive import unpack
from tools.files.kinds import READERS
from tools.files.shapes import File, Refused

BOMB = b"0" * 200_000_000
LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "ha">' for n in range(10)
)
DOCTYPE = f"<!DOCTYPE x [{LAUGHS}]>"


def read(file: File):
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
    monkeypatch.setitem(READERS, ".pdf", __name__)


async def refused(folder, name, content, limits=None):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(Problem) as caught:
        await extract(path, limits or Limits())
    assert caught.value.hint
    assert caught.value.where == str(path)
    return caught.value.code


async def outcome(path):
    """Return what was read, or the code of what stood in the way."""
    try:
        return str(await extract(path, Limits(seconds=10)))
    except Problem as problem:
        return problem.code


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

    assert "secret line" in (await extract(path))["sections"][0]["text"]


async def test_a_file_that_is_not_there_is_told_so(tmp_path):
    with pytest.raises(Problem) as caught:
        await extract(tmp_path / "a.md")

    assert caught.value.code == "file_not_found"


async def test_a_folder_or_a_pipe_is_not_a_file(tmp_path):
    (tmp_path / "a.md").mkdir()
    os.mkfifo(tmp_path / "b.md")

    for name in ("a.md", "b.md"):
        with pytest.raises(Problem) as caught:
            await extract(tmp_path / name)
        assert caught.value.code == "file_type"


async def test_a_file_that_cannot_be_opened_is_told_so(tmp_path):
    (tmp_path / "a.md").symlink_to(tmp_path / "a.md")

    with pytest.raises(Problem) as caught:
        await extract(tmp_path / "a.md")

    assert caught.value.code == "file_unreadable"


@pytest.mark.parametrize(
    ("content", "limits"),
    [
        ("a" * 1001, Limits(size=1000)),
        ("a" * 1001, Limits(text=1000)),
    ],
)
async def test_a_file_over_a_limit_is_too_large(tmp_path, content, limits):
    assert await refused(tmp_path, "a.txt", content, limits) == "file_too_large"


async def test_a_huge_file_is_refused_without_being_read(tmp_path):
    path = tmp_path / "a.pdf"
    with path.open("wb") as stream:
        stream.truncate(5_000_000_000)
    start = time.perf_counter()

    with pytest.raises(Problem) as caught:
        await extract(path)

    assert caught.value.code == "file_too_large"
    assert time.perf_counter() - start < 2


async def test_a_pdf_with_too_many_pages_is_too_large(tmp_path):
    content = pdf(*[["Bees dance."]] * 5)

    assert await refused(tmp_path, "a.pdf", content, Limits(pages=4)) == "file_too_large"


async def test_a_sheet_with_too_much_text_is_too_large(tmp_path):
    content = xlsx(Sheet=[("a" * 500, "b")] * 10)

    assert await refused(tmp_path, "a.xlsx", content, Limits(text=3000)) == "file_too_large"


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

    with pytest.raises(Refused, match="it unpacks from") as caught:
        unpack(File(data, ".docx", Limits()))

    assert caught.value.code == "file_bomb"


async def test_a_pdf_stream_that_unpacks_to_200_megabytes_is_a_bomb(tmp_path):
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["Bees."]))))
    stream = EncodedStreamObject()
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    stream._data = zlib.compress(b" " * 200_000_000)
    stream[NameObject("/Length")] = NumberObject(len(stream._data))
    writer.pages[0][NameObject("/Contents")] = writer._add_object(stream)
    saved = io.BytesIO()
    writer.write(saved)

    assert await refused(tmp_path, "a.pdf", saved.getvalue()) == "file_bomb"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "a.epub",
            epub("<p>Bees dance.</p>", head=DOCTYPE.replace("DOCTYPE x", "DOCTYPE package")),
        ),
        ("a.docx", archive({"word/document.xml": f"{DOCTYPE}<x>&l9;</x>"})),
        ("a.html", f"{DOCTYPE}<html><body><p>Bees dance. &l9;</p></body></html>"),
    ],
)
async def test_entities_that_multiply_are_not_expanded(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)

    assert "haha" not in await outcome(path)


async def test_a_sheet_with_entities_that_multiply_is_broken(tmp_path):
    good = xlsx(Sheet=[("a", "b"), ("c", "d")])
    bad = _with_member(
        good, "xl/worksheets/sheet1.xml", "<worksheet", f"{DOCTYPE}<worksheet", "&l9;"
    )

    assert await refused(tmp_path, "a.xlsx", bad) in {"file_broken", "file_bomb"}


def _with_member(data, name, old, new, inserted):
    with ZipFile(io.BytesIO(data)) as made:
        members = {member: made.read(member) for member in made.namelist()}
    text = (
        members[name]
        .decode()
        .replace(old, new, 1)
        .replace("</sheetData>", f"{inserted}</sheetData>")
    )
    return archive({**members, name: text})


async def test_an_outside_entity_is_not_fetched(tmp_path):
    (tmp_path / "secret.txt").write_text("the secret")
    head = f'<!DOCTYPE package [<!ENTITY x SYSTEM "file://{tmp_path}/secret.txt">]>'
    content = epub("<p>Bees dance.</p>", head=head).replace(b"A book", b"&x;   ")
    path = tmp_path / "a.epub"
    path.write_bytes(content)

    assert "the secret" not in await outcome(path)


async def test_a_parser_that_does_not_end_is_stopped(tmp_path, strange_parser):
    start = time.perf_counter()

    assert await refused(tmp_path, "a.pdf", b"%PDF-sleep", Limits(seconds=2)) == "file_timeout"
    assert time.perf_counter() - start < 5


async def test_a_parser_that_dies_makes_the_file_broken(tmp_path, strange_parser):
    assert await refused(tmp_path, "a.pdf", b"%PDF-die") == "file_broken"


async def test_a_parser_that_takes_too_much_memory_makes_the_file_a_bomb(tmp_path, strange_parser):
    assert await refused(tmp_path, "a.pdf", b"%PDF-hoard") == "file_bomb"


async def test_the_next_file_is_read_after_one_that_stopped_its_parser(tmp_path, strange_parser):
    await refused(tmp_path, "a.pdf", b"%PDF-sleep", Limits(seconds=2))
    (tmp_path / "b.pdf").write_bytes(b"%PDF-")

    assert (await extract(tmp_path / "b.pdf"))["sections"][0]["text"] == "alive"


async def test_what_a_parser_says_does_not_reach_the_terminal(tmp_path, capfd):
    path = tmp_path / "a.pdf"
    path.write_bytes(
        b"junk\n" + pdf(["Bees dance on the comb."] * 30).replace(b"xref\n0", b"xref\n9")
    )

    document = await extract(path)

    assert "Bees dance on the comb." in document["sections"][0]["text"]
    assert capfd.readouterr() == ("", "")


async def test_control_characters_do_not_come_through(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("bees \x1b[31m dance \u202e here \ufeff", encoding="utf-8")

    text = (await extract(path))["sections"][0]["text"]

    assert not set(text) & {"\x1b", "\u202e", "\ufeff"}


async def test_deeply_nested_pages_are_read_or_refused_in_time(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("<div>" * 300_000 + "Bees dance.")
    start = time.perf_counter()

    assert "Bees" in (found := await outcome(path)) or found.startswith("file_")
    assert time.perf_counter() - start < 15
