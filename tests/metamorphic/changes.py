"""The changes of a rule file that leave every other row as it was."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random

from cep.functions import function
from cep.plan import compile_rules
from cep.plan.functions.user import unregister
from tests.engine.random_apps import numbered, written
from tests.metamorphic.rules import (
    CHOICES,
    SOURCES,
    Rules,
    filled,
    interleaved,
    named,
    random_rules,
    split,
)

Change = Callable[[Random, Rules], Rules | None]
"""The changed rules; None where they have nothing that could be changed so."""

TWICE = "own:twice"
ENDS = r"(?= group by| having| order by| limit| output| insert| update| delete)"
SELECTED = re.compile(rf"\bselect (?!\*)(.+?){ENDS}")
PLAIN_COLUMNS = ("UUID()", "currentTimeMillis()", "'x'", f"{TWICE}(2.0)")
ROW_COLUMNS = (*PLAIN_COLUMNS, "p * 3.0", "eventTimestamp()", f"{TWICE}(p)", "str:upper(k)")
TOTALS = ("count()", "median(p)", "sum(v)", "max(p)", "distinctCount(k)", "stdDev(p)", "ema(p, 3)")


@contextmanager
def own_functions() -> Iterator[None]:
    """A function of a user's, known while this lasts."""

    @function(name=TWICE)
    def twice(value: float | None) -> float | None:
        return None if value is None else 2 * value

    try:
        yield
    finally:
        unregister(TWICE)


def column(random: Random, rules: Rules) -> Rules | None:
    """A column more, behind those of a query whose stream has no declared attributes."""
    queries = {query.target: query for query in compile_rules(rules.text).queries}
    declared = frozenset().union(*map(filled, rules.definitions))
    written_by = [target for one in rules.statements for target in filled(one)]
    place = random.randrange(len(rules.statements))
    statement = rules.statements[place]
    found = SELECTED.search(statement)
    targets = filled(statement) - declared
    if found is None or len(targets) != 1 or statement.startswith(("define", "partition")):
        return None
    (target,) = targets
    if written_by.count(target) > 1:
        return None
    query = queries[target]
    offered = TOTALS if query.aggregates else ROW_COLUMNS
    if len(query.inputs) > 1:
        offered = ("count()",) if query.aggregates else PLAIN_COLUMNS
    added = random.choice((*offered, *PLAIN_COLUMNS[:2]))
    end = found.end(1)
    return _with(rules, place, f"{statement[:end]}, {added} as extra{statement[end:]}")


def user_function(random: Random, rules: Rules) -> Rules | None:
    """A query more that calls a function of the user's."""
    source = random.choice(SOURCES)
    text = f"from {source}[{TWICE}(p) > 2.0] select k, {TWICE}(p) as double insert into Own"
    return _among(random, rules, [text])


def statements(random: Random, rules: Rules) -> Rules | None:
    """Whole rules more: queries, partitions, tables, windows, triggers, engines, events."""
    added = random_rules(random)
    defined = added.filled.union(*map(filled, added.definitions)) - {*SOURCES}
    names = re.compile(r"\b(" + "|".join(sorted(defined)) + r")\b")

    def renamed(texts: Sequence[str]) -> list[str]:
        return [names.sub(r"\1Z", text) for text in texts]

    fresh = [one for one in renamed(added.definitions) if filled(one).isdisjoint(SOURCES)]
    return Rules(
        (*rules.definitions, *fresh),
        interleaved(random, rules.statements, renamed(added.statements)),
    )


def reader(random: Random, rules: Rules) -> Rules | None:
    """One more reader of a stream that queries make, and a reader of that."""
    if not rules.derived:
        return None
    stream = random.choice(sorted(rules.derived))
    text = random.choice(
        (
            "from {one} select * insert into Read",
            "from {one}#window.lengthBatch(2) select * insert into Read",
            "from {one}#window.time(100 milliseconds) select * insert all events into Read",
            "from every not {one} for 100 milliseconds select currentTimeMillis() as x"
            " insert into Read",
        )
    ).format(one=stream)
    follows = ["from Read select count() as n insert into Counted"][: random.randrange(2)]
    first = max((n for n, one in enumerate(rules.statements) if stream in filled(one)), default=0)
    rest = interleaved(random, rules.statements[first + 1 :], [text, *follows])
    return Rules(rules.definitions, (*rules.statements[: first + 1], *rest))


def query(random: Random, rules: Rules) -> Rules | None:
    """One more query or partition of source streams."""
    kind = random.choice(("plain", "fast", "match", "join", "named", "regrouped"))
    text = numbered(written(random, kind, CHOICES)).replace("Out", "Added")
    return _among(random, rules, split(text))


