"""`mt5cep backtest`: rules over an archive, fills for their signals, and a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cep.archive import Odd
from cep.cli.account import ACCOUNT
from cep.cli.archives import existing
from cep.cli.check import warn
from cep.cli.errors import UserError, extra
from cep.cli.functions import FUNCTIONS
from cep.cli.masters import AUTO, CONF, NO_SPARK, chosen, given_settings
from cep.cli.moments import MOMENT, utc_msc
from cep.cli.output import output
from cep.cli.paths import FILE, FOLDER
from cep.cli.points import given_points
from cep.cli.progress import progress
from cep.cli.replay import wanted
from cep.cli.rules import RULES, read_rules
from cep.cli.summary import tell_dropped
from cep.cli.text import counted, say
from cep.plan import Plan, compile_rules
from cep.report.tables import time_text
from mt5bridge.escapes import one_line
from mt5bridge.validate import Quality

if TYPE_CHECKING:
    from cep.account.market import Market
    from cep.archive import Archive
    from cep.backtest.account import Account
    from cep.backtest.metrics import Metrics
    from cep.backtest.results import Results
    from cep.backtest.selection import Selection
    from cep.backtest.simulate import Outcome
    from cep.engine.native import Compiled
    from cep.engine.rows import Rows

REJECTABLE = {
    **{odd.name.lower(): int(odd) for odd in Odd if odd.name},
    "crossed": int(Quality.CROSSED),
    "late": int(Quality.LATE),
}
"""Marks that rules may do without; ticks without a price or a time they never see."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line asks for."""

    master: str
    settings: dict[str, str]
    work: Path | None
    out: Path | None
    streams: list[str] | None
    tables: Path | None
    report: Path | None
    fills: bool
    points: dict[str, float]
    valid_seconds: int
    market: Market
    deals: str | None


@click.command()
@click.argument("rules", type=RULES)
@FUNCTIONS
@click.option("--archive", "folder", required=True, type=FOLDER, help="The archive to read.")
@click.option("--from", "start", type=MOMENT, help="First moment, UTC (default: all there is).")
@click.option("--to", "end", type=MOMENT, help="Moment to stop before, UTC.")
@click.option("--symbols", metavar="A,B", help="Only records of these symbols.")
@click.option(
    "--reject", metavar="MARKS",
    help="Keep ticks with these marks from rules and fills: outlier,repeated,gap,crossed,late.",
)  # fmt: skip
@click.option(
    "--master", default=AUTO, show_default=True,
    help="Spark master, such as local[*]; none: in this process; auto: what is faster here.",
)  # fmt: skip
@CONF
@click.option(
    "--work", type=FOLDER,
    help="Folder for what tasks find, shared by all machines (default: one of this machine).",
)  # fmt: skip
@click.option("--out", type=FILE, help="Write output rows here, as JSON lines like `replay`.")
@click.option("--streams", metavar="A,B", help="Only rows of these streams (default: all).")
@click.option("--tables", type=FOLDER, help="Write a Parquet table per stream into a new folder.")
@click.option("--report", type=FILE, help="Write an HTML page with charts, trades and results.")
@click.option(
    "--fills", type=click.Choice(["next-tick", "none"]), default="next-tick", show_default=True,
    help="How signals are filled.",
)  # fmt: skip
@click.option(
    "--deals", type=click.Choice(["simulated", "recorded"]),
    help="Which fills rules see (default: those the archive has recorded, else the simulated).",
)  # fmt: skip
@click.option(
    "--point", "points", multiple=True, metavar="SYMBOL=SIZE",
    help="Size of a point (default: the prices' decimals, where they suffice). Repeat it.",
)  # fmt: skip
@click.option(
    "--valid-seconds", type=click.IntRange(min=0), default=60, show_default=True,
    help="How long a signal without `for` TIME waits for a tick.",
)  # fmt: skip
@click.option(
    "--magic", type=click.IntRange(min=0), default=77, show_default=True,
    help="Magic number of the orders, which their deals carry.",
)  # fmt: skip
@ACCOUNT
def command(
    rules: Path,
    folder: Path,
    start: datetime | None,
    end: datetime | None,
    symbols: str | None,
    reject: str | None,
    master: str,
    settings: tuple[str, ...],
    work: Path | None,
    out: Path | None,
    streams: str | None,
    tables: Path | None,
    report: Path | None,
    fills: str,
    deals: str | None,
    points: tuple[str, ...],
    valid_seconds: int,
    magic: int,
    account_file: Path | None,
    hedging: bool,
    latency_ms: int | None,
    slippage_points: float | None,
) -> None:
    """Run RULES over an archive, fill their signals, and show what came of it.

    On Spark or in this process, whichever is faster here, or as --master says."""
    # Imported here: Numba and Arrow cost a second that `--help` need not wait.
    from cep.account.market import market_of
    from cep.backtest.selection import check_symbols, select
    from cep.market import check_market
    from mt5bridge.broker import Terms

    plan = compile_rules(*read_rules(rules))
    check_market(plan)
    market = market_of(account_file, Terms(hedging), latency_ms or 0, slippage_points or 0.0, magic)
    wishes = Wishes(
        master, given_settings(settings), work, out, wanted(plan, streams), tables, report,
        fills != "none", given_points(points), valid_seconds,
        market, deals,
    )  # fmt: skip
    archive = existing(folder)
    check_symbols(archive, wishes.points)
    if market.account is not None:
        wishes = replace(wishes, points=market.account.points | wishes.points)
    selection = select(
        archive, plan, names(symbols), utc_msc(start), utc_msc(end), mark_bits(reject)
    )
    run_backtest(plan, archive, selection, wishes)


