import asyncio
import json
import logging
import threading
import unittest

from herald_receiver import Claim, MemoryStore, Receiver, asgi_app, sign

from .samples import BODY, NO_EVENTS, OTHER, SECRET


class Away:
    def claim(self, delivery_id):
        raise ConnectionError("no store")


class Receiving(unittest.TestCase):
    def setUp(self):
        self.handled = []
        logging.getLogger("herald_receiver").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("herald_receiver").setLevel, logging.NOTSET)

    def receiver(self, **options):
        def handle(event, delivery_id):
            self.handled.append((event["event"], delivery_id))

        return Receiver(**{"secrets": [SECRET], "store": MemoryStore(), "handle": handle, **options})

    def send(self, receiver, headers=None, body=BODY, method="POST"):
        headers = sign(body, SECRET) if headers is None else headers
        answer = receiver.judge(method, "/hooks", headers) or receiver.process("/hooks", headers, body)
        return answer.status, answer.body.get("error") or answer.body["status"]

    def test_a_delivery_is_processed_and_its_repeat_is_not(self):
        receiver, headers = self.receiver(), sign(BODY, SECRET, id="dlv_1")
        self.assertEqual(self.send(receiver, headers), (200, "processed"))
        self.assertEqual(self.send(receiver, headers), (200, "duplicate"))
        self.assertEqual(self.handled, [("webhook.test", "dlv_1")])

    def test_nothing_unsigned_is_acknowledged_and_the_answer_has_the_reason(self):
        receiver, good = self.receiver(), sign(BODY, SECRET)
        self.assertEqual(self.send(receiver, {}), (401, "service_signature_missing"))
        self.assertEqual(self.send(receiver, sign(BODY, OTHER)), (401, "service_signature_wrong"))
        self.assertEqual(self.send(receiver, good, BODY + b" "), (401, "service_signature_wrong"))
        self.assertEqual(self.send(receiver, sign(BODY, SECRET, now=1)), (401, "timestamp_out_of_tolerance"))
        self.assertEqual(self.send(receiver, method="GET"), (405, "method_not_allowed"))
        self.assertEqual(self.send(receiver, sign(BODY, SECRET), b"x" * 1_100_000), (413, "body_too_large"))
        long = {**good, "Content-Length": "1100000"}
        self.assertEqual(receiver.judge("POST", "/", long).status, 413)
        for body in NO_EVENTS:
            self.assertEqual(self.send(receiver, body=body), (400, "event_format"))
        self.assertEqual(self.handled, [])

    def test_what_handle_raises_is_500_and_the_next_try_calls_it_again(self):
        calls = []

        def handle(event, delivery_id):
            calls.append(delivery_id)
            if len(calls) == 1:
                raise RuntimeError("no disk")

        receiver, headers = self.receiver(handle=handle), sign(BODY, SECRET, id="dlv_1")
        self.assertEqual(self.send(receiver, headers), (500, "receiver_failed"))
        self.assertEqual(self.send(receiver, headers), (200, "processed"))
        self.assertEqual(calls, ["dlv_1", "dlv_1"])

    def test_a_handle_that_ends_the_process_leaves_the_delivery_to_the_next_try(self):
        def handle(event, delivery_id):
            raise SystemExit(1)

        store, headers = MemoryStore(), sign(BODY, SECRET)
        with self.assertRaises(SystemExit):
            self.send(self.receiver(store=store, handle=handle), headers)
        self.assertEqual(self.send(self.receiver(store=store), headers), (200, "processed"))

    def test_a_store_that_is_away_is_503_and_nothing_is_processed(self):
        self.assertEqual(self.send(self.receiver(store=Away())), (503, "store_away"))
        self.assertEqual(self.handled, [])

    def test_processed_is_processed_also_when_the_store_can_not_take_it_down(self):
        def fails():
            raise ConnectionError("gone")

        class Forgetful:
            def claim(self, delivery_id):
                return Claim(complete=fails, release=fails)

        self.assertEqual(self.send(self.receiver(store=Forgetful())), (200, "processed"))

    def test_a_repeat_while_handle_runs_is_409_and_never_a_second_call(self):
        begun, end = threading.Event(), threading.Event()

        def handle(event, delivery_id):
            self.handled.append(delivery_id)
            begun.set()
            end.wait(10)

        class Forgets:
            """Gives the delivery to everybody: the claim has ended by itself."""

            def claim(self, delivery_id):
                return Claim(complete=lambda: None, release=lambda: None)

        store = MemoryStore()
        for receiver, other in [
            [self.receiver(store=Forgets(), handle=handle)] * 2,  # one process
            (self.receiver(store=store, handle=handle), self.receiver(store=store, handle=handle)),  # two
        ]:
            begun.clear()
            end.clear()
            self.handled.clear()
            headers, answers = sign(BODY, SECRET), []
            first = threading.Thread(target=lambda: answers.append(self.send(receiver, headers)))
            first.start()
            self.assertTrue(begun.wait(10))
            self.assertEqual([self.send(other, headers) for _ in range(3)], [(409, "in_progress")] * 3)
            end.set()
            first.join()
            self.assertEqual((answers, len(self.handled)), ([(200, "processed")], 1))

    def test_a_claim_is_renewed_while_handle_runs(self):
        renewed = threading.Semaphore(0)

        class Store:
            def claim(self, delivery_id):
                return Claim(lambda: None, lambda: None, renewed.release, renew_every_s=0.001)

        def handle(event, delivery_id):
            for _ in range(3):
                self.assertTrue(renewed.acquire(timeout=10))

        self.assertEqual(self.send(self.receiver(store=Store(), handle=handle)), (200, "processed"))

    def test_secrets_may_be_found_by_the_path(self):
        receiver = self.receiver(secrets=lambda path: {"/hooks": [SECRET]}.get(path, []))
        headers = sign(BODY, SECRET)
        self.assertEqual(self.send(receiver, headers), (200, "processed"))
        self.assertEqual(receiver.process("/other", headers, BODY).status, 401)
        self.assertEqual(self.send(self.receiver(secrets=lambda path: [""])), (500, "receiver_failed"))

    def test_a_handle_that_is_a_coroutine_function_is_awaited(self):
        async def handle(event, delivery_id):
            await asyncio.sleep(0)
            self.handled.append(delivery_id)

        self.assertEqual(self.send(self.receiver(handle=handle)), (200, "processed"))
        self.assertEqual(len(self.handled), 1)

    def test_options_that_can_not_work_are_named(self):
        for options in [
            {"secrets": []},
            {"secrets": ["changeme"]},
            {"store": None},
            {"handle": None},
            {"signatures": "x"},
            {"tolerance_s": 0},
            {"limit_bytes": 0},
        ]:
            with self.assertRaises(ValueError):
                self.receiver(**options)

    def test_a_refusal_is_logged_once_with_its_reason_and_no_line_of_a_stranger(self):
        receiver = self.receiver()
        with self.assertLogs("herald_receiver", "WARNING") as logged:
            for _ in range(5):
                receiver.judge("POST", "/a\nERROR forged", {"x-service-delivery": "dlv_1\nforged"})
        self.assertEqual(len(logged.output), 1)
        self.assertIn("service_signature_missing", logged.output[0])
        self.assertNotIn("\n", logged.output[0])


