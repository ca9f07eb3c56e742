"""A terminal that is not there: the same protocol over the same sockets."""

from __future__ import annotations

from mt5bridge.simulator.account import DEPOSIT, Account
from mt5bridge.simulator.latency import LatencyProbe
from mt5bridge.simulator.run import NotLetInError, RefusedError, Runner
from mt5bridge.simulator.script import Script, ScriptError, parse_script, read_script
from mt5bridge.simulator.tape import Tape
from mt5bridge.simulator.terminal import (
    Terminal,
    prepare,
    simulated_hello,
    simulated_symbol,
    simulated_terminal,
)
from mt5bridge.simulator.ticks import Walk, random_walk

__all__ = [
    "DEPOSIT",
    "Account",
    "LatencyProbe",
    "NotLetInError",
    "RefusedError",
    "Runner",
    "Script",
    "ScriptError",
    "Tape",
    "Terminal",
    "Walk",
    "parse_script",
    "prepare",
    "random_walk",
    "read_script",
    "simulated_hello",
    "simulated_symbol",
    "simulated_terminal",
]
