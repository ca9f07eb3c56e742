"""A probe is read with suspicion, and judged by the table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from mt5bridge.terminal.assumptions import ASSUMPTIONS, Between, Value
from mt5bridge.terminal.findings import Finding, Level
from mt5bridge.terminal.folders import Machine, given
from mt5bridge.terminal.install import install
from mt5bridge.terminal.probe import (
    BYTES_MAX,
    LIFE,
    LIFE_GROUPS,
    PLACE,
    ProbeError,
    judge_probes,
    read_probe,
    unmeasured,
)
from mt5bridge.terminal.sources import sources_folder, sources_version
from tests.terminal.machines import HEX, data_folder, terminals, windows

VERSION = sources_version(sources_folder())


def facts(**changed: Value) -> dict[str, Value]:
    """Facts that all hold, but for those that are given (with `__` for a dot)."""
    good: dict[str, Value] = {
        name: one.holds.low if isinstance(one.holds, Between) else one.holds.values[0]
        for name, one in ASSUMPTIONS.items()
    }
    return good | {name.replace("__", "."): value for name, value in changed.items()}


def probe(**fields: Any) -> str:
    """A probe's text."""
    head = {
        "probe": 1, "program": VERSION, "terminal": "MetaTrader 5", "build": 4000,
        "account": "demo", "symbol": "EURUSD", "written": "2026.01.01 00:00:00",
        "facts": facts(), "skipped": {},
    }  # fmt: skip
    return json.dumps(head | fields)


def judged(tmp_path: Path, text: str | None) -> list[Finding]:
    """What the doctor finds in a terminal with that file."""
    folder = given(data_folder(tmp_path / "MT5"))
    install(folder, sources_folder())
    if text is not None:
        (folder.mql5 / PLACE).parent.mkdir(parents=True, exist_ok=True)
        (folder.mql5 / PLACE).write_text(text, encoding="utf-8")
    return list(judge_probes([folder]))


def test_a_good_probe_is_a_good_finding(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, probe())
    assert (found.name, found.level) == ("platform", Level.OK)
    assert "MetaTrader 5 build 4000" in found.seen and f"all {len(ASSUMPTIONS)} facts" in found.seen


def test_a_terminal_without_a_probe_is_to_be_measured(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, None)
    assert found.name == "platform not measured" and "SelfTest" in found.remedy


def test_a_terminal_without_our_sources_is_left_alone(tmp_path: Path) -> None:
    assert list(judge_probes([given(data_folder(tmp_path / "MT5"))])) == []


def test_a_probe_of_another_version_counts_as_none(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, probe(program="0.0.1", facts=facts(file__move_rewrite=False)))
    assert found.name == "platform not measured" and "0.0.1" in found.seen


def test_facts_that_are_otherwise_come_with_their_remedy(tmp_path: Path) -> None:
    changed = facts(file__move_rewrite=False, clock__tick_count_step_ms=100)
    rewrite, step = judged(tmp_path, probe(facts=changed))
    assert (rewrite.name, rewrite.level) == ("platform differs", Level.PROBLEM)
    assert "file.move_rewrite is false, assumed true" in rewrite.seen
    assert rewrite.remedy == ASSUMPTIONS["file.move_rewrite"].remedy
    assert step.level is Level.WARNING and "is 100, assumed 1 to 16" in step.seen


def test_facts_that_are_missing_are_named_with_the_reason(tmp_path: Path) -> None:
    kept = {name: value for name, value in facts().items() if not name.startswith("socket.")}
    (found,) = judged(tmp_path, probe(facts=kept, skipped={"socket.": "no connection"}))
    assert found.name == "platform not measured"
    assert "socket.closed_port_error" in found.seen and "socket.: no connection" in found.seen


def test_facts_that_nobody_knows_do_no_harm(tmp_path: Path) -> None:
    (found,) = judged(tmp_path, probe(facts=facts(file__of_a_later_version="x")))
    assert found.name == "platform"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "\0" * 100,
        probe(probe=2),
        probe(build="4000"),
        probe(build=-1),
        probe(account="7"),
        probe(terminal="a\x1b[2J"),
        probe(terminal="x" * 301),
        probe(facts=[]),
        probe(facts={"file.append": None}),
        probe(facts={"file.append": [True]}),
        probe(facts={"Not A Name": 1}),
        probe(facts={"file.append": "a\nb"}),
        probe(facts={f"a.{i}": 1 for i in range(1_001)}),
        probe(facts={"file.longest_name": float("nan")}),
        probe(facts={"file.longest_name": float("inf")}),
        probe(skipped={"socket.": 5}),
        "[" * 100_000,
        " " * (BYTES_MAX + 1),
    ],
)
def test_what_no_script_of_ours_has_written(text: str, tmp_path: Path) -> None:
    path = tmp_path / "probe.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProbeError, match=r"probe\.json: "):
        read_probe(path)
    (found,) = judged(tmp_path, text)
    assert found.name == "probe unreadable" and "SelfTest" in found.remedy


def _halves() -> tuple[dict[str, Value], dict[str, Value]]:
    """The facts of the script, and those of the expert."""
    life = {name: value for name, value in facts().items() if name.startswith(LIFE_GROUPS)}
    return {name: value for name, value in facts().items() if name not in life}, life


def test_the_facts_of_the_expert_are_taken_from_the_file_beside_it(tmp_path: Path) -> None:
    script, life = _halves()
    path = written(tmp_path / "probe.json", facts=script)
    written(tmp_path / LIFE, facts=life, skipped={"life.": "why"})
    found = read_probe(path)
    assert unmeasured(found) == [] and found.skipped == {"life.": "why"}
    assert read_probe(tmp_path / LIFE).facts == life


