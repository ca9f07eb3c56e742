"""Commands as files, and orders as their clients ask for them."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from mt5bridge.orders import (
    Defaults,
    Inbox,
    OrderError,
    OrderRequest,
    SendOrder,
    TurnHalt,
    as_order,
    described,
    order_id,
)
from mt5bridge.wire import OrderKind, OrderSide
from tests.orders.desk import NOON_MSC, order, signal, warnings

DEFAULTS = Defaults(magic=78, valid_seconds=60, deviation_points=20)


def test_commands_come_in_order_and_stay_until_removed(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox")
    assert inbox.take() == []
    commands = [
        TurnHalt(True, "news"),
        SendOrder(OrderRequest(client_id="a", symbol="EURUSD", side="buy", lots=0.1), 5),
        TurnHalt(False, "over"),
    ]
    for at_msc, command in zip((900, 1_000, 10_000), commands, strict=True):
        inbox.put(command, at_msc)
    for _ in range(2):
        assert [command for _, command in inbox.take()] == commands
    inbox.take()[0][0].unlink()
    assert [command for _, command in inbox.take()] == commands[1:]


def test_half_a_file_is_no_command_and_a_bad_one_is_set_aside(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    (tmp_path / "1.part").write_text('{"type":"halt"')
    (tmp_path / "2.json").write_text('{"type":"halt"')
    (tmp_path / "3.json").write_text('{"type":"order","order":{"client_id":"x","lot":1}}')
    inbox.put(TurnHalt(True, ""), 9)
    assert [command for _, command in inbox.take()] == [TurnHalt(True, "")]
    assert {path.name for path in tmp_path.glob("*.bad")} == {"2.bad", "3.bad"}


def test_what_cannot_be_read_now_stays(tmp_path: Path) -> None:
    """A halt must not be lost to a disk that is busy."""
    inbox = Inbox(tmp_path)
    (tmp_path / "1.json").mkdir()
    inbox.put(TurnHalt(True, ""), 2)
    with warnings() as found:
        for _ in range(2):
            assert [command for _, command in inbox.take()] == [TurnHalt(True, "")]
    assert len(found) == 1 and "1.json" in found[0]
    assert (tmp_path / "1.json").is_dir()
    assert not inbox.remove(tmp_path / "1.json")
    assert inbox.remove(inbox.take()[0][0]) and inbox.take() == []


@pytest.mark.parametrize("call", ["glob", "read_bytes"])
@pytest.mark.parametrize("text", [b'{"type":"halt","halted":true}', b'{"type":"ha'])
def test_commands_wait_while_too_many_files_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, text: bytes
) -> None:
    """A damaged one, too: it may have been a halt."""

    def fails(*_what: object) -> object:
        raise OSError(errno.EMFILE, "Too many open files")

    inbox = Inbox(tmp_path)
    path = tmp_path / "1.json"
    path.write_bytes(text)
    with monkeypatch.context() as patch:
        patch.setattr(Path, call, fails)
        assert inbox.take() == [] and inbox.take_unclear() == []
    assert path.exists()
    assert bool(inbox.take()) != bool(inbox.take_unclear())


def test_a_damaged_command_is_set_aside_only_once_it_is_known_to_be_no_halt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox, data = Inbox(tmp_path), [b'{"type":"ha']
    (tmp_path / "1.json").write_bytes(data[0])

    def once(_path: Path) -> bytes:
        if not data:
            raise OSError(errno.EMFILE, "Too many open files")
        return data.pop()

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", once)
        assert inbox.take() == [] and inbox.take_unclear() == []
    assert inbox.take() == [] and inbox.take_unclear() == [tmp_path / "1.bad"]


def test_ids_of_clients_are_63_bits_and_stay() -> None:
    ids = {order_id(f"order {number}") for number in range(10_000)}
    assert len(ids) == 10_000 and min(ids) > 0 and max(ids) < 2**63
    assert order_id("abc") == order_id("abc") == 3230549631907492474


def test_an_order_takes_what_it_does_not_say_from_the_settings() -> None:
    request = OrderRequest(client_id="a", kind="limit", symbol="EURUSD", side="sell", lots=0.2,
                           price=1.5, sl=1.6, tp=1.4)  # fmt: skip
    made = as_order(request, DEFAULTS, NOON_MSC)
    assert (made.kind, made.side, made.name) == (OrderKind.LIMIT, OrderSide.SELL, "a")
    assert (made.magic, made.deviation_points) == (78, 20)
    assert made.valid_until_msc == NOON_MSC + 60_000
    own = OrderRequest(client_id="a", symbol="EURUSD", side="buy", lots=0.2, magic=0,
                       valid_seconds=0, deviation_points=0)  # fmt: skip
    made = as_order(own, DEFAULTS, NOON_MSC)
    assert (made.magic, made.deviation_points, made.valid_until_msc) == (0, 0, 0)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"client_id": ""}, "client_id is empty"),
        ({"symbol": ""}, "'a': MARKET needs a symbol"),
        ({"side": ""}, "'a': MARKET needs a side"),
        ({"lots": 0.0}, "'a': MARKET needs lots"),
        ({"lots": -1.0}, "'a': -1.0 is no size"),
        ({"kind": "stop"}, "'a': STOP needs a price"),
        ({"kind": "cancel"}, "'a': CANCEL needs a ticket"),
        ({"kind": "close", "symbol": ""}, "'a': CLOSE needs a ticket or a symbol"),
        ({"magic": 2**63}, "'a': magic 9223372036854775808 is not -9223372036854775808 to"),
        ({"ticket": -1}, "'a': ticket -1 is not 0 to"),
        ({"valid_seconds": -1}, "'a': valid_seconds -1 is not 0 to"),
        ({"deviation_points": 2**32}, "'a': deviation_points 4294967296 is not 0 to"),
        ({"client_id": "x" * 1_025}, "name has 1025 bytes, at most 1024"),
        ({"symbol": "A\0"}, "symbol holds a zero byte"),
        ({"client_id": "\udcff"}, "its client_id is no text"),
    ],
)
def test_what_is_missing_is_said(keys: dict[str, Any], message: str) -> None:
    usual = {"client_id": "a", "symbol": "EURUSD", "side": "buy", "lots": 0.1}
    with pytest.raises(OrderError, match=message):
        as_order(OrderRequest(**{**usual, **keys}), DEFAULTS, NOON_MSC)


def test_requests_in_words() -> None:
    assert described(signal(1)) == "sell 0.1 lots EURUSD"
    assert described(order(1)) == "buy limit 0.3 lots EURUSD at 1.25"
    cancel = order(1, kind=OrderKind.CANCEL, side=OrderSide.NONE, lots=0.0, price=0.0, ticket=7)
    assert described(cancel) == "cancel EURUSD of 7"
