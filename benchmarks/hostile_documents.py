"""Read hostile documents, and see how long each takes and how much memory it costs the program.

`python -m benchmarks.hostile_documents` makes documents that were written to do harm (bombs, deep
nesting, giant cells, lines and lists, what makes patterns try again and again, archives in
archives), reads each as `dossier ingest` would, and prints how it ended, the seconds by the clock
and of the processor, and by how much this process has grown at the most. Whatever takes more than
20 seconds of the processor, in all processes together, or 100 MB makes the exit status 1: other
programs lengthen the time by the clock. `--only` names some of them.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import os
import resource
import shutil
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

SECONDS, MEGABYTES = 20, 100
"""What one document may take at the most."""

DOCX = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
)


def _zip(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, one in members.items():
            archive.writestr(name, one)
    return data.getvalue()


def zip_bomb() -> bytes:
    """A Word document of 200 KB that unpacks to 200 MB."""
    return _zip({"word/document.xml": b"0" * 200_000_000})


def billion_laughs() -> bytes:
    """A Word document whose entities name each other ten times ten times over."""
    entities = '<!ENTITY l0 "ha">' + "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10)
    )
    text = f'<?xml version="1.0"?><!DOCTYPE x [{entities}]>{DOCX.format(text="&l9;")}'
    return _zip({"word/document.xml": text.encode()})


def deep_html() -> bytes:
    """A page of 300,000 elements in each other, with a word in the innermost."""
    return b"<html><body>" + b"<div>" * 300_000 + b"bees" + b"</div>" * 300_000


def giant_cell() -> bytes:
    """A workbook with a cell of 30 million letters, in rows of 100,000 cells."""
    kind = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    giant = f'<c t="inlineStr"><is><t>{"bee " * 7_500_000}</t></is></c>'
    row = f"<row>{'<c><v>1</v></c>' * 100_000}</row>"
    sheet = (
        f'<worksheet xmlns="{kind}"><sheetData><row>{giant}</row>{row * 5}</sheetData></worksheet>'
    )
    noise = base64.b64encode(os.urandom(600_000))
    return _zip(
        {
            "[Content_Types].xml": (
                f'<Types xmlns="{package}/content-types"><Default Extension="xml" '
                'ContentType="application/xml"/><Default Extension="rels" '
                'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
                'officedocument.spreadsheetml.sheet.main+xml"/></Types>'
            ).encode(),
            "_rels/.rels": (
                f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
                f'Type="{rel}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
            ).encode(),
            "xl/workbook.xml": (
                f'<workbook xmlns="{kind}" xmlns:r="{rel}"><sheets><sheet name="a" sheetId="1" '
                'r:id="r1"/></sheets></workbook>'
            ).encode(),
            "xl/_rels/workbook.xml.rels": (
                f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
                f'Type="{rel}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
            ).encode(),
            "xl/worksheets/sheet1.xml": sheet.encode(),
            # Noise makes the archive less of a bomb by its ratio than by what is in it.
            "xl/media/noise.txt": noise,
        }
    )


def long_pdf() -> bytes:
    """A PDF of 10,000 pages that share one stream of 5 MB."""
    import zlib  # noqa: PLC0415

    text = b"BT /F1 12 Tf 72 720 Td " + b"(bees) Tj 0 -1 Td " * 250_000 + b"ET"
    packed = zlib.compress(text)
    pages = 10_000
    kids = b" ".join(b"%d 0 R" % (number + 5) for number in range(pages))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (pages, kids),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        *[
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
            b"/Resources<</Font<</F1 3 0 R>>>>>>"
        ]
        * pages,
    ]
    data, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, one in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<</Size %d/Root 1 0 R>>\n" % (len(objects) + 1)
    return bytes(data) + b"startxref\n%d\n%%%%EOF\n" % start


def long_line() -> bytes:
    """A table of one line of 49 MB: six million cells, of which one is never closed."""
    return b"name,weight\n" + b"bee,10,," * 6_000_000 + b'"never closed'


def hostile_to_patterns() -> bytes:
    """Text on which patterns that try again and again take longer than the world is old."""
    parts = [
        "a" * 100_000 + "!",
        "(" * 100_000,
        "1." * 50_000 + "x",
        "# " * 50_000,
        " " * 200_000 + "x",
        "\n".join(["> " * 500 + "bees"] * 200),
        "[a](" * 50_000,
        "*_" * 100_000,
        "A. B. " * 30_000,
        "“" * 50_000,
        "- \n" * 50_000,
        "|" * 100_000,
        "1,234," * 30_000,
        "https://" + "a." * 50_000,
        "\u200b" * 100_000 + "e\u0301" * 100_000,
    ]
    return "\n\n".join(parts).encode()


def wrongly_encoded() -> bytes:
    """Text that begins as UTF-16, goes on as Shift-JIS and ends in noise, 4 MB of it."""
    japanese = "蜜蜂は踊る。".encode("shift-jis")
    return b"\xff\xfe" + "bees dance ".encode("utf-16-le") + japanese * 200_000 + os.urandom(2**21)


def archive_in_archive() -> bytes:
    """A book that is an archive of archives, each ten times in the next, nine deep."""
    inner = _zip({"META-INF/container.xml": b"0" * 1_000_000})
    for level in range(9):
        inner = _zip({f"META-INF/{level}-{copy}.epub": inner for copy in range(10)})
    return inner


def crowded_mail() -> bytes:
    """A mail with 1,000 attachments, in 100 mails in each other."""
    mails = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n"
        "Content-Type: text/plain\r\n\r\nBees.\r\n"
        f"--b{n}\r\nContent-Type: message/rfc822\r\n\r\nSubject: mail {n}\r\n"
        for n in range(100)
    )
    noise = base64.encodebytes(os.urandom(20_000)).decode()
    kind = "Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n"
    part = f"--b\r\n{kind}Content-Disposition: attachment; filename=bees.bin\r\n\r\n{noise}\r\n"
    head = "From: a@b.c\r\nSubject: Bees\r\nMIME-Version: 1.0\r\n"
    return (
        f"{head}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n{mails}\r\nBees.\r\n"
        f"{part * 1_000}--b--\r\n"
    ).encode()


DOCUMENTS: dict[str, Callable[[], bytes]] = {
    "bomb.docx": zip_bomb,
    "laughs.docx": billion_laughs,
    "deep.html": deep_html,
    "giant.xlsx": giant_cell,
    "long.pdf": long_pdf,
    "line.csv": long_line,
    "patterns.md": hostile_to_patterns,
    "encoded.txt": wrongly_encoded,
    "archives.epub": archive_in_archive,
    "crowded.eml": crowded_mail,
}
"""What makes each document, by its name."""


class HostileReading(NamedTuple):
    """How the reading of a document ended, and what it took."""

    name: str
    size: int
    outcome: str
    seconds: float
    computed: float
    """The seconds of the processor, in this process and its workers."""
    megabytes: float

    @property
    def holds(self) -> bool:
        """Tell whether it stayed within the limits."""
        return self.computed <= SECONDS and self.megabytes <= MEGABYTES


class _Peak:
    """The most memory that this process has while a block lasts, in megabytes above its start."""

    def __enter__(self) -> _Peak:
        self.before = self.most = _resident()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()
        return self

    def _watch(self) -> None:
        while not self.over.wait(0.01):
            self.most = max(self.most, _resident())

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        self.most = max(self.most, _resident())

    @property
    def megabytes(self) -> float:
        """How much it has grown at the most."""
        return (self.most - self.before) / 2**20


def _processor_seconds() -> float:
    """Return how long this process and those that it has ended have computed."""
    own, ended = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def _resident() -> int:
    """Return how many bytes of this process are in memory; Linux alone tells."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def make_hostile_document(name: str, path: Path) -> None:
    """Write one of `DOCUMENTS` to a file."""
    path.write_bytes(DOCUMENTS[name]())


