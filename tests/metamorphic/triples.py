"""Triples of rules, a stream and a change, by one number; whether the change changes a row."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from cep.clocks import Mode
from cep.engine.watermarks import Watermarks
from cep.plan import Plan, compile_rules
from tests.engine.random_apps import START_MS, random_steps
from tests.metamorphic.changes import CHANGES, WEIGHTS, own_functions
from tests.metamorphic.rules import BY_KEY_CHOICES, Rules, random_rules
from tests.metamorphic.ways import (
    BY_INTERPRETER,
    BY_KEY,
    COMPILED,
    DATABASES,
    END,
    INTERPRETED,
    OWN,
    RECORDS_ONLY,
    RELOADED,
    TOLD,
    WAYS,
    Case,
    Line,
    RefusedError,
    Step,
    interpreter,
    is_record,
)

NUMBERS = frozenset({"number", "seq", "arrangement", "events"})
"""They count events, and shift when there are others."""
LIVED_SHARE, NATIVE_SHARE, WAY_SHARE = 0.5, 0.5, 0.5
NUMBERS_BELOW = 2**32
GAPS_MS = (0, 0, 1, 1, 7, 20, 20, 60, 60, 150, 300, 2200)
DELAYS_MS = ((0,), (0, 0, 0, 5), (0, 0, 0, 5, 40, 150, 400), (0, 0, 40, 150, 400, 900))
TOLD_SHARE = 0.2
TERMINALS = {"x": ("one",), "y": ("one", "two"), "z": ("two",)}
"""Who publishes each key."""
STREAMS = ("A", "A", "A", "A", "B", "B", "C", "Deal")


@dataclass(frozen=True)
class Triple:
    """Rules and a stream; then other rules, or the same ones run in another way.

    `way` is the name of a way of `ways` (`asked`, if it was asked for), by which the second answer
    is made; the first is the interpreter's.
    """

    seed: int
    asked: str | None
    change: str
    way: str
    mode: Mode
    before: Rules
    after: Rules
    steps: tuple[Step, ...]

    @property
    def command(self) -> str:
        """What shows it."""
        way = "" if self.asked is None else f" '{self.asked}'"
        return f"python -m tests.metamorphic {self.seed}{way}"

    @property
    def changes_rules(self) -> bool:
        return self.change in CHANGES

    @property
    def is_compiled(self) -> bool:
        """Whether something else than the interpreter alone runs it."""
        return self.way not in BY_INTERPRETER

    @property
    def has_late(self) -> bool:
        """Whether a record is older than one before it."""
        return is_late(self.steps)

    @property
    def added(self) -> str:
        """What stands in the changed rules alone."""
        return "\n".join(one for one in self.after.statements if one not in self.before.statements)

    @cached_property
    def plans(self) -> tuple[Plan, Plan]:
        with own_functions():
            return compile_rules(self.before.text), compile_rules(self.after.text)

    def answers(self) -> tuple[list[Line], list[Line]]:
        """The rows before and after; RefusedError where the way does not run such rules."""
        with own_functions():
            before, after = self.plans
            return interpreter(self._case(before)), WAYS[self.way](self._case(after))

    def _case(self, plan: Plan) -> Case:
        return Case(plan, self.steps, self.mode, self.seed)


def is_late(steps: Sequence[Step]) -> bool:
    """Whether a record is older than one before it."""
    times = [at for _, at, _ in steps]
    return times != sorted(times)


def triple(seed: int, asked: str | None = None) -> Triple:
    """The triple of a number; `asked` is a way that is to be its change."""
    random = Random(seed)
    mode: Mode = "lived" if random.random() < LIVED_SHARE else "sorted"
    before = random_rules(random)
    steps = stream_of(random, before)
    if mode == "lived":
        steps = told_among(Random(f"told {seed}"), steps)
    if asked is None and random.random() >= WAY_SHARE:
        engine = "native" if random.random() < NATIVE_SHARE else "interpreter"
        with own_functions():
            change, before, after = _changed(random, before)
        return Triple(seed, None, change, engine, mode, before, after, steps)
    way = asked or random.choice((*INTERPRETED, *COMPILED, *COMPILED))
    if asked is None and way in RELOADED and Random(f"anew {seed}").random() < 0.5:
        way = RELOADED[way][0]
    if way in BY_KEY:
        before = random_rules(random, BY_KEY_CHOICES, reorder=False)
    if way in RECORDS_ONLY or way in BY_KEY:
        wanted = (END,) if way in RECORDS_ONLY or mode == "sorted" else (END, TOLD)
        steps = tuple(step for step in steps if is_record(step) or step[0] in wanted)
        is_told = any(step[0] == TOLD for step in steps)
        is_lived = is_told or (way not in DATABASES and is_late(steps))
        mode = "lived" if is_lived else "sorted"
    if way == "behind a database" and mode == "sorted":
        mode, steps = "lived", told_among(Random(f"told {seed}"), steps)
    return Triple(seed, asked, way, way, mode, before, before, steps)


def stream_of(random: Random, rules: Rules) -> tuple[Step, ...]:
    """Records of several streams and keys, mostly some of them late, and time that passes.

    Where late events are accepted, there are many.
    """
    accepts = "late = 'accept'" in rules.text
    delays_ms = DELAYS_MS[-1] if accepts else random.choice(DELAYS_MS)
    steps = random_steps(random, START_MS, streams=STREAMS, gaps_ms=GAPS_MS, delays_ms=delays_ms)
    return (*steps[:-1], (END, steps[-1][1], None))


def told_among(random: Random, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Perhaps with watermarks of keys, as a program gives them for some or terminals for theirs."""
    kind = random.choice(("", "keys", "terminals"))
    if not kind:
        return own_among(random, steps)
    marks, found = Watermarks(), list[Step]()
    for step in steps:
        if random.random() < TOLD_SHARE:
            at = max(step[1] - random.choice((0, 0, 20, 150)), START_MS)
            found += _of_keys(random, at) if kind == "keys" else _of_terminals(random, marks, at)
        found.append(step)
        if is_record(step) and (key := step[2]["k"]) is not None:
            marks.published(random.choice(TERMINALS[key]), key)
    return tuple(found)


