"""The whole daemon with both EAs, publisher and trader, on one emulated terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.live.config import read_config
from cep.live.outgoing import inbox_of
from cep.live.status_file import status_path
from mt5bridge.clock import now_msc
from mt5bridge.emulator.build import CompilerMissingError
from mt5bridge.emulator.script import parse_script
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.orders import OrderRequest, SendOrder, order_id, read_book
from mt5bridge.server.status import TerminalStatus, read_status
from mt5bridge.terminal.sources import sources_folder
from mt5bridge.wire import Allowed
from tests.credentials import CREDENTIAL
from tests.live.service import Service, address, wait_until, write_settings
from tests.mql5.trading import SYMBOL, still
from tests.waiting import LONG_MS

_EXPERTS = sources_folder() / "Experts" / "Mt5Bridge"
_INDICATORS = sources_folder() / "Indicators" / "Mt5Bridge"
_PROGRAMS = (_EXPERTS / "Publisher.mq5", _EXPERTS / "Trader.mq5", _INDICATORS / "TickSpy.mq5")
_SCRIPT = """
seed 1
account login=5001 server=Floor name=Tester currency=USD mode=hedging leverage=100 balance=100000
symbol EURUSD digits=5 volume_min=0.01 volume_max=50 volume_step=0.01
ticks EURUSD path={ticks}
pace rate=200
sockets allowed=127.0.0.1
clock mode=real offset_ms=7200000
attach Publisher on EURUSD Address=127.0.0.1 Port={port} TimerMs=10 DealReconcileSeconds=1
attach Trader on EURUSD Address=127.0.0.1 Port={port} TimerMs=10 Trading=TRADING_LIVE {limits}
"""
_LIMITS = "MaxLotsPerOrder=0 MaxLotsPerSymbol=0 MaxLotsPerDay=0 MaxOrdersPerMinute=0"
_ORDERS = {"send": True, "valid_seconds": LONG_MS // 1_000}
_RISK = {"lots_per_symbol": 0.5, "loss_per_day": 2.0}
_OWNER = "5001@Floor"


class Client:
    """Orders as `mt5cep orders send` hands them over, and their answers."""

    def __init__(self, settings: Path) -> None:
        self.config = read_config(settings)

    def send(self, client_id: str, **keys: object) -> tuple[str, str]:
        """State and text of an order that has come to its end."""
        usual = {"symbol": SYMBOL, "side": "buy", "lots": 0.3}
        request = OrderRequest(client_id=client_id, **{**usual, **keys})  # type: ignore[arg-type]
        inbox_of(self.config).put(SendOrder(request, now_msc()), now_msc())
        wait_until(lambda: self._ended(client_id))
        entry = read_book(self.config.state.folder / "orders.journal").get(order_id(client_id))
        assert entry is not None
        return entry.state, entry.text

    def _ended(self, client_id: str) -> bool:
        entry = read_book(self.config.state.folder / "orders.journal").get(order_id(client_id))
        return entry is not None and entry.is_decided and not entry.is_open

    def terminals(self) -> dict[str, TerminalStatus]:
        """What the daemon tells of its terminals."""
        path = status_path(self.config)
        return {found.identity: found for found in read_status(path).terminals}


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    return write_settings(tmp_path, {"signals": {"send": False}, "orders": _ORDERS, "risk": _RISK})


@pytest.fixture
def emulated(tmp_path: Path, settings: Path) -> EmulatedTerminal:
    ticks = tmp_path / "eurusd.bin"
    ticks.write_bytes(still(60_000).tobytes())
    port = address(settings).rpartition(":")[2]
    script = parse_script(_SCRIPT.format(ticks=ticks, port=port, limits=_LIMITS))
    try:
        return EmulatedTerminal(_PROGRAMS, script, tmp_path / "terminal", credential=CREDENTIAL)
    except CompilerMissingError as missing:
        pytest.skip(str(missing))


def test_orders_deals_and_account_meet_in_the_guard(
    settings: Path, emulated: EmulatedTerminal
) -> None:
    client = Client(settings)
    with emulated:
        with Service(settings) as service:
            guard = service.daemon.outgoing.desk.guard
            wait_until(lambda: bool(service.server.traders(SYMBOL)))
            assert client.send("open")[0] == "executed"
            # Reported by the trader, then told as a deal by the publisher: one position.
            wait_until(lambda: _has_deal(service))
            assert guard.lots_of(SYMBOL) == pytest.approx(0.3)
            state, text = client.send("more")
            assert state == "refused"
            assert text.startswith("lots_per_symbol 0.5: asked for buy 0.3 lots EURUSD with 0.3")
            assert client.send("close", kind="close", side="", lots=0.0, magic=78)[0] == "executed"
            wait_until(lambda: guard.lots_of(SYMBOL) == pytest.approx(0))
            wait_until(lambda: guard.loss_today(_OWNER, now_msc()) == pytest.approx(3.0))
            assert client.send("again", lots=0.1) == ("refused", _lost())
            wait_until(lambda: len(client.terminals()) == 2)
            _check(client.terminals())
        with Service(settings) as service:
            wait_until(lambda: len(service.server.terminals.connected()) == 2)
            assert client.send("after a restart", lots=0.1) == ("refused", _lost())


def _lost() -> str:
    return f"loss_per_day 2: {_OWNER} has lost 3.00 today"


def _has_deal(service: Service) -> bool:
    return service.counters.get("deals", 0) >= 2  # the deposit and the first fill


def _check(found: dict[str, TerminalStatus]) -> None:
    publisher, trader = found[_OWNER], found[f"{_OWNER}/trader"]
    assert (publisher.trades, trader.trades) == ("none", "live")
    assert publisher.connected and trader.connected and trader.symbols == [SYMBOL]
    ticks = next(stream for stream in publisher.streams if stream.symbol == SYMBOL)
    assert ticks.received > 0
    state = publisher.account_state
    assert state is not None and Allowed(state.allowed) & Allowed.CONNECTED
    for terminal in (publisher, trader):
        assert terminal.utc_offset_ms == 7_200_000
        assert terminal.clock_difference_ms is not None
        assert abs(terminal.clock_difference_ms) < LONG_MS
