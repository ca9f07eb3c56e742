"""`define position`: what a rule file holds, as tables and streams that queries keep.

The statement is made of others, which stand below as text: whatever runs rules runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from string import Template
from typing import Any

from cep.lang import ast, parse
from cep.lang.errors import Span, listing
from cep.lang.tokens import KEYWORDS
from cep.plan.problems import Problems, Skip, with_article
from cep.plan.streams import made_by

MAGIC = 77
"""Of rules to which nobody has given another one: that of runs."""
NEEDED = {
    "Tick": {"symbol": "string", "bid": "double", "ask": "double"},
    "Deal": {
        "symbol": "string", "ticket": "long", "order": "long", "position": "long",
        "magic": "long", "side": "string", "entry": "string", "lots": "double",
        "price": "double", "commission": "double", "swap": "double", "profit": "double",
        "fee": "double",
    },
}  # fmt: skip
"""The streams it is kept by, and the attributes that these must have."""

TEXT = Template("""\
@PrimaryKey('position') @Index('symbol')
define table $P (position long, symbol string, side string, lots double, entry double,
  price double, gain double, best double, worst double, profit double, fills long,
  opened_msc long, changed_msc long, age_ms long,
  closed_lots double, closed_entry double, closed_exit double);
@PrimaryKey('order') @Index('position')
define table ${P}Orders (order long, position long, symbol string, side string, lots double,
  price double, fills long, first_msc long, changed_msc long);
@PrimaryKey('symbol')
define table ${P}Streak (symbol string, losses long, wins long, trades long, profit double,
  changed_msc long);
@PrimaryKey('position')
define table ${P}Others (position long, net double);

@info(name='$P:ticks')
from Tick[($P.symbol == symbol in $P) and bid > 0.0 and ask > 0.0]
select symbol, bid, ask, eventTimestamp() as now_msc
update $P set
  $P.price = ifThenElse($P.side == 'buy', bid, ask),
  $P.gain = ifThenElse($P.side == 'buy', bid - $P.entry, $P.entry - ask),
  $P.best = ifThenElse($P.side == 'buy', math:max($P.best, bid), math:min($P.best, ask)),
  $P.worst = ifThenElse($P.side == 'buy', math:min($P.worst, bid), math:max($P.worst, ask)),
  $P.age_ms = now_msc - $P.opened_msc
on $P.symbol == symbol;

@info(name='$P:deals')
from Deal[lots > 0.0 and (side == 'buy' or side == 'sell')] as d
  join $P as p on d.position == p.position
select p.position as position, p.symbol as symbol, d.ticket as deal, d.order as order,
  d.side as deal_side, d.entry as deal_entry, d.lots as deal_lots, d.price as deal_price,
  $result + ($costs) as deal_profit,
  $opened as opened,
  ($costs) * ($opened) / d.lots as opened_profit,
  $closed as closed,
  p.side as side,
  $left as lots,
  $entry as entry,
  p.price as price,
  ifThenElse(p.side == 'buy', 1.0, -1.0) * (p.price - $entry) as gain,
  p.best as best, p.worst as worst,
  p.profit + $result + ifThenElse($is_turn, ($costs) * p.lots / d.lots, $costs) as profit,
  p.fills + 1L as fills, p.opened_msc as opened_msc, eventTimestamp() as changed_msc,
  eventTimestamp() - p.opened_msc as age_ms,
  math:round((p.closed_lots + $closed) * 1.0e8) / 1.0e8 as closed_lots,
  ifThenElse($same, p.closed_entry,
    (p.closed_entry * p.closed_lots + p.entry * $closed) / (p.closed_lots + $closed))
    as closed_entry,
  ifThenElse($same, p.closed_exit,
    (p.closed_exit * p.closed_lots + d.price * $closed) / (p.closed_lots + $closed))
    as closed_exit
insert into ${P}Fills;

@info(name='$P:opening')
from Deal[entry == 'in' and magic == ${M} and lots > 0.0 and (side == 'buy' or side == 'sell')
  and not (position in $P) and not (position in ${P}Others)]
select position, symbol, ticket as deal, order, side as deal_side, entry as deal_entry,
  lots as deal_lots, price as deal_price,
  default(profit, 0.0) + default(swap, 0.0) + (default(commission, 0.0) + default(fee, 0.0))
    as deal_profit,
  lots as opened, default(commission, 0.0) + default(fee, 0.0) as opened_profit, 0.0 as closed,
  side, lots, price as entry, price, 0.0 as gain, price as best, price as worst,
  default(profit, 0.0) + default(swap, 0.0) + (default(commission, 0.0) + default(fee, 0.0))
    as profit,
  1L as fills, eventTimestamp() as opened_msc, eventTimestamp() as changed_msc, 0L as age_ms,
  0.0 as closed_lots, 0.0 as closed_entry, 0.0 as closed_exit
