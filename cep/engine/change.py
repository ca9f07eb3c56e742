"""A change of rules while they run: what stays the same keeps its state, between two records.

The new rules are compiled with the strings and keys of the run, so that every number in its arrays
that stands for one keeps its meaning. Then columns move by their owners (`Layout.owned`), queues by
name of event and complex event, and what is interpreted by its path.
"""

from __future__ import annotations

from collections.abc import Iterable

from cep.engine.carry_queues import carry_queues
from cep.engine.carry_state import carry_state, drop_unknown
from cep.engine.native import Compiled, Run, Seed
from cep.engine.stages import ASKED, INTERPRETED, Stages
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
    seed = Seed(tuple(run.strings.values), tuple(run.keys))
    before = run.rules
    rules = Compiled(
        plan,
        outputs=outputs,
        jit=before.jit,
        waits=before.waits,
        interpreted=interpreted,
        seed=seed,
        wide=before.wide,
    )
    for text in rules.literals:
        run.strings.code(text)
    return rules


def changed(run: Run, rules: Compiled | Plan) -> tuple[Run, Report]:
    """A run of other rules that goes on from this run's state, and what became of each part.

    What did not change keeps its state exactly; what did, and what depends on it, starts empty.
    Rules given as a plan return the rows of all derived streams. The old run must not be used
    any more.
    """
    if isinstance(rules, Plan):
        rules = compiled_for(run, rules)
    rules = _fitting(run, rules).in_mode(run.clocks.mode)
    change = compared(run.rules.plan, rules.plan)
    after = rules.start(mode=run.clocks.mode)
    after.clocks.restore(run.clocks.state())
    after.adopt(run.strings.values, run.decoder.key_codes, run.next_order, run.handed_on)
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
    after.watermarks = run.watermarks
    return after, change.report()


def _fitting(run: Run, rules: Compiled) -> Compiled:
    """The rules, compiled again if the run has learnt keys since they were."""
    keys = list(rules.plan.keys)
    known = keys[: len(run.keys)] == run.keys
    same_strings = list(rules.literals) == run.strings.values[: len(rules.literals)]
    if known and same_strings:
        return rules
    names = rules.stages.placement.interpreted
    asked = [name for name in names if rules.stages.placement.reasons[name] == ASKED]
    plan = rules.plan
    return compiled_for(run, plan, outputs=rules.outputs, interpreted=asked)


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
    if old.interpreted is None or new.interpreted is None:
        return
    new.interpreted.go_on(old.interpreted, change, new.next_order)
