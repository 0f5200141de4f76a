from collections import Counter

import pytest

from tools.files.data_files import detect_separator
from tools.files.encoding import decode_bytes
from tools.files.extractor import extract_document
from tools.files.formats import FileLimits
from tools.files.parsed_document import (
    MAX_SECTION,
    DocumentPiece,
    arrange_sections,
    make_place_namer,
    make_slug,
)
from tools.files.pdf import clean_printed_line, join_paragraphs

CHINESE = "1885年，艾宾浩斯发表了他对记忆的研究。蜜蜂的舞蹈能够指示蜜源的方向和距离。"
TAIWAN = "1885年，艾賓浩斯發表了他對記憶的研究。蜜蜂的舞蹈能夠指示蜜源的方向和距離。"
JAPANESE = "ミツバチのダンスは、餌場の方向と距離を仲間に伝える。冬の間、群れは球を作って暖を取る。"
FRENCH = "L'été, les abeilles étaient très affairées à l'entrée de la ruche à Besançon."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gbk"),
        (CHINESE, "gb18030"),
        (CHINESE, "utf-8-sig"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-16-le"),
        (CHINESE, "utf-16-be"),
        (CHINESE, "utf-32"),
        (TAIWAN, "big5"),
        (JAPANESE, "shift_jis"),
        (FRENCH, "cp1252"),
    ],
)
async def test_text_is_read_in_the_encoding_it_was_written_in(tmp_path, text, encoding):
    path = tmp_path / "a.txt"
    path.write_bytes(f"{text}\n{text}".encode(encoding))

    document = await extract_document(path)

    assert document["sections"][0]["text"] == f"{text}\n{text}"


def test_a_web_page_is_read_in_the_encoding_that_it_names():
    page = '<meta charset="iso-8859-2"><p>Pszczoły tańczą, żeby wskazać źródło nektaru.'

    assert decode_bytes(page.encode("iso-8859-2"), markup=True) == page


def test_utf8_with_one_broken_character_is_still_utf8():
    data = (CHINESE * 5).encode()[:-1]

    assert decode_bytes(data).startswith(CHINESE)


def test_chinese_text_with_one_broken_character_keeps_the_others():
    data = (CHINESE * 5).encode("gbk")

    assert decode_bytes(data[:-1]).startswith(CHINESE)
    assert decode_bytes(data[:100] + b"\xff" + data[100:]).startswith(CHINESE)


def test_a_stray_nul_does_not_make_a_text_binary():
    assert decode_bytes(b"Bees dance. " * 100 + b"\x00end").endswith("end")


def test_a_long_section_is_cut_at_the_ends_of_paragraphs():
    paragraph = "Bees dance. " * 60 + "\n\n"

    sections = arrange_sections(
        [DocumentPiece("", "dance", "dance", paragraph * 20)], lambda first, last: first
    )

    assert [section["place"] for section in sections] == ["dance", "dance-2", "dance-3"]
    assert all(section["text"].endswith("Bees dance.") for section in sections)
    assert all(section["text"].count("Bees") % 60 == 0 for section in sections)


def test_a_section_is_never_too_long_even_without_a_place_to_cut():
    sections = arrange_sections(
        [DocumentPiece("", "1", "1", "蜂" * 100_000)], make_place_namer("page")
    )

    assert max(len(section["text"]) for section in sections) <= MAX_SECTION
    assert sum(len(section["text"]) for section in sections) == 100_000
    assert sections[1]["place"] == "page=1&part=2"


def test_tiny_neighbours_are_joined_and_the_last_one_joins_the_one_before():
    sizes = [100, 900, 800, 1600, 50]
    pieces = [
        DocumentPiece("", str(n), str(n), "a" * size + "\n") for n, size in enumerate(sizes, 1)
    ]

    sections = arrange_sections(pieces, make_place_namer("slide"))

    assert [section["place"] for section in sections] == ["slide=1-3", "slide=4-5"]


def test_no_two_sections_have_the_same_place():
    pieces = [
        DocumentPiece("", name, name, "a" * 5000 + "\n") for name in ("bees", "bees-2", "bees")
    ]

    sections = arrange_sections(pieces, lambda first, last: first)

    assert [section["place"] for section in sections] == ["bees", "bees-2", "bees-3"]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("What is a Bee?", "what-is-a-bee"),
        ("蜜蜂的“舞蹈”", "蜜蜂的舞蹈"),
        ("C++ & Rust", "c--rust"),
        ("?!", "section"),
    ],
)
def test_a_heading_becomes_the_anchor_that_github_gives_it(heading, anchor):
    assert make_slug(heading, Counter()) == anchor


