"""An index of Elasticsearch or OpenSearch, asked with `_search` for words and for meaning."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from library.knowledge_records import KnowledgeBase
from library.page_metadata import PageMetadata
from text.regex import regex
from tools.knowledge.json_requests import (
    Credentials,
    bearer_credentials,
    post_json,
    read_key,
)
from tools.knowledge.knowledge_source import (
    BaseOptions,
    BasePassage,
    NameList,
    Progress,
    RefreshResult,
    find_field,
    join_by_rank,
    to_text,
    unavailable,
)

CANDIDATES = 10
"""How many times as many vectors are looked at as passages are wanted."""


_DAY = regex(r"\d{4}-\d\d-\d\d")


class ElasticsearchOptions(BaseOptions):
    """The index, its fields, and the variables that hold a key, or a user and a password."""

    index: Annotated[str, Field(pattern=r"^[a-z0-9][\w.,*-]*$", max_length=201)]
    fields: NameList = ("title^2", "content")
    """The fields that are searched for words, with their weights."""
    text_field: str = "content"
    title_field: str = "title"
    url_field: str = "url"
    date_field: str = ""
    vector_field: str = ""
    """The field with vectors, searched by meaning if `model_id` names the model of the server."""
    model_id: str = ""
    key_env: str = ""
    """An API key of Elasticsearch, encoded or as `id:key`; a JSON web token of OpenSearch."""
    user_env: str = ""
    password_env: str = ""


class ElasticsearchBase:
    """An index at the address of its server, such as `https://search.example.org:9200`."""

    is_remote = True

    def __init__(self, base: KnowledgeBase, options: ElasticsearchOptions) -> None:
        self.base, self.options = base, options

    async def search(self, query: str, limit: int) -> list[BasePassage]:
        """Return the documents that `_search` finds by words, and by meaning if it can.

        They are asked for apart and joined by their ranks: a score of words has no upper bound, so
        that one of vectors would hardly count beside it.
        """
        asked = [self._ask(body, limit) for body in self._bodies(query, limit)]
        results = await asyncio.gather(*asked)
        return [one for one, _ in join_by_rank(results)[:limit]]

    async def _ask(self, body: Mapping[str, Any], limit: int) -> list[BasePassage]:
        url = f"{self.base.location.rstrip('/')}/{self.options.index}/_search"
        answer = await post_json(url, body, self._credentials())
        hits = find_field(answer, "hits.hits")
        if not isinstance(hits, list):
            raise unavailable("its answer has no hits", self.base.location)
        if not hits and (find_field(answer, "_shards.failed") or answer.get("timed_out")):
            raise unavailable("a part of the index did not answer", self.base.location)
        found = [self._passage(one) for one in hits if isinstance(one, dict)]
        found = [one for one in found if one.text][:limit]
        if hits and not found:
            what = f"what it finds has no text in the field {self.options.text_field!r}"
            raise unavailable(what, self.base.location, "name its field: --option text_field=…")
        return found

    def _credentials(self) -> Credentials:
        """Return the key or the password of the environment, in the form that the server takes."""
        options = self.options
        if user := read_key(options.user_env):
            password = read_key(options.password_env)
            return Credentials({}, (user, password), (options.user_env, options.password_env))
        if self.base.kind == "opensearch":
            # It knows no API keys, but tokens.
            return bearer_credentials(options.key_env)
        key = read_key(options.key_env)
        if ":" in key:
            # A key is sent encoded, and is shown in both forms where it is made.
            key = base64.b64encode(key.encode()).decode()
        return Credentials({"authorization": f"ApiKey {key}"} if key else {}, None, _named(options))

    async def refresh(self, progress: Progress) -> RefreshResult:
        """Do nothing: the server keeps its documents itself."""
        del progress
        return RefreshResult()

    async def check(self) -> str:
        """Search for what it is about."""
        await self.search(self.base.about, 1)
        return "it answers"

    def _bodies(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Return what is asked: a search of words, and one of vectors if there are any."""
        options = self.options
        named = (options.text_field, options.title_field, options.url_field, options.date_field)
        wanted = {"size": limit, "_source": [one for one in named if one]}
        words = {"multi_match": {"query": query, "fields": list(options.fields)}}
        bodies: list[dict[str, Any]] = [{**wanted, "query": words}]
        if not (options.vector_field and options.model_id):
            return bodies
        if self.base.kind == "opensearch":
            meant = {"query_text": query, "model_id": options.model_id, "k": limit}
            return [*bodies, {**wanted, "query": {"neural": {options.vector_field: meant}}}]
        model = {"model_id": options.model_id, "model_text": query}
        knn = {"field": options.vector_field, "k": limit, "num_candidates": CANDIDATES * limit}
        vectors = {**knn, "query_vector_builder": {"text_embedding": model}}
        return [*bodies, {**wanted, "knn": vectors}]

    def _passage(self, hit: Mapping[str, Any]) -> BasePassage:
        stored, options = hit.get("_source"), self.options

        def read(field: str) -> str:
            return to_text(find_field(stored, field)) if field else ""

        # A date may be stored as milliseconds, too.
        day = _DAY.match(read(options.date_field))
        published = PageMetadata(published=day[0] if day else "")
        title = read(options.title_field) or to_text(hit.get("_id"))
        return BasePassage(
            title, read(options.text_field), read(options.url_field), metadata=published
        )


def _named(options: ElasticsearchOptions) -> tuple[str, ...]:
    return (options.key_env,) if options.key_env else ()
