"""The words of a PDF are found, in their order, and headings are told from text."""

from __future__ import annotations

from tests.unit.test_files_samples import pdf, refused
from tools.files.extractor import extract_document

TEXT = "The tide mill at Eling grinds wheat with the water of the sea, twice a day at most."
PICTURE = ") Tj ET q 595 0 0 842 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID a EI Q BT /F1 11 Tf ("


def large(words, size=20):
    """Return words in larger letters, for a line of `pdf`."""
    return f") Tj /F1 {size} Tf ({words}) Tj /F1 11 Tf ("


async def read(folder, content, name="scan-0017.pdf"):
    path = folder / name
    path.write_bytes(content)
    return await extract_document(path)


async def test_words_that_are_set_by_their_places_do_not_run_together(tmp_path):
    placed = (
        ") Tj /F1 11 Tf [(This) -300 (mill) -300 (grinds) -280 (in) -250 (v) 30 (ersion 2.) ] TJ ("
    )

    document = await read(tmp_path, pdf([placed, TEXT]))

    assert "This mill grinds in version 2." in document["sections"][0]["text"]


async def test_larger_letters_are_a_heading_and_no_part_of_the_sentence_below(tmp_path):
    document = await read(tmp_path, pdf([large("Zeta"), "Zeta runs at 41 bar.", *[TEXT] * 3]))

    assert document["sections"][0]["text"].startswith("# Zeta\n\nZeta runs at 41 bar.")


async def test_a_short_line_above_a_sentence_is_not_joined_with_it(tmp_path):
    document = await read(tmp_path, pdf(["Zeta", "Zeta runs at 41 bar."]))

    assert document["sections"][0]["text"] == "Zeta\n\nZeta runs at 41 bar."


async def test_a_pdf_without_a_title_is_called_after_its_largest_words(tmp_path):
    lines = [large("Tide mills", 24), large("and their gates", 24), large("Part one", 16), TEXT]

    assert (await read(tmp_path, pdf(lines)))["title"] == "Tide mills and their gates"


async def test_pages_that_are_all_alike_are_not_taken_for_running_heads(tmp_path):
    document = await read(tmp_path, pdf(*[["Bees dance."]] * 3))

    assert document["sections"][0]["text"].split("\n\n") == ["Bees dance."] * 3


async def test_a_gap_between_lines_parts_paragraphs(tmp_path):
    gap = ") Tj 0 -30 Td ("

    document = await read(tmp_path, pdf([TEXT, TEXT.lower(), gap, TEXT.lower(), TEXT.lower()]))

    assert document["sections"][0]["text"].count("\n\n") == 1


async def test_a_word_that_is_cut_at_the_end_of_a_line_is_whole(tmp_path):
    lines = [f"{TEXT} And the long-", "term plan is to run the wheel under a con-", "stant head."]

    text = (await read(tmp_path, pdf(lines)))["sections"][0]["text"]

    assert "under a constant head." in text


async def test_a_scan_says_that_it_needs_text_recognition(tmp_path):
    code = await refused(tmp_path, "a.pdf", pdf([PICTURE], [PICTURE, "p. 2"]))

    assert code == "file_no_text"


async def test_a_text_beside_a_large_picture_is_read(tmp_path):
    document = await read(tmp_path, pdf([PICTURE, TEXT]))

    assert document["sections"][0]["text"] == TEXT


async def test_a_book_of_many_pages_is_read(tmp_path):
    pages = [[f"Page {n} tells of mill {n} and of its wheel."] for n in range(1, 701)]

    document = await read(tmp_path, pdf(*pages))

    assert "mill 700" in document["sections"][-1]["text"]


async def test_a_space_that_is_only_a_gap_between_letters_is_kept(tmp_path):
    placed = ") Tj /F1 11 Tf (A) Tj 9.14 0 Td (variant) Tj -9.14 -20 Td ("

    document = await read(tmp_path, pdf([placed, TEXT]))

    assert "A variant" in document["sections"][0]["text"]


async def test_letters_that_all_stand_apart_are_one_word(tmp_path):
    spaced = ") Tj /F1 11 Tf 2 Tc (Gates) Tj 0 Tc ("

    document = await read(tmp_path, pdf([spaced, TEXT]))

    assert "Gates" in document["sections"][0]["text"]
