"""A tool of an MCP server that gave no answer."""

from __future__ import annotations

from config.errors import Problem


class ToolUnanswered(Problem):
    """A tool, or all tools of a server, gave no answer; the run goes on without it."""

    def __init__(self, problem: Problem, name: str) -> None:
        super().__init__(problem.error, problem.what, where=problem.where, hint=problem.hint)
        self.name = name
        """The server, and the tool if it is one."""

    @property
    def failures(self) -> dict[str, str]:
        """Why not, by name."""
        return {self.name: self.code}