@pytest.mark.parametrize("other", [{"build": 4001}, {"program": "0.0.1"}, None])
def test_without_the_expert_its_facts_are_to_be_measured(
    other: dict[str, Any] | None, tmp_path: Path
) -> None:
    """Another build's and another version's do not count."""
    script, life = _halves()
    path = written(tmp_path / "probe.json", facts=script)
    if other is not None:
        written(tmp_path / LIFE, facts=life, **other)
    found = read_probe(path)
    assert unmeasured(found) == list(life)
    assert all("SelfTestLife" in found.skipped[group] for group in LIFE_GROUPS)


def test_what_no_expert_of_ours_has_written_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "probe.json", facts=_halves()[0])
    (tmp_path / LIFE).write_text("{", encoding="utf-8")
    with pytest.raises(ProbeError, match=r"probe-life\.json: no probe"):
        read_probe(path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "probe.json"
    path.write_bytes(probe().encode().replace(b"EURUSD", b"\xff\xfe"))
    with pytest.raises(ProbeError, match="no probe of a terminal"):
        read_probe(path)


def test_numbers_beyond_64_bits_are_only_wrong(tmp_path: Path) -> None:
    big = facts(file__longest_name=10**40, clock__backwards=1e308)
    names = [one.seen.split()[0] for one in judged(tmp_path, probe(facts=big))]
    assert names == ["file.longest_name", "clock.backwards"]


def test_a_probe_without_facts_lacks_them_all(tmp_path: Path) -> None:
    path = tmp_path / "probe.json"
    path.write_text(probe(facts={}), encoding="utf-8")
    assert unmeasured(read_probe(path)) == list(ASSUMPTIONS)


def probe_command(*arguments: str | Path) -> Result:
    """Run `mt5cep terminal probe`."""
    return CliRunner().invoke(main, ["terminal", "probe", *map(str, arguments)])


def written(path: Path, **fields: Any) -> Path:
    """A probe in a file."""
    path.write_text(probe(**fields), encoding="utf-8")
    return path


def test_the_command_shows_all_facts(tmp_path: Path) -> None:
    done = probe_command(written(tmp_path / "a.json"))
    assert done.exit_code == 0, done.output
    assert all(name in done.stdout for name in ASSUMPTIONS)
    assert "MetaTrader 5 build 4000" in done.stdout
    assert done.stdout.endswith("0 facts otherwise, 0 not measured\n")


def test_the_command_shows_what_is_otherwise_or_missing(tmp_path: Path) -> None:
    kept = facts(file__append=False, file__longest_name=9)
    del kept["socket.writable"]
    path = written(tmp_path / "a.json", facts=kept, skipped={"socket.": "no connection"})
    done = probe_command(path)
    assert done.exit_code == 1
    assert re.search(r"^!  file\.append +false +true +true$", done.stdout, re.MULTILINE)
    assert f"file.append: {ASSUMPTIONS['file.append'].remedy}\n" in done.stdout
    assert re.search(r"^\?  socket\.writable +true", done.stdout, re.MULTILINE)
    assert "socket. not measured: no connection" in done.stdout
    assert done.stdout.endswith("2 facts otherwise, 1 not measured\n")
    (told,) = json.loads(probe_command(path, "--json").stdout)
    assert (told["file"], told["build"]) == (str(path), 4000)
    found = {one["fact"]: one for one in told["facts"]}
    assert found.keys() == ASSUMPTIONS.keys()
    assert found["file.append"]["holds"] is False and found["file.append"]["emulated"] == [True]
    assert found["socket.writable"]["value"] is None


def test_a_fact_on_which_no_order_depends_is_no_failure(tmp_path: Path) -> None:
    assert (
        probe_command(written(tmp_path / "a.json", facts=facts(file__longest_name=9))).exit_code
        == 0
    )


def test_the_command_compares_two_terminals(tmp_path: Path) -> None:
    one = written(tmp_path / "a.json")
    changed = facts(
        array__sort_ulong="signed", clock__microsecond_step_us=2, socket__connect_us=10**9
    )
    other = written(tmp_path / "b.json", build=4001, facts=changed)
    done = probe_command(one, other)
    assert done.exit_code == 0
    names = re.findall(r"^([a-z]+\.[a-z_]+)", done.stdout, re.MULTILINE)
    assert names == ["array.sort_ulong", "socket.connect_us"]
    assert "build 4000" in done.stdout and "build 4001" in done.stdout
    sort, _ = json.loads(probe_command(one, other, "--json").stdout)
    assert sort == {
        "fact": "array.sort_ulong", "values": ["unsigned", "signed"],
        "needed": "unsigned or signed",
    }  # fmt: skip
    assert probe_command(one, one).stdout.endswith("no difference\n")


def test_the_command_finds_the_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = windows(tmp_path)
    monkeypatch.setattr(Machine, "here", lambda: machine)
    folder = data_folder(terminals(machine) / HEX)
    none = probe_command()
    assert none.exit_code == 2 and "SelfTest" in none.stderr
    path = folder / "MQL5" / PLACE
    path.parent.mkdir(parents=True)
    written(path)
    assert probe_command().stdout.startswith(f"{path}\n")


def test_the_command_refuses_what_is_no_probe(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", build="x")
    done = probe_command(path)
    assert done.exit_code == 2 and "a.json: no probe" in done.stderr and "SelfTest" in done.stderr
    assert probe_command(path, path, path).exit_code == 2
    gone = probe_command(tmp_path / "none.json")
    assert gone.exit_code == 2 and "none.json: there is no such file" in gone.stderr
    assert "SelfTest" in gone.stderr and "write" not in gone.stderr
