"""The native engine: a plan compiled once, and its runs over batches of source rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from cep.engine.encode import Column, Encoder, InputRows
from cep.engine.kernels.state import (
    OUT_ATTRIBUTES,
    OUT_KEY,
    OUT_ORDER,
    OUT_STREAM,
    Ints,
)
from cep.engine.layout import StreamIds, row_widths
from cep.engine.rows import Decoder, Rows
from cep.engine.stage_run import (
    CompiledStage,
    OutputRows,
    StageRun,
    compile_stage,
    crossing_streams,
)
from cep.engine.stages import CROSSING, KEYED, Stages
from cep.engine.strings import Strings
from cep.plan.nodes import Origin, Plan


class Compiled:
    """Compiled rules: immutable, shareable between runs.

    `outputs` names the streams whose rows are returned (default: every derived stream). With
    `jit=False` the same generated source runs as plain Python.
    """

    def __init__(
        self, plan: Plan, *, outputs: Iterable[str] | None = None, jit: bool = True
    ) -> None:
        self.plan = plan
        self.jit = jit
        self.stages = Stages.of(plan)
        self.ids = StreamIds(plan)
        derived = {s.name for s in plan.streams if s.origin is not Origin.SOURCE}
        self.outputs = frozenset(derived if outputs is None else derived & set(outputs))
        literals = Strings(plan.keys)
        crossing = {name for name in derived if self.stages.crosses(name)}
        self.compiled: dict[int, CompiledStage] = {
            stage: compile_stage(
                self.stages,
                stage,
                self.ids,
                self.outputs | (crossing if stage == KEYED else set()),
                lambda text: literals.code(text),
                jit,
            )
            for stage in self.stages.used()
        }
        self.literals = tuple(literals.values)

    @property
    def source(self) -> str:
        """The generated Python of all stages."""
        return "\n\n".join(stage.source for stage in self.compiled.values())

    @property
    def fingerprint(self) -> str:
        """Identifies what a snapshot's arrays mean."""
        return hashlib.sha256((self.source + repr(self.plan)).encode()).hexdigest()

    def start(self, keys: Sequence[str] = ()) -> Run:
        """A run with empty state; `keys` get the key slots behind those the rules name."""
        return Run(self, keys)


