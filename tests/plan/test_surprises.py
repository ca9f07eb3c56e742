"""What does other than its text suggests is told, with a remedy that ends it; the rest is not."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from cep.cli import main
from cep.plan import compile_rules
from cep.plan.explain import explain
from cep.plan.surprises import surprises

S = "define stream S (symbol string, bid double, t long);\n"
T = S + "define stream T (symbol string, ask double);\n"
GROUPED = " select symbol, avg(bid) as a group by symbol insert into O;"
LATEST = " select symbol, avg(bid) as a group by symbol output {} 10 events insert into O;"
JOINED = " select S.symbol as symbol, S.bid as bid insert into O;"
SECOND = " select e2.symbol as symbol insert into O;"
MATCHED = " select e1.symbol as symbol insert into O;"

TOGETHER = [
    *(
        f"{S}from S#window.{window}{GROUPED}"
        for window in (
            "length(5)", "lengthBatch(5)", "lengthJump(5, 2)", "timeLength(1 sec, 5)",
            "session(1 sec)", "sort(5, bid)", "frequent(5, symbol)", "lossyFrequent(0.1)",
            "expression('count() < 5')", "expressionBatch('count() < 5')",
        )
    ),
    f"{S}from S{LATEST.format('last every')}",
    f"{T}from S#window.length(1) join T#window.time(1 sec) on S.symbol == T.symbol{JOINED}",
    f"{S}from every e1=S, e2=S[bid > e1.bid]{MATCHED}",
    f"{S}from every e1=S, e2=S[symbol == e1.symbol]{MATCHED}",
    f"{S}from every e1=S<3> -> e2=S[bid > 1.0] within 1 sec{SECOND}",
    f"{S}from every e1=S[bid > 1.0] -> e2=S[bid < 1.0]<2:> -> e3=S within 1 sec{MATCHED}",
]  # fmt: skip
ALONE = [
    *(
        f"{S}from S#window.{window}{GROUPED}"
        for window in (
            "time(5 sec)", "timeBatch(5 sec)", "hopping(5 sec, 1 sec)", "externalTime(t, 5 sec)",
            "session(1 sec, symbol)", "lengthJump(5, 2, symbol)", "batch()", "delay(1 sec)",
        )
    ),
    f"{S}from S#window.length(5) select symbol, avg(bid) as a insert into O;",
    f"{S}from S#bollinger(bid, 5) select symbol, upper group by symbol insert into O;",
    f"{S}from S{LATEST.format('first every')}",
    f"{S}from S{LATEST.format('every')}",
    f"{T}from S#window.time(1 sec) join T#window.time(1 sec) on S.symbol == T.symbol{JOINED}",
    f"{T}from S#window.length(1) join T#window.length(1) on S.bid > T.ask{JOINED}",
    f"{S}from every e1=S -> e2=S[symbol == e1.symbol] within 1 sec{MATCHED}",
    f"{S}from every e1=S[symbol == 'A']<3> -> e2=S within 1 sec{SECOND}",
    "define stream N (bid double);\nfrom every e1=N, e2=N select e1.bid as b insert into O;",
]  # fmt: skip


@pytest.mark.parametrize("rules", TOGETHER)
def test_rows_of_all_keys_together_are_told_and_a_partition_ends_it(rules: str) -> None:
    (found,) = surprises(compile_rules(rules, "rules.cep"))
    assert found.name == "query1"
    definitions, at, query = rules.rpartition("from ")
    begin = found.remedy.partition("`")[2].partition(" ..")[0]
    assert begin.startswith("partition with (symbol of S") and begin.endswith("begin")
    assert surprises(compile_rules(f"{definitions}{begin} {at}{query} end;", "rules.cep")) == []


@pytest.mark.parametrize("rules", ALONE)
def test_what_does_as_it_says_is_not_told(rules: str) -> None:
    assert surprises(compile_rules(rules, "rules.cep")) == []


def test_a_named_window_is_of_all_groups_too() -> None:
    window = "define window W (symbol string, bid double) length(5);\n"
    (found,) = surprises(compile_rules(f"{S}{window}from W{GROUPED}"))
    assert "`length(5)` of `W` takes the rows of all groups" in found.what
    assert (
        found.remedy
        == "for each symbol its own: write the window in the query, in a partition by symbol"
    )


@pytest.mark.parametrize("window", ["length(0)", "lengthBatch(0)", "timeLength(1 sec, 0)"])
def test_windows_of_no_rows_are_told(window: str) -> None:
    """SiddhiQL takes them, so they are no mistakes."""
    query = f"from S#window.{window} select symbol insert into O;"
    for rules in (
        S + query,
        f"{S}define window W (symbol string) {window};",
        f"{S}partition with (symbol of S) begin {query} end;",
    ):
        (found,) = surprises(compile_rules(rules))
        assert found.what.endswith("` holds no row") and "from 1 on" in found.remedy
    (found,) = surprises(compile_rules(f"{S}from S select symbol limit 0 insert into O;"))
    assert found.what == "`limit 0` lets no row pass"


@pytest.mark.parametrize(
    "rules",
    [
        "from S select bid / 0 as x insert into O;",
        "from S[bid % 0.0 > 1] select bid insert into O;",
        "partition with (symbol of S) begin"
        " from S select sum(bid / (1 - 1)) as x insert into O; end;",
        "define event A as S[bid / 0 > 1.0];",
        "from S select bid group by symbol having bid / 0 > 1 insert into O;",
    ],
)
def test_a_division_by_nothing_is_told(rules: str) -> None:
    found = surprises(compile_rules(S + rules))
    assert found and all("0` is null, whatever comes" in one.what for one in found)
    result = CliRunner().invoke(main, ["check", "-"], input=S + rules)
    assert result.exit_code == 0 and "<stdin>:2: warning: `" in result.stderr


def test_check_names_the_line_and_explain_the_query() -> None:
    rules = f"{S}\n@info(name='mine')\nfrom S#window.length(5){GROUPED}"
    said = CliRunner().invoke(main, ["check", "-"], input=rules)
    assert said.exit_code == 0 and said.stdout.startswith("<stdin>: ok, ")
    assert said.stderr == (
        "<stdin>:4: warning: `length(5)` takes the rows of all groups together; `group by symbol`"
        " keeps aggregates apart, not rows\n"
        "help: for each symbol its own: `partition with (symbol of S) begin .. end`\n"
    )
    assert "\nnotes\n  mine: `length(5)` takes the rows of all groups" in explain(
        compile_rules(rules)
    )
