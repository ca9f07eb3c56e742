"""Of what was lived each key has a clock of its own, which its records and watermarks move."""

from __future__ import annotations

from typing import Any

import pytest

from cep.clocks import Mode
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules

SOURCES = """
define stream Tick (symbol string, bid double);
define stream Deal (symbol string, price double);
"""
MEAN = "from Tick#window.time(5 min) select symbol, avg(bid) as m group by symbol insert into O;"
MEDIAN = MEAN.replace("avg", "median").replace("into O", "into P")
BARS = "from Tick#bars:time(bid, 1.0, 1 min) select symbol, close group by symbol insert into Bar;"
START_MS = 1_700_000_040_000  # a whole minute
Fed = tuple[str, float, str, float]


class Lived:
    """A run; what it puts out, as (stream, seconds since the start, values)."""

    def __init__(self, text: str, mode: Mode = "lived") -> None:
        self.plan = compile_rules(SOURCES + text)
        self.run = InterpretedRun(self.plan, mode=mode)

    def feed(self, *rows: Fed) -> list[tuple[Any, ...]]:
        """Records: stream, seconds, symbol, value."""
        return [
            one
            for stream, at, *values in rows
            for one in shown(self.run.push(stream, START_MS + round(at * 1000), values))
        ]

    def tell(
        self, keys: str, at: float, common: float | None = None, *, is_complete: bool = True
    ) -> list[tuple[Any, ...]]:
        """A watermark of some keys."""
        common_ms = None if common is None else START_MS + round(common * 1000)
        at_ms = START_MS + round(at * 1000)
        return shown(self.run.tell(keys.split(), at_ms, common_ms, is_complete=is_complete))

    def reborn(self) -> None:
        """Go on from a snapshot."""
        data, before = self.run.interpreter.snapshot(), self.run
        self.run = InterpretedRun(self.plan, mode=before.interpreter.mode)
        self.run.interpreter.restore(data)


