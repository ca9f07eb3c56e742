"""`daemon --paper`: the one broker in the daemon, whose deals the rules see, crashes included."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Any
from zlib import crc32

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from cep.cli import main
from cep.daemon import Daemon
from cep.live.config import ConfigError, OnPaper, for_paper, read_config
from cep.live.paper import PAPER, Paper, market_on
from cep.live.paper_log import PaperError, PaperLog
from mt5bridge.orders import order_id, read_book
from mt5bridge.records import Records
from mt5bridge.server import Batch, Outcome
from mt5bridge.spool import Group, RecordKind, Spool
from mt5bridge.validate import ALL_GOOD
from mt5bridge.wire import Side, Signal, SignalStatus, Symbol
from tests.live.service import (
    Service,
    address,
    play,
    process,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)
from tests.live.test_orders import ended, put

SYMBOL = Symbol(1, 5, 3, 1e-5, 1e-5, 100_000.0, 0.01, 100.0, 0.01, "A")
FAR_MSC = 4_000_000_000_000
PLAIN = OnPaper()


def settings_of(folder: Path) -> Path:
    return write_settings(folder, {"signals": {"send": False}, "rules": {"numba": False}})


class PaperService(Service):
    """A daemon that trades on paper."""

    def __init__(self, settings: Path) -> None:
        super().__init__(settings)
        self.daemon = Daemon(for_paper(read_config(settings)), is_paper=True)

    @property
    def paper(self) -> Paper:
        assert self.daemon.paper is not None
        return self.daemon.paper

    def __enter__(self) -> PaperService:
        super().__enter__()
        return self


def deals_of(folder: Path) -> Records:
    spool = Spool(folder / "spool")
    parts = [g.records for g in spool.read() if g.kind is RecordKind.DEALS and g.source == PAPER]
    return np.concatenate(parts)


def test_signals_are_executed_in_the_daemon_and_rules_see_the_deals(tmp_path: Path) -> None:
    """No terminal trades; the deals are records of the spool, and `Filled` counts them."""
    settings = settings_of(tmp_path)
    first, found = terminal(walks("AB", 1_000)), terminal(walks("AB", 3_000))
    with PaperService(settings) as service:
        play(first, address(settings))
        put(settings, "mine")
        wait_until(lambda: order_id("mine") in service.paper._ids)  # and so are the signals before
        play(found, address(settings))
        wait_until(ended(settings, "mine"))
        wait_until(lambda: (status := status_of(settings)) is not None and status.paper is not None)
        result = CliRunner().invoke(main, ["status", "--config", str(settings)])
        assert "paper trading, no terminal trades: balance" in result.stdout
    assert not found.signals and not found.orders and not len(found.account.deals)
    deals = deals_of(tmp_path)
    assert len(deals) > 5 and deals["ticket"].tolist() == sorted(deals["ticket"].tolist())
    journal = (tmp_path / "state" / "events.jsonl").read_text(encoding="utf-8")
    assert journal.count('"stream":"Filled"') == int((deals["magic"] == 77).sum()) > 5
    book = read_book(tmp_path / "state" / "orders.journal")
    assert {name for entry in book for name in entry.fates} == {PAPER}


@pytest.mark.parametrize("way", ["in order", "killed"])
def test_a_restart_has_the_same_account(tmp_path: Path, way: str) -> None:
    settings, log = settings_of(tmp_path), tmp_path / "log"
    ticks = walks("AB", 3_000)
    for part in (1_000, 2_000, 3_000):
        with process(settings, log, "--paper") as daemon:
            play(terminal({name: array[:part] for name, array in ticks.items()}), address(settings))
            if way == "in order":
                daemon.terminate()
                assert daemon.wait() == 0
    with PaperService(settings) as service:
        account = service.paper.account
        wait_until(lambda: len(account.deals) == service.paper._stored)
        expected = account.deals.copy()
    assert len(expected) > 5
    assert deals_of(tmp_path).tobytes() == expected.tobytes()


@contextmanager
def opened(folder: Path, wanted: OnPaper = PLAIN) -> Iterator[tuple[Spool, Paper, list[Outcome]]]:
    """A paper account on a spool, made again from what is on disk."""
    logs: list[PaperLog] = []
    spool = Spool(folder / "spool", before_write=lambda: all(map(synced, logs)))
    spool.recover()

    def store(batch: Batch) -> bool:
        return spool.append(grouped(spool, batch, RecordKind.DEALS))

    told: list[Outcome] = []
    with closing(spool):
        paper = Paper(folder / "state", spool, market_on(wanted))
        with closing(paper.log):
            logs.append(paper.log)
            paper.recover(spool.read())
            paper.store, paper.tell, paper.is_open = store, told.append, True
            yield spool, paper, told


def synced(log: PaperLog) -> bool:
    """As the daemon has it: what was asked is on disk before later records."""
    log.sync()
    return True


def stored_ticks(spool: Spool) -> int:
    groups = (group for group in spool.read() if group.kind is RecordKind.TICKS)
    return sum(len(group.records) for group in groups)


def grouped(spool: Spool, batch: Batch, kind: RecordKind) -> Group:
    return Group(
        ingest=spool.next_ingest, kind=kind, source=batch.identity, stream=batch.stream,
        sequence=batch.first, records=batch.records, utc_offset_ms=batch.utc_offset_ms,
        quality=batch.quality,
    )  # fmt: skip


TICKS = walks("A", 60)["A"]


def ticks(spool: Spool, paper: Paper, first: int, count: int) -> None:
    """Some more ticks, as the daemon takes them."""
    batch = Batch("t", ("ticks", "A"), first + 1, TICKS[first : first + count], ALL_GOOD, 0, 0)
    ingest = spool.next_ingest
    assert spool.append(grouped(spool, batch, RecordKind.TICKS))
    paper.begin("A", ingest, {"A": SYMBOL})
    paper.take(batch)
    assert paper.store_deals()


def signal(identifier: int, side: Side = Side.BUY) -> Signal:
    return Signal(identifier, 1, FAR_MSC, 77, 0.1, 0.0, 0.0, side, "Go", "A")


def test_a_request_is_executed_at_the_next_tick_and_told_when_that_is_on_disk(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as (spool, paper, told):
        ticks(spool, paper, 0, 10)
        assert paper.traders("A") == (PAPER,) == paper.traders("") and not paper.traders("B")
        paper.send_now(PAPER, signal(7))
        paper.look()
        assert not len(paper.account.deals) and not told
        ticks(spool, paper, 10, 10)
        paper.look()
        assert not told  # the deal is in the spool, but not on disk
        spool.commit()
        paper.look()
    [deal] = paper.account.deals
    assert (deal["time_msc"], deal["price"]) == (TICKS[10]["time_msc"], TICKS[10]["ask"])
    assert [(one.result.id, one.result.status) for one in told] == [(7, SignalStatus.EXECUTED)]


@pytest.mark.parametrize("crash", range(6))
def test_whatever_a_crash_undoes_the_account_is_what_the_disk_says(
    tmp_path: Path, crash: int
) -> None:
    """Ticks that are lost come again, in other batches; every request is executed once."""
    folder = tmp_path / "0"
    for step in range(3):
        with opened(folder) as (spool, paper, _told):
            done = stored_ticks(spool)
            for nth in range(3):
                ticks(spool, paper, done, 3 + nth)
                done += 3 + nth
                paper.send_now(PAPER, signal(10 * step + nth + 1, (Side.BUY, Side.SELL)[nth % 2]))
                if nth == (crash + step) % 4:
                    spool.commit()
            folder = tmp_path / str(step + 1)  # what the disk has now is what a crash leaves
            for name in ("spool", "state"):
                shutil.copytree(tmp_path / str(step) / name, folder / name)
    with opened(folder) as (spool, paper, told):
        ticks(spool, paper, stored_ticks(spool), 5)
        spool.commit()
        wanted = [1, 2, 3, 11, 12, 13, 21, 22, 23]
        for identifier in wanted:  # what a crash has undone, the rules find again
            paper.send_now(PAPER, signal(identifier))
        ticks(spool, paper, stored_ticks(spool), 5)
        paper.look()
        spool.commit()
        paper.look()
        account = paper.account.deals.copy()
    assert {one.result.id for one in told} == set(wanted)
    assert sorted(int(comment[:16], 16) for comment in account["comment"]) == wanted
    with opened(folder) as (_spool, paper, _told):
        assert paper.account.deals.tobytes() == account.tobytes()


def test_paper_trading_and_trading_share_no_folders(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with PaperService(settings) as service:
        play(terminal(walks("AB", 1_000)), address(settings))
        wait_until(lambda: len(service.paper._ids) > 0)
        play(terminal(walks("AB", 1_500)), address(settings))
        wait_until(lambda: service.paper._stored > 0)
    with pytest.raises(PaperError, match="of paper trading: start with --paper"):
        run_once(Daemon(read_config(settings)))


def test_what_a_terminal_has_traded_is_no_paper(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"numba": False}})
    with Service(settings):
        play(terminal(walks("AB", 1_000)), address(settings))
    with pytest.raises(PaperError, match="has traded here; give paper trading folders"):
        run_once(Daemon(for_paper(read_config(settings)), is_paper=True))


def run_once(daemon: Daemon) -> None:
    stop = Event()
    stop.set()
    daemon.run(stop)


def test_a_damaged_log_is_named_and_a_torn_one_is_cut(tmp_path: Path) -> None:
    with opened(tmp_path) as (spool, paper, _told):
        ticks(spool, paper, 0, 5)
        paper.send_now(PAPER, signal(1))
        path = paper.log.path
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:30])
    log = PaperLog(path, 99)
    assert len(log.entries) == 3
    log.close()
    assert path.read_bytes() == whole
    path.write_bytes(whole.replace(b"Go", b"No"))
    with pytest.raises(PaperError, match=r"\.paper:3: damaged"):
        PaperLog(path, 99)


def test_a_log_that_is_gone_is_missed(tmp_path: Path) -> None:
    with opened(tmp_path) as (spool, paper, _told):
        ticks(spool, paper, 0, 5)
        paper.send_now(PAPER, signal(1))
        ticks(spool, paper, 5, 5)
        path = paper.log.path
    path.unlink()
    with pytest.raises(PaperError, match="disagree"), opened(tmp_path):
        pass


def test_queries_on_a_database_are_refused(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"database": {"url": "sqlite://"}})
    with pytest.raises(ConfigError, match="--paper: leave out"):
        for_paper(read_config(settings))


ACCOUNT = """
[account]
balance = 500.0
[symbols.A]
contract_size = 1000
commission_per_lot = 7.0
"""


def file_of(folder: Path, text: str = ACCOUNT) -> Path:
    path = folder / "account.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_account_of_a_file_trades_at_its_costs(tmp_path: Path) -> None:
    """A lot is that of the file, a point that of the terminal, which the file leaves out."""
    wanted = OnPaper(account=file_of(tmp_path), slippage_points=2.0)
    with opened(tmp_path, wanted) as (spool, paper, _told):
        assert paper.funds().account.balance == 500.0
        ticks(spool, paper, 0, 5)
        paper.send_now(PAPER, signal(1))
        paper.send_now(PAPER, signal(2, Side.SELL))
        ticks(spool, paper, 5, 5)
        bought, sold = paper.account.deals
        funds = paper.funds().account
    assert bought["price"] == pytest.approx(TICKS[5]["ask"] + 2e-5)
    assert bought["commission"] == sold["commission"] == -0.7
    loss = round(100 * (sold["price"] - bought["price"]), 2)
    assert funds.balance == pytest.approx(500.0 - 1.4 + loss)


def test_what_cannot_be_converted_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Also behind a restart, which asks the log again."""
    text = '[account]\ncurrency = "USD"\n[symbols.A]\nprofit_currency = "CHF"\n'
    wanted = OnPaper(account=file_of(tmp_path, text))
    with opened(tmp_path, wanted) as (spool, paper, _told):
        ticks(spool, paper, 0, 5)
        paper.send_now(PAPER, signal(1))
        ticks(spool, paper, 5, 5)
        [refused] = paper.account.executed[1]
    assert refused.status is SignalStatus.REJECTED and "no ticks of CHFUSD, USDCHF" in refused.text
    with opened(tmp_path, wanted) as (spool, paper, _told):
        assert paper.account.executed[1] == [refused] and not len(paper.account.deals)


