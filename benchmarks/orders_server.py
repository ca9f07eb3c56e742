"""The daemon's half of the crash proof: a real server and order desk that die at a given effect.

An effect is a record added to the journal, a sync, a frame handed to the terminal, a result that
arrived. With `die_at` = n the process ends without any goodbye right behind its n-th effect, with 0
never. When everything asked has its final result the file `done` is written into the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loguru import logger

from benchmarks.orders_plan import SYMBOL, meant_for, requests
from mt5bridge.clock import now
from mt5bridge.orders import Desk, Limits, OrderJournal
from mt5bridge.orders.records import Record
from mt5bridge.server import Outcome, Request, Server, Settings, Sink
from mt5bridge.wire import Signal
from tests.credentials import PASSWORDS

DONE, JOURNAL, BEGUN = "done", "orders.jsonl", "begun"
KILLED = 137
_OPEN_MAX = 12
_POLL_MS = 5
_ASKED_A_POLL = 2


class Life:
    """Counts effects and ends this process at one of them."""

    def __init__(self, die_at: int) -> None:
        self._left = die_at

    def effect(self) -> None:
        """Something that is visible outside, or lost with this process, has happened."""
        self._left -= 1
        if self._left == 0:
            os._exit(KILLED)


class MortalJournal(OrderJournal):
    """A journal that may die before and after each step."""

    def __init__(self, path: Path, life: Life) -> None:
        super().__init__(path)
        self._life = life

    def add(self, *records: Record) -> int:
        number = super().add(*records)
        self._life.effect()
        return number

    def sync(self) -> None:
        if self.has_more:
            super().sync()
            self._life.effect()


class MortalServer(Server):
    """A server that may die behind each frame it has sent."""

    life: Life

    def send_now(self, identity: str, request: Request) -> str:
        refusal = super().send_now(identity, request)
        self.life.effect()
        return refusal

    def ask(self, identity: str, ids: Iterable[int], account: str = "") -> None:
        super().ask(identity, ids, account)
        self.life.effect()


@dataclass(frozen=True)
class Work:
    """`count` requests of a seed for traders that come to a port."""

    port: int
    seed: int
    count: int
    traders: tuple[str, ...]


def serve(folder: Path, work: Work, die_at: int) -> None:
    """Ask for the requests and serve until killed."""
    logger.remove()
    life = Life(die_at)
    desk = Desk(MortalJournal(folder / JOURNAL, life), Limits())

    def on_outcome(outcome: Outcome) -> None:
        life.effect()
        desk.on_outcome(outcome, now().utc_msc)

    settings = Settings(
        bind=f"tcp://127.0.0.1:{work.port}",
        heartbeat_ms=100,
        timeout_ms=1_000,
        resend_after_ms=50,
        passwords=PASSWORDS,
    )
    sink = Sink(on_outcome=on_outcome, on_trader=desk.on_trader, on_funds=desk.on_funds)
    with MortalServer(settings, sink, traders=desk.traders) as server:
        server.life = life
        desk.open(server, now().utc_msc, now().utc_msc)
        wanted = [
            (request, meant_for(request, work.traders))
            for request in requests(work.seed, work.count, _begun(folder))
        ]
        _ask_all(server, desk, wanted, folder)


def _begun(folder: Path) -> int:
    """When the first life began, so that validities are the same in all lives."""
    path = folder / BEGUN
    if not path.exists():
        path.write_text(str(now().utc_msc))
    return int(path.read_text())


def _ask_all(
    server: Server, desk: Desk, wanted: Sequence[tuple[Request, str]], folder: Path
) -> None:
    at = 0
    while True:
        server.poll_once(_POLL_MS)
        asked = 0
        waiting = sum(entry.is_open for entry in desk.book)
        while at < len(wanted) and asked < _ASKED_A_POLL and waiting < _OPEN_MAX:
            request, trader = wanted[at]
            if not server.traders(SYMBOL, trader):
                break  # it has never been here
            is_new = desk.book.get(request.id) is None
            desk.ask(request, now().utc_msc, trader, durable=not isinstance(request, Signal))
            at += 1
            asked += is_new
            waiting += is_new
        desk.flush()
        if at == len(wanted) and not any(entry.is_open for entry in desk.book):
            (folder / DONE).touch()
