"""Read letters that were saved from a mail program, as EML or as Outlook's MSG."""

from __future__ import annotations

import io
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import format_datetime

from oxmsg import Message

from tools.files.lines import by_lines
from tools.files.markup import blocks, parse
from tools.files.outline import one_line, written
from tools.files.shapes import Document, File

_HEADERS = ("From", "To", "Cc", "Date")


def read(file: File) -> Document:
    """Read who wrote when to whom, and what; attachments are named and not read."""
    return _outlook(file) if file.suffix == ".msg" else _internet(file)


def _internet(file: File) -> Document:
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


def _outlook(file: File) -> Document:
    letter = Message.load(io.BytesIO(file.data))
    date = format_datetime(letter.sent_date) if letter.sent_date else ""
    to = ", ".join(f"{one.name} <{one.email_address}>" for one in letter.recipients)
    headers = {"From": letter.sender or "", "To": to, "Date": date}
    body = letter.body or _from_html(letter.html_body or "")
    names = [one.file_name or "" for one in letter.attachments]
    return _letter(letter.subject, headers, body, names)


def _from_html(text: str) -> str:
    return "".join(map(written, blocks(parse(text)))) if text.strip() else ""


def _letter(subject: str, headers: dict[str, str], body: str, attached: list[str]) -> Document:
    lines = "".join(_told(headers, attached))
    text = f"# {one_line(subject)}\n\n" if subject.strip() else ""
    return Document(
        title=one_line(subject), sections=by_lines(f"{text}{lines}\n{body}", prose=True)
    )


def _told(headers: dict[str, str], attached: list[str]) -> Iterator[str]:
    yield from (f"{name}: {one_line(said)}.\n" for name, said in headers.items() if said.strip())
    names = "; ".join(filter(None, map(one_line, attached)))
    if names:
        yield f"Attached, and not read: {names}.\n"