@pytest.mark.parametrize("hedging", [False, True])
def test_a_hedging_account_has_a_position_of_each_signal(tmp_path: Path, hedging: bool) -> None:
    with opened(tmp_path, OnPaper(hedging=hedging)) as (spool, paper, _told):
        ticks(spool, paper, 0, 5)
        paper.send_now(PAPER, signal(1))
        paper.send_now(PAPER, signal(2))
        ticks(spool, paper, 5, 5)
        assert paper.funds().account.positions == 1 + hedging


def test_an_order_is_executed_as_late_as_the_latency_says(tmp_path: Path) -> None:
    """Also behind a restart: when it may be executed stands in the log."""
    times = TICKS["time_msc"]
    wanted = OnPaper(latency_ms=int(times[20] - times[9]))
    late = Signal(1, int(times[9]), FAR_MSC, 77, 0.1, 0.0, 0.0, Side.BUY, "Go", "A")
    with opened(tmp_path, wanted) as (spool, paper, _told):
        ticks(spool, paper, 0, 10)
        paper.send_now(PAPER, late)
        ticks(spool, paper, 10, 5)
        assert not len(paper.account.deals)
    with opened(tmp_path, wanted) as (spool, paper, _told):
        ticks(spool, paper, 15, 20)
        [deal] = paper.account.deals
    assert (deal["time_msc"], deal["price"]) == (times[20], TICKS[20]["ask"])


