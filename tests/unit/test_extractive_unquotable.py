import pytest

from text.question_types import classify_unquotable


@pytest.mark.parametrize(
    "question",
    [
        "Which hive is the best?",
        "Should I keep bees on a balcony?",
        "Is clover better than heather?",
        "Do you think beekeeping is worth it?",
        "What would you recommend for winter?",
        "Which of the two should we buy?",
        "What's your favourite flower?",
        "哪种蜂箱最好？",
        "我应该养蜜蜂还是熊蜂？",
        "你觉得养蜂值得吗？",
    ],
)
def test_a_question_that_asks_to_judge_is_named_as_such(question: str):
    assert classify_unquotable(question, "Bees dance.") == "judging"


@pytest.mark.parametrize(
    "question",
    [
        "Plot the boats sold per month.",
        "Please plot sales by month",
        "Draw a line chart of the mean fee over the years.",
        "Can you draw me a diagram of the hive?",
        "Show me the fees as a bar chart.",
        "Visualise how the population has grown.",
        "Compare the regions with a histogram.",
        "请画一张每月销量的折线图。",
        "把每个地区的平均值画成柱状图",
        "绘制人口变化曲线",
        "用柱状图显示各地区的销量",
    ],
)
def test_a_request_for_a_figure_is_named_as_such(question: str):
    assert classify_unquotable(question, "Bees dance.") == "drawing"


@pytest.mark.parametrize(
    "question",
    [
        "What is the plot of Hamlet?",
        "Draw a conclusion from the reports.",
        "What does the chart show?",
        "Who drew the first map of Brazil?",
        "How do I plot a course at sea?",
        "Graph databases, what are they?",
        "清明上河图是谁画的？",
        "画清明上河图的人是谁？",
        "图书馆里有什么？",
    ],
)
def test_a_question_about_figures_asks_for_none(question: str):
    assert classify_unquotable(question, "Bees dance.") == ""


@pytest.mark.parametrize(
    "question",
    [
        "How many bees are mentioned by name?",
        "How many times does the text mention queens?",
        "What is the average age of a beekeeper?",
        "书里提到女王多少次？",
        "平均每个蜂箱有多少只蜜蜂？",
    ],
)
def test_a_number_that_no_passage_states_is_named_as_not_counted(question: str):
    assert (
        classify_unquotable(question, "Bees dance to tell where food is. 蜜蜂跳舞。") == "counting"
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many eggs does a queen lay?", "The queen lays up to 2000 eggs a day."),
        ("What is the best way to feed bees in winter?", "Feed them sugar."),
        ("Why is honey better than sugar?", "Honey has minerals."),
        ("What is the waggle dance?", "A dance."),
        ("Who described the dance?", "Karl von Frisch did."),
        ("When should I feed the bees?", "Feed them in autumn."),
        ("女王一天产多少个卵？", "女王一天产两千个卵。"),
    ],
)
def test_a_question_that_quotes_may_answer_is_let_be(question: str, text: str):
    assert classify_unquotable(question, text) == ""
