"""The events of Herald's webhooks, as types, and read from a body."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Literal, TypedDict, Union


class _Summary(TypedDict):
    summary: str


class Outcome(_Summary, total=False):
    progress: float
    """0 to 1."""


class _Request(TypedDict):
    id: str
    title: str


class ApprovalRequest(_Request, total=False):
    description: str


class _Item(TypedDict):
    id: str
    label: str


class DecisionItem(_Item, total=False):
    description: str


class TaskRef(TypedDict):
    id: str
    status: str
    """`queued`, `running`, `requires_action`, `done`, `canceled`, or one of a later Herald."""


class _TaskFacts(TypedDict):
    id: str
    """Of the transition, the same at every endpoint. Deduplicate by the delivery's id instead."""
    created_at: str
    """ISO 8601, UTC."""
    sequence: int
    """Strictly increasing within a Task. Deliveries may arrive in another order."""
    task: TaskRef


class CheckInEvent(_TaskFacts):
    """After a material canonical checkpoint."""

    event: Literal["task.check_in"]
    outcome: Outcome


class RequiresActionEvent(_TaskFacts):
    """The Task needs an approval or a decision."""

    event: Literal["task.requires_action"]
    outcome: Outcome
    approval_request: ApprovalRequest
    """The primary request."""
    action_version: int
    """Sent back when the request is resolved."""
    decision_items: List[DecisionItem]
    api_resolvable: bool
    """Whether the API may resolve the request; otherwise a person must, at `action_url`."""
    action_url: str
    """A page that asks for sign-in."""


class DoneEvent(_TaskFacts):
    """Terminal. Result, outcome and usage are read with `GET /tasks/{id}`."""

    event: Literal["task.done"]


class CanceledEvent(_TaskFacts):
    """Terminal."""

    event: Literal["task.canceled"]


class TestEvent(TypedDict):
    """Sent by the test operation; it concerns no Task."""

    event: Literal["webhook.test"]
    id: str
    created_at: str


class UnknownEvent(TypedDict):
    """An event of a later Herald, which this version of the kit doesn't know."""

    event: Literal["unknown"]
    id: str
    name: str
    """Its name, as sent."""
    body: Dict[str, Any]


HeraldEvent = Union[CheckInEvent, RequiresActionEvent, DoneEvent, CanceledEvent, TestEvent, UnknownEvent]
"""`event` tells the kinds apart."""


class EventFormatError(ValueError):
    """The body is no event of Herald's. `path` is that of the field, such as `task.id`; empty for the whole body."""

    def __init__(self, path: str, expected: str):
        super().__init__(f"the webhook's body is no event: {path or 'it'} must be {expected}")
        self.path = path


def is_sample(event: HeraldEvent) -> bool:
    """Whether somebody sent it with the test operation: signed like any other, of a Task that doesn't exist."""
    task = event.get("task")
    return event["event"] != "unknown" and isinstance(task, dict) and task["id"].startswith("task_sample")


def parse_event(raw_body: Union[bytes, str]) -> HeraldEvent:
    """Parses the event of a body. Verify the signature first: this function doesn't.

    Unknown fields are kept, and an unknown event becomes `unknown`, so that a newer Herald breaks no receiver.
    Raises EventFormatError when the body isn't JSON, or a field of a known event is missing or has another type.
    """
    body = _parse_json(raw_body)
    if not isinstance(body, dict):
        raise EventFormatError("", "a JSON object")
    name = body.get("event")
    if not isinstance(name, str):
        raise EventFormatError("event", "a string")
    if name in _CHECKS:
        _CHECKS[name](body, "")
        return body  # type: ignore[return-value]
    if not isinstance(body.get("id"), str):
        raise EventFormatError("id", "a string")
    return {"event": "unknown", "id": body["id"], "name": name, "body": body}


def _parse_json(raw_body: Any) -> Any:
    if not isinstance(raw_body, (str, bytes, bytearray, memoryview)):
        raise EventFormatError("", "given raw, before any parser")
    try:
        text = raw_body if isinstance(raw_body, str) else bytes(raw_body).decode("utf-8")
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise EventFormatError("", "JSON in UTF-8") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_Check = Callable[[Any, str], None]
_MISSING = object()


def _expecting(expected: str, holds: Callable[[Any], bool]) -> _Check:
    def check(value: Any, path: str) -> None:
        if not holds(value):
            raise EventFormatError(path, expected)

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_text = _expecting("a string", lambda value: isinstance(value, str))
_number = _expecting("a number", _is_number)
_integer = _expecting(
    "an integer", lambda value: _is_number(value) and abs(value) < 2**53 and int(value) == value
)
_flag = _expecting("true or false", lambda value: isinstance(value, bool))


def _optional(check: _Check) -> _Check:
    return lambda value, path: None if value is _MISSING else check(value, path)


def _object(checks: Dict[str, _Check]) -> _Check:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise EventFormatError(path, "an object")
        for name, each in checks.items():
            each(value.get(name, _MISSING), f"{path}.{name}" if path else name)

    return check


def _list(check_item: _Check) -> _Check:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, list):
            raise EventFormatError(path, "an array")
        for index, item in enumerate(value):
            check_item(item, f"{path}[{index}]")

    return check


_task_facts = {
    "id": _text,
    "created_at": _text,
    "sequence": _integer,
    "task": _object({"id": _text, "status": _text}),
}
_outcome = _object({"summary": _text, "progress": _optional(_number)})

_CHECKS: Dict[str, _Check] = {
    "task.check_in": _object({**_task_facts, "outcome": _outcome}),
    "task.requires_action": _object(
        {
            **_task_facts,
            "outcome": _outcome,
            "approval_request": _object({"id": _text, "title": _text, "description": _optional(_text)}),
            "action_version": _integer,
            "decision_items": _list(_object({"id": _text, "label": _text, "description": _optional(_text)})),
            "api_resolvable": _flag,
            "action_url": _text,
        }
    ),
    "task.done": _object(_task_facts),
    "task.canceled": _object(_task_facts),
    "webhook.test": _object({"id": _text, "created_at": _text}),
}
