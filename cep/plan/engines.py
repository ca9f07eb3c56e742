"""Engine definitions to engine nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.plan.kinds import unknown
from cep.plan.nodes import Engine, Repeat
from cep.plan.problems import Problems

DEFAULT_ENGINE = "Main"
DEFAULT_QUEUE_MS = 5 * 60_000

# Option as written -> field of Engine.
FIELDS = {
    "queue": "span_ms",
    "opposites": "opposites",
    "late": "late",
    "max": "events_max",
    "repeat": "repeat",
}
CHOICES = {
    "opposites": ("evict", "validate"),
    "late": ("drop", "accept"),
    "repeat": tuple(str(repeat) for repeat in Repeat),
}


def build_engines(problems: Problems, script: ast.Script) -> dict[str, Engine]:
    """The engines by name, in order; `Main` when events are defined but no engine is."""
    nodes: list[ast.EngineDefinition] = []
    engines: dict[str, Engine] = {}
    for node in script.statements:
        if not isinstance(node, ast.EngineDefinition):
            continue
        if node.name.text in engines:
            message = f"engine `{node.name.text}` exists already"
            problems.report(node.name.span, message, "choose another name")
            continue
        engines[node.name.text] = _engine(problems, node)
        nodes.append(node)
    for node in nodes:
        _link(problems, node, engines)
    _refuse_cycles(problems, nodes, engines)
    has_events = any(
        isinstance(node, ast.EventDefinition | ast.ComplexDefinition) for node in script.statements
    )
    if has_events and not nodes:
        engines[DEFAULT_ENGINE] = Engine(DEFAULT_ENGINE, DEFAULT_QUEUE_MS)
    return engines


def _engine(problems: Problems, node: ast.EngineDefinition) -> Engine:
    fields: dict[str, Any] = {}
    for option in node.options:
        value = problems.attempt(_value, problems, option)
        field = FIELDS.get(option.name.text.lower(), "")
        if field in fields:
            problems.report(option.span, f"option `{option.name.text}` is given twice")
        if value is not None:
            fields[field] = value
    return replace(Engine(node.name.text, DEFAULT_QUEUE_MS), **fields)


def _value(problems: Problems, option: ast.Option) -> int | str | Repeat:
    """The checked value of an option, as the field of Engine wants it."""
    name, value = option.name.text.lower(), option.value
    if name not in FIELDS:
        hint = suggestion(option.name.text, FIELDS)
        raise problems.error(option.name.span, f"unknown option `{option.name.text}`", hint)
    if name == "queue":
        if isinstance(value, ast.Duration) and value.ms > 0:
            return value.ms
        raise problems.error(value.span, "`queue` needs a time", "for example `queue = 5 min`")
    if name == "max":
        if isinstance(value, ast.Literal) and value.type == "int" and int(value.value) > 0:
            return int(value.value)
        raise problems.error(value.span, "`max` needs a number of events above 0")
    return _choice(problems, name, value)


def _choice(problems: Problems, name: str, value: ast.Literal | ast.Duration) -> str | Repeat:
    choices = CHOICES[name]
    if not isinstance(value, ast.Literal) or value.value not in choices:
        shown = " or ".join(f"'{choice}'" for choice in choices)
        raise problems.error(value.span, f"`{name}` must be {shown}")
    return Repeat(str(value.value)) if name == "repeat" else str(value.value)


def _link(problems: Problems, node: ast.EngineDefinition, engines: dict[str, Engine]) -> None:
    for name in node.upstream:
        if name.text not in engines:
            hint = suggestion(name.text, engines)
            problems.add(unknown(problems, name, "engine", hint))
    upstream = tuple(dict.fromkeys(name.text for name in node.upstream if name.text in engines))
    engines[node.name.text] = replace(engines[node.name.text], upstream=upstream)


def _refuse_cycles(
    problems: Problems, nodes: list[ast.EngineDefinition], engines: dict[str, Engine]
) -> None:
    """Report one engine of each circle; its downstream engines lie on the same one."""
    reported: set[str] = set()
    for node in nodes:
        above = _above(engines, node.name.text)
        if node.name.text not in above or above & reported:
            continue
        reported.add(node.name.text)
        guilty = next(name for name in node.upstream if _feeds(engines, node.name.text, name.text))
        message = f"engine `{node.name.text}` would feed itself through `{guilty.text}`"
        problems.report(guilty.span, message, "break the circle of `from`")


def _feeds(engines: dict[str, Engine], name: str, upper: str) -> bool:
    return upper in engines and (upper == name or name in _above(engines, upper))


def _above(engines: dict[str, Engine], name: str) -> set[str]:
    """All engines upstream of one, over any number of steps."""
    found: set[str] = set()
    waiting = list(engines[name].upstream)
    while waiting:
        upper = waiting.pop()
        if upper not in found:
            found.add(upper)
            waiting.extend(engines[upper].upstream)
    return found
