"""Cases as recorded: `clocked.jsonl`, `replay.jsonl` and `probes.jsonl` in one form."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cep.plan.types import Type

T0 = 1_600_000_000_000
FOLDER = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "siddhi"

Step = dict[str, Any]
Batch = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One case. `steps` and `outputs` have the form of `clocked.jsonl`.

    `multiset`: the recorded order of rows is one of several. `exact_times`: `t` and `ts` of outputs
    count too.
    """

    id: str
    area: str
    apps: tuple[str, ...]
    callbacks: tuple[dict[str, Any], ...]
    steps: tuple[Step, ...]
    outputs: tuple[Batch, ...] = ()
    refused: bool = False
    multiset: bool = False
    exact_times: bool = True
    notes: tuple[str, ...] = field(default=())


def read(path: Path) -> Iterator[Case]:
    """The cases of a file, told apart by what a line holds."""
    with path.open() as lines:
        for number, line in enumerate(lines, 1):
            data = json.loads(line)
            if "question" in data:
                yield _probe(data, number)
            elif "apps" in data:
                yield _clocked(data)
            else:
                yield _replay(data)


def as_float32(number: float) -> float:
    """The nearest number of 32 bits."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def plain_value(raw: Any, type_: Type) -> Any:
    """A value given without its type, as an attribute of that type holds it."""
    if raw is None or type_ not in (Type.FLOAT, Type.DOUBLE):
        return raw
    return as_float32(float(raw)) if type_ is Type.FLOAT else float(raw)


def value(typed: list[Any]) -> Any:
    """A recorded `[type, value]` as the engine's value."""
    kind, raw = typed
    match kind:
        case "f":
            return as_float32(float(raw))
        case "d":
            return float(raw)
        case "c":
            return [value(item) for item in raw]
        case "a":
            return [value(item) if isinstance(item, list) else item for item in raw]
        case _:
            return raw


def _clocked(data: dict[str, Any]) -> Case:
    texts = tuple(app["text"] for app in data["apps"])
    indexed = any("@index" in text.lower() and " join " in text.lower() for text in texts)
    return Case(
        data["id"],
        data["area"],
        texts,
        tuple(data["callbacks"]),
        tuple(data["steps"]),
        tuple(data["outputs"]),
        refused=data["class"] == "error",
        multiset=indexed or not data["run"]["wall_same_data"],
    )


def _replay(data: dict[str, Any]) -> Case:
    sends = [{"op": "send", **step} for step in data["steps"]]
    return Case(
        data["id"],
        data["area"],
        (data["app"],),
        tuple({**callback, "at_step": 0} for callback in data["callbacks"]),
        ({"op": "create", "app": 0}, {"op": "start"}, *sends, {"op": "shutdown"}),
        tuple({**output, "step": output["step"] + 2} for output in data["outputs"]),
        multiset="@index" in data["app"].lower() and " join " in data["app"].lower(),
    )


def _probe(data: dict[str, Any], number: int) -> Case:
    lines = data["answer"] or ()
    answers = [_probe_answer(line, data["callbacks"] or ()) for line in lines]
    results = iter([_probe_result(line) for line in lines if line.startswith("query -> ")])
    steps = [_probe_step(step, results) for step in data["steps"] or ()]
    return Case(
        f"{number}: {data['question']}",
        "probe",
        (data["app"],),
        tuple(_probe_callback(name) for name in data["callbacks"] or ()),
        ({"op": "create", "app": 0}, {"op": "start"}, *steps, {"op": "shutdown"}),
        tuple(answer for answer in answers if answer is not None),
        refused=any(line.startswith("CREATE ERROR") for line in lines),
        notes=tuple(lines),
    )


def _probe_callback(name: str) -> dict[str, Any]:
    _, colon, target = name.partition(":")
    return {"kind": "stream" if colon else "query", "target": target or name, "at_step": 0}


def _probe_step(step: list[Any], results: Iterator[Any]) -> Step:
    match step:
        case ["sleep", ms]:
            return {"op": "sleep", "ms": ms}
        case ["query", text]:
            return {"op": "query", "text": text, "result": next(results)}
        case [stream, values, *time]:
            sent: Step = {"op": "send", "stream": stream, "plain": values}
            return {**sent, "ts": time[0]} if time else sent
    raise ValueError(f"unknown step {step}")


ANSWER = re.compile(r"t=(?P<t>\d+) (?P<name>stream \S+|\S+) (?P<rest>.*)")
RELATIVE = re.compile(r"T\+(\d+)")


def _probe_answer(line: str, names: list[str] | tuple[str, ...]) -> Batch | None:
    """An output from its line; None for remarks and answers of on-demand queries."""
    absolute = RELATIVE.sub(lambda match: str(T0 + int(match[1])), line)
    found = ANSWER.fullmatch(absolute)
    if found is None:
        return None
    name, rest = found["name"], found["rest"]
    if name.startswith("stream "):
        rows = json.loads(rest)
        target = name.removeprefix("stream ")
        callback = [item.partition(":")[2] for item in names].index(target)
        return {"t": int(found["t"]), "cb": callback, "ev": _data(rows), "ts": _times(rows)}
    current, expired = rest.removeprefix("in=").split(" rm=")
    batch = {"t": int(found["t"]), "cb": list(names).index(name)}
    rows = [json.loads(part) if part != "-" else None for part in (current, expired)]
    times = [time for part in rows for time in _times(part or [])]
    return {**batch, "in": _data(rows[0]), "rm": _data(rows[1]), "ts": times}


def _probe_result(line: str) -> list[Any] | None:
    text = line.removeprefix("query -> ")
    return None if text == "-" else _data(json.loads(text))


def _data(rows: list[dict[str, Any]] | None) -> list[Any] | None:
    return None if rows is None else [row["d"] for row in rows]


def _times(rows: list[dict[str, Any]]) -> list[int]:
    return [row["ts"] for row in rows]
