"""Post a notice to a webhook, signed as Standard Webhooks specifies."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

import httpx

from config.errors import ErrorCode, Problem
from config.settings import settings
from tools.web.transport import PublicTransport, load_certificates
from tools.web.urls import redact_url

TIMEOUT_SECONDS = 20.0
"""How long a receiver may take to answer."""

SECRET_PREFIX = "whsec_"  # noqa: S105 - what the standard puts before a secret in Base64
"""The prefix of a secret whose rest is Base64."""


async def post_notice(url: str, id: str, notice: Mapping[str, Any]) -> None:
    """Send a notice as JSON; the id lets a receiver recognize a repetition.

    Raises:
        Problem: `notice_failed`, or `url_blocked` for an address that must not be reached.
    """
    body = json.dumps(notice, ensure_ascii=False).encode()
    transport = PublicTransport(
        httpx.AsyncHTTPTransport(verify=load_certificates(), trust_env=False),
        allow_private=settings().private_webhooks,
    )
    where = redact_url(url)
    try:
        async with httpx.AsyncClient(transport=transport, timeout=TIMEOUT_SECONDS) as client:
            answer = await client.post(url, content=body, headers=_headers(id, body))
    except httpx.HTTPError as error:
        what = f"the webhook cannot be reached: {type(error).__name__}"
        raise Problem(ErrorCode.NOTICE_FAILED, what, where=where) from error
    if not answer.is_success:
        what = f"the webhook answered {answer.status_code}"
        raise Problem(ErrorCode.NOTICE_FAILED, what, where=where)


def _headers(id: str, body: bytes) -> dict[str, str]:
    stamp = str(int(time.time()))
    headers = {
        "content-type": "application/json",
        "user-agent": "dossier",
        "webhook-id": id,
        "webhook-timestamp": stamp,
    }
    if secret := settings().webhook_secret:
        headers["webhook-signature"] = sign_body(secret, id, stamp, body)
    return headers


def sign_body(secret: str, id: str, stamp: str, body: bytes) -> str:
    """Return the signature of a body: `v1,` and its HMAC-SHA256 in Base64."""
    key = secret.encode()
    if secret.startswith(SECRET_PREFIX):
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = hmac.new(key, f"{id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"
