"""Stores that remember which deliveries were processed. All processes of one endpoint must share one.

A store may raise whatever it meets when it is away: the receiver answers 503 then, and Herald tries again.
"""

from __future__ import annotations

import itertools
import sqlite3
import threading
import time
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Protocol, Sequence, Tuple, Union

# Herald tries for 5 days. It keeps deliveries for 7 days, and can be asked to redeliver them within that time.
TTL_S = 7 * 24 * 3600
LEASE_S = 60


@dataclass(frozen=True)
class Claim:
    """Nothing else gets a claimed delivery, until it is completed or released or its time is over."""

    complete: Callable[[], None]
    """Marks the delivery as processed."""
    release: Callable[[], None]
    """Leaves the delivery to the next try."""
    renew: Optional[Callable[[], None]] = None
    """Begins the time of the claim anew. Without it a claim ends by itself while a slow `handle` goes on."""
    renew_every_s: float = LEASE_S / 3


class DeliveryStore(Protocol):
    def claim(self, delivery_id: str) -> Union[Claim, str]:
        """A claim, or "done" (it was processed before), or "in_progress" (somebody else has the claim).

        Only one of several concurrent calls gets the claim. A claim that is never completed or released must end.
        """
        ...


class MemoryStore:
    """For a single process. A restart empties it. It remembers the last `most` deliveries."""

    def __init__(self, *, ttl_s: float = TTL_S, lease_s: float = LEASE_S, most: int = 100_000):
        _check(ttl_s=ttl_s, lease_s=lease_s, most=most)
        self._ttl_s, self._lease_s, self._most = ttl_s, lease_s, most
        # All entries last equally long, so that they end in the order in which they were put.
        self._done: "OrderedDict[str, float]" = OrderedDict()
        self._claims: Dict[str, "list[float]"] = {}
        self._lock = threading.Lock()

    def claim(self, delivery_id: str) -> Union[Claim, str]:
        now = time.monotonic()
        with self._lock:
            while self._done and next(iter(self._done.values())) <= now:
                self._done.popitem(last=False)
            if delivery_id in self._done:
                self._remember(delivery_id)  # Herald keeps it longer when it delivers it again, and so must we
                return "done"
            if delivery_id in self._claims and self._claims[delivery_id][0] > now:
                return "in_progress"
            own = [now + self._lease_s]
            self._claims[delivery_id] = own

        def let_go() -> None:
            # Not a later one's, should ours have ended by itself.
            if self._claims.get(delivery_id) is own:
                del self._claims[delivery_id]

        def complete() -> None:
            with self._lock:
                self._remember(delivery_id)
                let_go()

        def release() -> None:
            with self._lock:
                let_go()

        def renew() -> None:
            own[0] = time.monotonic() + self._lease_s

        return Claim(complete, release, renew, self._lease_s / 3)

    def _remember(self, delivery_id: str) -> None:
        self._done.pop(delivery_id, None)
        self._done[delivery_id] = time.monotonic() + self._ttl_s
        while len(self._done) > self._most:
            self._done.popitem(last=False)


class RedisStore:
    """For any number of processes: one key for each delivery, with the same meaning as in the kit for Node.

    `client` is one of redis-py or valkey-py, also of a cluster: whatever has `execute_command`. Give it a
    `socket_timeout`, so that a Redis that hangs is one that is away.
    """

    # End a claim, unless it ended by itself and the delivery is someone else's by now, or processed.
    # KEYS[1] the delivery (string: 'done', or the token of a claim)   ARGV[1] token
    # Returns 1 | 0.
    _RELEASE = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])"
    # Begin the time of a claim anew, unless it ended by itself.
    # KEYS[1] the delivery   ARGV[1] token   ARGV[2] ms
    # Returns 1 | 0.
    _RENEW = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('PEXPIRE', KEYS[1], ARGV[2])"

    def __init__(
        self, client: Any, *, ttl_s: float = TTL_S, lease_s: float = LEASE_S, prefix: str = "herald:delivery:"
    ):
        _check(ttl_s=ttl_s, lease_s=lease_s)
        if not callable(getattr(client, "execute_command", None)):
            raise ValueError("client must be one of redis-py or valkey-py: it has no execute_command")
        self._run, self._prefix, self._lease_s = client.execute_command, prefix, lease_s
        self._ttl_ms, self._lease_ms = _ms(ttl_s), _ms(lease_s)

    def claim(self, delivery_id: str) -> Union[Claim, str]:
        key, token, run = self._prefix + delivery_id, str(uuid.uuid4()), self._run
        claim = Claim(
            # Another process may hold the claim by now. The delivery is processed all the same.
            complete=lambda: run("SET", key, "done", "PX", self._ttl_ms),
            release=lambda: run("EVAL", self._RELEASE, 1, key, token),
            renew=lambda: run("EVAL", self._RENEW, 1, key, token, self._lease_ms),
            renew_every_s=self._lease_s / 3,
        )
        if run("SET", key, token, "PX", self._lease_ms, "NX") in (True, "OK", b"OK"):
            return claim
        holder = run("GET", key)
        holder = holder.decode() if isinstance(holder, bytes) else holder
        # The connection broke before the answer came, and the client sent the command again: the claim is this one.
        if holder == token:
            return claim
        # A claim that ended between the two commands looks like one in progress. The next try gets it.
        if holder != "done":
            return "in_progress"
        run("PEXPIRE", key, self._ttl_ms)  # Herald keeps it longer when it delivers it again, and so must we
        return "done"


