"""What the MQL5 sources take for granted of a terminal: the table that all else is made from.

The script `SelfTest` measures each in a terminal (`mql5/Include/Mt5Bridge/Probe`), `emulated.json`
has what it finds in the emulated one.
"""

from mt5bridge.terminal.assumptions.base import Assumption, Between, Only, Value, shown
from mt5bridge.terminal.assumptions.files import FILES
from mt5bridge.terminal.assumptions.language import LANGUAGE
from mt5bridge.terminal.assumptions.market import MARKET
from mt5bridge.terminal.assumptions.network import NETWORK

ASSUMPTIONS: dict[str, Assumption] = {
    one.name: one for one in (*FILES, *LANGUAGE, *MARKET, *NETWORK)
}
"""By name, in the order of the table in docs/terminal.md."""

__all__ = ["ASSUMPTIONS", "Assumption", "Between", "Only", "Value", "shown"]
