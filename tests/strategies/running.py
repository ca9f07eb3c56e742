"""What runs a strategy: its plan, its samples, and recorded ticks for it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from cep.plan import Plan, compile_rules
from cep.plan.nodes import Origin
from cep.replay import Source, in_order
from tests.data.real_ticks import table

FOLDER = Path(__file__).resolve().parents[2] / "strategies"
STRATEGIES = sorted(path.parent.name for path in FOLDER.glob("*/rules.cep"))


def plan_of(name: str, **renamed: str) -> Plan:
    """A strategy's plan, with some words of its rules renamed."""
    text = (FOLDER / name / "rules.cep").read_text(encoding="utf-8")
    for old, new in renamed.items():
        text = text.replace(old, new)
    return compile_rules(text, f"{name}/rules.cep")


def found_streams(plan: Plan) -> list[str]:
    """Streams of events, complex events and signals."""
    made = (Origin.EVENT, Origin.COMPLEX, Origin.SIGNAL)
    return [stream.name for stream in plan.streams if stream.origin in made]


def inputs(name: str) -> list[tuple[str, Path]]:
    """The sample files of a strategy by stream."""
    files = [("Tick", FOLDER / name / "ticks.csv"), ("Deal", FOLDER / name / "deals.csv")]
    return [(stream, path) for stream, path in files if path.exists()]


REAL = {"MSFT": "EURUSD", "^GSPC": "XAUUSD", "GBPUSD": "XAUUSD"}
FIRST_ROW = 30_000  # a busy hour


def real_sources(plan: Plan, rows: int | None) -> list[Source]:
    """Recorded ticks of two symbols, some of a day or all there are, a fill after every 50th."""
    ticks = table(["oanda_eurusd", "oanda_xauusd"], days=None if rows is None else 1)
    if rows is not None:
        ticks = ticks.slice(FIRST_ROW, rows)
    rows = len(ticks)
    numbers = range(0, rows, 50)
    traded = ticks.take(list(numbers))
    deals = pa.table(
        {
            "time_msc": traded["time_msc"],
            "symbol": traded["symbol"],
            **{name: pa.array(numbers, pa.int64()) for name in ("ticket", "position")},
            "magic": pa.array([0 if n % 1000 == 0 else 77 for n in numbers], pa.int64()),
            "comment": pa.array(["exit" if n % 150 == 0 else "grid" for n in numbers]),
            "side": pa.array(["buy"] * len(numbers)),
            "entry": pa.array(["in"] * len(numbers)),
            "lots": pa.array([0.1] * len(numbers)),
            "price": traded["ask"],
        }
    )
    tables = {"Tick": ticks, "Deal": deals}
    return in_order([(stream, tables[stream.name]) for stream in plan.sources])
