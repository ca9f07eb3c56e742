"""Sockets."""

from __future__ import annotations

from mt5bridge.terminal.assumptions.base import NO, REPORT, YES, Assumption, Between, Only
from mt5bridge.terminal.findings import Level

_SOCKET, _CONNECTION = "Link/Socket.mqh", "Link/Connection.mqh"
_SLOW = "a way so long costs a few attempts to connect, each longer than the one before"
_PROBLEM = Level.PROBLEM

NETWORK = (
    Assumption(
        "socket.closed_port_error", "GetLastError where nobody listens",
        "5272; 4014 where the address is not allowed", Only((5272,)), (_SOCKET,),
        "ERR_FUNCTION_NOT_ALLOWED",
        "4014: allow the daemon's host in Tools > Options > Expert Advisors; else tell us",
    ),
    Assumption(
        "socket.closed_port_ms", "how long that takes", "", Between(0, 2_500), (_SOCKET,),
        "SocketConnect",
        "while no daemon runs, each attempt holds a program up for so long, at most BlockMs",
        varies=True,
    ),
    Assumption(
        "socket.connect_us", "how long a connection to the daemon takes", "", Between(0, 50_000),
        (_SOCKET,), "connect_ms", _SLOW, varies=True,
    ),
    Assumption(
        "socket.timeouts", "SocketTimeouts of a connected socket", "it does", YES, (_SOCKET,),
        "SocketTimeouts", "a send may hold a program up for longer than BlockMs: tell us",
    ),
    Assumption(
        "socket.round_trip_us", "from a send to the daemon's answer", "", Between(0, 500_000),
        (_CONNECTION,), "m_round_trip_us", _SLOW, varies=True,
    ),
    Assumption(
        "socket.small_sends_us", "the same in ten sends of a byte", "", Between(0, 500_000),
        (_CONNECTION, _SOCKET), "SocketSend|m_queue",
        "small sends wait for acknowledgements here; frames are sent whole, so that costs little",
        varies=True,
    ),
    Assumption(
        "socket.readable_when_empty", "SocketIsReadable where nothing waits",
        "the first answer may be 1", Only((0, 1)), (_SOCKET,), "SocketIsReadable", REPORT,
    ),
    Assumption(
        "socket.read_empty", "SocketRead then, with a timeout of 1 ms", "-1 for an error",
        Only((-1, 0)), (_SOCKET,), "SOCKET_READ_MS", REPORT, _PROBLEM,
    ),
    Assumption(
        "socket.read_empty_error", "GetLastError then", "5273 for an error", Only((0, 5273)),
        (_SOCKET,), "readable > 1", REPORT,
    ),
    Assumption(
        "socket.read_empty_us", "how long that takes", "its timeout", Between(0, 50_000),
        (_SOCKET,), "SOCKET_READ_MS", "each look at an empty connection holds a program up for so "
        "long: let TimerMs be longer", varies=True,
    ),
    Assumption(
        "socket.lives_after_empty_read", "the connection is there after it", "", YES, (_SOCKET,),
        "SocketIsConnected", "connections end by themselves: tell us", _PROBLEM,
    ),
    Assumption(
        "socket.writable", "SocketIsWritable of a connection that nobody fills", "it is", YES,
        (_SOCKET,), "SocketIsWritable", "nothing is sent: tell us", _PROBLEM,
    ),
    Assumption(
        "socket.closed_is_connected", "SocketIsConnected of a closed socket", "false", NO,
        (_SOCKET,), "SocketIsConnected", REPORT,
    ),
)  # fmt: skip
