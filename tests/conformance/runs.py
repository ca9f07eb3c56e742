"""Runs a case step by step and notes what comes out, in the recorded form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cep.lang.errors import RuleError
from cep.plan.types import Schema
from tests.conformance.cases import T0, Batch, Case, Step, plain_value, value
from tests.conformance.drivers import Driver


class CaseRun:
    """One run of one case; `outputs` as recorded, but with plain values."""

    def __init__(self, case: Case, make: Callable[[str], Driver]) -> None:
        self.case = case
        self.outputs: list[Batch] = []
        self.answers: list[tuple[int, Any]] = []
        self._make = make
        self._drivers: dict[int, Driver] = {}
        self._running: set[int] = set()
        self._listening: set[int] = set()
        self._wall_ms = T0
        self._step = 0
        self._saved: bytes | None = None

    def run(self) -> None:
        """All steps; RuleError when an app is refused."""
        for number, step in enumerate(self.case.steps):
            self._step = number
            self._listening |= {
                index
                for index, callback in enumerate(self.case.callbacks)
                if callback["at_step"] == number
            }
            self._do(step, step.get("app", 0))

    def _do(self, step: Step, app: int) -> None:
        match step["op"]:
            case "create":
                self._create(app)
            case "start":
                self._running.add(app)
                self._drivers[app].start(self._wall_ms)
                self._drivers[app].pass_time(self._wall_ms)
            case "send":
                self._send(step, app)
            case "sleep":
                self._sleep(step["ms"])
            case "query":
                self._query(step["text"], app)
            case "persist" | "snapshot":
                self._saved = self._drivers[app].snapshot()
            case "restore" | "restoreRevision" | "restoreLastRevision":
                if self._saved is not None:
                    self._drivers[app].restore(self._saved)
                    if app in self._running:
                        self._drivers[app].pass_time(self._wall_ms)
            case "shutdown":
                self._running.discard(app)
            case other:
                raise ValueError(f"unknown step {other}")

    def _create(self, app: int) -> None:
        driver = self._drivers[app] = self._make(self.case.apps[app])
        for number in self._callbacks_of(app):
            callback = self.case.callbacks[number]
            driver.on(callback["kind"], callback["target"], self._listener(app, number))

    def _callbacks_of(self, app: int) -> list[int]:
        callbacks = enumerate(self.case.callbacks)
        return [number for number, callback in callbacks if callback.get("app", 0) == app]

    def _listener(self, app: int, number: int) -> Callable[[Any, Any], None]:
        is_query = self.case.callbacks[number]["kind"] == "query"

        def told(current: Any, expired: Any) -> None:
            if app not in self._running or number not in self._listening:
                return
            times = [time for rows in (current, expired) for time, _ in rows or ()]
            wall_ms = self._drivers[app].wall_ms(self._wall_ms)
            batch: Batch = {"step": self._step, "t": wall_ms - T0, "cb": number, "ts": times}
            if is_query:
                self.outputs.append({**batch, "in": _values(current), "rm": _values(expired)})
            else:
                self.outputs.append({**batch, "ev": _values(current)})

        return told

    def _send(self, step: Step, app: int) -> None:
        events = step.get("events") or [step.get("event") or step]
        driver, stream = self._drivers[app], step["stream"]
        schema = driver.plan.stream(stream).schema
        tells_types = "instanceOf" in self.case.apps[app]
        make = _typed_row if tells_types and "data" in events[0] else _row
        rows = [(event.get("ts", self._wall_ms), make(event, schema)) for event in events]
        driver.send(stream, rows)
        if app in self._running and driver.plan.playback is None:
            driver.pass_time(self._wall_ms)  # what a late row has made due fires at once

    def _sleep(self, ms: int) -> None:
        to_ms = self._wall_ms + ms
        for number in sorted(self._running):
            self._drivers[number].pass_time(to_ms)
        self._wall_ms = to_ms

    def _query(self, text: str, app: int) -> None:
        try:
            self.answers.append((self._step, self._drivers[app].ask(text)))
        except (RuleError, ValueError) as error:
            self.answers.append((self._step, error))


def _row(event: Step, schema: Schema) -> list[Any]:
    if "plain" not in event:
        return [value(item) for item in event["data"]]
    attributes = zip(event["plain"], schema.attributes, strict=True)
    return [plain_value(raw, attribute.type) for raw, attribute in attributes]


NUMPY = {"i": np.int32, "l": np.int64, "f": np.float32, "d": np.float64}


def _typed_row(event: Step, schema: Schema) -> list[Any]:
    """As `_row`, but numbers of other types than their attributes say which they are."""
    return [
        NUMPY[typed[0]](typed[1])
        if typed[0] in NUMPY and attribute.type[0] != typed[0]
        else value(typed)
        for typed, attribute in zip(event["data"], schema.attributes, strict=True)
    ]


def _values(rows: list[tuple[int, list[Any]]] | None) -> list[list[Any]] | None:
    if rows is None:
        return None
    return [[one.item() if isinstance(one, np.generic) else one for one in row] for _, row in rows]