def regrouped(random: Random, rules: Rules) -> Rules | None:
    """A query more that groups a stream that raises events, by another attribute than its key."""
    raising = [one for one in rules.statements if one.startswith("define event")]
    streams = sorted(frozenset().union(*map(named, raising)) & {*SOURCES})
    if not streams:
        return None
    choices = {**CHOICES, "keyed": streams}
    return _among(
        random,
        rules,
        split(numbered(written(random, "regrouped", choices)).replace("Out", "Added")),
    )


def event(random: Random, rules: Rules) -> Rules | None:
    """One more event in an engine, perhaps with a complex event of one key or of several."""
    if "define engine Main" not in rules.text:
        return None
    each = random.choice(("for each k ", "for each k ", ""))
    text = f"define event Extra in Main {each}as every {{keyed}}[{{test}}] repeat {{repeat}};"
    if each and random.random() < 0.5:
        text += "define complex ExtraPair in Main as Extra('x') and Extra('y') within 1 sec;"
    elif random.random() < 0.5:
        text += f"define complex ExtraOne in Main {each}as Extra within 1 sec;"
    return _among(random, rules, split(written(random, "it", {**CHOICES, "it": (text,)})))


def crossing(random: Random, rules: Rules) -> Rules | None:
    """One more complex event across keys in an engine that has events."""
    if "define event Fill in Main" not in rules.text:
        return None
    offered = ("{fill} and {fill}", "{fill} followed by {fill}", "{fill}")
    text = f"define complex Crossed in Main as {random.choice(offered)} within {{within_ms}};"
    place = 1 + max(n for n, one in enumerate(rules.statements) if one.startswith("define event"))
    added = split(written(random, "it", {**CHOICES, "it": (text,)}))
    rest = interleaved(random, rules.statements[place:], added)
    return Rules(rules.definitions, (*rules.statements[:place], *rest))


def table(random: Random, rules: Rules) -> Rules | None:
    """A table more, what fills it and what reads it."""
    added = [
        "from {stream} select k, v update or insert into Extras set Extras.v = v on Extras.k == k",
        "from {stream} as l join Extras as r on l.k == r.k select l.k as k, r.v as v"
        " insert into Known",
    ]
    texts = [written(random, "it", {**CHOICES, "it": (text,)}) for text in added]
    definition = "@PrimaryKey('k') define table Extras (k string, v long)"
    found = _among(random, rules, texts)
    return Rules((*found.definitions, definition), found.statements)


def absence(random: Random, rules: Rules) -> Rules | None:
    """An absence more, which waits for the time."""
    offered = (
        "from every not {stream}[{test}] for {ms} select currentTimeMillis() as x"
        " insert into Absent",
        "from every e1={keyed} -> not {keyed}[k == e1.k] for {ms} select e1.v as x"
        " insert into Absent",
        "partition with (k of A, k of B) begin from every e1=A -> not B for {ms}"
        " select e1.v as x insert into Absent; end",
    )
    return _among(random, rules, [written(random, "it", {**CHOICES, "it": offered})])


def identity(random: Random, rules: Rules) -> Rules | None:
    """A query that passes everything on, at the place of an operator that reads it instead."""
    place = random.randrange(len(rules.statements))
    statement = rules.statements[place]
    read = (named(statement) & (rules.derived | {*SOURCES})) - filled(statement)
    if not read or statement.startswith(("define complex", "define signal")):
        return None
    stream = random.choice(sorted(read))
    same = f"from {stream} select * insert into Same"
    changed = re.sub(rf"\b{stream}\b", "Same", statement)
    others = rules.statements
    return Rules(rules.definitions, (*others[:place], same, changed, *others[place + 1 :]))


def order(random: Random, rules: Rules) -> Rules | None:
    """Statements in another order where they share no target and no reader."""
    found = list(rules.statements)
    for _ in range(4 * len(found)):
        place = random.randrange(len(found) - 1) if len(found) > 1 else 0
        pair = found[place : place + 2]
        if len(pair) == 2 and rules.are_independent(*pair):
            found[place : place + 2] = reversed(pair)
    return None if tuple(found) == rules.statements else Rules(rules.definitions, tuple(found))


def _with(rules: Rules, place: int, statement: str) -> Rules:
    others = rules.statements
    return Rules(rules.definitions, (*others[:place], statement, *others[place + 1 :]))


def _among(random: Random, rules: Rules, added: Sequence[str]) -> Rules:
    return Rules(rules.definitions, interleaved(random, rules.statements, added))


WEIGHED: dict[str, tuple[int, Change]] = {
    "column": (3, column),
    "function": (1, user_function),
    "statements": (2, statements),
    "reader": (2, reader),
    "query": (3, query),
    "regrouped": (3, regrouped),
    "event": (3, event),
    "crossing": (3, crossing),
    "table": (1, table),
    "absence": (1, absence),
    "identity": (2, identity),
    "order": (2, order),
}
CHANGES = {name: change for name, (_, change) in WEIGHED.items()}
WEIGHTS = [weight for weight, _ in WEIGHED.values()]
