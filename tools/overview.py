"""Tell what documents a folder holds: of each its kind, size, date, language and a sentence."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from library.documents import DocumentOpening, StoredFile, list_stored_files, read_document_openings
from report.citations import SECTION_SEPARATOR
from text.background_threads import run_abandonable
from text.pluralization import pluralize
from text.regex import regex
from text.script import CJK, detect_language
from text.sentences import split_sentences
from tools.computed_pages import DerivedText, to_plain_line
from tools.unread_reasons import describe_unread_file

MOST = 60
"""So many documents are told one by one; of more, those of each folder are counted."""

SHOWN = 5
"""So many sentences are told of the beginning of a document that was asked for by its name."""

SHORTEST = 20
"""What has no more characters is a heading or a number, and is not told."""

LONGEST = 220
"""The longest sentence of a document, in characters."""

_WHOLE = regex(r"^\W*[A-Z\d].*\s.*[.!?]\W*$|[。！？]\W*$", re.DOTALL)
"""What is a sentence, and no item, heading or piece of a table."""

_MARK = regex(r"^\s*[-*+•]\s+")
"""What begins an item."""

_NOUN = regex(
    r"\b(?:folders?|director(?:y|ies)|files|documents|docs|collection|library|archive|corpus"
    r"|sources|(?:the|this|my|each|every) (?:file|document))\b"
    r"|文件[夹夾]|目[录錄]|文件|文[档檔]|[资資]料|材料"
)
_ASKS = regex(
    r"\b(?:what|what's|which|how many|summ\w*|overview|list|describe|contents?|inventory|show"
    r"|kinds?|sum up|outline)\b"
    r"|什[么麼]|哪些|[总總][结結]|概[括述要]|概[览覽]|介[绍紹]|列出|[内內]容|多少|[几幾][个個]"
)
_FILE = regex(r"[“\"「『]([^“”\"「」『』\n]+\.\w{1,8})[”\"」』]")
"""A file that is named in a question."""

_HOW = regex(r"\bhow (?!many\b)|怎|如何")
"""What asks for a way of doing something."""

_FILL = frozenset(
    re.findall(
        r"[\w']+",
        """a about all also an and any are at available be brief briefly can collection contain
        contained contains content contents corpus could describe did directory directories do
        docs document documents does each every everything file files folder folders for from
        get give got have has here how i in inside inventory is it its kind kinds know language
        languages let library like list look looking many me my name names need of on one our
        outline overview please provide put quick quickly read say see sentence sentences set
        short show size sizes sort sources stored sum summaries summarise summarize summarised
        summary take tell that the their them there these they this those through to together
        topics type types up us want was we what what's which with would you your archive one's
        cover covers covered date dates general""",
    )
)
_FILL_ZH = regex(
    "请|請|帮我|幫我|给我|給我|告诉我|告訴我|一下|简单|簡單|简要|這個|这个|这些|這些|该|我的|我|你|您|都|有|放|了"
    "|什么|什麼|哪些|哪|几个|幾個|多少|个|個|份|总结|總結|概括|概述|概要|概览|概覽|介绍|介紹|列出|所有|全部|每|一|句|话|話|说明|說明|说|說|讲|講"
    "|内容|內容|主要|关于|關於|是|的|吗|嗎|呢|大概|分别|分別|各|文件夹|文件夾|目录|目錄|文件|文档|文檔|资料|資料|材料|能|看到|读|讀|过|過|包含|和|与|种类|類型|类型|里面|裡面|里|裡|中|内"
)
_KINDS: Mapping[str, tuple[str, str]] = {
    ".csv": ("CSV table", "CSV 表格"),
    ".tsv": ("TSV table", "TSV 表格"),
    ".xlsx": ("Excel workbook", "Excel 工作簿"),
    ".pdf": ("PDF", "PDF"),
    ".docx": ("Word document", "Word 文档"),
    ".pptx": ("PowerPoint slides", "PowerPoint 幻灯片"),
    ".html": ("HTML page", "HTML 网页"),
    ".htm": ("HTML page", "HTML 网页"),
    ".xhtml": ("HTML page", "HTML 网页"),
    ".md": ("Markdown", "Markdown"),
    ".markdown": ("Markdown", "Markdown"),
    ".txt": ("text", "文本"),
    ".json": ("JSON", "JSON"),
    ".jsonl": ("JSON Lines", "JSON Lines"),
    ".epub": ("book (EPUB)", "电子书（EPUB）"),
    ".odt": ("OpenDocument text", "OpenDocument 文档"),
    ".rtf": ("Rich Text document", "RTF 文档"),
    ".eml": ("letter", "邮件"),
    ".msg": ("letter", "邮件"),
    ".ipynb": ("Jupyter notebook", "Jupyter 笔记本"),
}
_TABLES = (".csv", ".tsv", ".xlsx", ".json", ".jsonl")


def asks_overview(question: str) -> bool:
    """Tell whether a question asks what documents there are or hold, and nothing else."""
    text = _FILE.sub(" docs ", question).lower().replace("’", "'")
    if _HOW.search(text) or not (_NOUN.search(text) and _ASKS.search(text)):
        return False
    left = re.sub(f"[^{CJK}]", "", _FILL_ZH.sub("", text))
    return not left and all(word in _FILL for word in re.findall(r"[a-z']+", text))


async def describe_folders(
    owner: str, roots: Sequence[str], language: str, question: str = ""
) -> list[DerivedText]:
    """Return what the folders hold, then what each document is; nothing where none was read.

    Args:
        owner: Whose.
        roots: The folders; everything that the owner has read in where none is named.
        language: In which it is told.
        question: What is asked; of the files that it names, if any, it is told what is in them.
    """
    files = await list_stored_files(owner, roots)
    names = _FILE.findall(question)
    named = [one for one in files if Path(one.path).name in names and not one.code]
    if named:
        return await _contents(owner, named[:MOST], language)
    read = [one for one in files if not one.code]
    if not read:
        return []
    shown = read[:MOST]
    known = await read_document_openings(owner, [one.sha256 for one in shown])
    each = await run_abandonable(
        lambda: [_document(one, known.get(one.sha256), language) for one in shown]
    )
    return [_whole(files, read, language), *each]


async def _contents(owner: str, files: Sequence[StoredFile], language: str) -> list[DerivedText]:
    """Return what is in some documents: what each is, and how it begins."""
    known = await read_document_openings(owner, [one.sha256 for one in files])
    return await run_abandonable(
        lambda: [_content(one, known.get(one.sha256), language) for one in files]
    )


def _content(file: StoredFile, opening: DocumentOpening | None, language: str) -> DerivedText:
    made = _document(file, opening, language)
    return made._replace(text="\n".join([made.text, *_beginning(opening)]))


def _beginning(opening: DocumentOpening | None) -> list[str]:
    """Return the next sentences of a document, each on a line of its own."""
    spans = [one.text for one in split_sentences((opening.text if opening else "")[:2000])]
    return [f"  - “{_cut(to_plain_line(one))}”" for one in spans[1:SHOWN] if len(one) > SHORTEST]


def _whole(files: Sequence[StoredFile], read: Sequence[StoredFile], language: str) -> DerivedText:
    """Return how many documents there are, of which kinds, and which could not be read."""
    zh = language == "zh"
    roots = list(dict.fromkeys(one.root for one in files))
    kinds = Counter(_kind(one.path, zh) for one in read)
    size = _size(sum(one.size for one in read))
    comma = "、" if zh else ", "
    each = comma.join(f"{kind} {many}" for kind, many in kinds.most_common())
    where = comma.join(to_plain_line(one) for one in roots[:3])
    there = f"There {'is' if len(read) == 1 else 'are'} {pluralize(len(read), 'document')}"
    lines = [
        f"{where} 中有 {len(read)} 个文档，共 {size}：{each}。"
        if zh
        else f"{there} in {where}, {size} in all: {each}."
    ]
    lines += _not_shown(read, zh) + _unread(files, zh)
    title = f"{where}，概览" if zh else f"{where}, overview"
    return DerivedText("file", roots[0], roots[0], title, "", "\n".join(lines))


def _not_shown(read: Sequence[StoredFile], zh: bool) -> list[str]:
    if len(read) <= MOST:
        return []
    folders = Counter(os.path.dirname(one.path) for one in read)
    most = [f"{to_plain_line(folder)}: {many}" for folder, many in folders.most_common(20)]
    joined = "；".join(most) if zh else "; ".join(most)
    told = f"下面列出前 {MOST} 个；各文件夹的文档数：{joined}。"
    return [told if zh else f"The first {MOST} follow; documents by folder: {joined}."]


def _unread(files: Sequence[StoredFile], zh: bool) -> list[str]:
    bad = [_bad(one, zh) for one in files if one.code]
    if not bad:
        return []
    left = len(bad) - 20
    more = [f"另有 {left} 个" if zh else f"and {left} more"] if left > 0 else []
    joined = ("；" if zh else "; ").join([*bad[:20], *more])
    return [f"未读取：{joined}。" if zh else f"Not read: {joined}."]


def _bad(file: StoredFile, zh: bool) -> str:
    return describe_unread_file(Path(file.path).name, file.reason, "zh" if zh else "en")


def _document(file: StoredFile, opening: DocumentOpening | None, language: str) -> DerivedText:
    zh = language == "zh"
    name = Path(file.path).name
    changed = datetime.fromtimestamp(file.modified / 1e9, UTC).astimezone().date().isoformat()
    told = [_kind(file.path, zh), _size(file.size), f"{changed} 修改" if zh else f"of {changed}"]
    if opening:
        tongue = detect_language(opening.text[:2000])
        told.append({"zh": ("Chinese", "中文"), "en": ("English", "英文")}[tongue][zh])
    comma = "，" if zh else ", "
    line = f"- {to_plain_line(name)}{'：' if zh else ': '}{comma.join(told)}"
    sentence = _sentence(file, opening)
    said = (f"；“{sentence}”" if zh else f"; “{sentence}”") if sentence else ""
    title = opening.title.split(SECTION_SEPARATOR)[0] if opening else name
    return DerivedText("file", file.sha256, file.path, title or name, "", f"{line}{said}")


def _sentence(file: StoredFile, opening: DocumentOpening | None) -> str:
    """Return a sentence that says what a document is about; of a table, its first row."""
    if opening is None:
        return ""
    if file.path.lower().endswith(_TABLES):
        first = opening.text.strip().splitlines()[:1]
        return _cut(to_plain_line(first[0])) if first else ""
    said = [one.text for one in split_sentences(opening.abstract or opening.text[:1000])]
    whole = [one for one in said if _WHOLE.search(one)] or said
    return _cut(to_plain_line(_MARK.sub("", whole[0]))) if whole else ""


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _kind(path: str, zh: bool) -> str:
    suffix = Path(path).suffix.lower()
    return _KINDS[suffix][zh] if suffix in _KINDS else suffix.lstrip(".") or "text"


def _size(many: int) -> str:
    for unit, least in (("MB", 1_000_000), ("kB", 1_000)):
        if many >= least:
            return f"{many / least:.1f} {unit}"
    return f"{many} B"
