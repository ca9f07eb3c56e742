"""Rules compiled once, from which runs are started."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from collections.abc import Sequence as Many
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from cep.clocks import Mode
from cep.engine.machine import library
from cep.engine.machine.build import build
from cep.engine.machine.expressions import Unsupported
from cep.engine.machine.homes import NOTHING, Before
from cep.engine.machine.program import Program
from cep.engine.placement import INTERPRETED, PlacementError
from cep.engine.stage_run import CompiledStage, compile_stage, stream_ids
from cep.engine.stages import Stages
from cep.engine.strings import Strings
from cep.plan.nodes import Plan

if TYPE_CHECKING:
    from cep.engine.native import Run


@dataclass(frozen=True, slots=True)
class Seed:
    """What rules take over from a run of other rules: its strings and keys, in order of their
    numbers, and where what goes on has its words in the memory of a program."""

    strings: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    before: Before = NOTHING


Machine = Literal["never", "needed", "always"]
"""When one program runs all of the rules: where not all would be compiled, or wherever it can."""


class Compiled:
    """Compiled rules: immutable, shareable between runs.

    `outputs` names the streams whose rows are returned (default: every derived stream). With
    `jit=False` the same generated source runs as plain Python, and unless it `waits` until there
    is machine code, which takes over (`cep.engine.machine_code`). What cannot be compiled is left
    to the interpreter, and so are the queries `interpreted`. A `seed` is needed to go on from a run
    of other rules. With `wide`, rows that queries always put out together may come as one wide row
    (`cep.engine.results`). With `apart`, what crosses keys has a stage of its own, so that the rest
    can run elsewhere (`cep.engine.distributed`). With `lived` the records are lived ones, of which
    the interpreter does what is not compiled for the clocks of keys (`in_mode`).
    """

    def __init__(
        self,
        plan: Plan,
        *,
        outputs: Iterable[str] | None = None,
        jit: bool = True,
        waits: bool = True,
        interpreted: Iterable[str] = (),
        seed: Seed = Seed(),
        wide: bool = False,
        apart: bool = False,
        lived: bool = False,
        machine: Machine = "needed",
    ) -> None:
        plan = replace(plan, keys=tuple(dict.fromkeys((*seed.keys, *plan.keys))))
        self.plan = plan
        self.seed = seed
        self.jit = jit
        self.waits = waits
        self.wide = wide
        self._is_apart = apart
        self.asked_for = frozenset(interpreted)
        """The queries that shall be interpreted."""
        self.why_not_staged: PlacementError | None = None
        self.stages = self._staged(plan, apart=apart, lived=lived)
        self._is_lived = lived
        self.machine = machine
        self.program: Program | None = None
        self.why_not_whole = ""
        self.ids = stream_ids(self.stages)
        self.outputs = plan.derived if outputs is None else plan.made.intersection(outputs)
        literals = Strings((*seed.strings, *plan.keys))
        self.compiled: dict[int, CompiledStage] = {
            stage: compile_stage(
                self.stages,
                stage,
                self.ids,
                self.outputs,
                lambda text: literals.code(text),
                jit,
                wide,
                waits,
            )
            for stage in self.stages.used()
            if stage != INTERPRETED and not self.stages.is_whole
        }
        self.literals = tuple(literals.values)

    def _staged(self, plan: Plan, *, apart: bool, lived: bool) -> Stages:
        try:
            return Stages.of(plan, self.asked_for, apart=apart, lived=lived)
        except PlacementError as problem:
            self.why_not_staged = problem
            return Stages.whole(plan)

    @property
    def interpreted(self) -> frozenset[str]:
        """The queries that the interpreter runs, of rules that are not one program."""
        if self.stages.is_whole:
            return frozenset(query.name for query in self.plan.queries)
        return self.stages.placement.interpreted

    @cached_property
    def in_parts(self) -> Compiled:
        """The same rules with what crosses keys `apart`."""
        if self._is_apart:
            return self
        return self._again(apart=True)

    def in_mode(self, mode: Mode) -> Compiled:
        """The same rules for records of a mode.

        It is one program that runs all, where that is wanted, can be, and its library is compiled.
        """
        if self.program is not None:
            return self
        if self._wants_program:
            whole = self.as_program(mode)
            if whole is not None:
                return whole
        return self.in_stages(mode)

    @cached_property
    def by_interpreter(self) -> Compiled:
        """The same rules, all of them in the interpreter."""
        if self.stages.is_whole and self.program is None:
            return self
        found = copy(self)
        found.stages = Stages.whole(self.plan)
        found.ids = stream_ids(found.stages)
        found.compiled, found.program = {}, None
        return found

    def in_stages(self, mode: Mode) -> Compiled:
        """The same, never as one program: in the interpreter where no order of stages can run them
        (`why_not_staged`).
        """
        has_one_clock = mode == "sorted" or bool(self.plan.compat)
        is_for_all = self._is_lived or self._is_apart or not self.stages.mixed
        return self if has_one_clock or is_for_all else self._lived

    @property
    def _wants_program(self) -> bool:
        return self.machine == "always" or (self.needs_program and library.CODE.is_there(0))

    @property
    def needs_program(self) -> bool:
        """Whether sorted records run as one program once its library is compiled."""
        if self.asked_for or self._is_apart or self._is_lived or self.wide:
            return False
        is_mixed = self.stages.has_interpreter or self.stages.is_whole or bool(self.stages.mixed)
        return self.machine == "needed" and self.jit and is_mixed

    def as_program(self, mode: Mode) -> Compiled | None:
        """The rules as one program for records of a mode; None: see `why_not_whole`."""
        return self.whole if mode == "sorted" else self.whole_lived

    @cached_property
    def whole(self) -> Compiled | None:
        """The rules as one program for sorted records; None where `why_not_whole` says why not."""
        return self._whole(lived=False)

    @cached_property
    def whole_lived(self) -> Compiled | None:
        """The same for lived records."""
        return self._whole(lived=True)

    def _whole(self, *, lived: bool) -> Compiled | None:
        if self.program is not None:
            return self
        found = copy(self.by_interpreter)
        literals = Strings(self.literals)
        try:
            found.program = build(
                self.plan, found.ids, found.stages.row_widths, self.outputs, literals.code,
                lived=lived, before=self.seed.before,
            )  # fmt: skip
        except Unsupported as why:
            self.why_not_whole = str(why)
            return None
        found.literals = tuple(literals.values)
        return found

    @cached_property
    def _lived(self) -> Compiled:
        return self._again(lived=True)

    def _again(self, *, apart: bool = False, lived: bool = False) -> Compiled:
        return Compiled(
            self.plan,
            outputs=self.outputs,
            jit=self.jit,
            waits=self.waits,
            interpreted=self.asked_for,
            seed=self.seed,
            wide=self.wide,
            apart=apart,
            lived=lived,
        )

    @property
    def source(self) -> str:
        """The generated Python of all compiled stages."""
        return "\n\n".join(stage.source for stage in self.compiled.values())

    @property
    def fingerprint(self) -> str:
        """Identifies what a snapshot's arrays mean."""
        interpreted = sorted(self.stages.placement.interpreted)
        text = repr(self.program) if self.stages.is_whole else ""
        text += self.source + repr(self.plan) + repr(interpreted) + repr(self.literals)
        return hashlib.sha256(text.encode()).hexdigest()

    def start(self, keys: Many[str] = (), mode: Mode = "lived") -> Run:
        """A run with empty state; `keys` get the key slots behind those the rules name.

        `mode` says what its records are.
        """
        return self.in_mode(mode).begun(keys, mode)

    def begun(self, keys: Many[str] = (), mode: Mode = "lived") -> Run:
        """A run of exactly these rules, which are those of the mode."""
        from cep.engine.native import Run  # which is of rules

        return Run(self, keys, mode)
