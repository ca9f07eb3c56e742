"""Judges a link by what the daemon tells of it; reads nothing and waits for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from mt5bridge.server.settings import is_loopback
from mt5bridge.server.status import AccountStatus, Status, StreamStatus, TerminalStatus
from mt5bridge.terminal.findings import Finding, Level, finding
from mt5bridge.terminal.overlaps import judge_overlaps
from mt5bridge.terminal.sources import OWN
from mt5bridge.troubles import Effect, Trouble
from mt5bridge.wire import Allowed

CLOCK_MS_MAX = 1_000
ROUND_TRIP_MS_MAX = 500
QUIET_MS_MAX = 120_000
BEHIND_MAX = 10_000
QUARTER_MS, OFFSET_MS_MAX = 900_000, 14 * 3_600_000
COMPLAINTS_SHOWN = 5
NEEDED = {
    Allowed.CONNECTED: ("not connected", "no connection to the trade server"),
    Allowed.TERMINAL: ("algo trading off", "Algo Trading is off"),
    Allowed.PROGRAM: ("program not allowed", "not allowed for this EA"),
    Allowed.ACCOUNT: ("account may not trade", "trading is not allowed for the account"),
    Allowed.EXPERTS: ("experts not allowed", "programs may not trade on the account"),
}


def judge_address(bind: str) -> Finding:
    """Who can reach the daemon, and what a user types into the terminal."""
    allow = f"allow {host_to_allow(bind)} in MetaTrader"
    if is_loopback(bind):
        return finding("address", bind, f"this machine only, with a password; {allow}")
    return finding("address open", bind, f"other machines, with a password; {allow}")


def host_to_allow(bind: str) -> str:
    """What is typed into a terminal's list of allowed addresses, for a daemon's `bind`."""
    host = bind.removeprefix("tcp://").rpartition(":")[0].strip("[]")
    return "127.0.0.1" if host in ("localhost", "127.0.0.1") else host.replace("*", "this machine")


def judge(status: Status) -> Iterator[Finding]:
    """Everything that the daemon's state tells."""
    connected = [terminal for terminal in status.terminals if terminal.connected]
    if not connected:
        yield finding("no terminal", status.bind, "no terminal is connected")
    for terminal in status.terminals:
        if terminal.connected:
            yield from _terminal(terminal, status.version, status.written_msc)
        else:
            seen = "not connected since the daemon's start"
            if terminal.since_msc:
                seen = f"not connected; {terminal.program or 'its program'} was"
            yield finding("terminal away", terminal.identity, seen)
    yield from judge_overlaps(connected)
    yield from _trading(status, connected)
    for trouble in status.troubles:
        yield failure(trouble)
    for complaint in status.complaints[-COMPLAINTS_SHOWN:]:
        yield finding("complaint", "daemon", complaint)


