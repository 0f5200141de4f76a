"""Tokens of an issuer, by real keys and a real server of keys; what is wrong with one is found."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from app.auth.jwt_login import JwtLogin
from app.auth.login import get_login
from app.auth.user import User
from config.errors import Problem
from tests.loopback import Asked, Loopback, serving
from tests.places import new_process

ISSUER = "https://login.example.org"
KEYS = {
    "first": rsa.generate_private_key(65537, 2048),
    "second": ec.generate_private_key(ec.SECP256R1()),
    "third": ed25519.Ed25519PrivateKey.generate(),
    "stranger": rsa.generate_private_key(65537, 2048),
}
ALGORITHMS = {"first": "RS256", "second": "ES256", "third": "EdDSA", "stranger": "RS256"}


def public(name: str) -> dict[str, Any]:
    algorithm = jwt.get_algorithm_by_name(ALGORITHMS[name])
    made: Any = algorithm
    return {**json.loads(made.to_jwk(KEYS[name].public_key())), "kid": name, "use": "sig"}


class Issuer:
    """What an issuer publishes, which may change or be down."""

    def __init__(self) -> None:
        self.published: list[str] = ["first", "second"]
        self.down = False
        self.more: list[dict[str, Any]] = []

    def answer(self, asked: Asked) -> bytes:
        del asked
        if self.down:
            return b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"
        body = json.dumps({"keys": [*map(public, self.published), *self.more]}).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        return f"{head}\r\n\r\n".encode() + body


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
async def keys(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Loopback]:
    async with serving(issuer.answer) as loopback:
        named = {
            "DOSSIER_AUTH": "jwt",
            "DOSSIER_JWT_ISSUER": ISSUER,
            "DOSSIER_JWT_AUDIENCE": "dossier, other",
            "DOSSIER_JWT_KEYS_URL": f"{loopback.url}/jwks.json",
            "DOSSIER_JWT_OPERATOR_ROLE": "dossier-operator",
        }
        for name, value in named.items():
            monkeypatch.setenv(name, value)
        new_process()
        yield loopback


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock for the keys that is put forward by hand."""
    passed = [0.0]
    now = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: now() + passed[0])
    return passed


def claims(**more: Any) -> dict[str, Any]:
    now = time.time()
    usual = {"iss": ISSUER, "aud": "dossier", "sub": "ada", "iat": now, "exp": now + 300}
    return {name: one for name, one in {**usual, **more}.items() if one is not None}


def signed(by: str = "first", kid: str | None = "", **more: Any) -> dict[str, str]:
    """Return the headers of a request with a token."""
    named = {} if kid is None else {"kid": kid or by}
    key: Any = KEYS[by]
    return bearer(jwt.encode(claims(**more), key, ALGORITHMS[by], headers=named))


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def refused(login: JwtLogin, headers: dict[str, str]) -> str:
    with pytest.raises(Problem) as told:
        await login.identify(headers)
    return told.value.code


@pytest.mark.parametrize("by", ["first", "second"])
async def test_a_token_of_the_issuer_names_the_user(keys: Loopback, by: str):
    login = get_login()

    assert isinstance(login, JwtLogin)
    assert await login.identify(signed(by)) == User("ada")
    assert await login.identify(signed(by, aud=["x", "other"])) == User("ada")
    assert len(keys.asked) == 1


@pytest.mark.parametrize(
    ("roles", "operates"),
    [
        (["dossier-operator"], True),
        (["a", "dossier-operator"], True),
        ("a dossier-operator", True),
        (["dossier-operators"], False),
        ("dossier-operators", False),
        ({"dossier-operator": True}, False),
        (None, False),
        ([], False),
    ],
)
async def test_a_role_of_the_token_makes_an_operator(keys: Loopback, roles: Any, operates: bool):
    assert await JwtLogin().identify(signed(roles=roles)) == User("ada", operates)


async def test_claims_are_found_by_their_names_or_by_the_way_to_them(
    keys: Loopback, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_JWT_ROLE_CLAIM", "realm_access.roles")
    monkeypatch.setenv("DOSSIER_JWT_NAME_CLAIM", "https://example.org/name")
    new_process()
    more = {"realm_access": {"roles": ["dossier-operator"]}, "https://example.org/name": "eve"}

    assert await JwtLogin().identify(signed(**more)) == User("eve", is_operator=True)


async def test_nobody_is_an_operator_where_no_role_is_set(
    keys: Loopback, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("DOSSIER_JWT_OPERATOR_ROLE")
    new_process()

    assert await JwtLogin().identify(signed(roles=["", "operator"])) == User("ada")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"exp": time.time() - 60}, "token_expired"),
        ({"exp": None}, "token_wrong"),
        ({"exp": "never"}, "token_wrong"),
        ({"nbf": time.time() + 90_000}, "token_wrong"),
        ({"iat": time.time() + 90_000}, "token_wrong"),
        ({"aud": "someone"}, "token_wrong"),
        ({"aud": None}, "token_wrong"),
        ({"aud": []}, "token_wrong"),
        ({"iss": "https://login.example.org.evil.example"}, "token_wrong"),
        ({"iss": None}, "token_wrong"),
        ({"sub": None}, "token_wrong"),
        ({"sub": ""}, "token_wrong"),
        ({"sub": "local"}, "token_wrong"),
        ({"sub": "Local"}, "token_wrong"),
        ({"sub": "a" * 65}, "token_wrong"),
        ({"sub": "a\u200bda"}, "token_wrong"),
        ({"kid": "stranger"}, "token_wrong"),
        ({"kid": "../first"}, "token_wrong"),
        ({"kid": None}, "token_wrong"),
        ({"by": "stranger", "kid": "first"}, "token_wrong"),
        ({"by": "first", "kid": "second"}, "token_wrong"),
        ({"by": "third"}, "token_wrong"),
    ],
)
async def test_what_is_wrong_with_a_token_is_found(
    keys: Loopback, issuer: Issuer, more: dict[str, Any], code: str
):
    issuer.published.append("third")

    assert await refused(JwtLogin(), signed(**more)) == code


