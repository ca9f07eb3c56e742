"""The daemon's end of the wire."""

from __future__ import annotations

from mt5bridge.server.batch import DEALS, Batch, Gap, Outcome, StreamKey, ticks_of
from mt5bridge.server.server import Server
from mt5bridge.server.settings import BindError, Settings, UnsafeBindError
from mt5bridge.server.sink import Sink

__all__ = [
    "DEALS",
    "Batch",
    "BindError",
    "Gap",
    "Outcome",
    "Server",
    "Settings",
    "Sink",
    "StreamKey",
    "UnsafeBindError",
    "ticks_of",
]
