"""The native engine: a plan compiled once, and its runs over batches of source rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Sequence as Many
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cep.clocks import Mode
from cep.dropped import Dropped
from cep.engine.by_interpreter import ByInterpreter, asked
from cep.engine.clock_cells import stream_numbers
from cep.engine.clocks import Clocks
from cep.engine.columns import Column
from cep.engine.compiled import Compiled, Seed
from cep.engine.elsewhere import Elsewhere
from cep.engine.encode import Encoder, InputError
from cep.engine.in_order import InOrder
from cep.engine.input_rows import InputRows
from cep.engine.intake import Intake
from cep.engine.joined import joined, with_lists
from cep.engine.kernels.state import OUT_KEY, OUT_ORDER, OUT_STREAM, Ints
from cep.engine.key_rows import KeyRows
from cep.engine.machine.asked import ask
from cep.engine.machine.stage import MachineRun
from cep.engine.output_rows import OutputRows
from cep.engine.rows import Decoder, Row, Rows
from cep.engine.runner import Runner
from cep.engine.stage_run import StageRun
from cep.engine.strings import Strings
from cep.engine.text_codes import TextCodes
from cep.engine.times import column_msc
from cep.engine.watermarks import Placed, Telling, Watermarks
from cep.plan.keys import declared_keys
from cep.plan.nodes import Plan
from cep.plan.query import OnDemandQuery
from cep.plan.types import Type

__all__ = ["Compiled", "Run", "Seed"]

QueryCallback = Callable[[int, list[Row] | None, list[Row] | None], None]
"""Told (time of the newest row, current rows, expired rows); None: there are none of a kind."""


class Run:
    """The run state of compiled rules: feed it rows in order, it returns what they cause."""

    def __init__(self, rules: Compiled, keys: Many[str] = (), mode: Mode = "lived") -> None:
        self.rules = rules
        streams = [name for _, name in sorted(rules.ids.names().items())]
        cells = rules.stages.clocks
        others = stream_numbers(cells, {name: rules.ids.of(name) for name in streams})
        self.clocks = Clocks(mode, streams, others, has_one=bool(rules.plan.compat))
        self._elsewhere = Elsewhere(rules.plan, rules.ids, len(cells))
        self.strings = Strings(rules.literals)
        by = rules.stages.by
        # of what was lived each key is late by itself, also where nothing else works by keys
        self._keys = by.keys if mode == "sorted" else declared_keys(rules.plan)
        widths = rules.stages.row_widths
        self.encoder = Encoder(rules.plan, rules.ids, self.strings, self._keys, widths)
        if rules.jit:
            self.encoder.intake = Intake(widths, waits=rules.waits)
            self.encoder.text_codes = TextCodes(self.strings, waits=rules.waits)
        self.decoder = Decoder(
            rules.plan, rules.ids.names(turns=True), self.strings, rules.ids.wide
        )
        self.key_rows = KeyRows(self.strings, self.decoder.key_codes, self._opened)
        self.runner: Runner = self._runner()
        self._opens_keys = rules.module is not None and any(
            event.key is not None and not by.holds_key(event.source, event.key)
            for event in rules.plan.events
        )
        self._takes_in = (
            not self._opens_keys
            and not any(stream.elsewhere for stream in rules.plan.sources)
            and isinstance(self.runner, StageRun | MachineRun)
        )
        """Whether rows may be written over those before them, with key rows and clocks."""
        self._on_query: defaultdict[str, list[QueryCallback]] = defaultdict(list)
        self.has_clocks = rules.module is not None
        """Whether rows need their clocks: programs and the interpreter have clocks of their own."""
        self._has_wall = rules.plan.playback is not None
        self._wanted = self._wanted_streams()
        self._puts_more_out = rules.module is not None and bool(rules.plan.engines)
        """Whether rows may come out that nobody has asked for."""
        self._is_more_than_rows = (
            self._puts_more_out or bool(rules.told) or _has_objects(rules.plan)
        )
        """Whether there is more to do about what comes out than to hand it on."""
        self.masks = with_lists(rules.plan, rules.ids)
        self._nothing = Rows(self.decoder, self.no_rows())
        self.next_order = 0
        self.watermarks = Watermarks()
        self.open_keys([*rules.plan.keys, *keys])
        self.runner.open_keys(np.array(self.decoder.key_codes[1:], np.int64))

    def _runner(self) -> Runner:
        rules = self.rules
        if rules.module is not None:
            return StageRun(rules.module, self.clocks)
        if rules.program is not None:
            own = (rules.program, self.strings, rules.jit, rules.waits)
            machine = MachineRun(*own, self.key_rows, len(rules.ids))
            if not any(stream.reorder for stream in rules.plan.streams):
                return machine
            lived = self.clocks.mode == "lived"
            return InOrder(machine, rules.plan, rules.ids, rules.stages.row_widths, lived=lived)
        return ByInterpreter(
            rules.plan, rules.ids, rules.outputs, self.decoder, rules.stages.row_widths,
            self.clocks.mode, lambda: self.encoder.objects, self.key_rows.of,
        )  # fmt: skip

    @property
    def machine(self) -> MachineRun | None:
        """The program at work, of rules that are one."""
        runner = self.runner
        if isinstance(runner, InOrder):
            return runner.inner
        return runner if isinstance(runner, MachineRun) else None

    @property
    def interpreting(self) -> ByInterpreter | None:
        """The interpreter at work, of rules that it runs."""
        return self.runner if isinstance(self.runner, ByInterpreter) else None

    def _wanted_streams(self) -> NDArray[np.bool_]:
        wanted = np.zeros(len(self.rules.ids), np.bool_)
        for name in self.rules.outputs:
            wanted[self.rules.ids.of(name)] = True
        wanted[list(self.rules.ids.wide)] = True
        return wanted

    @property
    def keys(self) -> list[str]:
        """The keys that have a slot, in order of their slots."""
        return [self.strings.values[code] for code in self.decoder.key_codes[1:]]

    def adopt(self, strings: list[str], key_codes: list[int], next_order: int) -> None:
        """Take over the dictionary and the keys of a snapshot, into a run just started."""
        for text in strings:
            self.strings.code(text)
        self.key_rows.open(key_codes[1:])
        self.next_order = next_order

    def open_keys(self, keys: Iterable[str]) -> None:
        """Give keys the next slots; those that have one keep it."""
        self.key_rows.open([self.strings.code(key) for key in dict.fromkeys(keys)])

    def number_by(self, n_of: Callable[[int], int]) -> None:
        """Let functions see other numbers of records than the places that these have here."""
        self.runner.n_of = n_of

    def key_row(self, key: str) -> int:
        """The row of a key in the state, opened on first sight."""
        code = self.strings.code(key)
        self.key_rows.open([code])
        return self.key_rows.row(code)

    def _opened(self, codes: Ints, strings: int) -> None:
        self.runner.add_keys(codes, strings)

    def adopt_keys(self) -> None:
        """Learn the keys that a module has opened itself for values made inside the plan."""
        if isinstance(self.runner, StageRun) and self._opens_keys:
            first, known = len(self.decoder.key_codes), self.runner.keys
            if known >= first:
                self.key_rows.adopt(self.runner.state.ki[first : known + 1, 0])

    def warm_up(self, *, in_child: bool = False) -> None:
        """Compile or load the kernels now rather than at the first row.

        With `in_child` another process compiles, so that other threads of this one can work; where
        the rules do not wait, nobody waits for it.
        """
        if in_child:
            self.runner.fetch(waits=self.rules.waits)
        nothing = self.no_rows()
        self.runner.feed(InputRows(nothing.ints, nothing.floats), [])

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
        if order is None:
            order = range(self.next_order, self.next_order + len(time_msc))
        given = self.encoder.given(stream, columns, time_msc, order)
        intake = self.encoder.intake
        if not self._takes_in or intake is None:
            return self.feed(self.encoder.written(given))
        clocks = self.clocks if self.has_clocks else None
        rows, is_assigned = intake.assigned(given, self.key_rows, clocks)
        if not is_assigned:
            return self.feed(rows)
        return self._feed_ready(rows)

    def push_row(self, stream: str, time_msc: int, row: Mapping[str, Any]) -> Rows:
        """Feed one row given as a dictionary."""
        return self.push(stream, {name: [value] for name, value in row.items()}, [time_msc])

    def push_rows(self, stream: str, rows: Iterable[tuple[Any, ...]]) -> Rows:
        """Feed rows of one source stream: tuples of the time in ms UTC, then the values in order.

        InputError, and nothing fed, when one does not fit.
        """
        names = self.encoder.source(stream).schema.names
        wanted = f"give a time, then {', '.join(names)}"
        try:
            given = list(rows)
            width = max(map(len, given), default=0)
            # not `zip`, which begins an iterator for each row: it takes four times as long
            columns = [list(map(itemgetter(place), given)) for place in range(width)]
        except IndexError as problem:
            raise InputError(f"{stream}: rows of unequal length; {wanted}") from problem
        except (TypeError, KeyError) as problem:
            raise InputError(f"{stream}: these are no rows ({problem}); {wanted}") from problem
        if not given:
            return self._nothing
        if width != 1 + len(names):
            raise InputError(f"{stream}: rows of {width} values; {wanted}")
        times, *values = columns
        return self.push(
            stream, dict(zip(names, values, strict=True)), column_msc(times, f"{stream}.time_msc")
        )

    def feed(self, rows: InputRows) -> Rows:
        """Feed encoded rows that stand in total order (`InputRows.merge` for several streams).

        Several may share a place in it: what a database has made of a record, and the record.
        """
        if not self._opens_keys:
            return self._made(self.feed_raw(rows))
        parts = map(self.feed_raw, self._between_new_keys(rows))
        return self._made([made for part in parts for made in part])

    def feed_raw(self, rows: InputRows, told: Iterable[Placed] = ()) -> list[OutputRows]:
        """Feed rows; the raw output. `told` are watermarks of keys between the rows.

        So they need not be cut into batches, where clocks are all that a watermark moves.
        """
        if len(rows):
            self.next_order = int(rows.ints[-1, OUT_ORDER]) + 1
        self._assign_keys(rows.ints)
        self._mark(rows.ints, told)
        return self._feed_assigned(rows)

    def is_even_with(self, other: Run) -> bool:
        """Whether rows that `other` is fed have the same key rows and clocks here; then they may
        come by `feed_behind`. Asked before it is fed. O(keys).
        """
        return (
            self._takes_in
            and other._takes_in
            and self.has_clocks == other.has_clocks
            and self._keys == other._keys
            and self.key_rows.is_even_with(other.key_rows)
            and (not self.has_clocks or self.clocks.is_even_with(other.clocks))
        )

    def feed_behind(self, other: Run, rows: InputRows) -> Rows:
        """Feed rows that `other`, with which this run was even, has been fed by `feed`: it has
        written their key rows and clocks.
        """
        self.key_rows.follow(other.key_rows)
        if self.has_clocks:
            self.clocks.follow(other.clocks)
        return self._feed_ready(rows)

    def feed_until_signal(self, rows: InputRows, start: int) -> tuple[int, Rows]:
        """Feed encoded rows, as `feed` takes them, from one on, at most up to the first that leads
        to a signal among what is put out: how many of all are done then, and their output.
        """
        if not isinstance(self.runner, MachineRun):  # others can only stop where they end
            made = self._nothing
            while start < len(rows) and not len(made):
                made = self.feed(rows.part(start, start + 1))
                start += 1
            return start, made
        taken: list[OutputRows] = []
        done = self.runner.feed_until_signal(rows, start, taken)
        if done > start:
            self._assign_keys(rows.ints[start:done])
            self.next_order = int(rows.ints[done - 1, OUT_ORDER]) + 1
        return done, self._made(taken)

    def feed_in_parts(self, rows: InputRows) -> Iterator[Rows]:
        """The same, of a module a fair amount of rows at a time; feed nothing else before the last
        came.
        """
        is_whole = self._opens_keys or self.encoder.objects or self._puts_more_out
        if is_whole or not isinstance(self.runner, StageRun):
            yield self.feed(rows)
            return
        if len(rows):
            self.next_order = int(rows.ints[-1, OUT_ORDER]) + 1
        self._assign_keys(rows.ints)
        self.clocks.mark(rows.ints)
        self.key_rows.fit()
        for made in self.runner.feed_in_parts(rows):
            yield Rows(self.decoder, made)

    def advance(
        self, time_msc: int, order: int | None = None, *, is_complete: bool = False
    ) -> Rows:
        """Let time pass without a row: what is due fires.

        `order` is the place of this step among the records; it defaults to counting on.
        `is_complete`: all earlier rows have come; it is implied where rows are sorted.
        """
        self.clocks.pass_time(time_msc, is_complete=is_complete)
        place = self._place(order)
        return self._made(self.runner.advance(time_msc, place, is_complete=is_complete))

    def end(self, time_msc: int, order: int | None = None) -> Rows:
        """The input ends with a watermark of all keys: what is due by then happens.

        No row comes any more, so that none waits to be put in order. `order` is as in `advance`.
        """
        return self._made(self.runner.end(time_msc, self._place(order)))

    def wall(self, time_msc: int, order: int | None = None) -> Rows:
        """Say what the wall's clock shows: `@app:playback(idle.time=..)` then moves the rows'.

        `order` is as in `advance`. Only the interpreter has such a clock.
        """
        if self.interpreting is None:
            return self._nothing
        interpreter = self.interpreting.interpreter
        before_msc = interpreter.now_ms
        rows = self._made(self.interpreting.wall(time_msc, self._place(order)))
        now_msc = interpreter.now_ms
        if now_msc is not None and now_msc != before_msc:
            self.clocks.pass_time(now_msc)
        return rows

    def tell(self, told: Telling, order: int) -> Rows:
        """Take a watermark, which `order` is the place of.

        What has one clock for all keys goes no further than `watermarks`, which the caller told
        before, allow for every key. Under `@app:playback` it is the wall's clock that moves.
        """
        common_msc = self.watermarks.clock_msc
        is_of_all = told.keys is None or self.clocks.mode == "sorted" or self._has_wall
        if is_of_all and told.keys is not None and common_msc is None:
            return self._nothing
        if is_of_all:
            time_msc = told.time_msc if told.keys is None else common_msc or 0
            return (self.wall if self._has_wall else self.advance)(time_msc, order)
        return self._tell_keys(told, told.keys or (), order)

    def _tell_keys(self, told: Telling, keys: Many[str], order: int) -> Rows:
        rows = [self.key_row(key) for key in keys] if self._keys else []
        common_msc = self.watermarks.clock_msc
        self.clocks.pass_time_of(rows, told.time_msc, common_msc, is_complete=told.is_complete)
        self.next_order = order + 1
        return self._made(self.runner.tell(told, common_msc, order))

    def _place(self, order: int | None) -> int:
        """The place of a step among the records; by default the next."""
        place = self.next_order if order is None else order
        self.next_order = place + 1
        return place

    def on_query(self, name: str, callback: QueryCallback) -> None:
        """Call back with the rows of a query, expired ones too, when what it was fed is done.

        KeyError: the rules were not compiled to be `told` of it, or there is none.
        """
        if self.interpreting is not None and name not in self._on_query:
            self.interpreting.tell_of(name)
        elif self.interpreting is None and name not in self.rules.told:
            raise KeyError(f"no query {name!r} is told of; compile the rules with told=[{name!r}]")
        self._on_query[name].append(callback)

    def _tell(self) -> None:
        """Call back with what queries have put out."""
        told = self.runner.told[:]
        self.runner.told.clear()
        for name, current, expired in told:
            if not (current or expired):
                continue  # a window was emptied, or a rate has nothing to say
            newest_msc = max(row["time_msc"] for row in (*current, *expired))
            for callback in self._on_query[name]:
                callback(newest_msc, current or None, expired or None)

    def ask(self, query: OnDemandQuery) -> list[Row]:
        """Answer an on-demand query on what tables, windows and aggregations hold now."""
        if self.machine is not None:
            return ask(self.machine, self.rules.plan, query)
        if self.interpreting is None:
            raise KeyError("the rules hold no table, named window or aggregation to ask")
        return asked(self.interpreting.interpreter, query)

    def _between_new_keys(self, rows: InputRows) -> list[InputRows]:
        """The rows, cut before each new key where rules open keys of their own in between.

        So slots follow the first appearance of keys row by row, whatever the batches. A record and
        what a database has made of it, which share a place in the order, stay together.
        """
        if not len(rows):
            return [rows]
        orders, new = rows.ints[:, OUT_ORDER], self.key_rows.first_places(rows.ints[:, OUT_KEY])
        firsts = dict.fromkeys(np.searchsorted(orders, orders[new]).tolist())
        cuts = [0, *(place for place in firsts if place), len(rows)]
        return [rows.part(a, b) for a, b in pairwise(cuts)]

    def _mark(self, ints: Ints, told: Iterable[Placed]) -> None:
        """Write the clocks of rows, between which watermarks of keys move these."""
        done, orders = 0, ints[:, OUT_ORDER]
        last: dict[object, Placed] = {}  # of each kind, the one that no other has overtaken yet
        for placed in told:
            if done < len(orders) and orders[done] <= placed[0]:
                upto = done + int(np.searchsorted(orders[done:], placed[0], side="right"))
                self._tell_last(last)
                self._write_clocks(ints[done:upto])
                done = upto
            kind = placed[1][1:]
            if kind not in last or last[kind][1].time_msc < placed[1].time_msc:
                last[kind] = placed
        self._tell_last(last)
        self._write_clocks(ints[done:])

    def _write_clocks(self, ints: Ints) -> None:
        if self.has_clocks:
            self._elsewhere.mark(self.clocks, ints)

    def _tell_last(self, last: dict[object, Placed]) -> None:
        for order, found in last.values():
            self.tell(found, order)
        last.clear()

    def _feed_ready(self, rows: InputRows) -> Rows:
        """Feed rows, at least one, that have their key rows and clocks."""
        self.next_order = int(rows.ints[-1, OUT_ORDER]) + 1
        return self._made(self._feed_assigned(rows))

    def _feed_assigned(self, rows: InputRows) -> list[OutputRows]:
        taken: list[OutputRows] = []
        if self._opens_keys:
            self.key_rows.fit()
        if self.rules.ordered is not None:
            self.rules.ordered.order(len(rows))
        self.runner.feed(rows, taken)
        self.adopt_keys()
        return taken

    def feed_row(self, row: InputRows) -> Rows:
        """Feed one row that `RowFeed` has encoded, with key row, clock and place in the order."""
        self.next_order += 1
        if self._opens_keys:
            self.key_rows.fit()
            made = self.runner.feed_row(row)
            self.adopt_keys()
        else:
            made = self.runner.feed_row(row)
            if not self._is_more_than_rows:
                if not made:
                    return self._nothing
                if len(made) == 1:
                    return Rows(self.decoder, made[0])
        return self._made(made)

    def feed_assigned(self, rows: InputRows) -> Rows:
        """Feed rows, at least one, whose key rows (`key_row`) are in place already."""
        if self.has_clocks:
            self.clocks.mark(rows.ints)
        return self._feed_ready(rows)

    def _assign_keys(self, ints: Ints) -> None:
        """Replace the key codes of encoded rows by key rows, opening rows for new keys in order."""
        codes = ints[:, OUT_KEY]
        if not self._keys:
            codes[:] = 0
            return
        ints[:, OUT_KEY] = self.key_rows.of(codes)

    def _made(self, parts: list[OutputRows]) -> Rows:
        """Of raw output, which is in order, what is wanted."""
        if self.runner.told:
            self._tell()
        objects = self.encoder.objects
        if objects:
            self.encoder.objects = []
        if not parts:
            return self._nothing
        part = parts[0] if len(parts) == 1 else joined(self.masks, parts)
        if self._puts_more_out:
            part = self.wanted(part)
        return Rows(self.decoder, part, objects)

    def wanted(self, part: OutputRows) -> OutputRows:
        """The rows of the streams that are put out."""
        is_wanted = self._wanted[part.ints[:, OUT_STREAM]]
        if is_wanted.all():
            return part
        places = np.flatnonzero(is_wanted)
        return OutputRows(part.ints[places], part.floats[places], part.lists)

    def no_rows(self) -> OutputRows:
        ints, floats = self.rules.stages.row_widths
        return OutputRows(
            np.empty((0, ints), np.int64), np.empty((0, floats)), np.empty(0, np.int64)
        )

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far."""
        return self.runner.dropped()


def _has_objects(plan: Plan) -> bool:
    """Whether values may be objects, which the encoder keeps until their rows are done."""
    schemas = (stream.schema for stream in plan.streams)
    kept = (Type.OBJECT, Type.LIST)
    return any(attribute.type in kept for schema in schemas for attribute in schema.attributes)