def test_an_account_stays_what_it_was_begun_with(tmp_path: Path) -> None:
    """Nothing has come of the first one, so that another may begin; from then on it holds."""
    with opened(tmp_path, OnPaper(hedging=True)):
        pass
    wanted = OnPaper(account=file_of(tmp_path))
    with opened(tmp_path, wanted) as (spool, paper, _told):
        ticks(spool, paper, 0, 5)
    file_of(tmp_path, ACCOUNT + "[risk]\nlots_per_order = 1.0\n")
    with opened(tmp_path, wanted):  # how much is risked is no part of it
        pass
    file_of(tmp_path, ACCOUNT.replace("7.0", "8.0"))
    said = r"symbols\.A\.commission_per_lot 8\.0, which was 7\.0; make it as it was"
    with pytest.raises(PaperError, match=said), opened(tmp_path, wanted):
        pass
    with (
        pytest.raises(PaperError, match="latency_ms 5, which was 0"),
        opened(tmp_path, OnPaper(latency_ms=5)),
    ):
        pass


def test_a_file_that_comes_later_is_compared_by_what_it_says(tmp_path: Path) -> None:
    with opened(tmp_path) as (spool, paper, _told):
        ticks(spool, paper, 0, 5)
    wanted = OnPaper(account=file_of(tmp_path, "[symbols.A]\ncommission_per_lot = 7.0\n"))
    with pytest.raises(PaperError) as caught, opened(tmp_path, wanted):
        pass
    said = "begun otherwise: account.symbols.A.commission_per_lot 7.0, which was left out; make it"
    assert said in str(caught.value)


