"""dossier token: print the token that scripts send to the server."""

from __future__ import annotations

from app.cli.output import print_json
from app.token import token


def main(*, renew: bool, as_json: bool) -> int:
    """Print the token; one is made if there is none."""
    told = token(renew=renew)
    if as_json:
        print_json({"token": told})
    else:
        print(told)
    return 0
