"""The contract of a store, kept by each. REDIS_URL and POSTGRES_URL say where there is one to try."""

import importlib.util
import multiprocessing
import os
import socket
import tempfile
import threading
import time
import unittest
import urllib.parse
import uuid

from herald_receiver import Claim, MemoryStore, PostgresStore, RedisStore, SqliteStore

REDIS_URL, POSTGRES_URL = os.environ.get("REDIS_URL"), os.environ.get("POSTGRES_URL")
DEADLINE_S = 20


class BareRedis:
    """As little of a client as the store asks for, so that the test needs none installed."""

    def __init__(self, url):
        at = urllib.parse.urlsplit(url)
        self._socket = socket.create_connection((at.hostname, at.port), timeout=5)
        self._replies, self._lock = self._socket.makefile("rb"), threading.Lock()

    def execute_command(self, *parts):
        with self._lock:
            sent = [str(part).encode() for part in parts]
            self._socket.sendall(b"*%d\r\n" % len(sent) + b"".join(b"$%d\r\n%s\r\n" % (len(each), each) for each in sent))
            line = self._replies.readline().rstrip()
            kind, rest = line[:1], line[1:]
            if kind == b"-":
                raise RuntimeError(rest.decode())
            if kind == b":":
                return int(rest)
            if kind == b"$":
                return None if rest == b"-1" else self._replies.read(int(rest) + 2)[:-2]
            return rest

    def close(self):
        self._replies.close()
        self._socket.close()


class Contract:
    def make(self, **options):
        raise NotImplementedError

    def setUp(self):
        self.id = f"dlv_{uuid.uuid4().hex}"

    def eventually(self, ask, expected):
        until = time.monotonic() + DEADLINE_S
        while True:
            answer = ask()
            if expected(answer) or time.monotonic() > until:
                return answer

    def test_one_gets_the_claim_and_whoever_asks_after_the_end_hears_done(self):
        store = self.make()
        claim = store.claim(self.id)
        self.assertIsInstance(claim, Claim)
        self.assertEqual(store.claim(self.id), "in_progress")
        claim.complete()
        self.assertEqual([store.claim(self.id), store.claim(self.id)], ["done", "done"])

    def test_what_is_released_is_left_to_the_next(self):
        store = self.make()
        store.claim(self.id).release()
        self.assertIsInstance(store.claim(self.id), Claim)

    def test_of_many_at_once_one_gets_the_claim(self):
        store, start, got = self.make(), threading.Barrier(8), []

        def claim():
            start.wait()
            got.append(store.claim(self.id))

        threads = [threading.Thread(target=claim) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len([each for each in got if isinstance(each, Claim)]), 1)
        self.assertEqual(got.count("in_progress"), 7)

    def test_a_claim_that_nobody_renews_ends_and_its_owner_can_not_end_the_next_one(self):
        store = self.make(lease_s=0.2)
        first = store.claim(self.id)
        second = self.eventually(lambda: store.claim(self.id), lambda got: isinstance(got, Claim))
        self.assertIsInstance(second, Claim)
        lasting = self.make_again(store, lease_s=60)
        second.release()
        third = lasting.claim(self.id)
        self.assertIsInstance(third, Claim)
        first.release()
        first.renew()
        self.assertEqual(lasting.claim(self.id), "in_progress")

    def test_a_renewed_claim_goes_on(self):
        store = self.make(lease_s=1)
        claim, until = store.claim(self.id), time.monotonic() + 1.3
        while time.monotonic() < until:
            claim.renew()
            self.assertEqual(store.claim(self.id), "in_progress")
        claim.complete()
        claim.renew()  # of a claim that is over
        self.assertEqual(store.claim(self.id), "done")

    def test_what_was_processed_is_forgotten_in_the_end(self):
        store = self.make(ttl_s=0.2)
        store.claim(self.id).complete()
        # Each repeat begins the time anew: ask rarely.
        pause = threading.Event()
        again = self.eventually(
            lambda: pause.wait(0.3) or store.claim(self.id), lambda got: isinstance(got, Claim)
        )
        self.assertIsInstance(again, Claim)

    def test_times_that_can_not_work_are_named(self):
        for options in ({"ttl_s": 0}, {"lease_s": -1}, {"ttl_s": "7 days"}):
            with self.assertRaisesRegex(ValueError, "must be a number above 0"):
                self.make(**options)


