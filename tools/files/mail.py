"""Read e-mails that were saved as EML or as Outlook's MSG."""

from __future__ import annotations

import io
from email import message_from_bytes, policy
from email.utils import format_datetime, parseaddr

from oxmsg import Message

from text.dates import to_iso_timestamp
from tools.files.formats import FileContent
from tools.files.html import iterate_html_blocks, parse_html
from tools.files.parsed_document import (
    ParsedDocument,
    declare_metadata,
    render_text_blocks,
    unwrap_line,
)
from tools.files.text_files import make_line_sections

_HEADERS = ("From", "To", "Cc", "Date")


def read_mail(file: FileContent) -> ParsedDocument:
    """Read headers and body; attachments are named and not read."""
    return _read_msg(file) if file.suffix == ".msg" else _read_eml(file)


def _read_eml(file: FileContent) -> ParsedDocument:
    mail = message_from_bytes(file.data, policy=policy.default)
    headers = {name: str(mail.get(name, "")) for name in _HEADERS}
    body = mail.get_body(("plain", "html"))
    text = str(body.get_content()) if body else ""
    if body and body.get_content_type() == "text/html":
        text = _from_html(text)
    names = [part.get_filename() or "" for part in mail.iter_attachments()]
    return _make_mail(str(mail.get("Subject", "")), headers, text, names)


def _read_msg(file: FileContent) -> ParsedDocument:
    mail = Message.load(io.BytesIO(file.data))
    date = format_datetime(mail.sent_date) if mail.sent_date else ""
    to = ", ".join(f"{one.name} <{one.email_address}>" for one in mail.recipients)
    headers = {"From": mail.sender or "", "To": to, "Date": date}
    names = [one.file_name or "" for one in mail.attachments]
    return _make_mail(mail.subject, headers, mail.body or _from_html(mail.html_body or ""), names)


def _from_html(text: str) -> str:
    return render_text_blocks(iterate_html_blocks(parse_html(text))) if text.strip() else ""


def _make_mail(
    subject: str, headers: dict[str, str], body: str, attachments: list[str]
) -> ParsedDocument:
    title = unwrap_line(subject)
    lines = [f"{name}: {unwrap_line(text)}." for name, text in headers.items() if text.strip()]
    if names := "; ".join(filter(None, map(unwrap_line, attachments))):
        lines.append(f"Attached, and not read: {names}.")
    text = "".join([f"# {title}\n\n" if title else "", *(f"{line}\n" for line in lines)])
    made = ParsedDocument(title=title, sections=make_line_sections(f"{text}\n{body}", prose=True))
    sender = parseaddr(headers["From"])[0]
    return declare_metadata(made, author=sender, published=to_iso_timestamp(headers["Date"]))
