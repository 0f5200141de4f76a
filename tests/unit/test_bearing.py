import pytest

from report.checks.attribution import enforce_citations
from tests.cases import each_case

MILL = (
    "Orla Mill was built by the widow Tove Lind in 1764 and ground rye for forty farms. It was the "
    "second of three mills on the river Sande. The miller Jens Krog kept bees and sold candles in "
    "the market of Holm. In 1831 a flood carried off the wheel, and the mill stood still until "
    "1840. The owner refused a loan from the bank. Its stones (1790) and its sluice (1802) are in "
    "the museum. The last miller was Erik Dahl, who died aged 88. The mill has never been rebuilt."
)
TOWER = (
    "松塔建于1782年，由工匠李长山设计，塔高四十二米，共有七层。1840年的洪水冲毁了底层的石阶，"
    "当地居民用三年时间修复了石阶。塔内保存着六幅壁画，参观者不能拍照。"
)
TEXTS = {"S1": MILL, "S2": TOWER}
TITLES = {"S1": "Orla Mill", "S2": "松塔"}


def doubts(said):
    checked = enforce_citations(said, TEXTS, "", TITLES)
    assert checked.removed == []
    return [one["reason"] for one in checked.doubted]


@each_case(
    [
        ("The miller played the organ in a church at night [S1].", "strange"),
        ("Tove Lind had the mill built and poisoned two husbands [S1].", "strange"),
        ("The wheel was lost in a flood, and a lawyer sued the village [S1].", "strange"),
        ("The mill served farms near Copenhagen [S1].", "name"),
        ("The mill ground rye for Ragnhild and her farms [S1].", "name"),
        ("Candles were sold in the market by Tove [S1].", "name"),
        ("The widow Tove Lind had it built in 1831 [S1].", "other_number"),
        ("There were five mills on the river [S1].", "other_number"),
        ("Jens Krog refused to keep bees [S1].", "negation"),
        ("The widow Tove Lind did not build the mill [S1].", "negation"),
        ("The owner accepted a loan from a bank [S1].", "negation"),
        ("参观者可以在塔顶的餐厅里品尝当地美食[S2]。", "strange"),
        ("塔内保存着九幅壁画[S2]。", "other_number"),
    ]
)
def test_what_a_source_does_not_say_in_other_words_either_is_marked(said, reason):
    assert doubts(said) == [reason]


MATCH = (
    "Anke Vos beat Carla Mertens in the final at Leiden in 2014. The match was filmed by Tom "
    "Riemer and produced by Jan Pauwels on a budget of 48 thousand euros, while the tour cost 310 "
    "thousand euros. Vos was born in Utrecht, Holland, and died in Bruges. In 2016, Carla Mertens "
    "became the coach of the club. Vos won two Silver Racket prizes. The average crowd in "
    "May is 520; in June it is 880. The club is not open to children."
)
PLANT = (
    "煤炭价格上涨1.1%，钢铁价格上涨0.4%。工厂附设有三间仓库。民国十年，周德明加入商会。"
    "林秀英写了一本书。广场面积约12公顷，公园面积约30公顷。"
)


def doubted(said, source):
    checked = enforce_citations(said, {"S1": source}, "", {"S1": "A page"})
    assert checked.removed == []
    return [one["reason"] for one in checked.doubted]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Carla Mertens beat Anke Vos in the final [S1].", "name"),
        ("The match was produced by Tom Riemer [S1].", "name"),
        ("Vos was born in Bruges [S1].", "name"),
        ("Anke Vos became the coach of the club in 2016 [S1].", "name"),
        ("Vos won three Silver Racket prizes [S1].", "other_number"),
        ("The match had a budget of 310 thousand euros [S1].", "other_number"),
        ("The average crowd in May is 880 [S1].", "other_number"),
    ],
)
def test_who_did_what_and_how_much_of_it_is_read_in_the_passage(said, reason):
    assert doubted(said, MATCH) == [reason]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("钢铁价格上涨1.1%[S1]。", "other_number"),
        ("民国十年，林秀英加入商会[S1]。", "name"),
        ("工厂没有仓库[S1]。", "negation"),
        ("煤炭价格没有上涨[S1]。", "negation"),
    ],
)
def test_short_chinese_sentences_are_compared_with_the_clause_they_repeat(said, reason):
    assert doubted(said, PLANT) == [reason]


