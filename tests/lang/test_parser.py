"""Tokens to trees."""

from __future__ import annotations

import pytest

from cep.lang import RuleError, ast, parse
from tests.lang.shown import shown


def condition(text: str) -> ast.Expression:
    (query,) = parse(f"from S[{text}] select * insert into T").statements
    assert isinstance(query, ast.Query)
    assert isinstance(query.source, ast.StreamInput)
    (found,) = query.source.handlers
    assert isinstance(found, ast.Filter)
    return found.condition


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", "(+ a (* b c))"),
        ("(a + b) * c", "(* (+ a b) c)"),
        ("a - b - c", "(- (- a b) c)"),
        ("a / b % c", "(% (/ a b) c)"),
        ("a > b == c < d", "(== (> a b) (< c d))"),
        ("a == b and c or d and e", "(or (and (== a b) c) (and d e))"),
        ("not a == b", "(== (not a) b)"),
        ("not a and not b", "(and (not a) (not b))"),
        ("not not a", "(not (not a))"),
        ("not (a == b)", "(not (== a b))"),
        ("not a is null", "(not (null? a))"),
        ("-a * b", "(* (- a) b)"),
        ("a - -1", "(- a -1)"),
        ("a -1", "(- a 1)"),
        ("-1 + +2", "(+ -1 2)"),
        ("- - a", "(- (- a))"),
        ("S.a == 1", "(== S.a 1)"),
        ("f(a) is null", "(null? (f a))"),
        ("ifThenElse(a > 1, 'x', \"y\")", "(ifThenElse (> a 1) 'x' 'y')"),
        ("count()", "(count )"),
        ("a > 1 min 30 sec", "(> a 90000ms)"),
        ("TRUE or False", "(or True False)"),
        ("a AND b Or c", "(or (and a b) c)"),
        ("`and` == `is`", "(== and is)"),
        ("select + group", "(+ select group)"),
        ("a in T and b", "(and (in a T) b)"),
        ("a == 1 in T", "(in (== a 1) T)"),
        ("not a in T", "(in (not a) T)"),
        ("math:abs(a) > 1", "(> (math:abs a) 1)"),
        ("maximum(*) > 1", "(> (maximum *) 1)"),
        ("e1[0].a == e1[last].b", "(== e1[0].a e1[last-0].b)"),
        ("e1[last - 2].a", "e1[last-2].a"),
        ("#S.a == !S.b", "(== #S.a !S.b)"),
        ("S is null", "(null? @S)"),
        ("e1[1] is null", "(null? @e1[1])"),
        ("min(a) > min", "(> (min a) min)"),
    ],
)
def test_precedence(text: str, tree: str) -> None:
    assert shown(condition(text)) == tree


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("7", 7, "int"),
        ("7L", 7, "long"),
        ("7.0f", 7.0, "float"),
        ("7d", 7.0, "double"),
        ("7e2", 700.0, "double"),
        ("2147483647", 2**31 - 1, "int"),
        ("-7", -7, "int"),
        ("-7.5", -7.5, "double"),
        ("'7'", "7", "string"),
        ("true", True, "bool"),
    ],
)
def test_literals(text: str, value: object, kind: str) -> None:
    literal = condition(text)
    assert isinstance(literal, ast.Literal)
    assert (literal.value, literal.type) == (value, kind)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1 ms", 1),
        ("20 millisec", 20),
        ("1 second", 1_000),
        ("2 SEC 5 milliseconds", 2_005),
        ("5min", 300_000),
        ("1 hour 1 minute", 3_660_000),
        ("1 day", 86_400_000),
        ("1 week", 7 * 86_400_000),
        ("1 month", 30 * 86_400_000),
        ("1 year 2 months", (365 + 60) * 86_400_000),
    ],
)
def test_times(text: str, ms: int) -> None:
    duration = condition(text)
    assert isinstance(duration, ast.Duration)
    assert duration.ms == ms


def pattern(text: str) -> str:
    (node,) = parse(f"define complex C as {text} within 1 sec").statements
    assert isinstance(node, ast.ComplexDefinition)
    return shown(node.pattern)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A", "A"),
        ("A('k')", "A'k"),
        ("10 followed by (11 or (12 and 13))", "(-> 10 (or 11 (and 12 13)))"),
        ("A -> B followed by C", "(-> (-> A B) C)"),
        ("A or B and C", "(or A (and B C))"),
        ("A or B -> C and D", "(-> (or A B) (and C D))"),
        ("A -> [not X, Y('k')] B", "(-> !X !Y'k A B)"),
        ("arrangements (10, 11), (10, 12, 13)", "(or (-> 10 11) (-> (-> 10 12) 13))"),
        ("arrangements (A('k'), B)", "(-> A'k B)"),
        ("arrangements -> B", "(-> arrangements B)"),
        ("arrangements('k')", "arrangements'k"),
    ],
)
def test_patterns(text: str, tree: str) -> None:
    assert pattern(text) == tree


