"""What the MQL5 sources take for granted of a terminal: the table that all else is made from.

The script `SelfTest` and the expert `SelfTestLife` measure each in a terminal
(`mql5/Include/Mt5Bridge/Probe`), `emulated.json` has what they find in the emulated one.
"""

import json
from functools import cache
from pathlib import Path

from mt5bridge.terminal.assumptions.base import Assumption, Between, Only, Value, shown
from mt5bridge.terminal.assumptions.files import FILES
from mt5bridge.terminal.assumptions.language import LANGUAGE
from mt5bridge.terminal.assumptions.life import LIFE
from mt5bridge.terminal.assumptions.market import MARKET
from mt5bridge.terminal.assumptions.network import NETWORK

ASSUMPTIONS: dict[str, Assumption] = {
    one.name: one for one in (*FILES, *LANGUAGE, *MARKET, *NETWORK, *LIFE)
}
"""By name, in the order of the table in docs/terminal.md."""

RECORD = Path(__file__).with_name("emulated.json")


@cache
def emulated() -> dict[str, list[Value]]:
    """Each fact that does not vary, with the values it has in emulated terminals."""
    found: dict[str, list[Value]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


__all__ = [
    "ASSUMPTIONS", "RECORD", "Assumption", "Between", "Only", "Value", "emulated", "shown",
]  # fmt: skip
