"""A whole rule file."""

from __future__ import annotations

from dataclasses import dataclass

from cep.lang.ast.annotations import Annotation
from cep.lang.ast.definitions import (
    AggregationDefinition,
    ParameterDefinition,
    PositionDefinition,
    StreamDefinition,
    TableDefinition,
    TriggerDefinition,
    WindowDefinition,
)
from cep.lang.ast.events import (
    ComplexDefinition,
    EngineDefinition,
    EventDefinition,
    SignalDefinition,
)
from cep.lang.ast.nodes import Node
from cep.lang.ast.queries import Partition, Query

Definition = (
    StreamDefinition
    | TableDefinition
    | WindowDefinition
    | TriggerDefinition
    | AggregationDefinition
    | EngineDefinition
    | EventDefinition
    | ComplexDefinition
    | SignalDefinition
    | ParameterDefinition
    | PositionDefinition
)


Statement = Definition | Query | Partition


@dataclass(frozen=True, slots=True)
class Script(Node):
    """A whole rule file."""

    annotations: tuple[Annotation, ...]
    statements: tuple[Statement, ...]