def run_backtest(plan: Plan, archive: Archive, selection: Selection, wishes: Wishes) -> None:
    """Run the rules, then the fills; write and print."""
    from cep.backtest.missing import missing, silent
    from cep.backtest.results import Results, event_names
    from cep.engine.native import Compiled
    from cep.market import DEAL_STREAM, SIMULATED, fills_told

    seen = seen_deals(plan, selection, wishes)
    is_simulated = seen == SIMULATED
    warn("" if is_simulated else fills_told(plan, seen))
    tell([fills_told(plan, seen) if is_simulated else ""])
    tell(missing(archive, plan, selection, [DEAL_STREAM] if is_simulated else ()))
    shown = shown_streams(plan, wishes)
    needed = {signal.name for signal in plan.signals}
    if wishes.report:
        needed.update(event_names(plan))
    results = Results(plan, keep_events=wishes.report is not None)
    rules = Compiled(plan, outputs=shown | needed, waits=False)
    is_judged = wishes.fills and bool(plan.signals) and wishes.market.limits is not None
    has_account = is_simulated or is_judged
    account = opened(archive, plan, selection, wishes) if has_account else None
    run_rules(rules, selection, wishes, shown, results, account)
    say("\n".join(map(one_line, run_lines(selection, results, wishes))))
    tell([silent(plan, results.counts)])
    tell_dropped(results.dropped)
    if (wishes.fills and plan.signals) or wishes.report:
        finish(archive, selection, wishes, results, account)


def seen_deals(plan: Plan, selection: Selection, wishes: Wishes) -> str:
    """Which fills the rules see: simulated ones never beside those recorded."""
    from cep.backtest.dealt import reads_deals
    from cep.market import DEAL_STREAM, NONE, RECORDED, SIMULATED

    recorded = RECORDED if selection.stream(DEAL_STREAM).rows else NONE
    can_be_simulated = wishes.fills and reads_deals(plan)
    if wishes.deals == SIMULATED and not can_be_simulated:
        raise UserError(
            "--deals simulated: there are none",
            "the rules need a signal and a stream Deal, and --fills must not be none",
        )
    if can_be_simulated and (wishes.deals == SIMULATED or (wishes.deals, recorded) == (None, NONE)):
        return SIMULATED
    return recorded


def opened(archive: Archive, plan: Plan, selection: Selection, wishes: Wishes) -> Account:
    """The account of a run whose rules see its fills."""
    from cep.backtest.simulate import account_of

    valid_ms = 1000 * wishes.valid_seconds
    return account_of(archive, selection, plan, wishes.points, wishes.market, valid_ms)


def shown_streams(plan: Plan, wishes: Wishes) -> set[str]:
    """The streams whose rows are written."""
    if wishes.out is None and wishes.tables is None:
        return set()
    derived = {stream.name for stream in plan.streams if stream not in plan.sources}
    return derived if wishes.streams is None else set(wishes.streams)


def run_rules(
    rules: Compiled,
    selection: Selection,
    wishes: Wishes,
    shown: set[str],
    results: Results,
    account: Account | None,
) -> None:
    """Send every output row where it is wanted."""
    from cep.backtest.results import picked, stretches
    from cep.backtest.tables import Tables

    with ExitStack() as stack:
        takers: list[Callable[[Rows], None]] = []
        if wishes.out is not None:
            sink = stack.enter_context(output(wishes.out))
            takers.append(lambda rows: sink.writelines(line + b"\n" for line in rows.json_lines()))
        if wishes.tables is not None:
            tables = stack.enter_context(Tables(wishes.tables, rules.plan, sorted(shown)))
            takers.append(tables.take)
        for rows in stack.enter_context(running(rules, selection, wishes, results, account)):
            results.take(rows)
            for chosen in stretches(picked(rows, shown)) if takers else ():
                for take in takers:
                    take(chosen)


