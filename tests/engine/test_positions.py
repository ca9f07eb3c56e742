"""`define position` keeps what a plain model of the deals says, in the interpreter and natively."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.cli import main
from cep.engine.native import Compiled
from cep.engine.snapshot import restore, take
from cep.plan import compile_rules
from cep.plan.positions import written_out
from tests.campaign import examples
from tests.engine.position_model import OWN, Account, Model, Record, Row

SOURCES = """
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, ticket long, order long, position long, magic long, side string,
  entry string, lots double, price double, commission double, swap double, profit double,
  fee double);
define stream Ask (n int);
"""
ASK = "define stream Ask (n int);"
WATCHED = """
from Tick join Mine on Tick.symbol == Mine.symbol
select Mine.symbol as symbol, Mine.gain as gain, Mine.age_ms as age_ms insert into Watched;
"""
READ = """
@info(name='held')
from Ask join Mine select Mine.position as position, Mine.symbol as symbol, Mine.side as side,
  Mine.lots as lots, Mine.entry as entry, Mine.price as price, Mine.gain as gain,
  Mine.best as best, Mine.worst as worst, Mine.profit as profit, Mine.fills as fills,
  Mine.opened_msc as opened_msc, Mine.changed_msc as changed_msc, Mine.age_ms as age_ms,
  Mine.closed_lots as closed_lots, Mine.closed_entry as closed_entry,
  Mine.closed_exit as closed_exit
insert into Held;
@info(name='ordered')
from Ask join MineOrders as o select o.order as order, o.position as position, o.symbol as symbol,
  o.side as side, o.lots as lots, o.price as price, o.fills as fills, o.first_msc as first_msc,
  o.changed_msc as changed_msc
insert into Ordered;
@info(name='streaks')
from Ask join MineStreak as s select s.symbol as symbol, s.losses as losses, s.wins as wins,
  s.trades as trades, s.profit as profit, s.changed_msc as changed_msc
insert into Streaks;
"""
STATED = f"{SOURCES}define position Mine magic {OWN};{READ}"
WRITTEN = f"{SOURCES}{written_out('Mine', OWN)}{READ}"
SOME = settings(max_examples=examples(100), deadline=None, database=None)
PLAN = compile_rules(STATED)


def records(seed: int, count: int = 50) -> list[Record]:
    rng = random.Random(seed)
    return list(Account(rng, hedging=rng.random() < 0.5).records(count))


def answers(run: Any, some: Iterable[Record]) -> list[list[Row]]:
    """What comes of each record, and of asking for the tables behind it."""
    found = []
    for stream, time, row in some:
        rows = run.push_row(stream, time, row).dicts()
        found.append(rows + run.push_row("Ask", time, {"n": 1}).dicts())
    return found


def of(rows: list[Row], stream: str) -> list[Row]:
    """Rows of one stream, in the order of their first attributes, without what rows say."""
    out = ("stream", "time_msc", "kind")
    some = [{n: row[n] for n in row if n not in out} for row in rows if row["stream"] == stream]
    return sorted(some, key=_first)


def _first(row: Row) -> str:
    return str(row.get("order", row.get("position", row.get("symbol"))))


def agree(found: list[Row], expected: Iterable[Row]) -> bool:
    """Equal but for the last digits of doubles."""
    wanted = sorted(expected, key=_first)
    return len(found) == len(wanted) and all(
        a.keys() == b.keys()
        and all(
            a[name] == (b[name] if isinstance(b[name], str) else pytest.approx(float(b[name])))
            for name in a
        )
        for a, b in zip(found, wanted, strict=True)
    )


@SOME
@given(st.integers(0, 1 << 32))
def test_a_position_is_what_its_deals_and_quotes_add_up_to(seed: int) -> None:
    model, some = Model(), records(seed)
    rules = Compiled(PLAN, jit=False)
    found = answers(rules.by_interpreter.start(), some)
    assert repr(answers(rules.start(), some)) == repr(found)  # a program, to the last digit
    for record, rows in zip(some, found, strict=True):
        ended = len(model.ended)
        model.take(record)
        assert agree(of(rows, "Held"), (life.row() for life in model.lives.values())), record
        assert agree(of(rows, "MineClosed"), model.ended[ended:]), record
        assert agree(of(rows, "Ordered"), model.order_rows()), record
        assert agree(of(rows, "Streaks"), model.streaks()), record


def test_the_statement_is_what_is_written_out() -> None:
    """The reference: statements of the language, which `mt5cep explain --written-out` prints."""
    assert compile_rules(WRITTEN) == PLAN


def test_it_is_the_same_with_the_defects_of_siddhi() -> None:
    some = records(5)
    rules = Compiled(compile_rules(f"@app:compat('siddhi') {STATED}"), jit=False)
    expected = answers(Compiled(PLAN, jit=False).by_interpreter.start(), some)
    assert answers(rules.by_interpreter.start(), some) == expected
    assert answers(rules.start(), some) == expected


def test_a_replay_beside_a_database_has_the_same_rows(tmp_path: Path) -> None:
    """A database leaves tables to the engine behind it."""
    command = ["replay", str(tmp_path / "rules.cep")]
    text = f"{SOURCES}define position Mine;\n{WATCHED}".replace(ASK, "")
    (tmp_path / "rules.cep").write_text(text, encoding="utf-8")
    for name in ("Tick", "Deal"):
        path = tmp_path / f"{name}.jsonl"
        rows = [
            json.dumps({"time_msc": time, "ingest": place, **row})
            for place, (stream, time, row) in enumerate(records(3))
            if stream == name
        ]
        path.write_text("\n".join(rows), encoding="utf-8")
        command += ["--input", f"{name}={path}"]
    found = [
        sorted(CliRunner().invoke(main, command + more).stdout.splitlines())
        for more in (["--plain"], ["--backend", "database", "--url", "sqlite://", "--plain"])
    ]
    assert found[0] == found[1] and any('"Watched"' in line for line in found[0])


def test_a_snapshot_holds_it() -> None:
    some, rules = records(7, 100), Compiled(PLAN, jit=False)
    expected = answers(rules.start(), some)
    run = rules.start()
    before = answers(run, some[:50])
    assert before + answers(restore(rules, take(run)), some[50:]) == expected
