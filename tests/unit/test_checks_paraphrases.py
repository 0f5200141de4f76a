"""True sentences in other words stay without a doubt, and their false twins do not."""

from __future__ import annotations

from report.checks.attribution import enforce_citations
from tests.cases import each_case

POUNCE = (
    "To refresh the shelf, use pounce renew or pounce-get renew. This command looks for parcels "
    "which can be renewed without discarding any parcels.\n\n"
    "Operators who run busy depots should take extra care. Do not load any crates including urgent "
    "crates without carefully weighing them first.\n\n"
    "Courier daemons started before a renewal keep using the old, leaky hoses.\n\n"
    "If the first round yields exactly one matching depot, the parcel is sent directly from that "
    "depot with no further matching.\n\n"
    "Then all you need to do is wait until every crate of the night has come down from the upper "
    "shelves, answer the customs questions and possibly those about locally repacked crates, and "
    "sit back while pounce does its work."
)
DEPOT = (
    "Sorting is possible, but only if using a 2.4.12 or later depot server, built with 0.7.8k or "
    "later Crane.\n\nIf the library supports PKTv1.7, the keyword can be used to choose seals.\n\n"
    "Before Crane 1.2.4, although the label told the depot early, it was not possible to switch "
    "the seal, and thus the seal was always based off the first depot.\n\n"
    "Add CraneStapling Off to the depots for which stapling should be disabled."
)
ORDER = (
    "This lookup follows a strict order:\n\n"
    "Rank: 1; Match: Exact dock, exact gate; Example: <Depot 10.0.0.1:80>.\n\n"
    "Rank: 2; Match: Exact dock, any gate; Example: <Depot 10.0.0.1:*>.\n\n"
    "Rank: 3; Match: Any dock, exact gate; Example: <Depot *:80>.\n\n"
    "Rank: 4; Match: Any dock, any gate; Example: <Depot *:*>."
)
CHINESE = (
    "不建议在测试仓库中使用 pounce 自动续订。续订每 14 天运行一次。"
    "如果需要，可以用 pounce 安装包裹组。"
)
TEXTS = {"S1": POUNCE, "S2": DEPOT, "S3": ORDER, "S4": CHINESE}
TITLES = {
    "S1": "Renewing parcels",
    "S2": "Depot servers and Crane",
    "S3": "Order of docks",
    "S4": "常见问题",
    "S5": "Installing and Automatic renewals",
}
HEAD = "| Rank | Matches | Example |\n|---|---|---|\n"


def contested(text: str) -> bool:
    texts = TEXTS | {"S5": "This page is about the paint of the depot doors in every colour."}
    checked = enforce_citations(text, texts, "", TITLES)
    return bool(checked.doubted or checked.removed)


TWINS = {
    "denied in the next sentence": (
        "`pounce renew` and `pounce-get renew` discard nothing [S1].",
        "To refresh the shelf, do not use pounce renew or pounce-get renew [S1].",
    ),
    "two denials": (
        "For busy depots it says to load nothing, including urgent crates, without careful "
        "weighing [S1].",
        "Load any crates including urgent crates without carefully weighing them first [S1].",
    ),
    "denied in other words": (
        "If exactly one depot matches, it sends the parcel without any comparison of names [S1].",
        "If the first round yields exactly one matching depot, the parcel is never sent from it "
        "directly [S1].",
    ),
    "run-in label": (
        "**Afterwards.** Daemons started before a renewal may keep using old, leaky hoses [S1].",
        "**Afterwards.** Daemons started before a renewal never use old, leaky hoses [S1].",
    ),
    "condensed": (
        "Answer the customs questions and those about locally changed crates [S1].",
        "Answer the customs questions and 25 others about locally changed crates [S1].",
    ),
    "versions": (
        "Sorting needs depot server 2.4.12 or later, built with Crane 0.7.8k or later [S2].",
        "Sorting needs depot server 2.4.13 or later, built with Crane 0.7.8k or later [S2].",
    ),
    "letter of a version": (
        "Sorting needs a depot server built with Crane 0.7.8k or later [S2].",
        "Sorting needs a depot server built with Crane 0.7.8m or later [S2].",
    ),
    "version in a name": (
        "The seals of PKT 1.7 are chosen with a keyword if the library supports it [S2].",
        "The seals of PKT 1.8 are chosen with a keyword if the library supports it [S2].",
    ),
    "always": (
        "Before Crane 1.2.4, the seal was always that of the first depot [S2].",
        "Before Crane 1.2.5, the seal was always that of the first depot [S2].",
    ),
    "code": (
        "`CraneStapling Off` switches it off for a single site [S2].",
        "`CranePinning Off` switches it off for a single site [S2].",
    ),
    "row of pairs": (
        f"{HEAD}| 2 | exact dock, any gate [S3] | `<Depot 10.0.0.1:*>` [S3] |",
        f"{HEAD}| 2 | exact dock, any gate [S3] | `<Depot 10.0.0.7:*>` [S3] |",
    ),
    "other language": (
        "Automatic renewals are not recommended for test stores; one runs every 14 days [S4].",
        "Automatic renewals are not recommended for test stores; one runs every 41 days [S4].",
    ),
    "row in another language": (
        "| Tool | For |\n|---|---|\n| pounce | Installing groups of parcels every 14 days [S4] |",
        "| Tool | For |\n|---|---|\n| pounce | Installing groups of parcels every 15 days [S4] |",
    ),
}


@each_case(TWINS)
def test_a_paraphrase_is_not_doubted(kind: str):
    assert not contested(TWINS[kind][0])


@each_case(TWINS)
def test_its_false_twin_is_caught(kind: str):
    assert contested(TWINS[kind][1])
