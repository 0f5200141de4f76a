"""Quotes of pages in the other language than the question, and refusals to quote them."""

from __future__ import annotations

from langchain_core.messages import HumanMessage

from graph.records import Passage, Source
from models.extractive.foreign_quotes import select_foreign_quotes, select_named_pages
from models.extractive.model import ExtractiveChatModel
from prompts.data_blocks import join_prompt_blocks, render_block, render_pages_block
from text.answerability import SourcePassage

MANUAL = "prefix sets the prefix key of mux. The default prefix key of mux is C-b."
TUTORIAL = "默认的前缀键是空格键，按下前缀键以后再按命令键。"
BACKUP = "If the password is lost, the data of the backup cannot be recovered."


def page(name: str, text: str, title: str = "Manual") -> SourcePassage:
    return SourcePassage(name, title, "", text)


def quoted(question: str, *texts: str) -> list[str]:
    pages = [page(f"S{at}", text) for at, text in enumerate(texts, start=1)]
    found = select_foreign_quotes(question, pages)
    return [quote.text for quote in found.quotes] if found else []


def finding(question: str, *texts: str) -> tuple[str, object]:
    sources = {
        f"S{at}": Source(id=f"S{at}", page="", title="Manual", location="", kind="file")
        for at in range(1, len(texts) + 1)
    }
    passages = [Passage(source=f"S{at}", text=text) for at, text in enumerate(texts, start=1)]
    request = join_prompt_blocks(
        render_block("question", question),
        render_block("step", question, title=question),
        render_pages_block(passages, sources),
    )
    reply = ExtractiveChatModel().invoke([HumanMessage(request)])
    return reply.text, reply.response_metadata.get("unsure")


def test_terms_of_the_list_find_a_sentence_in_the_other_language():
    assert quoted("备份的密码丢失以后，数据还能恢复吗？", BACKUP)[0] == BACKUP


def test_nothing_is_quoted_where_most_of_the_question_cannot_be_said():
    assert quoted("量子计算机的密码怎么恢复？", BACKUP) == []


def test_nothing_is_quoted_of_a_page_that_lacks_a_name_of_the_question():
    assert quoted("Foo 的备份密码丢失以后，数据还能恢复吗？", BACKUP) == []
    assert quoted("Foo 的备份密码丢失以后，数据还能恢复吗？", f"Foo. {BACKUP}") != []


def test_a_single_term_is_no_reason_to_quote():
    assert quoted("密码？", BACKUP) == []


def test_only_pages_with_the_names_count_if_they_are_in_the_other_language():
    pages = [page("S1", MANUAL), page("S2", TUTORIAL)]

    assert [one.id for one in select_named_pages("mux 的默认前缀键是什么？", pages)] == ["S1"]
    assert select_named_pages("默认前缀键是什么？", pages) == pages


def test_a_page_of_the_own_language_with_the_name_stays():
    pages = [page("S1", MANUAL), page("S2", f"mux：{TUTORIAL}"), page("S3", "Other things.")]

    kept = select_named_pages("mux 的默认前缀键是什么？", pages)

    assert [one.id for one in kept] == ["S1", "S2"]


def test_pages_in_the_language_of_the_question_are_all_kept():
    pages = [page("S1", TUTORIAL), page("S2", "别的内容。")]

    assert select_named_pages("mux 的默认前缀键是什么？", pages) == pages


def test_a_finding_quotes_the_manual_that_is_meant_and_is_never_sure():
    text, unsure = finding("mux 的默认前缀键是什么？", TUTORIAL, MANUAL)

    assert 's="S2"' in text
    assert 's="S1"' not in text
    assert unsure is not None


def test_a_finding_is_none_where_no_page_has_the_name():
    text, unsure = finding("Qux 的备份密码丢失以后怎么恢复？", BACKUP)

    assert "<q" not in text
    assert unsure is None


def test_an_english_question_is_answered_from_a_chinese_page():
    text, unsure = finding("Which port does Qux use by default?", "Qux 的默认端口是 5236。")

    assert "5236" in text
    assert unsure is not None
