"""Parse the address of the database: a path taken literally, or a server's address."""

from __future__ import annotations

import re

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

_FILE = r"(sqlite(?:\+\w+)?)://(?:/(.*))?"


def address(written: str) -> URL:
    """Return the address of a database.

    The path of a file may hold `?`, `%` and `#`, which have a meaning in other addresses.

    Raises:
        ArgumentError: When it is not an address.
    """
    if found := re.fullmatch(_FILE, written, re.DOTALL):
        return URL.create(found[1], database=found[2] or None)
    try:
        return make_url(written)
    except ValueError as error:
        # It says so of a port that is no number.
        raise ArgumentError(str(error)) from error
