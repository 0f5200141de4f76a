"""The words that ask for a computation, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping

from text.regex import regex

_LEAST = (
    "bottom|smallest|lowest|minimum|min|least|fewest|shortest|lightest"
    "|cheapest|oldest|earliest|youngest"
)
_MOST = (
    "largest|biggest|highest|greatest|maximum|max|most recent|most expensive|most|longest|tallest"
    "|heaviest|newest|latest"
)
_PATTERNS = {
    "share": r"\b(?:what |which )?(?:percentage|percent|share|proportion|fraction) of\b"
    r"|百分之几|百分之多少|百分比|[占佔]比|比例",
    "distinct": r"\b(?:different|distinct|unique)\b|多少种|[几幾]种|不同的?",
    "average": r"\b(?:on average|average|mean)\b|平均[值数分]?|均值|均分",
    "median": r"\bmedian\b|中位数|中位值",
    "total": r"\b(?:grand total|in total|total|sum total|sum|altogether|combined)\b"
    r"|总和|總和|总共|一共|合计|合計|总计|总数|总分|之和|总(?=[^\W\d])",
    "min": rf"\b(?:{_LEAST})\b|最[小低少短轻輕早旧舊便](?:宜)?[值分]?",
    "max": rf"\b(?:{_MOST})\b|最[大高多长長重贵貴新晚][值分]?",
    "count": r"\b(?:how many|(?:the )?(?:total )?number of|count(?: of)?)\b"
    r"|多少[个個份本位名座只次家]?|[几幾](?:[个個份本位名座只次家]|(?=[条條行项項人]))"
    r"|数量|個数|个数",
    "how_much": r"\bhow much\b",
    "ask_list": r"\b(?:list|name all|enumerate)\b|列出|哪些",
}
OPERATION_WORDS: Mapping[str, re.Pattern[str]] = {
    name: regex(pattern, re.IGNORECASE) for name, pattern in _PATTERNS.items()
}
"""The words for each operation, in the order in which they are looked for."""

TIME_SUPERLATIVES = regex(
    r"oldest|earliest|youngest|newest|latest|most recent|最[早旧舊新晚]", re.IGNORECASE
)
"""Superlatives of time."""

LATE_SUPERLATIVES = regex(r"newest|youngest|latest|most recent|最[新晚]", re.IGNORECASE)
"""Superlatives of a late time."""

SUPERLATIVE_HINTS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "largest|biggest|smallest|最[大小]": "size kib kb mb mib gb gib byte area volume 大小 面积",
        "longest|shortest|最[长短長]": "length duration minute second hour km 长度 时长",
        "cheapest|most expensive|最便宜|最[贵貴]": "price cost fee 价格 费用",
        "heaviest|lightest|最[重轻輕]": "weight mass kg 重量",
        "tallest|最高": "height 高度 身高",
        "oldest|youngest": "age 年龄",
    }.items()
}
"""Words of the column names that a superlative may be about."""


def _parse_pairs(table: str) -> dict[str, tuple[str, ...]]:
    """Read `word meaning/meaning; word meaning`."""
    pairs = (pair.strip().partition(" ") for pair in table.split(";"))
    return {word: tuple(meanings.split("/")) for word, _, meanings in pairs}


COLUMN_SYNONYMS: Mapping[str, tuple[str, ...]] = _parse_pairs(
    """kib size; kb size; mb size; mib size; bytes size; qty quantity; amt amount;
    dept department; no number; pct percent/percentage; winner won/win/wins;
    author wrote/written; sold sale/sales; paid payment"""
)
"""Words of column names, and what people say instead."""

COLUMN_TRANSLATIONS: Mapping[str, tuple[str, ...]] = _parse_pairs(
    """包 package; 软件包 package; 包名 package; 名称 name; 姓名 name; 名字 name; 版本 version;
    类别 category/section/type; 分类 category/section; 类型 type/category; 大小 size;
    优先级 priority; 架构 architecture; 维护者 maintainer; 描述 description; 日期 date;
    价格 price; 数量 quantity/count; 金额 amount; 销售额 sales/revenue; 收入 income/revenue;
    部门 department; 年龄 age; 工资 salary/wage; 国家 country; 城市 city; 地区 region;
    人口 population; 面积 area; 产品 product; 订单 order; 客户 customer; 员工 employee;
    学生 student; 书 book; 年份 year; 文件 file; 时区 zone/timezone; 重量 weight; 长度 length;
    高度 height; 状态 status; 发布 release/released/published; 创建 created; 薪水 salary/wage;
    薪资 salary/wage; 入职 hired/joined; 离职 left; 严重程度 severity; 服务 service;
    费用 cost/fee; 成本 cost; 首都 capital; 大洲 continent; 机场 airport; 代号 codename;
    备注 note/remark/comment; 单价 unit price/price; 生日 birthday/born; 性别 gender/sex;
    作者 author; 标题 title; 语言 language; 得分 score; 成绩 score/grade/mark; 温度 temperature;
    评分 rating; 供应商 supplier/vendor; 仓库 warehouse; 库存 stock"""
)
"""Chinese words of column names, and their English equivalents."""

ROW_NOUNS = regex(
    r"\b(?:rows?|records?|entries|entry|lines?|items?)\b|[条條]?[记記][录錄]|[数數]据行"
    r"|[行条條项項]",
    re.IGNORECASE,
)
"""Nouns for the rows of any table."""

PERSON_NOUNS = regex(
    r"\b(?:people|persons?|staff|men and women)\b|员工|人员|学生|同学|[名位个]?人", re.IGNORECASE
)
"""Nouns for the rows of a table of persons."""

WHO_WORDS = regex(r"\b(?:who|whom)\b|谁|哪[一几]?[位名]", re.IGNORECASE)
"""Question words for the name of a row."""

BEFORE_ROW_NOUN = regex(
    r"(?:\b(?:how many|number of|count of|which|list(?: the)?|top \d+"
    r"|bottom \d+)(?:\s+(?-i:[A-Z])[\w-]+)?"
    r"|哪[一些]?[个個]?|[多少几幾]+[个個]?)\s*[\"'`“‘「]?$",
    re.IGNORECASE,
)
AFTER_ROW_NOUN = regex(
    r"^[\"'`”’」]?\s*(?:列)?(?:一共|总共|共|各)?(?:有|是)?\s*(?:多少|[几幾])[个個份种種条條]"
)
"""What precedes and follows the noun for a row."""

FIRST_LAST_WORDS = regex(r"\b(?:first|last)\b|最先|最后|最早|第一[个個]?", re.IGNORECASE)
"""Words for the first or the last by date."""

SHARE_VERBS = regex(
    r"\b(?:are|is|were|was|have|has|had|works?|contains?|costs?|earns?|starts?|begins?|ends?)\b"
    r"|(?:之|当)?中(?=[^国文间]|$)|里面?",
    re.IGNORECASE,
)
"""What separates the rows of which a share is asked from the condition on them."""

WHEN_WORDS = regex(
    r"\b(?:which|what) (?:day|date|month|year)\b|\bwhen\b|哪一?[天年月]|什么时候|何时",
    re.IGNORECASE,
)
"""Question words for the date of a row."""

BEFORE_COUNTED_NOUN = regex(
    r"(?:\b(?:how many|number of|count of|(?:percentage|percent|share|proportion"
    r"|fraction) of)(?: the)?\s+"
    r"(?:[a-z]+ )?|[多少几幾]+[个個本位名座只次家条]\s*)$",
    re.IGNORECASE,
)
"""What precedes the noun for what is counted."""

EXPLANATION_WORDS = regex(
    r"\bwhy\b|\bhow (?:do|does|did|can|could|should|would|is|are|was|were|to)\b|\bcompare\b"
    r"|\bexplain\b"
    r"|为什么|为何|為什麼|怎么|怎样|如何|原因|解释|说明",
    re.IGNORECASE,
)
"""Words that ask for reasons, ways or comparisons, which are not computed."""

BEFORE_GROUP_COLUMN = regex(
    r"\b(?:per|by|for each|for every|in each|in every|of each|each|every|grouped by|broken down by"
    r"|for the different)\s*$"
    r"|(?:每[一]?[个個种種位名]?|各[个個]?|按照?)\s*$",
    re.IGNORECASE,
)
"""What precedes the column that rows are grouped by."""

_NUMBER = r"[-−]?\d(?:[\d,]*\d)?(?:\.\d+)?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = (
    rf"\d{{4}}-\d{{1,2}}(?:-\d{{1,2}})?"
    rf"|\d{{4}}\s*年(?:\s*\d{{1,2}}\s*月(?:\s*\d{{1,2}}\s*[日号])?)?"
    rf"|(?:\d{{1,2}} )?{_MONTH} (?:\d{{1,2}},? )?\d{{4}}|\d{{4}}(?![\d.,]\d)"
)
_SCALE = (
    r"(?:\s?(?P<scale>thousand|million|billion|万|亿|千))?"
    r"(?P<tail>\s?(?:%|[A-Za-z]+|[分元天岁名人次个個条](?![一-鿿]{2,}列)))?"
)
_MONEY = "[$€£¥]?"


def _over(words: str, zh: str, sign: str) -> str:
    before = rf"(?:\b(?:{words})\b|{zh}|{sign})\s*"
    return rf"{before}{_MONEY}(?P<number>{_NUMBER}){_SCALE}(?![\d-])"


NUMBER_COMPARISONS: Mapping[str, re.Pattern[str]] = {
    name: regex(pattern, re.IGNORECASE)
    for name, pattern in {
        "between": rf"(?:\b(?:between|from)\b|介于|在|从|(?<=\x00)"
        rf"|(?<=\x00\s))\s*{_MONEY}(?P<number>{_NUMBER})"
        rf"\s*(?:and|to|through|thru|till|until|到|和|与|至|-|–|—|~"
        rf"|～)\s*{_MONEY}(?P<other>{_NUMBER})"
        r"(?:\s*之间)?(?![\d-])(?P<scale>)(?P<tail>)",
        ">=": _over(
            "at least|no less than|not less than|no fewer than|a minimum of",
            "不少于|不低于|至少|大于等于",
            "≥|>=",
        )
        + rf"|{_MONEY}(?P<number2>{_NUMBER})(?=\s*(?:以上|or more\b|or higher\b|and above\b))"
        r"\s*(?:以上|or more|or higher|and above)",
        "<=": _over(
            "at most|no more than|not more than|up to|a maximum of", "不超过|至多|小于等于", "≤|<="
        )
        + rf"|{_MONEY}(?P<number2>{_NUMBER})(?=\s*(?:以下|or less\b|or fewer\b|or lower\b))"
        r"\s*(?:以下|or less|or fewer|or lower)",
        ">": _over(
            "(?:more|greater|larger|bigger|higher|longer|older) than|over|above|exceeding|exceeds?",
            "超过|大于|多于|高于",
            ">",
        ),
        "<": _over(
            "(?:less|fewer|smaller|lower|shorter) than|under|below", "小于|少于|低于|不到", "<"
        ),
    }.items()
}
"""Comparisons of a column with a number."""

DATE_COMPARISONS: Mapping[str, re.Pattern[str]] = {
    name: regex(pattern, re.IGNORECASE)
    for name, pattern in {
        "between": rf"(?:\b(?:between|from)|介于|在|从|自)?\s*(?P<day>{_DAY})\s*"
        rf"(?:\b(?:and|to|through|until|till)\b|到|至|和|与"
        rf"|[-–—~～])\s*(?P<day2>{_DAY})(?:年)?(?:\s*之?[间間])?",
        ">=": rf"\b(?:since|from|as of|no earlier than)\s+(?P<day>{_DAY})(?: on(?:wards)?)?\b"
        rf"|自?(?P<day2>{_DAY})\s*年?\s*(?:以来|起|及以后|开始)",
        "<=": rf"\b(?:until|up to|by|no later than)\s+(?:the end of\s+)?(?P<day>{_DAY})\b"
        rf"|(?P<day2>{_DAY})\s*年?\s*(?:为止|及以前)",
        "<": rf"\b(?:before|prior to|earlier than|older than)\s+(?P<day>{_DAY})\b"
        rf"|早于\s*(?P<day2>{_DAY})|(?P<day3>{_DAY})\s*年?\s*(?:之前|以前|前)",
        ">": rf"\b(?:after|later than|newer than)\s+(?P<day>{_DAY})\b"
        rf"|晚于\s*(?P<day2>{_DAY})|(?P<day3>{_DAY})\s*年?\s*(?:之后|以后|后)",
        "in": rf"\b(?:in|on|during|of)\s+(?P<day>{_DAY})\b"
        rf"|(?:在|于)?(?P<day2>\d{{4}}\s*年(?:\s*\d{{1,2}}\s*月(?:\s*\d{{1,2}}\s*[日号])?)?)",
    }.items()
}
"""Comparisons of a column with a date."""

_NONE = (
    r"without(?: an?| any)?|with no|have no|has no|had no|having no|lack(?:s|ing)?(?: an?| any)?"
    r"|(?:but |and )?no|missing(?: an?| the)?|(?:an? )?(?:empty|blank|missing)|(?:have|has|had"
    r"|is|are|was"
    r"|were) not(?: yet)?(?: been)?"
    r"|(?:haven't|hasn't|isn't|aren't|wasn't|weren't)(?: yet)?(?: been)?|not yet"
    r"|(?:do|does|did)(?: not|n't) have(?: an?| any)?|never"
)
_IN = r"(?:\s+(?:values?|entry|entries|date|cells?))?(?:\s+(?:in|for|of))?(?:\s+the)?(?:\s+column)?"
EMPTY_BEFORE = regex(rf"\b(?:{_NONE}){_IN}\s*$|(?:没有|缺少|缺|无|未)\s*$", re.IGNORECASE)
EMPTY_AFTER = regex(
    r"^[\"'`”’」]?\s*(?:column\s+)?(?:(?:date|value)\s+)?(?:(?:(?:is|are|was|were)\s+)?(?:empty"
    r"|missing|blank|null|unknown"
    r"|not (?:set|filled|given|known|there|recorded)(?: in)?)\b|(?:列|字段)?的?值?(?:为空"
    r"|是空的?|空白|缺失|没有值|没填|未填写?|无值))",
    re.IGNORECASE,
)
"""Words for an empty cell, before and behind the column's name."""

