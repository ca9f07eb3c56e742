"""Compares what came out with what was recorded, per callback and in order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from tests.conformance.cases import T0, Batch, Case, value

TOLERANCE = 1e-9
"""Relative: the reference's running sums drift, ours do not."""


def differences(
    case: Case,
    outputs: Sequence[Batch],
    answers: Sequence[tuple[int, Any]],
    merged: bool = False,
) -> list[str]:
    """One line for each batch or answer that is not as recorded; none when all agree.

    With `merged` all that one step puts out counts as one batch.
    """
    found: list[str] = []
    for number, callback in enumerate(case.callbacks):
        wanted = [batch for batch in case.outputs if batch["cb"] == number]
        got = [batch for batch in outputs if batch["cb"] == number]
        if merged:
            moment = "step" if all("step" in batch for batch in wanted) else "t"
            wanted, got = _merged(wanted, moment), _merged(got, moment)
        label = f"{callback['kind']} {callback['target']}"
        if case.multiset:
            found += [f"{label}: {line}" for line in _as_multiset(wanted, got)]
        else:
            found += [f"{label}: {line}" for line in _in_order(wanted, got)]
    return found + _answer_differences(case, dict(answers))


def _merged(batches: Sequence[Batch], moment: str) -> list[Batch]:
    """The batches of each `moment` (step, or t) as one; those without rows are left out."""
    found: list[Batch] = []
    for batch in batches:
        parts = {name: batch[name] for name in ("in", "rm", "ev") if batch.get(name)}
        if not parts:
            continue
        if found and found[-1][moment] == batch[moment]:
            last = found[-1]
            for name, rows in parts.items():
                last[name] = [*(last.get(name) or ()), *rows]
            last.pop("ts", None)
        else:
            found.append(dict(batch))
    return found


def _in_order(wanted: Sequence[Batch], got: Sequence[Batch]) -> list[str]:
    return [
        f"batch {index}\n  - {shown(want)}\n  + {shown(have)}"
        for index, (want, have) in enumerate(zip_longest(wanted, got))
        if not _same_batch(want, have)
    ]


def _as_multiset(wanted: Sequence[Batch], got: Sequence[Batch]) -> list[str]:
    lines = []
    for part in ("in", "rm", "ev"):
        rest = [row for batch in got for row in batch.get(part) or ()]
        for row in (row for batch in wanted for row in batch.get(part) or ()):
            position = next((i for i, have in enumerate(rest) if same_row(row, have)), None)
            if position is None:
                lines.append(f"{part}\n  - {_typed(row)}")
            else:
                del rest[position]
        lines += [f"{part}\n  + {row}" for row in rest]
    return lines


def _answer_differences(case: Case, answers: dict[int, Any]) -> list[str]:
    lines = []
    for index, step in enumerate(case.steps):
        if step["op"] == "query" and ("result" in step or "error" in step):
            have = answers.get(index)
            if not _same_answer(step, have):
                wanted = step.get("error") or step.get("result")
                lines.append(f"step {index}: {step['text']}\n  - {wanted}\n  + {have!r}")
    return lines


def _same_answer(step: dict[str, Any], have: Any) -> bool:
    if "error" in step:
        return isinstance(have, Exception)
    wanted = step["result"]
    if wanted is None or have is None or isinstance(have, Exception):
        return wanted is have
    return len(wanted) == len(have) and all(map(same_row, wanted, have))


def _same_batch(want: Batch | None, have: Batch | None) -> bool:
    if want is None or have is None:
        return False
    shown_times = [key for key in ("step", "t", "ts") if key in want and key in have]
    times = all(want[key] == have[key] for key in shown_times)
    return times and all(_same_rows(want[key], have[key]) for key in ("in", "rm", "ev")
                         if key in want)  # fmt: skip


def _same_rows(want: list[Any] | None, have: list[Any] | None) -> bool:
    if want is None or have is None:
        return want is have
    return len(want) == len(have) and all(map(same_row, want, have))


def same_row(want: list[Any], have: list[Any]) -> bool:
    """Whether typed values are those of a row."""
    return len(want) == len(have) and all(map(same_value, want, have))


def same_value(want: list[Any], have: Any) -> bool:
    """Whether a value is the recorded `[type, value]`."""
    kind, raw = want
    match kind:
        case "n":
            return have is None
        case "o":
            return have is not None
        case "m":
            return isinstance(have, dict)
        case "c" | "a":
            return isinstance(have, list) and _same_list(raw, have)
        case "f" | "d":
            return isinstance(have, int | float) and _same_number(float(value(want)), have)
        case "i" | "l":
            return have is not True and have is not False and have == raw
        case _:
            return type(have) is type(raw) and have == raw


def _same_list(want: list[Any], have: list[Any]) -> bool:
    return len(want) == len(have) and all(map(same_value, want, have))


def _same_number(want: float, have: float) -> bool:
    if math.isnan(want) or math.isnan(have):
        return math.isnan(want) and math.isnan(have)
    return math.isclose(want, have, rel_tol=1e-6 if abs(want) < 1e-300 else TOLERANCE,
                        abs_tol=1e-12)  # fmt: skip


def shown(batch: Batch | None) -> str:
    """A batch in one line."""
    if batch is None:
        return "nothing"
    rows = " ".join(
        f"{key}={[_typed(row) for row in batch[key]] if batch[key] is not None else '-'}"
        for key in ("in", "rm", "ev")
        if key in batch
    )
    times = [time - T0 if time >= T0 else time for time in batch.get("ts", ())]
    return f"step {batch.get('step', '?')} t={batch.get('t', '?')} {rows} ts={times}"


def _typed(row: list[Any]) -> list[Any]:
    """Recorded rows without their types."""
    return [
        item[1] if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) else item
        for item in row
    ]
