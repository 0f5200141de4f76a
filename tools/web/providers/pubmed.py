"""PubMed, the abstracts of medicine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tools.web.providers.hit_parsing import (
    doi_address,
    look_up,
    make_hit,
    parse_xml,
    text_of,
    unreadable_answer,
)
from tools.web.providers.provider import ProviderAccess, ProviderDeclaration, SearchHit, Topic
from tools.web.providers.provider_requests import ProviderQuery, request_body, request_json
from tools.web.providers.query_words import search_all_then_any

_MOST_HITS = 100


@dataclass(frozen=True)
class PubMed:
    """The interface of https://pubmed.ncbi.nlm.nih.gov: a search for ids, then their records."""

    declaration: ClassVar[ProviderDeclaration] = ProviderDeclaration(
        name="pubmed",
        topics=("academic",),
        url="https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
        url_variable="DOSSIER_PUBMED_URL",
        key_variable="NCBI_API_KEY",
        requests_per_second=3,
        keyed_requests_per_second=10,
        requests_per_search=3,
    )
    access: ProviderAccess

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return the best abstracts; see https://www.ncbi.nlm.nih.gov/books/NBK25499/."""
        return await search_all_then_any(query, lambda words: self._ask(words, limit))

    async def _ask(self, words: str, limit: int) -> list[SearchHit]:
        found = await request_json(
            self.access,
            self._query(
                "esearch",
                {"term": words, "retmode": "json", "sort": "relevance"},
                retmax=min(limit, _MOST_HITS),
            ),
        )
        ids = look_up(found, "esearchresult", "idlist")
        if not isinstance(ids, list):
            raise unreadable_answer()
        if not ids:
            return []
        wanted = {"id": ",".join(str(one) for one in ids), "retmode": "xml"}
        records = parse_xml(await request_body(self.access, self._query("efetch", wanted)))
        hits = (_read(one) for one in records.findall("PubmedArticle"))
        return [hit for hit in hits if hit][:limit]

    def _query(self, tool: str, more: dict[str, str], **numbers: int) -> ProviderQuery:
        params: dict[str, str | int] = {"db": "pubmed", "tool": "dossier", **more, **numbers}
        if self.access.mail_address:
            params["email"] = self.access.mail_address
        return ProviderQuery(f"/{tool}.fcgi", params, {"api_key": self.access.open_key})


def _read(record: Any) -> SearchHit | None:
    number = text_of(record, "MedlineCitation/PMID").strip()
    article = record.find("MedlineCitation/Article")
    if article is None or not number.isdecimal():
        return None
    ids = {
        one.get("IdType"): (one.text or "").strip()
        for one in record.findall("PubmedData/ArticleIdList/ArticleId")
    }
    pmc = ids.get("pmc")
    abstract = _abstract(article)
    return make_hit(
        f"https://pubmed.ncbi.nlm.nih.gov/{number}/",
        text_of(article, "ArticleTitle"),
        abstract,
        date=_date(article),
        authors=[_name(one) for one in article.findall("AuthorList/Author")],
        site=text_of(article, "Journal/Title"),
        doi=ids.get("doi"),
        kind="paper",
        alternatives=[
            f"https://pmc.ncbi.nlm.nih.gov/articles/{pmc}/" if pmc else "",
            doi_address(ids.get("doi")),
        ],
        text=abstract,
    )


def _abstract(article: Any) -> str:
    """Return an abstract, of which each part may have a label."""
    parts = []
    for one in article.findall("Abstract/AbstractText"):
        label = str(one.get("Label") or "").capitalize()
        said = "".join(one.itertext("*"))
        parts.append(f"{label}: {said}" if label else said)
    return "\n\n".join(parts)


def _date(article: Any) -> str:
    """Return when an article appeared in its journal; months are numbers or begin with letters."""
    issue = "Journal/JournalIssue/PubDate"
    year, month = text_of(article, f"{issue}/Year"), text_of(article, f"{issue}/Month")
    day = text_of(article, f"{issue}/Day")
    if month.isdecimal():
        return "-".join(one.zfill(2) for one in (year, month, day) if one)
    return f"{month} {day}, {year}" if month and day else year


def _name(author: Any) -> str:
    last, first = text_of(author, "LastName"), text_of(author, "ForeName")
    return f"{first} {last}".strip() or text_of(author, "CollectiveName")