class Memory(Contract, unittest.TestCase):
    def make(self, **options):
        return MemoryStore(**options)

    def make_again(self, store, lease_s):
        store._lease_s = lease_s
        return store

    def test_the_oldest_are_forgotten_first(self):
        store = MemoryStore(most=2)
        for each in ("a", "b", "c"):
            store.claim(each).complete()
        self.assertEqual([store.claim("b"), store.claim("c")], ["done", "done"])
        self.assertIsInstance(store.claim("a"), Claim)


def claim_all(path, ids, start, won):
    store = SqliteStore(path)
    start.wait()
    for each in ids:
        claim = store.claim(each)
        if isinstance(claim, Claim):
            won.put(each)
            claim.complete()
    won.put(None)


class Sqlite(Contract, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.path = os.path.join(self._folder.name, "deliveries.db")

    def make(self, **options):
        return SqliteStore(self.path, **options)

    def make_again(self, _store, **options):
        return self.make(**options)

    def test_of_several_processes_one_gets_each(self):
        context = multiprocessing.get_context("spawn")
        start, won, ids = context.Barrier(2), context.Queue(), [f"dlv_{n}" for n in range(40)]
        processes = [context.Process(target=claim_all, args=(self.path, ids, start, won)) for _ in range(2)]
        for process in processes:
            process.start()
        got, ended = [], 0
        while ended < len(processes):
            each = won.get(timeout=60)
            got, ended = (got, ended + 1) if each is None else ([*got, each], ended)
        for process in processes:
            process.join()
        self.assertEqual(sorted(got), sorted(ids))

    def test_a_file_that_can_not_be_opened_raises(self):
        with self.assertRaises(Exception):
            SqliteStore(os.path.join(self._folder.name, "missing", "x.db")).claim(self.id)
        with self.assertRaisesRegex(ValueError, "MemoryStore"):
            SqliteStore(":memory:")


@unittest.skipUnless(REDIS_URL, "REDIS_URL names no Redis to try")
class Redis(Contract, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.client = BareRedis(REDIS_URL)
        self.addCleanup(self.client.close)

    def make(self, **options):
        return RedisStore(self.client, **options)

    def make_again(self, _store, **options):
        return self.make(**options)

    def test_what_is_no_client_is_named(self):
        with self.assertRaisesRegex(ValueError, "execute_command"):
            RedisStore(object())


@unittest.skipUnless(REDIS_URL and importlib.util.find_spec("redis"), "REDIS_URL names none, or redis is not installed")
class RedisPy(Redis):
    def setUp(self):
        super().setUp()
        import redis

        self.client = redis.Redis.from_url(REDIS_URL, socket_timeout=5)
        self.addCleanup(self.client.close)


class _Postgres(Contract):
    def connect(self):
        raise NotImplementedError

    def make(self, **options):
        return PostgresStore(self.connect, **options)

    def make_again(self, _store, **options):
        return self.make(**options)

    def test_a_table_that_is_there_needs_no_right_to_make_one(self):
        self.make().claim(self.id).complete()
        self.assertEqual(self.make(create_table=False).claim(self.id), "done")
        with self.assertRaisesRegex(ValueError, "table must be a name"):
            self.make(table="a; DROP TABLE b")

    def test_a_connection_may_be_one_of_a_pool(self):
        kept, opened = [], []

        def get():
            opened.append(1)
            return kept.pop() if kept else self.connect()

        store = PostgresStore(get, release=kept.append)
        store.claim(self.id).complete()
        self.assertEqual((store.claim(self.id), len(kept)), ("done", 1))
        self.assertGreater(len(opened), 2)
        kept.pop().close()


@unittest.skipUnless(POSTGRES_URL and importlib.util.find_spec("psycopg"), "POSTGRES_URL names none, or no psycopg")
class Psycopg(_Postgres, unittest.TestCase):
    def connect(self):
        import psycopg

        return psycopg.connect(POSTGRES_URL)


@unittest.skipUnless(POSTGRES_URL and importlib.util.find_spec("pg8000"), "POSTGRES_URL names none, or no pg8000")
class Pg8000(_Postgres, unittest.TestCase):
    def connect(self):
        import pg8000.dbapi

        at = urllib.parse.urlsplit(POSTGRES_URL)
        return pg8000.dbapi.connect(
            at.username, host=at.hostname, port=at.port, database=at.path[1:], password=at.password
        )


if __name__ == "__main__":
    unittest.main()
