"""Notices of watches: signed requests and mails, to those whom a watch may reach."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from app.watching.delivery import check_receiver
from app.watching.mailed_notices import mail_notice
from app.watching.notice_text import render_notice
from app.watching.webhook import post_notice
from config.errors import Problem
from tests.loopback import serving
from tests.places import new_process

NOTICE: dict[str, Any] = {
    "watch": "mites",
    "question": "What is new on mites?",
    "run": "watch-1-2",
    "run_status": "succeeded",
    "report": "/reports/watch-1-2",
    "cost": 0.25,
    "tokens": 1200,
    "title": "Mites <today>",
    "language": "en",
    "status": "news",
    "added": ["Mites like drones."],
    "changed": [{"before": "There are 2.", "after": "There are 3."}],
    "removed": [],
    "sources_gained": [{"title": "Mites", "location": "https://example.org"}],
    "sources_lost": [],
}

DONE = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


def use(monkeypatch: pytest.MonkeyPatch, **named: str) -> None:
    """Have settings, from now on."""
    for name, value in named.items():
        monkeypatch.setenv(f"DOSSIER_{name.upper()}", value)
    new_process()


async def test_a_webhook_is_sent_json_that_its_receiver_can_verify(monkeypatch: pytest.MonkeyPatch):
    use(monkeypatch, webhook_secret="whsec_MTIzNDU2Nzg5MDEy", private_webhooks="true")

    async with serving(lambda _: DONE) as server:
        await post_notice(f"{server.url}/hook", "id-1", NOTICE)

    (asked,) = server.asked
    assert (asked.method, asked.target) == ("POST", "/hook")
    assert json.loads(asked.body) == NOTICE
    assert asked.headers["webhook-id"] == "id-1"
    signed = f"id-1.{asked.headers['webhook-timestamp']}.".encode() + asked.body
    mac = base64.b64encode(hmac.new(b"123456789012", signed, hashlib.sha256).digest())
    assert asked.headers["webhook-signature"] == f"v1,{mac.decode()}"


async def test_a_webhook_at_a_private_address_is_refused_unless_it_is_allowed():
    async with serving(lambda _: DONE) as server:
        with pytest.raises(Problem) as refused:
            await post_notice(server.url, "id-1", NOTICE)

    assert refused.value.code == "url_blocked"
    assert server.asked == []


@pytest.mark.parametrize("answer", [b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", b"nonsense"])
async def test_a_webhook_that_does_not_take_it_has_not_been_told(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
):
    use(monkeypatch, private_webhooks="true")

    async with serving(lambda _: answer) as server:
        with pytest.raises(Problem) as failed:
            await post_notice(server.url, "id-1", NOTICE)

    assert failed.value.code == "notice_failed"
    assert len(server.asked) == 1


async def test_a_mail_without_a_server_is_a_problem_that_says_what_to_set():
    with pytest.raises(Problem) as failed:
        await mail_notice("me@example.org", "id-1", NOTICE)

    assert failed.value.code == "notice_failed"
    assert "DOSSIER_SMTP_URL" in failed.value.hint


def test_a_notice_is_in_the_language_of_its_report():
    told = render_notice({**NOTICE, "language": "zh"})

    assert told.startswith("有新内容：Mites <today>\n")
    assert "- 新增: Mites like drones.\n" in told


@pytest.mark.parametrize(
    "written",
    [
        *(
            "",
            "me@example.org",
            "mail:",
            "mail:me",
            "mail:a@b.org, c@d.org",
            "mail:a@b.org\nBcc: c",
        ),
        *("webhook:", "webhook:ftp://example.org", "webhook:example.org", "sms:123"),
    ],
)
def test_what_is_no_receiver_is_refused(written: str):
    with pytest.raises(Problem):
        check_receiver(written)


def test_receivers_are_kept_as_they_are_written():
    assert check_receiver(" mail:me@example.org ") == "mail:me@example.org"
    assert (
        check_receiver("webhook:https://example.org/x?y=1") == "webhook:https://example.org/x?y=1"
    )
