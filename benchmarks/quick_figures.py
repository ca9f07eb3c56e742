"""The figures of `benchmarks.quick`: each prepares something, then says its rate again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchmarks import n3, n10, n11, s1, w1
from benchmarks import spool as spool_rate
from benchmarks.compile_time import child
from benchmarks.frames import Frames
from benchmarks.jepc_engines import engine as make
from benchmarks.jepc_measure import CHUNK, FILL_MS, rates
from benchmarks.live_daemon import daemon
from benchmarks.live_market import Market, planned
from benchmarks.live_terminal import Terminal, paced
from benchmarks.measure import seconds
from benchmarks.paper import DENSE, Load
from benchmarks.side_by_side import batches, loaded, push
from benchmarks.workloads import WORKLOADS, Workload
from cep.archive import Archive, ingest_spool
from cep.backtest.selection import select
from cep.backtest.sequential import sequential
from cep.engine.jit import cache_root
from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.plan.nodes import Repeat

ROUNDS = 5
TICKS = 600_000
W1_RATE, W1_S = 10_000, 2.0
QUERIES = 80
URLS = {"sqlite": "sqlite://", "duckdb": "duckdb://"}
Rate = Callable[[], float]
Prepare = Callable[[ExitStack, Path], Rate]


@dataclass(frozen=True)
class Figure:
    """Its rate is compared with the calibration `beside`; for a latency it is 1 / seconds."""

    name: str
    beside: str
    prepare: Prepare


def columns(known: Workload) -> Prepare:
    """Events a second, as columns in batches of 10,000."""

    def prepare(_stack: ExitStack, _folder: Path) -> Rate:
        run = loaded(known).start(mode="sorted")
        rows = known.make(known.warm_up + ROUNDS * known.events)
        push(run, batches(rows, 0, known.warm_up))
        turns = count()

        def rate() -> float:
            start = known.warm_up + next(turns) * known.events
            ready = batches(rows, start, start + known.events)
            return known.events / seconds(lambda: push(run, ready))

        return rate

    return prepare


def single_rows(_stack: ExitStack, _folder: Path) -> Rate:
    """Rows a second of N3, a call for each."""
    rules = Compiled(compile_rules(n3.RULES, "n3.cep"), outputs=["Turn"])
    ticks = n3.Ticks.make(n3.WARM_UP + n3.EVENTS[1])
    return lambda: n3.EVENTS[1] / n3.measure_rows(rules, ticks)[0]


def many_complex(_stack: ExitStack, _folder: Path) -> Rate:
    """Simple events a second with 1,000 complex ones over 1,000 numbers."""
    load = n10.Load(1_000, 0, Repeat.REJECT, 100)
    n10.measure(load)
    return lambda: n10.EVENTS / n10.measure(load)[1]


def long_patterns(_stack: ExitStack, _folder: Path) -> Rate:
    """Events a second in a pattern of 24 kinds that never ends."""
    rules = Compiled(compile_rules(n11.typed(24), "n11.cep"))
    events = 300_000
    ways = [rules.start(mode="sorted") for _ in range(ROUNDS)]
    made = iter([(run, n11.batches(run, 23, events, 0)) for run in ways])

    def rate() -> float:
        run, batches = next(made)
        run.feed(batches[0])
        return (events - n11.BATCH) / seconds(lambda: [run.feed(rows) for rows in batches[1:]])

    return rate


def start_up(_stack: ExitStack, _folder: Path) -> Rate:
    """From the text of compiled rules to the first answer."""
    child(10, 0, cache_root())
    return lambda: 1 / child(10, 0, cache_root())


def on_database(engine: str, kind: str) -> Prepare:
    """Events a second of the article's 80 queries in a database's memory."""

    def prepare(stack: ExitStack, _folder: Path) -> Rate:
        load = Load(kind, QUERIES, DENSE)
        made = make(engine, load, URLS, None, durable=False)
        stack.callback(made.close)
        filled = FILL_MS * len(load.schemas)
        made.fill(next(load.batches(0, filled, filled)))
        found = rates(made, load, filled, CHUNK, ROUNDS)
        return lambda: next(found)[0]

    return prepare


def frames(together: int) -> Prepare:
    """Frames of one tick a second through sessions, spool and rules, so many waiting each time."""

    def prepare(stack: ExitStack, folder: Path) -> Rate:
        return stack.enter_context(Frames(folder, together, ROUNDS + 1)).rate

    return prepare


def spooled(_stack: ExitStack, folder: Path) -> Rate:
    """Ticks a second to the disk, in groups of 500."""
    turns = count()
    return lambda: spool_rate.run(folder / str(next(turns)), 500, 2 * TICKS)[0]


def archived(_stack: ExitStack, folder: Path) -> Rate:
    """Ticks a second from a spool into an archive."""
    for turn in range(ROUNDS):
        spool_rate.run(folder / f"spool-{turn}", 500, TICKS)
    turns = count()

    def rate() -> float:
        turn = next(turns)
        archive = Archive(folder / f"archive-{turn}")
        return TICKS / seconds(lambda: ingest_spool(folder / f"spool-{turn}", archive))

    return rate


def backtested(_stack: ExitStack, folder: Path) -> Rate:
    """Ticks a second of S1 in one process."""
    archive = s1.made(folder / "archive", TICKS)
    plan = compile_rules(s1.RULES, "s1.cep")
    rules, selection = Compiled(plan, outputs=s1.OUTPUTS), select(archive, plan)

    def work() -> None:
        for _ in sequential(rules, selection):
            pass

    work()
    return lambda: TICKS / seconds(work)


def wire_to_signal(place: int) -> Prepare:
    """1 / seconds from a tick's moment to its signal at 10,000 ticks/s: a percentile of W1."""

    def prepare(stack: ExitStack, folder: Path) -> Rate:
        terminal = Terminal(stack.enter_context(daemon(folder)))
        stack.callback(terminal.close)
        market = Market(w1.MARKED[W1_RATE])
        terminal.greet()
        paced(terminal, planned(market, W1_RATE, 1.0))

        def rate() -> float:
            plan = planned(market, W1_RATE, W1_S)
            terminal.drain()
            terminal.latencies_ns.clear()
            paced(terminal, plan)
            terminal.drain()
            return 1e6 / w1.percentiles(terminal.latencies_ns)[place]

        return rate

    return prepare


FIGURES = (
    *(Figure(known.name, "machine", columns(known)) for known in WORKLOADS),
    Figure("N3 row by row", "python", single_rows),
    Figure("N10 1,000 complex events", "machine", many_complex),
    Figure("N11 24 steps", "machine", long_patterns),
    Figure("start of compiled rules", "python", start_up),
    Figure("sqlite filter", "machine", on_database("sqlite", "filter")),
    Figure("sqlite aggregation", "machine", on_database("sqlite", "aggregation")),
    Figure("sqlite correlation", "machine", on_database("sqlite", "correlation")),
    Figure("duckdb aggregation", "machine", on_database("duckdb", "aggregation")),
    Figure("duckdb correlation", "machine", on_database("duckdb", "correlation")),
    Figure("frames one by one", "python", frames(1)),
    Figure("frames that wait", "python", frames(64)),
    Figure("spool", "disk", spooled),
    Figure("archive", "machine", archived),
    Figure("backtest S1", "machine", backtested),
    Figure("W1 p50 at 10,000/s", "echo", wire_to_signal(0)),
    Figure("W1 p99 at 10,000/s", "echo", wire_to_signal(1)),
)
