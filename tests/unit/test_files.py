from docx import Document as open_docx

from tests.unit.test_files_samples import docx, edited, epub, pdf, pptx, xlsx
from tools.files.extractor import extract_document

LONG = "The bees in the cluster keep warm by shivering. " * 40


async def read(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return await extract_document(path)


def places(document):
    return [section["place"] for section in document["sections"]]


def texts(document):
    return "\n".join(section["text"] for section in document["sections"])


async def test_a_pdf_is_read_page_by_page(tmp_path):
    pages = [[f"Page {word} says that bees dance."] * 20 for word in ("one", "two", "three")]

    document = await read(tmp_path, "a.pdf", pdf(*pages, title="On bees"))

    assert document["title"] == "On bees"
    assert places(document) == ["page=1", "page=2", "page=3"]
    assert "Page two" in document["sections"][1]["text"]


async def test_lines_and_cut_words_of_a_pdf_become_whole_sentences(tmp_path):
    lines = [
        "Ebbinghaus measured the sav-",
        "ings of a second learning and found that long-term memory is",
        "lost at a falling rate. He called it the curve of forget-",
        "ting.",
        "The next paragraph begins here with a new thought about long-",
        "term memory.",
    ]

    document = await read(tmp_path, "a.pdf", pdf(lines))

    assert document["sections"][0]["text"] == (
        "Ebbinghaus measured the savings of a second learning and found that long-term memory is"
        " lost at a falling rate. He called it the curve of forgetting.\n\n"
        "The next paragraph begins here with a new thought about long-term memory."
    )


async def test_a_sentence_over_two_pages_belongs_to_the_page_it_begins_on(tmp_path):
    body = ["This is a full line of text that fills the page from side to side."] * 10
    pages = [
        [*body, "The queen of the third hive never stopped laying, and so the"],
        ["bees ate more than the others. The next sentence is on page two.", *body],
    ]

    document = await read(tmp_path, "a.pdf", pdf(*pages))

    first, second = (section["text"] for section in document["sections"])
    assert first.endswith("never stopped laying, and so the bees ate more than the others.")
    assert second.startswith("The next sentence is on page two.")


async def test_running_heads_and_page_numbers_of_a_pdf_are_dropped(tmp_path):
    pages = [
        ["Journal of Bees, vol. 7", f"Unlike the others, sentence {n} is kept." * 9, str(n)]
        for n in range(1, 5)
    ]

    document = await read(tmp_path, "a.pdf", pdf(*pages))

    assert "Journal of Bees" not in texts(document)
    assert document["sections"][1]["text"].endswith("kept.")


async def test_headings_of_a_word_file_are_its_places(tmp_path):
    content = docx("# Winter bees", LONG, "# 越冬 与 结团", LONG, title="Bees")

    document = await read(tmp_path, "a.docx", content)

    assert document["title"] == "Bees"
    assert places(document) == ["winter-bees", "越冬-与-结团"]
    assert document["sections"][0]["title"] == "Winter bees"


async def test_a_table_in_a_word_file_becomes_readable_rows(tmp_path):
    content = docx("Weights:", rows=[("Hive", "Loss"), ("H1", "6.2 kg"), ("H3", "16.9 kg")])

    document = await read(tmp_path, "a.docx", content)

    assert "Hive: H3; Loss: 16.9 kg." in texts(document)


async def test_words_inserted_with_tracked_changes_are_read_and_deleted_ones_are_not(tmp_path):
    path = tmp_path / "a.docx"
    path.write_bytes(docx("Bees eat MARK in winter."))
    document = open_docx(str(path))
    run = document.paragraphs[0].runs[0]._r
    run.getparent().append(
        run.makeelement(run.nsmap["w"].join("{}") + "ins", {}),
    )
    run.getparent()[-1].append(run)
    document.save(str(path))

    assert "Bees eat MARK in winter." in texts(await extract_document(path))


async def test_slides_are_read_with_their_notes(tmp_path):
    slides = [(f"Topic {n}", "A point about bees. " * 20, f"Note {n}") for n in range(1, 5)]

    document = await read(tmp_path, "a.pptx", pptx(*slides))

    assert document["title"] == "Topic 1"
    assert places(document) == ["slide=1-2", "slide=3-4"]
    assert "Note 3" in document["sections"][1]["text"]


async def test_a_sheet_is_read_as_rows_under_its_header(tmp_path):
    rows = [("Hive", "Weight"), *((f"H{n}", 40 + n / 10) for n in range(2, 300))]

    document = await read(tmp_path, "a.xlsx", xlsx(Hive_weights=rows))

    first = document["sections"][0]
    assert first["place"].startswith("sheet=Hive%20weights&rows=2-")
    assert first["text"].splitlines()[0] == "Hive: H2; Weight: 40.2."
    assert places(document)[-1].endswith("-299")


async def test_a_sheet_that_tells_a_wrong_size_is_read_whole(tmp_path):
    content = xlsx(S=[("Hive", "Loss"), ("H1", 6), ("H3", 16)])
    content = edited(content, "xl/worksheets/sheet1.xml", {'ref="A1:B3"': 'ref="A1"'})

    assert (
        texts(await read(tmp_path, "a.xlsx", content)) == "Hive: H1; Loss: 6.\nHive: H3; Loss: 16."
    )


async def test_a_csv_file_is_read_as_rows_that_are_counted_with_the_header(tmp_path):
    document = await read(tmp_path, "a.csv", 'Hive;Note\nH1;"a; b"\nH2;3,5\n')

    assert document["title"] == "a"
    assert document["sections"][0] == {
        "title": "",
        "place": "rows=2-3",
        "text": "Hive: H1; Note: a; b.\nHive: H2; Note: 3,5.",
    }


async def test_chapters_of_a_book_are_read_in_the_order_of_its_spine(tmp_path):
    content = epub(f"<h1>Dance</h1><p>{LONG}</p>", f"<h1>Winter</h1><p>{LONG}</p>")

    document = await read(tmp_path, "a.epub", content)

    assert document["title"] == "A book"
    assert places(document) == ["chapter=1", "chapter=2"]
    assert document["sections"][1]["title"] == "Winter"


async def test_a_book_tells_its_authors_its_date_and_its_language(tmp_path):
    spaces = 'xmlns:opf="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    told = (
        "<creator>Ada Byron</creator><creator>Bob Ross</creator>"
        '<creator opf:role="ill">Eve Drew</creator><language>fr</language>'
        '<date opf:event="modification">2024-01-01</date>'
        '<date opf:event="publication">2022-05-03</date></metadata>'
    )
    content = edited(
        epub("<p>Bees dance.</p>"),
        "book.opf",
        {"<package>": f"<package {spaces}>", "</metadata>": told},
    )

    document = await read(tmp_path, "a.epub", content)

    assert document["metadata"].author == "Ada Byron; Bob Ross"
    assert document["metadata"].published == "2022-05-03"
    assert document["metadata"].language == "fr"


