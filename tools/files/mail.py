"""Read letters that were saved from a mail program, as EML or as Outlook's MSG."""

from __future__ import annotations

import io
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import format_datetime

from oxmsg import Message

from tools.files.formats import FileContent
from tools.files.html import iterate_html_blocks, parse_html
from tools.files.parsed_document import ParsedDocument, render_text_block, unwrap_line
from tools.files.text_files import make_line_sections

_HEADERS = ("From", "To", "Cc", "Date")


def read_mail(file: FileContent) -> ParsedDocument:
    """Read who wrote when to whom, and what; attachments are named and not read."""
    return _outlook(file) if file.suffix == ".msg" else _internet(file)


def _internet(file: FileContent) -> ParsedDocument:
    letter = message_from_bytes(file.data, policy=policy.default)
    headers = {name: str(letter.get(name, "")) for name in _HEADERS}
    names = [part.get_filename() or "" for part in letter.iter_attachments()]
    return _letter(str(letter.get("Subject", "")), headers, _body(letter), names)


def _body(letter: EmailMessage) -> str:
    body = letter.get_body(("plain", "html"))
    if body is None:
        return ""
    text = str(body.get_content())
    return _from_html(text) if body.get_content_type() == "text/html" else text


def _outlook(file: FileContent) -> ParsedDocument:
    letter = Message.load(io.BytesIO(file.data))
    date = format_datetime(letter.sent_date) if letter.sent_date else ""
    to = ", ".join(f"{one.name} <{one.email_address}>" for one in letter.recipients)
    headers = {"From": letter.sender or "", "To": to, "Date": date}
    body = letter.body or _from_html(letter.html_body or "")
    names = [one.file_name or "" for one in letter.attachments]
    return _letter(letter.subject, headers, body, names)


def _from_html(text: str) -> str:
    return (
        "".join(map(render_text_block, iterate_html_blocks(parse_html(text))))
        if text.strip()
        else ""
    )


def _letter(
    subject: str, headers: dict[str, str], body: str, attached: list[str]
) -> ParsedDocument:
    lines = "".join(_told(headers, attached))
    text = f"# {unwrap_line(subject)}\n\n" if subject.strip() else ""
    return ParsedDocument(
        title=unwrap_line(subject),
        sections=make_line_sections(f"{text}{lines}\n{body}", prose=True),
    )


def _told(headers: dict[str, str], attached: list[str]) -> Iterator[str]:
    yield from (f"{name}: {unwrap_line(said)}.\n" for name, said in headers.items() if said.strip())
    names = "; ".join(filter(None, map(unwrap_line, attached)))
    if names:
        yield f"Attached, and not read: {names}.\n"
