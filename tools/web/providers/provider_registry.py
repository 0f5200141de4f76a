"""Which search providers there are, and which of them can be asked here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from config.errors import ErrorCode, Problem
from tools.web.providers.arxiv import Arxiv
from tools.web.providers.brave import Brave
from tools.web.providers.crossref import Crossref
from tools.web.providers.duckduckgo import DuckDuckGo
from tools.web.providers.europe_pmc import EuropePmc
from tools.web.providers.exa import Exa
from tools.web.providers.github import GitHub
from tools.web.providers.openalex import OpenAlex
from tools.web.providers.provider import (
    DeclaredProvider,
    ProviderDeclaration,
    SearchProvider,
    read_access,
)
from tools.web.providers.pubmed import PubMed
from tools.web.providers.searxng import SearXNG
from tools.web.providers.semantic_scholar import SemanticScholar
from tools.web.providers.serper import Serper
from tools.web.providers.stackexchange import StackExchange
from tools.web.providers.tavily import Tavily
from tools.web.providers.wikipedia import Wikipedia
from tools.web.providers.worldbank import WorldBank

PROVIDER_CLASSES: tuple[type[DeclaredProvider], ...] = (
    *(SearXNG, Tavily, Brave, Serper, Exa),
    *(DuckDuckGo, Wikipedia),
    *(OpenAlex, SemanticScholar, Arxiv, EuropePmc, PubMed, Crossref),
    *(StackExchange, GitHub, WorldBank),
)
"""All providers: those that need a key or a server, and those of the whole web, first."""

DECLARATIONS: dict[str, ProviderDeclaration] = {
    one.declaration.name: one.declaration for one in PROVIDER_CLASSES
}
"""What each provider declares, by its name."""


def _make_provider(kind: type[DeclaredProvider], environ: Mapping[str, str]) -> SearchProvider:
    return kind(read_access(kind.declaration, environ))


SEARCH_PROVIDERS: dict[str, Callable[[Mapping[str, str]], SearchProvider]] = {
    one.declaration.name: partial(_make_provider, one) for one in PROVIDER_CLASSES
}
"""How each provider is made from the environment, by its name."""


class SearchUnanswered(Problem):
    """No provider answered."""

    def __init__(self, error: ErrorCode, failures: Mapping[str, str], *, hint: str) -> None:
        what = "; ".join(f"{name}: {why}" for name, why in failures.items())
        super().__init__(error, what or "no search provider is chosen", hint=hint)
        self.failures = failures
        """Why not, by the name of the provider."""


def list_available_providers(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the providers that can be asked: those without a key always can."""
    return [name for name, declared in DECLARATIONS.items() if declared.is_usable(environ)]


def list_configured_providers(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the providers that need an address or a key, and have it."""
    names = list_available_providers(environ)
    return [name for name in names if DECLARATIONS[name].needed_variables]


def check_provider_names(names: Sequence[str]) -> None:
    """Make sure that there are providers of these names.

    Raises:
        SearchUnanswered: `unknown_provider`.
    """
    unknown = dict.fromkeys(set(names) - set(SEARCH_PROVIDERS), "there is no such search provider")
    if unknown:
        hint = f"choose from {', '.join(SEARCH_PROVIDERS)}"
        raise SearchUnanswered(ErrorCode.UNKNOWN_PROVIDER, unknown, hint=hint)
