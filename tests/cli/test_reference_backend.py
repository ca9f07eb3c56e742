"""`--backend reference`: a whole rule file in the interpreter, with the same output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from tests.engine.mixed import RULES, mixed

CIRCLE = """\
define stream Tick (symbol string, bid double);
@info(name='some') from Tick select symbol, bid output last every 3 events insert into Some;
define event Up for each symbol as Some[bid > 1.0];
@info(name='last') from Up select key output last every 3 events insert into Last;
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def market(tmp_path: Path) -> list[str]:
    """A rule file and its inputs, as arguments."""
    (tmp_path / "rules.cep").write_text(RULES, encoding="utf-8")
    arguments = [str(tmp_path / "rules.cep")]
    for stream in ("Tick", "Deal"):
        rows = [{"time_msc": t, **row} for name, t, row in mixed() if name == stream]
        path = tmp_path / f"{stream}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        arguments += ["--input", f"{stream}={path}"]
    return arguments


STREAMS = ("Band,Up,Down,Fill,Caught", "Traded", "Both,Out")
"""Those that the native engine makes in one stage: else they stand in another order."""


@pytest.mark.parametrize("streams", STREAMS)
def test_the_output_is_that_of_the_native_engine(market: list[str], streams: str) -> None:
    native = run("replay", *market, "--plain", "--streams", streams)
    reference = run("replay", *market, "--backend", "reference", "--streams", streams)
    assert (native.exit_code, reference.exit_code) == (0, 0), reference.output
    assert reference.stdout == native.stdout != ""
    assert reference.stderr == native.stderr
    assert native.stderr.startswith("dropped:\n  event Down: ")


def test_time_passes_until_the_end(tmp_path: Path) -> None:
    rules, rows, out = tmp_path / "r.cep", tmp_path / "rows.csv", tmp_path / "out.jsonl"
    rules.write_text(
        "define stream S (n int);\n"
        "from S#window.timeBatch(1 sec) select sum(n) as n insert into T;\n"
        "define event Late as every T[n > 0];\n"
    )
    rows.write_text("time_msc,n\n1700000000000,1\n1700000000100,2\n")
    arguments = ["replay", rules, "--input", f"S={rows}", "--backend", "reference", "--out", out]
    assert run(*arguments).exit_code == 0 and out.read_text() == ""
    done = run(*arguments, "--until", "2023-11-14T22:13:30")
    assert done.exit_code == 0, done.output
    made = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["stream"], row["time_msc"]) for row in made] == [
        ("T", 1700000000100),
        ("Late", 1700000001000),
    ]


def test_rules_that_no_order_of_stages_can_run(tmp_path: Path) -> None:
    rules, ticks = tmp_path / "circle.cep", tmp_path / "ticks.csv"
    rules.write_text(CIRCLE)
    bids = [2.0, 2.0, 2.0, 1.0, 1.0, 0.5] * 3
    ticks.write_text(
        "time_msc,symbol,bid\n" + "".join(f"{1000 + n},A,{bid}\n" for n, bid in enumerate(bids))
    )
    native = run("replay", rules, "--input", f"Tick={ticks}")
    result = run("replay", rules, "--input", f"Tick={ticks}", "--backend", "reference")
    assert result.exit_code == 0, result.output
    assert native.exit_code == 0 and native.stdout == result.stdout
    streams = [json.loads(line)["stream"] for line in result.stdout.splitlines()]
    assert streams.count("Some") == 6 and set(streams) == {"Some", "Up"}
    shown = run("explain", rules, "--backend", "reference")
    assert shown.exit_code == 0 and "the interpreter runs all of it" in shown.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plain"], "--plain is about --backend native"),
        (["--callback", "callback.py"], "--callback needs --backend native"),
        (["--url", "sqlite://"], "--backend database and --url belong together"),
        (["--trace", "A"], "--trace needs --backend native, not reference"),
    ],
)
def test_options_that_do_not_apply_are_refused(
    options: list[str], message: str, market: list[str]
) -> None:
    result = run("replay", *market, "--backend", "reference", *options)
    assert result.exit_code == 2 and message in result.stderr


def test_explain_has_no_code_of_the_reference(market: list[str]) -> None:
    result = run("explain", market[0], "--backend", "reference", "--code")
    assert result.exit_code == 2 and "--code is about --backend native" in result.stderr


def test_bad_rows_are_refused_as_by_the_native_engine(market: list[str], tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("time_msc,symbol,bid\n-5,A,1.0\n")
    arguments = ["replay", market[0], "--input", f"Tick={bad}"]
    native, reference = run(*arguments), run(*arguments, "--backend", "reference")
    assert native.exit_code == reference.exit_code == 2
    assert reference.stderr == native.stderr


def test_ingest_numbers_are_the_places_of_records(tmp_path: Path) -> None:
    """So that functions of them are what they were when it was lived, whatever is left out."""
    rules, rows = tmp_path / "r.cep", tmp_path / "rows.csv"
    rules.write_text("define stream S (n int);\nfrom S select n, UUID() as id insert into T;\n")

    def names(*numbers: int, backend: str = "native") -> list[str]:
        lines = [f"{number},{1_700_000_000_000 + number},{number}\n" for number in numbers]
        rows.write_text("ingest,time_msc,n\n" + "".join(lines))
        more = ["--url", "sqlite://"] if backend == "database" else []
        arguments = ["replay", rules, "--input", f"S={rows}", "--backend", backend, *more]
        result = run(*arguments)
        assert result.exit_code == 0, result.output
        return [json.loads(line)["id"] for line in result.stdout.splitlines()]

    every = names(3, 5, 9, 12)
    assert len(set(every)) == 4 and names(5, 12) == [every[1], every[3]]
    for backend in ("reference", "database"):
        assert names(3, 5, 9, 12, backend=backend) == every
