"""Windows as nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cep.engine.machine.kernels.steps import LENGTH, TIME_WINDOW
from cep.engine.machine.kernels.windows import HELD, TIME_STATE
from cep.engine.machine.kernels.words import RING
from cep.engine.machine.program import Held, Unsupported
from cep.plan.steps import Window

if TYPE_CHECKING:
    from cep.engine.machine.queries import Place, Selecting


def lower_window(place: Place, window: Window, selecting: Selecting, following: int) -> int:
    """The node of a window."""
    builder, home = place.builder, place.home
    words, width = selecting.words, selecting.width

    def timed(length: int, is_delay: bool) -> int:
        span = builder.cell(window.constant(0))
        state = home.take(TIME_STATE)
        node = builder.node(
            TIME_WINDOW, following, width, width, state, place.rank,
            words, span, length, int(is_delay),
        )  # fmt: skip
        builder.held[node] = Held(state, HELD + words, HELD, by_turn=True)
        return node

    match window.name:
        case "length":
            length, state = builder.cell(window.constant(0)), home.take(RING)
            node = builder.node(
                LENGTH, following, width, width, state, place.rank, words, 0, length, 0
            )
            builder.held[node] = Held(state, words, 0, by_turn=False)
            return node
        case "time":
            return timed(0, False)
        case "delay":
            return timed(0, True)
        case "timeLength":
            return timed(builder.cell(window.constant(1)), False)
        case _:
            raise Unsupported(f"window `{window.name}`")
