import pytest

from report.checks.attribution import enforce_citations
from report.checks.roles import has_other_chinese_role
from report.checks.source_text import index_source

LAKE = (
    "青石水库由工程师陆宜春设计，由承包商韩立群施工。青石水库的大坝在雨季之前由北岸工地完成浇筑。"
    "供电方面，红枫电站逐渐被白杨电站取代，红枫电站后来改为博物馆。"
    "输水管道的起点在龙潭口，途经双桥、古镇至麦田港。管理处设在西坡，码头设在东湾，二层为展厅，一层为仓库。"
    "因胃病复发，副队长邵文礼中途离开了勘测队。队长贺兰山一直留到最后。"
)


def wrong(said):
    return has_other_chinese_role(said, [index_source(LAKE)])


@pytest.mark.parametrize(
    "said",
    [
        "供电方面，白杨电站逐渐被红枫电站取代",
        "输水管道的起点在麦田港",
        "管理处设在东湾",
        "红枫电站的大坝在雨季之前由北岸工地完成浇筑",
        "一层为展厅",
    ],
)
def test_a_thing_in_the_place_of_another_one_of_the_page_is_noticed(said):
    assert wrong(said)
    assert enforce_citations(f"{said}[S1]。", {"S1": LAKE}).doubted


@pytest.mark.parametrize(
    "said",
    [
        "白杨电站逐渐取代了红枫电站",
        "输水管道的起点在龙潭口，终点是麦田港",
        "副队长邵文礼因为胃病复发而中途离开了勘测队",
        "青石水库的大坝由北岸工地完成浇筑",
        "管理处设在西坡，而码头在东湾",
        "陆宜春设计了青石水库，韩立群负责施工",
        "水库的展厅在二层，仓库在一层",
        "古镇和双桥都在输水管道沿线",
    ],
)
def test_what_is_put_in_other_words_is_no_other_thing(said):
    assert not wrong(said)


def test_an_english_statement_is_left_to_other_checks():
    assert not has_other_chinese_role(
        "Herons nest on ducks.", [index_source("Ducks nest on herons.")]
    )


def test_a_number_behind_what_it_counts_is_compared_with_one_before_it():
    page = "该方言共有六个声调和二十一个声母，使用者多在山区。"

    assert enforce_citations("该方言的声调共有九个[S1]。", {"S1": page}).doubted
    assert not enforce_citations("该方言的声调共有六个[S1]。", {"S1": page}).doubted


def test_a_term_in_quotation_marks_hides_no_altered_word_from_the_checks():
    page = "渔港管理处在堤口立了一排蓝色木桩并标有「浅滩」字样。渔船须在退潮以前离港。"

    given = enforce_citations("渔港管理处在堤口立了一排黑色木桩并标有「浅滩」字样。", {"S1": page})

    assert not given.cited
    assert [one["text"] for one in given.doubted]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("当地无烟煤的储量很大[S1]。", "negation"),
        ("新桥的启用晚于旧渡口的关闭[S1]。", "negation"),
        ("马库斯·林德负责开采[S1]。", "name"),
        ("白沙河的某些河段在夏季断流[S1]。", "name"),
    ],
)
def test_opposite_sizes_foreign_names_and_other_owners_are_noticed(said, reason):
    page = (
        "当地无烟煤品质不高，储量很小，由弗兰克·哈特曼负责开采。新桥的启用早于旧渡口的关闭。"
        "白沙河全年通航，沿岸有两座闸门。游客多在春天来访。在青泥河的某些河段，夏季断流十分常见。"
    )

    assert [one["reason"] for one in enforce_citations(said, {"S1": page}).doubted] == [reason]


@pytest.mark.parametrize("said", ["北港的造船业并不发达[S1]。", "灯会不是当地的文化节日[S1]。"])
def test_a_word_that_only_looks_like_a_denial_does_not_hide_one(said):
    page = "北港的造船业也非常发达。灯会是当地的文化节日，展出非物质文化遗产。"

    assert [one["reason"] for one in enforce_citations(said, {"S1": page}).doubted] == ["negation"]


@pytest.mark.parametrize(
    "said",
    [
        "当地铜矿的储量很小[S1]。",
        "铜矿由弗兰克·哈特曼开采[S1]。",
        "并非所有矿工都住在山下[S1]。",
        "只有老矿工知道旧巷道的位置[S1]。",
    ],
)
def test_what_is_small_partly_denied_or_said_with_except_is_right(said):
    page = (
        "当地铜矿的储量很小，由弗兰克·哈特曼负责开采。大部分矿工住在山下，部分矿工仍住在镇上。"
        "除了老矿工以外，没有人知道旧巷道的位置。"
    )

    assert not enforce_citations(said, {"S1": page}).doubted
