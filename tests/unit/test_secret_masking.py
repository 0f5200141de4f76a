"""What is a secret in a text, and what only looks like one."""

from __future__ import annotations

import time

import pytest

from tests.cases import each_case
from text import secret_masking
from text.secret_masking import has_secret, list_removed_kinds, mask_secrets, mask_secrets_within

KEY = "sk-" + "proj-a1B2c3D4e5F6g7H8i9J0"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
PEM = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    ("my password is hunter2", "hunter2"),
    ("My Wi-Fi password is swordfish, how do I change it?", "swordfish"),
    ("The root password for db01 is Tr0ub4dor&3. Is it strong?", "Tr0ub4dor&3"),
    ("I changed my password to opensesame9 yesterday", "opensesame9"),
    ("hunter2 is my password for GitHub", "hunter2"),
    ("log in as admin with password Winter2024!", "Winter2024"),
    ("password: swordfish", "swordfish"),
    ("user ann, password mango7tree", "mango7tree"),
    ('log in with passphrase "all my dogs bark"', "dogs"),
    ("my passphrase is correct horse battery staple and I live in Oslo", "horse battery"),
    ('our master password is "open the door"', "open the door"),
    ("My PIN is 4711.", "4711"),
    ("my card's pin code: 0815", "0815"),
    ("Ann's laptop password is Kitten-77", "Kitten-77"),
    ("PGPASSWORD=s3cr3tpw psql -h db", "s3cr3tpw"),
    ('{"user": "ann", "password": "buttercup"}', "buttercup"),
    ("api_key = 'zx81zx81zx81'", "zx81zx81zx81"),
    ("my api key is 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
    (f"call it with {KEY} please", KEY),
    ("ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2", "a1B2c3D4e5F6"),
    ("AKIA" + "IOSFODNN7EXAMPLE is what I use", "IOSFODNN7"),
    ("xoxb-" + "123456789012-abcdefGHIJKL", "abcdefGHIJKL"),
    ("AIza" + "SyA1234567890abcdefghijklmnopqrstuv", "SyA1234567890"),
    ("glpat-" + "x1y2z3x1y2z3x1y2z3x1", "x1y2z3"),
    (f"Cookie {JWT}", "dozjgNryP4J3jVmNHl0w5N"),
    ("curl -H 'Authorization: Bearer abcdef-uvwxyz'", "abcdef-uvwxyz"),
    ("the header is bearer 7c4a8d09ca3762af61e59520", "7c4a8d09ca3762af61e59520"),
    (f"read this:\n{PEM}\nis it valid?", "MIIEowIBAAKCAQEA"),
    ("connect to postgres://ann:Pa55w0rdX@db.example/app", "Pa55w0rdX"),
    ("mongodb+srv://root:toor99@cluster0.example.net", "toor99"),
    ("my card is 4111 1111 1111 1111, is that Visa?", "1111 1111"),
    ("card 5500-0055-5555-5559", "5555"),
    ("我的密码是hunter2，怎么改？", "hunter2"),
    ("我的邮箱密码是芝麻开门", "芝麻开门"),
    ("把密碼改成abc12345了", "abc12345"),
    ("PIN码是4711", "4711"),
    ("口令：tianwang盖地虎9", "tianwang"),
]

HARMLESS = [
    "What is the password policy of Debian?",
    "The key is to keep the queue short.",
    "Is the password hashed before it is stored?",
    "the password is stored in /etc/shadow",
    "The default password of the Raspberry Pi was raspberry.",
    "My password is too short",
    "my password is expired, how do I reset it?",
    "A passphrase is a sequence of words.",
    "password: required",
    "token: string",
    "Why does max_tokens=4096 fail?",
    "password = getpass.getpass()",
    "password=${DB_PASSWORD}",
    "password: <your password>",
    "my password is [password removed]",
    "postgres://user:password@localhost/db",
    "The PIN is 4 digits long.",
    "What is a token: a word or a part of one?",
    "Which is better, password SHA256 hashing or bcrypt?",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "Who owns 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa?",
    "ISBN 978-3-16-148410-0 and DOI 10.1000/182",
    "order 1234567890123456",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "Bitwarden is my password manager",
    "the private key is kept by the owner",
    "Bearer authentication is described in RFC 6750",
    "The secret is preparation.",
    "密码是如何存储的？",
    "密码是MD5加密的吗？",
    "密码学是什么？",
    "令牌是一种凭证",
    "我的密码是安全的吗？",
    "Debian 的密码策略是什么？",
]


