"""Send a notice by email, as plain text and as HTML."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from email.utils import formatdate
from html import escape
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from app.watching.news import (
    NOTICE_GROUPS,
    list_notice_groups,
    render_notice,
    render_subject,
)
from config.errors import ErrorCode, Problem
from config.settings import settings
from tools.web.transport import is_private_host

TIMEOUT_SECONDS = 30.0
"""How long a mail server may take for each of its answers."""

PORTS = {"smtp": 587, "smtps": 465}
"""The default port of each scheme."""


async def mail_notice(address: str, id: str, notice: Mapping[str, Any]) -> None:
    """Send a notice; a repetition has the same Message-ID.

    Raises:
        Problem: `notice_failed`.
    """
    server = urlsplit(settings().smtp_url)
    if server.scheme not in PORTS or not server.hostname:
        what, hint = "no mail server is set", "set DOSSIER_SMTP_URL and DOSSIER_SMTP_FROM"
        raise Problem(ErrorCode.NOTICE_FAILED, what, hint=hint)
    message = compose_mail(address, id, dict(notice))
    try:
        await asyncio.to_thread(_send, server, message)
    except (OSError, smtplib.SMTPException) as error:
        what = f"the mail cannot be sent: {type(error).__name__}"
        raise Problem(ErrorCode.NOTICE_FAILED, what, where=server.hostname) from error


def compose_mail(address: str, id: str, notice: dict[str, Any]) -> EmailMessage:
    """Return a notice as a mail."""
    sender = settings().smtp_from
    message = EmailMessage()
    message["From"], message["To"] = sender, address
    message["Subject"] = " ".join(render_subject(notice).split())
    message["Date"] = formatdate()
    message["Message-ID"] = f"<{id}@{sender.rpartition('@')[2].rstrip('>') or 'dossier'}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(render_notice(notice))
    message.add_alternative(_render_html(notice), subtype="html")
    return message


def _render_html(notice: dict[str, Any]) -> str:
    groups = list_notice_groups(notice)
    head = render_notice({**notice, **dict.fromkeys(NOTICE_GROUPS, ())}).strip().split("\n")
    parts = [f"<h2>{escape(head[0])}</h2>", *(f"<p>{escape(line)}</p>" for line in head[1:])]
    for heading, lines in groups:
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        parts.append(f"<h3>{escape(heading)}</h3><ul>{items}</ul>")
    return f"<html><body>{''.join(parts)}</body></html>"


def _send(server: SplitResult, message: EmailMessage) -> None:
    host = str(server.hostname)
    port = server.port or PORTS[server.scheme]
    secure = ssl.create_default_context()
    if server.scheme == "smtps":
        client: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=TIMEOUT_SECONDS, context=secure)
    else:
        client = smtplib.SMTP(host, port, timeout=TIMEOUT_SECONDS)
    with client:
        # A relay in the private network may lack a certificate; the mail is not yet public there.
        if server.scheme == "smtp" and not (is_private_host(host) and not _offers_tls(client)):
            client.starttls(context=secure)
        if server.username:
            client.login(unquote(server.username), unquote(server.password or ""))
        client.send_message(message)


def _offers_tls(client: smtplib.SMTP) -> bool:
    client.ehlo_or_helo_if_needed()
    return client.has_extn("starttls")
