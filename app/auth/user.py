"""A user of a server, and the rules for user names."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from config.errors import ErrorCode, Problem
from runs.call_site import join_owner

OPERATOR = "operator"
"""The permission of those who run a server."""

MAX_NAME_CHARS = 64
"""The longest name: together with a project's it must fit into the column `owner`."""

_MAX_OWNER_CHARS = 120
"""The most characters of a name as it is stored: in the column, 80 are left for a project's."""

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""The Unicode categories of invisible and unassigned characters."""


class User(NamedTuple):
    """Someone who uses a server."""

    name: str
    """The user part of the owner of everything that they store (see `join_owner`)."""
    is_operator: bool = False
    """Whether they run the server."""


def check_user_name(name: str) -> str:
    """Return a name if it cannot be mistaken for another one.

    Raises:
        Problem: `user_name_invalid`.
    """
    wrong = ""
    if not name or name != name.strip():
        wrong = "it is empty, or begins or ends with a space"
    elif len(name) > MAX_NAME_CHARS:
        wrong = f"it has more than {MAX_NAME_CHARS} characters"
    elif len(join_owner(name, "")) > _MAX_OWNER_CHARS:
        wrong = "it has too many slashes or percent signs"
    elif any(unicodedata.category(one) in _INVISIBLE for one in name):
        wrong = "it has a character that cannot be seen"
    elif unicodedata.normalize("NFKC", name) != name:
        wrong = "it has characters that look like others"
    if wrong:
        raise Problem(ErrorCode.USER_NAME_INVALID, f"this is not a valid user name: {wrong}")
    return name
