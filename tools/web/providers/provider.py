"""What a search provider is: the hits it finds, what it declares, and how it is reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Protocol

from pydantic import SecretStr
from typing_extensions import TypedDict

from config.errors import ErrorCode, Problem
from config.search_table import Topic as Topic

CONTACT_VARIABLE = "DOSSIER_CONTACT"
"""The variable that says whom providers may write to."""

USER_AGENT = "Dossier/0.1"
"""The name under which providers are asked; a contact follows."""

HitKind = Literal["page", "paper", "encyclopedia", "forum", "code", "news", "dataset"]
"""What a hit leads to, as its provider says."""


class FoundDetails(TypedDict, total=False):
    """What a provider may know of a hit beside its address, title and snippet."""

    date: str
    """An ISO date, or as much of it as is known."""
    authors: str
    """Names, separated by semicolons; the last is `et al.` where some are left out."""
    site: str
    """The journal, the repository or the site."""
    doi: str
    """In lower case, without the address of the resolver."""
    kind: HitKind
    alternatives: list[str]
    """Addresses of the same work, the one that is read most easily first."""
    text: str
    """Content that needs no fetch, such as an abstract or a table of data."""


class SearchHit(FoundDetails):
    """One result of a search; `snippet` is plain text and may be empty."""

    url: str
    title: str
    snippet: str


@dataclass(frozen=True)
class ProviderDeclaration:
    """What a provider says of itself before it is asked."""

    name: str
    topics: tuple[Topic, ...]
    """What it knows of, what it knows best first."""
    url: str
    """Where it is asked; empty where the person has a server of their own."""
    url_variable: str
    """The variable that names another address, such as that of a mirror."""
    requests_per_second: float
    """The most that its documentation allows or advises for one client."""
    key_variable: str = ""
    """The variable that holds its key; empty where it has none."""
    key_needed: bool = False
    """Whether it answers nobody without a key."""
    keyed_requests_per_second: float = 0.0
    """The most with a key, where that differs."""
    concurrent_requests: int = 0
    """How many may be under way at once; 0 where it says nothing of that."""
    requests_per_search: int = 1
    """How many requests one search sends at most."""

    def is_usable(self, environ: Mapping[str, str]) -> bool:
        """Tell whether the environment has the address and the key that it needs."""
        return all(environ.get(variable, "").strip() for variable in self.needed_variables)

    @property
    def needed_variables(self) -> tuple[str, ...]:
        """The variables without which it cannot be asked."""
        address = () if self.url else (self.url_variable,)
        return (*address, self.key_variable) if self.key_needed else address

    def allowed_rate(self, environ: Mapping[str, str]) -> float:
        """Return how many requests in a second it may be sent in this environment."""
        keyed = self.key_variable and environ.get(self.key_variable, "").strip()
        more = self.keyed_requests_per_second if keyed else 0.0
        return more or self.requests_per_second


@dataclass(frozen=True)
class ProviderAccess:
    """Where a provider is asked, and as whom."""

    url: SecretStr
    """Its address; it may hold a user and a password."""
    key: SecretStr = field(default_factory=lambda: SecretStr(""))
    contact: str = ""
    """Whom the provider may write to: a mail address or the address of a page."""

    @property
    def address(self) -> str:
        """The address in the open, without a slash at its end, for a request."""
        return self.url.get_secret_value().rstrip("/")

    @property
    def open_key(self) -> str:
        """The key in the open, for a request."""
        return self.key.get_secret_value()

    @property
    def user_agent(self) -> str:
        """How requests identify themselves."""
        return f"{USER_AGENT} ({self.contact or 'research assistant'})"

    def in_language(self, language: str) -> ProviderAccess:
        """Return the access of a provider that has an address for each language."""
        return replace(self, url=SecretStr(self.address.replace("{language}", language)))

    @property
    def mail_address(self) -> str:
        """The contact if it is a mail address, as providers want it in a parameter."""
        return self.contact if "@" in self.contact and "/" not in self.contact else ""


class SearchProvider(Protocol):
    """A service that searches the web."""

    async def search(self, query: str, limit: int, topic: Topic = "general") -> list[SearchHit]:
        """Return at most `limit` hits, best first.

        Args:
            query: What to search for, on one line.
            limit: How many hits are wanted.
            topic: What is asked about; a provider that has parts asks the one that fits.

        Raises:
            ProviderThrottled: `search_unavailable` if it wants to be left alone for a while.
            Problem: `search_unavailable` if the service does not answer as it should.
        """


class DeclaredProvider(SearchProvider, Protocol):
    """A provider that declares what it is, and is made of how it is reached."""

    declaration: ClassVar[ProviderDeclaration]

    def __init__(self, access: ProviderAccess) -> None: ...


class ProviderThrottled(Problem):
    """A provider was asked too often, or its quota is used up."""

    def __init__(self, what: str, wait: float) -> None:
        super().__init__(ErrorCode.SEARCH_UNAVAILABLE, what)
        self.wait = wait
        """For how many seconds it wants to be left alone; 0 where it does not say."""


def read_access(declaration: ProviderDeclaration, environ: Mapping[str, str]) -> ProviderAccess:
    """Return how a provider is reached, as the environment says.

    Raises:
        Problem: `search_unavailable`, naming the variable and never its value.
    """
    url, key = declaration.url_variable, declaration.key_variable
    values = {name: _read_variable(environ, name) for name in (url, key, CONTACT_VARIABLE)}
    missing = [name for name in declaration.needed_variables if not values[name]]
    if missing:
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, f"{missing[0]} is not set")
    address = values[url] or declaration.url
    return ProviderAccess(SecretStr(address), SecretStr(values[key]), values[CONTACT_VARIABLE])


def _read_variable(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "").strip() if name else ""
    if value and not (value.isascii() and value.isprintable()):
        kind = "key" if name.endswith(("KEY", "TOKEN")) else "address"
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, f"{name} has characters that no {kind} has")
    return value
