"""Helpers that run a daemon in a thread: who is not let in leaves nothing behind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import zmq

from mt5bridge.server import Server
from tests.bridge.live import Daemon
from tests.live import service
from tests.live.service import Service, address, write_settings

SLOW = "the deadline has passed"


def test_a_daemon_that_is_too_slow_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(_condition: Callable[[], bool]) -> None:
        raise AssertionError(SLOW)

    monkeypatch.setattr(service, "wait_until", give_up)
    settings = write_settings(tmp_path, {"rules": {"numba": False}})
    before = set(threading.enumerate())
    one = Service(settings)
    with pytest.raises(AssertionError, match=SLOW), one:
        pass
    assert one.failure is None and set(threading.enumerate()) <= before
    assert is_free(address(settings))


def test_a_server_that_does_not_come_to_run_is_closed() -> None:
    addresses, before = [], set(threading.enumerate())

    def fail(server: Server) -> None:
        addresses.append(server.address)
        raise OSError(SLOW)

    daemon = Daemon()
    daemon.on_start = fail
    with pytest.raises(OSError, match=SLOW), daemon:
        pass
    assert set(threading.enumerate()) <= before and is_free(*addresses)


def is_free(where: str) -> bool:
    """Whether nobody listens there any more; `bind` raises where one does."""
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.bind(where)
    return True
