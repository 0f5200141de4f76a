"""No key of the environment is told or kept, in whatever form it comes back."""

from __future__ import annotations

import base64
import json
import re
import traceback
from urllib.parse import quote

import pytest

from config import key_masking
from config.errors import ErrorCode, Problem
from config.key_masking import mask_error, mask_keys
from config.resources import replace_resources
from models.faults import to_model_problem

KEY = 'tvly/dev+"secret"=0123456789abcdef'


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    monkeypatch.setenv("HONEY_TOKEN", "honey-badger")


@pytest.mark.parametrize(
    "form",
    [KEY, json.dumps(KEY), quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()],
    ids=["plain", "json", "address", "base64"],
)
def test_a_key_is_told_in_no_form(form: str):
    shown = str(
        Problem(ErrorCode.USAGE, f"no {form}.", where=f"at {form}", hint=f"mend {form} {form}")
    )

    assert form.strip('"') not in shown
    assert shown.count("[key removed]") == 4


def test_a_key_that_is_cut_off_is_removed_as_far_as_it_goes():
    assert mask_keys(f"refused: {KEY[:20]}") == "refused: [key removed]"
    assert mask_keys(f"{KEY[:20]}… is wrong") == "[key removed]… is wrong"


def test_a_short_key_that_is_no_word_is_removed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-12")

    assert mask_keys("no sk-12 here") == "no [key removed] here"


def test_words_that_are_no_key_stay():
    said = "tvly/dev is EMPTY, a badger eats honey, and key is no key"

    assert mask_keys(said) == said


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://bob:hun@ter2@host/x",
        "postgresql://bob@host/x?sslmode=require&password=hunter2",
        "postgresql://bob@host/x?sslpassword=hunter2",
        "https://host/search?api_key=hunter2&q=bees",
        "https://host/search?q=bees&access-token=hunter2",
        "https://host/search?sig=hunter2&auth=hunter2&signature=hunter2",
    ],
)
def test_a_password_anywhere_in_an_address_is_removed(address: str):
    told = mask_keys(f"no answer ({address}) - is it up?")

    assert "hunter2" not in told
    assert "ter2" not in told
    assert told.startswith("no answer (")
    assert told.endswith(") - is it up?")
    assert "host" in told


def test_a_password_in_an_address_is_removed():
    assert mask_keys("http://me:pass@there/v1?at=me@x") == "http://me:***@there/v1?at=me@x"
    assert mask_keys("postgresql://me@there/x") == "postgresql://me@there/x"


PASSWORDS = ["Win@ter/77", "a/b#c?d99", "x:y@z@9a", "12/34", "p%40ss@w0rd", "sömmer@5"]


@pytest.mark.parametrize("scheme", ["postgresql://", "http://", "https//", "http:/", "//", ""])
@pytest.mark.parametrize("password", PASSWORDS)
def test_an_address_of_the_environment_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, scheme: str, password: str
):
    address = f"{scheme}ann:{password}@db.test:5432/x"
    monkeypatch.setenv("DOSSIER_DATABASE_URL", address)
    rest = password.rpartition("@")[2][-3:]

    told = mask_keys(f"no host {rest + '@db.test'!r} in {address}, {address!r}")

    assert not [part for part in re.split(r"[@/]", password) if len(part) > 3 and part in told]
    assert f"{rest}@" not in told
    assert told.startswith("no host '***@db.test' in ")
    assert told.endswith("db.test:5432/x'")


def test_a_port_and_a_path_are_no_login(monkeypatch: pytest.MonkeyPatch):
    for address in ("http://searx.test:8080/@ann", "sqlite:///data/a:b@c.db"):
        monkeypatch.setenv("SEARXNG_URL", address)

        assert mask_keys(f"{address}: no mail of ann@b.test") == f"{address}: no mail of ann@b.test"


def test_a_key_of_plain_words_stays_in_what_a_model_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "lm-studio")

    assert mask_keys("lm-studio runs models", plain_words=False) == "lm-studio runs models"
    assert mask_keys(f"It is {KEY}.", plain_words=False) == "It is [key removed]."


def test_what_led_to_an_error_says_no_key_either():
    cause = OSError(5, f"Illegal header value b'Bearer {KEY}'")
    error = ValueError(f"Error code: 404 - Bearer {KEY}")
    error.__cause__ = cause
    cause.__context__ = error

    problem = to_model_problem(error)

    assert KEY not in "".join(traceback.format_exception(error)) + str(problem)
    assert cause.args[0] == 5


def test_an_error_that_says_no_key_stays_as_it_is():
    error = KeyError(("a", 1))

    mask_error(error)
    mask_error(None)

    assert error.args == (("a", 1),)


def test_no_form_of_a_key_is_remembered_after_the_resources_are_closed(
    monkeypatch: pytest.MonkeyPatch,
):
    mask_keys("a text")
    quoted: list[str] = []
    monkeypatch.setattr(key_masking, "quote", lambda key, safe: quoted.append(key) or key)

    mask_keys("a text")
    assert not quoted
    replace_resources().close()
    mask_keys("a text")
    assert KEY in quoted
