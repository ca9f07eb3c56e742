"""`mt5cep simulate` against a real server on a free port."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from click.testing import CliRunner, Result

from cep.backtest.errors import BacktestError
from cep.cli import main
from cep.cli.errors import UserError
from cep.cli.tick_files import load_ticks, made_up_ticks, points_of
from mt5bridge.client import Connection
from mt5bridge.history import ServerTime
from mt5bridge.records import Records
from mt5bridge.server import DEALS, Batch, Outcome, Server, Settings, Sink
from mt5bridge.simulator import Runner, simulated_terminal
from mt5bridge.wire import Side, Signal
from tests.credentials import CREDENTIAL, PASSWORDS
from tests.waiting import LONG_S, wait_until


class Daemon:
    """Takes everything, acknowledges it, and answers the first ticks with a signal."""

    def __init__(self) -> None:
        self.ticks: dict[str, list[Records]] = {}
        self.outcomes: list[Outcome] = []
        self.deals: list[Records] = []
        sink = Sink(on_batch=self.take, on_outcome=self.outcomes.append)
        self.server = Server(Settings(bind="tcp://127.0.0.1:*", passwords=PASSWORDS), sink)
        self.stop = Event()
        self.thread = Thread(target=self.server.run, args=(self.stop,))

    def take(self, batch: Batch) -> bool:
        if batch.stream != DEALS:
            symbol = batch.stream[1]
            if not self.ticks:
                self.server.send(batch.identity, sell(symbol, int(batch.records["time_msc"][-1])))
            self.ticks.setdefault(symbol, []).append(batch.records.copy())
        else:
            self.deals.append(batch.records.copy())
        self.server.acknowledge(batch.identity, batch.stream, batch.last)
        return True


def sell(symbol: str, time_msc: int) -> Signal:
    return Signal(
        id=7, time_msc=time_msc, valid_until_msc=0, magic=1, lots=0.1, stop_points=0.0,
        target_points=0.0, side=Side.SELL, name="Fade", symbol=symbol,
    )  # fmt: skip


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    found = Daemon()
    found.thread.start()
    yield found
    found.stop.set()
    found.server.wake()
    found.thread.join(LONG_S)
    assert not found.thread.is_alive()
    found.server.close()


def run(*arguments: object) -> Result:
    """As a user of `[server] users`: the password is in no command line."""
    env = {"MT5CEP_PASSWORD": CREDENTIAL.password}
    arguments = ("simulate", "--user", CREDENTIAL.user, *arguments)
    return CliRunner(env=env).invoke(main, [*map(str, arguments)])


def test_all_ticks_arrive_and_the_signal_is_executed(daemon: Daemon) -> None:
    result = run(
        "--connect", daemon.server.address, "--random", "EURUSD", "--random", "XAUUSD",
        "--count", 3000, "--stay", 0.3,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    expected = made_up_ticks(["EURUSD", "XAUUSD"], 3000, 1)
    for name, ticks in expected.items():
        assert np.array_equal(np.concatenate(daemon.ticks[name]), ticks)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("signal ") and "Fade: sell" in lines[0] and "0.1 lots" in lines[0]
    assert lines[-1] == "6,000 ticks acknowledged, 1 signal, 1 deal, 0 connections lost"
    assert daemon.outcomes


def test_orders_are_executed_at_the_account_of_a_file(daemon: Daemon, tmp_path: Path) -> None:
    """Commission in the account's money, and what the terminal tells of its account and symbol."""
    file = tmp_path / "account.toml"
    file.write_text(
        '[account]\nbalance = 500.0\ncurrency = "EUR"\nleverage = 30\nhedging = true\n'
        "[symbols.EURUSD]\npoint = 0.00001\ncontract_size = 1000.0\nvolume_step = 0.05\n"
        "commission_per_lot = 7.0\n",
        encoding="utf-8",
    )
    result = run(
        "--connect", daemon.server.address, "--random", "EURUSD", "--count", 3000,
        "--account", file, "--stay", 0.3,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    (deal,) = np.concatenate(daemon.deals)
    assert (deal["volume"], deal["commission"]) == (0.1, -0.7)
    (terminal,) = daemon.server.status().terminals
    assert (terminal.currency, terminal.leverage) == ("EUR", 30)
    account = terminal.account_state
    assert account is not None and account.balance == pytest.approx(500 - 0.7)
    assert account.margin > 0 and account.margin_free < account.equity


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[account]\nmoney = 1\n", "account.toml: `account.money`: no such key"),
        ("[account]\nbalance = 1\n", "nobody has told the contract size of EURUSD"),
        (
            '[account]\ncurrency = "GBP"\n[symbols.EURUSD]\ncontract_size = 1\n',
            "EURUSD brings USD, the account has GBP",
        ),
    ],
)
def test_an_account_that_cannot_be_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "account.toml"
    file.write_text(text, encoding="utf-8")
    result = run("--connect", "tcp://127.0.0.1:9", "--random", "EURUSD", "--account", file)
    assert result.exit_code == 2 and message in result.stderr and "help: " in result.stderr


