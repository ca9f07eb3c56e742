"""Random rule files as single statements, and what those read and fill."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from cep.engine.coverage import why_not_generated
from cep.lang.errors import RuleError
from cep.lang.parser import parse
from cep.plan import compile_rules
from tests.engine import random_apps
from tests.engine.random_apps import REORDER, REORDER_SHARE, SCHEMA, holders, numbered, written

SOURCES = ("A", "B", "C", "Deal")
"""All of one schema; C has no key, the records of Deal are never late."""
LATE = "@key('k') define stream Late " + SCHEMA

PATTERNS = (
    "{up} followed by {fill}",
    "{up} followed by {down}",
    "{down} followed by {fill}",
    "{up} and {fill}",
    "{fill} -> ({up} or {down})",
    "{up} -> [not {down}] {fill}",
    "{fill} followed by {fill} followed by {up}",
)
MODULES_SHARE = 0.3
BY_KEY = {"up": "Up", "down": "Down", "fill": "Fill"}

CHOICES: dict[str, tuple[str, ...]] = {
    **random_apps.CHOICES,
    "stream": ("A", "A", "A", "B", "C", "Deal"),
    "named": (
        "from {stream}{filter} select k, v, UUID() as id, currentTimeMillis() as now{into}",
        "from {stream}#window.{batch} select k, UUID() as id, eventTimestamp() as at{rate}{into}",
    ),
    "regrouped": (
        "from {keyed}{filter} select b, {fast_measure} as b0 group by b{into}",
        "from {keyed}{filter} select at, {fast_measure} as b0 group by at{into}",
    ),
    "pairs": (
        "from {stream}{filter}#window.{batch} select k, v, p insert into Pairs; {reader} {reader}",
        "from {stream}{filter} select k, v, p{rate} insert all events into Pairs; {reader} {mixed}",
        "from {stream}#window.{batch} select k, v, p insert into Pairs; {mixed} {mixed}"
        " from Mixed select k, v, p * 2 as q{into}",
        "from {stream}{filter}#window.delay({ms}) select k, v, p insert into Pairs;"
        " {reader} {reader}",
        "from {stream}#window.time({ms}) select k, v, p insert expired events into Pairs;"
        " {reader} {mixed}",
        "{mixed} {mixed} from Mixed#window.length({few}) select k, sum(v) as b0 group by k{into}",
    ),
    "mixed": (
        "from {origin} select k, v, p insert into Mixed;",
        "from {origin}[v > {limit}] select k, v * 10 as v, p insert into Mixed;",
    ),
    "origin": ("Pairs", "Pairs", "A", "A", "B"),
    "reader": (
        "from Pairs select k, v{into}",
        "from Pairs[v > {limit}] select k, v, p{rate}{into}",
        "from Pairs#window.length({few}) select k, sum(v) as b0 group by k{into}",
        "from Pairs#window.{window_pairs} select k, p, count() as b0{into}",
        "from every e1=Pairs -> e2=Pairs[v > e1.v] select e1.v as x, e2.v as y{into}",
    ),
    "window_pairs": ("length({few})", "time({ms})", "lengthBatch({some})", "sort({few}, v)"),
    "bars": (
        "from {keyed}{filter}#bars:time(p, v, {ms}) select k, open, close group by k"
        " insert into Bar; from Bar[close > open] select k, open, close{into}",
        "from {stream}#bars:{few_bars} select k, open, high, low, close group by k{into}",
    ),
    "few_bars": ("time(p, v, {ms})", "ticks(p, v, {some})", "volume(p, v, {some})"),
    "keyed": ("A", "A", "A", "B", "Deal"),
    "likely": ("p > 0.2", "v >= 1", "p <= 2.5", "not (n == 1)", "{test}"),
    "option": ("", ", late = 'accept'", ", late = 'accept'", "{rare}"),
    "rare": ("", ", opposites = 'validate'", ", max = 3"),
    "up": ("Up('x')", "Up('x')", "Up('y')"),
    "down": ("Down('x')", "Down('y')"),
    "fill": ("Fill('x')", "Fill('y')", "Fill('y')", "Fill('z')"),
    "keyed_pattern": tuple(text.format(**BY_KEY) for text in PATTERNS),
    "cross": (*PATTERNS, "Up('x') and Up('y')"),
    "simple": (
        "define event Up in Main for each k as {keyed}[{likely}] opposite Down;"
        " define event Down in Main for each k as {keyed}[{likely}];"
        " define event Fill in Main for each k as every {keyed}[{likely}] repeat {repeat};",
        "define event Up in Main for each k as every A[{likely}] repeat allow;"
        " define event Down in Main for each k as every A[{likely}] repeat allow;"
        " define event Fill in Main for each k as every A[{likely}] repeat {repeat};",
        "define event Up in Main for each k as every {keyed}[{likely}] repeat {repeat};"
        " define event Down in Main for each k as every {keyed}[{likely}] repeat {repeat};"
        " define event Fill in Main for each k as every {keyed}[{likely}] repeat allow;",
        "from {keyed}#window.{fast_window} select k, p, avg(p) as m group by k insert into Band;"
        " define event Up in Main for each k as Band[p > m] opposite Down;"
        " define event Down in Main for each k as Band[p < m];"
        " define event Fill in Main for each k as every Deal[{likely}] repeat {repeat};",
    ),
    "found": (
        "define complex Turn in Main for each k as {keyed_pattern} within {within_ms}{forbid};",
        "define complex Cross in Main as {cross} within {within_ms};",
        "define complex Turn in Main for each k as {keyed_pattern} within {within_ms}{forbid};"
        " define complex Cross in Main as {cross} within {within_ms};",
    ),
    "within_ms": ("50 milliseconds", "200 milliseconds", "1 sec", "2 sec"),
    "follows": (
        "",
        "",
        "from Fill select key, seq * 0 as b0{into}",
        "from Up#window.{fast_window} select key, count() as b0 group by key{into}",
        "from Down#window.timeBatch({ms}) select key, count() as b0 group by key{into}",
    ),
    "events": (
        "define engine Main (queue = 2 sec{option}); {simple} {found} {follows}",
        "define engine Main (queue = 2 sec{option}); {simple} {found} {follows}",
        "define engine Main (queue = 2 sec{option}); define engine Wide (queue = 3 sec) from Main;"
        " {simple} define complex Turn in Main for each k as {keyed_pattern} within {within_ms};"
        " define complex Both in Wide as Turn('x') and Turn('y') within 2 sec;"
        " define signal Act on Both buy 'x' 0.1 lots; {follows}",
        "define engine Main (queue = 2 sec{option}); from {keyed}#bars:time(p, v, {ms})"
        " select k, open, close group by k insert into Bar;"
        " define event Up in Main for each k as every Bar[close > open] repeat allow;"
        " define event Fill in Main for each k as every {keyed}[{test}] repeat allow;"
        " define complex Turn in Main for each k as Up followed by Fill within {within_ms};"
        " {follows}",
    ),
    "query": (
        *["{plain}"] * 4,
        *["{fast}"] * 5,
        *["{match}"] * 3,
        *["{join}"] * 2,
        *["{stored} {stored}"] * 2,
        *["{named}"] * 3,
        *["{pairs}"] * 3,
        *["{bars}"] * 2,
        "{chain} {chain}",
        *["{partition}"] * 2,
    ),
}
"""What stands for each name in braces: one of these, chosen anew at each place."""

BY_KEY_CHOICES = {
    **CHOICES,
    "stream": CHOICES["keyed"],
    "found": ("define complex Turn in Main for each k as {keyed_pattern} within {within_ms};",),
    "follows": ("", "from Fill select key, seq * 0 as b0{fast_end}"),
    "events": CHOICES["events"][:3],
    "query": (
        "from {keyed}{filter}#window.{fast_window} select k, p, {fast_measure} as b0,"
        " {fast_measure} as b1 group by k{fast_end}",
        "from {keyed}[{test}] select k, v, p * 2 as b0{fast_end}",
        "from {keyed}[{test}] select k, p, v, n insert into Near; from Near#window.{fast_window}"
        " select k, sum(v) as b0 group by k{fast_end}",
        *["partition with (k of A, k of B) begin {fast_inner} {fast_inner} end;"] * 2,
        "from {keyed}#bars:time(p, v, {ms}) select k, open, close, bar_ticks group by k{fast_end}",
        "from {keyed}#bars:ticks(p, v, 3) select k, open, close, low group by k{fast_end}",
        "partition with (k of A, k of B) begin {timed} {timed} end;",
    ),
    "timed": (
        "from A[{test}]#window.time({ms}) select k, p, sum(v) as b0"
        " insert expired events into Gone;",
        "from B#window.timeBatch({ms}) select k, sum(v) as b0, count() as b1{fast_end}",
        "from every e1=A[{test}] -> not B for {ms} select e1.k as k, e1.v as b0{fast_end}",
        "from A#window.delay({ms}) select k, v, p{fast_end}",
    ),
    "fast_inner": tuple(text.replace("{stream}", "B") for text in CHOICES["fast_inner"]),
    "fast_step": ("A", "A[{test}]"),
}
"""The same of rules of which each key can be run alone."""

THREE = "(k string, v long, p double)"
HOLDERS = {
    **random_apps.HOLDERS,
    "Pairs": f"@key('k') define stream Pairs {THREE};",
    "Mixed": f"@key('k') define stream Mixed {THREE};",
}
EVENTS_SHARE = 0.7
NAME = re.compile(r"\b[A-Z]\w*\b")
FILLED = re.compile(
    r"\b(?:insert (?:\w+ events )?into|update or insert into|update|delete) (\w+)"
    r"|\bdefine (?:\w+) (\w+)|\b(?:event|complex) \w+ in (\w+)"
)


@dataclass(frozen=True, slots=True)
class Rules:
    """A rule file: what is defined in front, then the statements in their order."""

    definitions: tuple[str, ...]
    statements: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(f"{one};" for one in (*self.definitions, *self.statements))

    @property
    def are_accepted(self) -> bool:
        """Whether they compile: some that the choices make can never match."""
        try:
            compile_rules(self.text)
        except RuleError:
            return False
        return True

    @property
    def filled(self) -> frozenset[str]:
        """What its statements fill or define."""
        return frozenset().union(*map(filled, self.statements))

    @property
    def derived(self) -> frozenset[str]:
        """The streams that queries fill and other queries may read."""
        inserted = re.findall(r"insert (?:\w+ events )?into ([A-Z]\w*)", "\n".join(self.statements))
        return frozenset(inserted) - {"Limits", "Noted", "Held"}

    def cone(self, statement: str) -> frozenset[str]:
        """All that may change by what a statement does: its targets and what follows from them."""
        found = set(filled(statement))
        while True:
            more = {
                name
                for one in (*self.definitions, *self.statements)
                if found & named(one)
                for name in filled(one)
            }
            if more <= found:
                return frozenset(found)
            found |= more

    def are_independent(self, one: str, other: str) -> bool:
        """Whether two statements share no target and no reader, nor what they look up."""
        return not self.cone(one) & self.cone(other)


def filled(statement: str) -> frozenset[str]:
    """The streams, holders and engines that a statement fills or defines."""
    return frozenset(name for found in FILLED.findall(statement) for name in found if name)


def named(statement: str) -> frozenset[str]:
    """The names of streams, holders, engines and events that stand in a statement."""
    return frozenset(NAME.findall(statement))


def split(text: str) -> list[str]:
    """The statements of a text, without their `;`."""
    return [text[one.span.start : one.span.end].strip() for one in parse(text).statements]


def random_rules(
    random: Random, choices: Mapping[str, Sequence[str]] = CHOICES, reorder: bool = True
) -> Rules:
    """One to three queries or groups of them, and perhaps an engine of events among them.

    Few of them are of that kind that a module can run alone, so some are drawn until they are.
    """
    has_module = random.random() < MODULES_SHARE
    while True:
        sources = _sources(random, REORDER_SHARE if reorder and not has_module else 0)
        drawn = partial(_drawn, random, choices, sources, has_module)
        texts = [drawn("query") for _ in range(random.randint(1, 3))]
        if random.random() < EVENTS_SHARE:
            texts.insert(random.randint(0, len(texts)), drawn("events"))
        rules = rules_of(numbered("\n".join(texts)), sources)
        if rules.are_accepted and (not has_module or _have_module(rules)):
            return rules


def _drawn(
    random: Random,
    choices: Mapping[str, Sequence[str]],
    sources: Sequence[str],
    has_module: bool,
    kind: str,
) -> str:
    while True:
        text = written(random, kind, choices)
        if not has_module or _have_module(rules_of(numbered(text), sources)):
            return text


def _have_module(rules: Rules) -> bool:
    return rules.are_accepted and not why_not_generated(compile_rules(rules.text))


def rules_of(text: str, sources: Iterable[str]) -> Rules:
    """Statements, and the definitions of sources and holders that they need."""
    statements = split(text)
    engines = [one for one in statements if one.startswith("define engine")]
    rest = [one for one in statements if one not in engines]
    held = [definition.rstrip(";") for definition in holders(text, HOLDERS)]
    return Rules((*sources, *held, *engines), tuple(rest))


def _sources(random: Random, reorder_share: float) -> list[str]:
    keyed = [f"@key('k') define stream {name} {SCHEMA}" for name in SOURCES if name != "C"]
    plain = f"define stream C {SCHEMA}"
    if random.random() < reorder_share:
        return [LATE, REORDER + keyed[0], *keyed[1:], plain]
    return [*keyed, plain]


def interleaved(random: Random, some: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Both in their own order, mixed at random."""
    places = set(random.sample(range(len(some) + len(others)), len(others)))
    first, second = iter(some), iter(others)
    return tuple(
        next(second) if place in places else next(first) for place in range(len(some) + len(others))
    )
