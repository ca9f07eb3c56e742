"""Applying a function to every expression of a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cep.plan.expressions import (
    Aggregate,
    Arithmetic,
    Call,
    Comparison,
    Expression,
    InTable,
    IsNull,
    Logical,
    Not,
)
from cep.plan.nodes import Aggregation, Event, Operator, Partition, Plan, RangeKeys, ValueKey
from cep.plan.query import (
    AbsentState,
    Correlation,
    CountState,
    Definition,
    EveryState,
    GroupState,
    Input,
    Join,
    LogicalState,
    Match,
    Matching,
    MatchState,
    NextState,
    Query,
    StreamInput,
    StreamState,
)
from cep.plan.steps import (
    Assignment,
    Delete,
    Filter,
    GroupBy,
    Handler,
    Output,
    Project,
    Step,
    StreamFunction,
    Update,
)

Rewrite = Callable[[Expression], Expression]


def map_children(expression: Expression, rewrite: Rewrite) -> Expression:
    """The expression with its direct operands rewritten."""
    match expression:
        case Arithmetic() | Comparison() | Logical():
            left, right = rewrite(expression.left), rewrite(expression.right)
            return replace(expression, left=left, right=right)
        case Not() | IsNull():
            return replace(expression, operand=rewrite(expression.operand))
        case InTable():
            return replace(expression, condition=rewrite(expression.condition))
        case Call():
            return replace(expression, arguments=tuple(map(rewrite, expression.arguments)))
        case _:
            return expression


def map_plan(plan: Plan, rewrite: Rewrite) -> Plan:
    """The plan with every whole expression rewritten; arguments of windows stay as they are."""
    return replace(
        plan,
        operators=tuple(_operator(operator, rewrite) for operator in plan.operators),
        aggregations=tuple(_aggregation(one, rewrite) for one in plan.aggregations),
        partitions=tuple(_partition(one, rewrite) for one in plan.partitions),
    )


def _operator(operator: Operator, rewrite: Rewrite) -> Operator:
    match operator:
        case Query():
            return _query(operator, rewrite)
        case Event():
            return replace(operator, condition=rewrite(operator.condition))
        case _:
            return operator


def _query(query: Query, rewrite: Rewrite) -> Query:
    return replace(
        query,
        input=_input(query.input, rewrite),
        steps=tuple(map_step(step, rewrite) for step in query.steps),
        output=_output(query.output, rewrite),
    )


def map_step(step: Step, rewrite: Rewrite) -> Step:
    """The step with its whole expressions rewritten; what rows are sorted by stays as it is."""
    match step:
        case GroupBy():
            return replace(step, aggregates=_aggregates(step.aggregates, rewrite))
        case Project():
            return Project(_projection(step.columns, rewrite))
        case Filter():
            return Filter(rewrite(step.condition))
        case _:
            return step


def _aggregation(aggregation: Aggregation, rewrite: Rewrite) -> Aggregation:
    return replace(
        aggregation,
        input=_stream_input(aggregation.input, rewrite),
        steps=tuple(map_step(step, rewrite) for step in aggregation.steps),
    )


def _partition(partition: Partition, rewrite: Rewrite) -> Partition:
    return replace(partition, keys=tuple(_key(key, rewrite) for key in partition.keys))


def _key(key: ValueKey | RangeKeys, rewrite: Rewrite) -> ValueKey | RangeKeys:
    if isinstance(key, ValueKey):
        return replace(key, expression=rewrite(key.expression))
    return replace(key, ranges=tuple((rewrite(one), name) for one, name in key.ranges))


def _optional(expression: Expression | None, rewrite: Rewrite) -> Expression | None:
    return None if expression is None else rewrite(expression)


def _projection(
    projection: tuple[tuple[str, Expression], ...], rewrite: Rewrite
) -> tuple[tuple[str, Expression], ...]:
    return tuple((name, rewrite(value)) for name, value in projection)


def _aggregates(aggregates: tuple[Aggregate, ...], rewrite: Rewrite) -> tuple[Aggregate, ...]:
    return tuple(replace(one, arguments=tuple(map(rewrite, one.arguments))) for one in aggregates)


def _input(source: Input, rewrite: Rewrite) -> Input:
    match source:
        case StreamInput():
            return _stream_input(source, rewrite)
        case Join():
            left, right = _stream_input(source.left, rewrite), _stream_input(source.right, rewrite)
            return replace(source, left=left, right=right, on=_optional(source.on, rewrite))
        case Correlation():
            inputs = tuple(_stream_input(one, rewrite) for one in source.inputs)
            return replace(source, inputs=inputs, on=_optional(source.on, rewrite))
        case Matching():
            symbols = tuple(_definition(symbol, rewrite) for symbol in source.symbols)
            return replace(source, input=_stream_input(source.input, rewrite), symbols=symbols)
        case Match():
            states = tuple(_stream_state(state, rewrite) for state in source.states)
            return replace(source, root=_state(source.root, rewrite), states=states)


def _definition(symbol: Definition, rewrite: Rewrite) -> Definition:
    sets = tuple((position, rewrite(value)) for position, value in symbol.sets)
    return replace(symbol, condition=rewrite(symbol.condition), sets=sets)


def _stream_input(source: StreamInput, rewrite: Rewrite) -> StreamInput:
    before = tuple(_handler(handler, rewrite) for handler in source.before)
    after = tuple(_handler(handler, rewrite) for handler in source.after)
    return replace(source, before=before, after=after)


def _handler(handler: Handler, rewrite: Rewrite) -> Handler:
    match handler:
        case Filter():
            return Filter(rewrite(handler.condition))
        case StreamFunction():
            return replace(handler, arguments=tuple(map(rewrite, handler.arguments)))


def _stream_state(state: StreamState, rewrite: Rewrite) -> StreamState:
    return replace(state, input=_stream_input(state.input, rewrite))


def _state(state: MatchState, rewrite: Rewrite) -> MatchState:
    match state:
        case StreamState():
            return _stream_state(state, rewrite)
        case CountState() | AbsentState():
            return replace(state, state=_stream_state(state.state, rewrite))
        case LogicalState():
            return LogicalState(state.op, _side(state.left, rewrite), _side(state.right, rewrite))
        case NextState():
            return NextState(_state(state.left, rewrite), _state(state.right, rewrite))
        case EveryState() | GroupState():
            return replace(state, state=_state(state.state, rewrite))


def _side(side: StreamState | AbsentState, rewrite: Rewrite) -> StreamState | AbsentState:
    if isinstance(side, AbsentState):
        return replace(side, state=_stream_state(side.state, rewrite))
    return _stream_state(side, rewrite)


def _output(output: Output, rewrite: Rewrite) -> Output:
    match output:
        case Delete():
            return replace(output, on=rewrite(output.on))
        case Update():
            assignments = tuple(
                Assignment(one.position, rewrite(one.value)) for one in output.assignments
            )
            return replace(output, on=rewrite(output.on), assignments=assignments)
        case _:
            return output
