"""The binder's tables for one stage: engines, definitions and rules as one flat int array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cep.dropped import Reason
from cep.engine.kernels import tables as col
from cep.engine.kernels.state import Ints
from cep.engine.layout import Home, Layout, StreamIds
from cep.engine.patterns import Shape, shape_of
from cep.engine.stages import Stages
from cep.plan.change import PartId, chained_part, operator_part
from cep.plan.keys import has_keys
from cep.plan.nodes import Chained, Complex, Engine, Event, Plan, Ref, Repeat

BITS_A_WORD = 62
REPEATS = {Repeat.REJECT: col.REJECT, Repeat.REFRESH: col.REFRESH, Repeat.ALLOW: col.ALLOW}
DROPPED = (Reason.LATE, Reason.REPEAT, Reason.OPPOSITE, Reason.BOUND)
"""The columns `DROPPED_LATE` and so on of a definition."""


@dataclass(slots=True)
class Tables:
    """The flat table and what the state needs to be sized by.

    `bits` are words and bits, by complex event and definition, of what is bound; 0: it is listed.
    Per definition, the complex events that can `end` in it, and whether each for every key at once;
    per complex event, how many events it has at most and whether engines of later stages take it.
    """

    flat: Ints
    definitions: dict[str, int]
    entered: dict[str, int]
    queues: dict[str, int]
    chains: dict[str, int]
    numbers: dict[str, int]
    words: int
    bits: dict[tuple[str, int], tuple[int, int]]
    depth: int
    candidates: int
    absents: int
    ends: dict[str, tuple[tuple[str, bool], ...]]
    lengths: dict[str, int]
    handed: dict[str, int]


class TableBuilder:
    """Builds the tables of one stage; `key_rows` are the rows of keys named in the rules."""

    def __init__(self, stages: Stages, stage: int, ids: StreamIds, layout: Layout) -> None:
        self.stages = stages
        self.stage = stage
        self.plan: Plan = stages.plan
        self.ids = ids
        self.layout = layout
        self.key_rows = {key: row for row, key in enumerate(self.plan.keys, start=1)}
        self.engines = list(stages.engines(stage))
        self.entries: list[Event | Chained] = [*stages.events(stage), *stages.chained(stage)]
        self.definitions = {entry_name(entry): index for index, entry in enumerate(self.entries)}
        own = list(stages.complexes(stage))
        chained = {entry.complex for entry in stages.chained(stage)}
        names = {rule.name for rule in own}
        self.rules = own + [
            c for c in self.plan.complexes if c.name in chained and c.name not in names
        ]
        self.rule_ids = {rule.name: index for index, rule in enumerate(self.rules)}
        self.keyed = {
            entry.name for entry in self.entries if isinstance(entry, Event) and entry.key
        }
        self.keyed |= {rule.name for rule in self.rules if rule.key}
        self.shapes = {rule.name: self._shape(rule) for rule in own}
        self.ends = self._ends()
        self.cells: list[int] = []
        self.chains: dict[str, int] = {}
        self.words_used: dict[int, int] = {}
        self.bits: dict[tuple[str, int], tuple[int, int]] = {}

    def build(self) -> Tables:
        self._assign_bits()
        entered = {engine.name: self.layout.int_columns("global", 1) for engine in self.engines}
        queues = {
            engine.name: self.layout.int_columns(self._home(engine), col.QUEUE_COLUMNS)
            for engine in self.engines
        }
        self.chains = {
            engine.name: self.layout.int_columns("key", col.CHAIN_COLUMNS)
            for engine in self.engines
            if self._home(engine) == "global" and has_keys(self.plan)
        }
        self.numbers = {
            name: self.layout.int_columns("key", col.NUMBER_COLUMNS) for name in self.definitions
        }
        self._write(entered, queues)
        shapes = list(self.shapes.values())
        return Tables(
            flat=np.array(self.cells, dtype=np.int64),
            definitions=self.definitions,
            entered=entered,
            queues=queues,
            chains=self.chains,
            numbers=self.numbers,
            words=max(self.words_used.values(), default=0) // BITS_A_WORD + 1,
            bits=self.bits,
            depth=max((len(shape.leaves) for shape in shapes), default=0) + 3,
            candidates=max((shape.candidates for shape in shapes), default=0) + 2,
            absents=max((len(shape.absents) for shape in shapes), default=0) + 1,
            ends={
                name: tuple((self.rules[rule].name, bool(spread)) for rule, spread in found)
                for name, index in self.definitions.items()
                if (found := self.ends.get(index))
            },
            lengths={name: len(shape.leaves) for name, shape in self.shapes.items()},
            handed={rule.name: len(self._handed(rule)) for rule in self.rules},
        )

    def _home(self, engine: Engine) -> Home:
        return "key" if self.stages.by.is_engine_keyed(engine.name) else "global"

    def _shape(self, rule: Complex) -> Shape:
        return shape_of(rule.pattern, lambda ref: self._reference(rule, ref))

    def _reference(self, rule: Complex, ref: Ref) -> tuple[int, int]:
        """(definition, key row or OWN) of an event named in a rule."""
        name = ref.event if ref.event in self.definitions else f"{ref.event}@{rule.engine}"
        definition = self.definitions[name]
        if ref.key is not None:
            return definition, self.key_rows[ref.key]
        return definition, col.OWN if self._has_key(self.entries[definition]) else 0

    def _has_key(self, entry: Event | Chained) -> bool:
        return (entry.name if isinstance(entry, Event) else entry.complex) in self.keyed

    def _assign_bits(self) -> None:
        """One bit per (rule, definition) in the entries: whether the entry is bound to the rule.

        None where nothing asks for it, nor where an entry may bind many keys and has to list them.
        """
        for name, shape in self.shapes.items():
            keyed = self._rule(name).key is not None
            for leaf, (definition, _) in enumerate(shape.leaves):
                keys = {key for d, key in shape.leaves if d == definition}
                if keyed and keys != {col.OWN}:
                    self.bits[name, definition] = (0, 0)
                elif not shape.is_always_last(leaf) and (name, definition) not in self.bits:
                    bit = self.words_used.get(definition, 0)
                    self.words_used[definition] = bit + 1
                    self.bits[name, definition] = (bit // BITS_A_WORD, 1 << bit % BITS_A_WORD)

    def _rule(self, name: str) -> Complex:
        return self.rules[self.rule_ids[name]]

    def _append(self, cells: list[int]) -> int:
        """Append cells; the offset of the first."""
        offset = len(self.cells)
        self.cells += cells
        return offset

    def _write(self, entered: dict[str, int], queues: dict[str, int]) -> None:
        self.cells = [0] * col.TABLE_HEADER
        self.cells[col.STRIDE] = self.plan.number_stride
        self.cells[col.CLOCK_CELLS] = len(self.stages.clocks)
        engine_at = {
            engine.name: self._append(self._engine(engine, entered, queues))
            for engine in self.engines
        }
        self.cells[col.DEFINITIONS] = self._append([0] * (col.DEF_SIZE * len(self.entries)))
        self.cells[col.RULES] = self._append([0] * (col.RULE_SIZE * len(self.rules)))
        for index, entry in enumerate(self.entries):
            record = self._definition(index, entry, engine_at)
            at = self.cells[col.DEFINITIONS] + index * col.DEF_SIZE
            self.cells[at : at + col.DEF_SIZE] = record
        for index, rule in enumerate(self.rules):
            record = self._rule_record(rule)
            at = self.cells[col.RULES] + index * col.RULE_SIZE
            self.cells[at : at + col.RULE_SIZE] = record
        self._write_streams()

    def _write_streams(self) -> None:
        rules = [-1] * len(self.ids)
        for name, index in self.rule_ids.items():
            rules[self.ids.of(name) if name in self.shapes else self.ids.handed(name)] = index
        raises = [-1] * len(self.ids)
        for entry in self.entries:
            if isinstance(entry, Event):
                raises[self.ids.raised(entry)] = self.definitions[entry.name]
        self.cells[col.STREAM_RULE] = self._append(rules)
        self.cells[col.STREAM_DEF] = self._append(raises)

    def _engine(self, engine: Engine, entered: dict[str, int], queues: dict[str, int]) -> list[int]:
        return [
            engine.span_ms,
            int(engine.opposites == "validate"),
            int(engine.late == "accept"),
            engine.events_max,
            int(self.stages.by.is_engine_keyed(engine.name)),
            queues[engine.name],
            entered[engine.name],
            self.chains.get(engine.name, -1),
        ]

    def _definition(
        self, index: int, entry: Event | Chained, engine_at: dict[str, int]
    ) -> list[int]:
        opposites = entry.opposites if isinstance(entry, Event) else ()
        others = [self.definitions[name] for name in opposites]
        ends = self.ends.get(index, [])
        return [
            entry.number,
            self.ids.of(entry.name) if isinstance(entry, Event) else self.ids.entry(entry),
            REPEATS[entry.repeat],
            engine_at[entry.engine],
            self.numbers[entry_name(entry)],
            self._append(others),
            len(others),
            self._append([cell for end in ends for cell in end]),
            len(ends),
            self.layout.counted([entry_part(entry)], *DROPPED),
            self.stages.clocks.column(entry_part(entry)),
        ]

    def _ends(self) -> dict[int, list[tuple[int, int]]]:
        """Per definition the rules that can end in it, in order: (rule, whether for every key)."""
        found: dict[int, list[tuple[int, int]]] = {}
        for name, shape in self.shapes.items():
            last = shape.last()
            for definition in dict.fromkeys(d for d, _ in last):
                keys = {key for d, key in last if d == definition}
                spread = self._rule(name).key is not None and keys != {col.OWN}
                found.setdefault(definition, []).append((self.rule_ids[name], int(spread)))
        return found

    def _chain(self, rule: Complex) -> list[int]:
        """Definitions of what a complex event becomes in engines of this stage."""
        chained = self.stages.chained_from(rule, self.stage)
        return [self.definitions[entry_name(entry)] for entry in chained]

    def _handed(self, rule: Complex) -> list[int]:
        """The stream on which the hand-over of a complex event puts a row, if engines of later
        stages take it.
        """
        is_handed = self.stages.is_handed_on(rule, self.stage)
        return [self.ids.handed(rule.name)] if is_handed else []

    def _rule_record(self, rule: Complex) -> list[int]:
        chain = self._chain(rule)
        head = [rule.number, self.ids.of(rule.name), rule.within_ms, int(rule.key is not None)]
        shape = self.shapes.get(rule.name)
        if shape is None:
            return [*head, *([0] * 8), self._append(chain), len(chain), 0, 0]
        handed = self._handed(rule)
        forbid = self._references(rule, rule.forbid)
        absents = [self._absent(rule, refs) for refs in shape.absents]
        leaves = [cell for index in range(len(shape.leaves)) for cell in self._leaf(rule, index)]
        return [
            *head,
            shape.all,
            self._append(leaves),
            len(shape.leaves),
            self._append(forbid),
            len(rule.forbid),
            self._append([cell for absent in absents for cell in absent]),
            len(absents),
            int(shape.candidates == 1 and not shape.absents),
            self._append(chain),
            len(chain),
            self._append(handed),
            len(handed),
        ]

    def _references(self, rule: Complex, refs: tuple[Ref, ...]) -> list[int]:
        return [cell for ref in refs for cell in self._reference(rule, ref)]

    def _absent(self, rule: Complex, refs: tuple[Ref, ...]) -> list[int]:
        return [self._append(self._references(rule, refs)), len(refs)]

    def _leaf(self, rule: Complex, index: int) -> list[int]:
        shape = self.shapes[rule.name]
        definition, key = shape.leaves[index]
        word, bit = self.bits.get((rule.name, definition), (0, 0))
        return [
            definition,
            key,
            shape.after[index],
            shape.drops[index],
            word,
            bit,
            shape.ends_absent[index],
            shape.starts_absent[index],
        ]


def entry_part(entry: Event | Chained) -> PartId:
    """A definition as a part of the rules."""
    return operator_part(entry) if isinstance(entry, Event) else chained_part(entry)


def entry_name(entry: Event | Chained) -> str:
    """The name of a definition in a stage's tables."""
    return entry.name if isinstance(entry, Event) else f"{entry.complex}@{entry.engine}"