@pytest.mark.parametrize(
    "said",
    [
        "Carla Mertens lost the final in Leiden to Anke Vos [S1].",
        "Tom Riemer filmed it, and Jan Pauwels produced it [S1].",
        "Vos, who won two Silver Racket prizes, came from Utrecht [S1].",
        "Carla Mertens was made coach in 2016 [S1].",
        "May draws 520 people on average, June 880 [S1].",
        "Children are not let into the club [S1].",
    ],
)
def test_the_same_roles_and_numbers_in_other_words_are_let_be(said):
    assert doubted(said, MATCH) == []


def test_a_statement_that_has_only_the_title_of_a_page_gets_no_citation():
    page = "The Duchy of Aldra lay on the coast. Its capital was Mern."
    checked = enforce_citations(
        "**The Duchy of Aldra survives today.**\n\nIts capital was Mern [S1].",
        {"S1": page},
        "",
        {"S1": "Duchy of Aldra"},
    )

    assert "today [S1]" not in checked.body


def test_a_chinese_quotation_may_be_cut_to_a_name():
    page = "周德明，字子和，福建人，号南山、松庵、石翁，明末官员。"

    assert (
        enforce_citations("书中写道：“周德明……号南山、松庵、石翁”[S1]。", {"S1": page}).removed
        == []
    )


@pytest.mark.parametrize(
    "said",
    [
        "A widow founded the mill [S1].",
        "Forty farms had their rye ground there [S1].",
        "Tove Lind had it constructed in 1764 [S1].",
        "The river Sande drove three mills, of which it was the second [S1].",
        "After the flood of 1831 it did not work until 1840 [S1].",
        "Bees were kept by the miller, Jens Krog, who also traded in candles [S1].",
        "The stones of 1790 and the sluice of 1802 are shown in a museum [S1].",
        "Erik Dahl, the last miller, reached the age of 88 [S1].",
        "It has not been rebuilt [S1].",
        "松塔由李长山设计，高42米[S2]。",
        "塔内有6幅壁画[S2]。",
    ],
)
def test_what_a_source_says_in_other_words_is_let_be(said):
    assert doubts(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Orla Mill was built by the widow Tove Lind and ground wheat for forty ships of Denmark.",
        "The owner accepted a loan from the bank.",
        "The miller Jens Krog kept bees and sold candles in the market of Bergen.",
    ],
)
def test_a_sentence_with_one_thing_changed_is_given_no_source(said):
    checked = enforce_citations(said, TEXTS, "", TITLES)

    assert "[S" not in checked.body
    assert len(checked.doubted) + len(checked.removed) == 1


@pytest.mark.parametrize(
    "text",
    [
        "## Why the mill was sold to Ragnhild Moe\n\nThe miller kept bees [S1].",
        "## The mill burnt down in 1911\n\nThe miller kept bees [S1].",
        "The mill was a hideout of smugglers from Jutland:\n\n- The miller kept bees [S1].",
        "Did you know that a ghost haunted the cellar? The miller kept bees [S1].",
        "**Visited by Napoleon:** The miller kept bees [S1].",
        "| Mill | Burnt in 1911 |\n|---|---|\n| Orla Mill | yes [S1] |",
        "**Table 1.** The mills that pirates burnt\n\n| A |\n|---|\n| bees [S1] |",
    ],
)
def test_what_names_or_leads_on_is_compared_with_all_sources(text):
    checked = enforce_citations(text, {"S1": MILL}, "", {"S1": "Orla Mill"})

    assert checked.doubted or checked.removed


