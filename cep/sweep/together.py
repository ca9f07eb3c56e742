"""The rules of many variants over records that are read and encoded once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from cep.backtest.records import Moment, lived
from cep.backtest.results import Results
from cep.backtest.selection import Selection
from cep.backtest.sequential import caused_at, tell_places
from cep.engine.apart import mode_of
from cep.engine.compiled import Machine
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_ORDER, OUT_TIME
from cep.engine.native import Compiled, Run
from cep.engine.rows import Rows
from cep.engine.strings import Strings
from cep.plan.nodes import Plan


class Diverged(Exception):
    """Variants know other texts than the first of them: they are run one by one."""


@dataclass(slots=True)
class Variant:
    """The rules of a variant at work, and what they have given so far."""

    run: Run
    results: Results

    @classmethod
    def of(cls, plan: Plan, selection: Selection, *, is_long: bool = True) -> Variant:
        """Of a long sweep the rules get machine code of their shape, which takes seconds, once."""
        run = compiled(plan, is_long=is_long).start(mode=mode_of(lived=selection.is_lived))
        return cls(run, Results(plan))

    @property
    def shape(self) -> Hashable:
        """Variants of one shape take the same encoded rows."""
        rules, encoder = self.run.rules, self.run.encoder
        names = tuple(sorted(rules.ids.names().items()))
        return rules.literals, encoder.widths, names, tuple(sorted(encoder.keys.items()))


def compiled(plan: Plan, *, is_long: bool) -> Compiled:
    """Rules of which the signals are wanted."""
    machine: Machine = "needed" if is_long else "always"
    return Compiled(plan, outputs={signal.name for signal in plan.signals}, machine=machine)


def run_together(
    variants: Sequence[Variant], selection: Selection, advance: Callable[[int], None]
) -> None:
    """Each variant gets all records, in order: what it gives is in its results.

    It is what `cep.backtest.sequential` gives for its rules alone. `advance` is told of records,
    once for all. Diverged, and the results worth nothing, where variants must encode for
    themselves.
    """
    first = variants[0].run
    for one in variants:
        one.run.watermarks = first.watermarks  # they are of the records, not of the rules
    done = last = newest_msc = 0
    for record in lived(selection, first):
        if isinstance(record, Moment):
            told = list(first.watermarks.tell(*record.told))
            for one in variants:
                tell_places(one.run, np.array([record.order]), done)
                for telling in told:
                    one.results.take(caused_at(record.order, one.run.tell(telling, done)))
            done += 1
            continue
        last = int(record.ints[-1, OUT_ORDER])
        newest_msc = max(newest_msc, int(record.ints[:, OUT_TIME].max()))
        _feed(variants, record, done)
        done += len(record)
        advance(len(record))
    for one in variants:
        if done and selection.ends_sorted:
            tell_places(one.run, np.array([last]), done)
            one.results.take(caused_at(last, one.run.end(newest_msc, done)))
        one.results.end(one.run.dropped)
        one.results.add_records(done)


def _feed(variants: Sequence[Variant], batch: InputRows, first: int) -> None:
    """The same rows to all, with orders from `first` on.

    A run writes key rows and clocks into those that it gets. They are the same for all that are
    even with the first one, which need not find them again.
    """
    orders = batch.ints[:, OUT_ORDER].copy()
    batch.ints[:, OUT_ORDER] = np.arange(first, first + len(batch))
    head = variants[0]
    texts = list(head.run.strings.values)  # sources of an archive hold no objects
    for one in variants:
        _learn(one.run.strings, texts)
        tell_places(one.run, orders, first)

    def take(one: Variant, rows: Rows) -> None:
        rows.ints[:, OUT_ORDER] = orders[rows.ints[:, OUT_ORDER] - first]
        one.results.take(rows)

    even: list[Variant] = []
    others: list[Variant] = []
    for one in variants[1:]:
        (even if one.run.is_even_with(head.run) else others).append(one)
    for one in others:
        take(one, one.run.feed(InputRows(batch.ints.copy(), batch.floats)))
    take(head, head.run.feed(batch))
    for one in even:
        take(one, one.run.feed_behind(head.run, batch))


def _learn(strings: Strings, texts: Sequence[str]) -> None:
    """Let a run know the texts of the rows by the numbers that these have for the first run."""
    for text in texts[len(strings) :]:
        strings.code(text)
    if strings.values[: len(texts)] != texts:
        raise Diverged
