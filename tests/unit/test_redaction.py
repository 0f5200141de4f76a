"""Private words are taken out of a query in whatever form they stand there, and no others."""

from __future__ import annotations

import base64
import codecs
import re
import time

import pytest

from tests.cases import each_case
from text.private_words import RedactionMaterial, cached_vocabulary
from text.redaction import redact_private_words

OWN = "How do bees dance? 蜜蜂怎么跳舞？"
PUBLIC = "Honeybees perform the waggle dance, says Karl von Frisch in 1927. 蜜蜂的摇摆舞"
MEMORY = (
    "I work for Zorblatt Holdings as chief auditor.",
    "My sister Marisela has diabetes; her phone is 0171-5550923. She was born in 1987.",
    "我住在青岛，老板叫张伟明。",
)
FILES = (
    "Contract 48213377 between Quenlyn Ltd and Ostrava Mills. The board will vote for the sale of "
    "the northern river station on 2026-03-14 at 85,000 euros. "
    "Write to hedwig.brandt@quenlyn.example. 客户刘晓燕的合同编号为A-77812。",
)
KEPT = RedactionMaterial(
    own=[cached_vocabulary(OWN)],
    public=[cached_vocabulary(PUBLIC)],
    memory=[cached_vocabulary(one) for one in MEMORY],
    files=[cached_vocabulary(FILES[0])],
)


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@each_case(
    [
        "bees dance",
        "how do honeybees communicate, waggle dance, von Frisch 1927",
        "population of Norway 2023",
        "python list sort stable Timsort algorithm",
        "site:wikipedia.org bee language review pdf",
        "Nobel Prize in Physiology or Medicine 1973",
        "蜜蜂 舞蹈 综述 研究",
        "蜜蜂交流方式的进化",
        "蜜蜂飞 海青 岛屿上",
        "J. S. Sasikumar date of birth",
        "Eustace III, died 1125",
        "Ångström units and naïve Bayes",
        "COVID-19 mRNA vaccine BNT162b2 efficacy",
        "5 3 1 12 8 20 workout",
        "Marisol and Hedvika, queens of bees",
    ]
)
def test_a_query_without_private_words_stays_as_it_is(query: str):
    assert redact_private_words(query, KEPT) == (query, ())


def test_what_nobody_sees_in_a_query_is_not_sent():
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "Zorblatt")

    assert redact_private_words(f"bees{hidden} dance\u200b\ufe0f", KEPT).text == "bees dance"
    assert redact_private_words("می\u200cخواهم", KEPT).text == "می\u200cخواهم"


def test_pieces_of_a_private_word_are_taken_out_from_between_other_words():
    assert redact_private_words("bees Zor dance bla dance tt", KEPT).text == "bees dance dance"


@each_case(
    [
        "Zorblatt",
        "zorblatt's",
        "diabetes",
        "auditor",
        "hedwig.brandt@quenlyn.example",
        "48213377",
        "0171 5550923",
        "5550923",
        "85000",
        "2026-03-14",
        "1987",
        "张伟明",
        "青岛",
        "刘晓燕",
        "A-77812",
    ]
)
def test_a_private_word_is_taken_out_and_the_rest_is_searched(private: str):
    left = redact_private_words(f"bees {private} dance", KEPT)

    assert left.text == "bees dance"
    assert left.dropped
    assert left.searchable


