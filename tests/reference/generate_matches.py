"""Hypothesis strategies: patterns and sequences over three streams, and events for them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.reference.matches import (
    COMPARE,
    Condition,
    Earlier,
    Event,
    Every,
    Found,
    Kind,
    Op,
    Pair,
    Single,
    Spec,
    Step,
    singles,
)

STREAMS = "ABC"
KINDS: tuple[Kind, ...] = ("pattern", "sequence")
EVERY: dict[Kind, tuple[Every, ...]] = {
    "pattern": ("none", "first", "all"),
    "sequence": ("none", "first"),
}
OPS: dict[Kind, tuple[Op, ...]] = {"pattern": ("and", "or"), "sequence": ("or",)}
VALUES = st.integers(0, 4)
START_MS = 1_600_000_000_000
Values = list[int | None]


@dataclass(frozen=True)
class Case:
    """An app and what is sent to it."""

    spec: Spec
    events: list[Event]

    @property
    def text(self) -> str:
        """The app; its query is called `q` and writes to `Out`."""
        streams = "".join(f"define stream {name} (p int);\n" for name in STREAMS)
        names = enumerate(columns(self.spec).split())
        selected = ", ".join(f"{name}.p as v{number}" for number, name in names)
        return (
            f"@app:name('generated')\n{streams}"
            f"@info(name='q') from {source(self.spec)} select {selected} insert into Out;\n"
        )

    def values(self, found: Found) -> Values:
        """What the query selects of a match."""
        return [value for one in self.spec.singles for value in _values(one, found)]


def columns(spec: Spec) -> str:
    """What is selected, p of each: `e1 e2[0] e2[1] e2[last]`."""
    return " ".join(
        " ".join(f"{one.name}[{index}]" for index in ("0", "1", "last"))
        if one.is_counted
        else one.name
        for one in spec.singles
    )


def source(spec: Spec) -> str:
    """The pattern or sequence as text."""
    texts = [_step_text(step) for step in spec.steps]
    if spec.every == "first":
        texts[0] = f"every ({texts[0]})" if isinstance(spec.steps[0], Pair) else f"every {texts[0]}"
    chain = (" -> " if spec.kind == "pattern" else ", ").join(texts)
    if spec.every == "all":
        chain = f"every ({chain})"
    return chain if spec.within_ms is None else f"{chain} within {spec.within_ms} milliseconds"


@st.composite
def match_cases(draw: st.DrawFn) -> Case:
    """A pattern or sequence and up to 24 events, some of them of no use to it."""
    spec = draw(specs())
    steps = draw(st.lists(st.integers(0, 3), min_size=4, max_size=24))
    streams = st.sampled_from([*(one.stream for one in spec.singles), *STREAMS])
    time, events = START_MS, []
    for step in steps:
        time += step
        events.append(Event(draw(streams), time, draw(VALUES)))
    return Case(spec, events)


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """One to four steps (a sequence has two at least), of which at most one is counted.

    Left out is what has no plain meaning: a first step that may be empty under `every`, and `and`
    in a sequence.
    """
    kind: Kind = draw(st.sampled_from(KINDS))
    every: Every = draw(st.sampled_from(EVERY[kind]))
    length = draw(st.integers(1 if kind == "pattern" else 2, 4))
    counted = draw(st.integers(0, length))
    steps: list[Step] = []
    for position in range(length):
        earlier = [one for step in steps for one in singles(step)]
        number = len(earlier) + 1
        if position == counted:
            least_of_all = 1 if position == 0 else 0
            steps.append(draw(_counted(f"e{number}", earlier, least_of_all)))
        elif draw(st.integers(0, 4)) == 0:
            op: Op = draw(st.sampled_from(OPS[kind]))
            sides = [draw(_single(f"e{number + side}", earlier)) for side in (0, 1)]
            steps.append(Pair(op, *sides))
        else:
            steps.append(draw(_single(f"e{number}", earlier)))
    within_ms = draw(st.one_of(st.none(), st.none(), st.integers(1, 12)))
    return Spec(kind, every, tuple(steps), within_ms)


@st.composite
def _single(draw: st.DrawFn, name: str, earlier: list[Single]) -> Single:
    conditions = draw(st.lists(_conditions(name, earlier, False), max_size=1))
    return Single(name, draw(st.sampled_from(STREAMS)), tuple(conditions))


@st.composite
def _counted(draw: st.DrawFn, name: str, earlier: list[Single], least_of_all: int) -> Single:
    conditions = draw(st.lists(_conditions(name, earlier, True), max_size=1))
    least = draw(st.integers(least_of_all, 3))
    most = draw(st.one_of(st.none(), st.integers(max(least, 1), 4)))
    if (least, most) == (1, 1):
        most = 2
    return Single(name, draw(st.sampled_from(STREAMS)), tuple(conditions), least, most)


@st.composite
def _conditions(draw: st.DrawFn, name: str, earlier: list[Single], counted: bool) -> Condition:
    compare = draw(st.sampled_from(sorted(COMPARE)))
    kinds = ["constant"] + ["earlier"] * bool(earlier) + ["previous"] * counted
    match draw(st.sampled_from(kinds)):
        case "earlier":
            other = draw(st.sampled_from(earlier))
            return Condition(compare, Earlier(other.name, draw(st.sampled_from(("first", "last")))))
        case "previous":
            return Condition(compare, Earlier(name, "previous"))
        case _:
            return Condition(compare, draw(VALUES))


def _step_text(step: Step) -> str:
    if isinstance(step, Pair):
        return f"{_single_text(step.left)} {step.op} {_single_text(step.right)}"
    return _single_text(step)


def _single_text(single: Single) -> str:
    filters = "".join(f"[{_condition_text(condition)}]" for condition in single.conditions)
    most = "" if single.most is None else single.most
    count = f"<{single.least}:{most}>" if single.is_counted else ""
    return f"{single.name}={single.stream}{filters}{count}"


def _condition_text(condition: Condition) -> str:
    operand = condition.operand
    if isinstance(operand, int):
        return f"p {condition.compare} {operand}"
    index = "0" if operand.index == "first" else "last"
    other = f"{operand.name}[{index}].p"
    if operand.index == "previous":
        return f"{other} is null or p {condition.compare} {other}"
    return f"p {condition.compare} {other}"


def _values(single: Single, found: Found) -> Values:
    taken = [event.p for event in found[1].get(single.name, [])]
    if not single.is_counted:
        return [taken[0] if taken else None]
    return [
        taken[0] if taken else None,
        taken[1] if len(taken) > 1 else None,
        taken[-1] if taken else None,
    ]
