"""Rules compiled once, from which runs are started."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Many
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from cep.clocks import Mode
from cep.engine.coverage import why_not_generated
from cep.engine.jit import Addressed
from cep.engine.layout import StreamIds
from cep.engine.machine import library
from cep.engine.machine.build import build
from cep.engine.machine.expressions import Unsupported
from cep.engine.machine.homes import NOTHING, Before
from cep.engine.machine.program import Program
from cep.engine.machine_code import MachineCode
from cep.engine.stage_run import CompiledStage, compile_stage
from cep.engine.stages import CROSSING, KEYED, Stages
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


Machine = Literal["needed", "always"]
"""When one program runs the rules: where no module can, or wherever it can itself."""


class Compiled:
    """Compiled rules: immutable, shareable between runs.

    They run as a whole in one of three ways, which `in_mode` chooses: as a generated module, as a
    program, or in the interpreter, which runs what neither can. State does not go from one way to
    another, so rules that may become others run as a program (`machine`).

    `outputs` names the streams whose rows are returned (default: every derived stream). With
    `jit=False` the same source runs as plain Python, and unless it `waits` until there is machine
    code, which takes over (`cep.engine.machine_code`). A `seed` is needed to go on from a run of
    other rules. Of the queries `told` a run can tell chunk by chunk, expired rows too
    (`Run.on_query`), which modules cannot. With `wide`, rows that queries always put out together
    may come as one wide row (`cep.engine.results`).
    """

    def __init__(
        self,
        plan: Plan,
        *,
        outputs: Iterable[str] | None = None,
        jit: bool = True,
        waits: bool = True,
        seed: Seed = Seed(),
        wide: bool = False,
        machine: Machine = "needed",
        told: Iterable[str] = (),
    ) -> None:
        self.plan = replace(plan, keys=tuple(dict.fromkeys((*seed.keys, *plan.keys))))
        self.seed = seed
        self.jit = jit
        self.waits = waits
        self.wide = wide
        self.machine = machine
        self.told = frozenset(told)
        self.outputs = plan.derived if outputs is None else plan.made.intersection(outputs)
        self.stages = Stages.none(self.plan)
        self.ids = StreamIds(self.plan)
        self.literals: tuple[str, ...] = tuple(Strings((*seed.strings, *self.plan.keys)).values)
        self.module: CompiledStage | None = None
        self.program: Program | None = None
        self.ordered: MachineCode[Addressed] | None = None
        """What a long run of a program has made for the next run of the same rules."""
        self.why_not_whole = ""
        """Why they are no program, once that was tried."""
        self.is_chosen = False
        """Whether the way in which they run is."""

    def in_mode(self, mode: Mode) -> Compiled:
        """The same rules in the way in which they run over records of a mode."""
        if self.is_chosen:
            return self
        if self.machine == "always" and (whole := self.as_program(mode)) is not None:
            return whole
        if self.is_generated(mode) and not self.told:
            return self._without_waiting(mode)
        return self.as_program(mode) or self.by_interpreter

    def _without_waiting(self, mode: Mode) -> Compiled:
        """The rules as a module; as a program while there is machine code for that alone, and
        somebody wants rows now. The next run has the module's, which this one orders.
        """
        module = self.generated
        code = None if module.module is None else module.module.code
        if self.waits or code is None or code.is_ready or not library.CODE.is_ready:
            return module
        whole = self.as_program(mode)
        if whole is None:
            return module
        whole.ordered = code
        return whole

    def why_not_generated(self, mode: Mode) -> Mapping[str, str]:
        """What no module can run, and why, by name."""
        return self._why_not_sorted if mode == "sorted" else self._why_not_lived

    @cached_property
    def _why_not_sorted(self) -> Mapping[str, str]:
        return why_not_generated(self.plan)

    @cached_property
    def _why_not_lived(self) -> Mapping[str, str]:
        return why_not_generated(self.plan, lived=True)

    def is_generated(self, mode: Mode) -> bool:
        """Whether a module can run them."""
        return not self.why_not_generated(mode)

    @cached_property
    def generated(self) -> Compiled:
        """The same rules as a module."""
        return self._generated(Stages.of(self.plan), KEYED)

    def in_parts(self, mode: Mode) -> tuple[Compiled, Compiled | None]:
        """The same rules in parts, of which the first may run elsewhere, a key at a time, and the
        second runs what crosses keys, if anything does (`cep.engine.distributed`).

        They are modules where a module can run the rules. Else the first is a program, which also
        puts out what its engines take, and nothing may cross keys; ValueError if there is none.
        """
        if self.is_generated(mode):
            return self._modules_apart
        part = self._program_apart if mode == "sorted" else self._program_apart_lived
        if part is None:
            raise ValueError(f"no program: {self.why_not_whole}")
        return part, None

    @cached_property
    def _program_apart(self) -> Compiled | None:
        return self._whole(lived=False, outputs=self._outputs_apart)

    @cached_property
    def _program_apart_lived(self) -> Compiled | None:
        return self._whole(lived=True, outputs=self._outputs_apart)

    @property
    def _outputs_apart(self) -> frozenset[str]:
        """What is wanted, and what is counted over all keys."""
        return self.outputs.union(event.name for event in self.plan.events)

    @cached_property
    def _modules_apart(self) -> tuple[Compiled, Compiled | None]:
        stages = Stages.of(self.plan, apart=True)
        second = self._generated(stages, CROSSING) if CROSSING in stages.used() else None
        return self._generated(stages, KEYED), second

    def _generated(self, stages: Stages, stage: int) -> Compiled:
        found = self._chosen()
        found.stages = stages
        found.ids = StreamIds(self.plan, [(turn.stream, turn.place) for turn in stages.turns()])
        literals = Strings(self.literals)
        found.module = compile_stage(
            stages, stage, found.ids, self.outputs, literals.code, self.jit, self.wide, self.waits
        )
        found.literals = tuple(literals.values)
        return found

    def as_program(self, mode: Mode) -> Compiled | None:
        """The rules as one program for records of a mode; None: see `why_not_whole`."""
        return self.whole if mode == "sorted" else self.whole_lived

    @cached_property
    def whole(self) -> Compiled | None:
        """The rules as one program for sorted records; None where `why_not_whole` says why not."""
        return self._whole(lived=False, outputs=self.outputs)

    @cached_property
    def whole_lived(self) -> Compiled | None:
        """The same for lived records."""
        return self._whole(lived=True, outputs=self.outputs)

    def _whole(self, *, lived: bool, outputs: frozenset[str]) -> Compiled | None:
        found = self._chosen()
        found.outputs = outputs
        literals = Strings(self.literals)
        try:
            found.program = build(
                self.plan, found.ids, found.stages.row_widths, outputs, literals.code,
                lived=lived, before=self.seed.before, told=self.told,
            )  # fmt: skip
        except Unsupported as why:
            self.why_not_whole = str(why)
            return None
        found.literals = tuple(literals.values)
        return found

    @cached_property
    def by_interpreter(self) -> Compiled:
        """The same rules in the interpreter."""
        return self._chosen()

    def _chosen(self) -> Compiled:
        assert not self.is_chosen, "they have their way already"
        found = copy(self)
        found.is_chosen = True
        return found

    @property
    def source(self) -> str:
        """The generated Python."""
        return "" if self.module is None else self.module.source

    @property
    def fingerprint(self) -> str:
        """Identifies what a snapshot's arrays mean."""
        is_code = self.program is not None or self.module is not None
        literals = self.literals if is_code else ()  # what is interpreted names no codes
        text = repr(self.program) + self.source + repr(self.plan) + repr(literals)
        return hashlib.sha256(text.encode()).hexdigest()

    def start(self, keys: Many[str] = (), mode: Mode = "lived") -> Run:
        """A run with empty state; `keys` get the key slots behind those the rules name.

        `mode` says what its records are.
        """
        return self.in_mode(mode).begun(keys, mode)

    def begun(self, keys: Many[str] = (), mode: Mode = "lived") -> Run:
        """A run of exactly these rules, in their way."""
        from cep.engine.native import Run  # which is of rules

        return Run(self, keys, mode)