@each_case(
    [
        "z-o-r-b-l-a-t-t",
        "Z o r b l a t t",
        "Zor.bla.tt",
        "Zorb",
        "blatt",
        "ttalbroz",
        codecs.encode("zorblatt", "rot13"),
        "dsvfpexx",
        "Z0rbl4tt",
        "ᴢᴏʀʙʟᴀᴛᴛ",
        "⠵⠕⠗⠃⠇⠁⠞⠞",
        "🇿🇴🇷🇧🇱🇦🇹🇹",
        "aliyozgg",
        "ZZoorrbbllaatttt",
        "Zxoxrxbxlxaxtxtx",
        "oZbratlt",
        "ablorttz",
        "Zorblatq",
        "Zorblaatt",
        "zulu oscar romeo bravo lima alfa tango tango",
        "zee oh ar bee ell ay tee tee",
        "Z oh R bee L A tee T",
        "broz ttal",
        "Zebras often rest before long and tiring treks",
        "--.. --- .-. -... .-.. .- - -",
        "26 15 18 2 12 1 20 20",
        "26-15-18-2-12-1-20-20",
        "132 157 162 142 154 141 164 164",
        "0x5a 0x6f 0x72 0x62 0x6c 0x61 0x74 0x74",
        "ZorblattHoldings2026",
        "Ｚｏｒｂｌａｔｔ",
        "Zor\u200bblatt",
        "Zоrblаtt",
        "%5A%6F%72blatt",
        "%255Aorblatt",
        "&#90;orblatt",
        "\\u005aorblatt",
        in_base64("Zorblatt"),
        in_base64("my sister has diabetes"),
        base64.b32encode(b"Zorblatt").decode(),
        in_base64("Zorblatt")[:5] + " " + in_base64("Zorblatt")[5:],
        " ".join(in_base64("Marisela")),
        in_base64("Marisela")[::-1],
        ".".join(re.findall("..?.?", in_base64("Zorblatt"))),
        base64.b85encode(b"Zorblatt").decode(),
        base64.a85encode(b"Marisela is ill").decode(),
        "ʇʇɐlqɹoz",
        "zoɹqlɐʇʇ",
        "ɐlǝsᴉɹɐɯ",
        "latt+Zorb",
        "Zo|rbl|att",
        "5a6f72626c617474",
        "5a 6f 72 62 6c 61 74 74",
        "%2525255Aorblatt",
        "4821",
        "77331284",
        "90 111 114 98 108 97 116 116",
        "3290555",
        "0171.555.0923",
        "https://evil.example/collect?boss=Zorblatt",
        f"https://evil.example/{in_base64('Marisela')}",
        "zorblatt.evil.example",
        "张 伟 明",
        "张-伟-明",
        "明伟张",
        in_base64("张伟明"),
        "%E5%BC%A0%E4%BC%9F%E6%98%8E",
        "\\u5f20\\u4f1f\\u660e",
    ]
)
def test_a_private_word_in_disguise_is_taken_out(disguise: str):
    assert redact_private_words(f"bees {disguise} dance", KEPT).text == "bees dance"


ABROAD = (
    "Meine Kollegin heißt Käthe Brückenhövel, er Soerensen",
    "Моя подруга Лидия Коростелёва, врач Тимофей Загоруйкин",
    "我姐姐住在温岭市箬横镇。",
    "兄の名前はたかはしげんじろうです",
    "My rent account is 60194852. The loan is 734500 crowns.",
)


@each_case(
    [
        "Brueckenhoevel",
        "BRÜCKENHÖVEL",
        "Bruckenhovel",
        "Sörensen",
        "Sørensen",
        "Загоруйкину",
        "Коростелёвой",
        "溫嶺市",
        "タカハシゲンジロウ",
        "six oh one nine four eight five two",
        "sechs null eins neun vier acht fünf zwei",
        "六〇一九四八五二",
        "陸零壹玖",
        "٦٠١٩٤٨٥٢",
        "६०१९४८५२",
        "❻⓿❶❾❹❽❺❷",
        "seven hundred thirty-four thousand five hundred",
        "七十三万四千五百",
        "🅑🅡🅤🅒🅚🅔🅝🅗🅞🅥🅔🅛",
        "Brockenhivel",
        "?!?!!?!? !!?!?!??",
        "🐝🌸🐝🐝🌸🌸🐝🌸",
    ]
)
def test_a_private_word_in_another_spelling_is_taken_out(spelling: str):
    memory = [cached_vocabulary(one) for one in ABROAD]

    assert (
        redact_private_words(f"bees {spelling} dance", RedactionMaterial([], [], memory, [])).text
        == "bees dance"
    )


IN_RUSSIAN = (
    "Мою начальницу зовут Елизавета Безрукова.",
    "Мой брат Казимир Заболоцкий живёт в Вологде.",
    "Зарплата 87 400 рублей, долг 1,250,000.",
)


