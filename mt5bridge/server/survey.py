"""A server's state as what `status.json` tells."""

from __future__ import annotations

import os
from dataclasses import fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import msgspec

from mt5bridge.clock import Now
from mt5bridge.server.batch import DEALS
from mt5bridge.server.recount import Agreement
from mt5bridge.server.session import Session
from mt5bridge.server.status import (
    AccountStatus,
    RecountStatus,
    Status,
    StreamStatus,
    TerminalStatus,
)
from mt5bridge.server.stream import Stream
from mt5bridge.server.terminals import Terminals
from mt5bridge.wire import Account, Hello, Mark

_NO_MARK = Mark(0, 0, 0)


def survey(terminals: Terminals, address: str, since_msc: int, now: Now) -> Status:
    """All there is to tell of a server at an address, since a time; to be called in its thread."""
    sessions = sorted(terminals.sessions.values(), key=lambda session: session.identity)
    halt = terminals.halt
    return Status(
        program=terminals.settings.program,
        version=_version(),
        pid=os.getpid(),
        bind=address,
        since_msc=since_msc,
        written_msc=now.utc_msc,
        terminals=[_terminal(session, now) for session in sessions],
        halted=bool(halt and halt.halted),
        halt_reason=halt.reason if halt and halt.halted else "",
        counters=dict(sorted(terminals.sink.counters.items())),
        complaints=list(terminals.sink.complaints),
        unconfirmed=dict(terminals.unconfirmed),
    )


@cache  # a look at the disk
def _version() -> str:
    try:
        return version("mt5cep")
    except PackageNotFoundError:
        return ""


def _terminal(session: Session, now: Now) -> TerminalStatus:
    found, hello = session.figures, session.hello
    status = TerminalStatus(
        identity=session.identity,
        connected=session.connected,
        since_msc=found.since_msc,
        heard_ms_ago=now.ms - session.heard_ms if hello else None,
        trades=session.trades.name.lower(),
        utc_offset_ms=found.utc_offset_ms,
        round_trip_us=found.round_trip_us,
        clock_difference_ms=found.clock_difference_ms,
        complete_msc=found.complete_msc,
        account_state=_account(found.account) if found.account else None,
        symbols=sorted(session.symbols),
        names=dict(sorted(session.names.changed.items())),
        streams=[_stream(session, stream) for stream in session.streams.values()],
        unanswered=len(session.requests),
    )
    return _introduced(status, hello) if hello else status


def _introduced(status: TerminalStatus, hello: Hello) -> TerminalStatus:
    return msgspec.structs.replace(
        status,
        program=hello.program,
        broker=hello.broker,
        server=hello.server,
        account=hello.account,
        currency=hello.currency,
        leverage=hello.leverage,
        account_mode=hello.account_mode.name.lower(),
        demo=bool(hello.demo),
    )


def _account(account: Account) -> AccountStatus:
    return AccountStatus(**{field.name: getattr(account, field.name) for field in fields(account)})


def _stream(session: Session, stream: Stream) -> StreamStatus:
    number = session.ids.get(stream.key)
    mark = session.figures.marks.get(number, _NO_MARK) if number is not None else _NO_MARK
    return StreamStatus(
        symbol="" if stream.key == DEALS else stream.key[1],
        name=stream.key[-1] if len(stream.key) > 2 else "",
        taken=mark.taken,
        sent=mark.passed,
        received=stream.expected - 1,
        durable=stream.stored,
        newest_msc=stream.latest_msc,
        gaps=stream.gaps,
        lost=stream.lost,
        recounts=RecountStatus(
            agreed=stream.recounts[Agreement.AGREED],
            differing=stream.recounts[Agreement.DIFFERING],
            not_checked=stream.recounts[Agreement.NOT_CHECKED],
            last_difference=stream.last_difference,
        ),
    )