FILLED_BEFORE = regex(
    rf"\b(?:(?:have|has|had|having|with|got)\s+(?:an?|any|some)|(?:a |any )?(?:values?|entry"
    rf"|entries) (?:in|for|of)"
    rf"|filled(?: in)?|non-?empty|a known|known){_IN}\s*$|(?:填写了|填了|具有)\s*$",
    re.IGNORECASE,
)
FILLED_AFTER = regex(
    r"^[\"'`”’」]?\s*(?:column\s+)?(?:(?:date|value)\s+)?(?:(?:(?:is|are|was"
    r"|were)\s+)?(?:not (?:empty|missing|blank|null)"
    r"|filled(?: in)?|non-?empty|present|known|recorded)\b|(?:列|字段)?的?值?(?:不为空|不是空的?"
    r"|非空|有值|已填写?|不缺))",
    re.IGNORECASE,
)
"""Words for a cell that is not empty, before and behind the column's name."""

TEXT_COMPARISONS: Mapping[str, re.Pattern[str]] = {
    name: regex(pattern, re.IGNORECASE)
    for name, pattern in {
        "starts": r"\b(?:start|begin)(?:s|ning|ing)?\s+with\s+[\"'“‘]?(?P<text>[\w.+-]+)[\"'”’]?"
        r"|以\s*[\"'“‘]?(?P<text2>[\w.+-]+?)[\"'”’]?\s*(?:开头|開頭)",
        "ends": r"\bend(?:s|ing)?\s+(?:in|with)\s+[\"'“‘]?(?P<text>[\w.+-]+)[\"'”’]?"
        r"|以\s*[\"'“‘]?(?P<text2>[\w.+-]+?)[\"'”’]?\s*(?:结尾|結尾)",
        "contains": r"\b(?:contains?|containing|includes?|including|mentions?|mentioning)\s+"
        r"(?:the (?:word|text|letters?)\s+)?(?:[\"'“‘`](?P<text3>[^\"'”’`]+)[\"'”’`]"
        r"|(?P<text>[\w.+-]+))"
        r"|(?:包含|含有|带有|含)\s*(?:[\"'“‘「](?P<text4>[^\"'”’」]+)[\"'”’」]"
        r"|(?P<text2>[A-Za-z0-9.+-]+))",
    }.items()
}
"""Conditions on the text of a cell."""