class Run:
    """The run state of compiled rules: feed it rows in order, it returns what they cause."""

    def __init__(self, rules: Compiled, keys: Sequence[str] = ()) -> None:
        self.rules = rules
        self.strings = Strings(rules.literals)
        self.stages = {stage: StageRun(compiled) for stage, compiled in rules.compiled.items()}
        key = rules.stages.by.key
        self.encoder = Encoder(rules.plan, rules.ids, self.strings, key)
        self.decoder = Decoder(rules.plan, rules.ids.names(), self.strings)
        self._rows_of_codes = np.zeros(256, np.int64)
        self._direct = self._direct_streams()
        self._wanted = self._wanted_streams()
        self._opens_keys = any(
            event.key is not None and not rules.stages.by.holds_key(event.source, event.key)
            for event in rules.plan.events
        )
        self._crossing = crossing_streams(rules.stages, rules.ids)
        self._complex = np.zeros(len(rules.ids), np.bool_)
        self._complex[[rules.ids.of(found.name) for found in rules.plan.complexes]] = True
        none = self.no_rows()
        self._nothing = Rows(self.decoder, none.ints, none.floats, none.lists, none.lists)
        self.next_order = 0
        self.open_keys([*rules.plan.keys, *keys])

    def _direct_streams(self) -> Ints:
        """Ids of source streams that stage 2 reads itself."""
        stages, ids = self.rules.stages, self.rules.ids
        return np.array(
            [ids.of(s.name) for s in self.rules.plan.sources if stages.readers(s.name, CROSSING)],
            np.int64,
        )

    def _wanted_streams(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        wanted = np.zeros(len(self.rules.ids), np.bool_)
        for name in self.rules.outputs:
            wanted[self.rules.ids.of(name)] = True
        return wanted

    @property
    def keys(self) -> list[str]:
        """The keys that have a slot, in order of their slots."""
        return [self.strings.values[code] for code in self.decoder.key_codes[1:]]

    def adopt(self, strings: list[str], key_codes: list[int], next_order: int) -> None:
        """Take over the dictionary and the keys of a snapshot, into a run just started."""
        for text in strings:
            self.strings.code(text)
        self._open([code for code in key_codes[1:] if not self._row_of(code)])
        self.next_order = next_order

    def open_keys(self, keys: Iterable[str]) -> None:
        """Give keys the next slots; those that have one keep it."""
        codes = [self.strings.code(key) for key in dict.fromkeys(keys)]
        self._open([code for code in codes if not self._row_of(code)])

    def key_row(self, key: str) -> int:
        """The row of a key in the state, opened on first sight."""
        if not self._row_of(self.strings.code(key)):
            self.open_keys([key])
        return self._row_of(self.strings.code(key))

    def _row_of(self, code: int) -> int:
        return int(self._rows_of_codes[code]) if code < len(self._rows_of_codes) else 0

    def _open(self, codes: list[int]) -> None:
        known = len(self.strings)
        if known >= len(self._rows_of_codes):
            wider = np.zeros(2 * known, np.int64)
            wider[: len(self._rows_of_codes)] = self._rows_of_codes
            self._rows_of_codes = wider
        first = len(self.decoder.key_codes)
        self._rows_of_codes[codes] = np.arange(first, first + len(codes))
        self.decoder.key_codes += codes
        for stage in self.stages.values():
            stage.add_keys(np.array(codes, np.int64), len(self._rows_of_codes))

    def _fit_strings(self) -> None:
        """Room for every string's key row, also in the kernels, which look up strings of rows."""
        if len(self.strings) >= len(self._rows_of_codes):
            self._open([])

    def _adopt_keys(self) -> None:
        """Learn the keys that stage 2 has opened itself for values made inside the plan."""
        crossing = self.stages.get(CROSSING)
        if crossing is None or crossing.keys < len(self.decoder.key_codes):
            return
        first = len(self.decoder.key_codes)
        codes = crossing.state.ki[first : crossing.keys + 1, 0]
        self._rows_of_codes[codes] = np.arange(first, first + len(codes))
        self.decoder.key_codes += codes.tolist()
        if KEYED in self.stages:
            self.stages[KEYED].add_keys(codes, len(self._rows_of_codes))

    def warm_up(self) -> None:
        """Compile or load the kernels now rather than at the first row."""
        nothing = self.no_rows()
        for stage in self.stages.values():
            stage.feed(InputRows(nothing.ints, nothing.floats), [])

    def push(
        self,
        stream: str,
        columns: Mapping[str, Column],
        time_msc: Column,
        order: Column | None = None,
    ) -> Rows:
        """Feed rows of one source stream, a column per attribute; `order` defaults to counting on.

        InputError when the columns do not fit the stream.
        """
        n = len(time_msc)
        if order is None:
            order = np.arange(self.next_order, self.next_order + n)
        return self.feed(self.encoder.encode(stream, columns, time_msc, order))

    def push_row(self, stream: str, time_msc: int, row: Mapping[str, Any]) -> Rows:
        """Feed one row given as a dictionary."""
        return self.push(stream, {name: [value] for name, value in row.items()}, [time_msc])

    def feed(self, rows: InputRows) -> Rows:
        """Feed encoded rows that stand in total order (`InputRows.merge` for several streams)."""
        first: list[OutputRows] = []
        second: list[OutputRows] = []
        for part in self._between_new_keys(rows):
            made = self.feed_keyed(part)
            first += made
            second += self._crossed(made, part)
        return self._rows(first, second)

    def _between_new_keys(self, rows: InputRows) -> list[InputRows]:
        """The rows, cut before each new key where stage 2 opens keys of its own in between.

        So slots follow the first appearance of keys row by row, whatever the batches.
        """
        if not self._opens_keys or not len(rows):
            return [rows]
        codes, places = np.unique(rows.ints[:, OUT_KEY], return_index=True)
        new = [place for code, place in zip(codes.tolist(), places.tolist(), strict=True)
               if code >= 0 and not self._row_of(code)]  # fmt: skip
        cuts = [0, *sorted(place for place in new if place), len(rows)]
        return [InputRows(rows.ints[a:b], rows.floats[a:b]) for a, b in pairwise(cuts)]

    def feed_keyed(self, rows: InputRows) -> list[OutputRows]:
        """Feed stage 1 alone; its raw output."""
        if len(rows):
            self.next_order = int(rows.ints[-1, OUT_ORDER]) + 1
        self._assign_keys(rows.ints)
        return self._feed_assigned(rows)

    def _feed_assigned(self, rows: InputRows) -> list[OutputRows]:
        first: list[OutputRows] = []
        if KEYED in self.stages:
            self.stages[KEYED].feed(rows, first)
        return first

    def feed_row(self, row: InputRows) -> Rows:
        """Feed one row that `RowFeed` has encoded, key row and place in the order included."""
        self.next_order += 1
        return self.finish(self._feed_assigned(row), row)

    def feed_assigned(self, rows: InputRows) -> Rows:
        """Feed rows, at least one, whose key rows (`key_row`) are in place already."""
        self.next_order = int(rows.ints[-1, OUT_ORDER]) + 1
        return self.finish(self._feed_assigned(rows), rows)

    def finish(self, first: list[OutputRows], rows: InputRows | None = None) -> Rows:
        """Run stage 2 on what stage 1 put out, and on source rows it reads itself: all rows."""
        return self._rows(first, self._crossed(first, rows))

    def _crossed(self, first: list[OutputRows], rows: InputRows | None) -> list[OutputRows]:
        """The output of stage 2."""
        second: list[OutputRows] = []
        if CROSSING in self.stages:
            self._fit_strings()
            following = self._following(rows, first)
            if following is not None:
                self.stages[CROSSING].feed(following, second)
                self._adopt_keys()
        return second

    def _following(self, rows: InputRows | None, first: list[OutputRows]) -> InputRows | None:
        """Input of stage 2: source rows it reads itself, then what stage 1 made of each."""
        parts = []
        if rows is not None and len(self._direct):
            direct = np.isin(rows.ints[:, OUT_STREAM], self._direct)
            parts.append(InputRows(rows.ints[direct], rows.floats[direct]))
        for part in first:
            crossing = self._crossing[part.ints[:, OUT_STREAM]]
            if crossing.any():
                parts.append(InputRows(part.ints[crossing], part.floats[crossing]))
        return InputRows.merge(parts) if parts else None

    def _assign_keys(self, ints: Ints) -> None:
        """Replace the key codes of encoded rows by key rows, opening rows for new keys in order."""
        codes = ints[:, OUT_KEY]
        if self.rules.stages.by.key is None:
            codes[:] = 0
            return
        self._fit_strings()
        valid = np.maximum(codes, 0)
        rows = self._rows_of_codes[valid]
        missing = (rows == 0) & (codes >= 0)
        if missing.any():
            new, places = np.unique(codes[missing], return_index=True)
            self._open(new[np.argsort(places)].tolist())
            rows = self._rows_of_codes[valid]
        ints[:, OUT_KEY] = np.where(codes >= 0, rows, 0)

    def _rows(self, first: list[OutputRows], second: list[OutputRows]) -> Rows:
        """Wanted output of both stages in order."""
        parts = [(part, KEYED) for part in first] + [(part, CROSSING) for part in second]
        if not parts:
            return self._nothing
        offset = 0
        ints = []
        for part, _ in parts:
            moved = part.ints
            if offset:
                moved = moved.copy()
                complexes = self.is_complex(moved[:, OUT_STREAM])
                moved[complexes, OUT_ATTRIBUTES + 2] += offset
            ints.append(moved)
            offset += len(part.lists)
        stage = np.concatenate([np.full(len(p.ints), number) for p, number in parts])
        together = np.concatenate(ints)
        floats = np.concatenate([part.floats for part, _ in parts])
        lists = np.concatenate([part.lists for part, _ in parts])
        places = np.flatnonzero(self._wanted[together[:, OUT_STREAM]])
        if first and second:
            places = places[np.argsort(together[places, OUT_ORDER], kind="stable")]
        return Rows(self.decoder, together[places], floats[places], lists, stage[places])

    def no_rows(self) -> OutputRows:
        ints, floats = row_widths(self.rules.plan)
        return OutputRows(
            np.empty((0, ints), np.int64), np.empty((0, floats)), np.empty(0, np.int64)
        )

    def is_complex(self, streams: Ints) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which stream ids are those of complex events."""
        return self._complex[streams]

    def counters(self) -> dict[str, dict[str, int]]:
        """Per engine: events entered, repeated, late, overfull, evicted."""
        return {
            engine.name: self.stages[self.rules.stages.engine(engine.name)].counters(engine.name)
            for engine in self.rules.plan.engines
            if self.rules.stages.engine(engine.name) in self.stages
        }
