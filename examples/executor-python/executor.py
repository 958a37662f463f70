"""An executor: it takes the Tasks that wait, works on each, and reports what happens. It needs nothing but Python."""

import json
import os
import signal
import time
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("HERALD_URL", "http://127.0.0.1:8080")
KEY = os.environ["HERALD_EXECUTOR_KEY"]
PAUSE_S = 1
AGAIN = {429, 502, 503, 504}
TRIES = 8

stopping = False


class Problem(Exception):
    """What Herald answers to a request that can't be served: `code` is stable, and `detail` a sentence."""

    def __init__(self, status, problem):
        super().__init__(problem.get("detail", f"status {status}"))
        self.code = problem.get("code")


def call(method, path, body=None):
    """Repeats what got no answer. A report is a fact, and counts once however often it is sent."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    for tried in range(1, TRIES + 1):
        wait = min(30, 2**tried / 4)
        try:
            request = urllib.request.Request(URL + path, data, headers, method=method)
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                # A proxy in between answers with a page of its own.
                is_problem = error.headers.get_content_type() == "application/problem+json"
                problem = json.load(error) if is_problem else {}
            if error.code not in AGAIN or tried == TRIES:
                raise Problem(error.code, problem) from error
            wait = max(wait, int(error.headers.get("Retry-After", 0)))
        except OSError:
            if tried == TRIES:
                raise
        time.sleep(wait)


def list_tasks(status):
    cursor = None
    while True:
        query = {"status": status, **({"cursor": cursor} if cursor else {})}
        page = call("GET", f"/api/internal/tasks?{urllib.parse.urlencode(query)}")
        yield from page["tasks"]
        cursor = page["nextCursor"]
        if cursor is None:
            return


def execute(task_id):
    def report(transition):
        return call("POST", f"/api/internal/tasks/{task_id}/transitions", transition)

    try:
        task = call("GET", f"/api/internal/tasks/{task_id}")
        report({"type": "start"})
        words = len(json.dumps(task.get("input")).split())
        # Canonical and material: customers are told of it. Each checkpoint has a name of its own.
        report(
            {
                "type": "checkpoint",
                "checkpointId": "read",
                "canonical": True,
                "material": True,
                "outcome": {"summary": f"Read {words} words", "progress": 0.5},
            }
        )
        answer = report({"type": "done", "result": {"words": words}})
        print(f"{task_id} is {answer['status']}", flush=True)
    except Problem as problem:
        # Its customer has canceled it meanwhile, say. Anything else ends this process, and its supervisor starts another.
        if problem.code != "invalid_transition":
            raise
        print(f"{task_id} takes no more reports: {problem}", flush=True)


def stop(_signal, _frame):
    global stopping
    stopping = True


signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
print(f"working for {URL}", flush=True)
while not stopping:
    # Those that run are what a process before this one began and did not end: they are worked on again.
    for wanted in ("running", "queued"):
        for found in list_tasks(wanted):
            if not stopping:
                execute(found["id"])
    time.sleep(PAUSE_S)