insert into ${P}Fills;

@info(name='$P:others')
from Deal[entry == 'in' and magic != ${M} and lots > 0.0 and (side == 'buy' or side == 'sell')
  and not (position in $P) and not (position in ${P}Others)]
select position, 0.0 as net insert into ${P}Others;

@info(name='$P:others_net')
from Deal[lots > 0.0 and (side == 'buy' or side == 'sell')]
select position, ifThenElse(side == 'buy', lots, 0.0 - lots) as dealt
update ${P}Others set ${P}Others.net = math:round((${P}Others.net + dealt) * 1.0e8) / 1.0e8
on ${P}Others.position == position;

@info(name='$P:others_end')
from Deal select position
delete ${P}Others on ${P}Others.position == position and ${P}Others.net == 0.0;

@info(name='$P:change')
from ${P}Fills[lots > 0.0]
select position, symbol, side, lots, entry, price, gain, best, worst, profit, fills, opened_msc,
  changed_msc, age_ms, closed_lots, closed_entry, closed_exit
update or insert into $P on $P.position == position;

@info(name='$P:turn')
from ${P}Fills[lots <= 0.0 and opened > 0.0]
select position, symbol, deal_side as side, opened as lots, deal_price as entry,
  deal_price as price, 0.0 as gain, deal_price as best, deal_price as worst,
  opened_profit as profit, 1L as fills, changed_msc as opened_msc, changed_msc, 0L as age_ms,
  0.0 as closed_lots, 0.0 as closed_entry, 0.0 as closed_exit
update or insert into $P on $P.position == position;

@info(name='$P:end')
from ${P}Fills[lots <= 0.0 and opened <= 0.0] select position delete $P on $P.position == position;

@info(name='$P:order')
from ${P}Fills
select order, position, symbol, deal_side as side, deal_lots as lots, deal_price as price,
  1L as fills, changed_msc as first_msc, changed_msc
update or insert into ${P}Orders set
  ${P}Orders.lots = math:round((${P}Orders.lots + lots) * 1.0e8) / 1.0e8,
  ${P}Orders.price = (${P}Orders.price * ${P}Orders.lots + price * lots)
    / (${P}Orders.lots + lots),
  ${P}Orders.fills = ${P}Orders.fills + 1L,
  ${P}Orders.changed_msc = changed_msc
on ${P}Orders.order == order;

@info(name='$P:orders_end')
from ${P}Fills[lots <= 0.0] select position, order, opened
delete ${P}Orders on ${P}Orders.position == position
  and (opened <= 0.0 or ${P}Orders.order != order);

@info(name='$P:closing')
from ${P}Fills[lots <= 0.0]
select position, symbol, side, closed_lots as lots, closed_entry as entry, closed_exit as exit,
  ifThenElse(side == 'buy', 1.0, -1.0) * (closed_exit - closed_entry) as gain,
  best, worst, profit, fills, opened_msc, changed_msc as closed_msc, age_ms
insert into ${P}Closed;

@info(name='$P:streak')
from ${P}Closed
select symbol, ifThenElse(profit < 0.0, 1L, 0L) as losses, ifThenElse(profit > 0.0, 1L, 0L) as wins,
  1L as trades, profit, closed_msc as changed_msc
update or insert into ${P}Streak set
  ${P}Streak.losses = ifThenElse(profit < 0.0, ${P}Streak.losses + 1L, 0L),
  ${P}Streak.wins = ifThenElse(profit > 0.0, ${P}Streak.wins + 1L, 0L),
  ${P}Streak.trades = ${P}Streak.trades + 1L,
  ${P}Streak.profit = ${P}Streak.profit + profit,
  ${P}Streak.changed_msc = changed_msc
