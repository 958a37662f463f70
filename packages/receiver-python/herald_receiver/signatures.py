"""Both signatures of a delivery, made and checked. Nothing here raises for what a request carries."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets as random
import time
from typing import Any, Dict, List, Optional, Sequence, Union

Secrets = Union[str, Sequence[str]]
"""A signing secret as Herald showed it (`whsec_…`), or several during a rotation."""

_PREFIX = "whsec_"
# At least 16 bytes; Herald's have 32. With an empty one or a placeholder anybody could sign.
_SHOWN = re.compile(r"whsec_[A-Za-z0-9+/]{22,}={0,2}")
# No dots: a dot in the id would make the signed text `id.timestamp.body` ambiguous.
_ID = re.compile(r"[A-Za-z0-9_-]{1,256}")
_TIMESTAMP = re.compile(r"[0-9]{1,11}")


def sign(
    raw_body: Union[bytes, str],
    secret: str,
    *,
    id: Optional[str] = None,
    event: Optional[str] = None,
    now: Optional[float] = None,
) -> Dict[str, str]:
    """The headers with which Herald would send a body: for tests of your receiver.

    `id` is that of the delivery (default: a new one), `now` the time of the attempt in seconds since 1970.
    Raises ValueError that says what to change.
    """
    [secret] = check_secrets(secret)
    body = bytes_of(raw_body)
    if body is None:
        raise ValueError("raw_body must be given raw, as bytes or as text")
    delivery_id = "dlv_" + random.token_hex(10) if id is None else id
    if not _ID.fullmatch(delivery_id):
        raise ValueError("id must have 1 to 256 letters, digits, _ or -")
    timestamp = str(int(time.time() if now is None else now))
    if not _TIMESTAMP.fullmatch(timestamp):
        raise ValueError("now must be a time in seconds since 1970")
    named = re.search(rb'"event": ?"([\w.]+)"', body)
    return {
        "x-service-event": event if event is not None else named.group(1).decode() if named else "",
        "x-service-delivery": delivery_id,
        "x-service-signature": _service_signature(body, secret),
        "webhook-id": delivery_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": _standard_signature(delivery_id, timestamp, body, secret),
    }


def is_signed_by_service(body: bytes, headers: Any, secrets: Sequence[str]) -> bool:
    """Whether `x-service-signature` is right. It covers neither the time nor the id."""
    given = read_header(headers, "x-service-signature")
    if given is None:
        return False
    # All secrets are tried, so that the duration doesn't reveal which one is in use.
    return any([_is_same(given, _service_signature(body, secret)) for secret in _usable(secrets)])


def is_signed_by_standard(body: bytes, headers: Any, secrets: Sequence[str]) -> bool:
    """Whether `webhook-signature` (Standard Webhooks) is right. Doesn't look at the clock."""
    given = read_header(headers, "webhook-signature")
    if given is None or not is_well_formed(headers):
        return False
    delivery_id, timestamp = read_header(headers, "webhook-id"), read_header(headers, "webhook-timestamp")
    expected = [_standard_signature(delivery_id, timestamp, body, secret) for secret in _usable(secrets)]
    return any([_is_same(one, each) for each in expected for one in given.split(" ")])


def is_well_formed(headers: Any) -> bool:
    """Whether `webhook-id` and `webhook-timestamp` have a form that Herald signs."""
    delivery_id, timestamp = read_header(headers, "webhook-id"), read_header(headers, "webhook-timestamp")
    if delivery_id is None or timestamp is None:
        return False
    return bool(_ID.fullmatch(delivery_id) and _TIMESTAMP.fullmatch(timestamp))


def is_fresh(headers: Any, tolerance_s: float, now: float) -> bool:
    """Whether `webhook-timestamp` is within the tolerance. Doesn't check the signature."""
    timestamp = read_header(headers, "webhook-timestamp")
    if timestamp is None or not _TIMESTAMP.fullmatch(timestamp):
        return False
    return abs(int(now) - int(timestamp)) <= tolerance_s


def check_secrets(secrets: Any) -> List[str]:
    """The secrets as a list. Raises ValueError that says what to change, and shows no part of a secret."""
    listed: List[Any] = [secrets] if isinstance(secrets, str) or secrets is None else list(secrets)
    # Blanks and line ends around a secret don't count: files and variables add them.
    given = [secret.strip() if isinstance(secret, str) else secret for secret in listed]
    for index, secret in enumerate(given):
        if isinstance(secret, str) and _is_usable(secret):
            continue
        what = "not a string" if not isinstance(secret, str) else "empty" if secret == "" else "not as Herald showed it"
        raise ValueError(
            f'secrets[{index}] is {what}: give every secret whole, "whsec_" included, and nothing else; '
            "several of them as a list"
        )
    return given


def read_header(headers: Any, name: str) -> Optional[str]:
    """The value of a header (`name` in lower case); None when it is missing, repeated, or no text.

    Takes a dict, any multi-dict of a framework or of http.server, and pairs of text or bytes as ASGI has them.
    """
    pairs = headers.items() if hasattr(headers, "items") else headers or ()
    found = [value for key, value in pairs if _text_of(key).lower() == name]
    if len(found) != 1:
        return None
    only = found[0]
    # Gateways give a list of values for each name. Of several none is the right one.
    if isinstance(only, (list, tuple)):
        only = only[0] if len(only) == 1 else None
    return _text_of(only) if isinstance(only, (str, bytes)) else None


def bytes_of(raw_body: Any) -> Optional[bytes]:
    """The bytes of a raw body; None for any other value, such as what a parser made of it."""
    if isinstance(raw_body, str):
        return raw_body.encode("utf-8", "surrogatepass")
    return bytes(raw_body) if isinstance(raw_body, (bytes, bytearray, memoryview)) else None


def _usable(secrets: Sequence[str]) -> List[str]:
    stripped = [secret.strip() for secret in secrets if isinstance(secret, str)]
    return [secret for secret in stripped if _is_usable(secret)]


def _is_usable(secret: str) -> bool:
    return bool(_SHOWN.fullmatch(secret)) and len(secret[len(_PREFIX) :].rstrip("=")) % 4 != 1


def _service_signature(body: bytes, secret: str) -> str:
    """The key is the whole secret as shown."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _standard_signature(delivery_id: Optional[str], timestamp: Optional[str], body: bytes, secret: str) -> str:
    """The key is the bytes behind the secret's prefix."""
    text = secret[len(_PREFIX) :].rstrip("=")
    key = base64.b64decode(text + "=" * (-len(text) % 4))
    mac = hmac.new(key, f"{delivery_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(mac).decode()


def _is_same(given: str, expected: str) -> bool:
    # The length is no secret. This check avoids a copy of a huge header.
    return len(given) == len(expected) and hmac.compare_digest(
        given.encode("utf-8", "surrogatepass"), expected.encode()
    )


def _text_of(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
