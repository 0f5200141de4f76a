from text.manuals import list_section_paths, setting_coverage
from text.sentences import split_sentences
from text.topics import extract_topic

YAML = "name: orders\nqueue:\n  broker: rabbitmq\n  retries:\n    limit: 7\nlevel: info"
TOML = "# Service\n[server]\nport = 8443\n\n[database]\npool = 20"
JSON = '{\n  "name": "orders",\n  "engines": {\n    "node": ">=18"\n  },\n  "license": "MIT"\n}'
PYTHON = "LIMIT = 5\n\ndef size(memory):\n    return min(LIMIT, memory)\n\nOTHER = 6"


def under(text):
    spans = split_sentences(text)
    return dict(zip([span.text for span in spans], list_section_paths(text, spans), strict=True))


def test_an_indent_puts_a_line_below_the_one_that_opens_its_section():
    found = under(YAML)

    assert found["broker: rabbitmq"] == "queue"
    assert found["limit: 7"] == "queue › retries"
    assert found["name: orders"] == found["level: info"] == ""


def test_a_table_holds_all_until_the_next_one():
    found = under(TOML)

    assert found["port = 8443"] == "server"
    assert found["pool = 20"] == "database"


def test_sections_of_json_and_of_programs_are_known():
    assert under(JSON)['"node": ">=18"'] == "engines"
    assert under(JSON)['"license": "MIT"'] == ""
    assert under(PYTHON)["return min(LIMIT, memory)"] == "size"
    assert under(PYTHON)["OTHER = 6"] == ""


def test_prose_stands_in_no_section():
    assert set(under("Ingredients:\n\n  Two eggs are beaten. Then add milk.").values()) == {""}


def test_a_setting_is_asked_for_by_its_key_and_its_section():
    about = extract_topic("Which port does the server listen on?")

    assert setting_coverage(about, "port = 8443", "server") == 1.0
    assert setting_coverage(about, "port = 8443", "cache") == 0.5
    assert setting_coverage(about, "workers = 4", "cache") == 0.0
    assert setting_coverage(about, "The server has a port.", "server") == 0.0
