"""Say in Chinese why a file was not read; the reason is stored in English, whoever asks later."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tools.computed_pages import to_plain_line

_CHINESE: Mapping[str, str] = {
    "an image": "图片",
    "a sound recording": "录音",
    "a video": "视频",
    "not a type that is read": "不支持的类型",
    "files like this are not read: .*": "不支持的类型",
    "a report of dossier itself": "dossier 自己的报告",
    "its name is no text": "文件名不是文本",
    "it was not read in": "尚未读入",
    "there is no such file": "没有这个文件",
    "it cannot be opened: (.*)": "无法打开：{}",
    "it is empty": "空文件",
    "it has no text": "没有文字",
    "it is a scan: .*": "扫描件：页面是图片，需要文字识别（OCR）",
    "it cannot be read as a page": "无法作为网页读取",
    r"it cannot be read \((.*)\)": "无法读取（{}）",
    "it is cut off or damaged": "不完整或已损坏",
    "its parser crashed": "解析时崩溃",
    "it is locked with a password": "有密码保护",
    r"it is locked by its seller \(DRM\)": "受销售方的版权保护（DRM）",
    "it is not text in any known encoding": "不是任何已知编码的文本",
    "it is no text document": "不是文本文档",
    "it is no notebook of the present format": "不是现行格式的笔记本",
    "its name ends in (.*), but it is (.*)": "文件名以 {} 结尾，内容却是另一种类型（{}）",
    "it is a zip archive, but not a (.*) file": "是 zip 压缩包，但不是 {} 文件",
    "it needs far more memory than a document of its size": "所需内存远超同样大小的文档",
    "it unpacks from (.*) to (.*) bytes": "解压后从 {} 字节变成 {} 字节",
    "it has more than (.*) bytes": "超过 {} 字节",
    "it has more than (.*) characters of text": "文字超过 {} 个字符",
    "it has (.*) pages; (.*) are read at most": "有 {} 页，最多读取 {} 页",
    "reading it takes more than (.*) seconds": "读取时间超过 {} 秒",
    "nothing in it can be read": "没有可读的内容",
    "its content did not arrive whole": "内容没有完整传到",
    "only its address or its name was sent": "只收到了地址或名称",
}
"""Every reason in Chinese; what is in parentheses stands in the place of the braces."""


def translate_reason(language: str, reason: str) -> str:
    """Return a reason in the language of the person; one that is not known stays as it is."""
    if language != "zh":
        return reason
    for english, chinese in _CHINESE.items():
        if found := re.fullmatch(english, reason):
            return chinese.format(*found.groups())
    return reason


def describe_unread_file(name: str, reason: str, language: str) -> str:
    """Return the name of a file with why it was not read, in the language of the person."""
    told = to_plain_line(translate_reason(language, reason))
    return (
        f"{to_plain_line(name)}（{told}）"
        if language == "zh"
        else f"{to_plain_line(name)} ({told})"
    )
