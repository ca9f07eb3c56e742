"""A sweep, block by block: who works at which variants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cep.backtest.pool import Helpers
from cep.lang import RuleError
from cep.lang.parameters import Value
from cep.sweep.alike import Common, like
from cep.sweep.apart import run_apart
from cep.sweep.sweep import Advance, Bench, Numbered, Ruled
from cep.sweep.trials import Trial
from cep.sweep.tried import Tried

BLOCK = 32
"""Variants that run beside each other: each has its state in memory."""


def swept(
    bench: Bench,
    trials: Sequence[Trial],
    helpers: Helpers | None = None,
    advance: Advance = lambda n: None,
) -> Iterator[list[Tried]]:
    """The rows of all trials, block by block as they come; the same whoever works at them: this
    process, if there are no helpers.

    `advance` is told of records by variants. What has come is complete where this is ended early.
    """
    bench.is_long |= bench.is_worth_compiling(len(trials))
    yield from in_blocks(bench, trials, helpers, advance)


def in_blocks(
    bench: Bench,
    trials: Sequence[Trial],
    helpers: Helpers | None,
    advance: Advance,
    first: int = 0,
) -> Iterator[list[Tried]]:
    """The rows of some trials of a sweep, numbered from `first` on, block by block."""
    kinds = kinds_of(bench, trials, first)
    if helpers is None:
        for block in blocks(kinds, BLOCK):
            yield bench.run(block, advance)
        return
    size = max(1, min(BLOCK, -(-len(trials) // helpers.jobs)))
    ruled = run_apart(bench, kinds, helpers, advance)
    whole = [kind for kind, known in zip(kinds, ruled, strict=True) if known is None]
    tasks: list[_Task] = [(block, None) for block in blocks(whole, size)]
    for kind, known in zip(kinds, ruled, strict=True):
        if known is not None:
            tasks += [(block, known) for block in blocks([kind], size)]
    for (_, known), found in zip(tasks, helpers.each(_run, bench, tasks), strict=True):
        if known is None:
            advance(bench.asked.selection.rows * len(found))
        yield found


_Task = tuple[list[Numbered], Ruled | None]
"""Some variants, and what their rules have given, if these have run."""


def _run(bench: Bench, task: _Task) -> list[Tried]:
    block, ruled = task
    return bench.run(block, ruled=ruled)


def blocks(kinds: Sequence[Sequence[Numbered]], size: int) -> list[list[Numbered]]:
    """The variants a few at a time, those of a kind side by side."""
    numbered = [one for kind in kinds for one in kind]
    return [numbered[at : at + size] for at in range(0, len(numbered), size)]


def kinds_of(bench: Bench, trials: Sequence[Trial], first: int = 0) -> list[list[Numbered]]:
    """The trials with their numbers from `first` on, by what their rules run once for."""
    names = _names_of_rules(bench, trials)
    kinds: dict[tuple[Value, ...], list[Numbered]] = {}
    for number, trial in enumerate(trials, first):
        kinds.setdefault(tuple(trial[name] for name in names), []).append((number, trial))
    return list(kinds.values())


def _names_of_rules(bench: Bench, trials: Sequence[Trial]) -> list[str]:
    """The parameters that change more than numbers of signals, as far as two values of each tell:
    a guess is enough, variants are compared when they run.
    """
    if not trials:
        return []
    first, found = trials[0], []
    for name in first:
        other = next((one[name] for one in trials if one[name] != first[name]), None)
        if other is None:
            continue
        try:
            two = [bench.variant(one).plan for one in (first, {**first, name: other})]
        except RuleError:
            found.append(name)
        else:
            found += [name] if len(like([Common.of(plan) for plan in two])) > 1 else []
    return found
