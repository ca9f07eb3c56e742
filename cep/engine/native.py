"""The native engine: a plan compiled once, and its runs over batches of source rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Sequence as Many
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cep.clocks import Mode
from cep.dropped import Dropped
from cep.engine.by_interpreter import ByInterpreter, QueryCallback, asked, tell_of_query
from cep.engine.clock_cells import stream_numbers, tell_clocks
from cep.engine.clocks import Clocks
from cep.engine.compiled import Compiled, Seed
from cep.engine.elsewhere import Elsewhere
from cep.engine.encode import Column, Encoder, InputError, InputRows
from cep.engine.interpreted import InterpretedStage
from cep.engine.kernels.state import (
    LEVEL,
    OUT_KEY,
    OUT_ORDER,
    OUT_STREAM,
    Ints,
)
from cep.engine.key_rows import KeyRows
from cep.engine.machine import library
from cep.engine.machine.asked import ask
from cep.engine.machine.stage import MachineRun
from cep.engine.rows import Decoder, Row, Rows
from cep.engine.sequence import AWAITED, LEVELS, Sequence, StageRows, found_by, kinds
from cep.engine.single import FULL, OUTPUT
from cep.engine.stage_run import OutputRows, StageRun, passed_on
from cep.engine.stages import BEHIND, CROSSING, INTERPRETED, KEYED, TIMED
from cep.engine.strings import Strings
from cep.engine.times import column_msc
from cep.engine.watermarks import Placed, Telling, Watermarks
from cep.interpreter.interpreter import Interpreter
from cep.plan.keys import declared_keys
from cep.plan.query import OnDemandQuery

__all__ = ["Compiled", "Run", "Seed"]


class Run:
    """The run state of compiled rules: feed it rows in order, it returns what they cause."""

    def __init__(self, rules: Compiled, keys: Many[str] = (), mode: Mode = "lived") -> None:
        self.rules = rules
        streams = [name for _, name in sorted(rules.ids.names().items())]
        self._cells = rules.stages.clocks
        numbers = {name: rules.ids.of(name) for name in streams}
        others = stream_numbers(self._cells, numbers)
        self.clocks = Clocks(mode, streams, others, has_one=bool(rules.plan.compat))
        self.elsewhere = Elsewhere(rules.plan, rules.ids, len(self._cells))
        self.strings = Strings(rules.literals)
        self.stages: dict[int, StageRun] = {
            stage: StageRun(compiled) for stage, compiled in rules.compiled.items()
        }
        self.machine: MachineRun | None = None
        self._awaits_library = mode == "sorted" and rules.needs_program and not self.machine
        by = rules.stages.by
        # of what was lived each key is late by itself, also where nothing else works by keys
        self._keys = by.keys if mode == "sorted" else declared_keys(rules.plan)
        self.encoder = Encoder(
            rules.plan, rules.ids, self.strings, self._keys, rules.stages.row_widths
        )
        self.decoder = Decoder(
            rules.plan, rules.ids.names(turns=True), self.strings, rules.ids.wide
        )
        self.key_rows = KeyRows(self.strings, self.decoder.key_codes, self._opened)
        self.all = self._runs_all()
        """What runs all of the rules, where they are not in stages."""
        if self.all is not None:
            self.stages[KEYED] = cast(StageRun, self.all)
        later = [stage for stage in rules.stages.used() if stage != KEYED]
        self._direct = {stage: self._direct_streams(stage) for stage in later}
        self._passed = {stage: passed_on(rules.stages, rules.ids, stage) for stage in later}
        self._awaited = np.any([np.zeros(len(rules.ids)), *self._direct.values()], axis=0)
        own = rules.stages, rules.ids, rules.outputs, self.decoder, mode
        self.interpreted = InterpretedStage(*own) if rules.stages.has_interpreter else None
        self._later = tuple(later)
        self._alone = self._only_stage()
        self._has_wall = rules.plan.playback is not None
        self._one_row = np.array([self._alone or 0])
        self._wanted = self._wanted_streams()
        self._opens_keys = any(
            event.key is not None and not rules.stages.by.holds_key(event.source, event.key)
            for event in rules.plan.events
        )
        self.kinds = kinds(rules.plan, rules.ids)
        self._found = found_by(rules.plan, rules.ids)
        none = self.no_rows()
        self._nothing = Rows(self.decoder, none.ints, none.floats, none.lists, none.lists)
        self.next_order = self.handed_on = 0
        """How many rows later stages could take so far."""
        self.watermarks = Watermarks()
        self.open_keys([*rules.plan.keys, *keys])
        if self.all is not None:
            self.all.open_keys(np.array(self.decoder.key_codes[1:], np.int64))

    def _runs_all(self) -> MachineRun | ByInterpreter | None:
        """What runs all of the rules, where they are not in stages."""
        rules = self.rules
        if rules.program is not None:
            own = (rules.program, self.strings, rules.jit, rules.waits)
            self.machine = MachineRun(*own, self.key_rows.of, len(rules.ids))
            return self.machine
        if not rules.stages.is_whole:
            return None
        return ByInterpreter(
            rules.plan, rules.ids, rules.outputs, self.decoder, rules.stages.row_widths,
            self.clocks.mode, lambda: self.encoder.objects, self.key_rows.of,
        )  # fmt: skip

    def _direct_streams(self, stage: int) -> NDArray[np.bool_]:
        """By stream id: whether it is a source whose rows come to a later stage first."""
        stages, ids = self.rules.stages, self.rules.ids
        direct = np.zeros(len(ids), np.bool_)
        for source in self.rules.plan.sources:
            direct[ids.of(source.name)] = stages.first(source.name) == stage
        return direct

    @property
    def interpreting(self) -> ByInterpreter | InterpretedStage | None:
        """What has an interpreter for all of the rules, or some."""
        return self.all if isinstance(self.all, ByInterpreter) else self.interpreted

    @property
    def interpreter(self) -> Interpreter | None:
        """What interprets all of the rules, or some."""
        return None if self.interpreting is None else self.interpreting.interpreter

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

    def adopt(
        self, strings: list[str], key_codes: list[int], next_order: int, handed_on: int
    ) -> None:
        """Take over the dictionary and the keys of a snapshot, into a run just started."""
        for text in strings:
            self.strings.code(text)
        self.key_rows.open(key_codes[1:])
        self.next_order, self.handed_on = next_order, handed_on

    def open_keys(self, keys: Iterable[str]) -> None:
        """Give keys the next slots; those that have one keep it."""
        self.key_rows.open([self.strings.code(key) for key in dict.fromkeys(keys)])

    def number_by(self, n_of: Callable[[int], int]) -> None:
        """Let functions see other numbers of records than the places that these have here."""
        one = self.all or self.interpreted
        if one is not None:
            one.n_of = n_of

    def key_row(self, key: str) -> int:
        """The row of a key in the state, opened on first sight."""
        code = self.strings.code(key)
        self.key_rows.open([code])
        return self.key_rows.row(code)

    def _opened(self, codes: Ints, strings: int) -> None:
        for stage in self.stages.values():
            stage.add_keys(codes, strings)

    def _adopt_keys(self, stage: int) -> None:
        """Learn the keys that a later stage has opened itself for values made inside the plan."""
        own = self.stages[stage]
        if own.keys < len(self.decoder.key_codes):
            return
        first = len(self.decoder.key_codes)
        codes = own.state.ki[first : own.keys + 1, 0]
        self.key_rows.adopt(codes)
        for other, run in self.stages.items():
            if other != stage:
                run.add_keys(codes, self.key_rows.room)

    def warm_up(self, *, in_child: bool = False) -> None:
        """Compile or load the kernels now rather than at the first row.

        With `in_child` another process compiles, so that other threads of this one can work; where
        the rules do not wait, nobody waits for it.
        """
        nothing = self.no_rows()
        for stage in self.stages.values():
            if in_child:
                stage.fetch(waits=self.rules.waits)
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

    def push_rows(self, stream: str, rows: Iterable[tuple[Any, ...]]) -> Rows:
        """Feed rows of one source stream: tuples of the time in ms UTC, then the values in order.

        InputError, and nothing fed, when one does not fit.
        """
        names = self.encoder.source(stream).schema.names
        wanted = f"give a time, then {', '.join(names)}"
        try:
            given = list(rows)
            columns = list(zip(*given, strict=True))
        except TypeError as problem:
            raise InputError(f"{stream}: these are no rows ({problem}); {wanted}") from problem
        except ValueError as problem:
            raise InputError(f"{stream}: rows of unequal length; {wanted}") from problem
        if not given:
            return self._nothing
        if len(columns) != 1 + len(names):
            raise InputError(f"{stream}: rows of {len(columns)} values; {wanted}")
        times, *values = columns
        return self.push(
            stream, dict(zip(names, values, strict=True)), column_msc(times, f"{stream}.time_msc")
        )

    def feed(self, rows: InputRows) -> Rows:
        """Feed encoded rows that stand in total order (`InputRows.merge` for several streams).

        Several may share a place in it: what a database has made of a record, and the record.
        """
        if self._later and (np.diff(rows.ints[:, OUT_ORDER]) == 0).any():
            return self._feed_ranked(rows)
        return self._feed(rows)

    def _feed_ranked(self, rows: InputRows) -> Rows:
        """Feed rows under places of their own, so that what follows from each stays behind it."""
        orders = rows.ints[:, OUT_ORDER].copy()
        first = self.handed_on
        self.handed_on += len(orders)
        rows.ints[:, OUT_ORDER] = first + np.arange(len(orders))
        with ExitStack() as meanwhile:
            meanwhile.enter_context(self.elsewhere.numbered(orders, first))
            if self.interpreted is not None:
                meanwhile.enter_context(self.interpreted.placed(orders, first))
            found = self._feed(rows)
        found.ints[:, OUT_ORDER] = orders[found.ints[:, OUT_ORDER] - first]
        self.next_order = int(orders[-1]) + 1
        return found

    def _feed(self, rows: InputRows) -> Rows:
        if self.all is not None:
            return self._made_by_all(self.feed_keyed(rows))
        made: list[StageRows] = []
        for part in self._between_new_keys(rows):
            made += self._through(self.feed_keyed(part), part)
        return self._rows(made)

    def feed_in_parts(self, rows: InputRows) -> Iterator[Rows]:
        """The same, a fair amount of rows at a time; feed nothing else before the last came."""
        stage = self._alone
        if stage is None or self._opens_keys or self.encoder.objects or self.rules.plan.engines:
            yield self.feed(rows)
            return
        if len(rows):
            self.next_order = int(rows.ints[-1, OUT_ORDER]) + 1
        self._assign_keys(rows.ints)
        self.clocks.mark(rows.ints)
        self.key_rows.fit()
        for part in self.stages[stage].feed_in_parts(rows):
            stages = np.full(len(part.ints), stage)
            yield Rows(self.decoder, part.ints, part.floats, part.lists, stages)

    def advance(
        self, time_msc: int, order: int | None = None, *, is_complete: bool = False
    ) -> Rows:
        """Let time pass without a row: what is due in the interpreter fires.

        `order` is the place of this step among the records; it defaults to counting on.
        `is_complete`: all earlier rows have come; it is implied where rows are sorted.
        """
        self.clocks.pass_time(time_msc, is_complete=is_complete)
        if self.all is not None:
            place = self._place(order)
            return self._made_by_all(self.all.advance(time_msc, place, is_complete=is_complete))
        if self.interpreted is None:
            return self._nothing
        place, objects = self._place(order), self.encoder.objects
        parts = self.interpreted.advance(time_msc, place, objects, is_complete=is_complete)
        return self._made_by(parts)

    def end(self, time_msc: int, order: int | None = None) -> Rows:
        """The input ends with a watermark of all keys: what is due by then happens.

        No row comes any more, so that none waits to be put in order. `order` is as in `advance`.
        """
        if self.all is not None:
            return self._made_by_all(self.all.end(time_msc, self._place(order)))
        if self.interpreted is None:
            return self._nothing
        place, objects = self._place(order), self.encoder.objects
        return self._made_by(self.interpreted.end(time_msc, place, objects))

    def wall(self, time_msc: int, order: int | None = None) -> Rows:
        """Say what the wall's clock shows: `@app:playback(idle.time=..)` then moves the rows'.

        `order` is as in `advance`.
        """
        if self.interpreter is None:
            return self._nothing
        place, objects = self._place(order), self.encoder.objects
        before_msc = self.interpreter.now_ms
        if self.interpreted is not None:
            rows = self._made_by(self.interpreted.wall(time_msc, place, objects))
        else:
            rows = self._made_by_all(cast(ByInterpreter, self.all).wall(time_msc, place))
        now_msc = self.interpreter.now_ms
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
        if self.all is not None:
            return self._made_by_all(self.all.tell(told, common_msc, order))
        if self.interpreted is None:
            return self._nothing
        parts = self.interpreted.tell(told, keys, common_msc, order, self.encoder.objects)
        return self._made_by(parts)

    def _made_by_all(self, made: list[OutputRows]) -> Rows:
        """The rows of what runs all of the rules: in order, those that are wanted alone.

        What time has made stands in front of its record.
        """
        if len(made) != 1:
            return self._rows([(one, self.elsewhere.phases(one.ints)) for one in made])
        (part,), objects = made, self.encoder.objects
        if objects:
            self.encoder.objects = []
        phases = self.elsewhere.phases(part.ints)
        return Rows(self.decoder, part.ints, part.floats, part.lists, phases, objects)

    def _place(self, order: int | None) -> int:
        """The place of a step among the records; by default the next."""
        place = self.next_order if order is None else order
        self.next_order = place + 1
        return place

    def _made_by(self, parts: tuple[OutputRows, OutputRows]) -> Rows:
        """All that follows from what the interpreter made: by time, and otherwise."""
        made = list(zip(parts, (TIMED, INTERPRETED), strict=True))
        return self._rows(self._through([], None, made))

    def on_query(self, name: str, callback: QueryCallback) -> None:
        """Call back with the rows of an interpreted query, expired ones too; KeyError: no such."""
        if self.interpreter is None or name not in self.rules.interpreted:
            raise KeyError(f"no interpreted query {name!r}; name it when compiling")
        tell_of_query(self.interpreter, name, callback)

    def ask(self, query: OnDemandQuery) -> list[Row]:
        """Answer an on-demand query on what tables, windows and aggregations hold now."""
        if self.machine is not None:
            return ask(self.machine, self.rules.plan, query)
        if self.interpreter is None:
            raise KeyError("the rules hold no table, named window or aggregation to ask")
        return asked(self.interpreter, query)

    def _between_new_keys(self, rows: InputRows) -> list[InputRows]:
        """The rows, cut before each new key where rules open keys of their own in between.

        So slots follow the first appearance of keys row by row, whatever the batches.
        """
        if not self._opens_keys or not len(rows):
            return [rows]
        new = self.key_rows.first_places(rows.ints[:, OUT_KEY])
        cuts = [0, *(place for place in new if place), len(rows)]
        return [InputRows(rows.ints[a:b], rows.floats[a:b]) for a, b in pairwise(cuts)]

    def feed_keyed(self, rows: InputRows, told: Iterable[Placed] = ()) -> list[OutputRows]:
        """Feed stage 1 alone; its raw output. `told` are watermarks of keys between the rows.

        So they need not be cut into batches, where clocks are all that a watermark moves.
        """
        if len(rows):
            self.next_order = int(rows.ints[-1, OUT_ORDER]) + 1
        if self._awaits_library:
            library.CODE.is_there(len(rows))  # begun after enough rows, for the next run
        self._assign_keys(rows.ints)
        self._mark(rows.ints, told)
        return self._feed_assigned(rows)

    def _mark(self, ints: Ints, told: Iterable[Placed]) -> None:
        """Write the clocks of rows, between which watermarks of keys move these."""
        done, orders = 0, ints[:, OUT_ORDER]
        last: dict[object, Placed] = {}  # of each kind, the one that no other has overtaken yet
        for placed in told:
            if done < len(orders) and orders[done] <= placed[0]:
                upto = done + int(np.searchsorted(orders[done:], placed[0], side="right"))
                self._tell_last(last)
                self.elsewhere.mark(self.clocks, ints[done:upto])
                done = upto
            kind = placed[1][1:]
            if kind not in last or last[kind][1].time_msc < placed[1].time_msc:
                last[kind] = placed
        self._tell_last(last)
        self.elsewhere.mark(self.clocks, ints[done:])

    def _tell_last(self, last: dict[object, Placed]) -> None:
        for order, found in last.values():
            self.tell(found, order)
        last.clear()

    def _feed_assigned(self, rows: InputRows) -> list[OutputRows]:
        first: list[OutputRows] = []
        if KEYED in self.stages:
            if self._opens_keys:
                self.key_rows.fit()
            self.stages[KEYED].feed(rows, first)
            if self._opens_keys:
                self._adopt_keys(KEYED)
        return first

    def _only_stage(self) -> int | None:
        """The stage that does everything; None where there are several, or the interpreter."""
        used = self.rules.stages.used()
        is_one = len(used) == 1 and used[0] in (KEYED, CROSSING)
        return used[0] if is_one and self.interpreter is None else None

    def feed_row(self, row: InputRows) -> Rows:
        """Feed one row that `RowFeed` has encoded, with key row, clock and place in the order."""
        self.next_order += 1
        if self.all is not None:
            return self._made_by_all(self._feed_assigned(row))
        if self._alone is not None:
            return self._feed_alone(row, self._alone)
        return self.finish(self._feed_assigned(row), row)

    def _feed_alone(self, row: InputRows, stage: int) -> Rows:
        """Feed one row where there is no other stage: nothing is sorted out or put in order."""
        self.key_rows.fit()
        run = self.stages[stage]
        done = run.enter(row)
        made: list[OutputRows] = []
        if done == FULL:
            run.feed(row, made)
        elif done & OUTPUT:
            made.append(run.take())
        if self._opens_keys:
            self._adopt_keys(stage)
        if self.encoder.objects:
            self.encoder.objects = []  # compiled rules put out no objects
        if not made:
            return self._nothing
        if self.rules.plan.engines or len(made) > 1:
            return self._rows([(part, stage) for part in made])
        (part,) = made  # without engines every row that was written is wanted
        stages = self._one_row if len(part.ints) == 1 else np.full(len(part.ints), stage)
        return Rows(self.decoder, part.ints, part.floats, part.lists, stages)

    def feed_assigned(self, rows: InputRows) -> Rows:
        """Feed rows, at least one, whose key rows (`key_row`) are in place already."""
        self.next_order = int(rows.ints[-1, OUT_ORDER]) + 1
        self.clocks.mark(rows.ints)
        return self.finish(self._feed_assigned(rows), rows)

    def finish(self, first: list[OutputRows], rows: InputRows | None = None) -> Rows:
        """Run later stages on what stage 1 put out, and on source rows they read: all rows."""
        if self.all is not None:
            return self._made_by_all(first)
        return self._rows(self._through(first, rows))

    def _through(
        self, first: list[OutputRows], rows: InputRows | None, made: Many[StageRows] = ()
    ) -> list[StageRows]:
        """The output of all stages, given that of stage 1 (or that of some stages: `made`)."""
        found = [*((part, KEYED) for part in first), *made]
        if not self._later:
            return found
        if rows is not None:
            awaited = self._awaited[rows.ints[:, OUT_STREAM]]
            source = OutputRows(rows.ints[awaited], rows.floats[awaited], self._nothing.lists)
            found.append((source, AWAITED))
        if not found:
            return []
        sequence = Sequence.of(self.kinds, found)
        for stage in self._later:
            if stage == INTERPRETED and rows is not None:
                sequence = self._interpret(rows, sequence)
            elif stage != INTERPRETED:
                sequence = self._compiled(stage, sequence, rows)
        return [sequence.made()]

    def _compiled(self, stage: int, sequence: Sequence, rows: InputRows | None) -> Sequence:
        """With the output of a later compiled stage; `rows` are the records, if any are known."""
        output: list[OutputRows] = []
        self.key_rows.fit()
        places = sequence.taken(self._passed[stage], self._direct[stage])
        if not len(places):
            return sequence
        taken = InputRows(sequence.ints[places], sequence.floats[places])
        made_by = sequence.stages[places]
        own = (made_by != INTERPRETED) & (made_by != TIMED)  # the interpreter tells its own
        records = None if rows is None else rows.ints
        tell_clocks(taken.ints, own, self._cells, records, is_behind=stage == BEHIND)
        # each row is a record to the stage: no two may have the same order, whenever they come
        taken.ints[:, OUT_ORDER] = (places + self.handed_on) * LEVELS
        self.stages[stage].state.gi[0, LEVEL] = 1
        self.stages[stage].feed(taken, output)
        self.stages[stage].state.gi[0, LEVEL] = 0
        levels = [part.ints[:, OUT_ORDER] % LEVELS for part in output]
        for part in output:
            part.ints[:, OUT_ORDER] //= LEVELS
            part.ints[:, OUT_ORDER] -= self.handed_on
        self.handed_on += len(sequence.ints)
        self._adopt_keys(stage)
        return sequence.spliced(output, stage, levels, self._found)

    def _interpret(self, rows: InputRows, sequence: Sequence) -> Sequence:
        """With the output of the interpreter: what is due before each record, and its effects."""
        assert self.interpreted is not None
        places = sequence.taken(self._passed[INTERPRETED], self._direct[INTERPRETED])
        taken = self._of(sequence.at(places))
        records, followed = self.elsewhere.records(rows.ints, taken.ints[:, OUT_ORDER])
        timed, caused = self.interpreted.feed(
            taken, places, records, followed, self.encoder.objects
        )
        sequence = sequence.spliced([caused], INTERPRETED)
        return sequence.preceded(timed, TIMED)

    def _assign_keys(self, ints: Ints) -> None:
        """Replace the key codes of encoded rows by key rows, opening rows for new keys in order."""
        codes = ints[:, OUT_KEY]
        if not self._keys:
            codes[:] = 0
            return
        ints[:, OUT_KEY] = self.key_rows.of(codes)

    def _rows(self, made: list[StageRows]) -> Rows:
        """Wanted output of all stages in order."""
        if not made:
            return self._nothing
        found = Sequence.of(self.kinds, made)
        wanted = self._wanted[found.ints[:, OUT_STREAM]] & (found.stages != AWAITED)
        rows = self._of(found if wanted.all() else found.at(np.flatnonzero(wanted)))
        if self.encoder.objects:
            self.encoder.objects = []
        return rows

    def _of(self, one: Sequence) -> Rows:
        return Rows(self.decoder, one.ints, one.floats, one.lists, one.stages, self.encoder.objects)

    def no_rows(self) -> OutputRows:
        ints, floats = self.rules.stages.row_widths
        return OutputRows(
            np.empty((0, ints), np.int64), np.empty((0, floats)), np.empty(0, np.int64)
        )

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far, by all stages."""
        inside = Dropped() if self.interpreted is None else self.interpreted.interpreter.dropped
        return sum((stage.dropped() for stage in self.stages.values()), inside)
