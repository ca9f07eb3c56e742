"""The language behaves as MQL5's documentation says: small scripts, and what they must print."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.script import Script
from mt5bridge.emulator.terminal import EmulatedTerminal, Result
from tests.emulator.market import needs_compiler, texts
from tests.waiting import LONG_S

pytestmark = needs_compiler
FOLDER = Path(__file__).parent / "language"
SCRIPTS = tuple(sorted(FOLDER.glob("*.mq5")))
PRINTING = [path.stem for path in SCRIPTS if path.stem not in ("Stops", "Inputs", "Crash")]
STOPS = (FOLDER / "Stops.txt").read_text(encoding="utf-8").splitlines()


def run(folder: Path, *lines: str) -> Result:
    script = Script.of("symbol EURUSD digits=5", *lines, "end quiet_ms=50")
    with EmulatedTerminal(SCRIPTS, script, folder) as terminal:
        return terminal.wait_end(LONG_S)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The run of all scripts that only print."""
    lines = [f"attach {name} on EURUSD" for name in PRINTING]
    return run(tmp_path_factory.mktemp("language"), *lines)


@pytest.mark.parametrize("name", PRINTING)
def test_a_script_prints_what_mql5_prints(name: str, printed: Result) -> None:
    expected = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert texts(printed, name) == expected


def test_each_program_that_runs_has_its_own_static_variables(tmp_path: Path) -> None:
    result = run(tmp_path, "attach Statics on EURUSD", "attach Statics on EURUSD")
    counted = [text for text in texts(result, "Statics") if text in ("12", "14")]
    assert counted.count("12") == counted.count("14") == 2


@pytest.mark.parametrize("case", range(len(STOPS)), ids=lambda case: STOPS[case].split(" in ")[0])
def test_a_fatal_error_stops_the_program_and_names_the_line(case: int, tmp_path: Path) -> None:
    result = run(tmp_path, f"attach Stops on EURUSD Why={case}")
    assert result.exit_code == 1
    told = texts(result, "Stops")
    assert told[:2] == ["before", f"stopped: {STOPS[case]}"]
    assert told[2:] in ([], ["1 undeleted objects left"]), "what the error kept from being deleted"


def test_inputs_have_defaults_and_take_texts_of_their_type(tmp_path: Path) -> None:
    texts_given = 'Whole=-5 Real=2.5 Text="two words" Yes=true When="2026.01.02 03:04" Sort=LAST'
    result = run(tmp_path, "attach Inputs on EURUSD", f"attach Inputs on EURUSD {texts_given}")
    assert texts(result, "Inputs") == [
        "7 0.5 text false 1970.01.01 00:00:00 FIRST 18446744073709551615",
        "-5 2.5 two words true 2026.01.02 03:04:00 LAST 18446744073709551615",
    ]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("Whole=1.5", "Inputs.Whole: '1.5' is no whole number from -2147483648 to 2147483647"),
        ("Yes=maybe", "Inputs.Yes: 'maybe' is no truth value; write true or false"),
        ("Sort=NONE", "Inputs.Sort: 'NONE' is no value of the enumeration; it has FIRST, LAST"),
        ("Hole=1", "Inputs has no input Hole; it has Whole, Real, Text, Yes, When, Sort, Big"),
        ("When=noon", "Inputs.When: 'noon' is no time; write 2026.01.31 23:59:59"),
    ],
)
def test_an_input_of_the_wrong_type_is_refused(given: str, complaint: str, tmp_path: Path) -> None:
    result = run(tmp_path, f"attach Inputs on EURUSD {given}")
    assert result.exit_code != 0
    assert complaint in "\n".join(result.journal)


def test_unflushed_writes_are_lost_in_a_crash_and_a_flush_may_tear(tmp_path: Path) -> None:
    sizes = {}
    for effect in range(1, 20):
        folder = tmp_path / str(effect)
        result = run(folder, f"crash effect={effect}", "attach Crash on EURUSD")
        if result.exit_code == 0:
            break
        file = folder / "MQL5" / "Files" / "crash.bin"
        if file.exists():
            sizes[file.stat().st_size] = effect
    assert list(sizes) == [8, 16, 20, 24, 28, 32]
