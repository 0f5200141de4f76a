"""Bring addresses into one form, and show them without their secrets."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from text.regex import regex

_PORTS = {"http": ":80", "https": ":443"}
_TRACKING = regex(
    r"utm_\w+|spm|scm|fbclid|gclid|dclid|msclkid|yclid|igshid|mc_cid|mc_eid|ref_src", re.IGNORECASE
)
_DOI = regex(r"/(?:doi/)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_ARXIV = regex(r"/(abs|pdf|html)/((?:[a-z-]+(?:\.[a-z]{2})?/)?\d[\d.]+\d(?:v\d+)?)(?:\.pdf)?")
_LONGEST = 200


def canonicalise_url(url: str) -> str:
    """Return the one form of an address under which its page is fetched and kept.

    Host in lower case; no default port, fragment, tracking parameter or slash at the end; a DOI by
    `https://doi.org`, a paper by `https://arxiv.org`. The result can be opened like the original.
    What is not a web address is returned as it is.
    """
    parts = _split(url)
    if parts is None:
        return url
    host = parts.netloc.lower().removesuffix(_PORTS[parts.scheme])
    named = _doi(host, parts.path) or _paper(host, parts.path)
    if named:
        return named
    query = "&".join(
        pair
        for pair in parts.query.split("&")
        if pair and not _TRACKING.fullmatch(pair.partition("=")[0])
    )
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{host}{path}{'?' if query else ''}{query}"


def redact_url(url: str) -> str:
    """Return an address as it may stand in a message: no password, no query, no control signs."""
    bare = re.sub(r"//[^/]*@", "//", re.split(r"[?#]", url, maxsplit=1)[0].replace("\\", "/"))
    return "".join(sign for sign in bare if sign.isprintable())[:_LONGEST]


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    return parts if parts.scheme in _PORTS and parts.netloc else None


def _doi(host: str, path: str) -> str:
    """Return the address of a DOI, in lower case because a DOI has no case (DOI handbook 2.4)."""
    found = _DOI.fullmatch(path) if host in {"doi.org", "dx.doi.org", "www.doi.org"} else None
    return f"https://doi.org/{found[1].lower()}" if found else ""


def _paper(host: str, path: str) -> str:
    ours = host in {"arxiv.org", "www.arxiv.org", "export.arxiv.org"}
    found = _ARXIV.fullmatch(path.rstrip("/")) if ours else None
    return f"https://arxiv.org/{found[1]}/{found[2]}" if found else ""
