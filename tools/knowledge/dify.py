"""A data set of Dify; see https://docs.dify.ai/api-reference, "Retrieve Chunks"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from library.knowledge_records import KnowledgeBase
from tools.knowledge.json_requests import bearer_credentials, post_json
from tools.knowledge.knowledge_source import (
    BaseOptions,
    BasePassage,
    Progress,
    RefreshResult,
    to_text,
    unavailable,
)

LONGEST_QUERY = 250
"""The longest query that Dify takes, in characters."""


class DifyOptions(BaseOptions):
    """Which data set, how it is searched, and which variable holds the key.

    Without a method it is searched as its owner has set it up in Dify, who alone knows its weights
    and its reranker.
    """

    dataset: Annotated[str, Field(pattern=r"^[\w-]+$", max_length=64)]
    key_env: str = "DIFY_API_KEY"
    method: Literal[
        "", "hybrid_search", "semantic_search", "full_text_search", "keyword_search"
    ] = ""


class DifyBase:
    """A data set of Dify at the address of its API, such as `https://api.dify.ai/v1`."""

    is_remote = True

    def __init__(self, base: KnowledgeBase, options: DifyOptions) -> None:
        self.base, self.options = base, options

    async def search(self, query: str, limit: int) -> list[BasePassage]:
        """Return the chunks that Dify retrieves."""
        url = f"{self.base.location.rstrip('/')}/datasets/{self.options.dataset}/retrieve"
        body: dict[str, Any] = {"query": query[:LONGEST_QUERY]}
        if self.options.method:
            body["retrieval_model"] = _search_as(self.options.method, limit)
        answer = await post_json(url, body, bearer_credentials(self.options.key_env))
        records = answer.get("records")
        if not isinstance(records, list):
            raise unavailable("its answer has no records", self.base.location)
        found = [_passage(one) for one in records if isinstance(one, dict)]
        return [one for one in found if one.text][:limit]

    async def refresh(self, progress: Progress) -> RefreshResult:
        """Do nothing: Dify keeps its documents itself."""
        del progress
        return RefreshResult()

    async def check(self) -> str:
        """Search for what it is about."""
        await self.search(self.base.about, 1)
        return "it answers"


def _search_as(method: str, limit: int) -> dict[str, Any]:
    # Without a reranker, Dify appends the hits by words to those by meaning, as many of both.
    most = max(1, limit // 2) if method == "hybrid_search" else limit
    how = {"search_method": method, "reranking_enable": False, "top_k": most}
    return {**how, "score_threshold_enabled": False}


def _passage(record: Mapping[str, Any]) -> BasePassage:
    segment = record.get("segment")
    segment = segment if isinstance(segment, dict) else {}
    document = segment.get("document")
    document = document if isinstance(document, dict) else {}
    # A segment of questions and answers has the answer apart.
    text = "\n".join(filter(None, map(to_text, (segment.get("content"), segment.get("answer")))))
    place = to_text(segment.get("position"))
    return BasePassage(
        to_text(document.get("name")), text, "", f"part={place}" if place.isdecimal() else ""
    )
