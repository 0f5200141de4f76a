"""Servers that lie, stall, flood and mumble do no harm and are told apart."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import os
import random
import resource
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from config.errors import Problem
from tests.loopback import Answer, moved, reply, serving
from tools import worker_pool
from tools.web.download import FetchLimits
from tools.web.fetch import FetchedPage, fetch_page
from tools.web.transport import read_body

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
SENTENCES = "Bees dance on the comb. Their dance tells how far the food is. " * 6


PATIENT = FetchLimits(reading=12.0)
"""For pages that take a slow or busy machine nearly all of the usual time."""


async def got(answer: Answer, limits: FetchLimits | None = None) -> FetchedPage:
    async with serving(lambda _: answer) as server:
        return await fetch_page(f"{server.url}/page", limits or FetchLimits(), allow_private=True)


async def code_for(answer: Answer, limits: FetchLimits | None = None) -> str:
    with pytest.raises(Problem) as problem:
        await got(answer, limits)
    return problem.value.code


def spent() -> float:
    """Return the processor seconds of this process and of its workers, those that ended included.

    How long something takes on a clock depends on what else the machine does.
    """
    living = (
        Path(f"/proc/{one._process.pid}/stat").read_text().split()
        for one in worker_pool.idle_workers.get()
    )
    ticks = sum(int(stat[13]) + int(stat[14]) for stat in living)
    return sum(os.times()[:4]) + ticks / os.sysconf("SC_CLK_TCK")


def packed(data: bytes, *headers: str, mime: str = "text/html") -> bytes:
    return reply(data, "content-encoding: gzip", *headers, mime=mime)


async def test_a_server_that_says_nothing_is_left_after_the_time_it_has():
    async def silence() -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b""

    start = time.monotonic()
    code = await code_for(silence(), FetchLimits(seconds=0.5))

    assert code == "page_timeout"
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nx: ", CHUNKED], ids=["headers", "body"])
async def test_a_server_that_drips_is_left_though_it_never_pauses_long(start):
    async def drip() -> AsyncIterator[bytes]:
        yield start
        while True:
            yield b"1\r\na\r\n" if start is CHUNKED else b"a"
            await asyncio.sleep(0.05)

    begun = time.monotonic()
    code = await code_for(drip(), FetchLimits(seconds=0.7))

    assert code == "page_timeout"
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("mime", ["text/html", "application/pdf"])
async def test_a_body_without_end_is_left_at_the_limit_and_memory_stays_flat(mime):
    async def flood() -> AsyncIterator[bytes]:
        yield CHUNKED.replace(b"text/html", mime.encode())
        while True:
            yield b"10000\r\n" + b"a" * 65_536 + b"\r\n"

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = await code_for(flood())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert code == "url_too_large"
    assert grown < 100_000, f"{grown} kB"


async def test_a_body_that_is_announced_as_too_large_is_not_read():
    async def announce() -> AsyncIterator[bytes]:
        yield HEAD + b"content-length: 5000000000\r\n\r\n"
        await asyncio.sleep(60)

    start = time.monotonic()
    code = await code_for(announce())

    assert code == "url_too_large"
    assert time.monotonic() - start < 30


async def test_a_body_that_ends_before_its_announced_length_is_not_taken_for_whole():
    assert await code_for(reply(SENTENCES, length=100_000)) == "page_unavailable"


async def test_a_body_that_goes_on_after_its_announced_length_is_cut_there():
    page = await got(reply(f"{SENTENCES} AFTERWARDS", length=len(SENTENCES)))

    assert "AFTERWARDS" not in page["text"]


async def test_a_chunked_body_that_breaks_off_is_not_taken_for_whole():
    async def broken() -> AsyncIterator[bytes]:
        yield CHUNKED + b"5000\r\n" + SENTENCES.encode()

    assert await code_for(broken()) == "page_unavailable"


async def test_a_packed_page_is_unpacked():
    page = await got(packed(gzip.compress(SENTENCES.encode())))

    assert page["text"].startswith("Bees dance")


@pytest.mark.parametrize("mime", ["text/html", "application/pdf"])
async def test_a_gzip_bomb_is_left_early(mime):
    bomb = gzip.compress(b"\0" * 200_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = await code_for(packed(bomb, mime=mime))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert code == "url_too_large"
    assert grown < 100_000, f"{grown} kB"


async def test_a_body_that_unpacks_a_hundredfold_is_a_bomb_even_below_the_limit():
    small_bomb = gzip.compress(b"<p>" + b"a" * 5_000_000)

    assert await code_for(packed(small_bomb)) == "url_too_large"


async def test_a_body_that_unpacks_to_more_than_the_limit_is_left():
    async def at_once() -> AsyncIterator[bytes]:
        yield gzip.compress(SENTENCES.encode())

    with pytest.raises(Problem) as problem:
        await read_body(at_once(), {"content-encoding": "gzip"}, 300)

    assert problem.value.code == "url_too_large"


async def test_a_bomb_in_one_piece_never_lies_unpacked_in_memory():
    bomb = gzip.compress(b"\0" * 100_000_000)

    async def at_once() -> AsyncIterator[bytes]:
        yield bomb

    tracemalloc.start()
    with pytest.raises(Problem):
        await read_body(at_once(), {"content-encoding": "gzip"}, 10_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 30_000_000


async def test_a_deflated_body_that_is_cut_off_is_not_taken_for_whole():
    whole = zlib.compress(SENTENCES.encode())
    cut = reply(whole[:-8], "content-encoding: deflate")

    assert await code_for(cut) == "page_unavailable"


@pytest.mark.parametrize("packing", ["gzip", "br", "zstd", "gzip, gzip", "compress", "nonsense"])
async def test_a_body_that_is_not_packed_as_it_says_is_no_page(packing):
    answer = reply(SENTENCES, f"content-encoding: {packing}")

    assert await code_for(answer) == "page_unavailable"


async def test_data_without_end_behind_a_packed_body_is_left_at_the_limit():
    async def trailing() -> AsyncIterator[bytes]:
        yield HEAD + b"content-encoding: gzip\r\nconnection: close\r\n\r\n"
        yield gzip.compress(SENTENCES.encode())
        while True:
            yield b"a" * 65_536

    assert await code_for(trailing()) == "url_too_large"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 banana\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5, 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"a" * 300_000,
        b"HTTP/1.1 302 Found\r\nlocation: http://[::1\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: http://a\x80b:x/\r\ncontent-length: 0\r\n\r\n",
    ],
)
async def test_an_answer_that_is_not_http_is_a_server_that_cannot_be_read(answer):
    assert await code_for(answer) in {"page_unavailable", "url_scheme"}


@pytest.mark.parametrize("location", ["/page", "//{host}/page", "?", "#top", "/other"])
async def test_redirects_in_a_circle_end(location):
    def answer(asked):
        there = "/page" if asked.target == "/other" else location
        return moved(there.replace("{host}", asked.headers["host"]))

    async with serving(answer) as server:
        with pytest.raises(Problem) as problem:
            await fetch_page(f"{server.url}/page", allow_private=True)

    assert problem.value.code == "url_redirects"
    assert len(server.asked) == 6


async def test_thirty_hops_are_too_many():
    counter = itertools.count()
    async with serving(lambda _: moved(f"/{next(counter)}")) as server:
        with pytest.raises(Problem, match="more than 5 times"):
            await fetch_page(server.url, allow_private=True)


CHINESE = "蜜蜂在蜂巢上跳舞，告诉同伴食物在哪里。舞蹈的长度说明距离有多远，方向由太阳决定。" * 3
TAIWANESE = "蜜蜂在蜂巢上跳舞，告訴同伴食物在哪裡。舞蹈的長度說明距離有多遠，方向由太陽決定。" * 3
JAPANESE = "ミツバチは巣の上で踊り、仲間に食べ物の場所を教えます。踊りの長さは距離を示します。" * 3
KOREAN = "꿀벌은 벌집 위에서 춤을 추며 동료들에게 먹이가 어디에 있는지 알려 줍니다. " * 4
RUSSIAN = "Пчёлы танцуют на сотах и рассказывают другим, где находится корм и как далеко он. " * 4
GREEK = "Οι μέλισσες χορεύουν πάνω στην κηρήθρα και λένε στις άλλες πού είναι η τροφή. " * 4
FRENCH = (
    "Les abeilles dansent déjà près de la ruche, où l’été naît ; ça brûle, Noël à l’œuvre. " * 4
)
POLISH = (
    "Pszczoły tańczą na plastrach, żeby powiedzieć innym, gdzie jest pożywienie i światło. " * 4
)
THAI = "ผึ้งเต้นรำบนรวงเพื่อบอกเพื่อนว่าอาหารอยู่ที่ไหน ความยาวของการเต้นบอกระยะทาง " * 4

ENCODINGS = [
    # encoding, what the server says, what the page says, the text
    ("utf-8", "utf-8", "", CHINESE),
    ("utf-8", "", "", RUSSIAN),
    ("utf-8", "iso-8859-1", "", FRENCH),
    ("utf-8", "gbk", "gbk", CHINESE),
    ("utf-8-sig", "iso-8859-1", "", FRENCH),
    ("gbk", "gbk", "", CHINESE),
    ("gbk", "", "gb2312", CHINESE),
    ("gbk", "", "", CHINESE),
    ("gbk", "utf-8", "gbk", CHINESE),
    ("gb18030", "GB18030", "utf-8", CHINESE),
    ("big5", "", "big5", TAIWANESE),
    ("shift_jis", "Shift_JIS", "", JAPANESE),
    ("shift_jis", "", "shift_jis", JAPANESE),
    ("shift_jis", "x-sjis", "euc-jp", JAPANESE),
    ("euc_jp", "", "euc-jp", JAPANESE),
    ("iso2022_jp", "iso-2022-jp", "", JAPANESE),
    ("iso2022_jp", "", "", JAPANESE),
    ("euc_kr", "ks_c_5601-1987", "", KOREAN),
    ("euc_kr", "", "euc-kr", KOREAN),
    ("cp1251", "windows-1251", "", RUSSIAN),
    ("koi8-r", "", "koi8-r", RUSSIAN),
    ("cp1252", "iso-8859-1", "", FRENCH),
    ("cp1252", "", "", FRENCH),
    ("iso8859-2", "iso-8859-2", "", POLISH),
    ("iso8859-7", "iso-8859-7", "", GREEK),
    ("tis-620", "tis-620", "", THAI),
    ("utf-16", "", "", CHINESE),
    ("utf-16-le", "utf-16le", "", CHINESE),
    ("utf-16-le", "", "", CHINESE),
    ("utf-16-be", "", "", FRENCH),
    ("utf-16-be", "utf-16", "", JAPANESE),
    ("utf-8", "punycode", "", FRENCH),
    ("utf-8", "unicode_escape", "idna", FRENCH),
    ("cp1252", "zlib", "", FRENCH),
]


@pytest.mark.parametrize(("encoding", "named", "meta", "text"), ENCODINGS)
async def test_a_page_is_read_in_the_encoding_it_is_in(encoding, named, meta, text):
    declared = f"<meta charset='{meta}'>" if meta else ""
    page = f"<html><head>{declared}<title>B</title></head><body><article><p>{text}</p></article>"
    mime = f"text/html; charset={named}" if named else "text/html"

    found = await got(reply(page.encode(encoding), mime=mime))

    assert text.strip() in found["text"]


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "shift_jis", "utf-16-le"])
async def test_a_plain_text_is_read_in_the_encoding_it_is_in(encoding):
    text = f"{JAPANESE if encoding == 'shift_jis' else CHINESE}\n\nBees."

    found = await got(reply(text.encode(encoding), mime="text/plain"))

    assert found["text"] == text


@pytest.mark.parametrize(
    "label", ["\xe9", "utf-8'; x='", '"', "a" * 3000, "undefined", "utf-8;;=", "utf_16"]
)
async def test_a_label_that_names_no_encoding_is_passed_over(label):
    page = await got(reply(f"<p>{FRENCH}", mime=f"text/html; charset={label}"))

    assert page["text"] == FRENCH.strip()


async def test_some_damage_is_shown_and_much_damage_is_refused():
    data = CHINESE.encode("gbk") * 4
    spoilt = data[:200] + b"\xff\xff" + data[202:]
    noise = random.Random(1).randbytes(4_000).replace(b"\0", b"\x01")

    page = await got(reply(spoilt, mime="text/plain; charset=gbk"))
    code = await code_for(reply(noise, mime="text/plain; charset=utf-8"))

    assert "\ufffd" in page["text"]
    assert page["text"].startswith(CHINESE[:60])
    assert code == "page_not_text"


def _soup(seed: int) -> str:
    chance = random.Random(seed)
    parts = ["<div", "<p>", "</td>", "<table", "<!--", "-->", "<script>", "&#x110000;", "&amp", "<"]
    parts += [
        ">",
        "'",
        '"',
        "=",
        "<svg/onload=",
        "]]>",
        "<![CDATA[",
        "\x0b",
        "\x1b[2J",
        "Bees dance. ",
    ]
    return "".join(chance.choice(parts) for _ in range(5_000))


GARBAGE = {
    "nested divs": "<div>" * 100_000 + SENTENCES,
    "nested spans": "<p>" + "<span>" * 100_000 + SENTENCES,
    "nested tables": "<table><tr><td>" * 5_000 + SENTENCES,
    "nested lists": "<ul><li>" * 20_000 + SENTENCES,
    "never closed": "<html><body><p><b><i><a href='" + SENTENCES,
    "many attributes": "<p " + " ".join(f"a{n}=b" for n in range(100_000)) + ">" + SENTENCES,
    "one long line": "<p>" + SENTENCES * 10_000,
    "many links": "<a href='/bees'>bees</a> " * 70_000,
    "many rows": "<table>" + "<tr><td>a</td><td>b</td></tr>" * 40_000,
    "entities": "<!DOCTYPE html [<!ENTITY a 'bees'><!ENTITY b '&a;&a;&a;'>]><p>&b;" + SENTENCES,
    "an outside entity": "<!DOCTYPE html [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><p>&x;"
    + SENTENCES,
    "a declared encoding": "<?xml version='1.0' encoding='utf-16'?><html><p>" + SENTENCES,
    "comments": "<!--" * 50_000 + SENTENCES,
    **{f"soup {seed}": _soup(seed) for seed in range(5)},
}


@pytest.mark.parametrize("name", GARBAGE)
async def test_a_page_of_garbage_is_read_or_refused_within_its_time(name):
    start = spent()
    code, text = "", ""
    try:
        text = (await got(reply(f"<html><body>{GARBAGE[name]}"), FetchLimits(reading=2)))["text"]
    except Problem as problem:
        code = problem.code

    assert code in {"", "page_empty", "page_timeout", "page_not_text"}
    assert "root:" not in text
    assert "\x1b" not in text
    # Two seconds of reading, and twice the imports of a new worker.
    assert spent() - start < 6


@pytest.mark.parametrize("name", ["many links", "many rows", "one long line"])
async def test_a_page_that_is_too_entangled_for_its_article_is_read_as_a_whole(name):
    page = await got(reply(f"<html><title>Bees</title><body>{GARBAGE[name]}"), PATIENT)

    assert page["title"] == "Bees"
    assert len(page["text"]) > 100_000


async def test_a_page_of_many_megabytes_is_read_in_time():
    text = "".join(f"<p>Bee number {number} dances on the comb.</p>" for number in range(180_000))

    page = await got(reply(f"<html><title>Bees</title><nav>Menu</nav>{text}"), PATIENT)

    assert page["title"] == "Bees"
    assert page["text"].endswith("Bee number 179999 dances on the comb.")


async def test_a_reader_that_takes_too_long_is_killed_and_the_next_page_is_read():
    slow = reply("".join(f"<p>Bee number {number} dances.</p>" for number in range(40_000)))

    code = await code_for(slow, FetchLimits(reading=0.05))
    page = await got(reply(f"<p>{SENTENCES}"))

    assert code == "page_timeout"
    assert page["text"].startswith("Bees dance")


async def test_many_pages_at_once_are_all_read():
    async with serving(lambda _: reply(f"<p>{SENTENCES}")) as server:
        pages = await asyncio.gather(
            *(fetch_page(f"{server.url}/{n}", allow_private=True) for n in range(40))
        )

    assert len(pages) == 40


NOT_THERE = [
    ("404 Not Found", "<p>The requested URL was not found on this server. Apache/2.4 at here."),
    ("Page not found — Bees", "<h1>Oops!</h1><p>The page you are looking for does not exist here."),
    ("Bees", "<h1>Sorry</h1><p>This article is no longer available. Please try the search.</p>"),
    ("页面不存在", "<p>抱歉，您访问的页面不存在或已被删除，请返回首页重新查找您需要的内容，谢谢。"),
    ("蜜蜂网", "<p>很抱歉，找不到页面，它可能已经被移动。请检查您输入的地址是否正确，或返回首页。"),
    (
        "Bienen",
        "<p>Diese Seite wurde nicht gefunden. Bitte benutzen Sie unsere Suche, vielen Dank.",
    ),
    ("Just a moment...", "<p>Checking your browser before you access this site. Please wait."),
    ("Bees", "<p>Please enable JavaScript and cookies to continue reading this page on our site."),
    ("Bees", "<p>We and our 845 partners ask you to accept the use of cookies on your device."),
    ("Bees", "<p>Please verify you are a human by solving the puzzle that is shown below."),
    ("Bees", "<p>To read this article please log in to continue, or become a member of the club."),
    ("Bees", "<noscript>You need to enable JavaScript to run this app.</noscript>"),
]


@pytest.mark.parametrize(("title", "body"), NOT_THERE)
async def test_a_page_that_only_says_that_it_has_nothing_is_empty(title, body):
    answer = reply(f"<html><head><title>{title}</title></head><body>{body}</body></html>")

    assert await code_for(answer) == "page_empty"


@pytest.mark.parametrize(
    ("title", "opening"),
    [
        ("HTTP 404", "The 404 status code means that the page was not found on the server. "),
        ("How cookie walls work", "A site may ask readers to accept cookies before they read. "),
        ("Bees", "The gene that makes drones dance was not found in any of the colonies. "),
    ],
)
async def test_a_page_about_such_things_is_a_page(title, opening):
    more = "It has a history of its own, which is told in the chapters that follow below. " * 25
    answer = reply(f"<title>{title}</title><article><h1>{title}</h1><p>{opening}{more}</article>")

    page = await got(answer)

    assert opening.strip() in page["text"]


async def test_a_short_page_that_says_something_is_a_page():
    page = await got(reply("<title>Bees</title><p>A queen bee may lay 2,000 eggs on one day."))

    assert page["text"] == "A queen bee may lay 2,000 eggs on one day."
