"""Rule files with their queries on a database: byte for byte what our engine alone gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli.application import main
from cep.database.dialects import SQLITE
from cep.database.order import arrivals
from cep.engine.native import Compiled
from cep.fragments.split import split
from cep.plan import compile_rules

RULES = """
@app:name('t')
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, magic long);

from Tick[bid > 1.0] select symbol, (bid + ask) / 2 as mid insert into Mid;
from Mid[mid > 2.0] select symbol, mid insert into High;
from Mid#window.time(3 sec) select symbol, count() as n group by symbol insert into Busy;

define engine E (queue = 5 min, opposites = 'evict');
define event Up in E for each symbol as Mid[mid > 3.0] opposite Down;
define event Down in E for each symbol as Busy[n > 3];
define event Filled in E for each symbol as every Deal[magic == 7] repeat allow;
define complex Leg in E for each symbol as Up followed by Filled within 1 min;
define signal Sell on Leg sell 'X' 0.1 lots;
"""
ROWS = 600


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Rules, ticks of three symbols, deals."""
    ticks, deals = ["time_msc,symbol,bid,ask"], ["time_msc,symbol,magic"]
    for number in range(ROWS):
        time, symbol = 1_000_000 + number * 331 // 2, "XYZ"[number * 5 % 7 % 3]
        if number % 5 == 3:
            deals.append(f"{time},{symbol},{7 + number % 2}")
        else:
            price = number * 37 % 101 / 25
            ticks.append(f"{time},{symbol},{price},{price + 0.01:.2f}")
    (tmp_path / "rules.cep").write_text(RULES)
    (tmp_path / "ticks.csv").write_text("\n".join(ticks) + "\n")
    (tmp_path / "deals.csv").write_text("\n".join(deals) + "\n")
    return tmp_path


def _replayed(files: Path, *options: str) -> Result:
    inputs = [f"--input=Tick={files / 'ticks.csv'}", f"--input=Deal={files / 'deals.csv'}"]
    if "--backend=reference" not in options:
        inputs.append("--plain")
    return CliRunner().invoke(main, ["replay", str(files / "rules.cep"), *inputs, *options])


@pytest.mark.parametrize("options", [(), ("--streams=Busy,Sell",)])
def test_replay_gives_the_same_bytes(files: Path, url: str, options: tuple[str, ...]) -> None:
    native = _replayed(files, *options)
    found = _replayed(files, *options, "--backend=database", f"--url={url}")
    assert native.exit_code == found.exit_code == 0, found.stderr
    assert b'"stream":"Sell"' in native.stdout_bytes
    assert found.stdout_bytes == native.stdout_bytes


TIMED = """
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, magic long);
from Tick[bid > 1.0] select symbol, bid insert into High;
from every t=Tick[bid > 2.0] -> not Tick for 200 milliseconds
  select t.symbol as symbol, t.bid as bid insert into Silent;
from Tick#window.timeBatch(400 milliseconds) select count() as n insert into Counted;
from High select symbol insert into Again;
"""
CIRCLE = (
    TIMED
    + """
from Tick select symbol, bid output last every 3 events insert into Some;
define event Up for each symbol as Some[bid > 1.0];
from Up select key output last every 3 events insert into Last;
"""
)


