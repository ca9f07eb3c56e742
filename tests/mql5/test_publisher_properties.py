"""What the publisher tells of its symbols besides SYMBOLS, when it connects and when it changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mt5bridge.server import Server, Specified
from mt5bridge.wire import FrameType, Properties, SwapMode, TradeSession, codec
from tests.bridge.live import Daemon, wait_until
from tests.mql5.publishing import Stage, market, publishing

DAY = 1_440
WHOLE = tuple(TradeSession(at * DAY, at * DAY + DAY) for at in range(7))


class Heard:
    """A daemon, and the PROPERTIES that it was told."""

    def __init__(self) -> None:
        self.daemon = Daemon()
        self.daemon.on_start = self._listen
        self.told: list[tuple[str, Properties]] = []

    def _listen(self, server: Server) -> None:
        def take(parts: Sequence[Specified]) -> None:
            self.told += [(o.symbol, o.part) for o in parts if isinstance(o.part, Properties)]

        server.sink.on_specified = take

    def nth(self, count: int) -> Properties:
        """That of this number, when it has come."""
        wait_until(lambda: len(self.told) >= count)
        return self.told[count - 1][1]


def specify(stage: Stage, words: str) -> None:
    stage.terminal.act(f"specify='{words}'")


def test_properties_are_told_and_told_again_when_they_change(tmp_path: Path) -> None:
    """5.10, 4.27; and the value of a tick alone is no change."""
    heard = Heard()
    inputs = {"PropertiesSeconds": "1"}
    ticks = market("EURUSD", 500)
    with publishing(tmp_path, ticks, inputs=inputs, daemon=heard.daemon) as stage:
        first = heard.nth(1)
        assert first == Properties(
            1, 0, 0, SwapMode.NONE, 3, 0.0, 0.0, first.tick_value, "USD", WHOLE
        )
        assert abs(first.tick_value - 1.0) < 1e-9
        specify(stage, "EURUSD tick_value=2")
        specify(
            stage,
            "EURUSD swap_mode=1 swap_long=-7.5 swap_short=2.25 swap_triple_day=5 stops_level=10"
            " freeze_level=3 sessions=1385-1440,1440-2160,2220-2880",
        )
        sessions = (TradeSession(1385, 1440), TradeSession(1440, 2160), TradeSession(2220, 2880))
        assert heard.nth(2) == Properties(
            1, 10, 3, SwapMode.POINTS, 5, -7.5, 2.25, 2.0, "USD", sessions
        )
        for at, (number, mode) in enumerate(
            {4: SwapMode.MONEY, 5: SwapMode.PERCENT, 2: SwapMode.UNTOLD, 0: SwapMode.NONE}.items()
        ):
            specify(stage, f"EURUSD swap_mode={number}")
            found = heard.nth(3 + at)
            assert found.swap_mode is mode
            assert found.swap_long == (0.0 if mode is SwapMode.UNTOLD else -7.5)
        specify(stage, "EURUSD tick_value=3")
        specify(stage, "EURUSD swap_mode=6 stops_level=11")
        last = heard.nth(7)
        assert (last.stops_level_points, last.tick_value) == (11, 3.0)
        assert last.swap_mode is SwapMode.UNTOLD, "interest on the opening price is nothing of ours"
        stage.wait_ticks()
    stage.check_ticks()


def test_properties_of_all_symbols_are_told_on_each_connection(tmp_path: Path) -> None:
    heard = Heard()
    names = [f"SYM{at:03}" for at in range(20)]
    ticks = market(" ".join(names), 20)
    with publishing(tmp_path, ticks, "pace rate=500", daemon=heard.daemon) as stage:
        wait_until(lambda: {name for name, _ in heard.told} == set(names))
        assert len(heard.told) == len(names)
        stage.restart_daemon()
        wait_until(lambda: len(heard.told) >= 2 * len(names))
        assert {name for name, _ in heard.told[20:]} == set(names)
        assert {part.stream for _, part in heard.told[20:]} == set(range(1, 21))
        stage.wait_ticks()
    stage.check_ticks()


def test_a_daemon_that_does_not_know_properties_is_published_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3.4: it answers `bad_frame`, and nothing else follows."""
    known = {kind: one for kind, one in codec._BY_TYPE.items() if kind != FrameType.PROPERTIES}
    monkeypatch.setattr(codec, "_BY_TYPE", known)
    inputs = {"PropertiesSeconds": "1"}
    with publishing(tmp_path, market("EURUSD GBPUSD", 500), inputs=inputs) as stage:
        stage.wait_ticks()
        wait_until(lambda: stage.counted("bad_frames_unknown_type") == 2)
        assert stage.counted("connections") == 1
    stage.check_ticks()
    assert stage.counted("bad_frames_unknown_type") == 2
