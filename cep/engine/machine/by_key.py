"""Windows of which each key has one, where keys have clocks of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.engine.machine.homes import Home
from cep.engine.machine.kernels.by_key import BY_KEY_STATE
from cep.engine.machine.kernels.steps import FROM_KEY, TO_KEY
from cep.engine.machine.kernels.words import VALUES
from cep.engine.machine.program import Builder
from cep.engine.machine.windows import lower_window
from cep.plan.change import PartId
from cep.plan.query import Query
from cep.plan.steps import Window
from cep.plan.types import Schema, Type
from cep.plan.windows import kind_of

if TYPE_CHECKING:
    from cep.engine.machine.queries import Place, Selecting


@dataclass(frozen=True, slots=True)
class OfKey:
    """Where the window of a key stands: in a home of its own."""

    builder: Builder
    rank: int
    part: PartId
    home: Home


def has_one_per_key(place: Place, query: Query, window: Window) -> bool:
    """Whether each key has a window of its own: where each row leaves by the clock of its key."""
    builder = place.builder
    has_key = bool(builder.clocks["query", query.name].key_positions)
    return builder.has_clocks and has_key and kind_of(window).clock in ("groups", "key")


def key_word(place: Place, query: Query) -> int:
    """The word of the key by which rows of a query's input have a clock; 0: they have none."""
    positions = place.builder.clocks["query", query.name].key_positions
    position = next(iter(positions))  # as the interpreter has it: they hold the same
    is_text = query.input.schema.attributes[position].type is Type.STRING  # type: ignore[union-attr]
    return VALUES + position if is_text else 0


def lower_window_by_key(
    place: Place, window: Window, selecting: Selecting, following: int, schema: Schema
) -> int:
    """The first node of a window that each key has."""
    builder, width = place.builder, selecting.width
    state, home = place.home.take(BY_KEY_STATE), Home()
    out = builder.node(FROM_KEY, following, width, width, state, place.rank)
    own = OfKey(builder, place.rank, place.part, home)
    node = lower_window(own, window, selecting, out, schema)
    return builder.node(
        TO_KEY, node, width, width, state, place.rank,
        key_word(place, selecting.query), home.words, following,
    )  # fmt: skip
