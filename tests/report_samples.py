"""Documents of reports that have everything a page can show, in English and in Chinese."""

from __future__ import annotations

from typing import Any

from evals.exports import build_report
from graph.records import Source
from report.computed_results import make_figure
from report.document import ReportDocument

DANCE = (
    "The waggle dance was described by Karl von Frisch in 1927. A forager that has found food runs "
    "in a straight line on the comb while it shakes its body. The angle of the run to the vertical "
    "is the angle of the food to the sun. One second of waggling stands for about one kilometre."
    "\n\nOther bees follow the dancer in the dark and touch it with their antennae. In experiments "
    "with a mechanical bee in 1992 followers flew to the place that the machine had danced."
)
TEXTS = {
    "S1": DANCE,
    "S2": DANCE,
    "S3": "My bees stop dancing when rain comes, usually an hour before it falls. I trust them.",
    "S4": "A study of 12 colonies found that dances became less precise after syrup with "
    "imidacloprid. The angle error rose from 12 to 19 degrees.",
    "S5": "Mean error: 14.2 degrees\nBest month: June\n",
    "S6": "觅食蜂回到蜂巢，在巢脾上沿直线摆动身体奔跑。奔跑的时间越长，食物越远。",
}
BODIES = {
    "en": """\
The <q s="S1">angle of the run to the vertical is the angle of the food to the sun</q> [S1]. The \
dance was described by Karl von Frisch in 1927 [S1][S2]. Bees stop dancing before rain [S3].

### How precise it is

The angle error rose from 12 to 19 degrees [S4]. The mean error is 14.2 degrees [S5]. So a \
follower has to search a wide strip [S4]. A machine that danced in 1989 sent followers to the \
place [S1]. The textbook says <q s="S6">奔跑的时间越长，食物越远</q>.

| Treatment | Colonies | Angle error |
|---|--:|:-:|
| Syrup with imidacloprid [S4] | 12 | 19 |

##### What followers do

The figure shows the error by month [S5].

```python
angle = sun + run
```

## Assessment

The dance saves most of the search [S1].
""",
    "zh": """\
教科书说<q s="S6">奔跑的时间越长，食物越远</q>[S6]。\
摇摆舞由卡尔·冯·弗里施于1927年描述[S1][S2]。下雨前蜜蜂停止跳舞[S3]。

### 精度

角度误差从12度升到19度[S4]。平均误差是14.2度[S5]。\
因此跟随者要搜索很宽的一条带[S4]。1989年一只机器蜂把跟随者送到了那里[S1]。

| 处理 | 蜂群 | 角度误差 |
|---|--:|:-:|
| 含吡虫啉的糖浆[S4] | 12 | 19 |

## 评估

舞蹈省去了大部分搜索[S1]。
""",
}
INFERRED = {
    "en": [
        "So a follower has to search a wide strip [S4].",
        "The dance saves most of the search [S1].",
    ],
    "zh": ["因此跟随者要搜索很宽的一条带[S4]。", "舞蹈省去了大部分搜索[S1]。"],
}
CONTRADICTED = {
    "en": "A machine that danced in 1989 sent followers to the place.",
    "zh": "1989年一只机器蜂把跟随者送到了那里。",
}
IN_A_FORUM = {"en": "Bees stop dancing before rain.", "zh": "下雨前蜜蜂停止跳舞。"}
TITLES = {"en": "How honey bees tell each other where food is", "zh": "蜜蜂怎样告诉同伴食物在哪里"}
_FIGURE = b'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="24"><path d="M0 0h9"/></svg>'


def _source(number: int, title: str, **more: Any) -> Source:
    plain = {"page": f"p{number}", "location": f"https://s{number}.example/a", "kind": "web"}
    return Source(**{"id": f"S{number}", "title": title, **plain, **more})


SOURCES = [
    _source(1, "The dance language", genre="encyclopedia", author="Ada Lin", site="s1.example"),
    _source(2, "Bee dances explained", genre="blog", published="2021", site="s2.example"),
    _source(3, "Do bees feel the rain?", genre="forum", site="s3.example"),
    _source(4, "Imidacloprid", kind="file", location="/docs/imidacloprid.pdf#page=4"),
    _source(5, "Mean error by month", kind="computed", location="computed/1"),
    _source(6, "蜜蜂的舞蹈语言", genre="documentation", language="zh", site="s6.example"),
]


def make_rich_report(language: str = "en") -> ReportDocument:
    """Return a report with every kind of badge but two, a table, a figure, doubts and gaps."""
    return ReportDocument(
        title=TITLES[language],
        question="",
        status="partial",
        notices=[],
        body=BODIES[language],
        gaps=[{"title": "Rain", "status": "failed", "reason": "no_evidence"}],
        method={
            "summary": "2 queries",
            "parts": [{"heading": "Searched", "items": ["dance"], "rest": ""}],
        },
        inferred=INFERRED[language],
        sources=SOURCES,
        texts=TEXTS,
        removed=[{"text": "x", "reason": "quote_not_found"}],
        doubted=[
            {
                "text": CONTRADICTED[language],
                "reason": "other_number",
                "says": "In experiments with a mechanical bee in 1992 followers flew to the place",
                "source": "S1",
            }
        ],
        standing=[{"text": IN_A_FORUM[language], "reason": "forum"}],
        unreviewed=1,
        language=language,
        created="2026-11-28",
        computations=[
            {
                "source": SOURCES[4],
                "code": "print('Mean error: 14.2 degrees')",
                "inputs": ["angles.csv"],
                "sha256": "a" * 64,
                "outcome": "same",
                "figures": [make_figure("error.svg", _FIGURE)],
            }
        ],
    )


def make_long_report() -> ReportDocument:
    """Return a report of 5,000 words with 30 sources."""
    return build_report().document


def make_empty_report() -> ReportDocument:
    """Return a report that found nothing."""
    empty: dict[str, Any] = {
        "body": "",
        "status": "insufficient_evidence",
        "sources": [],
        "texts": {},
        "doubted": [],
        "standing": [],
        "inferred": [],
        "computations": [],
    }
    return ReportDocument(**{**make_rich_report(), **empty})


def make_passage_report() -> ReportDocument:
    """Return a report whose one source is a long paragraph, with the cited words in its middle."""
    words = "The angle error rose from 12 to 19 degrees."
    before, after = "The keepers noted all of it with care. " * 40, " Nothing more was noted." * 30
    report = make_rich_report()
    body, texts = f"{words[:-1]} [S1].", {"S1": f"{before}{words}{after}"}
    return ReportDocument(
        **{**make_empty_report(), "body": body, "texts": texts, "sources": report["sources"][:1]}
    )
