"""What answers requests, whatever server they come to."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Sequence, Set, Union

from .events import HeraldEvent
from .signatures import Secrets, check_secrets, read_header
from .stores import Claim, DeliveryStore
from .verify import Refused, check_mode, judge_headers, refuse, verify_delivery

log = logging.getLogger("herald_receiver")

Handle = Callable[[HeraldEvent, str], Union[None, Awaitable[None]]]

BODY_FAULTS = {
    "body_too_large": (413, "the body is longer than the receiver takes"),
    "body_too_slow": (408, "the body had not come when the time for it was over"),
    "body_incomplete": (400, "the body ended early"),
    "body_already_read": (
        500,
        "the body was read before the webhook's view saw it, so its signature can no longer be checked: "
        "let no middleware read the body of this path",
    ),
}

QUIET_S = 10


@dataclass(frozen=True)
class Answer:
    """The answer to a request. Herald's delivery log shows the first 1 KiB of its body."""

    status: int
    body: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> bytes:
        return json.dumps(self.body).encode()


class Receiver:
    """Verifies each request, and calls `handle(event, delivery_id)` once for each delivery, until it succeeds.

    - `secrets`: the endpoint's signing secret, or several during a rotation; or a function of the request's path, where
      callbacks share one endpoint.
    - `store`: remembers what was processed. All processes of one endpoint must share it.
    - `handle`: write the event down here, and work on it afterwards: Herald waits 15 s for the answer. When it raises,
      the answer is 500 and the next try comes here again. While it runs, a repeat is answered 409, also where it runs
      longer. It may be a coroutine function. In rare cases, such as a crash right after it, it is called once more.

    Errors and refusals go to the logger `herald_receiver`, refusals at most every ten seconds for each reason.
    Raises ValueError for options that can't work.
    """

    def __init__(
        self,
        *,
        secrets: Union[Secrets, Callable[[str], Secrets]],
        store: DeliveryStore,
        handle: Handle,
        signatures: str = "both",
        tolerance_s: float = 300,
        limit_bytes: int = 1024 * 1024,
        now: Callable[[], float] = time.time,
    ):
        check_mode(signatures)
        if not callable(secrets) and not check_secrets(secrets):
            raise ValueError("secrets must not be empty: give the secret that Herald showed at registration")
        if not callable(getattr(store, "claim", None)):
            raise ValueError("store must have the method claim: give SqliteStore(path), or MemoryStore()")
        if not callable(handle):
            raise ValueError("handle must be a function of the event and the delivery's id")
        if tolerance_s <= 0 or limit_bytes <= 0:
            raise ValueError("tolerance_s and limit_bytes must be above 0")
        self.limit_bytes = limit_bytes
        self._find_secrets = secrets if callable(secrets) else lambda _path: secrets
        self._store, self._handle, self._now = store, handle, now
        self._signatures, self._tolerance_s = signatures, tolerance_s
        # What `handle` is busy with, whatever the store has forgotten by then.
        self._running: Set[str] = set()
        self._lock = threading.Lock()
        self._told: Dict[str, float] = {}

    def judge(self, method: str, path: str, headers: Any) -> Optional[Answer]:
        """The answer to what its headers refuse. Nobody fills the memory with bodies that can't be genuine."""
        if method != "POST":
            return _fail(405, "method_not_allowed", "webhooks are sent with POST", {"allow": "POST"})
        reason = judge_headers(headers, self._signatures, self._tolerance_s, self._now())
        if reason is not None:
            return self._refuse(path, headers, refuse(reason))
        length = read_header(headers, "content-length") or ""
        if length.isascii() and length.isdigit() and int(length) > self.limit_bytes:
            return self.refuse_body(path, headers, "body_too_large")
        return None

    def refuse_body(self, path: str, headers: Any, fault: str) -> Answer:
        """The answer to a body that could not be read, for one of the reasons in BODY_FAULTS."""
        status, detail = BODY_FAULTS[fault]
        return self._refuse(path, headers, Refused(fault, detail, status))

    def process(
        self, path: str, headers: Any, raw_body: bytes, run: Callable[[Any], None] = lambda made: asyncio.run(made)
    ) -> Answer:
        """Verifies, and processes once. Only a processed delivery is answered with 2xx; after any other answer, or none,
        Herald tries again. `run` runs what a `handle` that is a coroutine function gives."""
        if len(raw_body) > self.limit_bytes:
            return self.refuse_body(path, headers, "body_too_large")
        try:
            verified = verify_delivery(
                headers,
                raw_body,
                self._find_secrets(path),
                signatures=self._signatures,
                tolerance_s=self._tolerance_s,
                now=self._now(),
            )
        except Exception:
            log.exception("secrets can't be used; Herald will try again")
            return _FAILED
        if isinstance(verified, Refused):
            return self._refuse(path, headers, verified)
        with self._lock:
            if verified.id in self._running:
                return _IN_PROGRESS
            self._running.add(verified.id)
        try:
            return self._process_once(verified.event, verified.id, run)
        finally:
            with self._lock:
                self._running.discard(verified.id)

    def _process_once(self, event: HeraldEvent, delivery_id: str, run: Callable[[Any], None]) -> Answer:
        try:
            claim = self._store.claim(delivery_id)
        except Exception:
            log.exception("the store is away: %s was not processed; Herald will try again", delivery_id)
            return _fail(503, "store_away", "the store that remembers what was processed could not be asked")
        if claim == "done":
            return Answer(200, {"status": "duplicate"})
        if not isinstance(claim, Claim):
            return _IN_PROGRESS
        stop_renewing = _keep_renewing(claim, delivery_id)
        is_processed = False
        try:
            made = self._handle(event, delivery_id)
            if inspect.isawaitable(made):
                run(_awaiting(made))
            is_processed = True
        except Exception:
            log.exception("%s was not processed; Herald will try again", delivery_id)
        finally:
            stop_renewing()
            # Processed is processed, also when the store can't take it down. Of a failed one, the next try need not wait
            # until the claim ends by itself.
            _call_safely(claim.complete if is_processed else claim.release, delivery_id)
        return Answer(200, {"status": "processed"}) if is_processed else _FAILED

    def _refuse(self, path: str, headers: Any, refused: Refused) -> Answer:
        now = time.monotonic()
        with self._lock:
            is_quiet = now - self._told.get(refused.reason, float("-inf")) < QUIET_S
            if not is_quiet:
                self._told[refused.reason] = now
        if not is_quiet:
            # The path and the id are a stranger's words: so written they can't pretend to be lines of their own.
            given = read_header(headers, "x-service-delivery") or read_header(headers, "webhook-id")
            log.warning("a webhook %a to %a was refused (%s): %s", given, path, refused.reason, refused.detail)
        # The rest of a body that was not read is in the way of the next request.
        close = {"connection": "close"} if refused.reason in ("body_too_large", "body_too_slow") else {}
        return _fail(refused.status, refused.reason, refused.detail, close)


def _fail(status: int, error: str, detail: str, headers: Optional[Mapping[str, str]] = None) -> Answer:
    return Answer(status, {"error": error, "detail": detail}, headers or {})


_FAILED = _fail(500, "receiver_failed", "the receiver could not process this; its log says why")
# Without Retry-After: with it Herald would pause all deliveries to this host.
_IN_PROGRESS = _fail(409, "in_progress", "this delivery is being processed right now")


async def _awaiting(made: Awaitable[None]) -> None:
    await made


def _call_safely(call: Callable[[], None], delivery_id: str) -> None:
    try:
        call()
    except Exception:
        log.exception("the store is away, in the middle of %s", delivery_id)


def _keep_renewing(claim: Claim, delivery_id: str) -> Callable[[], None]:
    if claim.renew is None:
        return lambda: None
    renew, is_over = claim.renew, threading.Event()

    def keep() -> None:
        while not is_over.wait(claim.renew_every_s):
            _call_safely(renew, delivery_id)

    # One renewal may still be on its way when the claim is completed: a store ignores those of a claim that is over.
    threading.Thread(target=keep, name="herald-receiver-renewal", daemon=True).start()
    return is_over.set
