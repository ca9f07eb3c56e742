"""The recorded ticks are read as their notice describes them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.data.real_ticks import SYMBOLS, needs_real_ticks, table, ticks

COUNTS = {
    "fxcm_eurusd": 1_144_807,
    "oanda_eurusd": 532_903,
    "oanda_xauusd": 2_022_969,
    "dukascopy_eurusd": 266_219,
    "dukascopy_btcusd": 14_716,
    "mt5_xauusd": 30_600,
}


@needs_real_ticks
@pytest.mark.parametrize("source", sorted(SYMBOLS))
def test_all_ticks_are_there_and_in_order(source: str) -> None:
    records = ticks(source)
    assert len(records) == COUNTS[source]
    assert (np.diff(records["time_msc"]) >= 0).all()
    assert (records["bid"] > 0).all()


@needs_real_ticks
def test_two_brokers_agree_once_both_are_in_utc() -> None:
    """Minute returns of FXCM (a UTC-5 clock) and OANDA move together."""
    minutes = {}
    for source in ("fxcm_eurusd", "oanda_eurusd"):
        records = ticks(source, 2)
        minute = records["time_msc"] // 60_000
        last = np.flatnonzero(np.diff(minute))
        minutes[source] = dict(
            zip(minute[last].tolist(), records["bid"][last].tolist(), strict=True)
        )
    shared = sorted(set(minutes["fxcm_eurusd"]) & set(minutes["oanda_eurusd"]))
    one, other = (np.diff([minutes[source][m] for m in shared]) for source in sorted(minutes))
    assert np.corrcoef(one, other)[0, 1] > 0.8


@needs_real_ticks
def test_a_table_of_two_symbols_is_in_time_order() -> None:
    rows = table(["oanda_eurusd", "oanda_xauusd"], days=1)
    assert set(rows["symbol"].unique().to_pylist()) == {"EURUSD", "XAUUSD"}
    assert (np.diff(rows["time_msc"].to_numpy()) >= 0).all()
