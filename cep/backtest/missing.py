"""What a run did not find: symbols that rules name, records of a stream, rows nobody asked for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

from cep.archive import Archive
from cep.archive.schema import TICKS
from cep.backtest.selection import Selection
from cep.backtest.simulate import Outcome
from cep.backtest.trading import answer_text
from cep.plan.nodes import Plan
from mt5bridge.broker import codes


def named_symbols(plan: Plan) -> list[str]:
    """Symbols that rules name, as keys of events or in signals, in the order of their names."""
    signals = {signal.symbol for signal in plan.signals if signal.symbol is not None}
    return sorted({*plan.keys, *signals})


def missing(
    archive: Archive,
    plan: Plan,
    selection: Selection,
    made: Collection[str] = (),
    filed: Collection[str] = (),
) -> Iterator[str]:
    """What the rules need and the records of a run have not, each with what follows; then symbols
    that an account's file has and the archive does not know: nothing that it says of them counts.

    The run itself makes the records of the source streams `made`.
    """
    everywhere = {file.symbol for file in archive.files(TICKS)}
    read = selection.symbols
    for symbol in named_symbols(plan):
        if symbol not in everywhere:
            yield _unknown(f"the rules name {symbol}", symbol, everywhere)
        elif symbol not in read:
            yield f"the rules name {symbol}, and no tick of it is in what this run reads"
    for stream in plan.sources:
        if stream.name not in made and not selection.stream(stream.name).rows:
            yield f"no record of the stream {stream.name} is in what this run reads"
    for symbol in filed:
        if symbol not in everywhere:
            yield _unknown(f"the account's file names {symbol}", symbol, everywhere)


def _unknown(said: str, symbol: str, everywhere: Collection[str]) -> str:
    near = get_close_matches(symbol.upper(), everywhere, n=1, cutoff=0.5)
    hint = f"; it has {near[0]}" if near else ""
    return f"{said}, and the archive has no tick of it{hint}"


def unfilled(signals: int, outcome: Outcome) -> Iterator[str]:
    """Each signal of whose orders none was filled, with the reasons counted; or that none of so
    many signals became an order.
    """
    if signals and not outcome.orders:
        yield f"no signal became an order: {_counted(outcome.refused)}"
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for order, code in zip(outcome.orders, outcome.retcodes.tolist(), strict=True):
        answers[order.signal][answer_text(code)] += 1
    for name, found in sorted(answers.items()):
        if found.keys().isdisjoint(map(answer_text, codes.WORKED)):
            yield f"no order of the signal {name} was filled: {_counted(found)}"


def _counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{why} {n:,}" for why, n in sorted(reasons.items()) if n)


def silent(plan: Plan, counts: Collection[str]) -> str:
    """The signals of which there was none; empty when each was raised."""
    quiet = [signal.name for signal in plan.signals if signal.name not in counts]
    return f"no signal {', '.join(quiet)}: what it waits for never happened" if quiet else ""
