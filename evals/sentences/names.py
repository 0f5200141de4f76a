"""Find Chinese names that are surely whole, so that another one can take their place."""

from __future__ import annotations

import re

HAN = "[\u4e00-\u9fff]"

_BOUND = (
    "在于於是的与與和及由为為被曾、，。：；《》（）“”「」也任将將把对對从從向到至给給跟或而并並等"
    "说說称稱即年月日时時前后後"
)
_BODIES = (
    "大学|大學|学院|學院|公司|医院|醫院|车站|車站|机场|機場|俱乐部|俱樂部|银行|銀行|博物馆|博物館"
    "|图书馆|圖書館|电视台|電視台|委员会|委員會"
)
_NO_NAME = re.compile(
    "[就读讀入进進毕畢业業考任职職成创創加转轉调調聘该該本此原其前所有多各家个個铁鐵地火线線路新幹干客运運]"
)
_BODY = re.compile(f"(?<=[{_BOUND}])({HAN}{{2,4}}(?:{_BODIES}))(?=[{_BOUND}])")
_WORK = re.compile(f"《({HAN}{{2,12}})》")
_PERSON = re.compile(f"(?<![{HAN[1:-1]}])({HAN}{{2,6}}·{HAN}{{2,6}})(?=[{_BOUND}])")
_ASKED = {
    "person": re.compile("[谁誰]|何人|哪[一]?位"),
    "place": re.compile("哪[里裡兒儿]|何[地处處]|哪[一]?[个個座]?(?:国|國|城|省|地|州|县|縣|市)"),
    "body": re.compile("哪[一]?[间間所家支个個]?(?:公司|大学|大學|学校|學校|球[队隊]|医院|醫院)"),
}


def chinese_names(title: str, text: str) -> dict[str, str]:
    """Return the whole names in a page with their sorts: the title, and what is marked as one."""
    found = dict.fromkeys(_WORK.findall(text), "work")
    found |= dict.fromkeys(_PERSON.findall(text), "person")
    bodies = (one for one in _BODY.findall(text) if not _NO_NAME.search(one))
    found |= dict.fromkeys(bodies, "body")
    whole = re.fullmatch(f"{HAN[:-1]}·]{{2,8}}", title)
    return found | ({title: "title"} if whole else {})


def asked_sort(question: str) -> str:
    """Return what sort of name answers a question, or nothing where it asks for something else."""
    return next((sort for sort, asks in _ASKED.items() if asks.search(question)), "")


def stands_whole(name: str, said: str) -> bool:
    """Tell whether a name stands in a Chinese sentence with nothing beside it that may be its."""
    return bool(re.search(f"(?:^|(?<=[{_BOUND}]|\\d)){re.escape(name)}(?=[{_BOUND}]|$)", said))