async def test_clocks_may_differ_a_little(keys: Loopback):
    assert await JwtLogin().identify(signed(exp=time.time() - 10, nbf=time.time() + 10))


def _part(data: Any) -> str:
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def made_up(header: dict[str, Any], signature: bytes = b"") -> str:
    return f"{_part(header)}.{_part(claims())}.{_part(signature)}"


async def test_no_token_without_a_signature_or_with_the_public_key_as_a_secret_is_accepted(
    keys: Loopback, issuer: Issuer
):
    secret = base64.urlsafe_b64encode(b"secret" * 8).decode()
    issuer.more.append({"kty": "oct", "k": secret, "kid": "shared", "alg": "HS256"})
    pem = (
        KEYS["first"]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    head = {"alg": "HS256", "typ": "JWT", "kid": "first"}
    signing = f"{_part(head)}.{_part(claims())}"
    confused = f"{signing}.{_part(hmac.new(pem, signing.encode(), hashlib.sha256).digest())}"
    shared = jwt.encode(claims(), b"secret" * 8, "HS256", headers={"kid": "shared"})
    own = {**head, "alg": "RS256", "jwk": public("stranger"), "jku": "http://127.0.0.1:9/"}
    login = JwtLogin()

    for token in (
        confused,
        shared,
        made_up({"alg": "none", "kid": "first"}),
        made_up({"alg": "None"}),
        made_up({"alg": "RS256", "kid": "first"}),
        f"{_part(b'[' * 6_000)}.{_part(claims())}.{_part(b'')}",
        made_up({"kid": "first"}),
        made_up({"alg": ["RS256"], "kid": "first"}),
        made_up({"alg": "RS256", "kid": {"first": 1}}),
        made_up(own, b"x" * 256),
        "a.b.c",
        "..",
        "dsr_00000000_x",
        signed()["authorization"].removeprefix("Bearer ")[:-4] + "AAAA",
    ):
        assert await refused(login, bearer(token)) == "token_wrong", token


async def test_a_new_key_is_fetched_when_a_token_names_it_and_made_up_ones_cause_nothing(
    keys: Loopback, issuer: Issuer, patient: list[float]
):
    login = JwtLogin()
    assert await login.identify(signed())
    issuer.published = ["stranger"]
    assert await refused(login, signed("stranger")) == "token_wrong"
    assert len(keys.asked) == 1

    patient[0] += 11
    assert await login.identify(signed("stranger")) == User("ada")
    assert await refused(login, signed("first")) == "token_wrong"
    for made in range(20):
        assert await refused(login, signed(kid=f"made-up-{made}")) == "token_wrong"
    assert len(keys.asked) == 2


async def test_known_keys_serve_for_a_day_while_the_issuer_is_down(
    keys: Loopback, issuer: Issuer, patient: list[float]
):
    login = JwtLogin()
    assert await login.identify(signed())
    issuer.down = True

    patient[0] += 4_000
    assert await login.identify(signed()) == User("ada")
    patient[0] += 90_000
    assert await refused(login, signed()) == "login_unavailable"
    issuer.down = False
    patient[0] += 11
    assert await login.identify(signed()) == User("ada")


async def test_without_any_keys_nobody_can_tell(keys: Loopback, issuer: Issuer):
    issuer.down = True
    login = JwtLogin()

    assert await refused(login, signed()) == "login_unavailable"
    assert await refused(login, signed()) == "login_unavailable"
    assert len(keys.asked) == 1


async def test_the_only_key_serves_a_token_that_names_none(keys: Loopback, issuer: Issuer):
    issuer.published = ["first"]

    assert await JwtLogin().identify(signed(kid=None)) == User("ada")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DOSSIER_JWT_ISSUER", ""),
        ("DOSSIER_JWT_AUDIENCE", ""),
        ("DOSSIER_JWT_KEYS_URL", ""),
        ("DOSSIER_JWT_KEYS_URL", "http://login.example.org/jwks.json"),
        ("DOSSIER_JWT_KEYS_URL", "file:///etc/passwd"),
        ("DOSSIER_JWT_ALGORITHMS", "RS256,HS256"),
        ("DOSSIER_JWT_ALGORITHMS", "none"),
    ],
)
async def test_a_login_that_would_be_unsafe_is_not_made(
    keys: Loopback, monkeypatch: pytest.MonkeyPatch, name: str, value: str
):
    monkeypatch.setenv(name, value)
    new_process()

    with pytest.raises(Problem) as told:
        JwtLogin()
    assert (told.value.code, told.value.where) == ("config_value", name)