def traded(paper: Paper) -> Any:
    """What the broker knows of the one symbol."""
    [known] = paper.account._broker.state.symbols
    return known


def test_an_account_of_an_earlier_release_goes_on(tmp_path: Path) -> None:
    """Its log has keys that a file left out as what they were taken for then, and keeps that."""
    wanted = OnPaper(account=file_of(tmp_path, "[symbols.A]\ncommission_per_lot = 7.0\n"))
    with opened(tmp_path, wanted) as (spool, paper, _told):
        ticks(spool, paper, 0, 5)
        path = paper.log.path
    first, *others = path.read_bytes().splitlines(keepends=True)
    entry = msgspec.json.decode(first[9:])
    entry["account"]["account"]["balance"] = 10_000.0
    entry["account"]["symbols"]["A"] |= {"contract_size": 1.0, "volume_min": 0.0}
    text = msgspec.json.encode(entry)
    asked = b'{"type":"halt","after":0,"halted":false,"reason":""}'
    lines = [b"%08x %s\n" % (crc32(one), one) for one in (text, asked)]
    path.write_bytes(b"".join([*lines, *others]))
    with opened(tmp_path, wanted) as (spool, paper, _told):
        paper.send_now(PAPER, signal(1))
        ticks(spool, paper, 5, 5)
        assert traded(paper)["contract_size"] == 1.0
    file_of(tmp_path, "[symbols.A]\ncommission_per_lot = 7.0\ncontract_size = 5\n")
    with (
        pytest.raises(PaperError, match=r"contract_size 5\.0, which was 1\.0"),
        opened(tmp_path, wanted),
    ):
        pass


def test_what_a_file_leaves_out_is_as_the_terminal_told_it(tmp_path: Path) -> None:
    text = "[symbols.A]\ncommission_per_lot = 7.0\nvolume_min = 0.0\n"
    with opened(tmp_path, OnPaper(account=file_of(tmp_path, text))) as (spool, paper, _told):
        ticks(spool, paper, 0, 5)
        paper.send_now(PAPER, signal(1))
        ticks(spool, paper, 5, 5)
        known = traded(paper)
    assert (known["commission_per_lot"], known["volume_min"]) == (7.0, 0.0)
    assert (known["contract_size"], known["volume_max"]) == (SYMBOL.contract_size, 100.0)


def test_the_files_limits_are_those_of_the_guard(tmp_path: Path) -> None:
    file_of(tmp_path, "[risk]\nlots_per_order = 0.5")
    path = write_settings(tmp_path, {"paper": {"account": "account.toml", "latency_ms": 3}})
    config = for_paper(read_config(path), {"latency_ms": 4})
    assert config.risk.lots_per_order == 0.5 and config.paper.latency_ms == 4
    path = write_settings(
        tmp_path, {"paper": {"account": "account.toml"}, "risk": {"lots_per_day": 1.0}}
    )
    with pytest.raises(ConfigError, match=r"account\.toml has \[risk\], and so have the settings"):
        for_paper(read_config(path))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--latency", "5", "--hedging"], "--hedging, --latency: what is simulated is a paper"),
        (["--paper", "--check", "--account", "account.toml"], "`account.balance`: expected"),
        (["--paper", "--check", "--account", "none.toml"], "none.toml"),
    ],
)
def test_mistakes_of_the_account_are_told_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    settings = settings_of(tmp_path)
    file_of(tmp_path, "[account]\nbalance = 'much'")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["daemon", "--config", str(settings), *options])
    assert result.exit_code == 2 and said in result.output
