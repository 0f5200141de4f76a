"""The files that belong in a backup: of the file store, and of the home those without secrets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from config.key_masking import mask_keys
from config.settings import settings
from library.uploaded_files import UPLOADS
from report.report_places import REPORTS
from storage.file_store import FileStore, file_store

_STORE_FOLDERS = (REPORTS, UPLOADS, "knowledge")
"""The folders of the file store."""

_HOME_FILES = ("AGENTS.md", "knowledge.toml", "mcp.json", "mcp-pins.json")
_HOME_FOLDERS = ("traces", "users")
"""The home without databases, `.env`, tokens, locks, and copies that can be made again."""

_MCP_FILE = "mcp.json"


def list_place_addresses() -> dict[str, str]:
    """Return where the folders and files are that a backup may hold, by their names."""
    store, home = file_store(), Path(os.path.realpath(settings().home))
    stored = {f"store/{name}": store.address(name) for name in _STORE_FOLDERS}
    return stored | {f"home/{name}": str(home / name) for name in _HOME_FILES + _HOME_FOLDERS}


def list_stored_names(store: FileStore) -> list[str]:
    """Return the names of the files of a store that belong in a backup."""
    return [name for folder in _STORE_FOLDERS for name in store.list(folder)]


def list_home_files(home: Path) -> list[str]:
    """Return the relative paths of the files of a home that belong in a backup, with slashes."""
    found = [home / name for name in _HOME_FILES]
    for folder in _HOME_FOLDERS:
        found += sorted((home / folder).rglob("*"))
    return [one.relative_to(home).as_posix() for one in found if one.is_file()]


def is_home_file(name: str) -> bool:
    """Say whether a restore may write a file of this name into a home."""
    folder, slash, below = name.partition("/")
    if not slash:
        return name in _HOME_FILES
    return folder in _HOME_FOLDERS and ".." not in below.split("/")


def is_stored_file(name: str) -> bool:
    """Say whether a restore may write a file of this name into a file store."""
    return name.partition("/")[0] in _STORE_FOLDERS


def read_home_file(home: Path, name: str) -> tuple[bytes, list[str]]:
    """Return the content of a file of a home without keys, and a list of the keys left out."""
    content = (home / name).read_bytes()
    return _without_keys(content) if name == _MCP_FILE else (content, [])


def _without_keys(content: bytes) -> tuple[bytes, list[str]]:
    """Return an `mcp.json` with variables in the place of keys, and a list of these keys."""
    try:
        written = json.loads(content)
        named = [*_replace_keys(written)]
    except (ValueError, AttributeError, TypeError):
        # A malformed file may have keys anywhere.
        return b"{}\n", ["all of it, which cannot be read"]
    return (json.dumps(written, indent=2).encode() + b"\n" if named else content), named


def _replace_keys(written: dict[str, Any]) -> Iterator[str]:
    for server, entry in written.get("mcpServers", {}).items():
        if "url" in entry and mask_keys(entry["url"]) != entry["url"]:
            entry["url"] = mask_keys(entry["url"])
            yield f"{server}: url"
        arguments = entry.get("args", [])
        masked = [mask_keys(one) for one in arguments]
        if masked != arguments:
            entry["args"] = masked
            yield f"{server}: args"
        for part in ("env", "headers"):
            for name, value in entry.get(part, {}).items():
                if "${" not in str(value):
                    variable = "".join(one if one.isalnum() else "_" for one in f"{server}_{name}")
                    entry[part][name] = f"${{{variable.upper()}}}"
                    yield f"{server}: {name}"
