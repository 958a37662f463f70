"""What the tests share."""

import json
from pathlib import Path

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
OTHER = "whsec_c3RyYW5nZXJzdHJhbmdlcnN0cmFuZ2Vyc3RyYW5nZXI="
BODY = b'{"id":"trn_1","event":"webhook.test","created_at":"2030-01-02T00:00:00.000Z"}'
# Those that hold for the kit in TypeScript as well.
VECTORS = json.loads((Path(__file__).parents[2] / "receiver/vectors.json").read_text())["vectors"]

FACTS = {
    "id": "trn_1",
    "created_at": "2030-01-02T00:00:00.000Z",
    "sequence": 3,
    "task": {"id": "task_1", "status": "done"},
}
DONE = {**FACTS, "event": "task.done"}
CHECK_IN = {**FACTS, "event": "task.check_in", "outcome": {"summary": "Grüße", "progress": 0.5}}
REQUIRES_ACTION = {
    **FACTS,
    "event": "task.requires_action",
    "outcome": {"summary": "waits"},
    "approval_request": {"id": "a", "title": "Pay?"},
    "action_version": 2,
    "decision_items": [{"id": "b", "label": "c"}],
    "api_resolvable": True,
    "action_url": "https://app.example/tasks/task_1/actions/2",
}


def text(value):
    return json.dumps(value).encode()


# Bodies that are no event, each signed with the right secret.
NO_EVENTS = [
    b"",
    b"nonsense",
    b"null",
    b"[]",
    b'"x"',
    b"{}",
    b"NaN",
    b'{"id":"t","event":1}',
    b'{"id":"t","event":"task.done"}',
    b'{"event":"later.one"}',
    b"\xff\xfe\x00",
    b"[" * 100_000,
    BODY[:-1],
    BODY + b"}",
]