def failure(trouble: Trouble) -> Finding:
    """What fails in a daemon, or has ended it."""
    name = {Effect.GOES_ON: "daemon tries again", Effect.WAITS: "daemon waits"}
    since = datetime.fromtimestamp(trouble.since_msc // 1000, UTC).isoformat(" ")
    seen = f"{trouble.text}; since {since}"
    return finding(name.get(trouble.effect, "daemon ended"), trouble.name, seen)


def _terminal(terminal: TerminalStatus, version: str, now_msc: int) -> Iterator[Finding]:
    name = terminal.identity
    demo = "demo" if terminal.demo else "REAL"
    yield finding(
        "terminal", name,
        f"{terminal.program}; account {terminal.account} on {terminal.server} ({demo}, "
        f"{terminal.account_mode}); heard {terminal.heard_ms_ago or 0:,} ms ago",
    )  # fmt: skip
    ours, _, number = terminal.program.rpartition(" ")
    if ours.startswith(OWN) and number != version:
        yield finding("program version", name, f"{terminal.program}; the daemon is {version}")
    yield from _login(terminal)
    yield from _clocks(terminal)
    yield from _round_trip(terminal)
    yield from _streams(terminal, now_msc)
    yield from _account(terminal)


def _login(terminal: TerminalStatus) -> Iterator[Finding]:
    """Whether it is the account that its name says."""
    if not terminal.account:
        yield finding("not logged in", terminal.identity, "account 0")
    named, at, _ = terminal.identity.partition("@")
    if at and named.isdigit() and terminal.account and int(named) != terminal.account:
        seen = f"logged in to account {terminal.account} on {terminal.server}"
        yield finding("account differs", terminal.identity, seen)


def _clocks(terminal: TerminalStatus) -> Iterator[Finding]:
    difference, offset = terminal.clock_difference_ms, terminal.utc_offset_ms
    hours = f"server time is UTC{offset / 3_600_000:+.2f} h"
    if offset % QUARTER_MS or abs(offset) > OFFSET_MS_MAX:
        yield finding("offset odd", terminal.identity, hours)
    if difference is None:
        yield finding("clock unknown", terminal.identity, hours)
        return
    name = "clock" if abs(difference) <= CLOCK_MS_MAX else "clock differs"
    yield finding(name, terminal.identity, f"clocks differ by {difference:,} ms; {hours}")


def _round_trip(terminal: TerminalStatus) -> Iterator[Finding]:
    if not terminal.round_trip_us:
        yield finding("round trip unknown", terminal.identity, "not measured yet")
        return
    milliseconds = terminal.round_trip_us / 1000
    name = "round trip" if milliseconds <= ROUND_TRIP_MS_MAX else "round trip slow"
    yield finding(name, terminal.identity, f"{milliseconds:.1f} ms there and back")


def _streams(terminal: TerminalStatus, now_msc: int) -> Iterator[Finding]:
    if not terminal.symbols:
        yield finding("no symbols", terminal.identity, "no symbols announced")
    for stream in terminal.streams:
        begun = stream.taken or stream.received
        if not begun and terminal.trades != "none":
            continue  # a trader announces what it may trade, and publishes nothing
        subject = f"{terminal.identity} {stream.symbol or 'deals'}"
        yield from _stream(stream, subject)
        quiet_ms = now_msc + terminal.utc_offset_ms - stream.newest_msc
        if stream.symbol and not begun:
            yield finding("no ticks", subject, "no tick yet")
        elif stream.symbol and stream.newest_msc and quiet_ms > QUIET_MS_MAX:
            yield finding("no ticks", subject, f"the newest is {quiet_ms // 60_000:,} min old")


def _stream(stream: StreamStatus, subject: str) -> Iterator[Finding]:
    recounts = stream.recounts
    behind = max(stream.taken - stream.received, stream.received - stream.durable)
    if behind > BEHIND_MAX:
        seen = f"taken {stream.taken:,}, here {stream.received:,}, on disk {stream.durable:,}"
        yield finding("behind", subject, seen)
    if stream.lost:
        seen = f"declared lost: records {stream.lost:,}, intervals {stream.gaps:,}"
        yield finding("records lost", subject, seen)
    if recounts.differing:
        yield finding("recount differs", subject, recounts.last_difference)
    if behind <= BEHIND_MAX and not stream.lost and not recounts.differing:
        stored = (
            f"1 to {stream.durable:,} on disk, no hole" if stream.durable else "nothing on disk"
        )
        counted = f"; {recounts.agreed:,} intervals recounted, all agree" * bool(recounts.agreed)
        yield finding("stream", subject, stored + counted)


def _account(terminal: TerminalStatus) -> Iterator[Finding]:
    state = terminal.account_state
    if state is None:
        yield finding("account unknown", terminal.identity, "no account state yet")
        return
    missing = [bit for bit in NEEDED if not state.allowed & bit]
    if not missing:
        yield finding("account", terminal.identity, _money(state, terminal.currency))
    for bit in missing:
        name, seen = NEEDED[bit]
        trades = terminal.trades == "live"
        yield finding(name, terminal.identity, seen, Level.PROBLEM if trades else None)


def _money(state: AccountStatus, currency: str) -> str:
    return (
        f"equity {state.equity:,.2f} {currency}, {state.positions} positions, "
        f"{state.orders} orders; trading is allowed"
    )


def _trading(status: Status, connected: list[TerminalStatus]) -> Iterator[Finding]:
    """Whether what the daemon sends is executed by somebody."""
    if status.halted:
        yield finding("halted", "daemon", f"halted: {status.halt_reason}")
    sends = status.sends_signals or status.sends_orders
    traders = [terminal for terminal in connected if terminal.trades != "none"]
    if sends and not traders and connected:
        yield finding("no trader", "daemon", "sends, and nobody executes")
    for terminal in traders:
        how = (
            "executes what comes" if terminal.trades == "live" else "dry run: says what it would do"
        )
        where = "a demo account" if terminal.demo else "a REAL account"
        silent = "" if sends else "; the daemon sends nothing"
        yield finding("trades", terminal.identity, f"{how} on {where}{silent}")
    for terminal in status.terminals:
        if terminal.unanswered:
            seen = f"{terminal.unanswered:,} without a final result"
            yield finding("unanswered", terminal.identity, seen)
