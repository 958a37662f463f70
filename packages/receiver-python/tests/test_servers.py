"""The examples of the README on real servers, two processes each, under repeated deliveries."""

import base64
import concurrent.futures
import contextlib
import importlib.util
import io
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request
import uuid

from herald_receiver import sign

from .samples import BODY, NO_EVENTS, OTHER, SECRET

KIT = pathlib.Path(__file__).parents[1]
DELIVERIES, REPEATS = 25, 8
DEADLINE_S = 90


def read_example(name):
    """What people copy is what the tests run."""
    readme = (KIT / "README.md").read_text()
    return re.search(rf"<!-- example: {name} -->\n\n```python\n(.*?)```\n", readme, re.DOTALL).group(1)


class Server:
    """A process with two workers; `lines` is what they print."""

    def __init__(self, folder, example, command, port):
        name = example.replace(".py", "")
        pathlib.Path(folder, example).write_text(read_example(example))
        env = {**os.environ, "HERALD_SECRETS": f"{SECRET}\n", "STORE": "deliveries.db"}
        env["PYTHONPATH"] = os.pathsep.join([str(KIT), folder])
        self.port = port
        args = [sys.executable, "-m", *(part.format(port=port, name=name) for part in command)]
        self._process = subprocess.Popen(
            args, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.lines = []
        self._reader = threading.Thread(target=lambda: self.lines.extend(self._process.stdout))
        self._reader.start()

    def wait_until_it_answers(self):
        until = time.monotonic() + DEADLINE_S
        while time.monotonic() < until and self._process.poll() is None:
            with contextlib.suppress(OSError):
                return self.send({}, b"")
            time.sleep(0.05)
        raise AssertionError("it doesn't answer:\n" + "".join(self.lines))

    def send(self, headers, body):
        url = f"http://127.0.0.1:{self.port}/hooks/herald"
        request = urllib.request.Request(url, body, {"content-type": "application/json", **headers}, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def close(self):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)
        self._reader.join()
        self._process.stdout.close()


class Contract:
    example, command = "", []

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        cls.server = Server(cls.folder.name, cls.example, cls.command, port)
        cls.addClassCleanup(cls.server.close)
        cls.server.wait_until_it_answers()

    def processed(self):
        # Lines of two processes may stand in one.
        return re.findall(r"processed (\w+) ", "".join(self.server.lines))

    def test_two_processes_under_repeats_process_each_once_and_lose_none(self):
        ids = [f"dlv_{self.example[:3]}{n}" for n in range(DELIVERIES)]
        missing = set(ids)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            sends = ids * REPEATS
            while missing:  # as Herald does: until it is acknowledged
                random.shuffle(sends)
                answers = list(pool.map(lambda each: self.server.send(sign(BODY, SECRET, id=each), BODY)[0], sends))
                self.assertLessEqual(set(answers), {200, 409, 503})
                missing -= {each for each, status in zip(sends, answers) if status == 200}
                sends = list(missing)
        self.assertEqual(self.server.send(sign(BODY, SECRET, id=ids[0]), BODY), (200, b'{"status": "duplicate"}'))
        until = time.monotonic() + DEADLINE_S
        while len(set(self.processed())) < DELIVERIES and time.monotonic() < until:
            time.sleep(0.02)  # its output comes by a pipe
        mine = [each for each in self.processed() if each in ids]
        self.assertEqual(sorted(mine), sorted(ids))

    def test_what_is_not_genuine_or_not_read_is_never_acknowledged(self):
        good = sign(BODY, SECRET, id="dlv_forged")
        for headers, body, status, word in [
            ({}, BODY, 401, b"service_signature_missing"),
            (sign(BODY, OTHER), BODY, 401, b"service_signature_wrong"),
            (sign(BODY, SECRET, now=1), BODY, 401, b"timestamp_out_of_tolerance"),
            (good, BODY + b" ", 401, b"service_signature_wrong"),
            (good, b"", 401, b"service_signature_wrong"),
            ({**good, "webhook-id": "dlv_x"}, BODY, 401, b"delivery_ids_differ"),
        ]:
            answer = self.server.send(headers, body)
            self.assertEqual((answer[0], word in answer[1]), (status, True), answer)
        for body in NO_EVENTS:
            answer = self.server.send(sign(body, SECRET), body)
            self.assertEqual((answer[0], b"event_format" in answer[1]), (400, True), (body[:40], answer))
        self.assertNotIn("dlv_forged", self.processed())

    def test_a_body_that_is_too_long_is_not_taken(self):
        with contextlib.suppress(ConnectionError, urllib.error.URLError):  # hung up in the middle of it: refused too
            self.assertEqual(self.server.send(sign(BODY, SECRET), b" " * 2_000_000)[0], 413)
        self.assertEqual(self.server.send(sign(BODY, SECRET), BODY)[0], 200)


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


GUNICORN = ["gunicorn", "--workers", "2", "--threads", "4", "--bind", "127.0.0.1:{port}"]


@needs("redis")
@unittest.skipUnless(os.environ.get("REDIS_URL"), "REDIS_URL names no Redis to try")
class Lambda(unittest.TestCase):
    def test_the_handler_behind_api_gateway_processes_once_and_lets_nobody_else_in(self):
        environment = unittest.mock.patch.dict(os.environ, HERALD_SECRETS=SECRET)
        printed, made = io.StringIO(), {}
        with environment, contextlib.redirect_stdout(printed):
            exec(read_example("lambda_handler.py"), made)
            delivery_id = f"dlv_{uuid.uuid4().hex}"
            good = {"headers": sign(BODY, SECRET, id=delivery_id), "rawPath": "/hooks/herald", "body": BODY.decode()}
            encoded = {**good, "body": base64.b64encode(BODY).decode(), "isBase64Encoded": True}
            requests = [{**good, "headers": {}}, {**good, "body": None}, good, good, encoded]
            answers = [made["lambda_handler"](each, None)["statusCode"] for each in requests]
        self.assertEqual(answers, [401, 401, 200, 200, 200])
        self.assertEqual(printed.getvalue(), f"processed {delivery_id} webhook.test\n")


@needs("fastapi", "uvicorn")
class FastApi(Contract, unittest.TestCase):
    example = "fastapi_app.py"
    command = ["uvicorn", "--workers", "2", "--port", "{port}", "{name}:app"]


@needs("flask", "gunicorn")
class Flask(Contract, unittest.TestCase):
    example = "flask_app.py"
    command = [*GUNICORN, "{name}:app"]


@needs("django", "gunicorn")
class Django(Contract, unittest.TestCase):
    example = "django_app.py"
    command = [*GUNICORN, "{name}:application"]


if __name__ == "__main__":
    unittest.main()
