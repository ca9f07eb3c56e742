"""What is asked of a backtest: rules, records, the market, from options that programs and the
command line share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cep.account.known import known
from cep.account.market import Market, market_at
from cep.archive import Archive, Odd
from cep.backtest.dealt import reads_deals
from cep.backtest.errors import BacktestError
from cep.backtest.options import Options, checked
from cep.backtest.points import GIVEN, Point, known_points, told_points, too_coarse
from cep.backtest.selection import Selection, check_symbols, select
from cep.backtest.simulate import prices_of, tick_selection
from cep.market import DEAL_STREAM, NONE, RECORDED, SIMULATED, check_market
from cep.plan import compile_rules
from cep.plan.app import UNNAMED
from cep.plan.nodes import Plan
from mt5bridge.broker import Terms
from mt5bridge.validate import Quality

REJECTABLE = {
    **{odd.name.lower(): int(odd) for odd in Odd if odd.name},
    "crossed": int(Quality.CROSSED),
    "late": int(Quality.LATE),
}
"""Marks that rules may do without; ticks without a price or a time they never see."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A backtest that can be run. `said` are the options with which it was asked, plain values;
    `title` names its rules for people.
    """

    title: str
    plan: Plan
    archive: Archive
    selection: Selection
    market: Market
    points: Mapping[str, Point | float]
    streams: tuple[str, ...] | None
    fills: bool
    deals: str | None
    valid_seconds: int
    said: Mapping[str, Any]

    @property
    def shown(self) -> list[str]:
        """The streams whose rows are wanted: all that the rules make, if none are named."""
        derived = {stream.name for stream in self.plan.streams if stream not in self.plan.sources}
        return sorted(derived if self.streams is None else set(self.streams))

    @property
    def seen_deals(self) -> str:
        """Which fills the rules see: simulated ones never beside those recorded."""
        recorded = RECORDED if self.selection.stream(DEAL_STREAM).rows else NONE
        can_be_simulated = self.fills and reads_deals(self.plan)
        if self.deals == SIMULATED and not can_be_simulated:
            raise BacktestError(
                "--deals simulated: there are none",
                "the rules need a signal and to read a stream Deal, and --fills must not be none",
            )
        asked = self.deals or (SIMULATED if recorded == NONE else RECORDED)
        return SIMULATED if can_be_simulated and asked == SIMULATED else recorded

    def doubted(self) -> Iterator[str]:
        """The points of symbols that may be traded which are too coarse for their prices.

        Those that this run was given: a look at prices is one more read of a file.
        """
        given = {name for name, one in self.points.items() if _is_given(one)}
        told = _traded(self.plan, self.selection) & given
        if self.fills and self.plan.signals and told:
            available = tick_selection(self.archive, self.selection, told).by_symbol()
            for name, one in sorted(available.items()):
                yield from too_coarse(name, self.points[name], prices_of(one))

    @property
    def has_account(self) -> bool:
        """Whether rules and account wait for each other: one task."""
        is_judged = self.fills and bool(self.plan.signals) and self.market.limits is not None
        return self.seen_deals == SIMULATED or is_judged


def asked(text: tuple[str, str], archive: Path | str, options: Options) -> Asked:
    """A backtest of rules, their text and its name for messages. RuleError, ParameterError,
    BacktestError, AccountFileError or ArchiveError says what cannot be.
    """
    given = checked(options)
    plan = compile_rules(*text, parameters=given["parameters"], magic=given["magic"])
    check_market(plan)
    stored = Archive(archive)
    stored.require()
    check_symbols(stored, given["point"])
    selection = select(
        stored, plan, given["symbols"], given["start"], given["end"], _bits(given["reject"])
    )
    is_filled = given["fills"] != "none"
    market, points = _market(given, stored, selection, needs=is_filled and bool(plan.signals))
    if is_filled:
        _need_money(plan, market)
        _need_points(plan, stored, selection, points)
        market.check_told(_traded(plan, selection))
    return Asked(
        _title(plan, text[1]), plan, stored, selection, market, points,
        _streams(plan, given["streams"]), is_filled,
        given["deals"], given["valid_seconds"], _said(given, str(archive), plan, selection),
    )  # fmt: skip


def _market(
    given: Mapping[str, Any], stored: Archive, selection: Selection, *, needs: bool
) -> tuple[Market, dict[str, Point]]:
    """How signals are filled and the sizes of points that are told, by an account's file and by the
    archive, whose word counts where the run `needs` it.
    """
    versions = stored.manifest.specifications if needs else ()
    told = known(given["account"], versions, selection.interval_msc, given["point"])
    plain = Terms(given["hedging"])
    market = market_at(told, plain, given["latency"], given["slippage"], given["magic"])
    return market, told_points(told, given["point"])


def _need_money(plan: Plan, market: Market) -> None:
    """BacktestError for signals that risk a share of an account whose money is unknown."""
    risking = [one.name for one in plan.signals if "risk_percent" in one.says]
    if risking and not market.terms.balance:
        raise BacktestError(
            f"signal {risking[0]} risks a share of the account, whose money nobody says",
            "name a file of the account: --account FILE, with `balance` and the symbols' contracts",
        )


def _traded(plan: Plan, selection: Selection) -> set[str]:
    """The symbols that signals may trade."""
    named = {signal.symbol for signal in plan.signals if signal.symbol is not None}
    is_any = any(signal.symbol is None for signal in plan.signals)
    return named | set(selection.symbols) if is_any else named


def _need_points(
    plan: Plan, stored: Archive, selection: Selection, points: Mapping[str, Point]
) -> None:
    """Before rules run: BacktestError where that of a symbol which signals may trade is untold."""
    if untold := _traded(plan, selection) - points.keys():
        available = tick_selection(stored, selection, untold).by_symbol()
        known_points(points, {name: prices_of(one) for name, one in available.items()})


def _is_given(point: Point | float) -> bool:
    """Whether a run was told it: by --point, or the file of its account."""
    return not isinstance(point, Point) or point.why == GIVEN


def _title(plan: Plan, file: str) -> str:
    """The rules' own name, where they have one, and their file's."""
    name = Path(file).name
    return name if plan.name in (UNNAMED, Path(name).stem) else f"{plan.name} ({name})"


def _streams(plan: Plan, names: Collection[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    derived = [stream.name for stream in plan.streams if stream.name in plan.derived]
    for name in names:
        if name not in derived:
            made = f"the rules make {', '.join(derived)}"
            raise BacktestError(f"--streams: no stream {name}", made)
    return tuple(names)


def _said(
    given: Mapping[str, Any], archive: str, plan: Plan, selection: Selection
) -> dict[str, Any]:
    """The options in values that JSON has, times in ms; all parameters with their values."""
    lists = {
        "symbols": given["symbols"], "reject": given["reject"], "streams": given["streams"],
    }  # fmt: skip
    named = {name: None if one is None else sorted(one) for name, one in lists.items()}
    times = {"start": selection.from_msc, "end": selection.to_msc}
    account = None if given["account"] is None else str(given["account"])
    found = {**given, **named, **times, "account": account, "point": dict(given["point"])}
    found["parameters"] = {one.name: one.value for one in plan.parameters}
    return {"archive": archive, **found}


def _bits(names: Collection[str]) -> int:
    """The marks that are rejected, as one number."""
    bits = 0
    for name in names:
        if name not in REJECTABLE:
            raise BacktestError(f"--reject: no mark {name}", f"there are {', '.join(REJECTABLE)}")
        bits |= REJECTABLE[name]
    return bits
