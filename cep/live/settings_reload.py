"""Settings that a running daemon takes over, and those that wait for a restart."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from cep.live.config import Config, Limited

_LIMITS = tuple(field.name for field in msgspec.structs.fields(Limited))
RELOADED = frozenset(
    {
        "log_level",
        *(f"[log] {key}" for key in ("file", "format", "file_max_mib", "files")),
        *(f"[alerts] {key}" for key in ("urls", "level", "per_hour", "repeat_minutes")),
        "[server] memory_max_mib",
        *(f"[risk] {key}" for key in _LIMITS),
    }
)
"""What counts from the moment at which it is read. What was counted before stays counted."""


def is_reloaded(name: str) -> bool:
    """Whether a key counts at once: one of these, or a limit of a rule file."""
    table, _, key = name.partition("] ")
    return name in RELOADED or (table.startswith("[rules.") and key in _LIMITS)


def with_loaded(old: Config, new: Config, loaded: Collection[str]) -> Config:
    """The old settings with the rule files that were loaded since, as the new ones have them."""
    since = {name: one for name, one in new.rule_files.items() if name in loaded}
    return msgspec.structs.replace(old, rule_files={**since, **old.rule_files})


def differing(old: Config, new: Config) -> list[str]:
    """The names of the keys that differ."""
    before, after = dict(_values(old)), dict(_values(new))
    return [name for name, value in after.items() if before.get(name, _NONE) != value]


_NONE = object()


def taken_over(old: Config, new: Config) -> Config:
    """The old settings with what is taken over of the new ones."""
    found: dict[str, Any] = {"log_level": new.log_level}
    for name in msgspec.structs.fields(old):
        section = getattr(old, name.name)
        if isinstance(section, msgspec.Struct):
            keys = [key for key in _keys(section) if f"[{name.name}] {key}" in RELOADED]
            found[name.name] = _with(section, getattr(new, name.name), keys)
    found["rule_files"] = {
        name: _with(one, new.rule_files.get(name, one), _LIMITS)
        for name, one in old.rule_files.items()
    }
    return msgspec.structs.replace(old, **found)


def _with(section: Any, new: Any, keys: Collection[str]) -> Any:
    return msgspec.structs.replace(section, **{key: getattr(new, key) for key in keys})


def _values(config: Config) -> Iterator[tuple[str, Any]]:
    for field in msgspec.structs.fields(config):
        section = getattr(config, field.name)
        if isinstance(section, msgspec.Struct):
            yield from ((f"[{field.name}] {key}", getattr(section, key)) for key in _keys(section))
        elif field.name != "rule_files":
            yield field.encode_name, section
    for name, one in config.rule_files.items():
        yield from ((f"[rules.{name}] {key}", getattr(one, key)) for key in _keys(one))


def _keys(section: msgspec.Struct) -> list[str]:
    return [field.name for field in msgspec.structs.fields(section)]