on ${P}Streak.symbol == symbol;
""")

SAME, TURN = "d.side == p.side", "d.entry == 'inout' and d.lots > p.lots"
PARTS = {
    "same": SAME,
    "is_turn": f"d.side != p.side and {TURN}",
    "result": "(default(d.profit, 0.0) + default(d.swap, 0.0))",
    "costs": "default(d.commission, 0.0) + default(d.fee, 0.0)",
    "opened": f"ifThenElse({SAME}, d.lots, "
    f"ifThenElse({TURN}, math:round((d.lots - p.lots) * 1.0e8) / 1.0e8, 0.0))",
    "closed": f"ifThenElse({SAME}, 0.0, math:min(d.lots, p.lots))",
    "left": f"ifThenElse({SAME}, math:round((p.lots + d.lots) * 1.0e8) / 1.0e8, "
    "math:round(math:max(p.lots - d.lots, 0.0) * 1.0e8) / 1.0e8)",
    "entry": f"ifThenElse({SAME}, "
    "(p.entry * p.lots + d.price * d.lots) / (p.lots + d.lots), p.entry)",
}
"""What one deal does to a position, by the names that `TEXT` has for it. `inout` turns it."""


def written_out(name: str, magic: int) -> str:
    """The statements that `define position NAME magic MAGIC` stands for."""
    return TEXT.substitute(PARTS, P=name, M=f"{magic}L")


def all_written_out(text: str, file: str) -> str:
    """The same of all positions of a rule text; RuleError."""
    return "\n".join(
        written_out(one.name.text, _magic(one, MAGIC))
        for one in parse(text, file).statements
        if isinstance(one, ast.PositionDefinition)
    )


def _magic(node: ast.PositionDefinition, usual: int) -> int:
    return usual if node.magic is None else int(node.magic.value)


def expanded(problems: Problems, script: ast.Script, magic: int) -> ast.Script:
    """The script with each `define position` written out, its errors reported.

    One in error stays. `magic` is that of statements which name none.
    """
    found: list[ast.Statement] = []
    for node in script.statements:
        if isinstance(node, ast.PositionDefinition):
            made = problems.attempt(_Position(problems, script, node).statements, magic)
            found += (node,) if made is None else made
        else:
            found.append(node)
    return replace(script, statements=tuple(found))


class _Position:
    """One statement, and the script around it."""

    def __init__(
        self, problems: Problems, script: ast.Script, node: ast.PositionDefinition
    ) -> None:
        self.problems, self.script, self.node = problems, script, node

    def statements(self, magic: int) -> tuple[ast.Statement, ...]:
        """What it stands for, each at its place in the text. RuleError, Skip."""
        node = self.node
        if not node.name.text.isidentifier() or node.name.text.lower() in KEYWORDS:
            message = f"`{node.name.text}` cannot name a position"
            hint = "its name begins those of others: take letters, digits and `_`, and no keyword"
            raise self.problems.error(node.name.span, message, hint)
        self._need_own_names()
        wrong = [self.problems.attempt(self._need, stream) for stream in NEEDED]
        if None in wrong:
            raise Skip
        written = parse(written_out(node.name.text, _magic(node, magic))).statements
        return tuple(_moved(one, node.span) for one in written)

    def _need_own_names(self) -> None:
        """Nothing else in the file may make, fill or change what it makes."""
        own = {name.text for name in self.node.made}
        for name in self._others():
            if name.text in own:
                line = self.problems.line(name.span)
                message = f"`{name.text}` is kept by `define position {self.node.name.text}`"
                hint = f"line {line} has that name, too: rename one of them"
                raise self.problems.error(self.node.name.span, message, hint)

    def _others(self) -> Iterator[ast.Name]:
        for statement in self.script.statements:
            if statement is not self.node:
                yield from made_by(statement)
            queries = [statement] if isinstance(statement, ast.Query) else []
            queries += statement.queries if isinstance(statement, ast.Partition) else []
            for query in queries:
                if isinstance(query.output, ast.Update | ast.Delete):
                    yield query.output.target

    def _need(self, stream: str) -> bool:
        """Whether a stream stands above with all attributes that are needed. RuleError if not."""
        needed, name = NEEDED[stream], self.node.name
        defined = next(
            (
                one
                for one in self.script.statements
                if isinstance(one, ast.StreamDefinition) and one.name.text == stream
            ),
            None,
        )
        if defined is None or defined.span.start > self.node.span.start:
            what = "is not defined" if defined is None else "is defined below it"
            message = f"position `{name.text}` is kept by the stream `{stream}`, which {what}"
            raise self.problems.error(name.span, message, f"write above: {_line(stream, needed)}")
        has = {one.name.text: one.type for one in defined.attributes}
        lacking = [attribute for attribute in needed if attribute not in has]
        if lacking:
            message = f"position `{name.text}` needs {listing(lacking)} of `{stream}`"
            line = self.problems.line(defined.span)
            hint = f"line {line} lacks that; write there: {_line(stream, {**has, **needed})}"
            raise self.problems.error(name.span, message, hint)
        place = {one.name.text: one.span for one in defined.attributes}
        for attribute, type_ in needed.items():
            if has[attribute] != type_:
                message = f"`{stream}.{attribute}` is {with_article(has[attribute])}"
                hint = f"position `{name.text}` needs `{attribute} {type_}`"
                raise self.problems.error(place[attribute], message, hint)
        return True


def _line(stream: str, attributes: dict[str, str]) -> str:
    shown = ", ".join(f"{name} {type_}" for name, type_ in attributes.items())
    return f"`define stream {stream} ({shown});`"


def _moved(node: Any, span: Span) -> Any:
    """A syntax tree whose every node stands at one place."""
    if isinstance(node, tuple):
        return tuple(_moved(one, span) for one in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    changed = {
        one.name: span if one.name == "span" else _moved(getattr(node, one.name), span)
        for one in fields(node)
    }
    return replace(node, **changed)