@contextmanager
def running(
    rules: Compiled,
    selection: Selection,
    wishes: Wishes,
    results: Results,
    account: Account | None,
) -> Iterator[Iterator[Rows]]:
    """The run's output rows, by Spark or in this process."""
    from cep.backtest.dealt import dealt
    from cep.backtest.parts import why_sequential
    from cep.backtest.sequential import sequential
    from cep.market import SIMULATED

    reason: str | None
    master, reason = chosen(wishes.master, selection.rows, len(selection.symbols))
    shows_deals = seen_deals(rules.plan, selection, wishes) == SIMULATED
    if master != NO_SPARK and account is not None:
        reason = "rules that see the fills of one account are one task"
        if not shows_deals:
            reason = "signals that the risk guard judges by one account are one task"
    elif master != NO_SPARK:
        reason = why_sequential(rules, lived=selection.is_lived)
    if reason is None:
        backtest, session = spark_parts()
        started = session(master, settings=wishes.settings)
        with started as spark, progress("backtest", unit="tasks") as bar:
            yield backtest(
                spark, rules, selection, work=wishes.work, advance=results.add_records,
                on_task=bar.advance_to, ended=results.end,
            )  # fmt: skip
        return
    if reason:
        say(f"note: in this process, without Spark: {reason}", err=True)
    with progress("backtest", selection.rows) as bar:

        def advance(n: int) -> None:
            results.add_records(n)
            bar.advance(n)

        if account is not None:
            yield dealt(rules, selection, account, advance, results.end, shows_deals=shows_deals)
        else:
            yield sequential(rules, selection, advance, results.end)


def spark_parts() -> tuple[Any, Any]:
    """The Spark half, which need not be installed."""
    with extra("spark", "or give --master none"):
        from cep.spark.backtest import backtest
        from cep.spark.session import session
    return backtest, session


def finish(
    archive: Archive,
    selection: Selection,
    wishes: Wishes,
    results: Results,
    account: Account | None,
) -> None:
    """Fill the signals, unless that is done, print what came of them, write the report."""
    from cep.backtest.assumptions import assumptions
    from cep.backtest.metrics import by_signal
    from cep.backtest.page import Findings, report
    from cep.backtest.simulate import outcome_of, tick_selection
    from cep.backtest.tables import write_trades
    from cep.market import fills_told
    from cep.report import render

    if account is not None:
        outcome = outcome_of(account)
    else:
        outcome = filled(archive, selection, wishes, results)
    found = by_signal(outcome.trades, selection.span_ms)
    notes = []
    if wishes.fills:
        notes = assumptions(outcome.points, wishes.valid_seconds, outcome.why_points, wishes.market)
    seen = seen_deals(results.plan, selection, wishes)
    notes += filter(None, [fills_told(results.plan, seen)])
    if wishes.fills:
        say("\n".join(result_lines(found, outcome, notes)))
    if wishes.tables is not None and wishes.fills:
        write_trades(wishes.tables, outcome.trades)
    if wishes.report is not None:
        findings = Findings(
            f"Backtest of {results.plan.name}",
            range_text(selection),
            results,
            outcome,
            found,
            notes,
        )
        drawn = tick_selection(archive, selection, set(selection.symbols) | set(outcome.points))
        with output(wishes.report) as sink:
            sink.write(render(report(findings, drawn)).encode())


def filled(archive: Archive, selection: Selection, wishes: Wishes, results: Results) -> Outcome:
    """What came of the signals, if they shall be filled."""
    from cep.backtest.orders import orders
    from cep.backtest.simulate import Outcome, simulate, tick_selection
    from cep.backtest.trading import NO_SYMBOL

    wanted_orders, without = orders(results.signals, 1000 * wishes.valid_seconds)
    outcome = Outcome()
    if wishes.fills:
        ticks = tick_selection(archive, selection, {order.symbol for order in wanted_orders})
        with progress("fills", ticks.rows, unit="ticks") as bar:
            outcome = simulate(ticks, wanted_orders, wishes.points, wishes.market, bar.advance)
    outcome.refused[NO_SYMBOL] += without
    return outcome


def tell(notes: Iterable[str]) -> None:
    """Say what a run did not find; empty notes are none."""
    for note in filter(None, notes):
        say(f"note: {note}", err=True)


def run_lines(selection: Selection, results: Results, wishes: Wishes) -> list[str]:
    """What was read and what came out: of streams that nobody asked for, nothing is known."""
    rows = [f"{name} {count:,}" for name, count in sorted(results.counts.items())]
    if not rows and (wishes.out is None and wishes.tables is None):
        rows = ["not asked for; --out and --tables write them"]
    return [
        f"{counted(results.records, 'record')} of {counted(len(selection.symbols), 'symbol')}, "
        f"{range_text(selection)}",
        f"rows: {', '.join(rows) or 'none'}",
    ]


def result_lines(
    found: Mapping[str, Metrics],
    outcome: Outcome,
    assumptions: Sequence[str],
) -> list[str]:
    """Trades and metrics as text, and the account's money where there is any."""
    from cep.backtest.page import METRIC_COLUMNS, amount, fall_text, metric_cells

    money = outcome.money
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
    return [*lines, "assumptions:", *(f"  {text}" for text in assumptions)]


def right_aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns, all but the first to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]


def range_text(selection: Selection) -> str:
    first, last = selection.interval_msc
    return f"{time_text(first)} to {time_text(last)} UTC"


def mark_bits(text: str | None) -> int:
    """The marks that `--reject` names, as one number."""
    bits = 0
    for name in filter(None, (text or "").replace(" ", "").split(",")):
        if name not in REJECTABLE:
            raise UserError(f"--reject: no mark {name}", f"there are {', '.join(REJECTABLE)}")
        bits |= REJECTABLE[name]
    return bits


def names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise UserError("--symbols: names no symbol", "for example --symbols EURUSD,XAUUSD")
    return found
