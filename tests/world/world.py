"""A world: terminals, strangers, a user, and a daemon with a disk and a clock, all from one seed.

Everything runs in one thread. When the daemon waits for its network, the world takes its turn: time
passes, terminals say something, threads of the daemon make a turn, something fails. A thread that
waits for a disk may be interrupted there: before its sync, or before it tells anybody of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event

import msgspec
import numpy as np
from loguru import logger

from cep.daemon import Daemon, DaemonFailedError
from cep.live.config import MAIN, Config, read_config
from cep.live.rules import LiveRules, bound_text
from mt5bridge.orders import (
    ConfirmAccount,
    HaltRules,
    OrderRequest,
    SendOrder,
    TurnHalt,
    TurnRules,
    read_book,
)
from mt5bridge.orders.inbox import Command
from mt5bridge.orders.request import OrderAction
from mt5bridge.records import Records
from mt5bridge.server import Request
from mt5bridge.simulator import Walk, random_walk
from tests.credentials import CREDENTIAL
from tests.durability.recording import Killed
from tests.world.checks import check_end
from tests.world.disk import Trouble, WorldDisk, mounted
from tests.world.divided import DividedTurn
from tests.world.machine import EPOCH_MSC, Clocks, Threads, installed
from tests.world.network import ROOM, Connection, Lines, Wire
from tests.world.plan import Life, plan_of
from tests.world.record import Record
from tests.world.settings import OTHER, WRONG, write_rules, write_world
from tests.world.stopped import Stopped
from tests.world.strangers import Strangers
from tests.world.terminal import Terminal
from tests.world.watch import Watch

_QUIET_TURNS = 12
_VISITS_EVERY = 150
_DAY_MS = 86_400_000
_HEALS_WITHIN = 3_000
_STEPS_MS = (1, 5, 20, 60)


class World:
    """`run` it once."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.chance = random.Random(seed)
        self.plan = plan_of(self.chance)
        self.record, self.clocks = Record(), Clocks()
        self.turn = DividedTurn(random.Random(seed ^ 0x5EED), self.record.counts)
        warming = DividedTurn(
            random.Random(seed ^ 0xC0DE), self.record.counts, "warm-ups", (0.0, 0.0, 0.1, 0.4)
        )
        self.threads = Threads(self.turn, warming, lambda: self.disk.is_dead)
        self.settings = write_world(folder, self.chance)
        self.texts = {path: {path.read_text()} for path in folder.glob("*.cep")}
        self.disk = WorldDisk(folder, record=self.record, chance=self.chance)
        self.disk.pause = self.turn.pause
        self.lines = Lines(self.chance)
        self.market = {
            name: self._ticks(number, self.plan.ticks) for number, name in enumerate("AB")
        }
        self.terminals = [
            self._terminal("publisher", "A", ""),
            self._terminal("both", "B", "B"),
            self._terminal("publisher/trader", "", "A"),
        ]
        self.strangers = Strangers(self.lines, self.chance, self.record)
        self.stopped = Stopped(self.record)
        self.daemon: Daemon | None = None
        self.stop = Event()
        self.watch = Watch(self.record, self._of, self._is_halted)
        self.is_healing = False
        self._turns_left = 0
        self._quiet = 0
        self._life: Life | None = None
        self._commands = 0
        self.running: set[str] = set()
        """The rule files that ran when the last daemon ended."""
        self.asked_in_time: set[int] = set()
        """What the last daemon had to bring to an end: all that was asked before it was told to
        stop. What its rules ask of it behind that is the next one's.
        """
        self.orders: set[str] = set()
        """The client's ids of the orders that were handed over."""
        self.halts: list[bool] = []
        """What the kill switch was turned to."""
        self.rule_halts: dict[str, bool] = {}
        """The same of those of rule files, the last turn of each."""
        self.days: set[int] = set()
        """The days that the daemon's clock has shown."""

    def _ticks(self, number: int, count: int) -> Records:
        ticks = random_walk(
            Walk(count, self.seed + number, EPOCH_MSC + 10_500, step_points=1.5, gap_ms=120)
        )
        ticks["volume"] = 1 + number * 1_000_000 + np.arange(count)  # no two are alike
        return ticks

    def _terminal(self, identity: str, published: str, traded: str) -> Terminal:
        return Terminal(
            identity, self.market, tuple(published), tuple(traded), self.clocks, self.chance
        )

    def _of(self, line: Connection) -> Terminal | None:
        return next((one for one in self.terminals if one.line is line), None)

    # -- lives -----------------------------------------------------------------------------------

    def run(self) -> Record:
        """All lives, the last of which heals everything; then look at what there is."""
        with (
            closing(self.turn),
            closing(self.threads.warming),
            self.stopped.watching(),
            mounted(self.disk),
            installed(self.clocks, self.threads, self.chance),
        ):
            for life in self.plan.lives:
                self._live(life)
                self._between(life)
                if self.record.problems:
                    return self.record
            self._heal()
            if not self.record.problems:
                check_end(self)
        return self.record

    def _live(self, life: Life) -> None:
        self._life, self._turns_left = life, life.turns
        self.disk.begin(life.trouble)
        self.record.note(f"life {life}")
        self._run()

    def _run(self) -> None:
        """A daemon from its start to its end, whatever ends it."""
        if (self.folder / "rules.cep").read_text().endswith(WRONG):
            self._write_rules("rules.cep", 0.0)  # else it would not begin, and say so
        self.stop.clear()
        self.threads.begin()
        wire = Wire(self.lines, self.chance, self._turn, self._between_frames, self.watch.sent_down)
        try:
            self.daemon = Daemon(self._config(), self._config, network=wire.opened)
            self.daemon.run(self.stop)
            self.record.note("ended")
            if self.disk.files and not self._has_trouble():
                self.record.problem(f"left open: {[str(p) for p, _ in self.disk.files.values()]}")
        except Killed:
            self.record.note("killed")
        except DaemonFailedError as problem:
            self.record.note(f"failed: {type(problem).__name__}")
            if not self._has_trouble():
                self.record.problem(f"it failed for nothing: {problem}")
        except Exception as problem:  # noqa: BLE001 -- whatever it is, it is found
            logger.opt(exception=problem).error("the daemon raises")
            self.record.problem(f"it raised {type(problem).__name__}: {problem}")
        if self.disk.is_dead:
            self.threads.finish()
        for failure in self.threads.failures:
            if not isinstance(failure, Killed) and not self._has_trouble():
                self.record.problem(f"a thread raised {type(failure).__name__}: {failure}")
        if self.daemon is not None:
            self._look_at(self.daemon)
        self.disk.die()
        self.threads.finish()
        self.lines.end()
        self.daemon = None

    def _config(self) -> Config:
        return read_config(self.settings)

    def _has_trouble(self) -> bool:
        trouble = self.disk.trouble
        return bool(trouble.fails_at or trouble.full_at or trouble.killed_at) or self.disk.is_dead

    def _look_at(self, daemon: Daemon) -> None:
        """What it counts, now that it has ended."""
        counters = daemon.sink.counters
        if counters["sessions_failed"]:
            self.record.problem(f"sessions failed: {daemon.sink.reasons}")
        if self.is_healing and not self.record.problems:
            self.running = {one.name for one in daemon.files.status() if one.runs}
        self.record.counts.update(counters)
        for text in self.disk.broken_promises():
            self.record.problem(text)

    def _is_halted(self, request: Request) -> bool:
        """Whether a kill switch is on that stops it."""
        assert self.daemon is not None
        return self.daemon.outgoing.desk.guard.halt_of(request) is not None

    def _between(self, life: Life) -> None:
        """The daemon is away."""
        self.record.counts["lives"] += 1
        if life.loses_power and self.disk.is_dead:
            self.record.note("power is lost")
            self.record.counts["power losses"] += 1
            self.disk.lose_power_here()
            book = read_book(self.folder / "state" / "orders.journal")
            self.watch.forget({entry.request.id for entry in book})
        for terminal in self.terminals:
            terminal.drop(self.lines)
            if self.chance.random() < 0.2:
                terminal.begin()
        self.clocks.ms += life.away_ms

    def _heal(self) -> None:
        """Nothing fails any more, and everybody gets what is due."""
        self.is_healing, self._life, self.clocks.wrong_ms = True, None, 0
        self._turns_left, self._quiet = _HEALS_WITHIN, 0
        self.record.note("healing")
        self.disk.begin(Trouble())
        self._run()

    # -- turns -----------------------------------------------------------------------------------

    def kill(self) -> None:
        """The process ends here."""
        self.disk.die()
        raise Killed

    def _must_live(self) -> None:
        """A thread may have been killed."""
        if self.disk.is_dead:
            raise Killed

    def _turn(self) -> None:
        self._must_live()
        self.clocks.ms += self.chance.choice(_STEPS_MS)
        self._turns_left -= 1
        self.days.add((self.clocks.utc_msc + self.clocks.wrong_ms) // _DAY_MS)
        if self.is_healing:
            self._heal_turn()
        else:
            self._trouble_turn()
        for terminal in self.chance.sample(self.terminals, len(self.terminals)):
            if self.is_healing or self.chance.random() < 0.7:
                self._step(terminal)
        self._threads_turn(1.0)

    def _between_frames(self) -> None:
        """Threads do not wait for the server's."""
        self._must_live()
        if not self.is_healing and self.chance.random() < 0.1:
            self._threads_turn(0.5)

    def _threads_turn(self, part: float) -> None:
        acts = (self.threads.commit, self.threads.sync, self.threads.work, self.feed)
        for act in acts:
            odds = 1.0 if self.is_healing else self.plan.pace[act.__name__]
            if self.chance.random() < part * odds:
                act()
                self._must_live()

    def feed(self) -> None:
        """A turn of the thread that reads for programs that read along."""
        assert self.daemon is not None and self.daemon.server is not None
        self.daemon.server.feeds.fill()

    def _step(self, terminal: Terminal) -> None:
        if terminal.line is None and (self.is_healing or self.chance.random() < 0.3):
            terminal.connect(self.lines, CREDENTIAL.user)
            self.watch.greeted(terminal)
        terminal.step(self.lines)

    def _heal_turn(self) -> None:
        assert self.daemon is not None and self.daemon.server is not None
        for line in self.lines.open.values():
            line.room = ROOM
        self._confirm()
        if self.threads.warming.is_under_way and self.chance.random() < 0.1:
            self.chance.choice((self._rules, self._reload))()
        if self._turns_left % _VISITS_EVERY == 0:
            self._visit()
        if self._turns_left <= 0:
            self.record.problem(f"it does not come to rest: {self._unrest()}")
            self.stop.set()
        is_quiet = not self._unrest()
        self._quiet = self._quiet + 1 if is_quiet else 0
        if self._quiet >= _QUIET_TURNS:
            book = self.daemon.outgoing.desk.book
            self.asked_in_time = {entry.request.id for entry in book}
            self.stop.set()

    def _visit(self) -> None:
        """Who owes something to its other account logs in there."""
        assert self.daemon is not None and self.daemon.server is not None
        for terminal in self.terminals:
            session = self.daemon.server.terminals.sessions.get(terminal.identity)
            if session is not None and session.requests and terminal.is_done:
                terminal.drop(self.lines)
                terminal.switch()

    def _unrest(self) -> list[str]:
        """What is not done yet."""
        assert self.daemon is not None and self.daemon.server is not None
        found = [f"{one.identity} has more" for one in self.terminals if not one.is_done]
        for session in self.daemon.server.terminals.sessions.values():
            if session.requests:
                found.append(f"{session.identity} owes {len(session.requests)} results")
            if not session.is_stored:
                found.append(f"{session.identity} is not stored")
        if any((self.folder / "state" / "inbox").glob("*.json")):
            found.append("a command waits")
        if self.threads.has_work:
            found.append("a thread has work")
        found += [f"{one.name} is an older one" for one in self.daemon.files if _is_older(one)]
        return found

    def _trouble_turn(self) -> None:
        assert self._life is not None
        if self._turns_left <= 0:
            if self._life.is_killed:
                self.record.note("killed in a turn")
                self.kill()
            self.stop.set()
        for name, odds in self.plan.habits.items():
            if self.chance.random() < odds:
                self.record.note(name)
                self.record.counts[name] += 1
                act: Callable[[], None] = getattr(self, f"_{name}")
                act()

    # -- what may happen ---------------------------------------------------------------------------

    def _hang_up(self) -> None:
        if self.lines.open:
            self.lines.hang_up(self.chance.choice(list(self.lines.open.values())))

    def _begin(self) -> None:
        terminal = self.chance.choice(self.terminals)
        terminal.drop(self.lines)
        terminal.begin()

    def _switch(self) -> None:
        terminal = self.chance.choice([one for one in self.terminals if one.trades])
        terminal.drop(self.lines)
        terminal.switch()

    def _confirm(self) -> None:
        assert self.daemon is not None and self.daemon.server is not None
        for identity, account in list(self.daemon.server.terminals.unconfirmed.items()):
            terminal = next((one for one in self.terminals if one.identity == identity), None)
            if terminal is not None:
                terminal.drop(self.lines)
                self.watch.confirmed.add((identity, account))
                self._command(ConfirmAccount(identity, account))

    def _halt(self) -> None:
        self.halts.append(self.chance.random() < 0.4)
        self._command(TurnHalt(self.halts[-1], "as it pleases"))

    def _halt_rules(self) -> None:
        name = self.chance.choice((MAIN, OTHER))
        self.rule_halts[name] = self.chance.random() < 0.5
        self._command(HaltRules(name, self.rule_halts[name], "as it pleases"))

    def _order(self) -> None:
        kind: OrderAction = self.chance.choice(("market", "close"))
        order = OrderRequest(
            client_id=f"user {self._commands if self.chance.random() < 0.9 else 1}",
            kind=kind,
            symbol=self.chance.choice("AB"),
            side=self.chance.choice(("buy", "sell")) if kind == "market" else "",
            lots=self.chance.choice((0.1, 0.25, 0.5)) if kind == "market" else 0.0,
        )
        self.orders.add(order.client_id)
        self._command(SendOrder(order, self.clocks.utc_msc))

    def _rules(self) -> None:
        self._write_rules(self.chance.choice(("rules.cep", "other.cep")), 0.15)

    def _write_rules(self, name: str, wrong: float) -> None:
        self.record.note(write_rules(self.folder, name, self.chance, self.clocks.ms, wrong))
        self.texts[self.folder / name].add((self.folder / name).read_text())

    def _turn_rules(self) -> None:
        assert self.daemon is not None
        name = OTHER if self.chance.random() < 0.7 else MAIN
        runs = any(one.runs for one in self.daemon.files.status() if one.name == name)
        likely = self.chance.random() < 0.85
        self._command(TurnRules(name, "stop" if runs == likely else "load"))

    def _reload(self) -> None:
        assert self.daemon is not None
        self.daemon.reload()

    def _jump(self) -> None:
        self.clocks.wrong_ms += self.chance.choice((-3_600_000, -5_000, 800, 60_000, 3_600_000))

    def _sleep(self) -> None:
        self.clocks.ms += self.chance.choice((3_000, 61_000))

    def _crowd(self) -> None:
        for line in self.lines.open.values():
            line.room = self.chance.choice((0, 1, 3, ROOM))

    def _stranger(self) -> None:
        self.strangers.speak()

    def _command(self, command: Command) -> None:
        """Another process hands a command over."""
        self._commands += 1
        inbox = self.folder / "state" / "inbox"
        inbox.mkdir(mode=0o700, exist_ok=True)
        path = inbox / f"{self.clocks.utc_msc:015d}-{self._commands:08x}.json"
        path.write_bytes(msgspec.json.encode(command))


def _is_older(rules: LiveRules) -> bool:
    """Whether others run than those of the file, whatever it went through meanwhile."""
    text = rules.config.rules.file.read_text(encoding="utf-8")
    if rules.pipeline.is_stopped or text.endswith(WRONG):
        return False
    return rules.text != bound_text(rules.config, text)
