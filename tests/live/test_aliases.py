"""A broker's names for symbols, and a daemon whose rules have others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cep.archive import Archive, compact, ingest_spool, verify
from cep.cli import main
from cep.live.config import ConfigError, read_config
from mt5bridge.simulator import Account
from mt5bridge.spool import RecordKind, read
from tests.live.service import (
    Service,
    address,
    archived,
    journal,
    play,
    replayed,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)


def named(count: int) -> dict[str, Any]:
    """The first ticks of A and B under the names that a broker has for them."""
    return {f"{name}.m": one[:count] for name, one in walks("AB", 1_500).items()}


def settings_with(folder: Path, **aliases: Any) -> Path:
    sections: dict[str, dict[str, Any]] = {"rules": {"numba": False}}
    if aliases:
        sections["aliases"] = {}
    path = write_settings(folder, sections)
    lines = [f"{json.dumps(name)} = {_inline(value)}" for name, value in aliases.items()]
    text = path.read_text(encoding="utf-8")
    text = text.replace("[aliases]\n", "\n".join(["[aliases]", *lines, ""]))
    path.write_text(text, encoding="utf-8")
    return path


def _inline(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    return "{ " + ", ".join(f"{json.dumps(a)} = {json.dumps(b)}" for a, b in value.items()) + " }"


def test_rules_archive_orders_and_deals_have_one_name(tmp_path: Path) -> None:
    """Over TCP: ticks of `A.m` are those of A, a signal for A is one for `A.m`, its deal is A's."""
    settings = settings_with(tmp_path, **{"*.m": "*"})
    account = Account()
    with Service(settings) as service:
        found = terminal(named(1_500), account=account)
        play(found, address(settings), until=service.is_settled)
        wait_until(lambda: bool((told := status_of(settings)) and told.terminals[0].names))
        listed = CliRunner().invoke(main, ["terminals", "ls", "--config", str(settings)]).output
        assert service.counters.get("gaps", 0) == 0
    assert "demo has other names for A (A.m), B (B.m)" in listed
    assert {one.symbol for one in found.signals} == {"A.m", "B.m"}
    assert {bytes(deal["symbol"]) for deal in account.deals} == {b"A.m", b"B.m"}
    groups = list(read(tmp_path / "spool"))
    deals = [one for one in groups if one.kind is RecordKind.DEALS]
    assert {one.stream for one in groups if one.kind is RecordKind.TICKS} == {
        ("ticks", "A", "A.m"), ("ticks", "B", "B.m"),
    }  # fmt: skip
    assert {raw for one in deals for raw in one.records["symbol"].tolist()} == {b"A", b"B"}
    archive = archived(settings)
    assert {file.symbol for file in archive.manifest.files} == {"A", "B"}
    assert journal(settings) == replayed(settings, archive)
    assert b'"Filled"' in journal(settings)
    told = CliRunner().invoke(main, ["orders", "ls", "--config", str(settings)]).output
    assert " A " in told and "A.m" not in told


def test_aliases_may_change_over_a_restart(tmp_path: Path) -> None:
    """The terminal numbers on, whatever it was called: the archive proves that nothing is lost."""
    archive, have = Archive(tmp_path / "proof"), 0
    for aliases in ({}, {"*.m": "*"}, {"A.m": "C"}, {}):
        settings = settings_with(tmp_path, **aliases)
        with Service(settings) as service:
            found = terminal(named(have + 200), instance=have + 1)
            play(found, address(settings), until=service.is_settled)
            assert service.counters.get("gaps", 0) == service.counters.get("beyond", 0) == 0
            assert service.counters["ticks"] == 400
        have += 200
        ingest_spool(tmp_path / "spool", archive)
    symbols = {file.symbol: file.name for file in archive.manifest.files if file.stream == "ticks"}
    assert symbols == {"A.m": "", "B.m": "", "A": "A.m", "B": "B.m", "C": "A.m"}
    for _ in range(2):
        report = verify(Archive(tmp_path / "proof"))
        assert report.ok, report.problems
        assert report.rows >= 4 * 400 and report.lost == ()
        compact(archive)
    spool = [one for one in read(tmp_path / "spool") if one.kind is RecordKind.TICKS]
    for name in ("A.m", "B.m"):
        own = [one for one in spool if one.stream[-1] == name]
        firsts = [one.sequence for one in own]
        assert firsts == [1, *(one.last_sequence + 1 for one in own[:-1])]
        assert own[-1].last_sequence == 800


def test_history_is_imported_under_the_names_of_the_rules(tmp_path: Path) -> None:
    """`archive import --config` takes `[aliases]`; two files of one symbol are told from others."""
    settings = settings_with(tmp_path, **{"*.m": "*", "history": {"GOLD": "XAUUSD"}})
    rows = "time_msc,bid,ask\n1709280000000,1.1,1.2\n1709280000100,1.3,1.4\n"
    for name in ("EURUSD.m", "EURUSD", "GOLD"):
        (tmp_path / f"{name}.csv").write_text(rows, encoding="utf-8")

    def imported(*names: str) -> Any:
        for name in names[:-1]:
            file, symbol = tmp_path / f"{name}.csv", name
            words = ["archive", "import", str(tmp_path / "archive"), str(file), "--symbol", symbol]
            result = CliRunner().invoke(main, [*words, "--config", str(settings)])
        return result.exit_code, result.output if names[-1] == "out" else result.stderr

    assert imported("EURUSD.m", "out") == (0, "2 ticks of EURUSD in 1 file\n")
    assert imported("GOLD", "out") == (0, "2 ticks of XAUUSD in 1 file\n")
    code, told = imported("EURUSD", "err")
    assert code == 2 and "EURUSD" in told


@pytest.mark.parametrize(
    ("written", "said"),
    [('"*.m" = "X"', "use one `*` on both sides"), ('demo = { "X" = "" }', "0 bytes"),
     ('"X" = 5', "aliases")],
)  # fmt: skip
def test_aliases_that_cannot_be_used_are_named(tmp_path: Path, written: str, said: str) -> None:
    path = write_settings(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + f"[aliases]\n{written}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="aliases") as refused:
        read_config(path)
    assert said in str(refused.value)
