"""The receiver in FastAPI, Starlette and other ASGI servers, in Flask, and in Django. Each reads the raw body itself."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, Union

from .receiver import Answer, Receiver

BODY_LIMIT_S = 14
"""Herald waits 15 s for the answer."""


class _AsgiApp:
    def __init__(self, receiver: Receiver):
        self._receiver = receiver

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise RuntimeError("the webhook's path is for HTTP alone")
        receiver, headers, path = self._receiver, scope["headers"], scope["path"]
        answer = receiver.judge(scope["method"], path, headers)
        if answer is None:
            try:
                body = await asyncio.wait_for(_read_body(receive, receiver.limit_bytes), BODY_LIMIT_S)
            except asyncio.TimeoutError:
                body = "body_too_slow"
            if isinstance(body, str):
                answer = receiver.refuse_body(path, headers, body)
            else:
                answer = await self._process(path, headers, body)
        await _send(answer, scope, send)

    async def _process(self, path: str, headers: Any, body: bytes) -> Answer:
        loop = asyncio.get_running_loop()

        def run(made: Any) -> None:
            asyncio.run_coroutine_threadsafe(made, loop).result()

        # The store blocks, and `handle` may.
        return await asyncio.to_thread(self._receiver.process, path, headers, body, run)


async def _read_body(receive: Any, limit_bytes: int) -> Union[bytes, str]:
    parts, length = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return "body_incomplete"
        part = message.get("body", b"")
        parts.append(part)
        length += len(part)
        if length > limit_bytes:
            return "body_too_large"
        if not message.get("more_body", False):
            return b"".join(parts)


async def _send(answer: Answer, scope: Any, send: Any) -> None:
    text = answer.text()
    headers = {"content-type": "application/json", "content-length": str(len(text)), **answer.headers}
    if scope.get("http_version", "1.1").startswith(("2", "3")):
        headers.pop("connection", None)  # which they don't know
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": pairs})
    await send({"type": "http.response.body", "body": text})


def asgi_app(receiver: Receiver) -> Any:
    """An ASGI application: `app.add_route("/hooks/herald", asgi_app(receiver))` of FastAPI and of Starlette.

    `handle` runs in a thread, or on the event loop if it is a coroutine function.
    """
    return _AsgiApp(receiver)


def flask_view(receiver: Receiver) -> Callable[[], Any]:
    """A view: `app.add_url_rule("/hooks/herald", view_func=flask_view(receiver), methods=["POST"])`."""
    from flask import Response, request

    def herald_webhook() -> Any:
        answer = receiver.judge(request.method, request.path, request.headers)
        if answer is None:
            # Without a length, a body that is sent in chunks might never end.
            known = request.content_length is not None
            body = request.get_data() if known else request.stream.read(receiver.limit_bytes + 1)
            answer = receiver.process(request.path, request.headers, body)
        return Response(answer.text(), answer.status, _of_wsgi(answer), content_type="application/json")

    return herald_webhook


def django_view(receiver: Receiver) -> Callable[[Any], Any]:
    """A view: `path("hooks/herald", django_view(receiver))`. It is exempt from the check of CSRF tokens."""
    from django.http import HttpResponse, RawPostDataException
    from django.http.request import UnreadablePostError

    def herald_webhook(request: Any) -> Any:
        answer = receiver.judge(request.method, request.path, request.headers)
        if answer is None:
            try:
                answer = receiver.process(request.path, request.headers, request.body)
            except RawPostDataException:
                answer = receiver.refuse_body(request.path, request.headers, "body_already_read")
            except UnreadablePostError:
                answer = receiver.refuse_body(request.path, request.headers, "body_incomplete")
        return HttpResponse(
            answer.text(), status=answer.status, headers=_of_wsgi(answer), content_type="application/json"
        )

    herald_webhook.csrf_exempt = True  # type: ignore[attr-defined]
    return herald_webhook


def _of_wsgi(answer: Answer) -> Dict[str, str]:
    """In WSGI the connection is the server's own."""
    return {name: value for name, value in answer.headers.items() if name != "connection"}
