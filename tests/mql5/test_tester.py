"""In the strategy tester programs that need the daemon say so, and do not start."""

from __future__ import annotations

from pathlib import Path

from mt5bridge.emulator.script import Script
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.terminal.sources import sources_folder
from tests.emulator.market import needs_compiler
from tests.waiting import LONG_S

pytestmark = needs_compiler
EXPERTS = sources_folder() / "Experts" / "Mt5Bridge"
EXAMPLES = EXPERTS / "Examples"
WITH_SOCKETS = (
    EXPERTS / "Publisher.mq5", EXPERTS / "Trader.mq5", EXAMPLES / "SignalPrinter.mq5",
    EXAMPLES / "EventPrinter.mq5", EXAMPLES / "EventTrader.mq5",
)  # fmt: skip
REMEDY = "Attach it to a chart; rules are tested on history by mt5cep backtest"


def test_programs_say_that_the_tester_has_no_sockets(tmp_path: Path) -> None:
    """\"The strategy tester has no sockets\": INIT_FAILED, said once, with what to do instead."""
    attached = [f"attach {program.stem} on EURUSD" for program in WITH_SOCKETS]
    script = Script.of("tester", "symbol EURUSD digits=5", *attached, "end quiet_ms=50")
    with EmulatedTerminal(WITH_SOCKETS, script, tmp_path) as terminal:
        result = terminal.wait_end(LONG_S)
    assert result.exit_code == 1  # a program failed
    assert result.stats is not None
    for name in (program.stem for program in WITH_SOCKETS):
        handlers = result.stats.program(name).data["handlers"]
        ran = {one: usage["calls"] for one, usage in handlers.items() if usage["calls"]}
        assert ran == {"OnInit": 1, "OnDeinit": 1}, name
        own = [line for line in result.journal if line.split("\t")[1].startswith(name)]
        said = [line for line in own if "the strategy tester has no sockets" in line]
        assert len(said) == 1 and f"so {name} reaches" in said[0] and said[0].endswith(REMEDY)
        assert not [line for line in own if "connect" in line]
