"""Receives Herald's webhooks: verifies them, types their events, and processes each delivery once."""

from .events import (
    ApprovalRequest,
    CanceledEvent,
    CheckInEvent,
    DecisionItem,
    DoneEvent,
    EventFormatError,
    HeraldEvent,
    Outcome,
    RequiresActionEvent,
    TaskRef,
    TestEvent,
    UnknownEvent,
    is_sample,
    parse_event,
)
from .frameworks import asgi_app, django_view, flask_view
from .receiver import Answer, Receiver
from .signatures import sign
from .stores import Claim, DeliveryStore, MemoryStore, PostgresStore, RedisStore, SqliteStore
from .verify import Genuine, Refused, verify_delivery

__all__ = [
    "Answer",
    "ApprovalRequest",
    "CanceledEvent",
    "CheckInEvent",
    "Claim",
    "DecisionItem",
    "DeliveryStore",
    "DoneEvent",
    "EventFormatError",
    "Genuine",
    "HeraldEvent",
    "MemoryStore",
    "Outcome",
    "PostgresStore",
    "Receiver",
    "RedisStore",
    "Refused",
    "RequiresActionEvent",
    "SqliteStore",
    "TaskRef",
    "TestEvent",
    "UnknownEvent",
    "asgi_app",
    "django_view",
    "flask_view",
    "is_sample",
    "parse_event",
    "sign",
    "verify_delivery",
]
