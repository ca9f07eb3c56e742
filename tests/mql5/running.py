"""Compiles the programs of these tests into one terminal and runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mt5bridge.emulator.build import build
from mt5bridge.emulator.script import Script
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.terminal.sources import sources_folder
from tests.waiting import LONG_S

_HERE = Path(__file__).parent
_SELF_TEST = sources_folder() / "Scripts" / "Mt5Bridge" / "SelfTest.mq5"
_SELF_TEST_LIFE = sources_folder() / "Experts" / "Mt5Bridge" / "SelfTestLife.mq5"
_NAMES = ("FrameFuzz", "ZmtpFuzz", "LinkProbe", "SelfTestFails", "LedgerProbe", "RetcodeTable")
FUZZERS = tuple(_HERE / f"{name}.mq5" for name in _NAMES[:2])
PROGRAMS = (
    *(_HERE / f"{name}.mq5" for name in _NAMES),
    _SELF_TEST,
    _SELF_TEST_LIFE,
)
_QUIET_MS = 50


@dataclass(frozen=True, slots=True)
class Scripts:
    """The compiled scripts."""

    programs: Sequence[Path]
    sanitize: bool

    @classmethod
    def build(cls, programs: Sequence[Path] = PROGRAMS, sanitize: bool = False) -> Scripts:
        """Compile them, or find them in the cache. `sanitize`: with g++'s sanitizers."""
        build(programs, sanitize=sanitize)
        return cls(programs, sanitize)

    def files(self, folder: Path) -> Path:
        """The terminal's Files folder inside its data folder."""
        files = folder / "MQL5" / "Files"
        files.mkdir(parents=True, exist_ok=True)
        return files

    def run(self, name: str, folder: Path) -> list[str]:
        """Run one script to its end; the texts of the journal."""
        script = Script.of("symbol EURUSD", f"attach {name} on EURUSD", f"end quiet_ms={_QUIET_MS}")
        with EmulatedTerminal(self.programs, script, folder, sanitize=self.sanitize) as terminal:
            result = terminal.wait_end(LONG_S)
        assert result.exit_code == 0, "\n".join(result.journal[-30:])
        return [line.split("\t")[-1] for line in result.journal]
