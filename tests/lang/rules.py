"""Hypothesis strategies for rule texts: every one is accepted by the parser, few make sense."""

from __future__ import annotations

from hypothesis import strategies as st

Words = list[str]

NAMES = ("S", "T", "symbol", "bid", "select", "group", "and", "`or`", "`two words`", "each", "min")
OPERATORS = ("+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "and", "or")
# A blank that also is a comment must not end in the middle of what follows it.
BLANKS = (" ", "  ", "\n", "\n\n\n", "\t", " /* c */ ", "/* a\n b */", " -- c\n", "\n-- c\n")


def _join(*parts: Words) -> Words:
    return [word for part in parts for word in part]


def _sequence(*strategies: st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    return st.tuples(*strategies).map(lambda parts: _join(*parts))


def _text(text: str) -> st.SearchStrategy[Words]:
    return st.just(text.split())


def _maybe(strategy: st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    return st.one_of(st.just([]), strategy)


def _list(item: st.SearchStrategy[Words], items_max: int = 3) -> st.SearchStrategy[Words]:
    """Items with commas between."""
    return st.lists(item, min_size=1, max_size=items_max).map(
        lambda items: _join(items[0], *([",", *item] for item in items[1:]))
    )


names = st.sampled_from(NAMES).map(lambda name: [name])
strings = st.sampled_from(["'x'", '"y\'s"', '"""a\n"z" """', "''"]).map(lambda text: [text])
integers = st.integers(0, 10**6).map(lambda value: [str(value)])
numbers = st.sampled_from(["1", "2L", "1.5", ".5", "1e-3", "2.5f", "7d"]).map(lambda text: [text])
durations = st.sampled_from(["5 min", "1 MIN 30 sec", "2days", "1 hour 3 ms"]).map(str.split)


def _expressions() -> st.SearchStrategy[Words]:
    # A number and a word would make a time, and two signs a comment.
    leaves = st.one_of(
        names,
        _sequence(names, _text("."), names),
        _sequence(_maybe(marks), streams_read, indexes, _text("."), names),
        strings,
        numbers,
        durations,
        _text("true"),
        _text("FALSE"),
        _sequence(_text("("), names, _text(")"), _text("is null")),
        _sequence(streams_read, _maybe(indexes), _text("is null")),
    )

    def extend(inner: st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
        wrapped = _sequence(_text("("), inner, _text(")"))
        operators = st.sampled_from(OPERATORS).map(lambda text: [text])
        called = names.filter(lambda name: name != ["not"])
        return st.one_of(
            wrapped,
            _sequence(inner, operators, wrapped),
            _sequence(wrapped, _text("in"), streams_read),
            _sequence(_text("not"), inner),
            _sequence(_text("-"), wrapped),
            _sequence(_maybe(_text("math :")), called, _arguments(inner)),
        )

    return st.recursive(leaves, extend, max_leaves=6)


def _arguments(argument: st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    inner = st.one_of(st.just([]), _text("*"), _list(argument))
    return _sequence(_text("("), inner, _text(")"))


# Streams in front of `and`, `->` and the like must not read as keywords themselves.
streams_read = st.sampled_from(["S", "T", "symbol", "`or`", "`two words`"]).map(lambda n: [n])
marks = st.sampled_from([["#"], ["!"]])
indexes = st.sampled_from(["[ 0 ]", "[ 7 ]", "[ last ]", "[ LAST - 1 ]"]).map(str.split)
references = st.one_of(names, _sequence(streams_read, _text("."), names))
expressions = _expressions()
filters = _sequence(st.sampled_from([["["], ["#", "["]]), expressions, _text("]"))
functions = _sequence(_text("#"), _maybe(_text("ns :")), streams_read, _arguments(expressions))
windows = _sequence(
    _text("# window ."), _maybe(_text("ns :")), names, _arguments(st.one_of(durations, expressions))
)
handlers = st.lists(st.one_of(filters, functions), max_size=2).map(lambda found: _join(*found))
items = st.one_of(_sequence(expressions, _text("as"), names), names)
event_kinds = _maybe(
    st.sampled_from(["events", "all events", "CURRENT events", "expired events"]).map(str.split)
)

clauses = _sequence(
    _maybe(_sequence(_text("group by"), _list(references, 2))),
    _maybe(_sequence(_text("having"), expressions)),
    _maybe(
        _sequence(
            _text("order by"),
            _list(_sequence(references, _maybe(st.sampled_from([["asc"], ["DESC"]]))), 2),
        )
    ),
    _maybe(_sequence(_text("limit"), integers)),
    _maybe(_sequence(_text("offset"), integers)),
)
selections = _sequence(_text("select"), st.one_of(_text("*"), _list(items)), clauses)
made_rows = _sequence(_text("select"), _list(items), clauses)
rates = st.sampled_from(
    [
        "output every 3 events",
        "output ALL every 2 min",
        "output last every 5 events",
        "output first every 1 sec 5 ms",
        "output snapshot every 1 hour",
    ]
).map(str.split)

plain_inputs = _sequence(
    _maybe(marks), streams_read, handlers, _maybe(_sequence(windows, handlers))
)
inner_inputs = _sequence(
    _text("( from"),
    plain_inputs,
    _maybe(selections),
    _maybe(rates),
    _text("return"),
    event_kinds,
    _text(")"),
)
sides = _sequence(
    st.one_of(_sequence(_maybe(marks), streams_read), inner_inputs),
    handlers,
    _maybe(windows),
    _maybe(_sequence(_text("as"), streams_read)),
)
join_words = st.sampled_from(
    [
        "join",
        "inner join",
        "left outer join",
        "RIGHT outer join",
        "full outer join",
        "unidirectional join",
    ]
).map(str.split)
joins = _sequence(
    sides,
    join_words,
    sides,
    _maybe(_sequence(_text("on"), expressions)),
    _maybe(_sequence(_text("within"), _list(expressions, 2), _text("per"), expressions)),
)

events_read = st.sampled_from([["e1", "="], ["e2", "="], []])
simple_states = _sequence(events_read, _maybe(marks), streams_read, handlers)
absent_states = _sequence(_text("not"), streams_read, handlers, _text("for"), durations)
logical_states = st.one_of(
    _sequence(simple_states, st.sampled_from([["and"], ["or"]]), simple_states),
    _sequence(absent_states, st.sampled_from([["and"], ["OR"]]), simple_states),
    _sequence(_text("not"), streams_read, handlers, _text("and"), simple_states),
)
counts = st.sampled_from(["< 2 >", "< 2 : 5 >", "< 2 : >", "< : 5 >"]).map(str.split)
single_states = st.one_of(simple_states, absent_states, logical_states)
counted_states = _sequence(simple_states, counts)


def _every(state: st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
    return _sequence(_maybe(_text("every")), state)


def _chain(state: st.SearchStrategy[Words], separator: str) -> st.SearchStrategy[Words]:
    return st.lists(state, min_size=2, max_size=3).map(
        lambda found: _join(found[0], *([separator, *part] for part in found[1:]))
    )


pattern_states = st.one_of(single_states, counted_states)
state_groups = _sequence(
    _maybe(_text("every")),
    _text("("),
    _chain(pattern_states, "->"),
    _maybe(_sequence(_text("within"), durations)),
    _text(")"),
)
pattern_inputs = _sequence(
    _chain(st.one_of(_every(pattern_states), state_groups), "->"),
    _maybe(_sequence(_text("within"), durations)),
)
sequence_states = st.one_of(
    pattern_states, _sequence(simple_states, st.sampled_from([["*"], ["+"], ["?"]]))
)
sequence_inputs = _sequence(
    _every(sequence_states),
    _text(","),
    _chain(sequence_states, ","),
    _maybe(_sequence(_text("within"), durations)),
)
query_inputs = st.one_of(plain_inputs, inner_inputs, joins, pattern_inputs, sequence_inputs)

for_events = _maybe(
    st.sampled_from(["for events", "for all events", "for expired events"]).map(str.split)
)
changes = _sequence(
    _maybe(
        _sequence(_text("set"), _list(_sequence(references, _text("="), expressions), 2)),
    ),
    _text("on"),
    expressions,
)
outputs = st.one_of(
    _sequence(_text("insert"), event_kinds, _text("into"), _maybe(marks), streams_read),
    _sequence(_text("return"), event_kinds),
    _sequence(_text("delete"), streams_read, for_events, _text("on"), expressions),
    _sequence(_text("update"), streams_read, for_events, changes),
    _sequence(_text("update or insert into"), streams_read, for_events, changes),
)
infos = _maybe(_text("@ info ( name = 'q' ) @ synchronized ( 'true' )"))
queries = _sequence(infos, _text("from"), query_inputs, _maybe(selections), _maybe(rates), outputs)
partition_keys = st.one_of(
    _sequence(expressions, _text("of"), streams_read),
    _sequence(
        expressions,
        _text("as 'low' or"),
        expressions,
        _text("as 'high' of"),
        streams_read,
    ),
)
partitions = _sequence(
    infos,
    _text("partition with ("),
    _list(partition_keys, 2),
    _text(") begin"),
    st.lists(queries, min_size=1, max_size=2).map(
        lambda found: _join(found[0], *([";", *part] for part in found[1:]))
    ),
    _maybe(_text(";")),
    _text("end"),
)

types = st.sampled_from(["string", "INT", "long", "double", "object"]).map(lambda text: [text])
attributes = _sequence(_text("("), _list(_sequence(names, types)), _text(")"))
streams = _sequence(
    _maybe(_text("@ OnError ( action = 'LOG' )")), _text("define stream"), names, attributes
)
tables = _sequence(
    _maybe(_text("@ PrimaryKey ( 'a' , 'b' ) @ Index ( 'c' )")),
    _text("define table"),
    names,
    attributes,
)
named_windows = _sequence(
    _text("define window"),
    names,
    attributes,
    streams_read,
    _arguments(expressions),
    _maybe(_text("output expired events")),
)
triggers = _sequence(
    _text("define trigger"),
    names,
    _text("at"),
    st.one_of(_sequence(_text("every"), durations), strings),
)
aggregations = _sequence(
    _maybe(_text("@ purge ( enable = 'true' , @ retentionPeriod ( sec = '5min' ) )")),
    _text("define aggregation"),
    names,
    _text("from"),
    streams_read,
    handlers,
    _text("select"),
    _list(items),
    _maybe(_sequence(_text("group by"), _list(references, 2))),
    _text("aggregate"),
    _maybe(_sequence(_text("by"), references)),
    _text("every"),
    st.sampled_from(["sec ... year", "min , hour", "DAYS"]).map(str.split),
)
engines = _sequence(
    _text("define engine"),
    names,
    _maybe(_text("( queue = 5 min , opposites = 'evict' )")),
    _maybe(_sequence(_text("from"), _list(names))),
)
headers = _sequence(
    names,
    _maybe(_sequence(_text("number"), integers)),
    _maybe(_sequence(_text("in"), names)),
    _maybe(_sequence(_text("for each"), names)),
)
events = _sequence(
    _text("define event"),
    headers,
    _text("as"),
    _maybe(_text("every")),
    names,
    _maybe(_sequence(_text("["), expressions, _text("]"))),
    _maybe(_sequence(_text("opposite"), _list(names))),
    _maybe(_text("repeat refresh")),
)
pattern_events = _sequence(
    st.one_of(names, integers), _maybe(_sequence(_text("("), strings, _text(")")))
)
patterns = st.recursive(
    pattern_events,
    lambda inner: st.one_of(
        _sequence(_text("("), inner, _text(")")),
        _sequence(
            inner, st.sampled_from([["and"], ["or"], ["followed", "by"], ["->"]]), pattern_events
        ),
        _sequence(inner, _text("followed by [ not"), _list(pattern_events), _text("]"), inner),
    ),
    max_leaves=8,
)
arrangements = _sequence(_text("arrangements ("), _list(integers), _text(") , ( 1 , 2 )"))
complexes = _sequence(
    _text("define complex"),
    headers,
    _text("as"),
    st.one_of(patterns, arrangements),
    _maybe(_sequence(_text("within"), durations)),
    _maybe(_sequence(_text("forbid"), _list(pattern_events))),
)
signals = _sequence(
    _text("define signal"),
    names,
    _text("on"),
    names,
    _maybe(_sequence(_text("["), expressions, _text("]"))),
    st.sampled_from([["buy"], ["SELL"], ["close"], ["modify"], ["cancel"]]),
    _maybe(strings),
    _maybe(
        st.one_of(_text("0.10 lots"), _sequence(_text("risk ("), expressions, _text(") percent")))
    ),
    _maybe(_sequence(_text("at limit"), expressions)),
    _maybe(_text("stop 20 points")),
    _maybe(
        _sequence(st.sampled_from([["target"], ["target", "at"], ["target", "by"]]), expressions)
    ),
    _maybe(_sequence(_text("for"), durations)),
)
siddhi_definitions = st.one_of(streams, tables, named_windows, triggers, aggregations)
engine_definitions = st.one_of(engines, events, complexes, signals)
statements = st.one_of(queries, partitions, siddhi_definitions, engine_definitions)

on_demand_queries = st.one_of(
    _sequence(
        _text("from"),
        streams_read,
        _maybe(_sequence(_text("as"), streams_read)),
        _maybe(_sequence(_text("on"), expressions)),
        _maybe(_sequence(_text("within"), _list(expressions, 2), _text("per"), expressions)),
        _maybe(selections),
    ),
    _sequence(made_rows, _text("insert into"), streams_read),
    _sequence(_maybe(made_rows), _text("update"), streams_read, changes),
    _sequence(_maybe(made_rows), _text("delete"), streams_read, _text("on"), expressions),
)


@st.composite
def rule_texts(draw: st.DrawFn, statements_max: int = 3) -> str:
    """A rule file with odd blanks and comments everywhere."""
    words = draw(_maybe(_text("@ app : name ( 'x' )")))
    for statement in draw(st.lists(statements, max_size=statements_max)):
        words += [*statement, ";"]
    if draw(st.booleans()) and words and words[-1] == ";":
        words.pop()
    blanks = draw(st.lists(st.sampled_from(BLANKS), min_size=1, max_size=12))
    # every third word apart keeps most texts readable when they are reported
    return "".join(
        word + (blanks[i // 3 % len(blanks)] if i % 3 == 0 else " ") for i, word in enumerate(words)
    )
