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
        strings,
        numbers,
        durations,
        _text("true"),
        _text("FALSE"),
        _sequence(_text("("), names, _text(")"), _text("is null")),
    )

    def extend(inner: st.SearchStrategy[Words]) -> st.SearchStrategy[Words]:
        wrapped = _sequence(_text("("), inner, _text(")"))
        operators = st.sampled_from(OPERATORS).map(lambda text: [text])
        return st.one_of(
            wrapped,
            _sequence(inner, operators, wrapped),
            _sequence(_text("not"), inner),
            _sequence(_text("-"), wrapped),
            _sequence(
                names.filter(lambda name: name != ["not"]), _text("("), _list(inner), _text(")")
            ),
        )

    return st.recursive(leaves, extend, max_leaves=6)


expressions = _expressions()
filters = _sequence(st.sampled_from([["["], ["#", "["]]), expressions, _text("]"))
windows = _sequence(_text("# window . time ("), durations, _text(")"))
items = st.one_of(_sequence(expressions, _text("as"), names), names)

queries = _sequence(
    _maybe(_text("@ info ( name = 'q' )")),
    _text("from"),
    st.just(["S"]),
    _maybe(filters),
    _maybe(_sequence(windows, _maybe(filters))),
    _maybe(
        _sequence(
            _text("select"),
            st.one_of(_text("*"), _list(items)),
            _maybe(_sequence(_text("group by"), _list(names, 2))),
            _maybe(_sequence(_text("having"), expressions)),
        )
    ),
    st.sampled_from(["insert into", "insert current events into"]).map(str.split),
    names,
)
types = st.sampled_from(["string", "INT", "long", "double"]).map(lambda text: [text])
streams = _sequence(
    _text("define stream"), names, _text("("), _list(_sequence(names, types)), _text(")")
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
    st.sampled_from([["buy"], ["SELL"], ["close"]]),
    _maybe(strings),
    _maybe(_text("0.10 lots")),
    _maybe(_text("stop 20 points")),
    _maybe(_sequence(_text("for"), durations)),
)
statements = st.one_of(queries, streams, engines, events, complexes, signals)


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
