"""dossier token: print the token that scripts send to the server."""

from __future__ import annotations

from app.cli.dispatch import Invocation
from app.server_token import load_server_token


def print_token(*, renew: bool, invocation: Invocation) -> None:
    """Print the token that scripts send to the server."""
    token = load_server_token(renew=renew)
    invocation.print_result({"token": token}, token)