@pytest.mark.parametrize("way", ["whole", "by_interpreter"])
@pytest.mark.parametrize("rules", [TIMED, CIRCLE], ids=["timed", "circle"])
def test_what_time_makes_stands_in_front_of_what_a_record_leads_to(
    rules: str, way: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of rules that are one program on our side, or in the interpreter."""
    (files / "rules.cep").write_text(rules)
    meant = _replayed(files, "--backend=reference")
    monkeypatch.setattr(Compiled, "in_mode", lambda rules, mode: getattr(rules, way))
    found = _replayed(files, "--backend=database", f"--url=sqlite:///{files / 'events.db'}")
    assert found.exit_code == meant.exit_code == 0, found.output
    assert meant.stdout.count('"stream":"Silent"') > 10
    assert found.stdout == meant.stdout


def test_replay_leaves_the_database_as_it_was(files: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'events.db'}"
    first, second = (_replayed(files, "--backend=database", f"--url={url}") for _ in range(2))
    assert first.stdout_bytes == second.stdout_bytes
    assert first.exit_code == 0


def test_explain_tells_what_runs_where(files: Path) -> None:
    command = ["explain", str(files / "rules.cep"), "--backend=database", "--url=sqlite://"]
    text = CliRunner().invoke(main, command).stdout
    assert "on sqlite:\n  query1: scan of new rows" in text
    assert "kept of Mid: 3000 ms" in text
    assert "on our engine:\n  Up: never: events are bound in a queue" in text
    assert "in the daemon also on our engine:\n  query3: its windows have a clock per key" in text
    assert "INSERT INTO" not in text
    assert "INSERT INTO" in CliRunner().invoke(main, [*command, "--sql"]).stdout


def test_a_query_between_events_of_its_stream_stays_on_our_engine() -> None:
    text = RULES.replace(
        "define event Down", "from Mid select mid insert into Last;\ndefine event Down"
    )
    text = text.replace("Busy[n > 3]", "Last[mid < 2.5]").replace(
        "define complex", "define event Low in E for each symbol as Mid[mid < 2.0];\ndefine complex"
    )
    text = text.replace("select mid insert", "select symbol, mid insert")
    found = split(compile_rules(text, "rules"), SQLITE)
    assert [query.name for query in found.front.queries] == ["query1", "query2", "query3"]
    assert "it stands between others that read Mid" in found.why["query4"]


def test_what_reads_expired_partial_matches_stays_on_our_engine() -> None:
    text = """
    define stream S (n int);
    @expired(stream='Gone') from every a=S[n == 1] -> b=S[n == 2] within 1 sec select a.n as n
    insert into T;
    from Gone select a_n insert into Late;
    from S[n > 2] select n insert into More;
    """
    found = split(compile_rules(text), SQLITE)
    assert [one.name for one in found.front.queries] == ["query3"]
    assert found.why["query2"] == "it reads Gone, which the database does not make"


def test_a_window_with_a_clock_per_key_runs_on_our_engine_as_it_is_lived() -> None:
    plan = compile_rules(RULES, "rules")
    sorted_, lived = split(plan, SQLITE), split(plan, SQLITE, lived=True)
    assert [query.name for query in sorted_.front.queries] == ["query1", "query2", "query3"]
    assert [query.name for query in lived.front.queries] == ["query1", "query2"]
    assert "a clock per key" in lived.why["query3"]


def test_a_clock_that_not_every_record_moves_runs_on_our_engine_as_it_is_lived() -> None:
    common = RULES.replace("n group by symbol", "n")
    why = split(compile_rules(common, "rules"), SQLITE, lived=True).why
    assert why["query3"] == "its clock follows Tick alone, and a database's every record"
    alone = common.replace("every Deal[magic == 7]", "every Tick[bid == 7.0]").replace(
        "define stream Deal (symbol string, magic long);", ""
    )
    assert "query3" not in split(compile_rules(alone, "rules"), SQLITE, lived=True).why


def test_a_trigger_fires_on_our_engine(files: Path) -> None:
    (files / "rules.cep").write_text(
        "define stream Tick (symbol string, bid double, ask double);\n"
        "define stream Deal (symbol string, magic long);\n"
        "define trigger Bell at every 1 sec;\n"
        "from Bell select triggered_time as at insert into Rung;\n"
        "from Tick[bid > 1.0] select bid insert into High;\n"
    )
    native, found = _replayed(files), _replayed(files, "--backend=database", "--url=sqlite://")
    assert native.stdout_bytes.count(b'"Rung"') > 20
    assert found.stdout_bytes == native.stdout_bytes, found.stderr


def test_late_rows_leave_when_they_are_due(files: Path, url: str) -> None:
    rows = (files / "ticks.csv").read_text().splitlines()
    rows[20] = rows[20].replace(rows[20].split(",")[0], "1000000")
    rows = [f"ingest,{rows[0]}", *(f"{place},{row}" for place, row in enumerate(rows[1:]))]
    (files / "ticks.csv").write_text("\n".join(rows))
    (files / "rules.cep").write_text(
        "define stream Tick (symbol string, bid double, ask double);\n"
        "from Tick#window.time(1 sec) select symbol, count() as n insert into Busy;\n"
        "from Tick#window.time(1 sec) select symbol, max(bid) as most group by symbol"
        " insert into Most;\n"
    )
    command = ["replay", str(files / "rules.cep"), "--plain", f"--input=Tick={files}/ticks.csv"]
    found = CliRunner().invoke(main, [*command, "--backend=database", f"--url={url}"])
    assert "1 rows were older than one before them" in found.stderr
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    busy = [row for row in rows if row["stream"] == "Busy"]
    assert busy[19]["time_msc"] == 1_000_000
    assert busy[19]["n"] == busy[18]["n"] + 1 > busy[20]["n"]
    assert found.stdout_bytes == CliRunner().invoke(main, command).stdout_bytes


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--backend=database",), "--backend database and --url belong together"),
        (("--url=sqlite://",), "--backend database and --url belong together"),
        (("--backend=database", "--url=oracle://x"), "no driver for `oracle`"),
        (("--backend=database", "--url=nonsense"), "no URL of a database"),
    ],
)
def test_wrong_options_are_explained(files: Path, options: tuple[str, ...], text: str) -> None:
    found = _replayed(files, *options)
    assert found.exit_code == 2
    assert text in found.stderr


def test_a_table_that_is_asked_for_what_fills_it() -> None:
    """A table hands nothing on, so rows do not go round."""
    rules = """
    define stream S (symbol string, n long);
    define table T (symbol string, n long);
    from S join T on S.symbol == T.symbol select S.symbol as symbol, T.n + S.n as n insert into Q;
    from Q select symbol, n update or insert into T set T.n = n on T.symbol == symbol;
    """
    assert arrivals(compile_rules(rules)).streams == {"S": 0, "Q": 1}


WAITING = """
@app:name('t')
@reorder(max.delay='1 sec', late.stream='Late')
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, magic long);

from Tick#window.length(2) select symbol, avg(bid) as m group by symbol insert into Mean;
define event High in Main for each symbol as Mean[m > 2.0];
from High#window.time(3 sec) select key, count() as n group by key insert all events into Busy;
from Deal#window.length(2) select symbol, max(magic) as m group by symbol insert into Largest;
"""


def test_records_that_wait_for_their_order_do_so_behind_a_database(files: Path) -> None:
    """Also where the interpreter runs all of what is behind it: they went on at once, unordered."""
    (files / "rules.cep").write_text(WAITING)
    found = split(compile_rules(WAITING, "t.cep"), SQLITE)
    assert [one.name for one in found.front.operators] == ["query3"]
    assert Compiled(found.rest).start().interpreting is not None
    meant = _replayed(files, "--backend=reference")
    native, behind = _replayed(files), _replayed(files, "--backend=database", "--url=sqlite://")
    assert native.exit_code == behind.exit_code == meant.exit_code == 0, behind.stderr
    assert b'"stream":"Busy"' in meant.stdout_bytes
    assert behind.stdout_bytes == native.stdout_bytes == meant.stdout_bytes
