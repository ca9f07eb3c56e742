"""A change of rules while they run: what stays the same keeps its state, between two records.

The new rules are compiled with the strings and keys of the run, so that every number in its arrays
that stands for one keeps its meaning. Then columns move by their owners (`Layout.owned`), queues by
name of event and complex event, and what is interpreted by its path.
"""

from __future__ import annotations

from collections.abc import Iterable

from cep.engine.carry_queues import carry_queues
from cep.engine.carry_state import carry_state, drop_unknown
from cep.engine.in_order import InOrder
from cep.engine.machine.change import UNLIKE, go_on, left_by
from cep.engine.machine.homes import NOTHING, Before, UnlikeError
from cep.engine.machine.kernels.words import HEADER
from cep.engine.native import Compiled, Run, Seed
from cep.engine.stage_run import StageRun
from cep.engine.stages import Stages
from cep.interpreter import change as interpreter_change
from cep.plan.change import Change, Report, compared, operator_part
from cep.plan.nodes import Operator, Plan


def compiled_for(
    run: Run,
    plan: Plan,
    *,
    outputs: Iterable[str] | None = None,
    told: Iterable[str] = (),
) -> Compiled:
    """Compile rules that a run of other rules can become; the run may go on meanwhile.

    Machine code is made at the first row, or by `warm_up` of a run of them.
    """
    change, before = compared(run.rules.plan, plan), run.rules
    while True:
        seed = Seed(tuple(run.strings.values), tuple(_keys(run)), _left(run, change))
        rules = Compiled(
            plan,
            outputs=outputs,
            jit=before.jit,
            waits=before.waits,
            seed=seed,
            wide=before.wide,
            machine=before.machine,
            told=told,
        )
        try:
            rules = _alike(run, rules)
            break
        except UnlikeError as unlike:
            for part in unlike.parts:
                change.reset(part, UNLIKE)
    for text in rules.literals:
        run.strings.code(text)
    if run.machine is not None and rules.program is not None:
        run.machine.memory.reserve(HEADER + rules.program.home_words)
    return rules


def _alike(run: Run, rules: Compiled) -> Compiled:
    """The rules in the way in which those of the run are, if they can: state is alike then."""
    mode, before = run.clocks.mode, run.rules
    if rules.is_chosen:
        return rules
    if before.program is not None:
        return rules.as_program(mode) or rules.in_mode(mode)
    if before.module is None:
        return rules.by_interpreter
    return rules.generated if rules.is_generated(mode) else rules.in_mode(mode)


def _keys(run: Run) -> list[str]:
    """The keys in the order from which numbers of events follow."""
    slots = None if run.machine is None else run.machine.slot_keys()
    return run.keys if slots is None else slots


def _left(run: Run, change: Change) -> Before:
    return NOTHING if run.machine is None else left_by(run.machine, change)


def changed(run: Run, rules: Compiled | Plan) -> tuple[Run, Report]:
    """A run of other rules that goes on from this run's state, and what became of each part.

    What did not change keeps its state exactly; what did, and what depends on it, starts empty.
    Rules given as a plan return the rows of all derived streams. The old run must not be used
    any more.
    """
    if isinstance(rules, Plan):
        rules = compiled_for(run, rules)
    rules = _alike(run, _fitting(run, rules))
    change = compared(run.rules.plan, rules.plan)
    after = rules.begun(mode=run.clocks.mode)
    after.clocks.restore(run.clocks.state())
    after.adopt(run.strings.values, run.decoder.key_codes, run.next_order)
    _go_on(run, after, change)
    after.watermarks = run.watermarks
    return after, change.report()


def _go_on(run: Run, after: Run, change: Change) -> None:
    """Give what was kept the state that it had."""
    if isinstance(run.runner, InOrder) and isinstance(after.runner, InOrder):
        after.runner.go_on(run.runner, change)
    if run.machine is not None and after.machine is not None:
        go_on(run.machine, after.machine, change, after.rules.seed.before, run.next_order)
    elif run.interpreting is not None and after.interpreting is not None:
        after.interpreting.order = after.next_order  # what begins now has this place
        old, new = run.interpreting.interpreter, after.interpreting.interpreter
        interpreter_change.go_on(old, new, change)
    elif isinstance(run.runner, StageRun) and isinstance(after.runner, StageRun):
        _carry_module(run.runner, after.runner, change)
    else:
        why = after.rules.why_not_whole or "a module has run them"
        for part in list(change.kept):
            change.reset(part, f"the rules no longer run as they did: {why}")


def _carry_module(run: StageRun, after: StageRun, change: Change) -> None:
    old, new = run.compiled.stages, after.compiled.stages
    _drop_moved(change, old, new)
    drop_unknown(change, run, after)
    _drop_queues(change, old, new)
    carry_state(change, run, after)
    carry_queues(change, run, after)


def _fitting(run: Run, rules: Compiled) -> Compiled:
    """The rules, compiled again if the run has learnt keys since they were."""
    keys = _keys(run)
    known = list(rules.plan.keys[: len(keys)]) == keys
    same_strings = list(rules.literals) == run.strings.values[: len(rules.literals)]
    words = _left(run, compared(run.rules.plan, rules.plan)).words
    if known and same_strings and set(rules.seed.before.words) <= set(words):
        return rules
    return compiled_for(run, rules.plan, outputs=rules.outputs, told=rules.told)


def _drop_moved(change: Change, old: Stages, new: Stages) -> None:
    """Reset what has its state under other keys now."""
    before = {operator_part(operator): operator for operator in old.plan.operators}
    for operator in new.plan.operators:
        part = operator_part(operator)
        previous = change.kept.get(part)
        if previous is not None and _key(old, before[previous]) != _key(new, operator):
            change.reset(part, "it has its state per key or across keys as it had not before")


def _key(stages: Stages, operator: Operator) -> tuple[bool, str | None]:
    keyed = stages.by.is_keyed(operator)
    return keyed, stages.by.key if keyed else None


def _drop_queues(change: Change, old: Stages, new: Stages) -> None:
    """Reset engines whose queue is by other keys now, and the memory of what is bound in them."""
    for engine in new.plan.engines:
        part = ("engine", engine.name)
        if part not in change.kept:
            continue
        if old.by.is_engine_keyed(engine.name) != new.by.is_engine_keyed(engine.name):
            change.reset(part, "its queue is per key or across keys as it was not before")
    for found in new.plan.complexes:
        if ("engine", found.engine) not in change.kept:
            change.reset(("complex", found.name), f"engine {found.engine} starts empty")