def shown(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Rows as (stream, seconds since the start, values)."""
    return [
        (row["stream"], (row["time_msc"] - START_MS) / 1000, *list(row.values())[3:])
        for row in rows
    ]


@pytest.mark.parametrize(("mode", "mean"), [("lived", 15.0), ("sorted", 20.0)])
@pytest.mark.parametrize("more", ["", MEDIAN, BARS, "define event E as every Tick[bid > 0.0];"])
def test_a_window_grouped_by_the_key_goes_by_the_clock_of_the_key(
    mode: Mode, mean: float, more: str
) -> None:
    """GBPUSD's last row is 15.0 when lived and 20.0 when sorted, whatever else the file holds."""
    found = Lived(MEAN + more, mode).feed(
        ("Tick", 1_000, "EURUSD", 1.0),
        ("Tick", 1_000, "GBPUSD", 10.0),
        ("Tick", 1_400, "EURUSD", 1.0),
        ("Tick", 1_010, "GBPUSD", 20.0),
    )
    assert [row for row in found if row[0] == "O"][-1] == ("O", 1_010, "GBPUSD", mean)


def test_a_bar_waits_for_the_clock_of_its_key() -> None:
    bars = Lived(BARS)
    assert bars.feed(("Tick", 10, "A", 1.0), ("Tick", 11, "B", 5.0), ("Tick", 200, "A", 2.0)) == [
        ("Bar", 60, "A", 1.0)
    ]
    assert bars.feed(("Tick", 50, "B", 6.0), ("Tick", 61, "B", 7.0)) == [("Bar", 60, "B", 6.0)]


def test_a_watermark_ends_the_bars_of_its_keys_alone() -> None:
    bars = Lived(BARS)
    bars.feed(("Tick", 10, "A", 1.0), ("Tick", 11, "B", 5.0))
    assert bars.tell("B", 60) == [("Bar", 60, "B", 5.0)]
    assert bars.tell("A B", 59.9) == []
    assert bars.tell("A B", 61) == [("Bar", 60, "A", 1.0)]


def test_behind_its_watermark_a_record_is_late_and_reopens_no_bar() -> None:
    bars = Lived(BARS)
    bars.feed(("Tick", 10, "A", 1.0))
    bars.tell("A", 60)
    assert bars.feed(("Tick", 50, "A", 9.0), ("Tick", 70, "A", 2.0), ("Tick", 120, "A", 3.0)) == [
        ("Bar", 120, "A", 2.0)
    ]


def test_time_that_only_passes_makes_nothing_late() -> None:
    """A terminal that was away brings what it has kept: it raises events."""
    text = "define event E for each symbol as every Tick[bid > 0.0] repeat allow;"
    for is_complete, count in ((True, 0), (False, 1)):
        events = Lived(text)
        events.feed(("Tick", 10, "A", 1.0))
        events.tell("A", 60, is_complete=is_complete)
        assert len(events.feed(("Tick", 50, "A", 9.0))) == count


def test_records_of_other_sources_move_no_clock() -> None:
    found = Lived(MEAN + "from Deal select price insert into P;").feed(
        ("Tick", 1_000, "A", 10.0), ("Deal", 1_400, "A", 1.0), ("Tick", 1_010, "A", 20.0)
    )
    assert found[-1] == ("O", 1_010, "A", 15.0)


def test_filtered_records_move_the_clock() -> None:
    text = "from Tick[bid > 0.0]#window.time(5 min) select symbol, avg(bid) as m"
    rows = [("Tick", 1_000, "A", 10.0), ("Tick", 1_400, "A", -1.0), ("Tick", 1_010, "A", 20.0)]
    for group in (" group by symbol", ""):
        assert Lived(f"{text}{group} insert into O;").feed(*rows)[-1][-1] == 20.0


def test_what_has_one_clock_goes_by_the_records_of_all_keys() -> None:
    text = "from Tick#window.time(5 min) select avg(bid) as m insert into O;"
    found = Lived(text).feed(
        ("Tick", 1_000, "A", 10.0), ("Tick", 1_400, "B", 20.0), ("Tick", 1_010, "A", 40.0)
    )
    assert found[-1] == ("O", 1_010, 40.0 / 2 + 20.0 / 2)


def test_in_a_partition_an_absence_ends_by_the_clock_of_its_key() -> None:
    text = (
        "partition with (symbol of Tick) begin "
        "from e=Tick -> not Tick for 1 min select e.symbol as symbol insert into Quiet; end;"
    )
    quiet = Lived(text)
    assert quiet.feed(("Tick", 10, "A", 1.0), ("Tick", 10, "B", 1.0), ("Tick", 100, "B", 1.0)) == [
        ("Quiet", 70, "B")
    ]
    assert quiet.tell("A", 100) == [("Quiet", 70, "A")]


def test_a_key_goes_on_from_a_snapshot() -> None:
    bars = Lived(BARS + "from Tick#window.time(5 min) select symbol, sum(bid) as m group by symbol"
                 " insert into O;")  # fmt: skip
    rows: list[Fed] = [
        ("Tick", 10, "A", 1.0), ("Tick", 200, "B", 2.0), ("Tick", 30, "A", 4.0),
        ("Tick", 250, "B", 8.0), ("Tick", 61, "A", 16.0), ("Tick", 320, "A", 32.0),
    ]  # fmt: skip
    whole = Lived(bars.plan.text.removeprefix(SOURCES)).feed(*rows)
    again: list[tuple[Any, ...]] = []
    for row in rows:
        again += bars.feed(row)
        bars.reborn()
    assert again == whole
    assert bars.tell("A", 400) == [("Bar", 360, "A", 32.0)]


def test_what_time_makes_comes_by_its_time_then_its_place_then_its_key() -> None:
    more = (
        "from Tick#bars:time(bid, 1.0, 1 min) select symbol, open group by symbol insert into B2;"
    )
    bars = Lived(BARS + more)
    bars.feed(("Tick", 70, "Z", 1.0), ("Tick", 5, "A", 1.0), ("Tick", 71, "A", 2.0))
    told = bars.tell("A Z", 300)
    assert [row[:3] for row in told] == [
        ("Bar", 120, "Z"), ("Bar", 120, "A"), ("B2", 120, "Z"), ("B2", 120, "A"),
    ]  # fmt: skip
