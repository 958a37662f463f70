"""Every check of a request in one call."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

from .events import EventFormatError, HeraldEvent, parse_event
from .signatures import (
    Secrets,
    bytes_of,
    check_secrets,
    is_fresh,
    is_signed_by_service,
    is_signed_by_standard,
    is_well_formed,
    read_header,
)

MODES = ("both", "standard", "service")
_ROTATION = "while a secret is being rotated, give both, the old one until the overlap ends"

REASONS = {
    "service_signature_missing": "x-service-signature is missing",
    "service_signature_wrong": "x-service-signature was made with none of the secrets, or over another body; "
    + _ROTATION,
    "standard_headers_missing": "webhook-id, webhook-timestamp or webhook-signature is missing",
    "standard_headers_malformed": "webhook-id or webhook-timestamp has no form that Herald sends",
    "standard_signature_wrong": "webhook-signature was made with none of the secrets, or over another body; "
    + _ROTATION,
    "timestamp_out_of_tolerance": "webhook-timestamp is too far from now: a replay, or the clock of the receiver is "
    "wrong",
    "delivery_id_missing": "x-service-delivery is missing",
    "delivery_ids_differ": "x-service-delivery is not webhook-id",
    "body_not_raw": "there is no body, or a parser has made something of it: give it as it came, as bytes or as text",
}
"""Which check failed, in words. Beside these there is `event_format`, whose words say which field."""


@dataclass(frozen=True)
class Genuine:
    """Herald sent this, and not long ago."""

    event: HeraldEvent
    id: str
    """A repeat has the same: process each id once."""


@dataclass(frozen=True)
class Refused:
    """A check failed."""

    reason: str
    """A code: a key of the README's table of reasons."""
    detail: str
    """The same in words."""
    status: int
    """What to answer: 401, or 400 for a body that is no event."""


def verify_delivery(
    headers: Any,
    raw_body: Union[bytes, str],
    secrets: Secrets,
    *,
    signatures: str = "both",
    tolerance_s: float = 300,
    now: Optional[float] = None,
) -> Union[Genuine, Refused]:
    """Makes every check of a request: both signatures, the time, the ids, and the form of the event.

    `headers` is a dict or what your framework has; `raw_body` is the body as it came, before any parser; `secrets` is
    one secret or a list. `now` is in seconds since 1970. It doesn't know what was processed before: process each `id`
    once. Raises ValueError for options that can't work; whatever a request carries is a refusal.
    """
    check_mode(signatures)
    known = check_secrets(secrets)
    body = bytes_of(raw_body)
    reason = judge_headers(headers, signatures, tolerance_s, time.time() if now is None else now)
    if reason is None:
        reason = "body_not_raw" if body is None else _judge_signatures(body, headers, known, signatures)
    if reason is not None or body is None:
        return refuse(reason or "body_not_raw")
    try:
        event = parse_event(body)
    except EventFormatError as error:
        return Refused("event_format", str(error), 400)
    return Genuine(event, read_header(headers, "x-service-delivery" if signatures == "service" else "webhook-id") or "")


def refuse(reason: str) -> Refused:
    return Refused(reason, REASONS[reason], 400 if reason == "body_not_raw" else 401)


def judge_headers(headers: Any, mode: str, tolerance_s: float, now: float) -> Optional[str]:
    """What can be refused before the body is read."""
    plain_id = read_header(headers, "x-service-delivery")
    if mode != "standard" and read_header(headers, "x-service-signature") is None:
        return "service_signature_missing"
    if mode == "service":
        return None if plain_id else "delivery_id_missing"
    if any(read_header(headers, "webhook-" + name) is None for name in ("id", "timestamp", "signature")):
        return "standard_headers_missing"
    if not is_well_formed(headers):
        return "standard_headers_malformed"
    if mode == "both" and plain_id != read_header(headers, "webhook-id"):
        return "delivery_ids_differ"
    return None if is_fresh(headers, tolerance_s, now) else "timestamp_out_of_tolerance"


def _judge_signatures(body: bytes, headers: Any, secrets: Sequence[str], mode: str) -> Optional[str]:
    if mode != "standard" and not is_signed_by_service(body, headers, secrets):
        return "service_signature_wrong"
    if mode != "service" and not is_signed_by_standard(body, headers, secrets):
        return "standard_signature_wrong"
    return None


def check_mode(signatures: str) -> None:
    if signatures not in MODES:
        raise ValueError(f"signatures must be one of {', '.join(MODES)}")
