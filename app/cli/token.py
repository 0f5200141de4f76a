"""dossier token: print the token that scripts send to the server."""

from __future__ import annotations

from app.cli.output import print_json
from app.server_token import load_server_token


def print_token(*, renew: bool, as_json: bool) -> int:
    """Print the token that scripts send to the server."""
    token = load_server_token(renew=renew)
    if as_json:
        print_json({"token": token})
    else:
        print(token)
    return 0
