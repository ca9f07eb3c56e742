"""A page in a real Chromium whose requests are frames to ZMTP 1.0, against the default server."""

from __future__ import annotations

import base64
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mt5bridge.server import Settings
from mt5bridge.simulator import simulated_terminal
from tests.bridge import forged
from tests.bridge.live import Daemon, run, wait_until, walks
from tests.browser import COMMAND, MARKS
from tests.credentials import PASSWORDS

ATTEMPTS = 20

pytestmark = MARKS


@contextmanager
def site(page: str) -> Iterator[str]:
    """The address of somebody's web page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def visiting(address: str, folder: Path) -> Iterator[None]:
    """Somebody looks at a page."""
    command = [*COMMAND, f"--user-data-dir={folder / 'profile'}", address]
    with (folder / "chromium.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def test_a_web_page_is_nobody(tmp_path: Path) -> None:
    """12.1: on the server without authentication the first of these requests was a session."""
    with Daemon(Settings(bind="tcp://127.0.0.1:*", passwords=PASSWORDS)) as daemon:
        port = daemon.server.address.rpartition(":")[2]
        body = base64.b64encode(forged.body()).decode()
        page = forged.PAGE.replace("PORT", port).replace("BODY", body)

        def attempts() -> int:
            return daemon.server.counters().get("handshakes_refused", 0)

        with site(page) as address, visiting(address, tmp_path):
            wait_until(lambda: attempts() > 0)
            run(simulated_terminal(walks("A", 500), identity="honest"), daemon)
            wait_until(lambda: attempts() >= ATTEMPTS)
        counters = daemon.server.counters()
        assert list(daemon.server.terminals.sessions) == ["honest"]
    assert counters["connections"] == 1 and counters["ticks"] == 500
    assert not [name for name in counters if name.startswith(("bad_frames", "strangers"))]
    (complaint,) = daemon.server.sink.complaints
    assert "does not speak ZMTP 3, as a web page's" in complaint
