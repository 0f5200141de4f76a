"""Which sites may be read, and how much their pages count: the lists of `search.toml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import httpx

from config.errors import ErrorCode, Problem
from config.resources import process_cached
from config.search_table import SiteTable, load_search_table
from tools.web.urls import redact_url


@dataclass(frozen=True)
class SiteRules:
    """Lists of domains; a domain stands for its subdomains too."""

    block: frozenset[str] = frozenset()
    allow: frozenset[str] = frozenset()
    """Where there is one, no other site may be read."""
    weights: Mapping[str, float] | None = None

    @classmethod
    def of_table(cls, table: SiteTable) -> SiteRules:
        """Return the rules that a table states, its domains in the form of a request."""
        weights = {_to_domain(name): weight for name, weight in table.weights.items()}
        return cls(
            frozenset(map(_to_domain, table.block)),
            frozenset(map(_to_domain, table.allow)),
            weights,
        )

    def allows(self, url: str) -> bool:
        """Tell whether a page may be fetched; what is no address is left to whoever opens it."""
        domains = list(_list_domains(url))
        if not domains:
            return True
        if not self.block.isdisjoint(domains):
            return False
        return not self.allow or not self.allow.isdisjoint(domains)

    def weigh(self, url: str) -> float:
        """Return the weight of the most exact domain that is listed, or 1."""
        weights = self.weights or {}
        return next((weights[one] for one in _list_domains(url) if one in weights), 1.0)


@process_cached
def load_site_rules() -> SiteRules:
    """Return the rules of this installation.

    Raises:
        Problem: `config_syntax` or `config_value`.
    """
    return SiteRules.of_table(load_search_table().sites)


def check_site(url: str) -> None:
    """Refuse an address whose site may not be read.

    Raises:
        Problem: `site_blocked`.
    """
    if not load_site_rules().allows(url):
        what = "its site is not among those that may be read"
        raise Problem(ErrorCode.SITE_BLOCKED, what, where=redact_url(url))


def _list_domains(url: str) -> Iterator[str]:
    """Yield the host of an address and the domains it is below, the most exact first."""
    host = _host(url)
    while host:
        yield host
        host = host.partition(".")[2]


@lru_cache(maxsize=256)
def _host(url: str) -> str:
    """Return the host of an address as a request would name it; "" for what is no address."""
    try:
        return httpx.URL(url.strip()).raw_host.decode("ascii").rstrip(".").lower()
    except (httpx.InvalidURL, UnicodeError):
        return ""


def _to_domain(written: str) -> str:
    bare = written.strip().lower().removeprefix("*.").strip(".")
    return _host(f"//{bare}") or bare
