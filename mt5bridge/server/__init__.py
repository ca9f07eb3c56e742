"""The daemon's end of the wire."""

from __future__ import annotations

from mt5bridge.server.batch import (
    DEALS,
    Batch,
    Funds,
    Gap,
    Outcome,
    StreamKey,
    Trader,
    Watermark,
    owner_of,
    ticks_of,
)
from mt5bridge.server.requests import Request
from mt5bridge.server.server import Server
from mt5bridge.server.settings import BindError, Settings, UnsafeBindError
from mt5bridge.server.sink import Sink
from mt5bridge.server.specified import Specified

__all__ = [
    "DEALS",
    "Batch",
    "BindError",
    "Funds",
    "Gap",
    "Outcome",
    "Request",
    "Server",
    "Settings",
    "Sink",
    "Specified",
    "StreamKey",
    "Trader",
    "Watermark",
    "UnsafeBindError",
    "owner_of",
    "ticks_of",
]
