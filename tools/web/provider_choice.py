"""Choose the providers that a run may ask, and those that one query is sent to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from config.errors import ErrorCode, Problem
from config.search_table import SEARCH_FILE_NAME, SearchTable, Topic, load_search_table
from config.settings import settings
from graph.context import Context
from tools.web.providers.provider_registry import DECLARATIONS, list_configured_providers


def list_run_providers(
    context: Context, environ: Mapping[str, str], *, has_uploads: bool = False
) -> list[str]:
    """Return the providers that a run may ask; none if it does not search the web.

    Those that the run names are all asked. Else these are the ones with a key or a server and those
    of topics. Where none has a key, providers without one are asked only by a run that has no files
    of its own, or that wants the web: nothing about files leaves the machine unasked.

    Args:
        context: The choices of the run.
        environ: Where addresses and keys are read from.
        has_uploads: Whether files were uploaded into its thread.
    """
    if context.web in ("off", "unreachable"):
        return []
    if context.search:
        return list(context.search)
    table = load_search_table()
    configured = list_configured_providers(environ)
    general = [name for name in table.general if name in configured]
    others = [name for name in configured if name not in general]
    if not settings().keyless_search:
        return [*general, *others]
    own_files = bool(context.files) or has_uploads
    if not configured and own_files and context.web != "on":
        return []
    topical = [name for names in table.topics.values() for name in names]
    wanted = [*general, *others, *(() if general else table.keyless), *topical]
    return [name for name in dict.fromkeys(wanted) if _is_usable(name, environ)]


def check_table_names(table: SearchTable) -> None:
    """Make sure that a table of searches names no provider that there is not.

    Raises:
        Problem: `config_value`, with the place and the names that there are.
    """
    places: dict[str, Iterable[str]] = {
        "general": table.general,
        "keyless": table.keyless,
        "weights": table.weights,
        "rates": table.rates,
        **{f"topics.{topic}": names for topic, names in table.topics.items()},
    }
    for place, names in places.items():
        if unknown := [name for name in names if name not in DECLARATIONS]:
            what = f"there is no search provider {unknown[0]!r}"
            where = f"{settings().home / SEARCH_FILE_NAME}: {place}"
            hint = f"choose from {', '.join(DECLARATIONS)}"
            raise Problem(ErrorCode.CONFIG_VALUE, what, where=where, hint=hint)


def choose_query_providers(names: Sequence[str], topic: Topic, table: SearchTable) -> list[str]:
    """Return the providers that one query is sent to, those for every query first.

    Args:
        names: What the run may ask.
        topic: What the query is about.
        table: How many are asked, and which for a topic.
    """
    general = [name for name in names if name in table.general][: table.most_general]
    general = general or [name for name in table.keyless if name in names] or list(names)
    topical = [name for name in table.topics.get(topic, ()) if name in names]
    added = [name for name in topical if name not in general][: table.most_of_topic]
    # One that knows the topic counts more than a second one that knows a little of everything.
    kept = general[: max(1, table.most_providers - len(added))]
    return [*kept, *added][: table.most_providers]


def is_keyless(context: Context, environ: Mapping[str, str]) -> bool:
    """Tell whether a run would search the web only with providers that need nothing."""
    return not (context.search or list_configured_providers(environ))


def _is_usable(name: str, environ: Mapping[str, str]) -> bool:
    return name in DECLARATIONS and DECLARATIONS[name].is_usable(environ)