NEGATION_BEFORE = regex(
    r"(?:\b(?:not|isn't|aren't|except|excluding|other than|but)(?:\s+(?:in|from|the))*|n't\s+be"
    r"|不[是为属]于?|[非除][了]?)\s*$",
    re.IGNORECASE,
)
"""What negates the condition behind it."""

_COUNTED = "two|three|four|five|six|seven|eight|nine|ten|twenty"
TOP_COUNT = regex(
    rf"\b(?:top|bottom|first|the)\s+(?P<a>\d{{1,2}}|{_COUNTED})\b"
    rf"|\b(?P<b>\d{{1,2}}|{_COUNTED})\b(?=[^.,;\d]{{0,40}}\b(?:{_MOST}|{_LEAST})\b)"
    rf"|\b(?:{_MOST}|{_LEAST})\s+(?P<c>\d{{1,2}}|{_COUNTED})\b"
    r"|(?:前|后|倒数|的)\s*(?P<d>\d{1,2}|[一二两三四五六七八九十])\s*[个個名位大条]",
    re.IGNORECASE,
)
"""How many of the largest or smallest are asked for."""

NUMBER_WORDS: Mapping[str, int] = {
    **{word: at for at, word in enumerate(_COUNTED.split("|")[:9], start=2)},
    "twenty": 20,
    **dict(zip("一二三四五六七八九十", range(1, 11), strict=True)),
    "两": 2,
}