def test_a_second_run_tells_of_its_own_ticks(daemon: Daemon) -> None:
    given = ("--connect", daemon.server.address, "--random", "EURUSD", "--stay", 0)
    assert run(*given, "--count", 100).stdout.splitlines()[-1].startswith("100 ticks acknowledged,")
    last = run(*given, "--count", 150).stdout.splitlines()[-1]
    new = sum(map(len, daemon.ticks["EURUSD"])) - 100
    assert 0 < new < 100 and last.startswith(f"{new} ticks acknowledged,")
    assert last.endswith(f"{150 - new} ticks skipped: sent before, or older than what was")
    again = run(*given, "--count", 150).stdout.splitlines()[-1]
    assert again.startswith("0 ticks acknowledged,") and "150 ticks skipped" in again


def test_faults_of_a_script_lose_nothing(daemon: Daemon, tmp_path: Path) -> None:
    script = tmp_path / "faults.toml"
    script.write_text('[[fault]]\naction = "disconnect"\nat_record = 900\n', encoding="utf-8")
    result = run(
        "--connect", daemon.server.address, "--random", "EURUSD", "--count", 4000,
        "--script", script, "--stay", 0,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "1 connection lost" in result.stdout
    assert np.array_equal(
        np.concatenate(daemon.ticks["EURUSD"]), made_up_ticks(["EURUSD"], 4000, 1)["EURUSD"]
    )


def test_without_a_daemon_it_says_so() -> None:
    result = run("--connect", "tcp://127.0.0.1:9", "--random", "EURUSD", "--patience", 0.1)
    assert result.exit_code == 2
    assert "no daemon answers at tcp://127.0.0.1:9\nhelp: start" in result.stderr


def test_an_identity_that_is_in_use_is_told(daemon: Daemon) -> None:
    address = daemon.server.address
    with Connection(address, CREDENTIAL) as connection:
        runner = Runner(simulated_terminal({}, identity="desk"), connection)
        stop = Event()
        other = Thread(target=runner.run, args=(stop, lambda: False))
        other.start()
        wait_until(lambda: daemon.server.terminals.connected() == ("desk",))
        found = run(
            "--connect", address, "--random", "EURUSD", "--identity", "desk", "--patience", 1
        )
        stop.set()
        other.join(LONG_S)
    assert found.exit_code == 2 and "no daemon answers" not in found.stderr
    assert "refused this terminal: desk is connected already" in found.stderr
    assert "another terminal's name with --identity" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --ticks FILE or --random SYMBOL"),
        (
            ["--random", "X", "--speed", "0"],
            "'--speed': 0.0 is not in the range x>0",
        ),
        (
            ["--random", "X", "--count", "0"],
            "'--count': 0 is not in the range x>=1",
        ),
        (["--ticks", "none.csv", "--symbol", "X"], "none.csv: no such file"),
    ],
)
def test_bad_arguments_are_named(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and message in result.stderr


def test_a_broken_script_is_named(tmp_path: Path) -> None:
    script = tmp_path / "faults.toml"
    script.write_text('[[fault]]\naction = "explode"\n', encoding="utf-8")
    result = run("--random", "X", "--script", script)
    assert result.exit_code == 2 and str(script) in result.stderr


def test_files_are_played_in_utc(tmp_path: Path) -> None:
    path = tmp_path / "ticks.csv"
    path.write_text("time,symbol,bid,ask\n2024-03-01 10:00:00,EURUSD,1.1,1.2\n", encoding="utf-8")
    ticks = load_ticks([path], None, ServerTime.parse("+02:00"))["EURUSD"]
    assert ticks["time_msc"].tolist() == [1_709_280_000_000]
    assert ticks["time"].tolist() == [1_709_280_000]


def test_files_without_a_tick_are_named(tmp_path: Path) -> None:
    path = tmp_path / "ticks.csv"
    path.write_text("time_msc,symbol,bid,ask\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"ticks\.csv: no tick in it"):
        load_ticks([path], None, None)


def test_points_of_prices() -> None:
    ticks = made_up_ticks(["A", "B"], 50, 1)
    assert points_of(ticks, {"B": 0.25}) == {"A": pytest.approx(1e-5), "B": 0.25}
    few = made_up_ticks(["A"], 1, 1)
    assert points_of(few, {}, made_up=True) == {"A": 1e-5}
    with pytest.raises(BacktestError, match="A: 2 different prices are too few"):
        points_of(few, {})
    with pytest.raises(UserError, match="no ticks of X"):
        points_of(few, {"A": 1.0, "X": 1.0})


def test_a_point_that_two_prices_do_not_show_must_be_given(tmp_path: Path) -> None:
    path = tmp_path / "ticks.csv"
    path.write_text("time_msc,bid,ask\n1709280000000,1.10,1.11\n", encoding="utf-8")
    given = ["--connect", "tcp://127.0.0.1:9", "--ticks", path, "--symbol", "EURUSD"]
    result = run(*given)
    assert result.exit_code == 2 and "--point EURUSD=SIZE" in result.stderr
    result = run(*given, "--point", "EURUSD=0.00001", "--patience", 0.1)
    assert "no daemon answers" in result.stderr