class OnAsgi(unittest.TestCase):
    """By the messages of ASGI itself; test_servers.py has real servers."""

    def call(self, receiver, headers, messages):
        async def run():
            sent, left = [], list(messages)

            async def receive():
                return left.pop(0)

            async def send(message):
                sent.append(message)

            pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
            scope = {"type": "http", "method": "POST", "path": "/hooks", "headers": pairs, "http_version": "1.1"}
            await asgi_app(receiver)(scope, receive, send)
            return sent[0]["status"], json.loads(sent[1]["body"]), len(left)

        return asyncio.run(run())

    def test_a_body_in_parts_is_read_and_one_that_its_headers_do_not_earn_is_not(self):
        logging.getLogger("herald_receiver").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("herald_receiver").setLevel, logging.NOTSET)
        handled = []

        async def handle(event, delivery_id):
            await asyncio.sleep(0)
            handled.append(delivery_id)

        receiver = Receiver(secrets=SECRET, store=MemoryStore(), handle=handle, limit_bytes=1_000)
        part = {"type": "http.request", "body": BODY[:5], "more_body": True}
        rest = {"type": "http.request", "body": BODY[5:]}
        huge = {"type": "http.request", "body": b"x" * 1_001, "more_body": True}
        good = sign(BODY, SECRET, id="dlv_1")
        self.assertEqual(self.call(receiver, good, [part, rest]), (200, {"status": "processed"}, 0))
        self.assertEqual(self.call(receiver, good, [part, rest])[1], {"status": "duplicate"})
        status, body, left = self.call(receiver, {}, [part, rest])
        self.assertEqual((status, body["error"], left), (401, "service_signature_missing", 2))
        status, _, left = self.call(receiver, good, [part, huge, rest])
        self.assertEqual((status, left), (413, 1))
        self.assertEqual(self.call(receiver, good, [part, {"type": "http.disconnect"}])[1]["error"], "body_incomplete")
        self.assertEqual(handled, ["dlv_1"])


if __name__ == "__main__":
    unittest.main()
