"""`mt5cep backtest`: rules over an archive, fills for their signals, and a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cep.cli.backtest_options import FILLS, RECORDS, options_of
from cep.cli.check import warn
from cep.cli.ending import ended_by_signals
from cep.cli.errors import extra
from cep.cli.functions import FUNCTIONS
from cep.cli.masters import AUTO, CONF, NO_SPARK, given_settings, is_on_spark, need_place
from cep.cli.output import need_apart, output
from cep.cli.parameters import PARAMETERS
from cep.cli.paths import FILE, FOLDER
from cep.cli.progress import advancing, progress
from cep.cli.rules import RULES, read_rules
from cep.cli.summary import note, tell_dropped
from cep.cli.text import counted, right_aligned, say
from cep.report.tables import time_text
from mt5bridge.clock import monotonic_ns
from mt5bridge.escapes import one_line

if TYPE_CHECKING:
    from cep.backtest.run_folder import RunFolder
    from cep.backtest.selection import Selection
    from cep.backtest.work import Finished, Taker, Work
    from cep.engine.rows import Rows


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asks for besides the backtest: where it runs, and what it writes."""

    master: str
    jobs: int | None
    kept: Path | None
    settings: dict[str, str]
    work: Path | None
    out: Path | None
    run: Path | None
    report: Path | None

    @property
    def is_on_spark(self) -> bool:
        """Whether a master was named."""
        return is_on_spark(self.master)


@click.command()
@click.argument("rules", type=RULES)
@FUNCTIONS
@PARAMETERS
@RECORDS
@click.option(
    "--master", default=AUTO, show_default=True,
    help="Spark master, such as local[*]; none: in this process; auto: in as many processes of "
    "this machine as is faster.",
)  # fmt: skip
@CONF
@click.option(
    "--jobs", type=click.IntRange(min=1),
    help="How many processes of this machine run the rules, without Spark (default: as --master "
    "says).",
)  # fmt: skip
@click.option(
    "--kept", type=FOLDER,
    help="Keep what parts of time came to in this folder: the next run works at what is new.",
)  # fmt: skip
@click.option(
    "--work", type=FOLDER,
    help="Folder for what tasks find, shared by all machines (default: one of this machine).",
)  # fmt: skip
@click.option("--out", type=FILE, help="Write output rows here, as JSON lines like `replay`.")
@click.option(
    "--run", "run_folder", type=FOLDER,
    help="Write all about the run into a new folder: rows, orders, deals, trades, equity, report.",
)  # fmt: skip
@click.option("--report", type=FILE, help="Write an HTML page with charts, trades and results.")
@FILLS
def command(
    rules: Path,
    parameters: dict[str, str],
    folder: Path | str,
    master: str,
    jobs: int | None,
    kept: Path | None,
    settings: tuple[str, ...],
    work: Path | None,
    out: Path | None,
    run_folder: Path | None,
    report: Path | None,
    **given: Any,
) -> None:
    """Run RULES over an archive, fill their signals, and show what came of it.

    In one process of this machine or several, whichever is faster, or on Spark, as --master says.
    """
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from cep.backtest.asked import asked
    from cep.backtest.run_folder import RunFolder
    from cep.backtest.work import Work

    need_apart({"--out": out, "--report": report})
    wishes = Wishes(master, jobs, kept, given_settings(settings), work, out, run_folder, report)
    need_place(
        master, {f"--jobs {jobs}": jobs, "--kept": kept}, {"--conf": settings, "--work": work}
    )
    found = asked(read_rules(rules, parameters), folder, options_of(given))
    with ended_by_signals(), ExitStack() as stack:
        shows_rows = out is not None or run_folder is not None
        has_report = report is not None or run_folder is not None
        at_work = Work(found, shows_rows=shows_rows, has_report=has_report)
        whole = None
        if run_folder is not None:
            whole = RunFolder(run_folder)
            if whole.has_leftover:
                note(f"removing what a run that was killed has left of {run_folder}")
            stack.enter_context(whole)
        run_backtest(at_work, wishes, whole)


def run_backtest(work: Work, wishes: Wishes, folder: RunFolder | None) -> None:
    """Run the rules, then the fills; write and print."""
    if work.shows_deals:
        tell([work.about_fills])
    else:
        warn(work.about_fills)
    tell(work.missing())
    run_rules(work, wishes, folder)
    say("\n".join(map(one_line, run_lines(work, wishes))))
    tell([work.silent])
    tell_dropped(work.results.dropped)
    has_fills = work.asked.fills and bool(work.asked.plan.signals)
    if not (has_fills or wishes.report or folder):
        return
    finished = work.finish(advancing("fills", "ticks"))
    if work.asked.fills:
        tell(finished.unfilled)
        say("\n".join(result_lines(finished)))
    write(finished, wishes, folder)


def run_rules(work: Work, wishes: Wishes, folder: RunFolder | None) -> None:
    """Send every output row where it is wanted."""
    from cep.backtest.tables import Tables

    with ExitStack() as stack:
        takers: list[Taker] = []
        if folder is not None:
            tables = Tables(folder.rows, work.asked.plan, work.asked.shown)
            takers.append(stack.enter_context(tables).take)
        if wishes.out is not None:
            sink = stack.enter_context(output(wishes.out))
            takers.append(lambda rows: sink.writelines(line + b"\n" for line in rows.json_lines()))
        work.take(stack.enter_context(running(work, wishes)), takers)