async def test_styles_and_drawings_in_a_book_are_not_text(tmp_path):
    content = epub("<style>p {color: red}</style><p>Bees dance.</p><svg><text>x</text></svg>")

    assert texts(await read(tmp_path, "a.epub", content)) == "Bees dance."


async def test_a_web_page_is_read_without_its_menu_and_scripts(tmp_path):
    page = (
        "<title>Bees</title><nav><a href='/'>Home page</a></nav><script>alert(1)</script>"
        "<div class='sidebar menu'><ul><li><a href='/b'>Best honey offers</a></li></ul></div>"
        f"<main><h1>Dance</h1><p>{LONG}</p><h2>How far?</h2><p>{LONG}</p></main>"
    )

    document = await read(tmp_path, "a.html", f"<html><body>{page}</body></html>")

    assert places(document) == ["dance", "how-far"]
    assert "Home page" not in texts(document)
    assert "Best honey offers" not in texts(document)


async def test_a_short_web_page_made_of_a_table_loses_nothing(tmp_path):
    page = "<table><tr><th>Hive</th><th>Loss</th></tr><tr><td>H3</td><td>16.9</td></tr></table>"

    assert "Hive: H3; Loss: 16.9." in texts(await read(tmp_path, "a.html", page))


async def test_markdown_is_read_as_plain_sentences_under_its_headings(tmp_path):
    page = (
        f"---\ntitle: On bees\n---\n# Dance\n\nA **waggle** run\nis [long](http://a.b).\n\n{LONG}\n\n"
        f"## Steps\n\n1. look\n2. fly\n\n{LONG}\n"
    )

    document = await read(tmp_path, "a.md", page)

    assert document["title"] == "On bees"
    assert places(document) == ["dance", "steps"]
    assert "\n\nA waggle run is long.\n\n" in document["sections"][0]["text"]
    assert "1. look\n\n2. fly" in document["sections"][1]["text"]


async def test_wrapped_lines_of_chinese_markdown_are_joined_without_a_space(tmp_path):
    assert (
        texts(await read(tmp_path, "a.md", "蜜蜂在巢脾\n上跳舞 回家。"))
        == "蜜蜂在巢脾上跳舞 回家。"
    )


async def test_a_heading_that_stands_twice_gets_the_anchors_that_github_gives(tmp_path):
    page = f"# Results\n\n{LONG}\n\n# Results\n\n{LONG}"

    assert places(await read(tmp_path, "a.md", page)) == ["results", "results-1"]


async def test_a_text_file_is_read_by_lines(tmp_path):
    paragraph = "One line about bees in winter.\nAnother line about them.\n\n"

    document = await read(tmp_path, "notes.txt", paragraph * 200)

    assert document["title"] == "One line about bees in winter"
    first, second = document["sections"][:2]
    assert first["place"].startswith("L1-L")
    end = int(first["place"].rpartition("L")[2])
    assert second["place"].startswith(f"L{end + 2}-L")
    assert len(first["text"].splitlines()) == end


async def test_records_of_json_lines_become_rows(tmp_path):
    document = await read(tmp_path, "a.jsonl", '{"hive": "H3", "loss": 16.9}\n{"hive": "H1"}\n')

    assert texts(document) == "hive: H3; loss: 16.9.\nhive: H1."


async def test_json_on_one_line_is_laid_out_and_its_escapes_are_read(tmp_path):
    document = await read(tmp_path, "a.json", '{"note": "' + "\\u871c\\u8702" * 1000 + '"}')

    assert "蜜蜂蜜蜂" in texts(document)


async def test_struck_words_of_a_word_file_are_not_read(tmp_path):
    path = tmp_path / "a.docx"
    path.write_bytes(docx("The gate opens at dawn."))
    document = open_docx(str(path))
    struck = document.paragraphs[-1].add_run(" It opens at noon.")
    struck.font.strike = True
    document.paragraphs[-1].add_run(" It is old.").font.strike = False
    document.save(str(path))

    text = (await read(tmp_path, "a.docx", path.read_bytes()))["sections"][0]["text"]

    assert "noon" not in text
    assert "dawn. It is old." in text
