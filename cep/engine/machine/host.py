"""What Python computes for a program: functions without source, those of the user, own names.

A program names such calls by number. Its machine code calls back here with the words of the
arguments, which become values of Python, as the value becomes a word. What a function raises is
logged, and the rows are lost that it was called for, as those of a reader that fails are
(`cep.interpreter.streams`).
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from loguru import logger

from cep.engine.kernels.scalar import NULL
from cep.engine.machine.expressions import HostCall
from cep.engine.machine.indicators import Instances
from cep.engine.machine.kernels.host import ARITY_BITS
from cep.engine.machine.kernels.words import AT, FAILED, HOST, NOW, Ints, N
from cep.engine.machine.memory import Memory
from cep.engine.machine.told import Told
from cep.engine.strings import Strings
from cep.plan.functions import function_of, scalar_of
from cep.plan.functions.base import Evaluate
from cep.plan.types import Type

Values = list[Any]
C_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)


class Host:
    """Computes the calls of one run. Also what scalar functions see: their setting, and cause."""

    compat = False

    def __init__(
        self, calls: Sequence[HostCall], memory: Memory, strings: Strings, words: Ints
    ) -> None:
        self.memory, self.strings, self.words = memory, strings, words
        self.instances = Instances(memory)
        """Of indicators of the user."""
        self.told: list[Told] = []
        """Chunks of queries that nobody has taken yet."""
        self.n_of: Callable[[int], int] = int
        """The number of a record by its place in this run."""
        self._counted_of, self._counts = NULL, Counter[str]()
        self.calls_of = ""
        self._calls = [self._computed(one) for one in calls]
        self._named = [one.node.function for one in calls]
        self.interrupted: BaseException | None = None
        """What ends the run when it has done with the rows it was given: the user's Ctrl-C."""
        self._function = C_FUNCTION(self._called)  # it lives as long as its address is used
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value or 0
        """Where machine code calls it."""
        _hosts[self.address] = self

    @property
    def cause(self) -> Host:
        """What is under way, which the memory says."""
        return self

    @property
    def n(self) -> int:
        return self.n_of(int(self.memory.i[0, N]))

    @property
    def at_ms(self) -> int:
        return int(self.memory.i[0, AT])

    @property
    def now_ms(self) -> int:
        return int(self.memory.i[0, NOW])

    def call(self, place: str) -> int:
        """How many calls of a place there were before, for this record."""
        if self._counted_of != self.n:
            self._counted_of = self.n
            self._counts.clear()
        self._counts[place] += 1
        return self._counts[place] - 1

    def _called(self, call: int, top: int) -> None:
        try:
            self._calls[call >> ARITY_BITS](top)
        except BaseException as problem:  # noqa: BLE001 -- nothing may pass through machine code
            self.memory.i[0, FAILED] = 1
            self._failed(self._named[call >> ARITY_BITS], problem)

    def _failed(self, name: str, problem: BaseException) -> None:
        if isinstance(problem, Exception):
            logger.opt(exception=problem).error(
                "{} at record {}: its rows are lost: {}", name, self.n, problem
            )
        else:
            self.interrupted = problem

    def _computed(self, call: HostCall) -> Callable[[int], None]:
        types = [one.type for one in call.node.arguments]
        taken = list(enumerate(reading(type_, self.memory, self.strings) for type_ in types))
        evaluate = self._evaluation(call)
        put = writing(call.node.type, self.memory, self.strings)

        def computed(top: int) -> None:
            put(top, evaluate([take(top + place) for place, take in taken]))

        return computed

    def _evaluation(self, call: HostCall) -> Callable[[Values], Any]:
        node = call.node
        known = scalar_of(node.function)
        if known is None or call.make is not None:
            own = call.make
            function = own(self) if own else function_of(node.function, node.digest).call
            return lambda values: function(*values)
        self.calls_of = call.place  # which a function asks for as it is made

        def value_at(place: int) -> Evaluate:
            return lambda values: values[place]

        return known.plain(node, [value_at(n) for n in range(len(node.arguments))], self)


_hosts: WeakValueDictionary[int, Host] = WeakValueDictionary()


def call_by_address(i: Ints, call: int, top: int) -> None:
    """In the place of the kernel `call_host`, uncompiled."""
    _hosts[int(i[0, HOST])]._called(call, top)


def reading(type_: Type, memory: Memory, strings: Strings) -> Callable[[int], Any]:
    """How the word at an address becomes a value of Python; None for null."""
    if type_.is_real:

        def real(at: int) -> Any:
            value = memory.f.item(0, at)
            return value if value == value else None

        return real
    whole: Callable[[int], Any] = int
    if type_ is Type.STRING:
        whole = strings.values.__getitem__
    elif type_ is Type.BOOL:
        whole = bool

    def taken(at: int) -> Any:
        value = memory.i.item(0, at)
        return None if value == NULL else whole(value)

    return taken


def writing(type_: Type, memory: Memory, strings: Strings) -> Callable[[int, Any], None]:
    """How a value of Python becomes the word at an address."""

    def real(at: int, value: Any) -> None:
        memory.f[0, at] = float("nan") if value is None else value

    def text(at: int, value: Any) -> None:
        memory.i[0, at] = strings.code(value)

    def whole(at: int, value: Any) -> None:
        memory.i[0, at] = NULL if value is None else value

    return real if type_.is_real else text if type_ is Type.STRING else whole
