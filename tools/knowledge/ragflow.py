"""Data sets of RAGFlow; see https://ragflow.io/docs/http_api_reference, "Retrieve chunks"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from library.knowledge_records import KnowledgeBase
from tools.knowledge.json_requests import bearer_credentials, post_json
from tools.knowledge.knowledge_source import (
    BaseOptions,
    BasePassage,
    NameList,
    Progress,
    RefreshResult,
    to_text,
    unavailable,
)

REASONS = {
    101: "it does not take what it was asked",
    102: "there is no such data set, or it is not the key's",
    108: "the key may not be used for this",
    109: "it does not accept the key",
}
"""What the codes of its answers mean (`RetCode` in its source)."""


class RagflowOptions(BaseOptions):
    """Which data sets, how similar a chunk must be, and which variable holds the key."""

    datasets: NameList
    key_env: str = "RAGFLOW_API_KEY"
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.2
    keyword: bool = False


class RagflowBase:
    """Data sets of RAGFlow at the address of its server, such as `http://localhost:9380`."""

    is_remote = True

    def __init__(self, base: KnowledgeBase, options: RagflowOptions) -> None:
        self.base, self.options = base, options

    async def search(self, query: str, limit: int) -> list[BasePassage]:
        """Return the chunks that RAGFlow retrieves."""
        body = {
            "question": query,
            "dataset_ids": self.options.datasets,
            "page": 1,
            "page_size": limit,
            "similarity_threshold": self.options.threshold,
            "keyword": self.options.keyword,
        }
        url = f"{self.base.location.rstrip('/')}/api/v1/retrieval"
        access = bearer_credentials(self.options.key_env)
        answer = await post_json(url, body, access)
        # Errors come with status 200 and a code of their own.
        if (code := answer.get("code")) != 0:
            what = REASONS.get(code) if isinstance(code, int) else None
            what = what or f"it answers with code {to_text(code)[:20] or '?'}"
            raise unavailable(what, self.base.location, access.hint)
        data = answer.get("data")
        chunks = data.get("chunks") if isinstance(data, dict) else None
        if not isinstance(chunks, list):
            raise unavailable("its answer has no chunks", self.base.location)
        found = [_passage(one) for one in chunks if isinstance(one, dict)]
        return [one for one in found if one.text][:limit]

    async def refresh(self, progress: Progress) -> RefreshResult:
        """Do nothing: RAGFlow keeps its documents itself."""
        del progress
        return RefreshResult()

    async def check(self) -> str:
        """Search for what it is about."""
        await self.search(self.base.about, 1)
        return "it answers"


def _passage(chunk: Mapping[str, Any]) -> BasePassage:
    title = chunk.get("document_keyword") or chunk.get("document_name")
    return BasePassage(to_text(title), to_text(chunk.get("content")), "")
