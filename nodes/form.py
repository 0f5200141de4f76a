"""Bind the form of a typed answer to the model, where its server knows forms."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from pydantic import BaseModel

from config.errors import Problem

_formless: set[str] = set()
"""The models that refused a form in this process; the prompt's own words must do for them."""


class Form(AgentMiddleware[Any, Any, Any]):
    """Ask for JSON that fits a schema; a server that refuses that is asked without it."""

    def __init__(self, schema: type[BaseModel]) -> None:
        super().__init__()
        form = {"name": schema.__name__, "schema": schema.model_json_schema(), "strict": False}
        self.settings = {"response_format": {"type": "json_schema", "json_schema": form}}

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Pass the request on with the form bound, or without it."""
        model = str(request.model.metadata)
        if model in _formless:
            return await handler(request)
        try:
            return await handler(request.override(model_settings=self.settings))
        except Problem as problem:
            if problem.code != "model_rejected" or "response_format" not in problem.hint:
                raise
        _formless.add(model)
        return await handler(request)
