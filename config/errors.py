"""Problems that a person can solve, each with a code, a hint and an exit status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from config.key_masking import mask_keys

if TYPE_CHECKING:
    from pydantic import ValidationError


EXIT_STATUS = {
    "usage": 2,
    "refused": 3,
    "not_found": 4,
    "conflict": 5,
    "partial": 6,
    "unavailable": 7,
    "failed": 1,
}

PROBLEM_KINDS = {
    "address_unusable": "unavailable",
    "answer_cut": "failed",
    "answer_empty": "failed",
    "answer_invalid": "failed",
    "answer_too_long": "failed",
    "answer_unusable": "failed",
    "bad_checkpoint": "usage",
    "bad_choice": "usage",
    "bad_feedback": "usage",
    "bad_file_name": "usage",
    "bad_locale": "usage",
    "bad_message": "usage",
    "bad_thread_id": "usage",
    "budget_spent": "partial",
    "chat_empty": "usage",
    "chat_not_found": "not_found",
    "chat_unreadable": "usage",
    "checkpoint_not_found": "not_found",
    "checkpoints_unsafe": "unavailable",
    "chroma_unavailable": "unavailable",
    "config_not_found": "not_found",
    "config_syntax": "usage",
    "config_value": "usage",
    "corpus_empty": "usage",
    "corpus_line": "usage",
    "corpus_unreadable": "usage",
    "decision_missing": "usage",
    "docs_empty": "usage",
    "docs_not_found": "not_found",
    "docs_unreadable": "usage",
    "edit_refused": "refused",
    "editor_failed": "unavailable",
    "embedder_changed": "conflict",
    "embedder_missing": "unavailable",
    "embedder_unknown": "usage",
    "event_not_found": "not_found",
    "export_invalid": "usage",
    "fact_changed": "conflict",
    "fact_empty": "usage",
    "fact_invalid": "usage",
    "fact_known": "conflict",
    "fact_not_found": "not_found",
    "fact_too_long": "usage",
    "feedback_empty": "usage",
    "feedback_refused": "refused",
    "feedback_unclear": "usage",
    "file_bomb": "refused",
    "file_broken": "failed",
    "file_empty": "failed",
    "file_encrypted": "failed",
    "file_no_text": "failed",
    "file_not_found": "not_found",
    "file_not_text": "failed",
    "file_timeout": "failed",
    "file_too_large": "usage",
    "file_type": "usage",
    "file_type_mismatch": "failed",
    "file_unreadable": "usage",
    "forget_unconfirmed": "refused",
    "home_not_private": "unavailable",
    "home_read_only": "unavailable",
    "host_refused": "refused",
    "import_unconfirmed": "refused",
    "insight_not_found": "not_found",
    "insufficient_evidence": "failed",
    "internal": "failed",
    "locomo_unreadable": "usage",
    "log_invalid": "usage",
    "memory_ambiguous": "usage",
    "memory_file_busy": "conflict",
    "memory_file_too_large": "usage",
    "memory_file_unknown": "not_found",
    "memory_file_unreadable": "unavailable",
    "memory_file_unwritable": "unavailable",
    "memory_not_found": "not_found",
    "memory_section_broken": "conflict",
    "memory_unknown": "usage",
    "model_auth": "unavailable",
    "model_context": "failed",
    "model_key_missing": "unavailable",
    "model_quota": "unavailable",
    "model_refused": "failed",
    "model_rejected": "failed",
    "model_timeout": "unavailable",
    "model_unavailable": "unavailable",
    "model_without_price": "usage",
    "namespace_not_found": "not_found",
    "not_editable": "refused",
    "not_waiting": "conflict",
    "nothing_to_search": "not_found",
    "origin_refused": "refused",
    "out_of_range": "usage",
    "output_exists": "conflict",
    "output_lost": "unavailable",
    "output_not_writable": "unavailable",
    "package_missing": "unavailable",
    "page_empty": "failed",
    "page_not_found": "not_found",
    "page_not_text": "failed",
    "page_timeout": "unavailable",
    "page_unavailable": "unavailable",
    "plan_cycle": "usage",
    "plan_duplicate_id": "usage",
    "plan_field": "usage",
    "plan_file": "usage",
    "plan_too_long": "usage",
    "plan_unknown_need": "usage",
    "project_not_found": "not_found",
    "proposal_decided": "conflict",
    "proposal_not_found": "not_found",
    "prune_unconfirmed": "refused",
    "query_withheld": "refused",
    "question_empty": "usage",
    "question_too_long": "usage",
    "rate_limited": "unavailable",
    "request_refused": "refused",
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
    "text_timeout": "failed",
    "thread_incompatible": "conflict",
    "thread_missing": "usage",
    "thread_not_found": "not_found",
    "thread_taken": "conflict",
    "token_missing": "refused",
    "token_unusable": "unavailable",
    "token_wrong": "refused",
    "tool_limit": "failed",
    "undo_conflict": "conflict",
    "undo_done": "conflict",
    "undo_forgotten": "conflict",
    "undo_impossible": "refused",
    "unknown_field": "usage",
    "unknown_model": "usage",
    "unknown_provider": "usage",
    "unknown_role": "usage",
    "untrusted_fact": "refused",
    "url_blocked": "refused",
    "url_redirects": "refused",
    "url_scheme": "refused",
    "url_too_large": "refused",
    "url_unresolved": "refused",
    "usage": "usage",
    "waiting_review": "conflict",
}
"""The kind of each code; a code that is not listed is a defect of the program, so it `failed`."""

PROBLEM_HINTS = {
    "answer_cut": "ask again, or name another model in DOSSIER_MODEL",
    "answer_empty": "ask again, or name another model in DOSSIER_MODEL",
    "answer_invalid": "ask again, or name another model in DOSSIER_MODEL",
    "answer_too_long": "ask again, or name a model in DOSSIER_MODEL that writes longer answers",
    "answer_unusable": "resume the run, or name another model in DOSSIER_MODEL",
    "chat_unreadable": "name an existing file that you may read",
    "checkpoints_unsafe": "install the version of langgraph-checkpoint that is required",
    "config_not_found": "name an existing file in DOSSIER_MODELS, or leave it empty",
    "config_syntax": "see config/models.toml for the format",
    "config_value": "see .env.example",
    "corpus_empty": "give a file with a JSON object on each line",
    "corpus_line": "write a JSON object with the fields that the README lists on each line",
    "corpus_unreadable": "name an existing text file in UTF-8 that you may read",
    "docs_unreadable": "give yourself read permission",
    "embedder_missing": "name one in DOSSIER_EMBEDDINGS, or see `dossier doctor`",
    "fact_invalid": "give a time in seconds, or none",
    "fact_not_found": "see `dossier memory list --memory facts`",
    "file_unreadable": "open it to see whether it is complete, and save it again",
    "locomo_unreadable": "name the file as it was published",
    "memory_file_unreadable": "check that the file exists, is text, and is readable",
    "memory_file_unwritable": "give yourself write permission",
    "model_auth": "check that the key is correct, belongs to this server, and may use this model",
    "model_quota": "add credit to the account, or name another model in DOSSIER_MODEL",
    "model_refused": "rephrase the question, or name another model in DOSSIER_MODEL",
    "model_timeout": "resume the run later, or raise DOSSIER_CALL_SECONDS",
    "model_unavailable": "resume the run later, or name another model in DOSSIER_MODEL",
    "not_waiting": "see `dossier runs` for its status",
    "page_not_text": "give the address of a text page",
    "page_timeout": "try again later",
    "page_unavailable": "check in a browser whether the page exists",
    "plan_duplicate_id": "give every step a different name",
    "project_not_found": "name an existing folder",
    "proposal_decided": "see `dossier memory proposals --all`",
    "rate_limited": "try again in a minute",
    "request_refused": "see /docs on the server for what it takes",
    "search_unavailable": "try again later, or see `dossier doctor`",
    "storage_busy": "try again when the other process has finished",
    "storage_unavailable": "see `dossier doctor`",
    "tool_limit": "continue with what was found",
    "undo_conflict": "see `dossier memory log` for later changes, and undo those first",
    "undo_impossible": "see `dossier memory log` for changes that can be undone",
    "url_redirects": "give the address that it finally redirects to",
    "url_scheme": "give an address that begins with https:// or http://",
    "usage": "see dossier --help",
}
"""What a person can do about each problem, unless the code that raises it says better."""


class Problem(RuntimeError):
    """An error that is shown on one line: `error[code]: what (where) — hint`.

    A server may echo the key that it was sent, so keys are removed from every part. It is a
    `RuntimeError` because the LangGraph server passes on the messages of those only.
    """

    def __init__(self, code: str, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(mask_keys(what))
        self.code = code
        self.what = mask_keys(what)
        self.where = mask_keys(where)
        self.hint = mask_keys(hint or PROBLEM_HINTS.get(code, ""))

    @property
    def kind(self) -> str:
        """Return the kind of this problem, which decides its exit status and its HTTP status."""
        return PROBLEM_KINDS.get(self.code, "failed")

    @property
    def exit_status(self) -> int:
        """Return the exit status of the command line for this code."""
        return EXIT_STATUS[self.kind]

    def __str__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        hint = f" — {self.hint}" if self.hint else ""
        return f"error[{self.code}]: {self.what}{where}{hint}"

    @classmethod
    def from_dict(cls, told: Mapping[str, str]) -> Problem:
        """Return the problem that `as_dict` has written."""
        return cls(told["code"], told["detail"], where=told["where"], hint=told["hint"])

    def as_dict(self) -> dict[str, str]:
        """Return the same words as plain data, for `--json` and the server."""
        return {"code": self.code, "detail": self.what, "where": self.where, "hint": self.hint}


VALIDATION_MESSAGES = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field",
    "string_too_short": "it is empty",
    "string_too_long": "it has more than {max_length} characters",
    "string_pattern_mismatch": "it holds characters that it may not, or is too long",
    "literal_error": "it is not one of {expected}",
    "too_short": "it has fewer than {min_length} entries",
    "too_long": "it has more than {max_length} entries",
    "greater_than": "it is not more than {gt}",
    "greater_than_equal": "it is less than {ge}",
    "less_than": "it is not less than {lt}",
    "less_than_equal": "it is more than {le}",
    "finite_number": "it is not a finite number",
    "value_error": "{error}",
}
"""What is said of each kind of error; of the others it says the sort of value that is wanted."""

TYPE_MESSAGES = {
    "string": "it is not a text",
    "str": "it is not UTF-8",
    "list": "it is not a list",
    "tuple": "it is not a list",
    "dict": "it is not a table of names and values",
    "model": "it is not a table of names and values",
    "int": "it is not a whole number",
    "float": "it is not a number",
    "bool": "it is neither true nor false",
    "path": "it is not a path",
    "json": "it is not JSON",
    "hosts": "it is not a list of host names without ports, such as: box.example.org, box2",
    "origins": "it is not a list of origins, such as: http://localhost:3000, https://a.example.org",
}
"""The same by the first word of an error's kind."""


def first_validation_error(error: ValidationError) -> tuple[str, str]:
    """Return where the first error is, such as `steps.0.title`, and what is wrong there."""
    first = error.errors(include_url=False)[0]
    return ".".join(str(part) for part in first["loc"]), _validation_message(
        first["type"], first.get("ctx", {})
    )


def _validation_message(kind: str, about: dict[str, Any]) -> str:
    if kind in VALIDATION_MESSAGES:
        return VALIDATION_MESSAGES[kind].format(**about)
    return TYPE_MESSAGES.get(kind.partition("_")[0], "it cannot be used")