def test_ligatures_are_taken_apart():
    assert clean_printed_line("the ﬁrst  ﬂight\xa0oﬀ") == "the first flight off"


def test_chinese_lines_are_joined_without_a_space():
    lines = ["蜜蜂发现丰富的蜜源之后，会回到蜂巢，在垂直的巢脾上跳舞，把蜜", "源的位置告诉同伴。"]

    assert join_paragraphs(lines, set()) == ["".join(lines)]


def test_items_of_a_list_stay_apart():
    lines = [
        "- feed the bees until the middle of September",
        "- treat them against mites in August",
    ]

    assert join_paragraphs(lines, set()) == lines


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_separator_of_a_table_is_found(mark):
    assert detect_separator(f"a{mark}b{mark}c\n1,5{mark}2{mark}3\n4{mark}5{mark}6\n") == mark


async def test_the_limits_are_as_documented():
    assert FileLimits() == FileLimits(30_000_000, 2_000, 30.0, 1_000_000_000, 10_000_000)


def joined(*marked: tuple[str, str]) -> list[str]:
    pieces = [
        DocumentPiece(name, name, name, f"{mark} {name}\n\nIt turns.\n\n") for mark, name in marked
    ]
    return [one["title"] for one in arrange_sections(pieces, lambda first, last: first)]


def test_sections_that_are_joined_are_named_by_the_first_and_the_last():
    assert joined(("##", "9. Gates"), ("##", "10. Wheels"), ("##", "11. Ponds")) == [
        "9. Gates … 11. Ponds"
    ]
    assert joined(("##", "5. Gates"), ("##", "6. Wheels"), ("###", "6.1 Oak")) == [
        "5. Gates … 6. Wheels"
    ]


def test_a_section_with_those_below_it_has_its_own_name():
    assert joined(("#", "Mills"), ("##", "Gates"), ("##", "Wheels")) == ["Mills"]


def test_what_announces_something_stays_with_it():
    told = "The pump was painted blue and put into the cellar. " * 9
    text = "\n\n".join(
        f"{told * (1 + n % 3)}It has modes as follows:\n\n1. Slow." for n in range(40)
    )
    sections = arrange_sections([DocumentPiece("Pumps", "1", "1", text)], make_place_namer("page"))
    assert len(sections) > 2
    assert all(section["text"].endswith("1. Slow.") for section in sections)


def test_a_short_part_goes_on_with_what_it_announces_and_not_with_a_new_section():
    story = "The pump was painted blue and put into the cellar. " * 40
    lead, items = f"{story}\n\nIts modes:\n\n", "- slow\n\n- fast\n\n"
    joined = arrange_sections(
        [DocumentPiece("", "1", "1", lead), DocumentPiece("", "2", "2", items + story)],
        make_place_namer("p"),
    )
    parted = arrange_sections(
        [DocumentPiece("", "1", "1", lead), DocumentPiece("", "2", "2", "# Eta\n" + story)],
        make_place_namer("p"),
    )
    assert [len(joined), len(parted)] == [1, 2]


def test_code_and_definitions_are_not_cut_in_two():
    code = "int run(void) {\n    start();\n\n    wait();\n\n    stop();\n}"
    told = "The pump was painted blue and put into the cellar. " * 12
    text = "\n\n".join(f"--mode{number}=<yes|no>\n\n{told}\n\n{code}" for number in range(24))
    sections = arrange_sections(
        [DocumentPiece("Options", "1", "1", text)], make_place_namer("page")
    )
    assert len(sections) > 2
    assert all(section["text"].startswith("--mode") for section in sections)
    assert all(section["text"].count("{") == section["text"].count("}") for section in sections)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("产品,数量,单价\n苹果,10,3.5\n梨,20,2.5\n", "gbk"),
        ("城市,人口\n广州,1867\n", "gbk"),
        ("이름,수량\n사과,10\n배,20\n", "euc_kr"),
        ("韓國의 歷史는 오래되었다. 우리는 그 역사를 배운다. 나라와 사람들이 산다.", "euc_kr"),
    ],
)
def test_a_few_words_in_chinese_and_in_korean_are_told_apart(text: str, encoding: str):
    assert decode_bytes(text.encode(encoding)) == text