@contextmanager
def running(work: Work, wishes: Wishes) -> Iterator[Iterator[Rows]]:
    """The run's output rows, by Spark or by processes of this machine."""
    reason = work.why_one_task if wishes.is_on_spark else ""
    if wishes.is_on_spark and not reason:
        with on_spark(work, wishes) as rows:
            yield rows
        return
    if reason:
        note(f"in this process, without Spark: {reason}")
    with progress("backtest", work.asked.selection.rows) as bar:
        yield work.in_this_process(bar.advance) if reason else here(work, wishes, bar.advance)


@contextmanager
def on_spark(work: Work, wishes: Wishes) -> Iterator[Iterator[Rows]]:
    """The rows by Spark."""
    from cep.backtest.divided import how_divided

    selection = work.asked.selection
    note(f"on Spark {wishes.master}, {how_divided(work.rules, selection)}")
    backtest, session = spark_parts()
    started = session(wishes.master, settings=wishes.settings)
    with started as spark, progress("backtest", unit="tasks") as bar:
        yield backtest(
            spark, work.rules, selection, work=wishes.work, advance=work.results.add_records,
            on_task=bar.advance_to, ended=work.results.end,
        )  # fmt: skip


def here(work: Work, wishes: Wishes, advance: Callable[[int], None]) -> Iterator[Rows]:
    """The rows by so many processes as is asked for, or is faster, and with runs before; by this
    one where the rules do not allow it.
    """
    from cep.backtest.choice import pays_apart
    from cep.backtest.divided import how_divided
    from cep.backtest.processes import Sharing

    is_one = wishes.jobs == 1 or (wishes.jobs is None and wishes.master == NO_SPARK)
    if is_one and wishes.kept is None:
        return work.in_this_process(advance)
    if reason := work.why_one_task:
        note(f"in this process alone: {reason}")
        return work.in_this_process(advance)
    jobs = wishes.jobs or (1 if wishes.kept else chosen_jobs(work))
    if jobs == 1 and wishes.kept is None:
        is_apart = pays_apart(work.rules, work.asked.selection)
        return work.in_processes(Sharing(), advance) if is_apart else work.in_this_process(advance)
    processes = "process" if jobs == 1 else "processes"
    note(f"in {jobs} {processes}, {how_divided(work.rules, work.asked.selection)}")
    return work.in_processes(Sharing(jobs, wishes.kept, note), advance)


def chosen_jobs(work: Work) -> int:
    """How many processes are faster; says why."""
    from cep.backtest.choice import chosen, cores_here

    jobs, why = chosen(work.rules, work.asked.selection, cores_here(), monotonic_ns)
    note(f"in {'this process' if jobs == 1 else f'{jobs} processes'}: {why}")
    return jobs


def spark_parts() -> tuple[Any, Any]:
    """The Spark half, which need not be installed."""
    with extra("spark", "or leave out --master"):
        from cep.spark.backtest import backtest
        from cep.spark.session import session
    return backtest, session


def write(finished: Finished, wishes: Wishes, folder: RunFolder | None) -> None:
    """The files that were asked for."""
    if wishes.report is not None:
        with output(wishes.report) as sink:
            sink.write(finished.page().encode())
    if folder is not None:
        folder.finish(finished)


def tell(notes: Iterable[str]) -> None:
    """Say what a run did not find; empty notes are none."""
    for one in filter(None, notes):
        note(one)


def run_lines(work: Work, wishes: Wishes) -> list[str]:
    """What was read and what came out: of streams that nobody asked for, nothing is known."""
    results, selection = work.results, work.asked.selection
    rows = [f"{name} {count:,}" for name, count in sorted(results.counts.items())]
    if not rows and (wishes.out is None and wishes.run is None):
        rows = ["not asked for; --out and --run write them"]
    return [
        f"{counted(results.records, 'record')} of {counted(len(selection.symbols), 'symbol')}, "
        f"{range_text(selection)}",
        f"rows: {', '.join(rows) or 'none'}",
    ]


def result_lines(finished: Finished) -> list[str]:
    """Trades and metrics as text, and the account's money where there is any."""
    from cep.backtest.page import (
        METRIC_COLUMNS,
        amount,
        daily_cells,
        doubled_text,
        fall_text,
        metric_cells,
    )

    found, outcome, money = finished.metrics, finished.outcome, finished.outcome.money
    names = [name.lower() for name in METRIC_COLUMNS]
    lines = right_aligned([names, *(metric_cells(*pair, money.digits) for pair in found.items())])
    refused = [f"{why} {n:,}" for why, n in sorted(outcome.refused.items()) if n]
    if refused:
        lines.append(f"not filled: {', '.join(refused)}")
    if money.digits is not None:
        amounts = (money.start, money.balance, money.equity, money.profit, money.commission)
        start, balance, equity, profit, commission, swap = (
            amount(value, money.digits) for value in (*amounts, money.swap)
        )
        lines.append(
            f"account: balance {start} to {balance}, equity {equity}; "
            f"profit {profit}, commission {commission}, swap {swap}"
        )
    if outcome.trades:
        lines.append(f"deepest fall of the equity: {fall_text(outcome.equity, money.digits)}")
    if finished.daily.days:
        pairs = (f"{name.lower()} {value}" for name, value in daily_cells(finished.daily))
        lines.append(f"by the day: {', '.join(pairs)}")
    if finished.doubled is not None:
        lines.append(doubled_text(finished.doubled))
    return [*lines, "assumptions:", *(f"  {text}" for text in finished.notes)]


def range_text(selection: Selection) -> str:
    first, last = selection.interval_msc
    return f"{time_text(first)} to {time_text(last)} UTC"