async def read_hostile(folder: Path, name: str) -> HostileReading:
    """Read one document as a folder is read, into a store of its own.

    Args:
        folder: Where it is made, and nothing else is.
        name: Which of `DOCUMENTS`.
    """
    from tools.folder_ingestion import ingest_folder  # noqa: PLC0415 - reads the settings
    from tools.worker_pool import end_workers, idle_workers  # noqa: PLC0415

    path = folder / name
    # What it takes to make one would hide what it takes to read it.
    maker = get_context("spawn").Process(target=make_hostile_document, args=(name, path))
    maker.start()
    maker.join()
    end_workers(idle_workers.get())
    (folder / "bees.md").write_text("Bees dance.")
    with _Peak() as peak:
        started, before = time.monotonic(), _processor_seconds()
        library = await ingest_folder("local/", folder, lambda _: None)
        seconds = time.monotonic() - started
        end_workers(idle_workers.get())
        computed = _processor_seconds() - before
    outcome = library.skipped[0].code if library.skipped else "read"
    return HostileReading(name, path.stat().st_size, outcome, seconds, computed, peak.megabytes)


async def _read_all(names: list[str], work: Path) -> list[HostileReading]:
    from storage.engine import close_database  # noqa: PLC0415

    warm = work / "warm"
    warm.mkdir()
    (warm / "bees.html").write_text("<p>Bees dance.</p>")
    from tools.folder_ingestion import ingest_folder  # noqa: PLC0415

    await ingest_folder("local/", warm, lambda _: None)
    readings = []
    for name in names:
        folder = work / name.partition(".")[0]
        folder.mkdir()
        readings.append(await read_hostile(folder, name))
        shutil.rmtree(folder)
        _print(readings[-1])
    await close_database()
    return readings


def _print(one: HostileReading) -> None:
    mark = "" if one.holds else "  OVER"
    size = f"{one.size / 1e6:7.1f} MB"
    took = f"{one.seconds:6.1f} s ({one.computed:5.1f} s computed)  {one.megabytes:+7.1f} MB"
    print(f"{one.name:14} {size}  {took}  {one.outcome}{mark}", flush=True)


def main() -> int:
    """Read the documents and print what each took; return 1 if one took too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", choices=DOCUMENTS, default=list(DOCUMENTS))
    names = parser.parse_args().only
    with tempfile.TemporaryDirectory(prefix="hostile-") as work:
        os.environ["DOSSIER_HOME"] = str(Path(work) / "home")
        readings = asyncio.run(_read_all(names, Path(work)))
    return 0 if all(one.holds for one in readings) else 1


if __name__ == "__main__":
    sys.exit(main())
