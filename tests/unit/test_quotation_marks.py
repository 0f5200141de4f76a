"""Which quotation or code a place in a text stands in."""

from __future__ import annotations

from prompts.quotation_marks import find_quotation
from tests.cases import each_case

QUOTED = [
    ('He said "go @ now" and left.', "go @ now"),
    ("He said “go @ now” and left.", "go @ now"),
    ("Use `go @` to leave.", "go @"),
    ("Use ``go @`` to leave.", "go @"),
    ("Use\n```text\ngo @\n```\nto leave.", "text\ngo @\n"),
    ("```\ngo @\n```", "\ngo @\n"),
    ('他说"走@吧"，就走了。', "走@吧"),
    ("他说「走『@』吧」，就走了。", "@"),
    ('A 5" sign said "go @" twice.', "go @"),
    ('He "said. They wrote "go @" there.', "go @"),
    ('"Go @," he said.', "Go @,"),
    ('(He said "go @".)', "go @"),
    (r"It prints \"go @\" there.", "go @\\"),
]
UNQUOTED = [
    "Go @ now.",
    'A 5" screen @ and a 7" one.',
    "The ` key @ and the ` key.",
    'of it." Go @ to "them".',
    'He "said. Go @ to "them".',
    'He said "go\n\nnow @ and" left.',
    '"Go @ now."',
    '{"a": 1, "b": "go @ now", "c": 2}',
    '{"a":1,"b":"go @ now","c":2}',
    '["one",\n "go @ now",\n "two"]',
    'Message: "go @ now"\nDate: today',
    "A “stray mark @.",
]


@each_case(QUOTED)
def test_a_place_between_two_marks_of_a_pair_is_quoted(text, quoted):
    found = find_quotation(text, text.index("@"))

    assert found is not None
    assert text[found.start : found.end] == quoted


@each_case(UNQUOTED)
def test_a_place_beside_marks_that_are_no_pair_is_not(text):
    assert find_quotation(text, text.index("@")) is None
