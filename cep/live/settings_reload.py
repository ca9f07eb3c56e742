"""Settings that a running daemon takes over, and those that wait for a restart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from cep.live.config import Config

RELOADED = frozenset(
    {
        "log_level",
        *(f"[log] {key}" for key in ("file", "format", "file_max_mib", "files")),
        *(f"[alerts] {key}" for key in ("urls", "level", "per_hour", "repeat_minutes")),
        "[server] memory_max_mib",
        "[risk] lots_per_order",
        "[risk] lots_per_symbol",
        "[risk] lots_per_day",
        "[risk] orders_per_minute",
        "[risk] symbols",
        "[risk] loss_per_day",
    }
)
"""What counts from the moment at which it is read. What was counted before stays counted."""


def differing(old: Config, new: Config) -> list[str]:
    """The names of the keys that differ."""
    before, after = dict(_values(old)), dict(_values(new))
    return [name for name, value in after.items() if before[name] != value]


def taken_over(old: Config, new: Config) -> Config:
    """The old settings with what is taken over of the new ones."""
    found: dict[str, Any] = {"log_level": new.log_level}
    for name in msgspec.structs.fields(old):
        section = getattr(old, name.name)
        if isinstance(section, msgspec.Struct):
            keys = [key for key in _keys(section) if f"[{name.name}] {key}" in RELOADED]
            values = {key: getattr(getattr(new, name.name), key) for key in keys}
            found[name.name] = msgspec.structs.replace(section, **values)
    return msgspec.structs.replace(old, **found)


def _values(config: Config) -> Iterator[tuple[str, Any]]:
    for field in msgspec.structs.fields(config):
        section = getattr(config, field.name)
        if isinstance(section, msgspec.Struct):
            yield from ((f"[{field.name}] {key}", getattr(section, key)) for key in _keys(section))
        else:
            yield field.encode_name, section


def _keys(section: msgspec.Struct) -> list[str]:
    return [field.name for field in msgspec.structs.fields(section)]
