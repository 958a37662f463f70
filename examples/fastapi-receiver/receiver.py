"""A receiver in FastAPI. It verifies each delivery, keeps its event in SQLite, and answers; the work comes afterwards."""

import json
import os
import sqlite3

from fastapi import FastAPI
from herald_receiver import HeraldEvent, Receiver, SqliteStore, asgi_app

EVENTS = os.environ.get("EVENTS", "events.db")


def connect() -> sqlite3.Connection:
    connection = sqlite3.connect(EVENTS, timeout=10)
    connection.execute("CREATE TABLE IF NOT EXISTS event (delivery TEXT PRIMARY KEY, name TEXT, body TEXT)")
    return connection


def keep(event: HeraldEvent, delivery_id: str) -> None:
    """Called once per delivery, until it succeeds: when it raises, Herald sends the delivery again. It may block."""
    connection = connect()
    try:
        with connection:
            # Whoever dies between this and the answer gets the delivery again, and keeps it once all the same.
            connection.execute(
                "INSERT OR IGNORE INTO event VALUES (?, ?, ?)", (delivery_id, event["event"], json.dumps(event))
            )
    finally:
        connection.close()


receiver = Receiver(
    # One secret, or while it is being rotated the new one and the old one.
    secrets=os.environ["HERALD_SECRETS"].split(","),
    # Which deliveries there were; all processes of this program share it.
    store=SqliteStore(EVENTS + ".seen"),
    handle=keep,
)
app = FastAPI()
app.add_route("/hooks/herald", asgi_app(receiver), methods=["POST"])


@app.get("/events")
def list_events() -> list[dict[str, str]]:
    """What has come, oldest first."""
    connection = connect()
    try:
        rows = connection.execute("SELECT delivery, name FROM event ORDER BY rowid").fetchall()
    finally:
        connection.close()
    return [{"delivery": delivery, "event": name} for delivery, name in rows]
