"""What goes wrong in a way a person can mend, with a code, a hint and an exit status."""

from config.keys import without_keys

EXIT = {
    "usage": 2,
    "refused": 3,
    "not_found": 4,
    "conflict": 5,
    "partial": 6,
    "unavailable": 7,
    "failed": 1,
}

KINDS = {
    "answer_cut": "failed",
    "answer_empty": "failed",
    "answer_invalid": "failed",
    "answer_too_long": "failed",
    "budget_spent": "partial",
    "chat_not_found": "not_found",
    "chroma_unavailable": "unavailable",
    "config_not_found": "not_found",
    "docs_not_found": "not_found",
    "edit_refused": "refused",
    "embedder_missing": "unavailable",
    "event_not_found": "not_found",
    "fact_changed": "conflict",
    "fact_known": "conflict",
    "fact_not_found": "not_found",
    "feedback_refused": "refused",
    "file_not_found": "not_found",
    "forget_unconfirmed": "refused",
    "home_not_private": "unavailable",
    "home_read_only": "unavailable",
    "import_unconfirmed": "refused",
    "host_refused": "refused",
    "prune_unconfirmed": "refused",
    "insufficient_evidence": "failed",
    "internal": "failed",
    "memory_file_busy": "conflict",
    "memory_not_found": "not_found",
    "memory_file_unknown": "not_found",
    "memory_file_unwritable": "unavailable",
    "model_auth": "unavailable",
    "model_context": "failed",
    "model_key_missing": "unavailable",
    "model_quota": "unavailable",
    "model_refused": "failed",
    "model_rejected": "failed",
    "model_timeout": "unavailable",
    "model_unavailable": "unavailable",
    "namespace_not_found": "not_found",
    "nothing_to_search": "not_found",
    "not_editable": "refused",
    "not_waiting": "conflict",
    "origin_refused": "refused",
    "output_exists": "conflict",
    "output_lost": "unavailable",
    "output_not_writable": "unavailable",
    "package_missing": "unavailable",
    "page_empty": "failed",
    "page_not_found": "not_found",
    "page_not_text": "failed",
    "page_timeout": "unavailable",
    "page_unavailable": "unavailable",
    "project_not_found": "not_found",
    "proposal_decided": "conflict",
    "proposal_not_found": "not_found",
    "rate_limited": "unavailable",
    "run_in_progress": "conflict",
    "run_not_found": "not_found",
    "run_unfinished": "conflict",
    "schema_newer": "unavailable",
    "search_unavailable": "unavailable",
    "secret_refused": "refused",
    "server_missing": "unavailable",
    "stale_plan": "conflict",
    "state_refused": "refused",
    "storage_busy": "conflict",
    "storage_corrupt": "unavailable",
    "storage_full": "unavailable",
    "storage_unavailable": "unavailable",
    "thread_incompatible": "conflict",
    "thread_not_found": "not_found",
    "thread_taken": "conflict",
    "token_missing": "refused",
    "token_unusable": "unavailable",
    "token_wrong": "refused",
    "undo_conflict": "conflict",
    "undo_done": "conflict",
    "untrusted_fact": "refused",
    "undo_forgotten": "conflict",
    "undo_impossible": "refused",
    "url_blocked": "refused",
    "url_redirects": "refused",
    "url_scheme": "refused",
    "url_too_large": "refused",
    "url_unresolved": "refused",
    "waiting_review": "conflict",
}
"""The kind of each code; a code that is not listed is a usage error."""


class Problem(RuntimeError):
    """An error that is told in one line: `error[code]: what (where) — hint`.

    What a server says may echo the key that it was sent, so keys are taken out of all the words.
    It is a `RuntimeError` because the LangGraph server tells its clients the words of those only.
    """

    def __init__(self, code: str, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(without_keys(what))
        self.code = code
        self.what = without_keys(what)
        self.where = without_keys(where)
        self.hint = without_keys(hint)

    @property
    def exit_status(self) -> int:
        """Return the exit status of the command line for this code."""
        return EXIT[KINDS.get(self.code, "usage")]

    def __str__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        hint = f" — {self.hint}" if self.hint else ""
        return f"error[{self.code}]: {self.what}{where}{hint}"

    def as_dict(self) -> dict[str, str]:
        """Return the same words as plain data, for `--json` and the server."""
        return {"code": self.code, "detail": self.what, "where": self.where, "hint": self.hint}