def test_every_clause_of_an_event() -> None:
    text = "define event E number 7 in X for each symbol as every S[a] opposite F, G repeat allow"
    (node,) = parse(text).statements
    assert isinstance(node, ast.EventDefinition)
    assert node.header.number is not None and node.header.number.value == 7
    assert node.header.engine is not None and node.header.engine.text == "X"
    assert node.header.key is not None and node.header.key.text == "symbol"
    assert node.every and node.source.text == "S"
    assert [name.text for name in node.opposites] == ["F", "G"]
    assert node.repeat == "allow"


def test_clauses_of_an_event_in_either_order() -> None:
    one = parse("define event E as S[a] opposite F repeat allow")
    assert one == parse("define event E as S[a] repeat allow opposite F")


def test_a_stream_may_be_called_every() -> None:
    (node,) = parse("define event E as every[a]").statements
    assert isinstance(node, ast.EventDefinition)
    assert (node.every, node.source.text) == (False, "every")


def test_every_clause_of_a_signal() -> None:
    text = "define signal G on C buy 'EURUSD' 0.1 lots stop 20 points target 40 points for 1 min"
    (node,) = parse(text).statements
    assert isinstance(node, ast.SignalDefinition)
    assert (node.side, node.symbol and node.symbol.value) == ("buy", "EURUSD")
    assert isinstance(node.lots, ast.Literal) and isinstance(node.valid, ast.Duration)
    assert (node.lots.value, node.valid.ms) == (0.1, 60_000)
    values = [one and (one.kind, one.value) for one in (node.stop, node.target)]
    assert values == [("points", ast.Literal(points, "int", span=node.span)) for points in (20, 40)]


def test_engine() -> None:
    text = "define engine X (queue = 5 min, max = 3, late = 'drop') from A, B"
    (node,) = parse(text).statements
    assert isinstance(node, ast.EngineDefinition)
    assert [option.name.text for option in node.options] == ["queue", "max", "late"]
    assert [name.text for name in node.upstream] == ["A", "B"]


def test_keywords_are_names_too() -> None:
    text = """define stream from (select int, group string, window double);
    from from select select as as, group as by insert into into;
    define event event number 3 in engine for each group as every from[select > 1];"""
    assert len(parse(text).statements) == 3


def test_semicolons_may_be_left_out_at_the_end_and_doubled() -> None:
    one = parse("define engine A; define engine B")
    assert one == parse(";define engine A;; define engine B;;")


def test_a_byte_order_mark_is_a_blank() -> None:
    assert parse("\ufeffdefine engine A") == parse("define engine A")


def test_a_string_is_not_the_end_of_a_statement() -> None:
    with pytest.raises(RuleError) as caught:
        parse("from S[a == ';' b] insert into T; define engine")
    assert [error.column for error in caught.value.errors] == [17, 47]


def test_positions_do_not_count_in_comparisons() -> None:
    assert parse("define engine A") == parse("/* x */ DEFINE   engine `A` ;")


def test_app_annotations() -> None:
    script = parse("@app:name('x') @App:Compat('siddhi') define engine A")
    assert [(a.name, a.value("")) for a in script.annotations] == [
        ("app:name", "x"),
        ("app:compat", "siddhi"),
    ]


def test_the_parser_goes_on_after_an_error() -> None:
    with pytest.raises(RuleError) as caught:
        parse("from; define engine A; define engne B; from S[ insert into T; define stream;")
    assert [error.line for error in caught.value.errors] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "text",
    [
        "from S[" + "(" * 5_000,
        "from S[" + "not " * 5_000 + "a]",
        "from S[" + "- " * 5_000 + "a]",
        "from S[" + "a + " * 5_000 + "a]",
        "from S[" + "f(" * 5_000,
        "define complex C as " + "(" * 5_000,
        "define complex C as " + "A and " * 5_000,
    ],
)
def test_deep_text_is_refused_and_does_not_exhaust_the_stack(text: str) -> None:
    with pytest.raises(RuleError):
        parse(text)


def test_the_deepest_accepted_text_is_parsed() -> None:
    text = "(" * 39 + "a" + " + a" * 100 + ")" * 39
    assert shown(condition(text)).startswith("(+ (+")


def test_the_last_statement_may_leave_out_its_end() -> None:
    """ "each ended by `;`, which the last may leave out"."""
    text = "define stream S (a int);\nfrom S select a insert into T"
    assert parse(text) == parse(f"{text};")
