from text.keyword_ranking import ScoredPassage
from text.reading_windows import section_around, widen_hits
from text.sentences import Span

BEES = "# Bees\n\nThey hum.\n\n## Dances\n\nThey dance.\n\nVon Frisch saw it.\n\n## Winter\n\nCold."
LONG = "\n\n".join(
    f"Paragraph {n} tells of ropes, wax and tides at some length." for n in range(200)
)


def piece(text: str, words: str) -> Span:
    start = text.index(words)
    return Span(start, start + len(words), words)


def hit(page: int, text: str, words: str) -> ScoredPassage:
    return ScoredPassage(page, piece(text, words), words, 1.0)


def test_a_hit_is_read_with_its_section_and_heading():
    assert section_around(BEES, piece(BEES, "Von Frisch")).text == (
        "## Dances\n\nThey dance.\n\nVon Frisch saw it."
    )


def test_of_a_long_section_the_paragraphs_around_the_hit_are_read():
    around = section_around(LONG, piece(LONG, "Paragraph 100"))

    assert around.text.startswith("Paragraph 8")
    assert around.text.endswith("at some length.")
    assert 700 < len(around.text) < 2_000


def test_a_long_paragraph_of_a_hit_stands_whole():
    text = f"{LONG}\n\n{'It rains. ' * 200}The gate opens.{' It snows.' * 100}\n\n{LONG}"

    assert section_around(text, piece(text, "The gate opens.")).text.count("It rains.") == 200


def test_hits_of_one_section_are_read_once():
    chosen = widen_hits([BEES], [hit(0, BEES, "They dance."), hit(0, BEES, "Von Frisch")], 1_000)

    assert [span.text for span in chosen[0]] == [BEES.strip()] or len(chosen[0]) == 1


def test_nothing_is_read_beyond_the_room_but_the_best_hit_always_is():
    hits = [hit(0, LONG, f"Paragraph {n} tells") for n in (10, 60, 110, 160)]

    assert sum(len(span.text) for span in widen_hits([LONG], hits, 500)[0]) < 2_600
    assert len(widen_hits([LONG], hits, 1)[0]) == 1


def test_pages_are_read_in_their_order():
    hits = [hit(0, LONG, "Paragraph 150 tells"), hit(0, LONG, "Paragraph 20 tells")]

    starts = [span.start for span in widen_hits([LONG], hits, 5_000)[0]]

    assert len(starts) == 2
    assert starts == sorted(starts)
