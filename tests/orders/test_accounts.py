"""What is sent, and what is reported, is journalled with its account, and goes to no other one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import msgspec
import pytest

from mt5bridge.orders import read_journal
from mt5bridge.orders.journal import _line
from mt5bridge.orders.records import Record, Requested, Sent, Terminal, Told
from mt5bridge.server import Outcome, Trader
from mt5bridge.wire import SignalStatus, TradeMode
from tests.orders.desk import NOON_MSC, Office, order, result, signal

OTHER = Trader("one", "another account", TradeMode.LIVE, ("EURUSD",))
MINE = "account of one"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    found = Office(tmp_path / "orders.journal")
    found.desk.on_trader(Trader("one", MINE, TradeMode.LIVE, ("EURUSD",)))
    found.desk.flush()
    return found


def accounts(office: Office) -> Sequence[object]:
    """Of what was sent and told, in the journal's order."""
    office.journal.write()
    kept = read_journal(office.path).records
    return [
        one.accounts if isinstance(one, Sent) else one.account
        for one in kept
        if isinstance(one, Sent | Told)
    ]


def test_the_journal_says_which_account(office: Office) -> None:
    office.ask(signal(1))
    found = result(1, SignalStatus.EXECUTED, lots=0.1, deal=5)
    office.desk.on_outcome(Outcome("one", found, MINE), NOON_MSC)
    assert accounts(office) == [[MINE], MINE]
    entry = office.again().desk.book.get(1)
    assert entry is not None and entry.fates["one"].account == MINE


def test_what_waited_for_the_disk_goes_to_no_other_account(office: Office) -> None:
    office.ask(order(1), durable=True)
    office.desk.on_trader(OTHER)
    office.desk.flush()
    assert office.post.sent == [] and office.state(1) == "refused"
    assert office.text(1) == f"meant for account {MINE}, which was changed since"


def test_a_restart_asks_what_became_of_it_at_the_account_before(office: Office) -> None:
    office.ask(signal(1))
    office.desk.on_trader(OTHER)
    office.post.owners["one"] = OTHER.owner
    office.ask(signal(2))
    office.journal.write()
    again = office.again()
    assert again.post.asked == [("one", 1)] and again.post.sent == [("one", 2)]
    assert again.post.asked_at == [MINE]
    unknown = result(1, SignalStatus.UNKNOWN)
    for account, state in ((OTHER.owner, "asked"), (MINE, "unknown")):
        again.desk.on_outcome(Outcome("one", unknown, account), NOON_MSC)
        assert again.state(1) == state, "who is on another account knows nothing of it"


def test_who_was_asked_by_the_post_may_say_that_it_never_saw_it(office: Office) -> None:
    office.ask(signal(1))
    unknown = result(1, SignalStatus.UNKNOWN)
    office.desk.on_outcome(Outcome("one", unknown, MINE), NOON_MSC)
    assert office.state(1) == "queued", "nobody has asked"
    office.desk.on_outcome(Outcome("one", unknown, MINE, was_asked=True), NOON_MSC)
    assert office.state(1) == "unknown"
    office.journal.write()
    assert office.again().post.sent == [] == office.again().post.asked


def test_a_terminal_that_was_let_go_has_no_account(office: Office) -> None:
    """What it has is asked of it when it is back, with whatever account."""
    office.ask(signal(1))
    office.desk.on_trader(Trader("one", "", TradeMode.NONE, ()))
    office.journal.write()
    assert office.again().post.sent == [("one", 1)]


def test_a_refusal_has_the_reason_of_who_refuses(office: Office) -> None:
    """A credential's reason was told as `too many requests`."""
    office.post.refusal = "the credential allows 2 a minute"
    office.ask(signal(1))
    assert office.text(1) == "the credential allows 2 a minute"


def test_a_journal_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """It says no accounts; what it sent is sent again as ever."""
    path = tmp_path / "orders.journal"
    found = result(2, SignalStatus.REJECTED)
    now: list[Record] = [
        Requested(id=1, time_msc=NOON_MSC, signal=signal(1)),
        Requested(id=2, time_msc=NOON_MSC, signal=signal(2)),
        Terminal("one", MINE, 1, ["EURUSD"]),
        Sent(1, NOON_MSC, ["one"]),
        Sent(2, NOON_MSC, ["one"]),
        Told(NOON_MSC, "one", found),
    ]
    lines = [_line(record, number) for number, record in enumerate(now, 1)]
    then = [re.sub(rb'"n":\d+,', b"", line) for line in lines]
    assert all(line != old for line, old in zip(lines, then, strict=True))
    lines, then = (
        then,
        [line.replace(b',"accounts":[]', b"").replace(b',"account":""', b"") for line in then],
    )
    assert [line == old for line, old in zip(lines, then, strict=True)] == [True] * 3 + [False] * 3
    path.write_bytes(b"".join(map(_checked, then)))
    office = Office(path)
    assert office.post.sent == [("one", 1)] and office.state(2) == "rejected"


def _checked(line: bytes) -> bytes:
    """The line with the checksum of what it says now."""
    text = line[9:-1]
    return b"%08x %s\n" % (crc32(text), text)


def test_accounts_are_one_for_each_terminal() -> None:
    with pytest.raises(ValueError, match="as many accounts"):
        Sent(1, NOON_MSC, ["one", "two"], accounts=["a"])
    with pytest.raises(msgspec.ValidationError, match="as many accounts"):
        msgspec.convert({"id": 1, "time_msc": 0, "terminals": [], "accounts": ["a"]}, Sent)
