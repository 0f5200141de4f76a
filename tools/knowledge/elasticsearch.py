"""An index of Elasticsearch or OpenSearch, asked with `_search` for words and for meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from library.knowledge_records import KnowledgeBase
from library.page_metadata import PageMetadata
from tools.knowledge.json_requests import post_json, read_key
from tools.knowledge.knowledge_source import (
    BaseOptions,
    BasePassage,
    Progress,
    RefreshResult,
    find_field,
    to_text,
    unavailable,
)

CANDIDATES = 10
"""How many times as many vectors are looked at as passages are wanted."""


class ElasticsearchOptions(BaseOptions):
    """The index, its fields, and the variables that hold a key, or a user and a password."""

    index: Annotated[str, Field(pattern=r"^[a-z0-9][\w.,*-]*$", max_length=201)]
    fields: Annotated[tuple[str, ...], Field(min_length=1)] = ("title^2", "content")
    """The fields that are searched for words, with their weights."""
    text_field: str = "content"
    title_field: str = "title"
    url_field: str = "url"
    date_field: str = ""
    vector_field: str = ""
    """The field with vectors, searched by meaning if `model_id` names the model of the server."""
    model_id: str = ""
    key_env: str = ""
    user_env: str = ""
    password_env: str = ""


class ElasticsearchBase:
    """An index at the address of its server, such as `https://search.example.org:9200`."""

    is_remote = True

    def __init__(self, base: KnowledgeBase, options: ElasticsearchOptions) -> None:
        self.base, self.options = base, options

    async def search(self, query: str, limit: int) -> list[BasePassage]:
        """Return the documents that `_search` finds."""
        options = self.options
        url = f"{self.base.location.rstrip('/')}/{options.index}/_search"
        key, user = read_key(options.key_env), read_key(options.user_env)
        headers = {"authorization": f"ApiKey {key}"} if key else {}
        auth = (user, read_key(options.password_env)) if user else None
        answer = await post_json(url, self._body(query, limit), headers, auth)
        hits = find_field(answer, "hits.hits")
        if not isinstance(hits, list):
            raise unavailable("its answer has no hits", self.base.location)
        found = [self._passage(one) for one in hits if isinstance(one, dict)]
        return [one for one in found if one.text][:limit]

    async def refresh(self, progress: Progress) -> RefreshResult:
        """Do nothing: the server keeps its documents itself."""
        del progress
        return RefreshResult()

    async def check(self) -> str:
        """Search for what it is about."""
        await self.search(self.base.about, 1)
        return "it answers"

    def _body(self, query: str, limit: int) -> dict[str, Any]:
        options = self.options
        words = {"multi_match": {"query": query, "fields": list(options.fields)}}
        named = (options.text_field, options.title_field, options.url_field, options.date_field)
        body = {"size": limit, "_source": [one for one in named if one], "query": words}
        if not (options.vector_field and options.model_id):
            return body
        if self.base.kind == "opensearch":
            meant = {"query_text": query, "model_id": options.model_id, "k": limit}
            neural = {"neural": {options.vector_field: meant}}
            return body | {"query": {"bool": {"should": [words, neural]}}}
        model = {"model_id": options.model_id, "model_text": query}
        knn = {"field": options.vector_field, "k": limit, "num_candidates": CANDIDATES * limit}
        return body | {"knn": {**knn, "query_vector_builder": {"text_embedding": model}}}

    def _passage(self, hit: Mapping[str, Any]) -> BasePassage:
        stored, options = hit.get("_source"), self.options

        def read(field: str) -> str:
            return to_text(find_field(stored, field)) if field else ""

        published = PageMetadata(published=read(options.date_field)[:10])
        title = read(options.title_field) or to_text(hit.get("_id"))
        return BasePassage(
            title, read(options.text_field), read(options.url_field), metadata=published
        )
