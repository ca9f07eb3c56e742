"""Annotations of the whole file: its name, compatibility and playback."""

from __future__ import annotations

from typing import Literal

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.plan import notes
from cep.plan.nodes import Playback
from cep.plan.problems import Problems

UNNAMED = "rules"


def app_name(script: ast.Script) -> str:
    """The name given with `@app:name`, or `rules`."""
    for kind, key in (("app:name", ""), ("app:info", "name")):
        note = notes.find(script.annotations, kind)
        value = note.value(key) if note is not None else None
        if value:
            return value
    return UNNAMED


def compat(problems: Problems, script: ast.Script) -> Literal["", "siddhi"]:
    """Whether the defects of the reference are wanted."""
    note = notes.find(script.annotations, "app:compat")
    if note is None:
        return ""
    value = note.value("") or ""
    if value != "siddhi":
        hint = suggestion(value, ("siddhi",))
        raise problems.error(note.span, f"unknown compatibility `{value}`", hint)
    return "siddhi"


def playback(problems: Problems, script: ast.Script) -> Playback | None:
    """How rows drive the clock; `idle.time` and `increment` come together."""
    note = notes.find(script.annotations, "app:playback")
    if note is None:
        return None
    idle, increment = notes.keyed(note, "idle.time"), notes.keyed(note, "increment")
    if (idle is None) != (increment is None):
        hint = "write `@app:playback(idle.time='100 millisec', increment='2 sec')`"
        raise problems.error(note.span, "`idle.time` and `increment` come together", hint)
    if idle is None or increment is None:
        return Playback()
    return Playback(
        notes.duration(problems, note, "idle.time", idle),
        notes.duration(problems, note, "increment", increment),
    )
