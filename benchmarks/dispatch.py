"""What it costs to be driven by tables: one expression and one window, three ways each.

`python -m benchmarks.dispatch`: written out for the rules and compiled, as the engine does today;
by a kernel that is compiled once for all rules and reads what to do from a table, row by row; and
the same kernel a block of rows at a time. docs/engine.md decides by these figures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.measure import median_seconds, table, write_results

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ROWS, BLOCK, SPAN = 2_000_000, 1_024, 500
COLUMN, CONSTANT, ADD, SUBTRACT, MULTIPLY, LESS, GREATER, AND, END = range(9)
CODE = np.array([COLUMN, COLUMN, ADD, CONSTANT, MULTIPLY, CONSTANT, GREATER,
                 COLUMN, COLUMN, SUBTRACT, CONSTANT, LESS, AND, END])  # fmt: skip
OPERANDS = np.array([0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0, 0, 0])
"""(bid + ask) / 2 > limit and ask - bid < spread, as a stack machine does it."""
compiled: Callable[[Any], Any] = njit(cache=True)


@compiled
def written_out(columns: Floats, constants: Floats, kept: Ints) -> int:
    """What is generated for one filter."""
    n = 0
    for i in range(columns.shape[1]):
        bid, ask = columns[0, i], columns[1, i]
        if (bid + ask) * constants[0] > constants[1] and ask - bid < constants[2]:
            kept[n] = i
            n += 1
    return n


@compiled
def by_row(code: Ints, operands: Ints, columns: Floats, constants: Floats, kept: Ints) -> int:
    """A stack machine, started for each row."""
    stack = np.empty(16)
    n = 0
    for i in range(columns.shape[1]):
        at, top = 0, 0
        while code[at] != END:
            what, operand = code[at], operands[at]
            at += 1
            if what == COLUMN:
                stack[top] = columns[operand, i]
                top += 1
                continue
            if what == CONSTANT:
                stack[top] = constants[operand]
                top += 1
                continue
            top -= 1
            left, right = stack[top - 1], stack[top]
            if what == ADD:
                stack[top - 1] = left + right
            elif what == SUBTRACT:
                stack[top - 1] = left - right
            elif what == MULTIPLY:
                stack[top - 1] = left * right
            elif what == LESS:
                stack[top - 1] = left < right
            elif what == GREATER:
                stack[top - 1] = left > right
            else:
                stack[top - 1] = left * right
        if stack[0] != 0.0:
            kept[n] = i
            n += 1
    return n


@compiled
def by_block(
    code: Ints, operands: Ints, columns: Floats, constants: Floats, kept: Ints, stack: Floats
) -> int:
    """The same, each step over a block of rows: what chooses the step is paid once a block."""
    n = 0
    for first in range(0, columns.shape[1], BLOCK):
        rows = min(BLOCK, columns.shape[1] - first)
        at, top = 0, 0
        while code[at] != END:
            what, operand = code[at], operands[at]
            at += 1
            if what == COLUMN:
                stack[top, :rows] = columns[operand, first : first + rows]
                top += 1
                continue
            if what == CONSTANT:
                stack[top, :rows] = constants[operand]
                top += 1
                continue
            top -= 1
            left, right = stack[top - 1], stack[top]
            if what == ADD:
                for i in range(rows):
                    left[i] += right[i]
            elif what == SUBTRACT:
                for i in range(rows):
                    left[i] -= right[i]
            elif what == LESS:
                for i in range(rows):
                    left[i] = left[i] < right[i]
            elif what == GREATER:
                for i in range(rows):
                    left[i] = left[i] > right[i]
            else:
                for i in range(rows):
                    left[i] *= right[i]
        for i in range(rows):
            kept[n] = first + i
            n += stack[0, i] != 0.0
    return n


@compiled
def window_written_out(times: Ints, values: Floats, ring: Floats, out: Floats) -> None:
    """The mean over a window of time whose span is a constant of the code."""
    head, total = 0, 0.0
    for i in range(len(times)):
        while times[head] <= times[i] - SPAN:
            total -= ring[head & 1023]
            head += 1
        ring[i & 1023] = values[i]
        total += values[i]
        out[i] = total / (i - head + 1)


@compiled
def window_by_table(
    state: Ints, sums: Floats, times: Ints, values: Floats, ring: Floats, out: Floats
) -> None:
    """The same by a kernel for any window: head, span, mask and offsets are in its state."""
    for i in range(len(times)):
        head, span, mask, at = state[0], state[1], state[2], state[3]
        while times[head] <= times[i] - span:
            sums[state[4]] -= ring[at + (head & mask)]
            head += 1
        ring[at + (i & mask)] = values[i]
        sums[state[4]] += values[i]
        out[i] = sums[state[4]] / (i - head + 1)
        state[0] = head


def main() -> None:
    random = np.random.default_rng(1)
    columns = 1.1 + random.random((2, ROWS)) / 100
    times = np.arange(ROWS)
    kept, ring, out = np.empty(ROWS + 1, np.int64), np.empty(1_024), np.empty(ROWS)
    stack = np.empty((8, BLOCK))
    found: list[list[str]] = []

    def measured(what: str, how: str, work: Callable[[], object]) -> None:
        work()
        found.append([what, how, f"{median_seconds(work) / ROWS * 1e9:.1f}"])

    for name, limit in (("half of all", 1.105), ("one in a hundred", 1.1093)):
        constants = np.array([0.5, limit, 0.02])
        ways: dict[str, Callable[[], int]] = {
            "written out": partial(written_out, columns, constants, kept),
            "by row": partial(by_row, CODE, OPERANDS, columns, constants, kept),
            "by block": partial(by_block, CODE, OPERANDS, columns, constants, kept, stack),
        }
        assert len({work() for work in ways.values()}) == 1
        for how, work in ways.items():
            measured(f"filter of 13 steps that keeps {name}", how, work)
    what = "mean over a window of time"
    measured(what, "written out", lambda: window_written_out(times, columns[0], ring, out))

    def by_table() -> None:
        state, sums = np.array([0, SPAN, 1_023, 0, 0]), np.zeros(1)
        window_by_table(state, sums, times, columns[0], ring, out)

    measured(what, "by table", by_table)
    for line in found:
        print(*line)
    write_results(
        "dispatch", "Driven by tables", table(["what", "how", "ns a row"], found), how="Medians."
    )


if __name__ == "__main__":
    main()
