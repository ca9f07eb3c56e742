"""Tick history from files and from a terminal."""

from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.errors import Broken, OnError
from mt5bridge.history.read import files_in, read_ticks
from mt5bridge.history.terminal import Terminal, copy_ticks, terminal
from mt5bridge.history.zones import UTC, ServerTime

__all__ = [
    "UTC", "Broken", "HistoryError", "OnError", "ServerTime", "Terminal", "TickBlock",
    "copy_ticks", "files_in", "read_ticks", "terminal",
]  # fmt: skip
