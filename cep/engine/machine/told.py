"""Chunks that queries put out, for those who call back: current and expired rows apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.engine.machine.expressions import HostCall
from cep.engine.machine.kernels.steps import TELL_CHUNK
from cep.engine.machine.kernels.words import CURRENT, EXPIRED, KIND, TIME, TOLD_COUNT, TOLD_ROWS
from cep.engine.rows import Row
from cep.plan.expressions import Call
from cep.plan.types import Schema, Type

if TYPE_CHECKING:
    from cep.engine.machine.host import Host
    from cep.engine.machine.queries import Place, Selecting

Told = tuple[str, list[Row], list[Row]]
"""A chunk of a query: its name, current rows, expired ones."""


@dataclass(frozen=True, slots=True)
class Teller:
    """Takes down what a query puts out: rows of `width` words, in which its values begin at
    `first`."""

    query: str
    stream: str
    schema: Schema
    width: int
    first: int

    def __call__(self, host: Host) -> Callable[[], int]:
        from cep.engine.machine.host import reading  # which has what is taken down

        attributes = self.schema.attributes
        reads = [
            (one.name, reading(one.type, host.memory, host.strings), self.first + place)
            for place, one in enumerate(attributes)
        ]

        def row(at: int, kind: str, time_msc: int) -> Row:
            head: Row = {"stream": self.stream, "time_msc": time_msc, "kind": kind}
            return head | {name: read(at + word) for name, read, word in reads}

        def take_down() -> int:
            words = host.memory.i[0]
            rows: dict[int, list[Row]] = {CURRENT: [], EXPIRED: []}
            names = {CURRENT: "current", EXPIRED: "expired"}
            for number in range(int(words[TOLD_COUNT])):
                at = int(words[TOLD_ROWS]) + number * self.width
                kind = int(words[at + KIND])
                if kind in rows:
                    rows[kind].append(row(at, names[kind], int(words[at + TIME])))
            host.told.append((self.query, rows[CURRENT], rows[EXPIRED]))
            return 0

        return take_down


def lower_teller(place: Place, selecting: Selecting, following: int) -> int:
    """The node in front of what takes the rows of a query, by which Python is told of them."""
    builder, query = place.builder, selecting.query
    teller = Teller(
        query.name, query.target or query.name, query.schema, selecting.width, selecting.outputs
    )
    call = HostCall(Call("on_query", (), Type.LONG), "", teller)
    code = builder.code(builder.writer(selecting.names).computed(call))
    width = selecting.width
    with builder.writing(("callback", query.name)):  # no part of the query, which stays as it is
        return builder.node(TELL_CHUNK, following, width, width, 0, place.rank, code)