def own_among(random: Random, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Perhaps with the clock of who stores the records, which may be far ahead of them."""
    if random.random() < 0.5:
        return tuple(steps)
    found = list[Step]()
    ahead_ms = random.choice((0, 150, 3_000, 1_000_000))
    for step in steps:
        if random.random() < TOLD_SHARE / 2:
            found.append((OWN, step[1] + ahead_ms, None))
        found.append(step)
    ended_msc = max(at for _, at, _ in found)
    return (*found[:-1], (END, ended_msc, None))


def _of_keys(random: Random, at: int) -> Iterator[Step]:
    keys = tuple(random.sample(("x", "y", "z", "new"), random.choice((1, 1, 2))))
    yield TOLD, at, {"keys": keys, "is_complete": True, "common_msc": None}


def _of_terminals(random: Random, marks: Watermarks, at: int) -> Iterator[Step]:
    """What a terminal says that stays, goes away or comes back, or the clock where one is away."""
    source = random.choice(("one", "one", "two", "two", None)) if marks.holding else "one"
    for told in marks.tell(source, random.random() < 0.1, at):
        if told.keys is not None:
            row = {
                "keys": told.keys,
                "is_complete": told.is_complete,
                "common_msc": marks.clock_msc,
            }
            yield TOLD, told.time_msc, row


def _changed(random: Random, before: Rules) -> tuple[str, Rules, Rules]:
    """Rules, changed in a way that they can be; if they can't be, others."""
    change = random.choices([*CHANGES], WEIGHTS)[0]
    while True:
        for _ in range(4):
            after = CHANGES[change](random, before)
            if after is not None and after.are_accepted:
                return change, before, after
        before = random_rules(random)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first row that is not the same; None where one answer has no row."""

    place: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.place}\n  before: {_text(self.before)}\n  after:  {_text(self.after)}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The same rows, or a difference; or why the way does not run such rules."""

    difference: Difference | None = None
    refused: str = ""

    def __str__(self) -> str:
        if self.difference is not None:
            return str(self.difference)
        return f"refused: {self.refused}" if self.refused else "the same rows"


def verdict(one: Triple) -> Verdict:
    """What a triple shows."""
    try:
        return Verdict(difference(one))
    except RefusedError as problem:
        return Verdict(refused=str(problem))


def difference(one: Triple) -> Difference | None:
    """Where the answers differ; RefusedError where a way does not run such rules."""
    before, after = one.answers()
    names = {stream.name: stream.schema.names for stream in one.plans[0].streams}
    aside = NUMBERS if one.changes_rules else frozenset[str]()
    told = one.way not in RECORDS_ONLY | BY_KEY
    kept = [
        [
            (line.stream, line.n if told else -1, _shown(line.row, names[line.stream], aside))
            for line in lines
            if line.stream in names
        ]
        for lines in (before, after)
    ]
    if found := _by_stream(*kept):
        return found
    has_order = not one.is_compiled and one.change != "order"
    return _first("in the order of all rows", *kept) if has_order else None


def _shown(row: dict[str, Any], names: Iterable[str], aside: frozenset[str]) -> str:
    """A row with the attributes that it has in both."""
    wanted = {"time_msc", *names} - aside
    return json.dumps(
        {name: value for name, value in row.items() if name in wanted},
        default=lambda value: sorted(value, key=repr),
    )


Shown = tuple[str, int, str]


def _by_stream(before: Sequence[Shown], after: Sequence[Shown]) -> Difference | None:
    parts: defaultdict[str, tuple[list[Shown], list[Shown]]] = defaultdict(lambda: ([], []))
    for number, lines in enumerate((before, after)):
        for line in lines:
            parts[line[0]][number].append(line)
    for stream in sorted(parts):
        if found := _first(f"in the rows of {stream}", *parts[stream]):
            return found
    return None


def _first(place: str, before: Sequence[Shown], after: Sequence[Shown]) -> Difference | None:
    if list(before) == list(after):
        return None
    for number in range(max(len(before), len(after))):
        pair = [lines[number] if number < len(lines) else None for lines in (before, after)]
        if pair[0] != pair[1]:
            return Difference(f"row {number} {place}", *pair)
    raise AssertionError("equal rows in lists that are not")


def _text(shown: Shown | None) -> str:
    return "no row" if shown is None else f"n={shown[1]} {shown[0]} {shown[2]}"
