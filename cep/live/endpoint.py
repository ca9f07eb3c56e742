"""`/metrics` and `/health` over HTTP, in threads of their own; nothing can be changed there.

Threads look at the newest status, which the server's thread makes about once a second anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import urlsplit

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from cep.live.config import ConfigError, Metrics
from cep.live.health import faults, notices
from cep.live.metrics import Figures
from mt5bridge.clock import now_msc
from mt5bridge.server.settings import PORT_MAX, is_loopback
from mt5bridge.server.status import Status
from mt5bridge.troubles import Troubles

REQUESTS_MAX = 16
"""Answered at once; who comes beyond is hung up on."""
PATIENCE_S = 5.0
_TEXT = "text/plain; charset=utf-8"
_NAMES = ("localhost", "127.0.0.1", "::1")

Newest = Callable[[], Status | None]


class EndpointError(OSError):
    """The address cannot be listened on."""


def address_of(metrics: Metrics) -> tuple[str, int]:
    """Host and port to listen on. ConfigError when they are none, or others reach them unasked."""
    text = metrics.bind or ""
    parts = urlsplit(f"tcp://{text}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port is None or not 0 <= port <= PORT_MAX:
        raise ConfigError(f"[metrics] bind: {text!r}: use an address such as 127.0.0.1:9655")
    if not (metrics.allow_others or is_loopback(f"tcp://{text}")):
        raise ConfigError(
            f"[metrics] bind: other machines reach {text}, and whoever asks there is told of the "
            "account; use 127.0.0.1, or set allow_others"
        )
    return host, port


class Endpoint(ThreadingHTTPServer):
    """Listens from its creation to `close`."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = REQUESTS_MAX

    def __init__(self, metrics: Metrics, newest: Newest, troubles: Troubles) -> None:
        self.newest = newest
        self.is_open_to_others = metrics.allow_others
        self.registry = CollectorRegistry()
        self.registry.register(_collector(newest))
        self._places = BoundedSemaphore(REQUESTS_MAX)
        host, port = address_of(metrics)
        try:
            super().__init__((host, port), _Answer)
        except OSError as problem:
            raise EndpointError(
                problem.errno, f"[metrics] bind: cannot listen on {host}:{port}: {problem.strerror}"
            ) from problem
        self._worker = troubles.worker("metrics thread", self.serve_forever)

    def start(self) -> None:
        self._worker.start()

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        self._worker.join()

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """A peer that hangs up in the middle is no matter of the log."""


def _collector(newest: Newest) -> Any:
    return Figures(newest)


class _Answer(BaseHTTPRequestHandler):
    """One connection."""

    server: Endpoint
    timeout = PATIENCE_S
    server_version = "mt5cep"
    sys_version = ""

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if not (self.server.is_open_to_others or self._is_for_here()):
            self._say(403, _TEXT, b"ask for localhost\n")  # a web page under a name of its own
        elif path == "/metrics":
            self._say(200, CONTENT_TYPE_LATEST, generate_latest(self.server.registry))
        elif path == "/health":
            self._health()
        else:
            self._say(404, _TEXT, b"/metrics or /health\n")

    def _is_for_here(self) -> bool:
        return urlsplit(f"tcp://{self.headers.get('Host', '')}").hostname in _NAMES

    def _health(self) -> None:
        status = self.server.newest()
        wrong = ["it is starting"] if status is None else faults(status, now_msc())
        told = {
            "healthy": not wrong,
            "faults": wrong,
            "notices": [] if status is None else notices(status),
        }
        self._say(503 if wrong else 200, "application/json", msgspec.json.encode(told) + b"\n")

    def _say(self, code: int, kind: str, data: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: Any) -> None:
        """Who asks, and what, is no matter of the log."""