class _SqlStore:
    """One row for each delivery: `token` is that of a claim, or null when it was processed; `until` when it ends.

    Each statement is atomic by itself, and each call has a connection to itself: threads share none, and a process that
    forks (gunicorn) has none open.
    """

    _NOW = ""
    _MARK = "%s"
    _SETUP: Sequence[str] = ()

    def __init__(
        self,
        connect: Callable[[], Any],
        release: Callable[[Any], None],
        ttl_s: float,
        lease_s: float,
        table: str,
        create_table: bool,
    ):
        _check(ttl_s=ttl_s, lease_s=lease_s)
        if not table.replace("_", "a").replace(".", "a").isalnum() or not table.isascii():
            raise ValueError("table must be a name of letters, digits, _ and .")
        self._connect, self._release = connect, release
        self._ttl_s, self._lease_s, self._table = ttl_s, lease_s, table
        self._is_set_up = not create_table
        self._calls = itertools.count()

    def claim(self, delivery_id: str) -> Union[Claim, str]:
        token = str(uuid.uuid4())
        self._set_up()
        if next(self._calls) % 1_000 == 0:
            self._run("DELETE FROM {table} WHERE until <= {now}")
        claimed = self._run(
            "INSERT INTO {table} AS d (id, token, until) VALUES ({}, {}, {now} + {}) ON CONFLICT (id) "
            "DO UPDATE SET token = excluded.token, until = excluded.until WHERE d.until <= {now}",
            *(delivery_id, token, self._lease_s),
        )
        if claimed == 1:
            return Claim(
                # Another process may hold the claim by now. The delivery is processed all the same.
                complete=lambda: self._do(
                    "INSERT INTO {table} (id, token, until) VALUES ({}, NULL, {now} + {}) ON CONFLICT (id) "
                    "DO UPDATE SET token = excluded.token, until = excluded.until",
                    *(delivery_id, self._ttl_s),
                ),
                release=lambda: self._do("DELETE FROM {table} WHERE id = {} AND token = {}", delivery_id, token),
                renew=lambda: self._do(
                    "UPDATE {table} SET until = {now} + {} WHERE id = {} AND token = {}",
                    *(self._lease_s, delivery_id, token),
                ),
                renew_every_s=self._lease_s / 3,
            )
        # Herald keeps it longer when it delivers it again, and so must we.
        known = self._run(
            "UPDATE {table} SET until = {now} + {} WHERE id = {} AND token IS NULL", self._ttl_s, delivery_id
        )
        return "done" if known == 1 else "in_progress"

    def _set_up(self) -> None:
        if not self._is_set_up:
            self._run_all([(statement, ()) for statement in self._SETUP])
            self._is_set_up = True

    def _do(self, statement: str, *values: Any) -> None:
        self._run(statement, *values)

    def _run(self, statement: str, *values: Any) -> int:
        """The number of rows that it changed."""
        return self._run_all([(statement, values)])

    def _run_all(self, statements: Sequence[Tuple[str, Sequence[Any]]]) -> int:
        """Runs them in one transaction; the number of rows that the last one changed."""
        connection = self._connect()
        try:
            cursor = connection.cursor()
            for statement, values in statements:
                text = statement.format(*[self._MARK] * len(values), table=self._table, now=self._NOW)
                cursor.execute(text, tuple(values))
            changed = int(cursor.rowcount)
            connection.commit()
            return changed
        except BaseException:
            connection.rollback()
            raise
        finally:
            self._release(connection)


class SqliteStore(_SqlStore):
    """For the processes of one machine: a file, made if it isn't there. On a local disk, not on one of the network."""

    _NOW = "((julianday('now') - 2440587.5) * 86400.0)"
    _MARK = "?"
    _SETUP = (
        "CREATE TABLE IF NOT EXISTS {table} (id TEXT PRIMARY KEY, token TEXT, until REAL NOT NULL)",
        "CREATE INDEX IF NOT EXISTS {table}_until ON {table} (until)",
    )

    def __init__(self, path: str, *, ttl_s: float = TTL_S, lease_s: float = LEASE_S, timeout_s: float = 5):
        """`timeout_s`: how long to wait for a process that writes, before the store counts as away."""
        if path == ":memory:" or path == "":
            raise ValueError("path must be that of a file: for a single process, MemoryStore needs none")
        super().__init__(
            connect=lambda: sqlite3.connect(path, timeout=timeout_s),
            release=lambda connection: connection.close(),
            ttl_s=ttl_s,
            lease_s=lease_s,
            table="herald_deliveries",
            create_table=True,
        )


class PostgresStore(_SqlStore):
    """For any number of processes: a table, made if it isn't there.

    `connect` gives a connection of psycopg, psycopg2 or pg8000 (whatever takes `%s`): `lambda: psycopg.connect(url)`, or
    `pool.getconn` with `release=pool.putconn`. With `create_table=False` the table must be there; the README has it.
    """

    _NOW = "extract(epoch from clock_timestamp())"
    _SETUP = (
        # Two processes that make a table at once would meet an error.
        "SELECT pg_advisory_xact_lock(4872325)",
        "CREATE TABLE IF NOT EXISTS {table} (id text PRIMARY KEY, token text, until double precision NOT NULL)",
        "CREATE INDEX IF NOT EXISTS herald_deliveries_until ON {table} (until)",
    )

    def __init__(
        self,
        connect: Callable[[], Any],
        *,
        release: Callable[[Any], None] = lambda connection: connection.close(),
        ttl_s: float = TTL_S,
        lease_s: float = LEASE_S,
        table: str = "herald_deliveries",
        create_table: bool = True,
    ):
        super().__init__(connect, release, ttl_s, lease_s, table, create_table)


def _check(**numbers: float) -> None:
    for name, value in numbers.items():
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not value > 0:
            raise ValueError(f"{name} must be a number above 0")


def _ms(seconds: float) -> int:
    return max(1, int(seconds * 1000))
