import pytest

from text.literal_terms import (
    contains_term,
    find_literal_terms,
    list_missing_terms,
    share_rare_terms,
)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("SSLProtocol recommended settings TLS", ["SSLProtocol", "TLS"]),
        ("HSTS Strict-Transport-Security", ["HSTS", "Strict-Transport-Security"]),
        ("Configure Apache with mod_ssl 2.4.42", ["Apache", "mod_ssl", "2.4.42"]),
        ("WHAT IS HSTS", ["HSTS"]),
        ("which APIs does GitHub offer in 2024", ["API", "GitHub", "2024"]),
        ("nginx 配置 HTTPS 重定向", ["nginx", "HTTPS"]),
        ("Who wrote “The Hobbit”?", ["The Hobbit"]),
        ("name-based virtual hosts", []),
        ("", []),
    ],
)
def test_literal_terms_are_those_that_no_everyday_word_is(query: str, terms: list[str]):
    assert list(find_literal_terms(query)) == terms


@pytest.mark.parametrize(
    ("text", "term", "there"),
    [
        ("It speaks TLSv1.2 alone", "TLS", True),
        ("since TLSv1.3.", "1.3", True),
        ("version 2.4.42", "4.42", False),
        ("SSLProxyProtocol", "SSLProtocol", False),
        ("Strict transport security", "Strict-Transport-Security", True),
        ("配置HTTPS的方法", "HTTPS", True),
    ],
)
def test_a_term_is_contained_as_a_whole(text: str, term: str, there: bool):
    assert contains_term(text, term) == there


def test_only_what_no_text_contains_is_missing():
    assert list_missing_terms("HSTS and TLS", ["TLS is on.", "Nothing."]) == ["HSTS"]


def test_a_term_that_many_texts_contain_tells_none_apart():
    texts = ["TLS here"] * 8 + ["HSTS too"]

    assert share_rare_terms("TLS HSTS", texts) == [0.0] * 8 + [1.0]
    assert share_rare_terms("TLS", texts) == [1.0] * 9
