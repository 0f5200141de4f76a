"""The kinds of knowledge bases, and how one is made of what was said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import ValidationError

from config.errors import ErrorCode, Problem, first_validation_error
from library.knowledge_records import OPERATOR, KnowledgeBase
from library.uploads import is_upload_id
from storage.object_stores import OBJECT_STORES
from text.regex import regex
from tools.knowledge.bucket import BucketBase, BucketOptions
from tools.knowledge.dify import DifyBase, DifyOptions
from tools.knowledge.elasticsearch import ElasticsearchBase, ElasticsearchOptions
from tools.knowledge.folder import FolderBase, FolderOptions
from tools.knowledge.knowledge_source import BaseOptions, KnowledgeSource
from tools.knowledge.ragflow import RagflowBase, RagflowOptions
from tools.knowledge.uploads_base import UploadsBase, UploadsOptions

LONGEST_ABOUT = 1_000
"""The most characters of what a base is about."""

NO_BASES = "none"
"""What a run chooses that searches no base; no base is named so."""

RESERVED = (NO_BASES, "all", "files", "web", "memory")
"""What no base may be named, since a choice or a scope of a search is named so."""

_NAME = regex(r"[^\W_][\w.-]{0,63}")


class BaseKind(NamedTuple):
    """A kind of knowledge bases: the form of its options, and what makes one that is searched."""

    options: type[BaseOptions]
    make: Callable[[KnowledgeBase, Any], KnowledgeSource]
    is_service: bool = False


ABOUT_OPTION = 'say --about "what it answers"'
"""How a description is given on the command line."""

SAY_OPTION = "say --option "
"""How an option is given on the command line, before its name and its value."""

UPLOADS_KIND = "uploads"
"""The kind of bases whose documents are a folder of uploads of their owner."""

KINDS: dict[str, BaseKind] = {
    "folder": BaseKind(FolderOptions, FolderBase),
    "bucket": BaseKind(BucketOptions, BucketBase),
    UPLOADS_KIND: BaseKind(UploadsOptions, UploadsBase),
    "elasticsearch": BaseKind(ElasticsearchOptions, ElasticsearchBase, is_service=True),
    "opensearch": BaseKind(ElasticsearchOptions, ElasticsearchBase, is_service=True),
    "dify": BaseKind(DifyOptions, DifyBase, is_service=True),
    "ragflow": BaseKind(RagflowOptions, RagflowBase, is_service=True),
}
"""Every kind by its name; a new one is a file and a line here."""


def open_base(base: KnowledgeBase) -> KnowledgeSource:
    """Return a base as one that can be searched."""
    kind = KINDS[base.kind]
    return kind.make(base, read_options(base))


def read_options(base: KnowledgeBase) -> BaseOptions:
    """Return the options of a base, checked.

    Raises:
        Problem: `knowledge_invalid`, naming the option.
    """
    form = KINDS[base.kind].options
    try:
        return form.model_validate(dict(base.options))
    except ValidationError as error:
        place, what = first_validation_error(error)
        if place not in form.model_fields and place in base.options:
            hint = f"{base.kind} has: {', '.join(form.model_fields)}"
        else:
            hint = f"{SAY_OPTION}{place.partition('.')[0]}=…"
        raise _invalid(what, f"{base.name}: {place}", hint) from error


def make_base(
    name: str,
    about: str,
    location: str,
    options: Mapping[str, Any],
    *,
    kind: str = "",
    owner: str = OPERATOR,
) -> KnowledgeBase:
    """Return a knowledge base of what was written about it.

    Args:
        name: Its name, by which a run may choose it.
        about: What it is about.
        location: A path, or the address of a bucket or service.
        options: What else is said of it, as values or as texts.
        kind: Its kind; found out from the location if it is empty.
        owner: Whose it is.

    Raises:
        Problem: `knowledge_invalid`, saying what is wrong.
    """
    if not _NAME.fullmatch(name) or name.casefold() in RESERVED:
        hint = f"letters, digits, - _ and . only, and none of {', '.join(RESERVED)}"
        what = f"{name!r} cannot be the name of a knowledge base"
        raise _invalid(what, hint=hint)
    about = " ".join(about.split())
    if not about or len(about) > LONGEST_ABOUT:
        what = f"it needs a description of at most {LONGEST_ABOUT:,} characters"
        raise _invalid(what, f"{name}: about", ABOUT_OPTION)
    kind = kind or guess_kind(location)
    if kind not in KINDS:
        what = f"there is no kind {kind!r}"
        raise _invalid(what, name, f"one of {', '.join(KINDS)}")
    base = KnowledgeBase(name, about, kind, location.strip(), dict(options), owner)
    _check_location(base)
    # A command line gives texts only; they are kept as what they stand for.
    read = read_options(base).model_dump(mode="json", exclude_unset=True)
    return base._replace(options=read)


def guess_kind(location: str) -> str:
    """Return the kind of what lies at a location; a service has to be named."""
    if is_upload_id(location):
        return UPLOADS_KIND
    return "bucket" if "://" in location else "folder"


_ADDRESSES = "s3://, gs://, zip:// or https://; a folder of this machine is named by its path"


def is_bucket_address(location: str) -> bool:
    """Tell whether a location is the address of files, as fsspec writes it."""
    scheme = location.partition("://")[0].lower()
    return scheme in {*OBJECT_STORES, "http", "https", "memory", "zip", "ftp", "sftp"}


def _check_location(base: KnowledgeBase) -> None:
    """Refuse a location that does not fit the kind, or that holds a password."""
    where = f"{base.name}: location"
    if not base.location:
        raise _invalid("it has no path or address", where)
    if base.kind in ("folder", UPLOADS_KIND):
        _check_folder(base, where)
        return
    if base.kind == "bucket":
        if not is_bucket_address(base.location):
            raise _invalid("it is no address of files", where, _ADDRESSES)
    elif not base.location.startswith(("http://", "https://")):
        raise _invalid("a service has an address with https:// or http://", where)
    if urlsplit(base.location).username is not None:
        hint = "name the variables that hold them, as in user_env and password_env"
        raise _invalid("an address may hold neither user nor password", where, hint)


def _check_folder(base: KnowledgeBase, where: str) -> None:
    """Refuse what is neither a path nor, where that is meant, the id of a folder of uploads."""
    is_own = base.kind == UPLOADS_KIND
    if is_own and (base.is_shared or not is_upload_id(base.location)):
        raise _invalid("it is no folder of your uploads", where)
    if "://" in base.location:
        raise _invalid("a folder is named by its path", where)


def _invalid(what: str, where: str = "", hint: str = "") -> Problem:
    return Problem(ErrorCode.KNOWLEDGE_INVALID, what, where=where, hint=hint)
