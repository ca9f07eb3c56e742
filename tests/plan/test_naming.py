"""A name where another kind of thing is wanted: the error says what the name is."""

from __future__ import annotations

import pytest

from cep.lang import RuleError
from cep.plan import compile_rules

HEAD = """\
define stream S (symbol string, bid double, n int);
define table T (symbol string, p double);
define window W (symbol string, bid double) length(5);
define trigger Tr at every 1 sec;
define aggregation Agg from S select symbol, avg(bid) as a group by symbol aggregate every sec;
define engine Eng;
define engine Next from Eng;
define event Ev in Eng as S[n > 1];
define event Ew in Eng as S[n > 2];
define complex Cx in Eng as Ev followed by Ew within 1 sec;
define signal Sig on Cx buy 'A';
"""
NOUNS = {
    "S": "a stream",
    "T": "a table",
    "W": "a named window",
    "Tr": "a trigger",
    "Agg": "an aggregation",
    "Eng": "an engine",
    "Ev": "a simple event",
    "Cx": "a complex event",
    "Sig": "a signal",
    "avg": "an aggregator",
    "coalesce": "a function",
    "bollinger": "a stream function",
    "time": "a window",
}
STREAMS = ("S", "W", "Tr", "Ev", "Cx", "Sig")
SITES = {
    "from {} select * insert into X;": STREAMS,
    "define event E in Eng as every {};": ("S", "Tr", "Ev", "Cx", "Sig"),
    "define event E in Eng as S[n in {}];": (),
    "define complex C in Eng as {} followed by Ew within 1 sec;": ("Ev", "Cx"),
    "define complex C in Eng as Ew forbid {} within 1 sec;": ("Ev", "Cx"),
    "define signal X on {} buy 'A';": ("S", "Tr", "Cx", "Sig"),
    "define event E in Eng as S[n > 1] opposite {};": ("Ev", "Cx"),
    "define event E in {} as S[n > 1];": ("Eng",),
    "define engine X from {};": ("Eng",),
    "from S#{}(n, 2) select n insert into X;": ("bollinger",),
    "from S#window.{}(1) select n insert into X;": ("time",),
    "from S select {}(bid) as x insert into X;": ("avg", "coalesce"),
    "from S[bid in {}] select n insert into X;": ("T",),
    "from S select symbol, bid update {} on true;": ("T",),
    "from S delete {} on true;": ("T",),
    "partition with (symbol of {}) begin from S select n insert into X; end;": STREAMS,
    "from every e1={} -> e2=S select e2.n as n insert into X;": STREAMS,
    "from S#window.expression('bid in {}') select n insert into X;": (),
    "define aggregation A from {} select n aggregate every sec;": (*STREAMS[:1], *STREAMS[2:]),
}


@pytest.mark.parametrize("site", SITES)
def test_an_error_says_what_a_name_is(site: str) -> None:
    for name, noun in NOUNS.items():
        if name in SITES[site]:
            continue
        with pytest.raises(RuleError) as caught:
            compile_rules(HEAD + site.format(name))
        message = caught.value.message
        said = (noun, noun.replace("named window", "window"), f"`{name}` is no table")
        assert message.startswith((f"`{name}` is ", "in this condition")), message
        assert any(words in message for words in said), message
        assert "unknown" not in message


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("from S select T insert into X;", "`T` is a table, not an attribute"),
        ("from S select T.p insert into X;", "`T` is a table that is not read here"),
        ("from !T select * insert into X;", "`T` has no fault stream: it is a table"),
        (
            "from S[symbol in Later] insert into X; define table Later (symbol string);",
            "table `Later` is used before it exists",
        ),
        (
            "define event E in Eng as every Later; define table Later (symbol string);",
            "table `Later` is used before it exists",
        ),
    ],
)
def test_other_places(rules: str, said: str) -> None:
    with pytest.raises(RuleError) as caught:
        compile_rules(HEAD + rules)
    assert caught.value.message.startswith(said)


def test_a_table_in_an_event_names_the_remedy_and_the_streams() -> None:
    with pytest.raises(RuleError) as asked:
        compile_rules(HEAD + "define event E in Eng as S[(symbol == T.symbol) in T];")
    assert asked.value.message == "`T` is a table, and no table can be asked here"
    assert asked.value.hint == "ask it in a query: `from S[x in T] select .. insert into ..`"
    with pytest.raises(RuleError) as read:
        compile_rules(HEAD + "define event E in Eng as every T;")
    assert read.value.message == "`T` is a table, not a stream"
    assert read.value.hint.startswith("name a stream, `S`, `Tr`,")


def test_a_table_whose_definition_is_in_error_is_not_reported_twice() -> None:
    rules = "define table D (a int, a int); from S[n in D] select n insert into X;"
    with pytest.raises(RuleError) as caught:
        compile_rules(HEAD + rules)
    assert [error.message for error in caught.value.errors] == ["attribute `a` is there twice"]
