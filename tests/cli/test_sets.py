"""Sets stand in order in what is put out: Python's own order is another in each process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cep.cli import main
from cep.live.journal import Journal

TEXTS = [chr(ord("z") - n) * 2 for n in range(12)]
NUMBERS = [1_000 - 100 * n for n in range(8)]
RULES = """\
define stream Tick (symbol string, v int);
from Tick select unionSet(createSet(symbol)) as texts, unionSet(createSet(v)) as numbers
insert into Seen;
"""


@pytest.mark.parametrize(
    "way", [("native", "--plain"), ("reference",), ("database", "--url", "sqlite://")]
)
def test_sets_stand_in_order_in_output(way: tuple[str, ...], tmp_path: Path) -> None:
    rules, ticks = tmp_path / "rules.cep", tmp_path / "ticks.jsonl"
    rules.write_text(RULES, encoding="utf-8")
    rows = [
        {"time_msc": 1_000 + n, "symbol": text, "v": NUMBERS[n % len(NUMBERS)]}
        for n, text in enumerate(TEXTS)
    ]
    ticks.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = CliRunner().invoke(
        main, ["replay", str(rules), "--input", f"Tick={ticks}", "--backend", *way]
    )
    assert found.exit_code == 0, found.output
    last = json.loads(found.stdout.splitlines()[-1])
    assert (last["texts"], last["numbers"]) == (sorted(TEXTS), sorted(NUMBERS))


def test_sets_stand_in_order_in_the_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "out.jsonl")
    journal.add([{"stream": "Seen", "texts": {*TEXTS}, "lists": [{*TEXTS, None}]}])
    journal.write()
    journal.close()
    found = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert found["texts"] == sorted(TEXTS)
    assert found["lists"] == [sorted([*TEXTS, None], key=repr)]
