"""A change of rules while they run: what stays the same keeps its state, between two records.

The new rules are compiled with the strings and keys of the run, so that every number in its arrays
that stands for one keeps its meaning. Then columns move by their owners (`Layout.owned`), queues by
name of event and complex event, and what is interpreted by its path.
"""

from __future__ import annotations

from collections.abc import Iterable

from cep.engine.by_interpreter import ByInterpreter
from cep.engine.carry_queues import carry_queues
from cep.engine.carry_state import carry_state, drop_unknown
from cep.engine.machine.change import UNLIKE, go_on, left_by
from cep.engine.machine.homes import NOTHING, Before, UnlikeError
from cep.engine.machine.kernels.words import HEADER
from cep.engine.native import Compiled, Run, Seed
from cep.engine.stages import INTERPRETED, Stages
from cep.interpreter import change as interpreter_change
from cep.plan.change import Change, Report, compared, operator_part
from cep.plan.nodes import Operator, Plan


def compiled_for(
    run: Run,
    plan: Plan,
    *,
    outputs: Iterable[str] | None = None,
    interpreted: Iterable[str] = (),
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
            interpreted=interpreted,
            seed=seed,
            wide=before.wide,
            machine=before.machine,
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
    """The rules as one program, or in the interpreter, where those of the run are, and else not:
    state is alike then.
    """
    mode = run.clocks.mode
    if isinstance(run.all, ByInterpreter):
        return rules.by_interpreter
    whole = None if run.machine is None else rules.as_program(mode)
    return rules.in_stages(mode) if whole is None else whole


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
    after.adopt(run.strings.values, run.decoder.key_codes, run.next_order, run.handed_on)
    if run.machine is not None and after.machine is not None:
        go_on(run.machine, after.machine, change, rules.seed.before, run.next_order)
    elif isinstance(run.all, ByInterpreter) and isinstance(after.all, ByInterpreter):
        _carry_interpreted(change, run, after)
    elif run.all is None and after.all is None:
        _carry_stages(run, after, change)
    else:
        why = rules.why_not_staged or rules.why_not_whole
        for part in list(change.kept):
            change.reset(part, f"the rules no longer run as they did: {why}")
    after.watermarks = run.watermarks
    return after, change.report()


def _carry_stages(run: Run, after: Run, change: Change) -> None:
    rules = after.rules
    _drop_moved(change, run.rules.stages, rules.stages)
    for number, stage in after.stages.items():
        if number in run.stages:
            drop_unknown(change, run.stages[number], stage)
    _drop_queues(change, run.rules.stages, rules.stages)
    for number, stage in after.stages.items():
        if number in run.stages:
            carry_state(change, run.stages[number], stage)
            carry_queues(change, run.stages[number], stage)
    _carry_interpreted(change, run, after)


def _fitting(run: Run, rules: Compiled) -> Compiled:
    """The rules, compiled again if the run has learnt keys since they were."""
    keys = _keys(run)
    known = list(rules.plan.keys[: len(keys)]) == keys
    same_strings = list(rules.literals) == run.strings.values[: len(rules.literals)]
    words = _left(run, compared(run.rules.plan, rules.plan)).words
    if known and same_strings and set(rules.seed.before.words) <= set(words):
        return rules
    asked = rules.asked_for
    return compiled_for(run, rules.plan, outputs=rules.outputs, interpreted=asked)


def _drop_moved(change: Change, old: Stages, new: Stages) -> None:
    """Reset what runs elsewhere now, or under other keys."""
    before = {operator_part(operator): operator for operator in old.plan.operators}
    for operator in new.plan.operators:
        part = operator_part(operator)
        previous = change.kept.get(part)
        if previous is not None and _place(old, before[previous]) != _place(new, operator):
            change.reset(part, _why_moved(old.operator(before[previous]), new.operator(operator)))


def _place(stages: Stages, operator: Operator) -> tuple[int, bool, str | None]:
    keyed = stages.by.is_keyed(operator)
    return stages.operator(operator), keyed, stages.by.key if keyed else None


def _why_moved(before: int, after: int) -> str:
    if after == INTERPRETED:
        return "it is interpreted now"
    if before == INTERPRETED:
        return "it is compiled now"
    return "it has its state per key or across keys as it had not before"


def _drop_queues(change: Change, old: Stages, new: Stages) -> None:
    """Reset engines whose queue is elsewhere now, and the memory of what is bound in them."""
    for engine in new.plan.engines:
        part = ("engine", engine.name)
        if part not in change.kept:
            continue
        before = (old.engine(engine.name), old.by.is_engine_keyed(engine.name))
        if before != (new.engine(engine.name), new.by.is_engine_keyed(engine.name)):
            change.reset(part, "its queue is per key or across keys as it was not before")
    for found in new.plan.complexes:
        if ("engine", found.engine) not in change.kept:
            change.reset(("complex", found.name), f"engine {found.engine} starts empty")


def _carry_interpreted(change: Change, old: Run, new: Run) -> None:
    before, after = old.interpreting, new.interpreting
    if before is None or after is None:
        return
    after.order = new.next_order  # what begins now has this place
    interpreter_change.go_on(before.interpreter, after.interpreter, change)