@each_case(SECRETS)
def test_a_secret_is_taken_out_and_the_rest_stays(text: str, value: str):
    left = mask_secrets(text)

    assert value not in left.text
    assert left.kinds == list_removed_kinds(left.text) != ()


@each_case(HARMLESS)
def test_what_only_speaks_of_secrets_stays_as_it_is(text: str):
    assert mask_secrets(text) == (text, ())


def test_a_value_goes_wherever_it_stands_again():
    assert "hunter2" not in mask_secrets("Why is hunter2 weak? my password is hunter2").text


def test_what_was_masked_is_left_alone_and_still_counts_as_a_secret():
    once = mask_secrets("my password is hunter2 and I live in Oslo")

    assert mask_secrets(once.text) == (once.text, ())
    assert has_secret(once.text)
    assert "I live in Oslo" in once.text


def test_data_of_any_depth_is_masked_and_the_same_object_comes_back_where_there_is_no_secret():
    plain = {"a": [1, "two", ("three",)]}

    assert mask_secrets_within(plain) is plain
    assert mask_secrets_within({"a": [{"b": "PIN is 4711"}]}) == {
        "a": [{"b": "PIN is [number removed]"}]
    }


@pytest.mark.parametrize(
    "text",
    [
        "glpat-" + "abcd.efgh.ijkl.mnop.qrst",
        "-----BEGIN " + "PRIVATE KEY-----\nabcdefg",
        "whsec_" + "abcdefg+hijklmn+opqrstu",
        "AKIA" + "BCDEFGHIJKLMNOPQ",
        "docker login -p swordfish",
    ],
)
def test_a_secret_of_letters_alone_is_found_without_a_word_beside_it(text: str):
    assert mask_secrets(text).kinds


def test_a_plain_question_is_not_compared_with_every_pattern(monkeypatch: pytest.MonkeyPatch):
    for name in ("keys", "reversed", "foreign_stated"):
        monkeypatch.setattr(secret_masking._PATTERNS, name, None)

    assert mask_secrets("When was the tower of Bremen built?").kinds == ()


@pytest.mark.parametrize("before", ["", "data:image/png;base64,"])
def test_bytes_in_base64_are_left_as_they_are(before: str):
    picture = f"{before}{'iVBORw0KGgo' * 100}/AKIAABCDEFGHIJKLMNOP/9k="

    assert mask_secrets(picture).text == picture


def test_a_long_text_is_searched_in_time():
    started = time.process_time()
    mask_secrets("my password-" * 5_000 + "a-" * 12_000 + "1 " * 12_000 + "my " * 8_000)

    assert time.process_time() - started < 4


def test_letters_of_full_width_hide_nothing():
    said = "ＰＡＳＳＷＯＲＤ：hunter2fullw，还有 ｐａｓｓｗｏｒｄ is ｑｕｏｒ７７ｖｉｘ."

    left = mask_secrets(said).text

    assert "hunter2fullw" not in left
    assert "ｑｕｏｒ" not in left
    assert left.startswith("ＰＡＳＳＷＯＲＤ：")


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("I changed my password from kingfisher8x to lapwing31.", "kingfisher8x", "lapwing31"),
        ("I updated the bank PIN from 4711 to 0815", "4711", "0815"),
        ("We switched our wifi password from 'blue door 7' to lapwing31", "blue door 7", "lapwing"),
        ("She reset her password from swordfish to lapwing31", "swordfish", "lapwing31"),
        ("我把密码从kingfisher8x改成lapwing31。", "kingfisher8x", "lapwing31"),
    ],
)
def test_a_password_that_was_changed_is_removed_with_the_new_one(text: str, old: str, new: str):
    left = mask_secrets(text).text

    assert old not in left
    assert new not in left


@pytest.mark.parametrize(
    "text",
    [
        "I changed my password from time to time.",
        "I changed my password from my phone.",
        "I changed my password from the app to be safe.",
        "How do I change my password from home?",
    ],
)
def test_from_where_a_password_was_changed_is_no_secret(text: str):
    assert mask_secrets(text).text == text
