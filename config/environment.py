"""Take over what the file `.env` of the current folder says."""

from __future__ import annotations

import os

FILE = ".env"


def take_over() -> None:
    """Put the variables of the file into the environment, as far as they are not there.

    Raises:
        OSError: When the file cannot be read.
        ValueError: When it is not plain text in UTF-8, or has a zero in it.
    """
    if os.path.exists(FILE):
        # Few folders have the file, and what reads it takes a while to load.
        from dotenv import load_dotenv  # noqa: PLC0415

        load_dotenv(FILE)
