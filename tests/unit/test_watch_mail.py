"""Mails of watches, to servers that take them, refuse, hang, or want them later."""

from __future__ import annotations

import datetime
import socketserver
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.watching import mailed_notices
from app.watching.mailed_notices import mail_notice
from app.watching.notice_text import render_notice
from config.errors import Problem
from tests.unit.test_watch_notices import NOTICE, use

HANG = b""
"""The answer of a server that gives none."""


class MailServer(socketserver.ThreadingTCPServer):
    """A mail server on loopback that answers as it is told to, and what it was sent."""

    def __init__(
        self, answers: Mapping[str, bytes], tls: ssl.SSLContext | None, *, at_once: bool
    ) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.answers = answers
        self.tls = tls
        self.at_once = at_once
        self.port: int = self.server_address[1]
        self.said: list[str] = []
        self.mails: list[EmailMessage] = []
        self.was_secure: list[bool] = []
        self.ended = threading.Event()

    def answer(self, verb: str) -> bytes:
        """Return what is said to a command."""
        starts_tls = self.tls and not self.at_once
        offered = b"250-here\r\n250 STARTTLS\r\n" if starts_tls else b"250 here\r\n"
        usual = {"DATA": b"354 go on\r\n", "QUIT": b"221 bye\r\n", "STARTTLS": b"220 go\r\n"}
        usual["EHLO"] = offered
        return self.answers.get(verb, usual.get(verb, b"250 yes\r\n"))


class Conversation(socketserver.StreamRequestHandler):
    """What a mail server says to one client."""

    server: MailServer

    def handle(self) -> None:
        """Talk to a client until it goes."""
        with suppress(OSError):
            if self.server.at_once:
                self.secure()
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline().decode().strip():
                self.hear(line.upper().split()[0])
        self.connection.close()

    def hear(self, verb: str) -> None:
        """Answer a command."""
        self.server.said.append(verb)
        answer = self.server.answer(verb)
        if answer == HANG:
            self.server.ended.wait()
        self.wfile.write(answer)
        if verb == "STARTTLS":
            self.secure()
        elif answer.startswith(b"354"):
            self.take()

    def secure(self) -> None:
        """Go on with TLS."""
        assert self.server.tls
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.setup_files()

    def setup_files(self) -> None:
        """Read and write through the connection as it is now."""
        self.rfile.close()
        self.rfile = self.connection.makefile("rb")
        self.wfile = socketserver._SocketWriter(self.connection)  # type: ignore[attr-defined]

    def take(self) -> None:
        """Take a mail."""
        lines = list(iter(self.rfile.readline, b".\r\n"))
        mail = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.server.mails.append(mail)
        self.server.was_secure.append(isinstance(self.connection, ssl.SSLSocket))
        self.wfile.write(self.server.answers.get("mail", b"250 taken\r\n"))


@contextmanager
def mail_server(
    answers: Mapping[str, bytes] = {}, tls: ssl.SSLContext | None = None, *, at_once: bool = False
) -> Iterator[MailServer]:
    """Serve SMTP on loopback; with TLS from the first byte, or by STARTTLS, or without it."""
    with MailServer(answers, tls, at_once=at_once) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-made certificate of `localhost`, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "localhost.pem"
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, *form)
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    """What a server needs for TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


def use_server(monkeypatch: pytest.MonkeyPatch, port: int, scheme: str = "smtp") -> None:
    use(monkeypatch, smtp_url=f"{scheme}://localhost:{port}", smtp_from="D <d@example.org>")


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
async def test_a_mail_goes_through_tls_where_the_certificate_is_trusted(
    scheme: str, tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with mail_server(tls=tls, at_once=scheme == "smtps") as server:
        use_server(monkeypatch, server.port, scheme)
        await mail_notice("me@example.org", "id-1", NOTICE)

    assert server.was_secure == [True]
    assert server.mails[0]["Message-ID"] == "<id-1@example.org>"


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
async def test_nothing_is_sent_to_a_server_whose_certificate_nobody_vouches_for(
    scheme: str, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
):
    with mail_server(tls=tls, at_once=scheme == "smtps") as server:
        use_server(monkeypatch, server.port, scheme)
        with pytest.raises(Problem, match="certificate is not trusted"):
            await mail_notice("me@example.org", "id-1", NOTICE)

    assert server.mails == []
    assert "RCPT" not in server.said


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ({"RCPT": b"451 4.7.1 Greylisted, try again\r\n"}, "451 4.7.1 Greylisted, try again"),
        ({"RCPT": b"550 no such user\r\n"}, "550 no such user"),
        ({"MAIL": b"530 5.7.0 Log in first\r\n"}, "530 5.7.0 Log in first"),
        ({"DATA": b"452 no room\r\n"}, "452 no room"),
        ({"mail": b"554 spam\r\n"}, "554 spam"),
        ({"MAIL": HANG}, "did not answer within 0 seconds"),
    ],
)
async def test_what_a_server_says_against_a_mail_is_told(
    answers: dict[str, bytes], told: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mailed_notices, "TIMEOUT_SECONDS", 0.2)
    with mail_server(answers) as server:
        use_server(monkeypatch, server.port)
        with pytest.raises(Problem) as failed:
            await mail_notice("me@example.org", "id-1", NOTICE)

    assert failed.value.code == "notice_failed"
    assert told in str(failed.value)


@pytest.mark.parametrize("goodbye", [HANG, b"500 what?\r\n"])
async def test_a_mail_that_was_taken_has_been_sent_however_the_server_parts(
    goodbye: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mailed_notices, "TIMEOUT_SECONDS", 0.2)
    with mail_server({"QUIT": goodbye}) as server:
        use_server(monkeypatch, server.port)
        await mail_notice("me@example.org", "id-1", NOTICE)

    assert len(server.mails) == 1


async def test_a_mail_shows_the_difference_as_text_and_as_safe_html(
    monkeypatch: pytest.MonkeyPatch,
):
    notice = {
        **NOTICE,
        "sections": [
            {
                "title": "Numbers & <b>names</b>",
                "lines": [
                    {"change": "changed", "before": "There are 2.", "after": "There are 3."},
                    {"change": "added", "before": "", "after": "<img src=x onerror=alert(1)>"},
                    {"change": "removed", "before": "They sleep.", "after": ""},
                ],
            }
        ],
        "found": [
            {"title": "Odd", "location": "javascript:alert(1)", "cited": False},
            {"title": 'A "b"', "location": 'https://example.org/?a="><i>', "cited": False},
        ],
    }
    with mail_server() as server:
        use_server(monkeypatch, server.port)
        await mail_notice("me@example.org", "id-1", notice)

    plain, html = (server.mails[0].get_body((kind,)) for kind in ("plain", "html"))
    assert plain
    assert html
    said, page = plain.get_content().replace("\r\n", "\n"), html.get_content()
    assert said.strip() == render_notice(notice).strip()
    assert "- Changed: There are 2.\n  → There are 3.\n- New: <img" in said
    assert "- Odd (javascript:alert(1))\n" in said
    assert '<del style="' in page
    assert ">2</del><ins" in page
    assert ">3</ins>" in page
    assert "&lt;img src=x onerror=alert(1)&gt;</ins>" in page
    assert "Numbers &amp; &lt;b&gt;names&lt;/b&gt;" in page
    assert not any(one in page for one in ("<img", "<script", "<i>", 'href="javascript'))
    assert 'href="https://example.org/?a=&quot;&gt;&lt;i&gt;"' in page
