"""Send a notice by email, as plain text and as HTML."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Mapping
from contextlib import suppress
from email.message import EmailMessage
from email.utils import formatdate
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from app.watching.notice_text import render_notice, render_notice_html, render_subject
from config.errors import ErrorCode, Problem
from config.settings import settings
from text.secret_masking import mask_secrets
from tools.web.transport import is_private_host

TIMEOUT_SECONDS = 30.0
"""How long a mail server may take for each of its answers."""

PORTS = {"smtp": 587, "smtps": 465}
"""The default port of each scheme."""


LONGEST_ANSWER = 200
"""The most characters of an answer of a mail server that are told."""


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
        what = f"the mail server did not take the mail: {_describe_error(error)}"
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
    message.add_alternative(render_notice_html(notice), subtype="html")
    return message


def _send(server: SplitResult, message: EmailMessage) -> None:
    client = _connect(server)
    try:
        host = str(server.hostname)
        # A relay in the private network may lack a certificate; the mail is not yet public there.
        if server.scheme == "smtp" and (not is_private_host(host) or _offers_tls(client)):
            client.starttls(context=ssl.create_default_context())
        if server.username:
            client.login(unquote(server.username), unquote(server.password or ""))
        client.send_message(message)
    except BaseException:
        client.close()
        raise
    # The mail is taken: whatever becomes of the goodbye, it must not be sent again.
    with suppress(OSError, smtplib.SMTPException):
        client.quit()
    client.close()


def _connect(server: SplitResult) -> smtplib.SMTP:
    host, port = str(server.hostname), server.port or PORTS[server.scheme]
    if server.scheme == "smtps":
        secure = ssl.create_default_context()
        return smtplib.SMTP_SSL(host, port, timeout=TIMEOUT_SECONDS, context=secure)
    return smtplib.SMTP(host, port, timeout=TIMEOUT_SECONDS)


def _offers_tls(client: smtplib.SMTP) -> bool:
    client.ehlo_or_helo_if_needed()
    return client.has_extn("starttls")


def _describe_error(error: Exception) -> str:
    """Return in words what a mail server said or did; no address or password is in it."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, said = next(iter(error.recipients.values()))
        return _quote_answer(code, said)
    if isinstance(error, smtplib.SMTPResponseException):
        return _quote_answer(error.smtp_code, error.smtp_error)
    # smtplib says that the server has gone where it was only silent for too long.
    if isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError):
        return f"it did not answer within {TIMEOUT_SECONDS:.0f} seconds"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return "it closed the connection"
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return str(error)
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else "it failed"


def _quote_answer(code: int, said: bytes | str) -> str:
    words = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    line = mask_secrets(" ".join(words.split())[:LONGEST_ANSWER]).text
    return f"it said {code} {line}"
