"""Indicators of the user for a program: Python has the instances, which the memory has by numbers.

A group that sees its first row gets an instance. It is forgotten some time after its group, whose
block the memory may have used for something else since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cep.engine.machine.expressions import HostCall, Unsupported, Writer
from cep.engine.machine.kernels.fed import INSTANCE
from cep.engine.machine.kernels.words import FED, FED_TAKES
from cep.engine.windows import parts_chunks
from cep.interpreter.codec import pack, unpack
from cep.interpreter.fed import Fed
from cep.interpreter.snapshot import SnapshotError
from cep.plan.change import PartId
from cep.plan.expressions import Aggregate, Call, Expression
from cep.plan.functions import indicator_of
from cep.plan.nodes import Origin
from cep.plan.query import Join, Query, StreamInput
from cep.plan.steps import Holder, StreamFunction
from cep.plan.types import Type

if TYPE_CHECKING:
    from cep.engine.machine.host import Host
    from cep.engine.machine.memory import Memory
    from cep.engine.machine.program import Builder

FEW = 256
"""So many instances are not worth looking for those that are gone."""


@dataclass(frozen=True, slots=True)
class Own:
    """An indicator that a part of the plan asks, its `number` among those of the part."""

    part: PartId
    number: int
    name: str
    digest: str
    arguments: tuple[Expression, ...]
    gives: tuple[Type, ...]

    def __call__(self, host: Host) -> Feeding:
        return Feeding(self, host)

    def new(self) -> Fed:
        """An instance that has seen nothing."""
        return Fed(self.name, self.digest, self.arguments)


def own_call(builder: Builder, call: Aggregate | StreamFunction, writer: Writer) -> list[int]:
    """The steps that show a row to an indicator; it leaves what is given in its state."""
    if isinstance(call, StreamFunction):
        name, gives = call.name, tuple(one.type for one in call.added.attributes)
    else:
        name, gives = call.function, (call.type,)
    if any(one in (Type.OBJECT, Type.LIST) for one in gives):
        raise Unsupported("values that are objects")
    part = builder.owners.part
    others = (one.make for one in builder.constants.hosted)
    number = sum(isinstance(one, Own) and one.part == part for one in others)
    own = Own(part, number, name, call.digest, call.arguments, gives)
    taken = call.arguments[: indicator_of(name, call.digest).maker.values]
    node = Call(name, taken, Type.LONG)
    return writer.computed(HostCall(node, "", own, makes_texts=Type.STRING in gives))


def need_same_loss(builder: Builder, query: Query, name: str, *, in_front: bool) -> None:
    """Unsupported where more or less would be lost than in the interpreter when an indicator fails:
    there it is all that a reader got and has not handed on. `in_front`: of a window.
    """
    source = query.input
    match source:
        case StreamInput():
            inputs = [] if in_front else [source]
        case Join():
            left, right = source.left, source.right
            inputs = [] if in_front else [left, right]
            is_self = (left.holder, left.stream) == (right.holder, right.stream)
            if is_self or (source.singly and not in_front):
                raise Unsupported(f"`{name}` may fail there")
        case _:
            raise Unsupported(f"`{name}` may fail there")
    for one in inputs:
        if one.window is None or not parts_chunks(one.window):
            continue
        comes_alone = one.holder is Holder.STREAM and (
            builder.plan.stream(one.stream).origin is Origin.SOURCE
        )
        if not comes_alone:
            raise Unsupported(f"`{name}` may fail there")


@dataclass(slots=True)
class Instance:
    """An instance, and where its group has its number."""

    own: Own
    at: int
    fed: Fed


class Instances:
    """Those of one run, by number."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._known: dict[int, Instance] = {}
        self._last = 0
        self._few = FEW

    def __len__(self) -> int:
        return len(self._known)

    def __getitem__(self, number: int) -> Fed:
        return self._known[number].fed

    def add(self, own: Own, at: int) -> int:
        """A new one for the state at an address; its number."""
        made = Instance(own, at, own.new())
        if len(self._known) >= self._few:
            self._forget_gone()
            self._few = max(FEW, 2 * len(self._known))
        self._last += 1
        self._known[self._last] = made
        return self._last

    def _forget_gone(self) -> None:
        """Forget those whose numbers are no longer where they were. O(instances)."""
        words = self._memory.i[0]
        self._known = {
            number: one for number, one in self._known.items() if abs(int(words[one.at])) == number
        }

    def saved(self) -> bytes | None:
        """What a snapshot keeps; SnapshotError where one holds what cannot be saved."""
        if not self._last:
            return None
        self._forget_gone()
        return pack([self._last, [_saved(*one) for one in self._known.items()]])

    def restore(self, data: bytes, owns: Iterable[Own]) -> None:
        """Take over what `saved` gave, of these indicators."""
        known = {(own.part, own.number): own for own in owns}
        self._last, saved = unpack(data)
        for number, kind, name, place, at, state in saved:
            own = known[(kind, name), place]
            self._known[number] = made = Instance(own, at, own.new())
            made.fed.restore(state)

    def go_on(self, other: Instances, kept: Mapping[PartId, PartId], owns: Iterable[Own]) -> None:
        """Take over those of a run of other rules, of the parts that are `kept`, by new names."""
        known = {(kept.get(own.part), own.number): own for own in owns}
        self._last = other._last
        for number, one in other._known.items():
            own = known.get((one.own.part, one.own.number))
            if own is not None:
                self._known[number] = Instance(own, one.at, one.fed)


def _saved(number: int, one: Instance) -> list[Any]:
    kind, name = one.own.part
    try:
        state = one.fed.state()
    except TypeError as error:
        raise SnapshotError(f"{kind} {name}: {error}") from error
    return [number, kind, name, one.own.number, one.at, state]


class Feeding:
    """Shows rows to the instances of one indicator, and writes down what these give."""

    def __init__(self, own: Own, host: Host) -> None:
        from cep.engine.machine.host import writing  # which has the instances

        self._own, self._memory, self._instances = own, host.memory, host.instances
        self._write = [writing(one, host.memory, host.strings) for one in own.gives]

    def __call__(self, *values: Any) -> int:
        """A row comes, or what the memory names begins."""
        header = self._memory.i[0]
        at = int(header[FED])
        number = int(header[at + INSTANCE])
        if number <= 0:
            number = self._begun(at, -number)
        if header[FED_TAKES]:
            self._put(at, self._instances[number].feed(values))
        return 0

    def _begun(self, at: int, number: int) -> int:
        if number:
            self._instances[number].reset()
        else:
            number = self._instances.add(self._own, at)
        self._put(at, self._instances[number].given)
        self._memory.i[0, at + INSTANCE] = number
        return number

    def _put(self, at: int, given: Sequence[Any]) -> None:
        for place, (write, value) in enumerate(zip(self._write, given, strict=True), at + 1):
            write(place, value)