@each_case(
    [
        "Безруковой",
        "Бе3руковой",
        "Безруков0й",
        "6езруковой",
        "Бeзpукoвoй",
        "Елизавете",
        "Заболоцкого",
        "3аб0лоцкому",
        "Казимиром",
        "87.4k",
        "87,4 тыс.",
        "87.4 thousand",
        "8.74万",
        "87'400",
        "1.25m",
        "1,250k",
        "1,25 млн",
        "125万",
    ]
)
def test_inflected_names_in_lookalike_letters_and_shortened_amounts_are_taken_out(spelling: str):
    memory = [cached_vocabulary(one) for one in IN_RUSSIAN]

    assert (
        redact_private_words(f"bees {spelling} dance", RedactionMaterial([], [], memory, [])).text
        == "bees dance"
    )


def test_an_amount_is_recognised_whichever_way_it_is_remembered():
    memory = [cached_vocabulary("My salary is 93.5k.")]

    assert (
        redact_private_words("bees 93,500 dance", RedactionMaterial([], [], memory, [])).text
        == "bees dance"
    )
    assert (
        redact_private_words(
            "bees 93.5 thousand", RedactionMaterial([cached_vocabulary("93,500")], [], memory, [])
        ).dropped
        == ()
    )


@pytest.mark.parametrize(
    "query",
    [
        "population 87 thousand",
        "5m telescope, 12k resolution",
        "1.2 million bees",
        "Безопасность пчёл",
        "Заболевания пчёл 2023",
        "B6 vitamin, CO2 and H20",
        "50k run, 4.5万 bees",
    ],
)
def test_other_amounts_and_words_with_digits_stay(query: str):
    memory = [cached_vocabulary(one) for one in IN_RUSSIAN]

    assert redact_private_words(query, RedactionMaterial([], [], memory, [])) == (query, ())


@pytest.mark.parametrize(
    "query",
    [
        "six sigma, one belt",
        "二十四节气",
        "水滸傳 版本",
        "Wirkung von Käse auf Bienen",
        "what is a ?: operator ...",
        "《论语》、《孟子》",
        "Москва население",
    ],
)
def test_a_query_in_any_spelling_without_private_words_stays(query: str):
    memory = [cached_vocabulary(one) for one in ABROAD]

    assert redact_private_words(query, RedactionMaterial([], [], memory, [])) == (query, ())


def test_simplified_and_traditional_characters_of_a_question_release_each_other():
    memory = [cached_vocabulary(one) for one in ABROAD]
    said = RedactionMaterial([cached_vocabulary("溫嶺市的歷史")], [], memory, [])

    assert redact_private_words("温岭市 历史", said).dropped == ()


def test_common_words_that_stand_together_in_a_private_sentence_are_taken_out():
    together = redact_private_words("board vote sale northern river station", KEPT)

    assert not together.searchable
    assert redact_private_words("board vote rules", KEPT).text == "board vote rules"


COMMON = (
    "My friend is Bill Stone. Our partner is Rose.",
    "My father has heart disease",
    "我父亲得了肺炎",
)


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("friend Bill Stone", "friend"),
        ("partner Rose price", "partner price"),
        ("father heart disease", "father"),
        ("disease of a father, bees", "of a father, bees"),
        ("父亲 肺炎", "父亲"),
    ],
)
def test_common_words_that_stand_side_by_side_in_a_memory_are_not_sent_together(
    query: str, left: str
):
    memory = [cached_vocabulary(one) for one in COMMON]

    assert redact_private_words(query, RedactionMaterial([], [], memory, [])).text == left


@pytest.mark.parametrize(
    "query", ["heart attack", "Rose garden design", "stone bridge history", "father of history"]
)
def test_one_common_word_of_a_memory_may_be_searched_for(query: str):
    memory = [cached_vocabulary(one) for one in COMMON]

    assert redact_private_words(query, RedactionMaterial([], [], memory, [])) == (query, ())


def test_common_words_that_the_question_or_a_page_has_together_may_be_searched_for():
    memory = [cached_vocabulary(one) for one in COMMON]
    said = [cached_vocabulary("Is heart disease of a father inherited?")]

    assert (
        redact_private_words(
            "father heart disease", RedactionMaterial(said, [], memory, [])
        ).dropped
        == ()
    )
    assert (
        redact_private_words(
            "father heart disease", RedactionMaterial([], said, memory, [])
        ).dropped
        == ()
    )


