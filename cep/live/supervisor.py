"""Tells systemd how the daemon stands (sd_notify): small datagrams, which nobody answers."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress

from mt5bridge.clock import Now

WATCHDOG_PART = 3
"""So many signs of life in the time after which systemd takes the daemon for hung."""
_ROOM_WAIT_S = 30.0
"""How long what is told once waits for room: Linux queues about ten datagrams of a socket."""


class Supervisor:
    """Silent where nobody has asked to be told. Belongs to the server's thread."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        if self._address.startswith("@"):
            self._address = "\0" + self._address[1:]
        told_us = environment.get("WATCHDOG_USEC", "")
        is_ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._every_ms = int(told_us) // 1_000 // WATCHDOG_PART if told_us.isdigit() else 0
        self._every_ms *= is_ours
        self._next_ms = 0

    def ready(self) -> None:
        """Terminals can connect."""
        self._tell("READY=1", _ROOM_WAIT_S)

    def stopping(self) -> None:
        self._tell("STOPPING=1", _ROOM_WAIT_S)

    def look(self, now: Now) -> None:
        """A sign of life, when one is due; to be called often by the thread that serves."""
        if self._every_ms and now.ms >= self._next_ms:
            self._next_ms = now.ms + self._every_ms
            self._tell("WATCHDOG=1", 0.0)  # there will be another one

    def _tell(self, text: str, wait_s: float) -> None:
        if not self._address or not hasattr(socket, "AF_UNIX"):
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
            link.settimeout(wait_s)
            link.sendto(text.encode(), self._address)
