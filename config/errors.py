"""Problems that a person can solve, each with a code, a hint and an exit status."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, StrEnum
from functools import cache
from pkgutil import get_data
from typing import TYPE_CHECKING, Any, Self

from config.key_masking import mask_keys

if TYPE_CHECKING:
    from pydantic import ValidationError


class ErrorKind(Enum):
    """What sort of error a code stands for: its exit status, and its HTTP status by default."""

    FAILED = 1, 500
    USAGE = 2, 422
    REFUSED = 3, 422
    NOT_FOUND = 4, 404
    CONFLICT = 5, 409
    PARTIAL = 6, 409
    UNAVAILABLE = 7, 503

    def __init__(self, exit_status: int, http_status: int) -> None:
        self.exit_status = exit_status
        self.http_status = http_status


class ErrorCode(StrEnum):
    """Every code that an error can have, its kind and, where that differs, its HTTP status.

    An error that lasts until a person does something about it is no 503, which clients repeat.
    """

    kind: ErrorKind
    http_status: int

    def __new__(cls, code: str, kind: ErrorKind, http_status: int = 0) -> Self:
        """Make a member of what stands behind its name."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.kind = kind
        member.http_status = http_status or kind.http_status
        return member

    ADDRESS_UNUSABLE = "address_unusable", ErrorKind.UNAVAILABLE
    ANSWER_CUT = "answer_cut", ErrorKind.FAILED
    ANSWER_EMPTY = "answer_empty", ErrorKind.FAILED
    ANSWER_INVALID = "answer_invalid", ErrorKind.FAILED
    ANSWER_TOO_LONG = "answer_too_long", ErrorKind.FAILED
    ANSWER_UNUSABLE = "answer_unusable", ErrorKind.FAILED
    BACKUP_DAMAGED = "backup_damaged", ErrorKind.FAILED
    BACKUP_INVALID = "backup_invalid", ErrorKind.USAGE
    BACKUP_NEWER = "backup_newer", ErrorKind.UNAVAILABLE, 409
    BAD_CHECKPOINT = "bad_checkpoint", ErrorKind.USAGE
    BAD_CHOICE = "bad_choice", ErrorKind.USAGE
    BAD_CURSOR = "bad_cursor", ErrorKind.USAGE
    BAD_FEEDBACK = "bad_feedback", ErrorKind.USAGE
    BAD_FILE_NAME = "bad_file_name", ErrorKind.USAGE
    BAD_LOCALE = "bad_locale", ErrorKind.USAGE
    BAD_MESSAGE = "bad_message", ErrorKind.USAGE
    BAD_SCHEDULE = "bad_schedule", ErrorKind.USAGE
    BAD_THREAD_ID = "bad_thread_id", ErrorKind.USAGE
    BAD_WATCH_NAME = "bad_watch_name", ErrorKind.USAGE
    BUDGET_SPENT = "budget_spent", ErrorKind.PARTIAL
    CHAT_EMPTY = "chat_empty", ErrorKind.USAGE
    CHAT_NOT_FOUND = "chat_not_found", ErrorKind.NOT_FOUND
    CHAT_UNREADABLE = "chat_unreadable", ErrorKind.USAGE
    CHECKPOINT_NOT_FOUND = "checkpoint_not_found", ErrorKind.NOT_FOUND
    CHECKPOINTS_UNSAFE = "checkpoints_unsafe", ErrorKind.UNAVAILABLE
    CHOICE_REFUSED = "choice_refused", ErrorKind.REFUSED, 403
    CHROMA_UNAVAILABLE = "chroma_unavailable", ErrorKind.UNAVAILABLE
    CLOCK_WRONG = "clock_wrong", ErrorKind.UNAVAILABLE
    COLLECTOR_UNAVAILABLE = "collector_unavailable", ErrorKind.UNAVAILABLE
    CONFIG_NOT_FOUND = "config_not_found", ErrorKind.NOT_FOUND
    CONFIG_SYNTAX = "config_syntax", ErrorKind.USAGE
    CONFIG_VALUE = "config_value", ErrorKind.USAGE
    CORPUS_EMPTY = "corpus_empty", ErrorKind.USAGE
    CORPUS_LINE = "corpus_line", ErrorKind.USAGE
    CORPUS_UNREADABLE = "corpus_unreadable", ErrorKind.USAGE
    COST_QUOTA = "cost_quota", ErrorKind.REFUSED, 403
    DECISION_MISSING = "decision_missing", ErrorKind.USAGE
    DOCS_EMPTY = "docs_empty", ErrorKind.USAGE
    DOCS_NOT_FOUND = "docs_not_found", ErrorKind.NOT_FOUND
    DOCS_UNREADABLE = "docs_unreadable", ErrorKind.USAGE
    EDIT_REFUSED = "edit_refused", ErrorKind.REFUSED
    EDITOR_FAILED = "editor_failed", ErrorKind.UNAVAILABLE
    EMBEDDER_CHANGED = "embedder_changed", ErrorKind.CONFLICT
    EMBEDDER_MISSING = "embedder_missing", ErrorKind.UNAVAILABLE
    EMBEDDER_UNKNOWN = "embedder_unknown", ErrorKind.USAGE
    EVAL_UNCONFIRMED = "eval_unconfirmed", ErrorKind.REFUSED
    EVENT_NOT_FOUND = "event_not_found", ErrorKind.NOT_FOUND
    EXPORT_BUSY = "export_busy", ErrorKind.UNAVAILABLE
    EXPORT_FAILED = "export_failed", ErrorKind.FAILED
    EXPORT_INVALID = "export_invalid", ErrorKind.USAGE
    EXPRESSION_INVALID = "expression_invalid", ErrorKind.USAGE
    FACT_CHANGED = "fact_changed", ErrorKind.CONFLICT
    FACT_EMPTY = "fact_empty", ErrorKind.USAGE
    FACT_INVALID = "fact_invalid", ErrorKind.USAGE
    FACT_KNOWN = "fact_known", ErrorKind.CONFLICT
    FACT_NOT_FOUND = "fact_not_found", ErrorKind.NOT_FOUND
    FACT_TOO_LONG = "fact_too_long", ErrorKind.USAGE
    FEEDBACK_EMPTY = "feedback_empty", ErrorKind.USAGE
    FEEDBACK_REFUSED = "feedback_refused", ErrorKind.REFUSED
    FEEDBACK_UNCLEAR = "feedback_unclear", ErrorKind.USAGE
    FILE_BOMB = "file_bomb", ErrorKind.REFUSED
    FILE_BROKEN = "file_broken", ErrorKind.FAILED
    FILE_EMPTY = "file_empty", ErrorKind.FAILED
    FILE_ENCRYPTED = "file_encrypted", ErrorKind.FAILED
    FILE_NO_TEXT = "file_no_text", ErrorKind.FAILED
    FILE_NOT_FOUND = "file_not_found", ErrorKind.NOT_FOUND
    FILE_NOT_TEXT = "file_not_text", ErrorKind.FAILED
    FILE_TIMEOUT = "file_timeout", ErrorKind.FAILED
    FILE_TOO_LARGE = "file_too_large", ErrorKind.USAGE
    FILE_TYPE = "file_type", ErrorKind.USAGE
    FILE_TYPE_MISMATCH = "file_type_mismatch", ErrorKind.FAILED
    FILE_UNREADABLE = "file_unreadable", ErrorKind.USAGE
    FORGET_UNCONFIRMED = "forget_unconfirmed", ErrorKind.REFUSED
    HOME_NOT_EMPTY = "home_not_empty", ErrorKind.CONFLICT
    HOME_NOT_PRIVATE = "home_not_private", ErrorKind.UNAVAILABLE
    HOME_READ_ONLY = "home_read_only", ErrorKind.UNAVAILABLE
    HOST_REFUSED = "host_refused", ErrorKind.REFUSED, 403
    IMPORT_UNCONFIRMED = "import_unconfirmed", ErrorKind.REFUSED
    INSIGHT_NOT_FOUND = "insight_not_found", ErrorKind.NOT_FOUND
    INSUFFICIENT_EVIDENCE = "insufficient_evidence", ErrorKind.FAILED
    INTERNAL = "internal", ErrorKind.FAILED
    KNOWLEDGE_EXISTS = "knowledge_exists", ErrorKind.CONFLICT
    KNOWLEDGE_INVALID = "knowledge_invalid", ErrorKind.USAGE
    KNOWLEDGE_SHARED = "knowledge_shared", ErrorKind.REFUSED
    KNOWLEDGE_UNAVAILABLE = "knowledge_unavailable", ErrorKind.UNAVAILABLE
    KNOWLEDGE_UNKNOWN = "knowledge_unknown", ErrorKind.NOT_FOUND
    LOCOMO_UNREADABLE = "locomo_unreadable", ErrorKind.USAGE
    LOGIN_UNAVAILABLE = "login_unavailable", ErrorKind.UNAVAILABLE
    LOG_INVALID = "log_invalid", ErrorKind.USAGE
    MCP_CONFIG = "mcp_config", ErrorKind.USAGE
    MCP_ENV_DENIED = "mcp_env_denied", ErrorKind.REFUSED
    MCP_FAILED = "mcp_failed", ErrorKind.FAILED
    MCP_INVALID = "mcp_invalid", ErrorKind.FAILED
    MCP_TIMEOUT = "mcp_timeout", ErrorKind.UNAVAILABLE
    MCP_TOOL_CHANGED = "mcp_tool_changed", ErrorKind.CONFLICT
    MCP_TOO_LARGE = "mcp_too_large", ErrorKind.FAILED
    MCP_UNAPPROVED = "mcp_unapproved", ErrorKind.REFUSED
    MCP_UNAVAILABLE = "mcp_unavailable", ErrorKind.UNAVAILABLE
    MCP_UNKNOWN = "mcp_unknown", ErrorKind.NOT_FOUND
    MEMORY_AMBIGUOUS = "memory_ambiguous", ErrorKind.USAGE
    MEMORY_FILE_BUSY = "memory_file_busy", ErrorKind.CONFLICT
    MEMORY_FILE_CHANGED = "memory_file_changed", ErrorKind.CONFLICT, 412
    MEMORY_FILE_TOO_LARGE = "memory_file_too_large", ErrorKind.USAGE
    MEMORY_FILE_UNKNOWN = "memory_file_unknown", ErrorKind.NOT_FOUND
    MEMORY_FILE_UNREADABLE = "memory_file_unreadable", ErrorKind.UNAVAILABLE
    MEMORY_FILE_UNWRITABLE = "memory_file_unwritable", ErrorKind.UNAVAILABLE
    MEMORY_NOT_FOUND = "memory_not_found", ErrorKind.NOT_FOUND
    MEMORY_SECTION_BROKEN = "memory_section_broken", ErrorKind.CONFLICT
    MEMORY_UNKNOWN = "memory_unknown", ErrorKind.USAGE
    MODEL_AUTH = "model_auth", ErrorKind.UNAVAILABLE
    MODEL_CONTEXT = "model_context", ErrorKind.FAILED
    MODEL_KEY_MISSING = "model_key_missing", ErrorKind.UNAVAILABLE
    MODEL_QUOTA = "model_quota", ErrorKind.UNAVAILABLE
    MODEL_REFUSED = "model_refused", ErrorKind.FAILED
    MODEL_REJECTED = "model_rejected", ErrorKind.FAILED
    MODEL_TIMEOUT = "model_timeout", ErrorKind.UNAVAILABLE
    MODEL_UNAVAILABLE = "model_unavailable", ErrorKind.UNAVAILABLE
    MODEL_WITHOUT_PRICE = "model_without_price", ErrorKind.USAGE
    NAMESPACE_NOT_FOUND = "namespace_not_found", ErrorKind.NOT_FOUND
    NO_TABLES = "no_tables", ErrorKind.NOT_FOUND
    NOT_EDITABLE = "not_editable", ErrorKind.REFUSED
    NOT_WAITING = "not_waiting", ErrorKind.CONFLICT
    NOTHING_TO_SEARCH = "nothing_to_search", ErrorKind.NOT_FOUND
    NOTICE_FAILED = "notice_failed", ErrorKind.UNAVAILABLE
    OPERATOR_ONLY = "operator_only", ErrorKind.REFUSED, 403
    ORIGIN_REFUSED = "origin_refused", ErrorKind.REFUSED, 403
    OUT_OF_RANGE = "out_of_range", ErrorKind.USAGE
    OUTPUT_EXISTS = "output_exists", ErrorKind.CONFLICT
    OUTPUT_LOST = "output_lost", ErrorKind.UNAVAILABLE
    OUTPUT_NOT_WRITABLE = "output_not_writable", ErrorKind.UNAVAILABLE
    PACKAGE_MISSING = "package_missing", ErrorKind.UNAVAILABLE
    PAGE_EMPTY = "page_empty", ErrorKind.FAILED
    PAGE_NEEDS_SCRIPT = "page_needs_script", ErrorKind.FAILED
    PAGE_NOT_FOUND = "page_not_found", ErrorKind.NOT_FOUND
    PAGE_NOT_TEXT = "page_not_text", ErrorKind.FAILED
    PAGE_TIMEOUT = "page_timeout", ErrorKind.UNAVAILABLE
    PAGE_UNAVAILABLE = "page_unavailable", ErrorKind.UNAVAILABLE
    PDF_UNAVAILABLE = "pdf_unavailable", ErrorKind.UNAVAILABLE
    PLAN_CYCLE = "plan_cycle", ErrorKind.USAGE
    PLAN_DUPLICATE_ID = "plan_duplicate_id", ErrorKind.USAGE
    PLAN_FIELD = "plan_field", ErrorKind.USAGE
    PLAN_FILE = "plan_file", ErrorKind.USAGE
    PLAN_TOO_LONG = "plan_too_long", ErrorKind.USAGE
    PLAN_UNKNOWN_NEED = "plan_unknown_need", ErrorKind.USAGE
    PROJECT_NOT_FOUND = "project_not_found", ErrorKind.NOT_FOUND
    PROPOSAL_DECIDED = "proposal_decided", ErrorKind.CONFLICT
    PROPOSAL_NOT_FOUND = "proposal_not_found", ErrorKind.NOT_FOUND
    PRUNE_UNCONFIRMED = "prune_unconfirmed", ErrorKind.REFUSED
    QUERY_WITHHELD = "query_withheld", ErrorKind.REFUSED
    QUESTION_EMPTY = "question_empty", ErrorKind.USAGE
    QUESTION_TOO_LONG = "question_too_long", ErrorKind.USAGE
    RATE_LIMITED = "rate_limited", ErrorKind.UNAVAILABLE
    REPORT_NOT_FOUND = "report_not_found", ErrorKind.NOT_FOUND
    REQUEST_REFUSED = "request_refused", ErrorKind.REFUSED
    REQUEST_TOO_LARGE = "request_too_large", ErrorKind.REFUSED, 413
    ROBOTS_REFUSED = "robots_refused", ErrorKind.REFUSED
    RUN_IN_PROGRESS = "run_in_progress", ErrorKind.CONFLICT
    RUN_NOT_FOUND = "run_not_found", ErrorKind.NOT_FOUND
    RUN_TAKEN_OVER = "run_taken_over", ErrorKind.CONFLICT
    RUN_UNFINISHED = "run_unfinished", ErrorKind.CONFLICT
    SANDBOX_UNAVAILABLE = "sandbox_unavailable", ErrorKind.UNAVAILABLE
    SCHEMA_NEWER = "schema_newer", ErrorKind.UNAVAILABLE, 409
    SEARCH_UNAVAILABLE = "search_unavailable", ErrorKind.UNAVAILABLE
    SECRET_REFUSED = "secret_refused", ErrorKind.REFUSED
    SERVER_MISSING = "server_missing", ErrorKind.UNAVAILABLE
    SHARE_NOT_FOUND = "share_not_found", ErrorKind.NOT_FOUND
    SITE_BLOCKED = "site_blocked", ErrorKind.REFUSED
    SITE_BUSY = "site_busy", ErrorKind.UNAVAILABLE
    SOURCE_NOT_FOUND = "source_not_found", ErrorKind.NOT_FOUND
    STALE_PLAN = "stale_plan", ErrorKind.CONFLICT
    STATE_REFUSED = "state_refused", ErrorKind.REFUSED
    STORAGE_BUSY = "storage_busy", ErrorKind.CONFLICT
    STORAGE_CORRUPT = "storage_corrupt", ErrorKind.UNAVAILABLE, 409
    STORAGE_FULL = "storage_full", ErrorKind.UNAVAILABLE
    STORAGE_UNAVAILABLE = "storage_unavailable", ErrorKind.UNAVAILABLE
    TEXT_TIMEOUT = "text_timeout", ErrorKind.FAILED
    THREAD_INCOMPATIBLE = "thread_incompatible", ErrorKind.CONFLICT
    THREAD_MISSING = "thread_missing", ErrorKind.USAGE
    THREAD_NOT_FOUND = "thread_not_found", ErrorKind.NOT_FOUND
    THREAD_TAKEN = "thread_taken", ErrorKind.CONFLICT
    TOKEN_EXPIRED = "token_expired", ErrorKind.REFUSED, 401
    TOKEN_MISSING = "token_missing", ErrorKind.REFUSED, 401
    TOKEN_NOT_FOUND = "token_not_found", ErrorKind.NOT_FOUND
    TOKEN_UNUSABLE = "token_unusable", ErrorKind.UNAVAILABLE
    TOKEN_WRONG = "token_wrong", ErrorKind.REFUSED, 401
    TOOL_LIMIT = "tool_limit", ErrorKind.FAILED
    TOO_MANY_SHARES = "too_many_shares", ErrorKind.CONFLICT
    TUS_VERSION = "tus_version", ErrorKind.USAGE, 412
    UNDO_CONFLICT = "undo_conflict", ErrorKind.CONFLICT
    UNDO_DONE = "undo_done", ErrorKind.CONFLICT
    UNDO_FORGOTTEN = "undo_forgotten", ErrorKind.CONFLICT
    UNDO_IMPOSSIBLE = "undo_impossible", ErrorKind.REFUSED
    UNKNOWN_FIELD = "unknown_field", ErrorKind.USAGE
    UNKNOWN_FORMAT = "unknown_format", ErrorKind.USAGE
    UNKNOWN_MODEL = "unknown_model", ErrorKind.USAGE
    UNKNOWN_PROVIDER = "unknown_provider", ErrorKind.USAGE
    UNKNOWN_ROLE = "unknown_role", ErrorKind.USAGE
    UNTRUSTED_FACT = "untrusted_fact", ErrorKind.REFUSED
    UPLOAD_CONFLICT = "upload_conflict", ErrorKind.CONFLICT
    UPLOAD_FOLDER_EXISTS = "upload_folder_exists", ErrorKind.CONFLICT
    UPLOAD_FOLDER_NOT_FOUND = "upload_folder_not_found", ErrorKind.NOT_FOUND
    UPLOAD_NOT_FOUND = "upload_not_found", ErrorKind.NOT_FOUND
    UPLOAD_QUOTA = "upload_quota", ErrorKind.REFUSED, 413
    UPLOAD_TOO_LARGE = "upload_too_large", ErrorKind.REFUSED, 413
    UPLOAD_TYPE = "upload_type", ErrorKind.REFUSED, 415
    UPLOAD_UNREADY = "upload_unready", ErrorKind.CONFLICT
    URL_BLOCKED = "url_blocked", ErrorKind.REFUSED
    URL_REDIRECTS = "url_redirects", ErrorKind.REFUSED
    URL_SCHEME = "url_scheme", ErrorKind.REFUSED
    URL_TOO_LARGE = "url_too_large", ErrorKind.REFUSED
    URL_UNRESOLVED = "url_unresolved", ErrorKind.REFUSED
    USAGE = "usage", ErrorKind.USAGE
    USER_EXISTS = "user_exists", ErrorKind.CONFLICT
    USER_NAME_INVALID = "user_name_invalid", ErrorKind.USAGE
    USER_NOT_FOUND = "user_not_found", ErrorKind.NOT_FOUND
    WAITING_REVIEW = "waiting_review", ErrorKind.CONFLICT
    WATCH_EXISTS = "watch_exists", ErrorKind.CONFLICT
    WATCH_NOT_FOUND = "watch_not_found", ErrorKind.NOT_FOUND

    @classmethod
    def parse(cls, code: str) -> ErrorCode:
        """Return the code that stored data names; `internal` for one of another program."""
        return cls.__members__.get(code.upper(), cls.INTERNAL)

    @property
    def hint(self) -> str:
        """What a person can do about it, unless the code that raises it says better."""
        try:
            return read_messages("hints").get(self, "")
        except OSError:
            # Too many files may be open, and the problem matters more than its hint.
            return ""


