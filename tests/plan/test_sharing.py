"""Equal parts of queries."""

from __future__ import annotations

from cep.plan.rewrite.sharing import sharing
from tests.plan.rules import plan


def test_filters_and_windows() -> None:
    found = sharing(
        plan("""from S[n > 5]#window.length(3) select avg(price) as a insert into A;
    from S[n > 5]#window.length(3) select sum(price) as a insert into B;
    from S[n > 5]#window.length(4) select sum(price) as a insert into C;
    from R[n > 5]#window.length(3) select sum(price) as a insert into D;""")
    )
    assert [one.queries for one in found.filters] == [("query1", "query2", "query3")]
    (window,) = found.windows
    assert (window.stream, window.queries) == ("S", ("query1", "query2"))
    assert window.window.name == "length"


def test_conditions_written_in_another_order_are_equal() -> None:
    found = sharing(
        plan("""from S[n > 5 and symbol == 'A'] insert into A;
    from S[symbol == 'A' and n > 2 + 3] insert into B;""")
    )
    assert [one.queries for one in found.filters] == [("query1", "query2")]


def test_partitions_share_nothing_with_the_rest() -> None:
    found = sharing(
        plan("""from S[n > 5] insert into A;
    partition with (symbol of S) begin from S[n > 5] insert into B; end;""")
    )
    assert found.filters == ()


def test_prefixes_of_patterns() -> None:
    found = sharing(
        plan("""from every e1=S[n > 5] -> e2=R[n > e1.n] -> e3=S select e3.n insert into A;
    from every first=S[n > 5] -> second=R[n > first.n] -> R select first.n insert into B;
    from every e1=S[n > 6] -> e2=R[n > e1.n] select e1.n insert into C;
    from every e1=S[n > 5] -> e2=R[n > e1.n] within 1 sec select e1.n insert into D;
    from every e1=S[n > 5], e2=R[n > e1.n] select e1.n insert into E;""")
    )
    (prefix,) = found.prefixes
    assert (prefix.kind, prefix.queries, len(prefix.states)) == ("pattern", ("query1", "query2"), 2)


def test_thresholds() -> None:
    text = "".join(f"from S[n > {k} and ok] insert into A{k};" for k in (3, 1, 2))
    found = sharing(plan(text + "from S[n < 2] insert into B; from R[n > 2] insert into C;"))
    (threshold,) = found.thresholds
    assert (threshold.stream, threshold.column.name, threshold.op) == ("S", "n", ">")
    assert threshold.tests == ((3, "query1"), (1, "query2"), (2, "query3"))