@pytest.mark.parametrize(
    "text",
    [
        "## The miller and his bees\n\nThe miller kept bees [S1].",
        "## Main Findings And Outlook\n\nThe miller kept bees [S1].",
        "What is known of the miller:\n\n- The miller kept bees [S1].",
        "How many mills were there? There were three mills on the river [S1].",
        "Three points matter: who built it, who paid, and what came of it.\n\n- Bees [S1].",
        "**Table 1.** Parts of the mill\n\n| Part | Year |\n|---|---|\n| Stones | 1790 [S1] |",
    ],
)
def test_a_line_that_only_names_what_follows_is_let_be(text):
    checked = enforce_citations(text, {"S1": MILL}, "", {"S1": "Orla Mill"})

    assert (checked.body, checked.doubted, checked.removed) == (text, [], [])


def test_a_sentence_that_a_source_half_says_is_marked_and_stays():
    said = "The flood of 1831 broke the wheel of the mill and its stones."
    checked = enforce_citations(said, {"S1": MILL}, "", {"S1": "Orla Mill"})

    assert checked.removed == []
    assert checked.doubted or "[S1]" in checked.body


SINGER = (
    "Ada Vinter (3 May 1911, Aarhus – 9 July 1984, Lima) was a Danish singer. The United Choir of "
    "Odense made a few early recordings of her solo voice. Although first planned for a theatre in "
    "Bergen, the opera Winter Sun was moved to the Royal Hall in 1938. The jury of Esbjerg "
    "selected her for the summer festival. The northern wing of the hall belongs to the city, and "
    "the southern wing belongs to the guild of weavers. She spoke in her first and last film, The "
    "No Rain Road, which was directed by former Tivoli Hall manager, Sven Lund. The medieval "
    "guild was a private society of Jutland. The public admired the film."
)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Ada Vinter died in Aarhus [S1].", "name"),
        ("Vinter was born in Lima [S1].", "name"),
        ("The United Choir of Odense made no early recordings of her solo voice [S1].", "negation"),
        ("The jury of Esbjerg turned down Vinter for the summer festival [S1].", "negation"),
        ("Vinter was left out of the summer festival by the jury of Esbjerg [S1].", "negation"),
        ("The southern wing of the hall belongs to the city [S1].", "negation"),
        ("The guild was a public society of Jutland [S1].", "negation"),
    ],
)
def test_the_other_end_of_a_life_and_the_opposite_of_a_clause_are_marked(said, reason):
    checked = enforce_citations(said, {"S1": SINGER}, "", {"S1": "Ada Vinter"})
    assert [one["reason"] for one in checked.doubted] == [reason]


@pytest.mark.parametrize(
    "said",
    [
        "Ada Vinter was born in Aarhus and died in Lima [S1].",
        "Vinter died in 1984 [S1].",
        "Winter Sun was not originally meant for the Royal Hall [S1].",
        "She did not speak in any other film [S1].",
        "Sven Lund, who had managed Tivoli Hall, directed The No Rain Road [S1].",
        "The film was directed by Sven Lund [S1].",
        "She was a singer from Denmark [S1].",
        "Jutland had a private society of this kind in the Middle Ages, a guild [S1].",
        "The north of the hall is owned by the city [S1].",
        "The northern wing of the hall belongs to the city [S1].",
    ],
)
def test_countries_titles_and_what_was_so_before_are_no_contradiction(said):
    checked = enforce_citations(said, {"S1": SINGER}, "", {"S1": "Ada Vinter"})
    assert [one["reason"] for one in checked.doubted] == []


def test_a_day_before_a_clause_of_its_own_is_not_that_of_its_names():
    said = "In 1947 the Vor Handel, which had opened its office in May 1935, became Nord Bank [S1]."
    page = (
        "The bank is in Ribe. It opened its office in May 1935 as VH (Vor Handel). "
        "VH developed into a bank called Nord Bank in 1947."
    )
    assert enforce_citations(said, {"S1": page}, "", {"S1": "Nord Bank"}).doubted == []


def test_a_chinese_clause_with_the_words_of_another_in_place_of_its_own_is_marked():
    page = (
        "河源电视台于2004年结束营业后并入海川传媒集团。"
        "南浦足球队是青石镇的代表队，由青石体育协会管理。"
    )
    checked = enforce_citations(
        "南浦足球队是海川的代表队[S1]。", {"S1": page}, "", {"S1": "南浦足球队"}
    )
    assert [one["reason"] for one in checked.doubted] == ["name"]
