"""No attribute takes the place of what a row says of itself, where rows are put out."""

from __future__ import annotations

import pytest

from cep.app import App
from cep.app.errors import ArgumentError
from cep.plan import compile_rules
from cep.plan.envelope import ENVELOPE

SOURCE = "define stream S (symbol string, stream string, kind int, time_msc long);\n"


@pytest.mark.parametrize("name", ENVELOPE)
def test_where_rows_are_not_put_out_any_name_may_stand(name: str) -> None:
    """Sources, tables, windows, inner streams and conditions keep their names."""
    plan = compile_rules(
        SOURCE
        + f"define table T (symbol string, {name} long);\n"
        + f"define window W (symbol string, {name} long) length(2);\n"
        + f"from S select symbol, time_msc as {name} insert into T;\n"
        + f"from S select symbol, time_msc as {name} insert into W;\n"
        + "partition with (symbol of S) begin\n"
        + f"from S select symbol, time_msc as {name} insert into #Own;\n"
        + f"from #Own select symbol, {name} as own insert into O;\nend;\n"
        + "define event Odd for each symbol as S[kind == 1 and stream == 'a'];\n",
        "rules.cep",
    )
    assert plan.derived == {"O", "Odd"}


def test_a_query_that_fills_a_table_cannot_call_back_with_such_rows() -> None:
    rules = "define table T (kind int);\n@info(name='q') from S select kind insert into T;\n"
    with pytest.raises(ArgumentError, match=r"query 'q' has an attribute `kind`: .* as `own_kind`"):
        App(SOURCE + rules).on_query("q", print)
    inner = "from S select kind insert into #Own; from #Own select kind as a insert into O;"
    app = App(f"{SOURCE} partition with (symbol of S) begin {inner} end;")
    with pytest.raises(ArgumentError, match=r"stream 'partition1#Own' has an attribute `kind`"):
        app.on_stream("partition1#Own", print)