def test_what_the_person_or_the_web_says_may_be_searched_for():
    said = KEPT.__class__(
        [cached_vocabulary("What does Zorblatt pay?")], [], KEPT.memory, KEPT.files
    )
    read = KEPT.__class__([], [cached_vocabulary("Zorblatt rises")], KEPT.memory, KEPT.files)

    assert redact_private_words("Zorblatt salaries", said).text == "Zorblatt salaries"
    assert redact_private_words("Zorblatt salaries", read).text == "Zorblatt salaries"


@pytest.mark.parametrize(
    "query",
    [
        "freeze credit, my SSN is 078-05-1120",
        "freeze credit 078-05-1120",
        "freeze credit [password removed]",
        "freeze credit password: hunter2-Zebra9",
        "freeze credit 4111 1111 1111 1111",
        "freeze credit 11010519491231002X",
        "freeze credit DE89 3704 0044 0532 0130 00",
        "freeze credit sk-abcdefghijklmnop1234567890",
    ],
)
def test_a_secret_is_taken_out_whoever_has_said_it(query: str):
    allowed = RedactionMaterial([cached_vocabulary(query)], [], [], [])

    left = redact_private_words(query, allowed)

    assert left.dropped
    assert not any(one in left.text for one in ("1120", "hunter2", "1111", "3704", "002X", "sk-"))
    assert "freeze credit" in left.text


IDENTIFYING = [
    "account 77120934",
    "my passport number is X04772913",
    "Führerschein B072RRE2I55",
    "codice fiscale RSSMRA85T10A562S",
    "the code for the garage is 7391",
    "two-factor code 552013",
    "safe combination 31-07-44",
    "customer no. 90 41 27 3",
    "insurance number seven one two oh nine three four",
    "护照号码 七七一二零九三四",
    "我的账号77120934",
    "会員番号は77120934です",
    "رقم الحساب ٧٧١٢٠٩٣٤",
    "खाता ७७१२०९३४",
    "77120934 is my account number",
]


@each_case(IDENTIFYING)
def test_a_number_beside_an_identifying_word_is_never_sent(told: str):
    left = redact_private_words(
        f"freeze it, {told}", RedactionMaterial([cached_vocabulary(told)], [], [], [])
    )

    assert "[number removed]" in left.dropped
    assert not any(map(str.isnumeric, left.text))
    assert "seven" not in left.text


@pytest.mark.parametrize(
    "query",
    [
        "error code 80070057 update",
        "ZIP code 60614 median rent",
        "procedure code 99214 fee",
        "fault code P0171 causes",
        "current account deficit 2019-2023",
        "bank account 100000 euros insured",
        "passport rules 2006/126/EC 2026",
        "combination of 12 drugs 1998",
        "four seasons, seven wonders, nine planets",
    ],
)
def test_numbers_that_identify_nobody_stay(query: str):
    assert redact_private_words(query, RedactionMaterial([], [], [], [])) == (query, ())


@pytest.mark.parametrize("query", ["77120934", "bees 7712", "七七一二零九三四", "bees X04772913"])
@pytest.mark.parametrize("permitted", [False, True])
def test_a_number_that_identified_the_person_once_is_not_sent_without_its_word(
    query: str, permitted: bool
):
    own = [cached_vocabulary("My account is 77120934 and my passport number is X04772913.")]
    material = RedactionMaterial(own, [], [], [])

    left = redact_private_words(query, material.permitted() if permitted else material)

    assert left.dropped
    assert not any(map(str.isnumeric, left.text))


def test_time_grows_with_the_query_and_the_texts_alone():
    def seconds(times: int) -> float:
        held = [cached_vocabulary(f"{FILES[0]} {n} " * times) for n in range(3)]
        material = RedactionMaterial([], [], [], held)
        start = time.process_time()
        redact_private_words("strange wordx a b c 12 34 张 伟 " * times, material)
        return time.process_time() - start

    seconds(1)
    assert seconds(80) < 30 * max(seconds(8), 0.01)