@cache
def read_messages(table: str) -> dict[str, str]:
    """Return a table of `messages.toml`."""
    # Few commands have a problem, and they are told of it at once.
    import tomllib  # noqa: PLC0415

    text = (get_data("config", "messages.toml") or b"").decode()
    messages: dict[str, str] = tomllib.loads(text)[table]
    return messages


class Problem(RuntimeError):
    """An error that is shown on one line: `error[code]: what (where) — hint`.

    A server may echo the key that it was sent, so keys are removed from every part. It is a
    `RuntimeError` because the LangGraph server passes on the messages of those only.
    """

    def __init__(self, error: ErrorCode, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(mask_keys(what))
        self.error = error
        self.what = mask_keys(what)
        self.where = mask_keys(where)
        self.hint = mask_keys(hint or error.hint)

    @property
    def code(self) -> str:
        """Return the code as plain text, as it is shown and stored."""
        return self.error.value

    @property
    def exit_status(self) -> int:
        """Return the exit status of the command line for this error."""
        return self.error.kind.exit_status

    def __reduce__(self) -> tuple[Callable[[dict[str, str]], Problem], tuple[dict[str, str]]]:
        """Tell how it is copied, as from a worker process to the one that waits for it."""
        return self.from_dict, (self.as_dict(),)

    def __str__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        hint = f" — {self.hint}" if self.hint else ""
        return f"error[{self.code}]: {self.what}{where}{hint}"

    @classmethod
    def from_dict(cls, data: Mapping[str, str]) -> Problem:
        """Return the problem that `as_dict` has written."""
        error = ErrorCode.parse(data["code"])
        return cls(error, data["detail"], where=data["where"], hint=data["hint"])

    def as_dict(self) -> dict[str, str]:
        """Return the same words as plain data, for `--json` and the server."""
        return {"code": self.code, "detail": self.what, "where": self.where, "hint": self.hint}


def first_validation_error(error: ValidationError) -> tuple[str, str]:
    """Return where the first error is, such as `steps.0.title`, and what is wrong there."""
    return describe_validation_error(error.errors(include_url=False)[0])


def describe_validation_error(error: Mapping[str, Any]) -> tuple[str, str]:
    """Return where an error is, and what is wrong there, of one that Pydantic lists."""
    place = ".".join(str(part) for part in error["loc"])
    return place, _validation_message(error["type"], error.get("ctx", {}))


def _validation_message(kind: str, about: dict[str, Any]) -> str:
    if message := read_messages("validation").get(kind):
        # A bound of a number with decimals is shown as it was written: 1 is not 1.0.
        whole = {name: int(one) for name, one in about.items() if _is_whole(one)}
        # An empty text stands for a value that is left out, and nobody would write it.
        expected = str(about.get("expected", "")).removeprefix("'', ")
        return message.format(**(about | whole | {"expected": expected}))
    return read_messages("types").get(kind.partition("_")[0], "it cannot be used")


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()
