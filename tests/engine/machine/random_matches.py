"""Patterns and sequences drawn at random, and records for them."""

from __future__ import annotations

from random import Random

from tests.engine.machine.compared import Record

STREAMS = (
    "define stream A (symbol string, price double, volume long);\n"
    "define stream B (symbol string, price double, volume long);\n"
    "from A#window.length(2) select symbol, price, volume insert all events into C;\n"
)
TIMES = ("1 sec", "2 sec", "5 sec", "500 milliseconds")


class Drawn:
    """One match: names are given in order; `held` can hold events, `counted` several."""

    def __init__(self, random: Random, streams: str) -> None:
        self.random = random
        self.streams = streams
        self.is_sequence = random.random() < 0.4
        self.held: list[str] = []
        self.counted: set[str] = set()
        self.number = 0

    def text(self) -> str:
        """The query."""
        pick = self.random
        root = self.chain(pick.randint(2 if self.is_sequence else 1, 3))
        within = f" within {pick.choice(TIMES)}" if pick.random() < 0.5 else ""
        has_bound = pick.random() < 0.3
        bound = f"@bound(partials='{pick.randint(1, 5)}')\n" if has_bound else ""
        values = [f"{value} as v{place}" for place, value in enumerate(self.selected())]
        if self.held and self.held[0] not in self.counted and pick.random() < 0.3:
            values.append(f"sum({self.held[0]}.price) as total")
        last = pick.choice(["", "", "", " limit 1", " having v0 is null", " order by v0 desc"])
        if pick.random() < 0.2 and self.held and not self.counted:
            bound += "@expired(stream='Gone')\n"
        query = f"from {root}{within}\n  select {', '.join(values)}{last} insert into Out;\n"
        return f"{bound}{query}"

    def selected(self) -> list[str]:
        found: list[str] = []
        for name in self.held:
            if name in self.counted:
                found += [f"{name}[{at}].price" for at in ("0", "1", "last", "last - 1")]
                found += [f"{name}[0].symbol", f"eventTimestamp({name})", f"{name}[1] is null"]
            else:
                found += [f"{name}.price", f"{name}.symbol", f"{name} is null"]
                found += [f"eventTimestamp({name})"]
        return found or ["1", "eventTimestamp()"]

    def chain(self, length: int) -> str:
        parts = [self.part(place == 0) for place in range(length)]
        return (", " if self.is_sequence else " -> ").join(parts)

    def part(self, is_first: bool) -> str:
        pick = self.random
        every = pick.random() < (0.6 if is_first else 0.0 if self.is_sequence else 0.15)
        if pick.random() < 0.12:
            within = f" within {pick.choice(TIMES)}" if pick.random() < 0.6 else ""
            inner = f"({self.group()}){within}"
            return f"every {inner}" if every else inner
        return f"every {self.state()}" if every else self.state()

    def group(self) -> str:
        parts = [self.state(), self.state()]
        return (", " if self.is_sequence else " -> ").join(parts)

    def state(self) -> str:
        pick = self.random
        kind = pick.choice(["plain"] * 4 + ["count"] * 2 + ["logical", "absent", "beside"])
        if kind == "plain":
            return self.event()
        if kind == "count":
            return self.count()
        if kind == "logical":
            left = self.event()
            return f"{left} {pick.choice(['and', 'or'])} {self.event()}"
        if kind == "absent":
            return f"{self.absent()} for {pick.choice(TIMES)}"
        return self.beside()

    def beside(self) -> str:
        pick = self.random
        time = f" for {pick.choice(TIMES)}" if pick.random() < 0.6 else ""
        absent = f"{self.absent()}{time}"
        op = pick.choice(["and", "or"]) if time else "and"
        if time and pick.random() < 0.2:
            other = f"{self.absent()} for {pick.choice(TIMES)}"
        else:
            other = self.event()
        return f"{absent} {op} {other}" if pick.random() < 0.7 else f"{other} {op} {absent}"

    def name(self) -> str:
        self.number += 1
        return f"e{self.number}"

    def event(self) -> str:
        name = self.name()
        made = f"{name}={self.pick_stream()}{self.filter()}"
        self.held.append(name)
        return made

    def count(self) -> str:
        name, pick = self.name(), self.random
        least = pick.randint(0, 2)
        most = pick.choice(["", str(max(1, least + pick.randint(0, 2)))])
        between = f"<{least}:{most}>"
        symbol = pick.choice(["*", "+", "?", between, between] if self.is_sequence else [between])
        self.held.append(name)
        self.counted.add(name)
        own = pick.choice(["", "", "price > 2.0", f"price >= {name}[last].price",
                           f"{name}[0].price <= price", f"{name}[last - 1] is null"])  # fmt: skip
        condition = f"[{own}]" if own else ""
        return f"{name}={self.pick_stream()}{condition}{symbol}"

    def absent(self) -> str:
        return f"not {self.pick_stream()}{self.filter()}"

    def pick_stream(self) -> str:
        return self.random.choice(self.streams)

    def filter(self) -> str:
        pick = self.random
        conditions = ["price > 2.0", "price <= 2.0", "volume == 1"]
        for name in self.held:
            column = f"{name}[last]" if name in self.counted else name
            conditions += [f"price > {column}.price", f"symbol == {column}.symbol"]
            conditions += [
                f"volume == {column}.volume",
                f"{column}.symbol == symbol and price > 1.0",
            ]
            if name in self.counted:
                conditions += [f"price > {name}[0].price", f"not ({name}[1] is null)"]
        return f"[{pick.choice(conditions)}]" if pick.random() < 0.6 else ""


def match(random: Random) -> str:
    """Streams and a query."""
    streams = random.choice(["A", "AB", "AB", "ABC", "C", "AAB"])
    return STREAMS + Drawn(random, streams).text()


def records(random: Random, count: int) -> list[Record]:
    """Of two streams, at equal times, late, after long silences, with nulls."""
    made: list[Record] = []
    now_ms = random.choice([0, 1_700_000_000_000])
    for _ in range(count):
        now_ms += random.choice([0, 0, 100, 500, 1000, 1500, 2500, 7000])
        late_ms = random.choice([0, 0, 0, 0, 0, 700, 3000])
        values = (
            random.choice(["x", "x", "y", None]),
            random.choice([1.0, 2.0, 3.0, 4.0, None]),
            random.choice([1, 2, 3, None]),
        )
        made.append((random.choice("AAB"), max(0, now_ms - late_ms), values))
    return made
