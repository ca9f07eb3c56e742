"""The session's script: what is read, what is refused and how."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.script import STATEMENTS, Script, ScriptError, parse_script, statement

PAGE = Path(__file__).resolve().parents[2] / "docs" / "emulator.md"


def test_statements_become_lines_for_the_executable() -> None:
    script = parse_script(
        "# a comment\n"
        "seed 7\n"
        "\n"
        "symbol EURUSD digits=5   # another\n"
        "pace step=1..6\n"
        'attach Publisher on EURUSD Symbols="GBPUSD, XAUUSD" Port=5655\n'
        'at tick=5 broker="balance 1000"\n'
    )
    assert script.encoded() == (
        "seed\tvalue=7\n"
        "symbol\tname=EURUSD\tdigits=5\n"
        "pace\tstep=1..6\n"
        "attach\tprogram=Publisher\tsymbol=EURUSD\tinput.Symbols=GBPUSD, XAUUSD\tinput.Port=5655\n"
        "at\ttick=5\tbroker=balance 1000\n"
    )
    assert script.symbols == ("EURUSD",)


def test_texts_keep_their_tabs_and_backslashes() -> None:
    line = statement("attach", "Probe", Path="a\\b\tc")
    assert Script.of(line).encoded() == "attach\tprogram=Probe\tinput.Path=a\\\\b\\tc\n"


def test_scripts_are_put_together() -> None:
    script = Script.of("seed 1").plus("seed 2", "end quiet_ms=5")
    assert script.encoded() == "seed\tvalue=1\nseed\tvalue=2\nend\tquiet_ms=5\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sed 7", r"line 1: unknown statement 'sed'; there are seed, "),
        ("seed", r"seed needs value first"),
        ("\nseed x", r"line 2: seed value: 'x' is no whole number"),
        ("symbol digits=5", r"symbol needs name first"),
        ("symbol A colour=5", r"symbol has no setting 'colour'; there are name, "),
        ("pace step=6..1", r"6\.\.1 ends before it begins"),
        ("pace step=some", r"'some' is no range; write 3 or 1\.\.6"),
        ("ontick skip=1.5", r"1\.5 is no share; write a number from 0 to 1"),
        ("ticks A", r"ticks needs path=\.\.\."),
        ("ticks A path=/nowhere.bin", r"no such file: /nowhere\.bin; check the path"),
        ("events chart=merge", r"'merge' is unknown; write one of coalesce, queue"),
        ("account demo=yes", r"'yes' is no switch; write 0 or 1"),
        ("attach", r"attach needs a program"),
        ("symbol A sessions=1430-1450", r"'1430-1450' is no session; write minutes of the week"),
        ("symbol A sessions=1,2", r"'1' is no session"),
        ("at tick=5 specify='swap_long=1'", r"names no symbol; write EURUSD swap_long=-7"),
        ("at tick=5 specify='A digits=3'", r"'digits=3' does not change while a terminal runs"),
        ("attach A on", r"a symbol must follow 'on'"),
        ("attach A EURUSD", r"'EURUSD' is no setting; write name=value"),
        ("crash", r"crash needs effect=\.\.\."),
        ('seed "7', r"No closing quotation"),
        ("broker latency=5", r"line 1: "),
        ("at tick=5 broker=nonsense", r"line 1: at broker: "),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        parse_script(text)


def test_the_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"^night\.session, line 1: "):
        parse_script("nothing", "night.session")


def test_the_page_names_every_statement_and_setting() -> None:
    rows = {}
    section = PAGE.read_text(encoding="utf-8").split("\n## The script\n")[1].split("\n## ")[0]
    for line in section.split("\n### ")[0].splitlines():
        if line.startswith("| `"):
            rows[line.split("`")[1].split()[0]] = line
    assert list(rows) == list(STATEMENTS)
    for name, rules in STATEMENTS.items():
        for key in set(rules.keys) - set(rules.words):
            assert f"`{key}`" in rows[name] or f" {key} " in rows[name], f"{name} {key}"