SCALE_WORDS: Mapping[str, int] = {
    "": 1,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "千": 10**3,
    "万": 10**4,
    "亿": 10**8,
}

_FILL_EN = """a according all also altogether an and any are as at be been both by can compute
    calculate column columns could csv data dataset did do does each entire every field file find
    for from get give given had has have having how i in into is it its just many me much my named
    of on one our out over overall across among
    please report see sheet show spreadsheet table tables tell tell
    that the their them there these they this those to tsv us value values want was we were what
    what's when where whether which who whose with within would xlsx you your according called
    takes take up uses use using needs need occupies occupy space disk also say state set present
    recorded known listed there exist exists date dates day long time work works working earn earns
    earned come came begin name names number dated filled say then currently together all each only
    list row rows column"""
FILLER_WORDS = frozenset(_FILL_EN.split())
"""English words that add nothing to a question about a table."""

CHINESE_FILLERS = regex(
    "哪天|哪一天|哪一年|哪年|几号|请问|請問|请|計算|计算|帮我|告诉我|表格|文件|数据|里面|其中|所有|全部|总共|一共|哪一?[个個种種条條座家]|哪[里裡]?|什么|是多少|多少"
    "|分别|各自|属于|等于|以及|有|是|的|在|中|里|裡|了|吗|嗎|呢|为|為|这|這|那|个|個|它|其|共|和|与|及|列|表|值|由|到|占|都|按|用|里边|当中|日期|时间|具体|说明|请|并|且|求出|算出|条件|满足|数|位|名"
)
"""Chinese words that add nothing to a question about a table."""
