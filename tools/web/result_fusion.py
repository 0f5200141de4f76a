"""Join the results of several providers: reciprocal ranks over addresses, copies only once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from text.normalization import normalize_text
from text.regex import regex
from tools.web.providers.provider import SearchHit
from tools.web.site_rules import SiteRules
from tools.web.urls import canonicalise_url

RANK_CONSTANT = 60
"""How little the first ranks stand out (Cormack, Clarke and Büttcher, SIGIR 2009)."""

_DOI_ADDRESS = regex(r"https://doi\.org/(10\.\d{4,9}/\S+)")
_DOI_IN_PATH = regex(
    r"/(?:doi|abs|full|pdf|epdf|article|articles|content)/(?:\w+/)?(10\.\d{4,9}/[^?#]+)"
)
_ARXIV_ADDRESS = regex(r"https://arxiv\.org/\w+/(.+?)(?:v\d+)?")
_ARXIV_DOI = regex(r"10\.48550/arxiv\.(.+?)(?:v\d+)?", re.IGNORECASE)
_FRONT = regex(r"(?:www\d?|m|mobile|amp)\.")
_WIKI_MOBILE = regex(r"(\w+)\.m\.(wiki\w+\.org)")
_INDEX = regex(r"/(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)
_SITE_AT_END = regex(r"\s+[|\-–—·:]\s+[^|–—·]{1,40}$")
_BY_TITLE = "title "
_LEAST_TITLE = 12
"""The characters of the shortest title by which a page is known again on its site."""


@dataclass
class _Group:
    """Hits that lead to the same page."""

    best: SearchHit
    worth: float
    order: int
    score: float = 0.0


def fuse_results(
    results: Mapping[str, Sequence[SearchHit]],
    limit: int,
    weights: Mapping[str, float],
    rules: SiteRules,
) -> list[SearchHit]:
    """Return the best hits of several providers, each page once, without blocked sites.

    Args:
        results: What each provider found, best first.
        limit: How many are wanted.
        weights: How much the ranks of a provider count; 1 where nothing is said.
        rules: Which sites are left out, and what the others' pages count.
    """
    groups: dict[str, _Group] = {}
    seen: list[_Group] = []
    for name, hits in results.items():
        allowed = (hit for hit in hits if rules.allows(hit["url"]))
        for rank, hit in enumerate(allowed, start=1):
            worth = weights.get(name, 1.0) / (RANK_CONSTANT + rank)
            group = _find_group(groups, seen, hit, worth)
            group.score += worth
    alive = {id(group): group for group in groups.values()}.values()
    ranked = sorted(alive, key=lambda one: (-one.score * rules.weigh(one.best["url"]), one.order))
    return [one.best for one in ranked[:limit]]


def _find_group(
    groups: dict[str, _Group], seen: list[_Group], hit: SearchHit, worth: float
) -> _Group:
    """Return the group of a hit, in which all groups with one of its keys are joined."""
    keys = list(list_identities(hit))
    same = [groups[key] for key in keys if key in groups and _is_same(key, groups[key], hit)]
    known = list({id(group): group for group in same}.values())
    if not known:
        group = _Group(hit, worth, len(seen))
        seen.append(group)
    else:
        group, *others = sorted(known, key=lambda one: one.order)
        for other in others:
            _absorb(group, other)
            for key in [key for key, value in groups.items() if value is other]:
                groups[key] = group
        _absorb(group, _Group(hit, worth, group.order))
    groups.update(dict.fromkeys(keys, group))
    return group


def _is_same(key: str, group: _Group, hit: SearchHit) -> bool:
    """Tell whether a hit that has a key of a group leads to its page.

    Pages of one title and site may be those of different years, versions or numbers.
    """
    first, second = _list_numbers(group.best["url"]), _list_numbers(hit["url"])
    return not (key.startswith(_BY_TITLE) and first and second and first != second)


def _list_numbers(url: str) -> list[str]:
    parts = urlsplit(canonicalise_url(url))
    return re.findall(r"\d+", f"{parts.path}?{parts.query}")


def _absorb(group: _Group, other: _Group) -> None:
    """Add a group to one; the hit with the best rank stays, with what the other knows beside."""
    first, second = group.best, other.best
    if other.worth > group.worth:
        first, second = second, first
    group.best = _complete(first, second)
    group.worth, group.score = max(group.worth, other.worth), group.score + other.score


def _complete(hit: SearchHit, other: SearchHit) -> SearchHit:
    """Return a hit with what it lacks of another to the same page."""
    whole = SearchHit(**{**other, **{name: value for name, value in hit.items() if value}})  # type: ignore[typeddict-item]
    whole["url"] = _prefer_https(hit["url"], other["url"])
    return whole


def _prefer_https(url: str, other: str) -> str:
    return other if url.startswith("http:") and other == f"https:{url[5:]}" else url


def list_identities(hit: SearchHit) -> Iterator[str]:
    """Yield what a page is known by: its address, its DOI, its paper, its title on its site."""
    address = canonicalise_url(hit["url"])
    yield f"url {_loosen(address)}"
    doi = _find_doi(hit, address)
    if doi:
        yield f"doi {doi}"
    paper = _find_paper(address, doi)
    if paper:
        yield f"arxiv {paper}"
    title = _title_key(hit["title"])
    if len(title) >= _LEAST_TITLE:
        yield f"{_BY_TITLE}{_site(address)} {title}"


def _loosen(address: str) -> str:
    """Return an address without what differs between copies of the same page."""
    parts = urlsplit(address)
    path = unquote(_INDEX.sub("/", parts.path)).rstrip("/")
    return f"{_site(address)}{path}{'?' if parts.query else ''}{parts.query}"


def _site(address: str) -> str:
    host = (urlsplit(address).netloc or "").lower()
    return _WIKI_MOBILE.sub(r"\1.\2", _FRONT.sub("", host, count=1))


def _find_doi(hit: SearchHit, address: str) -> str:
    stated = str(hit.get("doi") or "").lower()
    found = _DOI_ADDRESS.fullmatch(address) or _DOI_IN_PATH.search(urlsplit(address).path)
    return stated or (unquote(found[1]).lower().rstrip("/").removesuffix(".pdf") if found else "")


def _find_paper(address: str, doi: str) -> str:
    found = _ARXIV_ADDRESS.fullmatch(address) or _ARXIV_DOI.fullmatch(doi)
    return found[1].lower() if found else ""


def _title_key(title: str) -> str:
    """Return the words of a title, without the name of the site that some add behind it."""
    bare = _SITE_AT_END.sub("", normalize_text(title))
    return " ".join(re.findall(r"\w+", bare.lower()))
