"""A page of the web becomes text, or a problem that says why not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from config.errors import Problem
from tests.loopback import moved, reply, serving
from tools.web.download import FetchLimits
from tools.web.fetch import fetch_page
from tools.web.urls import canonicalise_url

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parents[2]

ARTICLE = """<!doctype html><html><head><title>Why bees dance — The Hive</title>
<meta property="article:published_time" content="2023-04-05T10:00:00Z"></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<article><h1>Why bees dance</h1>
<p>Honey bees <b>dance</b> to tell the others where food is. Karl von Frisch described it.</p>
<h2>The waggle run</h2>
<p>The waggle run points to the food, relative to the sun, and its length tells how far it is.</p>
<ul><li>The round dance means that food is near.</li></ul></article>
<footer>Copyright of the hive keepers</footer></body></html>"""


def a_pdf(words: str) -> bytes:
    """Return a PDF of one page that says these words."""
    shown = f"BT /F1 12 Tf 72 700 Td ({words}) Tj ET"
    page = (
        "/Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources <</Font <</F1 4 0 R>>>>"
    )
    objects = [
        "<</Type /Catalog /Pages 2 0 R>>",
        "<</Type /Pages /Kids [3 0 R] /Count 1>>",
        f"<</Type /Page {page}>>",
        "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
        f"<</Length {len(shown)}>>\nstream\n{shown}\nendstream",
    ]
    text, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(text))
        text += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer\n<</Size 6 /Root 1 0 R>>\nstartxref\n{len(text)}\n%%EOF\n"
    return f"{text}xref\n0 6\n0000000000 65535 f \n{table}{trailer}".encode()


PDF = a_pdf("Honey bees dance on the comb.")


async def code_of(url: str, limits: FetchLimits | None = None, **more: object) -> str:
    with pytest.raises(Problem) as problem:
        await fetch_page(url, limits or FetchLimits(), allow_private=True, **more)
    return problem.value.code


async def code_for(answer: bytes, limits: FetchLimits | None = None) -> str:
    async with serving(lambda _: answer) as server:
        return await code_of(f"{server.url}/page", limits)


async def fetched(answer: bytes) -> dict[str, str]:
    async with serving(lambda _: answer) as server:
        return await fetch_page(f"{server.url}/page", allow_private=True)


async def test_an_article_is_fetched_with_its_title_date_and_headings_but_without_menus():
    page = await fetched(reply(ARTICLE))

    assert page["title"] == "Why bees dance"
    assert page["metadata"].published == "2023-04-05"
    assert page["mime"] == "text/html"
    assert "## The waggle run\n\nThe waggle run points" in page["text"]
    assert "Honey bees dance to tell the others where food is." in page["text"]
    assert "Shop" not in page["text"]
    assert "Copyright" not in page["text"]


async def test_a_date_that_the_page_does_not_declare_is_not_guessed():
    page = await fetched(reply(f"<h1>Bees</h1><p>On 3 May 2019 they flew. {'They flew. ' * 30}"))

    assert page["metadata"].published == ""


async def test_the_address_is_the_last_one_in_canonical_form():
    def answer(asked):
        return reply(ARTICLE) if asked.target.startswith("/new") else moved("/new/?utm_source=x#a")

    async with serving(answer) as server:
        page = await fetch_page(f"{server.url}/old", allow_private=True)

    assert page["url"] == f"{server.url}/new"


async def test_a_pdf_is_read_by_the_reader_of_files():
    page = await fetched(reply(PDF, mime="application/pdf"))

    assert page["mime"] == "application/pdf"
    assert "Honey bees dance on the comb." in page["text"]


async def test_a_pdf_is_recognised_whatever_the_server_calls_it():
    page = await fetched(reply(PDF, mime="application/octet-stream"))

    assert page["mime"] == "application/pdf"


async def test_a_broken_pdf_is_no_text():
    assert await code_for(reply(b"%PDF-1.7 nothing", mime="application/pdf")) == "page_not_text"


async def test_plain_text_is_kept_as_it_is():
    text = "# Bees\n\nThey dance <b>on</b> the comb.\n\n- near\n- far"

    page = await fetched(reply(text, mime="text/markdown"))

    assert page["text"] == text
    assert page["mime"] == "text/markdown"


async def test_html_without_a_name_is_recognised():
    page = await fetched(reply(ARTICLE, mime=""))

    assert page["mime"] == "text/html"


@pytest.mark.parametrize("mime", ["image/png", "video/mp4", "application/zip"])
async def test_what_is_no_text_is_refused_before_it_is_read(mime):
    assert await code_for(reply(b"x", mime=mime, length=10_000_000)) == "page_not_text"


@pytest.mark.parametrize("mime", ["text/html", "text/plain", ""])
async def test_bytes_that_are_no_text_are_refused_whatever_they_are_called(mime):
    noise = bytes(range(256)) * 40

    assert await code_for(reply(noise, mime=mime)) == "page_not_text"


@pytest.mark.parametrize(
    "status", ["404 Not Found", "403 Forbidden", "410 Gone", "500 Oh", "503 X"]
)
async def test_an_error_of_the_server_is_no_page(status):
    assert await code_for(reply(ARTICLE, status=status)) == "page_unavailable"


async def test_a_server_that_is_not_there_is_unavailable():
    async with serving(lambda _: b"") as server:
        url = server.url

    assert await code_of(url) == "page_unavailable"


async def test_a_problem_names_the_page_it_is_about():
    async with serving(lambda _: reply("", status="404 Not Found")) as server:
        with pytest.raises(Problem) as problem:
            await fetch_page(f"{server.url}/page?token=1", allow_private=True)

    assert problem.value.where == f"{server.url}/page"
    assert problem.value.what == "the server answers 404"


@pytest.mark.parametrize("body", ["", "   ", "<html></html>", "<div id='root'></div>", "<p>ok</p>"])
async def test_a_page_without_text_is_empty(body):
    assert await code_for(reply(body)) == "page_empty"


async def test_a_page_that_leads_on_five_times_is_read_and_one_more_is_too_many():
    def answer(asked):
        left = int(asked.target.strip("/"))
        return moved(f"/{left - 1}") if left else reply(ARTICLE)

    async with serving(answer) as server:
        page = await fetch_page(f"{server.url}/5", allow_private=True)
        code = await code_of(f"{server.url}/6")

    assert page["title"] == "Why bees dance"
    assert code == "url_redirects"


@pytest.mark.parametrize("status", ["301 M", "302 M", "303 M", "307 M", "308 M"])
async def test_every_kind_of_redirect_is_followed(status):
    def answer(asked):
        return moved("there", status) if asked.target == "/here" else reply(ARTICLE)

    async with serving(answer) as server:
        page = await fetch_page(f"{server.url}/here", allow_private=True)

    assert page["url"] == f"{server.url}/there"


@pytest.mark.parametrize(
    "tag",
    [
        '<meta http-equiv="refresh" content="0; url=/new">',
        "<META content='1;URL=/new' HTTP-EQUIV=Refresh>",
        """<meta http-equiv="refresh" content="0; url='/new'" />""",
    ],
)
async def test_a_page_that_only_leads_on_is_followed(tag):
    old = f"<html><head>{tag}</head><body>Redirecting to the new page, please wait.</body></html>"
    async with serving(lambda asked: reply(old if asked.target == "/old" else ARTICLE)) as server:
        page = await fetch_page(f"{server.url}/old", allow_private=True)

        assert page["url"] == f"{server.url}/new"
        assert "waggle run" in page["text"]


@pytest.mark.parametrize(
    "tag",
    [
        '<noscript><meta http-equiv="refresh" content="0; url=/new"></noscript>',
        '<meta http-equiv="refresh" content="300; url=/new">',
        '<meta http-equiv="refresh" content="0; url=#top">',
    ],
)
async def test_a_page_that_leads_on_later_or_without_scripts_is_read_itself(tag):
    body = f"<html><head>{tag}</head><body><p>The round dance means food is near.</p></body></html>"
    async with serving(lambda _: reply(body)) as server:
        page = await fetch_page(f"{server.url}/old", allow_private=True)

        assert page["url"] == f"{server.url}/old"
        assert "round dance" in page["text"]


async def test_pages_that_lead_on_to_each_other_are_too_many():
    def answer(asked):
        other = "/b" if asked.target == "/a" else "/a"
        return reply(f'<meta http-equiv="refresh" content="0; url={other}">Wait for the other page')

    async with serving(answer) as server:
        assert await code_of(f"{server.url}/a") == "url_redirects"


RUSSIAN = "Порт города открывается на рассвете, и ворота его зелёные. " * 3


@pytest.mark.parametrize(
    ("mime", "declared", "codec", "text"),
    [
        ("text/html; charset=iso-8859-1", "windows-1251", "cp1251", RUSSIAN),
        (
            "text/html; charset=ISO-8859-1",
            "Shift_JIS",
            "shift_jis",
            "港の門は緑色で、夜明けに。" * 5,
        ),
        ("text/html", "undefined", "latin-1", "A café at the harbour, déjà vu. " * 5),
        ("text/html; charset=iso-8859-1", "iso-8859-1", "latin-1", "A café at the harbour. " * 5),
    ],
)
async def test_what_a_page_says_of_its_letters_counts_more_than_a_server_s_habit(
    mime, declared, codec, text
):
    head = f'<html><head><meta charset="{declared}"><title>Port</title></head>'
    body = f"{head}<body><article><p>{text}</p></article></body></html>".encode(codec)
    async with serving(lambda _: reply(body, mime=mime)) as server:
        page = await fetch_page(server.url, allow_private=True)

        assert page["text"].startswith(text[:20])


async def test_the_title_of_a_picture_is_not_that_of_the_page():
    body = "<body><svg><title>Menu</title></svg><p>The round dance means food is near.</p></body>"
    async with serving(lambda _: reply(body)) as server:
        page = await fetch_page(server.url, allow_private=True)

        assert page["title"] == ""


async def test_a_page_without_a_title_is_called_by_the_address_that_was_asked_for():
    def answer(asked):
        words = "Bees dance in the sun at noon, and the others follow them to the flowers. " * 5
        return moved("there") if asked.target == "/here" else reply(words, mime="text/plain")

    async with serving(answer) as server:
        page = await fetch_page(f"{server.url}/here", allow_private=True)

    assert page["sized"][0]["title"] == f"{server.url}/here"


async def test_cookies_of_a_redirect_are_sent_to_where_it_leads():
    def answer(asked):
        if "seen=1" in asked.headers.get("cookie", ""):
            return reply(ARTICLE)
        return reply("", "location: /page", "set-cookie: seen=1", status="302 Found")

    async with serving(answer) as server:
        page = await fetch_page(f"{server.url}/page", allow_private=True)

    assert page["title"] == "Why bees dance"


@pytest.mark.parametrize("mime", ["text/html", "text/plain", "", "application/octet-stream"])
async def test_a_page_that_is_too_large_is_refused_whatever_it_is_called(mime):
    small = FetchLimits(page=500)

    assert await code_for(reply(ARTICLE, mime=mime), small) == "url_too_large"


async def test_a_pdf_may_be_larger_than_a_page():
    async with serving(lambda _: reply(PDF, mime="application/pdf")) as server:
        page = await fetch_page(server.url, FetchLimits(page=100), allow_private=True)

    assert "comb" in page["text"]


async def test_a_problem_tells_the_address_without_password_query_and_control_signs():
    with pytest.raises(Problem) as problem:
        await fetch_page("http://ada:hunter2@example.com/a\x1b[31m?token=s3cret#x")

    assert problem.value.where == "http://example.com/a[31m"
    assert "hunter2" not in str(problem.value)
    assert "s3cret" not in str(problem.value)


@pytest.mark.parametrize(
    "url", ["", "bees", "http://", "http://[::1", "http://a\x00b/", "http://\ud800/", "ftp://a.b/c"]
)
async def test_what_is_no_web_address_is_told_as_such(url):
    assert await code_of(url) == "url_scheme"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTPS://Example.COM:443/Bees/#dance", "https://example.com/Bees"),
        ("http://example.com:80", "http://example.com"),
        ("http://example.com:8080/", "http://example.com:8080"),
        ("https://example.com/a?utm_source=x&id=7&UTM_medium=y", "https://example.com/a?id=7"),
        ("https://example.com/?fbclid=1&gclid=2&spm=3", "https://example.com"),
        ("https://example.com/a?q=b%20c&empty=", "https://example.com/a?q=b%20c&empty="),
        ("https://en.m.wikipedia.org/wiki/Bee", "https://en.m.wikipedia.org/wiki/Bee"),
        ("http://dx.doi.org/10.1000/XyZ", "https://doi.org/10.1000/xyz"),
        ("https://doi.org/10.1000/182#s1", "https://doi.org/10.1000/182"),
        ("http://www.arxiv.org/pdf/2401.01234v2.pdf", "https://arxiv.org/pdf/2401.01234v2"),
        ("https://export.arxiv.org/abs/hep-th/9901001", "https://arxiv.org/abs/hep-th/9901001"),
        ("not an address", "not an address"),
        ("http://[::1", "http://[::1"),
    ],
)
async def test_an_address_has_one_canonical_form(url, expected):
    assert canonicalise_url(url) == expected
    assert canonicalise_url(expected) == expected


CLIENTS = ("httpx", "httpcore", "requests", "aiohttp", "urllib3", "urllib.request", "http.client")
MAY = (
    "tools/web/fetch.py",
    "tools/web/download.py",
    "tools/web/transport.py",
    "tools/web/robots.py",
    "tools/web/site_rules.py",
    "tools/web/script_pages.py",
    "tools/web/browser_reader.py",
    "tools/web/providers/provider_requests.py",
    "tools/web/federated_search.py",
    # What a person or an operator has named: knowledge bases, and servers of MCP.
    "tools/knowledge/bucket.py",
    "tools/knowledge/json_requests.py",
    "tools/mcp/connections.py",
    "tools/mcp/http_transport.py",
    # The keys of an operator's logins; a webhook, through the transport that refuses private
    # addresses; the server that serves the console, which asks itself.
    "app/auth/jwt_login.py",
    "app/watching/webhook.py",
    "app/web/server_client.py",
    "app/web/live_runs.py",
    "app/web/console_route.py",
)
# Three name httpx for the timeouts and the errors of the clients of models and of Chroma; one asks
# the model server what it offers, and the others are or ask servers on loopback that they have
# started.
KNOWN = (
    "models/chat_models.py",
    "models/embeddings.py",
    "library/chroma.py",
    "evals/world.py",
    "benchmarks/ssrf.py",
    "benchmarks/api_latency.py",
    "deploy/run_local.py",
)


async def test_no_other_module_imports_a_client_for_the_web():
    ours = [one for one in sorted(ROOT.glob("[a-z]*/")) if one.name not in ("tests", "examples")]
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (file for folder in ours for file in folder.rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith((*MAY, *KNOWN))
        for name in _imported(path)
        if name in CLIENTS or name.startswith(tuple(f"{client}." for client in CLIENTS))
    ]

    assert found == []


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    # To parse a file takes a hundred times as long as to look for the names in it.
    if not any(part in path.read_text("utf-8") for part in {one.split(".")[0] for one in CLIENTS}):
        return names
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names
