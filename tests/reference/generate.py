"""Hypothesis strategies: rule sets for the binder, small enough for brute force."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hypothesis import strategies as st

from cep.plan.expressions import (
    Aggregate,
    Aggregated,
    Column,
    Comparison,
    Constant,
    Expression,
    Logical,
)
from cep.plan.nodes import (
    Both,
    Bound,
    Chained,
    Complex,
    Either,
    Engine,
    Event,
    Leaf,
    Operator,
    Origin,
    Pattern,
    Plan,
    Ref,
    Repeat,
    Sequence,
    Stream,
    leaves,
    tells_key,
)
from cep.plan.query import Query
from cep.plan.types import Schema, Type
from tests.reference.plans import SOURCE, SYMBOL, N, length, plan, query, signal, time

MIDDLE = Stream("T", Schema.of(n=Type.INT, symbol=Type.STRING, rows=Type.LONG), Origin.QUERY)
COUNT = Aggregate("count", (), Type.LONG)
COUNTED = (("n", N), ("symbol", SYMBOL), ("rows", Aggregated(0, Type.LONG)))
ROWS = Column(2, "rows", Type.LONG)
KEY = Column(0, "key", Type.STRING)
NUMBER = Column(1, "number", Type.LONG)
SEEN_STREAM = Stream("Seen", Schema.of(key=Type.STRING, number=Type.LONG), Origin.QUERY)
KEYS = ("A", "B")
LEAVES_MAX = 5
EVENTS_MAX = 12
STYLES = (("plain", "plain"), ("keyed", "keyed"), ("mixed", "mixed"), ("keyed", "mixed"))


@st.composite
def rule_sets(draw: st.DrawFn) -> Plan:
    """A plan of one engine, or of two in a chain, over `S(n int, symbol string)`.

    An engine is plain (no keys), keyed (`for each symbol` everywhere) or mixed (also constants).
    """
    styles = draw(st.sampled_from(STYLES))
    events: list[Event] = []
    complexes: list[Complex] = []
    operators: list[Operator] = []
    engines = [draw(_engines("Main", ()))]
    if draw(st.booleans()):
        engines.append(draw(_engines("Next", ("Main",))))
    keeps = draw(st.integers(0, 2)) == 2
    for engine, style in zip(engines, styles, strict=False):
        own = draw(_own_events(engine, style, len(events)))
        upstream = [one for one in complexes if one.engine in engine.upstream]
        found = draw(_complexes(engine, [*own, *upstream], style))
        found = [draw(_keeping(one, upstream)) for one in found] if keeps else found
        events, complexes, operators = events + own, complexes + found, [*operators, *own, *found]
    return draw(_finished(engines, [*operators, *draw(_signals(complexes))]))


@st.composite
def _engines(draw: st.DrawFn, name: str, upstream: tuple[str, ...]) -> Engine:
    return Engine(
        name,
        span_ms=draw(st.sampled_from([60, 30, 8, 2])),
        opposites=draw(st.sampled_from(["evict", "validate"])),
        late=draw(st.sampled_from(["drop", "accept"])),
        events_max=draw(st.sampled_from([EVENTS_MAX, EVENTS_MAX, EVENTS_MAX, 2, 1])),
        repeat=draw(st.sampled_from([Repeat.ALLOW, Repeat.REJECT, Repeat.REFRESH])),
        upstream=upstream,
    )


@st.composite
def _own_events(draw: st.DrawFn, engine: Engine, style: str, first: int) -> list[Event]:
    """Simple events of an engine; one that has no upstream needs some."""
    count = draw(st.integers(0, 1) if engine.upstream else st.integers(2, 4))
    events = [draw(_events(engine.name, style, first + index)) for index in range(count)]
    return draw(_with_opposites(events))


@st.composite
def _events(draw: st.DrawFn, engine: str, style: str, index: int) -> Event:
    """An event of `n == index`, or one that is raised together with others."""
    conditions = [("==", index)] * 3 + [(">=", index), ("<=", index)]
    op, n = draw(st.sampled_from(conditions))
    is_keyed = style == "keyed" or (style == "mixed" and draw(st.booleans()))
    condition: Expression = Comparison(op, N, Constant(n, Type.INT))
    source = draw(st.sampled_from(["S", "S", "T"]))
    if source == "T":
        rows_min = Constant(draw(st.integers(0, 3)), Type.LONG)
        condition = Logical("and", condition, Comparison(">=", ROWS, rows_min))
    return Event(
        name=f"E{index}",
        number=0,
        engine=engine,
        source=source,
        condition=condition,
        every=draw(st.sampled_from([True, True, False])),
        repeat=draw(st.sampled_from([Repeat.ALLOW, Repeat.REJECT, Repeat.REFRESH])),
        key=SYMBOL if is_keyed else None,
    )


@st.composite
def _with_opposites(draw: st.DrawFn, events: list[Event]) -> list[Event]:
    pairs = {
        (left.name, right.name)
        for left in events
        for right in events
        if left.name < right.name and left.key == right.key and draw(st.integers(0, 3)) == 3
    }
    both_ways = pairs | {(right, left) for left, right in pairs}
    return [
        replace(e, opposites=tuple(o.name for o in events if (e.name, o.name) in both_ways))
        for e in events
    ]


@st.composite
def _complexes(
    draw: st.DrawFn, engine: Engine, parts: Collection[Event | Complex], style: str
) -> list[Complex]:
    found = []
    keyed = {part.name for part in parts if part.key is not None}
    for index in range(draw(st.integers(1, 3)) if parts else 0):
        is_keyed = style == "keyed" or (style == "mixed" and bool(keyed) and draw(st.booleans()))
        refs = st.sampled_from([ref for part in parts for ref in _refs(part, is_keyed, style)])
        is_unique = draw(st.sampled_from([True, True, False]))
        named = draw(st.lists(refs, min_size=1, max_size=LEAVES_MAX, unique=is_unique))
        pattern = draw(_patterns(named, refs))
        if is_keyed and not tells_key(pattern, keyed.__contains__):
            pattern = Sequence(Leaf(Ref(draw(st.sampled_from(sorted(keyed))))), pattern)
        forbid = draw(st.lists(refs, max_size=1)) if draw(st.integers(0, 2)) == 2 else []
        found.append(
            Complex(
                f"{engine.name}{index}",
                0,
                engine.name,
                pattern,
                within_ms=draw(st.just(engine.span_ms) | st.integers(0, engine.span_ms)),
                key="symbol" if is_keyed else None,
                forbid=tuple(ref for ref in forbid if ref not in leaves(pattern)),
            )
        )
    return found


@st.composite
def _keeping(draw: st.DrawFn, found: Complex, upstream: Collection[Complex]) -> Complex:
    """The complex event with values that it keeps of its events."""
    chained = {one.name for one in upstream}

    def columns(event: str) -> list[Column]:
        first = Column(2, "first_msc", Type.LONG)
        return [NUMBER, first, KEY] if event in chained else [N, SYMBOL]

    names = sorted({ref.event for ref in leaves(found.pattern)})
    pairs = [(name, column) for name in names for column in columns(name)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=3))
    places = st.sampled_from([-1, -1, 0, 1, -2])
    return replace(found, bound=tuple(Bound(*pair, draw(places)) for pair in chosen))


def _refs(part: Event | Complex, is_keyed: bool, style: str) -> list[Ref]:
    """How a pattern may name a part: by its own key, by a constant one."""
    own, constant = Ref(part.name), [Ref(part.name, key) for key in KEYS]
    if part.key is None or style == "keyed":
        return [own]
    return [own, own, *constant] if is_keyed else constant


@st.composite
def _patterns(draw: st.DrawFn, named: list[Ref], refs: st.SearchStrategy[Ref]) -> Pattern:
    """A pattern of the named events, with any of `refs` absent in between."""
    if len(named) == 1:
        return Leaf(named[0])
    split = draw(st.integers(1, len(named) - 1))
    left, right = (draw(_patterns(part, refs)) for part in (named[:split], named[split:]))
    match draw(st.sampled_from(["sequence", "gap", "sequence", "and", "or"])):
        case "and":
            return Both(left, right)
        case "or":
            return Either(left, right)
        case "gap":
            return Sequence(left, right, (draw(refs),))
        case _:
            return Sequence(left, right)


@st.composite
def _signals(draw: st.DrawFn, complexes: list[Complex]) -> list[Query]:
    if not complexes or draw(st.booleans()):
        return []
    on = draw(st.sampled_from(complexes))
    symbol = None if on.key is not None and draw(st.booleans()) else "Z"
    lots = draw(st.sampled_from([None, 0.5]))
    return [signal(f"Signal{on.name}", on.name, "buy", symbol, lots, stop_points=20)]


@st.composite
def _finished(draw: st.DrawFn, engines: list[Engine], operators: list[Operator]) -> Plan:
    """Numbers and streams for all, a query in the middle and one that reads what was found."""
    events = [op for op in operators if isinstance(op, Event)]
    complexes = [op for op in operators if isinstance(op, Complex)]
    named: list[Event | Complex] = [*events, *complexes]
    numbers = {op.name: i for i, op in enumerate(named, start=1)}
    numbered: list[Operator] = [
        replace(op, number=numbers[op.name]) if isinstance(op, Event | Complex) else op
        for op in operators
    ]
    first_reader = next((i for i, e in enumerate(events) if e.source == "T"), 0)
    numbered.insert(draw(st.integers(0, first_reader)), draw(_middles()))
    read = draw(st.sampled_from(named))
    numbered.append(query("seen", read.name, "Seen", (("key", KEY), ("number", NUMBER))))
    chained = [
        Chained(op.name, 0, engine.name, engine.repeat)
        for engine in engines
        for op in complexes
        if op.engine in engine.upstream
    ]
    chained = [replace(c, number=len(numbers) + i) for i, c in enumerate(chained, start=1)]
    return plan(*numbered, engines=engines, chained=chained, streams=(SOURCE, MIDDLE, SEEN_STREAM))


def _middles() -> st.SearchStrategy[Query]:
    """From `S` to `T`: rows counted over all keys, or per symbol, which keeps them keyed."""
    return st.builds(
        lambda window, group_by: query(
            "counted", "S", "T", COUNTED, window=window, group_by=group_by, aggregates=(COUNT,)
        ),
        st.sampled_from([time(10), None, length(3)]),
        st.sampled_from([(SYMBOL,), (SYMBOL,), ()]),
    )
