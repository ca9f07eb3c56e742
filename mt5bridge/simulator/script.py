"""What shall go wrong, as a small TOML text."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from mt5bridge.settings_errors import told


class ScriptError(ValueError):
    """A script that cannot be read; says where."""


class Action(StrEnum):
    """What a fault does to the frame of records that is about to be sent."""

    DISCONNECT = "disconnect"  # close the connection before it
    DUPLICATE = "duplicate"  # send it twice
    SKIP = "skip"  # do not send it; it is sent when asked for
    LOSE = "lose"  # do not send it, declare it lost when asked for
    CORRUPT = "corrupt"  # flip one of its bits
    GARBAGE = "garbage"  # send bytes that are no frame before it
    SILENCE = "silence"  # send nothing for `for_ms`


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fault, when so many records have been sent, and then every so many if given."""

    action: Action
    at_record: int
    every_records: int = 0
    for_ms: int = 0


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Faults of the wire, oddities of the ticks (shares of 1), and how orders are filled.

    With `hedging` each order opens a position of its own, else a symbol has one.
    """

    seed: int = 1
    same_ms: float = 0.0
    late: float = 0.0
    fills: tuple[float, ...] = (1.0,)
    hedging: bool = False
    fault: tuple[Fault, ...] = ()


def parse_script(text: str, place: str = "script") -> Script:
    """The script in a TOML text; ScriptError names the place of what is wrong."""
    try:
        return msgspec.toml.decode(text, type=Script)
    except msgspec.ValidationError as error:
        actions = f"; there are {', '.join(Action)}" if "action" in str(error) else ""
        raise ScriptError(f"{place}: {told(error, Script)}{actions}") from None
    except msgspec.DecodeError as error:
        raise ScriptError(f"{place}: not TOML: {error}") from None


def read_script(path: Path) -> Script:
    """The script in a file."""
    return parse_script(path.read_text(encoding="utf-8"), str(path))
